// In a plan of copies without waste a send waits for the send before it on its link and for the one delivery of its
// chunk at its source. Both were planned to begin before it, so that a single pass in planned order finds everything
// known that it needs. Encoding: a time per NPU and chunk in 32 bits: all times are sums of busy times and latencies
// (and planned starts), so they are counted in the greatest common divisor of these.
#include "simulation/replay/ordered_replay.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace tenex {
namespace {

constexpr std::size_t max_table = std::size_t{2} << 30;  ///< entries
constexpr std::size_t look_ahead = 16;                   ///< sends

class OrderedReplay {
 public:
  OrderedReplay(const Topology& topology, const Collective& collective, const Schedule& schedule, Replay mode,
                const SimulationOptions& options)
      : topology_(topology),
        collective_(collective),
        schedule_(schedule),
        timed_(mode == Replay::timed),
        options_(options),
        hop_times_(topology, collective.chunk_sizes(), options.occupancy),
        chunks_(collective.chunks()),
        free_(topology.links()) {
    for (std::uint16_t link_class = 0; link_class < topology.classes().size(); ++link_class)
      for (std::size_t size = 0; size < collective.chunk_sizes().size(); ++size) {
        const auto& hop = hop_times_.at(link_class, size);
        quantum_ = std::gcd(quantum_, std::gcd(hop.busy.count(), hop.latency.count()));
      }
    if (timed_) quantum_ = 1;  // planned starts may be any
  }

  std::optional<Simulation> run() {
    if (quantum_ == 0) return std::nullopt;
    if (options_.record_links) result_.links.assign(topology_.links(), LinkLoad{});
    if (options_.record_npu_finish) result_.npu_finish.assign(topology_.npus(), SimTime::zero());
    there_.assign(topology_.npus() * chunks_, absent);
    for (std::uint32_t chunk = 0; chunk < chunks_; ++chunk) {
      const auto owner = collective_.owner(ChunkId(chunk));
      if (!collective_.holds_at_start(owner, ChunkId(chunk))) return std::nullopt;
      there_[owner.index() * chunks_ + chunk] = 1;
    }
    SendBuffer buffer;
    for (std::size_t window = 0; window < schedule_.windows(); ++window) {
      schedule_.read(window, buffer);
      if (!follow(buffer.batch)) return std::nullopt;
    }
    return std::move(result_);
  }

 private:
  static constexpr std::uint32_t absent = 0;  ///< else 1 + the time in quanta

  bool follow(const SendBatch& batch) {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      if (batch.link[i].index() >= topology_.links() || batch.chunk[i].index() >= chunks_) return false;
      if (i + look_ahead < batch.size()) prefetch(batch.link[i + look_ahead], batch.chunk[i + look_ahead]);
      if (batch.stage_of(i) != Stage::copy || !send(batch.link[i], batch.chunk[i], batch.start_of(i))) return false;
    }
    return true;
  }

  void prefetch(LinkId link, ChunkId chunk) const {
    if (link.index() >= topology_.links() || chunk.index() >= chunks_) return;
    __builtin_prefetch(&there_[topology_.source(link).index() * chunks_ + chunk.index()]);
    __builtin_prefetch(&there_[topology_.target(link).index() * chunks_ + chunk.index()], 1);
  }

  bool send(LinkId link, ChunkId chunk, SimTime planned) {
    const auto size = collective_.size_class(chunk);
    const auto& hop = hop_times_.at(topology_.class_of(link), size);
    const auto brought = there_[topology_.source(link).index() * chunks_ + chunk.index()];
    const auto target = topology_.target(link);
    auto& slot = there_[target.index() * chunks_ + chunk.index()];
    if (brought == absent || slot != absent) return false;
    auto start = std::max(free_[link.index()], picoseconds((brought - 1) * quantum_));
    if (timed_) start = std::max(start, planned);
    const auto arrival = start + hop.latency;
    const auto count = arrival.count() / quantum_ + 1;
    if (count > std::int64_t{UINT32_MAX}) return false;
    free_[link.index()] = start + hop.busy;
    slot = static_cast<std::uint32_t>(count);
    note(link, npu_of(target), size, hop, arrival);
    return true;
  }

  void note(LinkId link, NpuId npu, std::size_t size, const HopTime& hop, SimTime arrival) {
    ++result_.messages;
    ++result_.hops;
    result_.finish = std::max(result_.finish, arrival);
    if (options_.record_npu_finish)
      result_.npu_finish[npu.index()] = std::max(result_.npu_finish[npu.index()], arrival);
    if (!options_.record_links) return;
    result_.links[link.index()].bytes += collective_.chunk_sizes()[size];
    result_.links[link.index()].busy += hop.busy;
  }

  const Topology& topology_;
  const Collective& collective_;
  const Schedule& schedule_;
  bool timed_;
  const SimulationOptions& options_;
  HopTimes hop_times_;
  std::size_t chunks_;
  std::int64_t quantum_ = 0;  ///< picoseconds
  std::vector<SimTime> free_;
  std::vector<std::uint32_t> there_;  ///< NPU-major
  Simulation result_;
};

}  // namespace

std::optional<Simulation> replay_in_order(const Topology& topology, const Collective& collective,
                                          const Schedule& schedule, Replay mode, const SimulationOptions& options) {
  if (schedule.may_carry_messages() || topology.switches() > 0 || reduces(collective.kind()) || options.record_sends ||
      options.record_arrivals || options.utilization_bins > 0 || topology.npus() > max_table / collective.chunks())
    return std::nullopt;
  return OrderedReplay(topology, collective, schedule, mode, options).run();
}

}  // namespace tenex
