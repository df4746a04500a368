// Direct: every NPU exchanges chunks with every other member of its group, all at once. This file does it for groups
// that all do one collective in which all NPUs are alike, direct_by_group.cpp for all others.
//
// All-Gather: an NPU sends each of its chunks to all peers. Reduce-Scatter: an NPU sends its own contribution to every
// chunk straight to the owner. All-to-All: an NPU sends each peer the chunks for it. All-Reduce: an owner begins its
// chunk's gather when all contributions have arrived. Peers are taken in relative order or in absolute order, by rank
// (peer_order.hpp). Relative order keeps symmetric NPUs alike and spreads the first messages over all receivers. With
// a window of w, an NPU begins with w messages of a phase and sends the next one whenever a message of that phase
// arrives (ASTRA-sim's direct collective window).
//
// Encoding: one count of arrived contributions per owned chunk, in All-Reduce only; with a window, the numbers of
// messages sent and arrived in each phase. Source: Thakur et al. 2005 (pairwise and direct exchanges); "Direct" of
// TACOS, section V-A, and the ASTRA-sim2.0 thesis, section 5.5.1, natural on fully connected topologies.
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

/// The data of a direct program, shared with its states.
struct DirectData {
  Seats seats;
  std::uint32_t window;
  PeerOrder peers;

  /// Appends the message to the i-th peer.
  void add(const Seat& me, std::uint32_t i, std::uint32_t k, Stage stage, std::vector<Message>& out) const {
    const auto other = peers.peer(me, i);
    emit(out, me.npu, seats.npu_at(me.group, other), seats.chunk(me, owner(me, other, stage), k), stage);
  }
  [[nodiscard]] Message message(const Seat& me, std::uint32_t i, std::uint32_t k, Stage stage) const {
    const auto other = peers.peer(me, i);
    return {me.npu, seats.npu_at(me.group, other), seats.chunk(me, owner(me, other, stage), k), stage};
  }
  /// The owner of the chunk that goes to a peer; in an All-to-All the pair.
  [[nodiscard]] std::uint32_t owner(const Seat& me, std::uint32_t other, Stage stage) const {
    if (seats.kind() == CollectiveKind::all_to_all) return me.rank * me.members + other;
    return stage == Stage::reduce ? other : me.rank;
  }
  /// The stage in which all NPUs begin.
  [[nodiscard]] Stage first_stage() const { return reduces(seats.kind()) ? Stage::reduce : Stage::copy; }
};

/// The state without a window: an NPU sends every message as soon as it can.
class DirectState final : public ProgramState {
 public:
  explicit DirectState(std::shared_ptr<const DirectData> data) : data_(std::move(data)) {
    if (data_->seats.kind() == CollectiveKind::all_reduce)
      contributions_arrived_.assign(data_->seats.collective().chunks(), 0);
  }

  void start(NpuId npu, std::vector<Message>& out) override {
    if (!data_->seats.takes_part(npu)) return;
    const auto me = data_->seats.of(npu);
    for (std::uint32_t k = 0; k < data_->seats.chunks_per_npu(); ++k) send_all(me, k, data_->first_stage(), out);
  }

  void arrive(const Message& message, std::vector<Message>& out) override {
    if (message.stage == Stage::copy || contributions_arrived_.empty()) return;
    const auto me = data_->seats.of(message.destination);
    if (++contributions_arrived_[message.chunk.index()] == me.members - 1)
      send_all(me, data_->seats.part(me, message.chunk).k, Stage::copy, out);
  }

 private:
  void send_all(const Seat& me, std::uint32_t k, Stage stage, std::vector<Message>& out) const {
    for (std::uint32_t i = 0; i + 1 < me.members; ++i) data_->add(me, i, k, stage, out);
  }

  std::shared_ptr<const DirectData> data_;
  std::vector<std::uint32_t> contributions_arrived_;  ///< per chunk, written by its owner alone; All-Reduce only
};

/// The state with a window: at a time, an NPU has sent at most a window of messages more of a phase than have arrived.
class WindowedDirectState final : public ProgramState {
 public:
  explicit WindowedDirectState(std::shared_ptr<const DirectData> data)
      : data_(std::move(data)), phases_(2 * data_->seats.collective().npus()) {
    if (data_->seats.kind() != CollectiveKind::all_reduce) return;
    contributions_arrived_.assign(data_->seats.collective().chunks(), 0);
    gathered_.assign(data_->seats.collective().npus() * data_->seats.chunks_per_npu(), 0);
  }

  void start(NpuId npu, std::vector<Message>& out) override {
    if (!data_->seats.takes_part(npu)) return;
    const auto me = data_->seats.of(npu);
    auto& phase = phase_of(npu, data_->first_stage());
    phase.ready = data_->seats.chunks_per_npu();
    send(me, data_->first_stage(), phase, out);
  }

  void arrive(const Message& message, std::vector<Message>& out) override {
    const auto me = data_->seats.of(message.destination);
    auto& phase = phase_of(message.destination, message.stage);
    ++phase.arrived;
    send(me, message.stage, phase, out);
    if (message.stage == Stage::copy || contributions_arrived_.empty()) return;
    if (++contributions_arrived_[message.chunk.index()] < me.members - 1) return;
    auto& gather = phase_of(message.destination, Stage::copy);
    gathered_[first_of(me.npu) + gather.ready++] = data_->seats.part(me, message.chunk).k;
    send(me, Stage::copy, gather, out);
  }

