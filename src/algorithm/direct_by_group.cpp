// Direct for any collective, and for groups that each do one of their own: every chunk goes straight from where it is
// to each destination, in one message each, all at time zero.
//
// An NPU goes through its groups in order, in each through the k of its chunks, and for each k through its peers in the
// order of peer_order.hpp. Gather: every NPU sends its chunk to the root; Scatter and Broadcast: the root sends to all;
// Reduce: every NPU sends its contribution to the root; stored conditions: a message per condition and destination.
// All-Gather, Reduce-Scatter, All-to-All and All-Reduce are as in direct.cpp: an All-Reduce's owner begins its chunk's
// gather when all contributions have arrived. There is no window: it would let an NPU send when it receives, and here
// an NPU may send without receiving anything.
//
// Encoding: the i-th message of an NPU is computed from i; per seat (an NPU in a group) the number of its first
// message. Of stored conditions, the order of each source's messages is kept: 8 bytes per condition and destination,
// the condition's own size or less. An All-Reduce group has one count of arrived contributions per chunk. Source: as
// direct.cpp; the conditions are those of PCCL (the ASTRA-sim2.0 thesis, section 6.4.1).
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "algorithm/peer_order.hpp"
#include "algorithm/seats.hpp"
#include "algorithm/textbook.hpp"

namespace tenex {
namespace {

/// A message of stored conditions.
struct StoredMessage {
  std::uint32_t condition;    ///< in its group
  std::uint32_t destination;  ///< rank
};

class GroupedDirect {
 public:
  GroupedDirect(const Topology& topology, const Collective& collective, DestinationOrder order)
      : collective_(collective), by_rank_{order, std::nullopt}, by_offset_{order, offsets_of_peers(topology)} {
    std::size_t counts = 0;
    for (std::size_t g = 0; g < collective_.groups().size(); ++g) {
      const auto group = GroupId::at(g);
      first_count_.push_back(counts);
      if (collective_.kind(group) == CollectiveKind::all_reduce) counts += collective_.chunks_in(group);
      has_all_npus_.push_back(are_all_in_order(collective_.groups()[g].members, collective_.npus()));
    }
    first_count_.push_back(counts);
    add_seats();
  }

  [[nodiscard]] const Collective& collective() const { return collective_; }
  [[nodiscard]] DestinationOrder order() const { return by_rank_.order; }
  /// Contributions are counted per chunk of the All-Reduce groups, of which there are this many.
  [[nodiscard]] std::size_t counted_chunks() const { return first_count_.back(); }
  [[nodiscard]] std::size_t count_of(GroupId group, ChunkId chunk) const {
    return first_count_[group.index()] + chunk.index() - collective_.first_chunk(group).index();
  }

  [[nodiscard]] Seat seat(NpuId npu, Collective::Membership member) const {
    return {npu, member.group, member.rank,
            static_cast<std::uint32_t>(collective_.groups()[member.group.index()].members.size()),
            collective_.first_chunk(member.group).value()};
  }
  [[nodiscard]] std::uint32_t peer(const Seat& me, std::uint32_t i) const { return order_in(me.group).peer(me, i); }
  [[nodiscard]] std::uint32_t chunks_per_npu(GroupId group) const {
    return static_cast<std::uint32_t>(collective_.chunks_per_npu(group));
  }
  [[nodiscard]] NpuId npu_at(GroupId group, std::uint32_t rank) const {
    return collective_.groups()[group.index()].members[rank];
  }

