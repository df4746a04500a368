// In a schedule of copies without waste a send waits for the send before it on its link and for the one delivery of its
// chunk at its source. Both were planned to begin before it, so that one pass of the player finds everything known
// that it needs, in times of 32 bits.
#include "simulation/replay/plain_replays.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "tenex/schedule/timing/player.hpp"

namespace tenex {
namespace {

constexpr std::size_t max_table = std::size_t{2} << 30;  ///< entries

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
        unit_(common_unit()),
        player_({topology, collective, options.occupancy}, unit_) {}

  std::optional<Simulation> run() {
    if (options_.record_links) result_.links.assign(topology_.links(), LinkLoad{});
    if (options_.record_npu_finish) result_.npu_finish.assign(topology_.npus(), SimTime::zero());
    SendBuffer buffer;
    for (std::size_t segment = 0; segment < schedule_.segments(); ++segment) {
      schedule_.read(segment, buffer);
      if (!follow(buffer.batch)) return std::nullopt;
    }
    return std::move(result_);
  }

 private:
  bool follow(const SendBatch& batch) {
    bool copies = true;
    const bool sound = player_.play(batch, timed_, [&](std::size_t i, std::size_t size_class, const auto& times) {
      copies = copies && batch.stage_of(i) == Stage::copy;
      note(batch.link[i], size_class, picoseconds(times.arrival * unit_));
    });
    return sound && copies;
  }

  /// Divides all hop times, and in a timed replay all planned starts: the larger it is, the later times fit 32 bits.
  [[nodiscard]] std::int64_t common_unit() const {
    auto unit = time_unit({topology_, collective_, options_.occupancy});
    SendBuffer buffer;
    for (std::size_t segment = 0; timed_ && unit > 1 && segment < schedule_.segments(); ++segment) {
      schedule_.read(segment, buffer);
      for (std::size_t i = 0; i < buffer.batch.size(); ++i)
        unit = std::gcd(unit, std::max(SimTime::zero(), buffer.batch.start_of(i)).count());
    }
    return unit;
  }

  void note(LinkId link, std::size_t size_class, SimTime arrival) {
    ++result_.messages;
    ++result_.hops;
    result_.finish = std::max(result_.finish, arrival);
    if (options_.record_npu_finish) {
      auto& finish = result_.npu_finish[npu_of(topology_.target(link)).index()];
      finish = std::max(finish, arrival);
    }
    if (!options_.record_links) return;
    result_.links[link.index()].bytes += collective_.chunk_sizes()[size_class];
    result_.links[link.index()].busy += hop_times_.at(topology_.class_of(link), size_class).busy;
  }

  const Topology& topology_;
  const Collective& collective_;
  const Schedule& schedule_;
  bool timed_;
  const SimulationOptions& options_;
  HopTimes hop_times_;
  std::int64_t unit_;  ///< picoseconds
  SchedulePlayer<std::uint32_t> player_;
  Simulation result_;
};

}  // namespace

std::optional<Simulation> replay_in_order(const Topology& topology, const Collective& collective,
                                          const Schedule& schedule, Replay mode, const SimulationOptions& options) {
  if (schedule.may_carry_messages() || !topology.direct() || collective.has_sums() || options.record_sends ||
      options.record_arrivals || options.utilization_bins > 0 || topology.npus() > max_table / collective.chunks())
    return std::nullopt;
  return OrderedReplay(topology, collective, schedule, mode, options).run();
}

}  // namespace tenex
