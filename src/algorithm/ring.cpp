// Ring: All-Gather, Reduce-Scatter and All-Reduce over the members of a group in rank order.
//
// All-Gather: a chunk leaves its owner both ways (or one way), and every NPU that receives it passes it on in the same
// direction until the two ends have met. Reduce-Scatter is the time reversal: for each chunk two branches of partial
// sums run from the far ends to the owner; an NPU on a branch adds what arrives to its own contribution and passes the
// sum on. All-Reduce: the owner begins its chunk's gather when the last branch has arrived; all chunks are under way at
// once.
//
// Encoding: rank, chunk and direction tell all that an NPU does next, so there is no state but a count of arrived
// branches per owned chunk. With n even, one way is a hop longer than the other; the chunks of an NPU take turns.
// Source: Chan et al. 2007 (bucket algorithms), Patarasuk and Yuan 2009; in 001 and 000 the baseline "Ring".
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "algorithm/textbook.hpp"

namespace tenex {
namespace {

enum class Ways : std::uint8_t { one, both };

/// How many hops a chunk travels from its owner in either direction (a sum: toward its owner, from there).
struct Reach {
  std::uint32_t clockwise;          ///< covers ranks owner+1 .. owner+clockwise
  std::uint32_t counter_clockwise;  ///< covers ranks owner-1 .. owner-counter_clockwise
};

/// The reach of the k-th chunk of an NPU in a gather. All but the owner are covered once.
Reach gather_reach(Ways ways, std::uint32_t members, std::uint32_t k) {
  if (ways == Ways::one) return {members - 1, 0};
  const std::uint32_t longer = members / 2;  // ceil((n-1)/2)
  const std::uint32_t shorter = (members - 1) / 2;
  return k % 2 == 0 ? Reach{longer, shorter} : Reach{shorter, longer};
}

/// The reach in a reduction: that of the gather, of which it is the time reversal (clockwise ranks then send
/// counter-clockwise). The one-way ring sends sums clockwise too, as it must where links lead one way only: all ranks
/// lie counter-clockwise.
Reach reduction_reach(Ways ways, std::uint32_t members, std::uint32_t k) {
  if (ways == Ways::one) return {0, members - 1};
  return gather_reach(ways, members, k);
}

class RingState final : public ProgramState {
 public:
  RingState(std::shared_ptr<const Collective> collective, Ways ways)
      : shared_(std::move(collective)),
        collective_(*shared_),
        ways_(ways),
        chunks_per_npu_(static_cast<std::uint32_t>(collective_.chunks_per_npu())) {
    if (collective_.kind() == CollectiveKind::all_reduce) branches_arrived_.assign(collective_.chunks(), 0);
  }

  void start(NpuId npu, std::vector<Message>& out) override {
    const auto group = collective_.group_of(npu);
    if (!group.exists()) return;
    const Member me{npu, group, collective_.rank_of(npu), size_of(group)};
    for (std::uint32_t k = 0; k < chunks_per_npu_; ++k) {
      if (collective_.kind() == CollectiveKind::all_gather)
        begin_gather(me, k, out);
      else
        begin_reduction(me, k, out);
    }
  }

  void arrive(const Message& message, std::vector<Message>& out) override {
    const auto group = collective_.group_of(message.destination);
    const Member me{message.destination, group, collective_.rank_of(message.destination), size_of(group)};
    const auto local = message.chunk.value() - collective_.first_chunk(group).value();
    const auto owner = local / chunks_per_npu_;
    const auto k = local % chunks_per_npu_;
    const bool clockwise = collective_.rank_of(message.source) == me.rank_at(me.members - 1);
    if (message.stage == Stage::copy) {
      const auto reach = gather_reach(ways_, me.members, k);
      const auto distance = clockwise ? me.offset_from(owner) : me.members - me.offset_from(owner);
      if (distance < (clockwise ? reach.clockwise : reach.counter_clockwise))
        out.push_back({me.npu, neighbour(me, clockwise), message.chunk, Stage::copy});
    } else if (me.rank != owner) {
      out.push_back({me.npu, neighbour(me, clockwise), message.chunk, Stage::reduce});
    } else if (collective_.kind() == CollectiveKind::all_reduce) {
      const auto reach = reduction_reach(ways_, me.members, k);
      const int branches = (reach.clockwise > 0 ? 1 : 0) + (reach.counter_clockwise > 0 ? 1 : 0);
      if (++branches_arrived_[message.chunk.index()] == branches) begin_gather(me, k, out);
    }
  }