  /// The number of messages that the NPU injects at time zero.
  [[nodiscard]] std::uint64_t messages_from(NpuId npu) const {
    const auto seats = collective_.memberships(npu);
    if (seats.empty()) return 0;
    const auto last = first_seat_[npu.index()] + seats.size() - 1;
    const auto me = seat(npu, seats.back());
    return seats_[last].first_message + messages_per_slice_at(me, last) * chunks_per_npu(me.group);
  }
  /// O(log of the NPU's groups).
  [[nodiscard]] Message message_of(NpuId npu, std::uint64_t index) const {
    const auto seats = collective_.memberships(npu);
    const auto* const begin = seats_.data() + first_seat_[npu.index()];
    const auto* const after =
        std::upper_bound(begin, begin + seats.size(), index,
                         [](std::uint64_t i, const SeatStart& start) { return i < start.first_message; });
    const auto place = static_cast<std::size_t>(after - begin) - 1;
    const auto me = seat(npu, seats[place]);
    const auto at = first_seat_[npu.index()] + place;
    const auto per_slice = messages_per_slice_at(me, at);
    const auto rest = index - begin[place].first_message;
    return message(me, at, static_cast<std::uint32_t>(rest / per_slice), static_cast<std::uint32_t>(rest % per_slice));
  }
  /// Appends the messages of an NPU at time zero.
  void start(NpuId npu, std::vector<Message>& out) const {
    auto at = first_seat_[npu.index()];
    for (const auto& member : collective_.memberships(npu)) {
      const auto me = seat(npu, member);
      const auto per_slice = messages_per_slice_at(me, at);
      for (std::uint32_t k = 0; per_slice > 0 && k < chunks_per_npu(me.group); ++k)
        for (std::uint32_t i = 0; i < per_slice; ++i) out.push_back(message(me, at, k, i));
      ++at;
    }
  }

 private:
  /// What is kept of a seat. Seats are numbered by NPU, then group.
  struct SeatStart {
    std::uint64_t first_message = 0;  ///< of the NPU's messages
    std::size_t first_stored = 0;     ///< its first in stored_; the next seat's is the end
  };

  void add_seats() {
    for (std::size_t n = 0; n < collective_.npus(); ++n) {
      const auto npu = NpuId::at(n);
      first_seat_.push_back(seats_.size());
      std::uint64_t messages = 0;
      for (const auto& member : collective_.memberships(npu)) {
        const auto me = seat(npu, member);
        seats_.push_back({messages, stored_.size()});
        add_stored(me);
        messages += messages_per_slice(me, stored_.size() - seats_.back().first_stored) * chunks_per_npu(me.group);
      }
    }
    seats_.push_back({0, stored_.size()});
  }

  /// Appends the messages of a source's stored conditions, in the order of peers.
  void add_stored(const Seat& me) {
    const auto conditions = collective_.conditions(me.group);
    if (conditions.empty()) return;
    const auto owned = collective_.owned_by(Collective::Membership{me.group, me.rank});
    const auto number = (owned.first - me.first_chunk) / chunks_per_npu(me.group);
    const auto first = static_cast<std::ptrdiff_t>(stored_.size());
    for (auto q = number; q < number + owned.count / chunks_per_npu(me.group); ++q)
      for (const auto rank : conditions[q].destinations) stored_.push_back({static_cast<std::uint32_t>(q), rank});
    const auto& order = order_in(me.group);
    std::stable_sort(stored_.begin() + first, stored_.end(), [&](const StoredMessage& a, const StoredMessage& b) {
      return order.place(me, a.destination) < order.place(me, b.destination);
    });
  }

  [[nodiscard]] const PeerOrder& order_in(GroupId group) const {
    return has_all_npus_[group.index()] ? by_offset_ : by_rank_;
  }

  /// The number of messages of a seat for each k; `stored`: of stored conditions.
  [[nodiscard]] std::uint64_t messages_per_slice(const Seat& me, std::size_t stored) const {
    const auto kind = collective_.kind(me.group);
    if (stores_conditions(kind)) return stored;
    if (!has_root(kind)) return me.members - 1;
    const bool root_sends = kind == CollectiveKind::broadcast || kind == CollectiveKind::scatter;
    if (root_sends != (me.rank == collective_.root(me.group))) return 0;
    return root_sends ? me.members - 1 : 1;
  }
  [[nodiscard]] std::uint64_t messages_per_slice_at(const Seat& me, std::size_t at) const {
    return messages_per_slice(me, seats_[at + 1].first_stored - seats_[at].first_stored);
  }

