// The position of an NPU in a collective: its group, its rank there, and the chunks of that group; programs look it up
// per message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "algorithm/divisor.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/schedule/program.hpp"
#include "tenex/topology/translation.hpp"

namespace tenex {

/// Appends a message. Its parts are written in place, because there are billions of them.
inline void emit(std::vector<Message>& out, NpuId source, NpuId destination, ChunkId chunk, Stage stage,
                 std::uint32_t chunks = 1) {
  auto& message = out.emplace_back();
  message.source = source;
  message.destination = destination;
  message.chunk = chunk;
  message.stage = stage;
  message.chunks = chunks;
}

/// An NPU in its group.
struct Seat {
  NpuId npu;
  GroupId group;
  std::uint32_t rank = 0;
  std::uint32_t members = 0;      ///< of the group
  std::uint32_t first_chunk = 0;  ///< of the group
  /// The rank `offset` (<= members) positions on.
  [[nodiscard]] std::uint32_t rank_at(std::uint32_t offset) const {
    const auto sum = rank + offset;
    return sum < members ? sum : sum - members;
  }
  /// The number of positions from `other` to this rank.
  [[nodiscard]] std::uint32_t offset_from(std::uint32_t other) const {
    return rank >= other ? rank - other : rank + members - other;
  }
};

/// Whether the members of a group are all NPUs in order of id.
[[nodiscard]] inline bool are_all_in_order(const std::vector<NpuId>& members, std::size_t npus) {
  if (members.size() != npus) return false;
  for (std::size_t rank = 0; rank < npus; ++rank)
    if (members[rank] != NpuId::at(rank)) return false;
  return true;
}

/// A collective, shared with the states of its programs, with shortcuts: where one group has all NPUs in order of id,
/// ranks are ids.
class Seats {
 public:
  explicit Seats(const Collective& collective)
      : collective_(std::make_shared<const Collective>(collective)),
        chunks_per_npu_(static_cast<std::uint32_t>(collective.chunks_per_npu())),
        everyone_(holds_everyone_in_order(collective)),
        npus_(static_cast<std::uint32_t>(collective.npus())) {}

  [[nodiscard]] const Collective& collective() const { return *collective_; }
  [[nodiscard]] CollectiveKind kind() const { return collective_->kind(); }
  /// c.
  [[nodiscard]] std::uint32_t chunks_per_npu() const { return chunks_per_npu_.value(); }
  /// Whether one group has all NPUs in order of id.
  [[nodiscard]] bool everyone() const { return everyone_; }

  /// Whether the NPU is a member of a group.
  [[nodiscard]] bool takes_part(NpuId npu) const { return everyone_ || collective_->group_of(npu).exists(); }
  /// The seat of an NPU that takes part.
  [[nodiscard]] Seat of(NpuId npu) const {
    if (everyone_) return {npu, GroupId(0), npu.value(), npus_, 0};
    const auto group = collective_->group_of(npu);
    return {npu, group, collective_->rank_of(npu),
            static_cast<std::uint32_t>(collective_->groups()[group.index()].members.size()),
            collective_->first_chunk(group).value()};
  }
  [[nodiscard]] std::uint32_t rank_of(NpuId npu) const { return everyone_ ? npu.value() : collective_->rank_of(npu); }
  [[nodiscard]] NpuId npu_at(GroupId group, std::uint32_t rank) const {
    return everyone_ ? NpuId(rank) : collective_->groups()[group.index()].members[rank];
  }

  /// The k-th chunk of a rank (All-to-All: of a pair, numbered source * members + destination).
  [[nodiscard]] ChunkId chunk(const Seat& seat, std::uint32_t owner, std::uint32_t k) const {
    return ChunkId(seat.first_chunk + owner * chunks_per_npu_.value() + k);
  }
  /// A chunk split into its rank (or pair) and k.
  struct Part {
    std::uint32_t owner;
    std::uint32_t k;
  };
  [[nodiscard]] Part part(const Seat& seat, ChunkId chunk) const {
    const auto local = chunk.value() - seat.first_chunk;
    const auto owner = chunks_per_npu_.quotient(local);
    return {owner, local - owner * chunks_per_npu_.value()};
  }

  /// Moves a message so that its destination becomes NPU 0. Requires everyone(), and a chunk id that names the
  /// message's content by owner (or pair).
  [[nodiscard]] Message moved_to_origin(const Message& message, const TranslationGroup& group) const {
    const auto c = chunks_per_npu_.value();
    const auto owner = chunks_per_npu_.quotient(message.chunk.value());
    const auto k = message.chunk.value() - owner * c;
    const auto moved = [&](std::uint32_t npu) { return group.subtract(NpuId(npu), message.destination).value(); };
    Message at_origin = message;
    at_origin.source = group.subtract(message.source, message.destination);
    at_origin.destination = NpuId(0);
    const auto to =
        kind() == CollectiveKind::all_to_all ? moved(owner / npus_) * npus_ + moved(owner % npus_) : moved(owner);
    at_origin.chunk = ChunkId(to * c + k);
    return at_origin;
  }

 private:
  static bool holds_everyone_in_order(const Collective& collective) {
    return collective.groups().size() == 1 && are_all_in_order(collective.groups()[0].members, collective.npus());
  }

  std::shared_ptr<const Collective> collective_;
  Divisor chunks_per_npu_;
  bool everyone_;
  std::uint32_t npus_;
};

}  // namespace tenex
