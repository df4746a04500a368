// Plans conditions one after the other: search, then take the links.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "synthesis/pccl/paths/conditions.hpp"
#include "synthesis/pccl/paths/distances.hpp"
#include "synthesis/pccl/paths/network.hpp"
#include "synthesis/pccl/paths/order.hpp"
#include "synthesis/pccl/paths/path_search.hpp"
#include "tenex/base/bitset.hpp"
#include "tenex/base/random.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {

/// What all attempts share.
struct PathsSetup {
  const SynthesisProblem& problem;
  const PathNetwork& network;
  const ConditionOrder& order;
  const std::vector<Bitset>& members;  ///< per group the vertices that its paths must not leave; empty: any
};

/// The bytes that rows of distances to destinations may take; searches make rows that do not fit. Here is room for
/// slotted networks of 4,096 NPUs.
inline constexpr std::size_t kMostDistanceBytes = std::size_t{1} << 25;

/// The row key of a chunk with one destination.
template <class Cell>
[[nodiscard]] typename DistanceTable<Cell>::Key distance_key(const PathsSetup& setup, const Conditions& conditions,
                                                             ChunkId chunk, VertexId destination) {
  const auto size = static_cast<std::uint32_t>(conditions.size_class(chunk));
  if (setup.members.empty()) return {destination.value(), size, 0};
  return {destination.value(), size, conditions.group(chunk).value()};
}

/// The rows of all chunks with one destination; empty if they do not fit into kMostDistanceBytes.
template <class Cell>
[[nodiscard]] DistanceTable<Cell> distances_to_destinations(const PathsSetup& setup) {
  const Conditions conditions(setup.problem.collective);
  const std::size_t vertices = setup.network.vertices();
  DistanceTable<Cell> table(vertices);
  for (const std::uint32_t chunk : setup.order.chunks) {
    const VertexId destination = conditions.only_destination(ChunkId(chunk));
    if (!destination.exists()) continue;
    table.add(distance_key<Cell>(setup, conditions, ChunkId(chunk), destination));
    if (table.index().size() * vertices * sizeof(Cell) > kMostDistanceBytes) return DistanceTable<Cell>(vertices);
  }
  table.allocate();
  DistanceSearch<Cell> search(setup.network);
  for (const auto& [key, index] : table.index())
    search.fill(key.destination, key.size_class, LinkDirection::backward,
                setup.members.empty() ? nullptr : &setup.members[key.group], table.row(index));
  return table;
}

/// A plan under construction. Links: SlotLinks or GapLinks.
template <class Links>
class PathPlanner {
 public:
  using Time = typename Links::Time;
  using Cell = typename Links::Cell;

  PathPlanner(const PathsSetup& setup, const DistanceTable<Cell>& table)
      : setup_(setup),
        conditions_(setup.problem.collective),
        table_(table),
        rows_(setup.network),
        search_(setup.network),
        links_(setup.network, setup.problem.collective) {}

  /// Finds and takes the paths of `chunks`, in this order.
  void plan(std::span<const std::uint32_t> chunks, PathRange range, Random& random) {
    for (const std::uint32_t chunk : chunks) plan(ChunkId(chunk), range, random());
  }

  [[nodiscard]] Links& links() { return links_; }
  [[nodiscard]] const Links& links() const { return links_; }
  [[nodiscard]] std::uint64_t visits() const { return search_.visits(); }

 private:
  void plan(ChunkId chunk, PathRange range, std::uint32_t turn) {
    const std::size_t size = conditions_.size_class(chunk);
    const std::uint32_t source = conditions_.source(chunk).value();
    const VertexId only = conditions_.only_destination(chunk);
    std::span<const FoundHop<Time>> hops;
    if (only.exists()) {
      hops = search_.find_path(links_, source, only.value(), row(chunk, only), size, range, turn);
    } else {
      destinations_.clear();
      conditions_.for_each_destination(chunk, [&](VertexId npu) { destinations_.push_back(npu.value()); });
      const Bitset* allowed = setup_.members.empty() ? nullptr : &setup_.members[conditions_.group(chunk).index()];
      hops = search_.find_tree(links_, source, destinations_, allowed, size, turn);
    }
    for (const auto& hop : hops) links_.take(hop.link, hop.start, size, chunk.value());
  }

  /// The distances to the destination of a chunk.
  const Cell* row(ChunkId chunk, VertexId destination) {
    const auto key = distance_key<Cell>(setup_, conditions_, chunk, destination);
    if (!table_.empty()) return table_.find(key);
    if (own_row_.empty() || !(key == own_key_)) {
      own_row_.resize(setup_.network.vertices());
      own_key_ = key;
      rows_.fill(key.destination, key.size_class, LinkDirection::backward,
                 setup_.members.empty() ? nullptr : &setup_.members[key.group], own_row_);
    }
    return own_row_.data();
  }

  const PathsSetup& setup_;
  Conditions conditions_;
  const DistanceTable<Cell>& table_;
  DistanceSearch<Cell> rows_;
  std::vector<Cell> own_row_;  ///< where there is no table: the row of the last search
  typename DistanceTable<Cell>::Key own_key_;
  PathSearch<Links> search_;
  Links links_;
  std::vector<std::uint32_t> destinations_;
};

}  // namespace tenex
