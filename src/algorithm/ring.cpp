// Ring: All-Gather, Reduce-Scatter and All-Reduce over the members of a group in rank order.
//
// All-Gather: a chunk leaves its owner both ways (or one way), and every NPU that receives it passes it on in the same
// direction until the two ends have met. Reduce-Scatter is the time reversal: for each chunk two branches of partial
// sums run from the far ends to the owner; an NPU on a branch adds what arrives to its own contribution and passes the
// sum on. All-Reduce: the owner begins its chunk's gather when the last branch has arrived; all chunks are under way at
// once.
//
// Encoding: rank, chunk and direction determine every next message, so the only state is a count of arrived branches
// per owned chunk. With n even, one way is a hop longer than the other; the chunks of an NPU take the longer way in
// turns, and those with the longer way leave first.
// Source: Chan et al. 2007 (bucket algorithms), Patarasuk and Yuan 2009; the baseline "Ring" of TACOS, section V-A.
#include <cstdint>
#include <memory>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "algorithm/seats.hpp"
#include "algorithm/textbook.hpp"

namespace tenex {
namespace {

enum class Ways : std::uint8_t { one, both };

/// The hops of an NPU's k-th chunk from its owner one way round. The two ways together cover all but the owner once.
std::uint32_t copy_hops(Ways ways, std::uint32_t members, std::uint32_t k, bool clockwise) {
  if (ways == Ways::one) return clockwise ? members - 1 : 0;
  return clockwise == (k % 2 == 0) ? members / 2 : (members - 1) / 2;
}

/// The hops of the sum of an NPU's k-th chunk one way round to the owner. This is the gather reversed in time, so sums
/// run clockwise where copies run counter-clockwise. The one-way ring sends sums clockwise too, as it must where links
/// lead one way only.
std::uint32_t sum_hops(Ways ways, std::uint32_t members, std::uint32_t k, bool clockwise) {
  return copy_hops(ways, members, k, ways == Ways::one ? clockwise : !clockwise);
}

/// The index of the chunk that an NPU sends i-th one way. Chunks that go farther are first. Then every arrival triggers
/// the message that is the number of chunks later, also in the last round, in which the other chunks no longer move.
std::uint32_t chunk_in_turn(Ways ways, std::uint32_t members, std::uint32_t chunks, std::uint32_t i, bool even_first) {
  if (ways == Ways::one || members % 2 != 0) return i;
  const auto first = even_first ? (chunks + 1) / 2 : chunks / 2;
  const bool even = (i < first) == even_first;
  return 2 * (i < first ? i : i - first) + (even ? 0 : 1);
}

class RingState final : public ProgramState {
 public:
  RingState(Seats seats, Ways ways)
      : seats_(std::move(seats)), ways_(ways), kind_(seats_.kind()), chunks_per_npu_(seats_.chunks_per_npu()) {
    if (kind_ == CollectiveKind::all_reduce) branches_arrived_.assign(seats_.collective().chunks(), 0);
  }

  void start(NpuId npu, std::vector<Message>& out) override {
    if (!seats_.takes_part(npu)) return;
    const auto me = seats_.of(npu);
    for (const bool clockwise : {true, false})
      for (std::uint32_t i = 0; i < chunks_per_npu_; ++i) {
        const bool gathers = kind_ == CollectiveKind::all_gather;
        const auto k = chunk_in_turn(ways_, me.members, chunks_per_npu_, i, gathers == clockwise);
        if (gathers)
          begin_gather(me, k, clockwise, out);
        else
          begin_reduction(me, k, clockwise, out);
      }
  }

  void arrive(const Message& message, std::vector<Message>& out) override {
    const auto me = seats_.of(message.destination);
    const auto [owner, k] = seats_.part(me, message.chunk);
    const auto source = seats_.rank_of(message.source);
    const bool clockwise = source + 1 == me.rank || (me.rank == 0 && source + 1 == me.members);
    const bool copy = message.stage == Stage::copy;
    if (copy || me.rank != owner) {
      const auto gone = clockwise ? me.rank - owner : owner - me.rank;
      if (!copy || gone + (gone >= me.members ? me.members : 0) < copy_hops(ways_, me.members, k, clockwise))
        emit(out, me.npu, neighbour(me, clockwise), message.chunk, message.stage);
    } else if (kind_ == CollectiveKind::all_reduce) {
      const int branches = ways_ == Ways::both && me.members > 2 ? 2 : 1;
      if (++branches_arrived_[message.chunk.index()] != branches) return;
      begin_gather(me, k, true, out);
      begin_gather(me, k, false, out);
    }
  }

 private:
  [[nodiscard]] NpuId neighbour(const Seat& me, bool clockwise) const {
    if (clockwise) return seats_.npu_at(me.group, me.rank + 1 == me.members ? 0 : me.rank + 1);
    return seats_.npu_at(me.group, me.rank == 0 ? me.members - 1 : me.rank - 1);
  }

