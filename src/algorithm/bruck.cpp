// Bruck: All-Gather and All-to-All in ceil(log2 n) steps, for any n.
//
// All-Gather: in step s an NPU sends the chunks that it has to the NPU 2^s ranks before it, at most as many as that NPU
// lacks. After the step it has the chunks of the 2^(s+1) NPUs from itself on. All-to-All: a chunk that has o ranks to
// go moves by 2^s in step s where bit s of o is set; an NPU sends all such chunks in one message. The chunks with the
// same k are one slice; slices are pipelined.
//
// Encoding: one bit per NPU, slice and step that has arrived. An NPU has sent the messages of the steps before the
// first one that has not arrived, and of that step. The ends of a message give its step. A message is named by the
// sender's own chunk (All-to-All: by the sender's chunk for the receiver). Source: Bruck et al., "Efficient algorithms
// for all-to-all communications in multiport message-passing systems", 1997.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "algorithm/seats.hpp"
#include "algorithm/textbook.hpp"

namespace tenex {
namespace {

std::uint32_t steps_of(std::uint32_t members) { return static_cast<std::uint32_t>(std::bit_width(members - 1)); }

/// The number of chunks that a message of a step carries.
std::uint32_t chunks_in_step(CollectiveKind kind, std::uint32_t members, std::uint32_t step) {
  const auto distance = std::uint32_t{1} << step;
  if (kind == CollectiveKind::all_gather) return std::min(distance, members - distance);
  // The numbers below `members` with bit `step` set: half of every whole period, and those in the last, partial one.
  const std::uint64_t period = std::uint64_t{distance} * 2;
  const std::uint64_t rest = members % period;
  return static_cast<std::uint32_t>(members / period * distance + (rest > distance ? rest - distance : 0));
}

/// The step of a message, from its two ends.
std::uint32_t step_of(CollectiveKind kind, const Seat& destination, std::uint32_t source) {
  const auto forward = destination.offset_from(source);
  const auto distance = kind == CollectiveKind::all_gather ? destination.members - forward : forward;
  return static_cast<std::uint32_t>(std::countr_zero(distance));
}

class BruckState final : public ProgramState {
 public:
  explicit BruckState(Seats seats)
      : seats_(std::move(seats)), arrived_(seats_.collective().npus() * seats_.chunks_per_npu(), 0) {}

  void start(NpuId npu, std::vector<Message>& out) override {
    if (!seats_.takes_part(npu)) return;
    const auto me = seats_.of(npu);
    for (std::uint32_t slice = 0; slice < seats_.chunks_per_npu(); ++slice) send(me, slice, 0, out);
  }

  void arrive(const Message& message, std::vector<Message>& out) override {
    const auto me = seats_.of(message.destination);
    const auto slice = seats_.part(me, message.chunk).k;
    auto& arrived = arrived_[me.npu.index() * seats_.chunks_per_npu() + slice];
    const auto before = std::countr_one(arrived);
    arrived |= std::uint32_t{1} << step_of(seats_.kind(), me, seats_.rank_of(message.source));
    const auto after = std::countr_one(arrived);
    const auto steps = static_cast<int>(steps_of(me.members));
    for (int step = before + 1; step <= after && step < steps; ++step)
      send(me, slice, static_cast<std::uint32_t>(step), out);
  }

 private:
  void send(const Seat& me, std::uint32_t slice, std::uint32_t step, std::vector<Message>& out) const {
    const auto distance = std::uint32_t{1} << step;
    const bool gathers = seats_.kind() == CollectiveKind::all_gather;
    const auto to = me.rank_at(gathers ? me.members - distance : distance);
    const auto name = gathers ? me.rank : me.rank * me.members + to;
    emit(out, me.npu, seats_.npu_at(me.group, to), seats_.chunk(me, name, slice), Stage::copy,
         chunks_in_step(seats_.kind(), me.members, step));
  }

  Seats seats_;
  std::vector<std::uint32_t> arrived_;  ///< per NPU and slice, bit s: the message of step s has arrived
};

class BruckProgram final : public Program {
 public:
  explicit BruckProgram(const Collective& collective) : seats_(collective) {}

  [[nodiscard]] std::unique_ptr<ProgramState> begin() const override { return std::make_unique<BruckState>(seats_); }
  [[nodiscard]] std::uint64_t messages() const override {
    std::uint64_t total = 0;
    for (const auto& group : seats_.collective().groups())
      total += std::uint64_t{group.members.size()} * steps_of(static_cast<std::uint32_t>(group.members.size()));
    return total * seats_.chunks_per_npu();
  }
  [[nodiscard]] std::vector<std::uint32_t> message_sizes() const override {
    std::set<std::uint32_t> sizes;
    for (const auto& group : seats_.collective().groups()) {
      const auto members = static_cast<std::uint32_t>(group.members.size());
      for (std::uint32_t step = 0; step < steps_of(members); ++step)
        sizes.insert(chunks_in_step(seats_.kind(), members, step));
    }
    return {sizes.begin(), sizes.end()};
  }

  void chunks_of(const Message& message, std::vector<ChunkId>& out) const override {
    const auto me = seats_.of(message.destination);
    const auto source = seats_.of(message.source);
    const auto slice = seats_.part(me, message.chunk).k;
    const auto distance = std::uint32_t{1} << step_of(seats_.kind(), me, source.rank);
    const auto first = out.size();
    if (seats_.kind() == CollectiveKind::all_gather) {
      for (std::uint32_t i = 0; i < message.chunks; ++i) out.push_back(seats_.chunk(me, source.rank_at(i), slice));
    } else {
      for (std::uint32_t to_go = 0; to_go < me.members; ++to_go) {
        if ((to_go & distance) == 0) continue;
        const auto gone = to_go & (distance - 1);
        const auto from = source.rank_at(me.members - gone);
        const auto to = source.rank_at(to_go - gone);
        out.push_back(seats_.chunk(me, from * me.members + to, slice));
      }
    }
    std::sort(out.begin() + static_cast<std::ptrdiff_t>(first), out.end());
  }

  [[nodiscard]] bool moves_with(const TranslationGroup& group) const override {
    return seats_.everyone() && group.npus() == seats_.collective().npus() && group.dimensions().size() == 1;
  }
  [[nodiscard]] Message to_origin(const Message& message, const TranslationGroup& group) const override {
    return seats_.moved_to_origin(message, group);
  }

 private:
  Seats seats_;
};

}  // namespace

Result<std::shared_ptr<const Program>> make_bruck(const Topology& topology, const Collective& collective,
                                                  const AlgorithmOptions& /*options*/) {
  if (auto fits = check_fits("bruck", topology, collective); !fits) return fits.errors();
  return std::shared_ptr<const Program>(std::make_shared<BruckProgram>(collective));
}

ProgramSizes sizes_of_bruck(const ProgramScale& scale) {
  const double steps = doubling_steps(scale.members);
  const double messages = scale.passes * scale.slices * steps;
  return {messages, messages * scale.pair_hops, scale.sends * (scale.all_to_all ? steps : 1)};
}

}  // namespace tenex
