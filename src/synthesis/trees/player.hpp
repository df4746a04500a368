// Plays chunks over trees: every link takes, of the sends that are ready, the one that comes first in a given order.
//
// A chunk has a rank and a tree. If it is added, its sum goes up the tree to the root; then copies go down. A send is
// ready when what it carries has come to its source. The pipeline fills at once, however deep the trees are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "synthesis/trees/packing.hpp"
#include "tenex/schedule/schedule.hpp"

namespace tenex {

/// A chunk on its tree. Lower ranks go first.
struct DealtChunk {
  ChunkId chunk;
  std::uint32_t tree = 0;
  std::uint32_t rank = 0;
};

/// Trees, and the chunks on them.
struct DealtTrees {
  std::vector<SpanningTree> trees;
  std::vector<DealtChunk> deal;
};

/// The least time in which every link carries what trees put on it, without any latency. `chunks`: of each tree.
[[nodiscard]] SimTime rate_time(const TreeNetwork& network, const std::vector<SpanningTree>& trees,
                                const std::vector<std::uint64_t>& chunks);
[[nodiscard]] SimTime rate_time(const TreeNetwork& network, const DealtTrees& dealt);

struct PlayOptions {
  /// All-Reduce: sums go up before copies go down, and of one rank sums go first. Otherwise copies alone.
  bool sums = false;
  /// A copy counts as a sum of a chunk so many ranks later. At zero chunks leave as they come; with more, copies wait
  /// for links that sums leave free, and the end of the schedule has copies alone, which need less time to go through.
  std::uint32_t copy_lag = 0;
  /// Among copies: those with the longest way still to go come first, and ranks decide among these. Otherwise the
  /// length decides among equal ranks. Not where sums are formed.
  bool longest_first = false;
  std::vector<StartDelay> start_delays = {};  ///< NPUs that send nothing before a time
};

struct Played {
  Schedule schedule;
  SimTime time;  ///< the last arrival
};

/// The schedule. Up to 2^31 chunks; all trees span the NPUs. Where sums are formed, ranks rise in the order of `deal`.
/// O(sends log chunks) time.
[[nodiscard]] Played play_trees(const TreeNetwork& network, const DealtTrees& dealt, const PlayOptions& options);

/// The links of the longest way that trees are expected to use: 1 where links are direct, 2 over single switches. From
/// sizes alone, for estimates. O(links).
[[nodiscard]] std::uint64_t links_per_way(const Topology& topology);

/// Expected bytes of a play of `sends` sends, schedule included, of the schedule alone, and work.
[[nodiscard]] std::size_t play_bytes(const Topology& topology, std::uint64_t sends);
[[nodiscard]] std::size_t played_schedule_bytes(std::uint64_t sends);
[[nodiscard]] Work play_work(std::uint64_t sends);

}  // namespace tenex