  /// Sends the owner's k-th chunk one way.
  void begin_gather(const Seat& me, std::uint32_t k, bool clockwise, std::vector<Message>& out) const {
    if (copy_hops(ways_, me.members, k, clockwise) > 0)
      emit(out, me.npu, neighbour(me, clockwise), seats_.chunk(me, me.rank, k), Stage::copy);
  }

  /// Starts a branch of sums. Every NPU is the far end of one branch each way, for the k-th chunks of two owners.
  void begin_reduction(const Seat& me, std::uint32_t k, bool clockwise, std::vector<Message>& out) const {
    const auto hops = sum_hops(ways_, me.members, k, clockwise);
    const auto owner = me.rank_at(clockwise ? hops : me.members - hops);
    if (hops > 0) emit(out, me.npu, neighbour(me, clockwise), seats_.chunk(me, owner, k), Stage::reduce);
  }

  Seats seats_;
  Ways ways_;
  CollectiveKind kind_;
  std::uint32_t chunks_per_npu_;
  std::vector<std::uint8_t> branches_arrived_;  ///< per chunk, written by its owner alone; All-Reduce only
};

class RingProgram final : public Program {
 public:
  RingProgram(const Collective& collective, Ways ways) : seats_(collective), ways_(ways) {}

  [[nodiscard]] std::unique_ptr<ProgramState> begin() const override {
    return std::make_unique<RingState>(seats_, ways_);
  }
  [[nodiscard]] std::uint64_t messages() const override { return messages_of_all_pairs(seats_.collective()); }

  /// One cycle for each way round and each size of group. In an All-Reduce both ways depend on each other, because
  /// chunks are gathered when the sums from both sides have arrived; it has no cycles.
  [[nodiscard]] std::vector<Cycle> cycles() const override {
    std::vector<Cycle> cycles;
    if (ways_ == Ways::both && seats_.kind() == CollectiveKind::all_reduce) return cycles;
    for (const bool clockwise : {true, false}) {
      if (ways_ == Ways::one && !clockwise) continue;
      for (const auto members : group_sizes()) {
        auto cycle = cycle_of(static_cast<std::uint32_t>(members), clockwise);
        if (cycle.messages > 0) cycles.push_back(std::move(cycle));
      }
    }
    return cycles;
  }

  [[nodiscard]] bool moves_with(const TranslationGroup& group) const override {
    return seats_.everyone() && group.npus() == seats_.collective().npus() && group.dimensions().size() == 1;
  }
  [[nodiscard]] Message to_origin(const Message& message, const TranslationGroup& group) const override {
    return seats_.moved_to_origin(message, group);
  }

 private:
  [[nodiscard]] std::set<std::size_t> group_sizes() const {
    std::set<std::size_t> sizes;
    for (const auto& group : seats_.collective().groups()) sizes.insert(group.members.size());
    return sizes;
  }

  [[nodiscard]] Cycle cycle_of(std::uint32_t members, bool clockwise) const {
    Cycle cycle;
    cycle.next.assign(seats_.collective().npus(), NpuId::none());
    for (const auto& group : seats_.collective().groups()) {
      if (group.members.size() != members) continue;
      for (std::size_t rank = 0; rank < members; ++rank)
        cycle.next[group.members[rank].index()] = group.members[(rank + (clockwise ? 1 : members - 1)) % members];
    }
    const bool gathers = seats_.kind() == CollectiveKind::all_gather;
    for (std::uint32_t k = 0; k < seats_.chunks_per_npu(); ++k) {
      const auto hops = gathers ? copy_hops(ways_, members, k, clockwise) : sum_hops(ways_, members, k, clockwise);
      cycle.messages += hops;
      cycle.at_start += hops > 0 ? 1 : 0;
    }
    if (seats_.kind() == CollectiveKind::all_reduce) cycle.messages *= 2;
    return cycle;
  }

  Seats seats_;
  Ways ways_;
};

Result<std::shared_ptr<const Program>> make(std::string_view name, Ways ways, const Topology& topology,
                                            const Collective& collective) {
  if (auto fits = check_fits(name, topology, collective); !fits) return fits.errors();
  return std::shared_ptr<const Program>(std::make_shared<RingProgram>(collective, ways));
}

}  // namespace

Result<std::shared_ptr<const Program>> make_ring(const Topology& topology, const Collective& collective,
                                                 const AlgorithmOptions& /*options*/) {
  return make("ring", Ways::both, topology, collective);
}

Result<std::shared_ptr<const Program>> make_ring_unidirectional(const Topology& topology, const Collective& collective,
                                                                const AlgorithmOptions& /*options*/) {
  return make("ring_unidirectional", Ways::one, topology, collective);
}

ProgramSizes sizes_of_ring(const ProgramScale& scale) { return {scale.sends, scale.sends * scale.neighbour_hops, 0}; }

}  // namespace tenex