 private:
  /// Messages of one stage at one NPU.
  struct Phase {
    std::uint64_t sent = 0;
    std::uint64_t arrived = 0;
    std::uint32_t ready = 0;  ///< chunks that may be sent to all peers
  };

  [[nodiscard]] Phase& phase_of(NpuId npu, Stage stage) {
    return phases_[2 * npu.index() + (stage == Stage::copy ? 1 : 0)];
  }
  [[nodiscard]] std::size_t first_of(NpuId npu) const { return npu.index() * data_->seats.chunks_per_npu(); }

  void send(const Seat& me, Stage stage, Phase& phase, std::vector<Message>& out) const {
    const std::uint64_t peers = me.members - 1;
    const auto until = std::min(phase.ready * peers, phase.arrived + data_->window);
    for (; phase.sent < until; ++phase.sent) {
      auto k = static_cast<std::uint32_t>(phase.sent / peers);
      if (stage == Stage::copy && !gathered_.empty()) k = gathered_[first_of(me.npu) + k];
      data_->add(me, static_cast<std::uint32_t>(phase.sent % peers), k, stage, out);
    }
  }

  std::shared_ptr<const DirectData> data_;
  std::vector<Phase> phases_;                         ///< two per NPU: of sums, of copies
  std::vector<std::uint32_t> contributions_arrived_;  ///< per chunk, All-Reduce only
  std::vector<std::uint32_t> gathered_;               ///< by NPU, the chunks that became complete, in order; All-Reduce
                                                      ///< only
};

class DirectProgram final : public Program {
 public:
  explicit DirectProgram(DirectData data) : data_(std::make_shared<const DirectData>(std::move(data))) {}

  [[nodiscard]] std::unique_ptr<ProgramState> begin() const override {
    if (data_->window > 0) return std::make_unique<WindowedDirectState>(data_);
    return std::make_unique<DirectState>(data_);
  }
  [[nodiscard]] std::uint64_t messages() const override { return messages_of_all_pairs(data_->seats.collective()); }
  [[nodiscard]] std::string_view destination_order() const override {
    return data_->peers.order == DestinationOrder::relative ? "relative" : "absolute";
  }

  [[nodiscard]] bool open_loop() const override {
    return data_->window == 0 && data_->seats.kind() != CollectiveKind::all_reduce;
  }
  [[nodiscard]] std::uint64_t messages_from(NpuId npu) const override {
    if (!data_->seats.takes_part(npu)) return 0;
    return std::uint64_t{data_->seats.of(npu).members - 1} * data_->seats.chunks_per_npu();
  }
  [[nodiscard]] Message message_of(NpuId npu, std::uint64_t index) const override {
    const auto me = data_->seats.of(npu);
    const std::uint64_t k = index < me.members - 1 ? 0 : index / (me.members - 1);
    return data_->message(me, static_cast<std::uint32_t>(index - k * (me.members - 1)), static_cast<std::uint32_t>(k),
                          data_->first_stage());
  }

  [[nodiscard]] bool moves_with(const TranslationGroup& group) const override {
    if (!data_->seats.everyone() || data_->peers.order == DestinationOrder::absolute) return false;
    const auto mine =
        data_->peers.offsets ? data_->peers.offsets->dimensions() : std::span<const TranslationDimension>{};
    const auto theirs = group.dimensions();
    if (group.npus() != data_->seats.collective().npus()) return false;
    if (mine.empty()) return theirs.size() == 1;
    return std::equal(mine.begin(), mine.end(), theirs.begin(), theirs.end(),
                      [](const auto& a, const auto& b) { return a.size == b.size; });
  }
  [[nodiscard]] Message to_origin(const Message& message, const TranslationGroup& group) const override {
    return data_->seats.moved_to_origin(message, group);
  }

 private:
  std::shared_ptr<const DirectData> data_;
};

/// Whether every NPU of a group sends to every other one.
bool all_alike(CollectiveKind kind) {
  return kind == CollectiveKind::all_gather || kind == CollectiveKind::reduce_scatter ||
         kind == CollectiveKind::all_reduce || kind == CollectiveKind::all_to_all;
}

}  // namespace

Result<std::shared_ptr<const Program>> make_direct(const Topology& topology, const Collective& collective,
                                                   const AlgorithmOptions& options) {
  if (auto fits = check_fits("direct", topology, collective); !fits) return fits.errors();
  if (!all_alike(collective.kind())) return make_direct_by_group(topology, collective, options);
  DirectData data{Seats(collective), options.window, {options.order, std::nullopt}};
  if (data.seats.everyone()) data.peers.offsets = offsets_of_peers(topology);
  return std::shared_ptr<const Program>(std::make_shared<DirectProgram>(std::move(data)));
}

ProgramSizes sizes_of_direct(const ProgramScale& scale) { return {scale.sends, scale.sends * scale.pair_hops, 0}; }

}  // namespace tenex
