// Plans conditions one after the other: search, then take the links.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "synthesis/pccl/paths/conditions.hpp"
#include "synthesis/pccl/paths/distances.hpp"
#include "synthesis/pccl/paths/network.hpp"
#include "synthesis/pccl/paths/order.hpp"
#include "synthesis/pccl/paths/path_search.hpp"
#include "synthesis/pccl/paths/switch_buffers.hpp"
#include "synthesis/pccl/paths/tree_growth.hpp"
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

/// The (tree, link) pairs of which growing trees keep a time; more than these are searched without.
inline constexpr std::size_t kMostFloors = std::size_t{1} << 22;

/// The row key of a chunk with one destination.
template <class Cell>
[[nodiscard]] typename DistanceTable<Cell>::Key distance_key(const PathsSetup& setup, const Conditions& conditions,
                                                             ChunkId chunk, VertexId destination) {
  const auto size = static_cast<std::uint32_t>(conditions.size_class(chunk));
  if (setup.members.empty()) return {destination.value(), size, 0};
  return {destination.value(), size, conditions.group(chunk).value()};
}

/// Rows for all chunks with one destination, not filled; empty if they do not fit into kMostDistanceBytes.
template <class Cell>
[[nodiscard]] DistanceTable<Cell> rows_of_destinations(const PathsSetup& setup) {
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
  return table;
}

/// The same with the distances to the destinations.
template <class Cell>
[[nodiscard]] DistanceTable<Cell> distances_to_destinations(const PathsSetup& setup) {
  auto table = rows_of_destinations<Cell>(setup);
  if (table.empty()) return table;
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
        growth_(setup.network),
        buffers_(setup.network),
        links_(setup.network, setup.problem.collective) {}

  /// Finds and takes the paths of `chunks`, in this order. False if buffers leave no way for one of them.
  bool plan(std::span<const std::uint32_t> chunks, PathRange range, Random& random) {
    return std::all_of(chunks.begin(), chunks.end(),
                       [&](std::uint32_t chunk) { return plan(ChunkId(chunk), range, random(), PathTies::turned); });
  }

  /// The same where chunks come in rounds (ConditionOrder::in_rounds): equal paths are told apart by their
  /// destinations, and trees that grow do so side by side, each by one destination in a round. With `random` their
  /// order changes from round to round.
  bool plan_in_rounds(std::span<const std::uint32_t> chunks, Random* random) {
    std::vector<Growing> growing;
    for (const std::uint32_t chunk : chunks) {
      if (setup_.network.grows_trees() && !conditions_.only_destination(ChunkId(chunk)).exists())
        growing.push_back({ChunkId(chunk), {{{conditions_.source(ChunkId(chunk)).value(), 0, 0}}, {}, {}}});
      else if (!plan(ChunkId(chunk), PathRange::shortest, 0, PathTies::by_destination))
        return false;
    }
    if (growth_.has_floors() && growing.size() * setup_.network.links() <= kMostFloors)
      for (Growing& each : growing) each.tree.floors.assign(setup_.network.links(), 0);
    for (std::size_t round = 0; !growing.empty(); ++round) {
      if (random != nullptr) random->shuffle(std::span(growing));
      for (auto& [chunk, tree] : growing) {
        auto asked = request(chunk, random != nullptr ? (*random)() : 0);
        asked.in_turn = random == nullptr;
        if (!growth_.reach_one(links_, buffers_, asked, tree)) return false;
      }
      std::erase_if(growing, [&](const Growing& tree) { return destinations_of(tree.chunk).size() == round + 1; });
    }
    return true;
  }

  /// From here on chunks with one destination keep to cheapest paths. `prices` must outlive the plan.
  template <class Prices>
  void keep_to(const Prices& prices) {
    find_cheapest_ = [this, &prices](ChunkId chunk, VertexId only, const GrowthRequest<Cell>& asked) {
      const auto* sums = prices.row(distance_key<std::uint32_t>(setup_, conditions_, chunk, only));
      return search_.find_cheapest(links_, asked.source, only.value(), sums, prices.prices(), asked.size, asked.turn);
    };
  }

  /// From here on trees that grow keep to regions, which must outlive the plan.
  void keep_to_regions(const Regions& regions) { growth_.keep_to(regions); }

  [[nodiscard]] Links& links() { return links_; }
  [[nodiscard]] const Links& links() const { return links_; }

 private:
  /// A tree that has not reached all destinations.
  struct Growing {
    ChunkId chunk;
    ChunkTree<Time> tree;
  };

  bool plan(ChunkId chunk, PathRange range, std::uint32_t turn, PathTies ties) {
    const VertexId only = conditions_.only_destination(chunk);
    const PathNetwork& network = setup_.network;
    GrowthRequest<Cell> asked = request(chunk, turn);
    asked.left = only.exists() ? row(chunk, only) : nullptr;
    asked.range = range;
    asked.in_turn = false;
    if (only.exists() ? network.has_limits() : network.grows_trees()) return growth_.grow(links_, buffers_, asked);
    const auto hops =
        only.exists() && find_cheapest_ ? find_cheapest_(chunk, only, asked)
        : only.exists()
            ? search_.find_path(links_, asked.source, only.value(), asked.left, asked.size, range, turn, ties)
            : search_.find_tree(links_, asked.source, asked.destinations, asked.allowed, asked.size, turn);
    for (const auto& hop : hops) links_.take(hop.link, hop.start, asked.size, chunk.value());
    return true;
  }

  /// A chunk's tree, grown in turn. Valid until the next call.
  GrowthRequest<Cell> request(ChunkId chunk, std::uint32_t turn) {
    GrowthRequest<Cell> asked;
    asked.chunk = chunk.value();
    asked.size = conditions_.size_class(chunk);
    asked.source = conditions_.source(chunk).value();
    asked.destinations = destinations_of(chunk);
    asked.allowed = setup_.members.empty() ? nullptr : &setup_.members[conditions_.group(chunk).index()];
    asked.turn = turn;
    asked.in_turn = true;
    return asked;
  }
  std::span<const std::uint32_t> destinations_of(ChunkId chunk) {
    destinations_.clear();
    conditions_.for_each_destination(chunk, [&](VertexId npu) { destinations_.push_back(npu.value()); });
    return destinations_;
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
  std::function<std::span<const FoundHop<Time>>(ChunkId, VertexId, const GrowthRequest<Cell>&)> find_cheapest_;
  PathSearch<Links> search_;
  TreeGrowth<Links> growth_;
  SwitchBuffers<Time> buffers_;
  Links links_;
  std::vector<std::uint32_t> destinations_;
};

}  // namespace tenex
