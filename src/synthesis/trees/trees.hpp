// `trees`: collectives by pipelined spanning trees, for bandwidth.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "synthesis/engine_table.hpp"
#include "tenex/synthesis/synthesizer.hpp"

/// The names of the engines in studies.
namespace tenex::trees_engine {

inline constexpr std::string_view combs = "combs";    ///< All-Reduce on products of lines, as a periodic timetable
inline constexpr std::string_view capped = "capped";  ///< All-Reduce on large networks, trees of capped depth
inline constexpr std::string_view queued = "queued";  ///< the same trees, the lowest chunk first on every link
inline constexpr std::string_view packed = "packed";  ///< All-Reduce on any network, as a periodic timetable
inline constexpr std::string_view in_switch = "in_switch";  ///< All-Reduce in switches that add and copy
inline constexpr std::string_view cut_rate = "cut_rate";    ///< out-trees packed at the rate of the cut

}  // namespace tenex::trees_engine

namespace tenex {

[[nodiscard]] const std::vector<SynthesisEngine>& trees_engines();

/// The registry entry `trees`.
[[nodiscard]] Result<Synthesis> synthesize_trees(const SynthesisProblem& problem);
[[nodiscard]] std::size_t trees_bytes(const SynthesisProblem& problem);
[[nodiscard]] Work trees_work(const SynthesisProblem& problem);
/// The sends of one period, if every engine that may run makes a schedule of equal periods.
[[nodiscard]] std::optional<double> trees_period_sends(const SynthesisProblem& problem);

}  // namespace tenex