 private:
  struct Member {
    NpuId npu;
    GroupId group;
    std::uint32_t rank;
    std::uint32_t members;
    /// The rank `offset` (< members) places clockwise.
    [[nodiscard]] std::uint32_t rank_at(std::uint32_t offset) const { return (rank + offset) % members; }
    /// How many places clockwise of `other` this is.
    [[nodiscard]] std::uint32_t offset_from(std::uint32_t other) const { return (rank + members - other) % members; }
  };

  [[nodiscard]] std::uint32_t size_of(GroupId group) const {
    return static_cast<std::uint32_t>(collective_.groups()[group.index()].members.size());
  }
  [[nodiscard]] NpuId neighbour(const Member& me, bool clockwise) const {
    return collective_.groups()[me.group.index()].members[me.rank_at(clockwise ? 1 : me.members - 1)];
  }
  [[nodiscard]] ChunkId chunk_of(const Member& me, std::uint32_t owner, std::uint32_t k) const {
    return ChunkId(collective_.first_chunk(me.group).value() + owner * chunks_per_npu_ + k);
  }

  /// The owner sends its k-th chunk both ways.
  void begin_gather(const Member& me, std::uint32_t k, std::vector<Message>& out) const {
    const auto reach = gather_reach(ways_, me.members, k);
    const auto chunk = chunk_of(me, me.rank, k);
    if (reach.clockwise > 0) out.push_back({me.npu, neighbour(me, true), chunk, Stage::copy});
    if (reach.counter_clockwise > 0) out.push_back({me.npu, neighbour(me, false), chunk, Stage::copy});
  }

  /// Every NPU is the far end of one branch each way, of the k-th chunks of two owners.
  void begin_reduction(const Member& me, std::uint32_t k, std::vector<Message>& out) const {
    const auto reach = reduction_reach(ways_, me.members, k);
    if (reach.clockwise > 0)
      out.push_back(
          {me.npu, neighbour(me, false), chunk_of(me, me.rank_at(me.members - reach.clockwise), k), Stage::reduce});
    if (reach.counter_clockwise > 0)
      out.push_back({me.npu, neighbour(me, true), chunk_of(me, me.rank_at(reach.counter_clockwise), k), Stage::reduce});
  }

  std::shared_ptr<const Collective> shared_;  ///< with the program, which may end first
  const Collective& collective_;
  Ways ways_;
  std::uint32_t chunks_per_npu_;
  std::vector<std::uint8_t> branches_arrived_;  ///< per chunk, written by its owner alone; All-Reduce only
};

class RingProgram final : public Program {
 public:
  RingProgram(const Collective& collective, Ways ways)
      : collective_(std::make_shared<Collective>(collective)), ways_(ways) {}

  [[nodiscard]] std::unique_ptr<ProgramState> begin() const override {
    return std::make_unique<RingState>(collective_, ways_);
  }
  [[nodiscard]] std::uint64_t messages() const override { return messages_of_all_pairs(*collective_); }

 private:
  std::shared_ptr<const Collective> collective_;
  Ways ways_;
};

Result<std::shared_ptr<const Program>> make(std::string_view name, Ways ways, const Topology& topology,
                                            const Collective& collective) {
  if (auto fits = check_fits(name, topology, collective); !fits) return fits.errors();
  return std::shared_ptr<const Program>(std::make_shared<RingProgram>(collective, ways));
}

}  // namespace

Result<std::shared_ptr<const Program>> make_ring(const Topology& topology, const Collective& collective) {
  return make("ring", Ways::both, topology, collective);
}

Result<std::shared_ptr<const Program>> make_ring_unidirectional(const Topology& topology,
                                                                const Collective& collective) {
  return make("ring_unidirectional", Ways::one, topology, collective);
}

}  // namespace tenex
