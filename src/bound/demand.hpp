// The least number of chunks that each NPU of a collective must receive and send, each proven from the definition of
// validity.
//
// n NPUs in a group, c chunks per NPU (Broadcast, Reduce: c in all; stored conditions: c of each). A send carries one
// chunk, so counts per chunk add up, over the groups of an NPU too. A group of one NPU has no traffic. NPUs outside all
// groups have no demand.
// - All-Gather receives (n-1)c: every chunk of another NPU must arrive. It sends c: every own chunk must leave, since
//   nobody else has it.
// - Reduce-Scatter receives c: the sum of an own chunk needs at least one arrival with the others' contributions.
//   It sends (n-1)c: of every chunk that another NPU owns, the own contribution must leave.
// - All-Reduce receives nc: no chunk is complete at the start anywhere, so each needs at least one arrival.
//   It sends nc: the own contribution to each chunk must leave, since the others' sums need it.
// - Broadcast receives c at every NPU but the root, and sends c at the root.
// - Reduce sends c at every NPU but the root, and receives c at the root.
// - Gather receives (n-1)c at the root, and sends c at every other NPU; Scatter the other way round.
// - A condition's chunks leave its source once at least, and each arrives at every destination.
//
// What enters an NPU and what leaves it are counted alike: a reduction is a gather on the reversed topology, reversed
// in time. So bounds have one implementation on two directions.
#pragma once

#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "tenex/base/ids.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

enum class Direction : std::uint8_t {
  outward,  ///< from the NPU to others
  inward,   ///< from others to the NPU
};

/// The links over which chunks move between the vertex and others in a direction.
[[nodiscard]] inline std::span<const LinkId> links_of(const Topology& topology, VertexId vertex, Direction direction) {
  return direction == Direction::outward ? topology.out_links(vertex) : topology.in_links(vertex);
}
/// The other end of such a link.
[[nodiscard]] inline VertexId far_end(const Topology& topology, LinkId link, Direction direction) {
  return direction == Direction::outward ? topology.target(link) : topology.source(link);
}

/// The chunks that one NPU must at least receive and send.
struct NpuDemand {
  std::int64_t receive = 0;
  std::int64_t send = 0;
  [[nodiscard]] std::int64_t in(Direction direction) const { return direction == Direction::outward ? send : receive; }
};

/// The demand of `rank` in `group`; zero where the group stores conditions. O(1).
[[nodiscard]] NpuDemand npu_demand(const Collective& collective, GroupId group, std::uint32_t rank);

/// The first chunk of a stored condition. O(1).
[[nodiscard]] ChunkId chunk_of_condition(const Collective& collective, GroupId group, std::size_t index);

/// The stored conditions [first, end) of which a member is the source. O(log conditions).
struct ConditionRange {
  std::size_t first = 0;
  std::size_t end = 0;
};
[[nodiscard]] ConditionRange conditions_from(const Collective& collective, const Collective::Membership& member);

/// Chunks of one size.
struct SizedDemand {
  std::size_t size_class = 0;
  NpuDemand chunks;
};

/// The demands of all NPUs over all their groups, by size.
class NpuDemands {
 public:
  /// Sorts what stored conditions ask of each NPU: O(destinations * log destinations), O(1) without conditions.
  explicit NpuDemands(const Collective& collective);

  /// Writes the demand of an NPU to `demands`, each size class once. O(groups and conditions of the NPU).
  void find(NpuId npu, std::vector<SizedDemand>& demands) const;

 private:
  /// What conditions ask of an NPU, in chunks of one size.
  struct DemandOfNpu {
    NpuId npu;
    SizedDemand demand;
    bool operator<(const DemandOfNpu& other) const {
      return std::tuple(npu, demand.size_class) < std::tuple(other.npu, other.demand.size_class);
    }
  };

  void add_condition(GroupId group, std::size_t index);

  const Collective& collective_;
  std::vector<DemandOfNpu> of_conditions_;  ///< by NPU and size class, each once
};

}  // namespace tenex
