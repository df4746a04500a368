// The order in which an NPU addresses the other members of its group: relative or absolute, by rank. Relative order
// follows the offsets of the shape's translation group where the group is the shape's, elsewhere the next rank comes
// first.
#pragma once

#include <cstdint>
#include <optional>

#include "algorithm/seats.hpp"
#include "tenex/schedule/run_choices.hpp"
#include "tenex/topology/translation.hpp"

namespace tenex {

struct PeerOrder {
  DestinationOrder order = DestinationOrder::relative;
  std::optional<TranslationGroup> offsets;  ///< orders the peers in groups of all NPUs; nullopt: by rank

  /// The i-th of the members-1 peers of `me`, as a rank. O(dimensions).
  [[nodiscard]] std::uint32_t peer(const Seat& me, std::uint32_t i) const {
    if (order == DestinationOrder::absolute) return i < me.rank ? i : i + 1;
    return offsets ? offsets->add(me.npu, NpuId(i + 1)).value() : me.rank_at(i + 1);
  }
  /// The position of a peer: place(me, peer(me, i)) == i. O(dimensions).
  [[nodiscard]] std::uint32_t place(const Seat& me, std::uint32_t rank) const {
    if (order == DestinationOrder::absolute) return rank < me.rank ? rank : rank - 1;
    if (offsets) return offsets->subtract(NpuId(rank), me.npu).value() - 1;
    return me.members - me.offset_from(rank) - 1;
  }
};

/// The offsets that order the peers of a group of all NPUs. In one dimension they equal differences of ranks, which
/// need no look-up: nullopt.
[[nodiscard]] inline std::optional<TranslationGroup> offsets_of_peers(const Topology& topology) {
  auto offsets = TranslationGroup::of(topology);
  if (offsets && offsets->dimensions().size() == 1) offsets.reset();
  return offsets;
}

}  // namespace tenex
