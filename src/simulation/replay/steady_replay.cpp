// What a send waits for is at its source: the sends before it on its link, and the deliveries of its chunk. So NPU by
// NPU, first everything that the in-links bring is entered into a table (chunk -> time); then each send of the
// out-links is compared with the table and with its link's previous send. In a timed replay a send starts as planned
// where both are done by then; as soon as possible, where moreover one of them is done only then. If all sends do, then
// by induction over planned time the replay is the given schedule. (What a send waits for:
// tenex/schedule/timing/list_player.hpp.)
#include "simulation/replay/plain_replays.hpp"

#include <algorithm>
#include <atomic>
#include <vector>

#include "simulation/record.hpp"

namespace tenex {
namespace {

constexpr SimTime never = SimTime::max();

/// What one NPU has, by chunk.
struct NpuHoldings {
  SimTime copy = never;            ///< when the final value is there first
  SimTime sums = picoseconds(-1);  ///< when the last partial sum is there; negative: none comes
};

class InPlaceReplay {
 public:
  InPlaceReplay(const Topology& topology, const Collective& collective, const Schedule& schedule, Replay mode,
                const SimulationOptions& options)
      : topology_(topology),
        collective_(collective),
        schedule_(schedule),
        prompt_(mode == Replay::as_soon_as_possible),
        options_(options),
        hop_times_(topology, collective.chunk_sizes(), options.occupancy) {}

  std::optional<Simulation> run() {
    const auto npus = static_cast<std::int64_t>(topology_.npus());
    if (options_.record_npu_finish) result_.npu_finish.assign(topology_.npus(), SimTime::zero());
    if (options_.record_links) result_.links.assign(topology_.links(), LinkLoad{});
    const auto end = last_arrival({topology_, collective_, options_.occupancy}, schedule_);
    UtilizationBins total(end, options_.utilization_bins);
    std::atomic<bool> steady{true};
    std::uint64_t sends = 0;
#pragma omp parallel num_threads(std::max(1, options_.threads)) reduction(+ : sends)
    {
      Worker worker{
          {}, std::vector<NpuHoldings>(collective_.chunks()), UtilizationBins(end, options_.utilization_bins), 0};
#pragma omp for schedule(dynamic, 16)
      for (std::int64_t npu = 0; npu < npus; ++npu)
        if (steady.load(std::memory_order_relaxed) && !check(worker, NpuId(static_cast<std::uint32_t>(npu))))
          steady = false;
      sends += worker.sends;
#pragma omp critical(tenex_replay_bins)
      total.add(worker.bins);
    }
    if (!steady) return std::nullopt;
    result_.finish = end;
    result_.hops = result_.messages = sends;
    if (options_.record_sends) result_.sends = schedule_;
    if (options_.utilization_bins > 0) result_.utilization = total.result();
    return std::move(result_);
  }

 private:
  struct Worker {
    SendBuffer buffer;
    std::vector<NpuHoldings> held;
    UtilizationBins bins;
    std::uint64_t sends = 0;
  };

  bool check(Worker& worker, NpuId npu) {
    std::fill(worker.held.begin(), worker.held.end(), NpuHoldings{});
    enter_own(worker, npu);
    SimTime last;
    for (const auto link : topology_.in_links(vertex_of(npu)))
      if (!enter_arrivals(worker, link, last)) return false;
    if (options_.record_npu_finish) result_.npu_finish[npu.index()] = last;
    for (const auto link : topology_.out_links(vertex_of(npu)))
      if (!compare_sends(worker, npu, link)) return false;
    return true;
  }

  /// The final values that the NPU begins with.
  void enter_own(Worker& worker, NpuId npu) const {
    for (const auto& member : collective_.memberships(npu)) {
      if (reduces(collective_.kind(member.group))) continue;
      const auto [first, count] = collective_.held_by(member);
      for (auto chunk = first; chunk < first + count; ++chunk) worker.held[chunk].copy = SimTime::zero();
    }
  }

  bool enter_arrivals(Worker& worker, LinkId link, SimTime& last) const {
    const auto link_class = topology_.class_of(link);
    for (std::size_t tile = 0; tile < schedule_.tiles(); ++tile) {
      schedule_.read_link(tile, link, worker.buffer);
      const auto& batch = worker.buffer.batch;
      for (std::size_t i = 0; i < batch.size(); ++i) {
        const auto chunk = batch.chunk[i];
        if (chunk.index() >= worker.held.size()) return false;
        const auto arrival = batch.start_of(i) + hop_times_.at(link_class, collective_.size_class(chunk)).latency;
        auto& held = worker.held[chunk.index()];
        if (batch.stage_of(i) == Stage::copy)
          held.copy = std::min(held.copy, arrival);
        else
          held.sums = std::max(held.sums, arrival);
        last = std::max(last, arrival);
      }
    }
    return true;
  }

  bool compare_sends(Worker& worker, NpuId npu, LinkId link) {
    const auto link_class = topology_.class_of(link);
    SimTime free;
    LinkLoad load;
    for (std::size_t tile = 0; tile < schedule_.tiles(); ++tile) {
      schedule_.read_link(tile, link, worker.buffer);
      const auto& batch = worker.buffer.batch;
      worker.sends += batch.size();
      for (std::size_t i = 0; i < batch.size(); ++i) {
        const auto chunk = batch.chunk[i];
        if (chunk.index() >= worker.held.size()) return false;
        const auto size_class = collective_.size_class(chunk);
        const auto start = batch.start_of(i);
        const auto ready = ready_at(worker.held[chunk.index()], npu, chunk, batch.stage_of(i), start);
        const auto earliest = std::max(ready, free);
        if (earliest > start || (prompt_ && earliest < start)) return false;
        const auto busy = hop_times_.at(link_class, size_class).busy;
        free = start + busy;
        load.bytes += collective_.chunk_sizes()[size_class];
        load.busy += busy;
        if (options_.utilization_bins > 0) worker.bins.add(start, busy);
      }
    }
    if (options_.record_links) result_.links[link.index()] = load;
    return true;
  }

  /// When all that the send waits for is there; never() where that is not all in time.
  [[nodiscard]] SimTime ready_at(const NpuHoldings& held, NpuId npu, ChunkId chunk, Stage stage, SimTime start) const {
    if (stage == Stage::copy && held.copy != never) return held.copy;
    if (held.sums >= SimTime::zero()) return held.sums <= start ? held.sums : never;
    if (stage == Stage::reduce && collective_.contributes(npu, chunk)) return SimTime::zero();
    return never;
  }

  const Topology& topology_;
  const Collective& collective_;
  const Schedule& schedule_;
  bool prompt_;
  const SimulationOptions& options_;
  HopTimes hop_times_;
  Simulation result_;
};

}  // namespace

std::optional<Simulation> replay_in_place(const Topology& topology, const Collective& collective,
                                          const Schedule& schedule, Replay mode, const SimulationOptions& options) {
  if (schedule.tiles() == 0 || !topology.direct() || options.record_arrivals) return std::nullopt;
  return InPlaceReplay(topology, collective, schedule, mode, options).run();
}

}  // namespace tenex
