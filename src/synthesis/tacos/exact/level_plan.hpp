// The additions of the levels engine to a step plan: which links are slower than others, and which NPUs are served
// together.
//
// Encoding: ports are in order of level inside each NPU, the fast ones first. Clusters (event_driven/cost_levels.hpp)
// are numbered per level; those of a level are unions of those of the level below. A family is a cluster of the highest
// level: links into it use the state of its own NPUs, which its faster links will supply, and none of other families,
// so families can be served by different threads. NPUs are in order of families.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "synthesis/tacos/exact/step_plan.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {

/// Immutable; shared by attempts and threads.
struct LevelPlan {
  StepPlan steps;  ///< its ports in order of level
  std::uint32_t levels = 1;
  std::vector<std::uint8_t> port_level;   ///< also 0 if the target is alone in its cluster: nothing is left to others
  std::vector<std::uint8_t> shared_from;  ///< per port: the first level at which both ends are in one cluster
  std::vector<std::vector<std::uint32_t>> cluster;    ///< per level (0 is empty), per NPU
  std::vector<std::vector<std::uint32_t>> chunks_in;  ///< per level, per cluster: chunks of its group
  std::vector<std::uint32_t> order;                   ///< NPUs, family by family
  std::vector<std::uint32_t>
      family_end;               ///< per place in `order`: where its family ends; 0 where it does not begin one
  std::int64_t least_rows = 0;  ///< rows of the shortest period that some NPU needs at least
};

/// The plan of a gather that step_refusal() does not refuse. O(levels * links).
[[nodiscard]] LevelPlan make_level_plan(const SynthesisProblem& problem);

}  // namespace tenex