  /// The i-th message for k.
  [[nodiscard]] Message message(const Seat& me, std::size_t at, std::uint32_t k, std::uint32_t i) const {
    const auto to = [&](std::uint32_t rank, std::uint32_t owner, Stage stage) {
      return Message{me.npu, npu_at(me.group, rank), ChunkId(me.first_chunk + owner * chunks_per_npu(me.group) + k),
                     stage};
    };
    switch (collective_.kind(me.group)) {
      case CollectiveKind::all_gather:
        return to(peer(me, i), me.rank, Stage::copy);
      case CollectiveKind::reduce_scatter:
      case CollectiveKind::all_reduce: {
        const auto owner = peer(me, i);
        return to(owner, owner, Stage::reduce);
      }
      case CollectiveKind::all_to_all: {
        const auto rank = peer(me, i);
        return to(rank, me.rank * me.members + rank, Stage::copy);
      }
      case CollectiveKind::broadcast:
        return to(peer(me, i), 0, Stage::copy);
      case CollectiveKind::scatter: {
        const auto rank = peer(me, i);
        return to(rank, rank, Stage::copy);
      }
      case CollectiveKind::gather:
        return to(collective_.root(me.group), me.rank, Stage::copy);
      case CollectiveKind::reduce:
        return to(collective_.root(me.group), 0, Stage::reduce);
      case CollectiveKind::all_to_allv:
      case CollectiveKind::halo_exchange:
      case CollectiveKind::conditions: {
        const auto& stored = stored_[seats_[at].first_stored + i];
        return to(stored.destination, stored.condition, Stage::copy);
      }
      case CollectiveKind::mixed:
        break;
    }
    throw InvariantError("a process group without a collective");
  }

  Collective collective_;
  PeerOrder by_rank_;
  PeerOrder by_offset_;                   ///< in groups of all NPUs
  std::vector<bool> has_all_npus_;        ///< by group: all NPUs in order of id
  std::vector<std::size_t> first_count_;  ///< by group, and the end
  std::vector<std::size_t> first_seat_;   ///< by NPU
  std::vector<SeatStart> seats_;          ///< and the end
  std::vector<StoredMessage> stored_;     ///< of all seats
};

class GroupedDirectState final : public ProgramState {
 public:
  explicit GroupedDirectState(std::shared_ptr<const GroupedDirect> data)
      : data_(std::move(data)), contributions_arrived_(data_->counted_chunks(), 0) {}

  void start(NpuId npu, std::vector<Message>& out) override { data_->start(npu, out); }

  void arrive(const Message& message, std::vector<Message>& out) override {
    if (message.stage == Stage::copy || contributions_arrived_.empty()) return;
    const auto& collective = data_->collective();
    const auto group = collective.group_of(message.chunk);
    if (collective.kind(group) != CollectiveKind::all_reduce) return;
    const auto members = static_cast<std::uint32_t>(collective.groups()[group.index()].members.size());
    if (++contributions_arrived_[data_->count_of(group, message.chunk)] < members - 1) return;
    const auto local = message.chunk.value() - collective.first_chunk(group).value();
    const auto me = data_->seat(message.destination, {group, local / data_->chunks_per_npu(group)});
    for (std::uint32_t i = 0; i + 1 < members; ++i)
      emit(out, me.npu, data_->npu_at(group, data_->peer(me, i)), message.chunk, Stage::copy);
  }

 private:
  std::shared_ptr<const GroupedDirect> data_;
  std::vector<std::uint32_t> contributions_arrived_;  ///< per chunk of an All-Reduce, written by its owner alone
};

class GroupedDirectProgram final : public Program {
 public:
  explicit GroupedDirectProgram(std::shared_ptr<const GroupedDirect> data) : data_(std::move(data)) {}

  [[nodiscard]] std::unique_ptr<ProgramState> begin() const override {
    return std::make_unique<GroupedDirectState>(data_);
  }
  [[nodiscard]] std::uint64_t messages() const override { return messages_of_all_pairs(data_->collective()); }
  [[nodiscard]] std::string_view destination_order() const override {
    return data_->order() == DestinationOrder::relative ? "relative" : "absolute";
  }
  [[nodiscard]] bool open_loop() const override { return data_->counted_chunks() == 0; }
  [[nodiscard]] std::uint64_t messages_from(NpuId npu) const override { return data_->messages_from(npu); }
  [[nodiscard]] Message message_of(NpuId npu, std::uint64_t index) const override {
    return data_->message_of(npu, index);
  }

 private:
  std::shared_ptr<const GroupedDirect> data_;
};

}  // namespace

Result<std::shared_ptr<const Program>> make_direct_by_group(const Topology& topology, const Collective& collective,
                                                            const AlgorithmOptions& options) {
  if (auto fits = check_fits("direct", topology, collective); !fits) return fits.errors();
  return std::shared_ptr<const Program>(std::make_shared<GroupedDirectProgram>(
      std::make_shared<const GroupedDirect>(topology, collective, options.order)));
}

}  // namespace tenex
