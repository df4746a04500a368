// The engine `paths` of pccl: an earliest-arrival path or tree for each condition, on any topology (PCCL, chapter 6 of
// the ASTRA-sim2.0 thesis).
//
// Idea: conditions get their paths one after the other, farthest first. Each search finds the earliest arrival over the
// links' free times, and its sends are then taken. Attempts differ in the order among equally far conditions; the best
// is kept. Plans that are further than a hundredth above the bound are improved: conditions that end late are taken out
// together with some others and routed again, and all sends start as soon as the order on links allows (reroute.hpp,
// retime_hops() of planned_hop.hpp). Where slots round times up, the sends of the final plan start as soon as possible
// at any picosecond.
//
// Paths of conditions with one destination keep to shortest paths first, which use the least link time. If the best
// time is more than a hundredth above the bound, the first attempt is repeated with all paths; later attempts do
// what was better.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "synthesis/compose.hpp"
#include "synthesis/pccl/paths/path_search.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {

struct PathsOptions {
  /// Whether vertices outside every group (and outside a chunk's own group) may relay.
  bool outside = true;
  /// How many conditions are routed again, at most, as a multiple of their number; 0: the pass is left out.
  std::uint32_t reroute_effort = 1;
  /// A plan that is longer than the bound by less than this part is the last one that is tried, and is not improved.
  std::int64_t close_to_bound = 100;
  bool retime = true;  ///< whether times that were rounded up to slots are made exact
};

/// Plans of more sends are not routed again: each round reads all sends.
inline constexpr std::uint64_t kMostReroutedSends = std::uint64_t{1} << 22;
/// Bytes that the passes take per send, the plan included.
inline constexpr std::size_t kRerouteBytesPerSend = 100;
inline constexpr std::size_t kRetimeBytesPerSend = 80;

/// What an improvement pass did.
struct PathsPass {
  std::string_view name;  ///< "reroute", "retime"
  SimTime before;
  SimTime after;
  std::uint64_t work = 0;  ///< reroute: conditions routed again; retime: sends
};

/// How a plan came about.
struct PathsReport {
  PathRange range = PathRange::shortest;  ///< of the best attempt
  std::vector<PathsPass> passes;
};

/// A plan and its report.
struct PathsPlan {
  Gathered gathered;
  PathsReport report;
};

/// Synthesizes a collective that only copies. Errors (input): a destination that its source does not reach; buffers
/// that leave no way for a multicast.
[[nodiscard]] Result<PathsPlan> plan_paths(const SynthesisProblem& problem, const PathsOptions& options = {});

/// Why the engine does not suit; nullopt if it does. `problem.collective` is the collective that is asked for. O(1).
[[nodiscard]] std::optional<std::string> paths_unsuitable(const SynthesisProblem& problem);
/// The mean distance in hops from a few NPUs to all that they reach, for estimates. O(links).
[[nodiscard]] double mean_hops(const Topology& topology);

/// Expected bytes at the peak, schedule included, and work, from sizes alone.
[[nodiscard]] std::size_t paths_bytes(const SynthesisProblem& problem);
[[nodiscard]] Work paths_work(const SynthesisProblem& problem);

}  // namespace tenex
