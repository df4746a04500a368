// Attempts at an All-Gather on layers (layer_gather.hpp): one for each of many styles, then more with random numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "synthesis/orbit/layer_gather.hpp"
#include "synthesis/orbit/layer_network.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {

/// The best attempt. `sends`: each after those that it needs; empty where no attempt ended before the limit.
struct LayerPlan {
  SimTime time;
  std::uint32_t attempt = 0;
  std::vector<LayerSend> sends;
};

/// How many attempts to make.
struct LayerAttempts {
  std::uint32_t promising = 0;  ///< with styles that suit links of several speeds, first
  std::uint32_t others = 0;
};

/// Promising styles; 0 where sends take equally long.
[[nodiscard]] std::uint32_t promising_styles(const SynthesisProblem& problem);

/// Makes attempts until one meets `bound`, and keeps the first of the best that end before `limit`. The same arguments
/// give the same plan. O(attempts) times the cost of an attempt.
[[nodiscard]] LayerPlan search_layers(const SynthesisProblem& problem, const LayerNetwork& network,
                                      LayerAttempts attempts, SimTime bound, SimTime limit);

/// Expected work of one attempt, from sizes alone. Attempts with other styles end early once a promising one was
/// good.
[[nodiscard]] Work work_of_promising_attempt(const SynthesisProblem& problem, std::uint32_t positions);
[[nodiscard]] Work work_of_layer_attempt(const SynthesisProblem& problem, std::uint32_t positions);

}  // namespace tenex
