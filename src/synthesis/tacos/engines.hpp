// The engines behind the name `tacos`, fastest first: a new engine is one file and one line of this table.
//
// Each engine makes All-Gathers (and Broadcasts where it can); compose.hpp makes the other collectives of them.
// `auto` takes the first engine that suits the problem, and on small problems tries the others too (trials.hpp); the
// study may name one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "synthesis/compose.hpp"

/// The names of the engines in studies.
namespace tenex::tacos_engine {

inline constexpr std::string_view event_driven = "event_driven";  ///< any topology, event by event
/// A table of steps, chunk by chunk: links of one class, or one step length per dimension.
inline constexpr std::string_view exact = "exact";
inline constexpr std::string_view coarse =
    "coarse";  ///< blocks of NPUs as units, expanded: fast, a little above the bound
/// One NPU's schedule, translated to all others: O(n); with lines one schedule for each layer.
inline constexpr std::string_view symmetric = "symmetric";

}  // namespace tenex::tacos_engine

namespace tenex {

struct TacosEngine {
  std::string_view choice;
  std::string_view name;
  std::string_view description;
  /// Empty if the engine can make this gather; otherwise the reason for the user. `problem.collective` is an All-Gather
  /// or a Broadcast here. O(links).
  std::string (*unsuitable)(const SynthesisProblem& problem);
  /// Whether `automatic` may take it if it suits (an engine that trades quality for speed must be named).
  bool automatic;
  Gatherer gather;
  /// Expected bytes at the peak (schedule included, under the problem's limit if the engine has a choice) and work,
  /// from sizes alone. Here `problem.collective` is the collective that the user asked for (an
  /// All-Reduce makes two gathers if some link has no opposite).
  std::size_t (*bytes)(const SynthesisProblem& problem);
  Work (*work)(const SynthesisProblem& problem);
  /// Makes the whole collective if the engine has a shorter way than compose.hpp; null otherwise.
  Result<Synthesis> (*whole)(const SynthesisProblem& problem) = nullptr;
  /// The named engines that `gather` itself tries, of an entry of kAutomaticEngine.
  std::vector<std::string_view> tries = {};
  /// `auto` tries it beside others if its work weighs no more.
  double weight_to_try = 20e-3;
};

/// In the order in which `automatic` tries them.
[[nodiscard]] const std::vector<TacosEngine>& engines();

/// The engine for a gather. Errors (input): the named engine does not suit; the message gives its reason and engines
/// that do.
[[nodiscard]] Result<const TacosEngine*> choose_engine(const SynthesisProblem& gather);

}  // namespace tenex
