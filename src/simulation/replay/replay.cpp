// Replay of a schedule: the player's starts (tenex/schedule/timing/list_player.hpp), and what the options ask for of
// them. A timed replay moreover waits for the planned starts.
//
// Nothing of a valid schedule is later than planned: a timed replay equals the given schedule, one as soon as possible
// is never later. Whether sums are right is not looked at (the verifier does that): the replay tells times alone.
#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "simulation/record.hpp"
#include "simulation/replay/listed_replay.hpp"
#include "simulation/replay/plain_replays.hpp"
#include "simulation/simulation_contract.hpp"
#include "tenex/base/contract.hpp"
#include "tenex/simulation/simulator.hpp"

namespace tenex {
namespace {

/// What the options ask for of a played list.
class Record {
 public:
  Record(const Topology& topology, const Collective& collective, const SimulationOptions& options)
      : topology_(topology),
        collective_(collective),
        options_(options),
        hop_times_(topology, collective.chunk_sizes(), options.occupancy) {}

  /// `sends` at their new starts.
  Simulation finish(std::vector<Send> sends) {
    Simulation result;
    result.hops = sends.size();
    if (options_.record_links) result.links.assign(topology_.links(), LinkLoad{});
    if (options_.record_npu_finish) result.npu_finish.assign(topology_.npus(), SimTime::zero());
    for (const Send& send : sends) {
      const VertexId target = topology_.target(send.link);
      if (!send.message.exists() || target == vertex_of(send.destination)) {
        ++result.messages;
        const auto arrival = send.start + hop(send).latency;
        result.finish = std::max(result.finish, arrival);
        if (topology_.is_npu(target)) note_arrival(send, npu_of(target), arrival, result);
      }
      if (!options_.record_links) continue;
      auto& load = result.links[send.link.index()];
      load.bytes += collective_.chunk_bytes(send.chunk);
      load.busy += hop(send).busy;
    }
    std::stable_sort(result.arrivals.begin(), result.arrivals.end(), [](const Delivery& a, const Delivery& b) {
      return std::tie(a.time, a.npu) < std::tie(b.time, b.npu);
    });
    if (options_.utilization_bins > 0) {
      UtilizationBins bins(result.finish, options_.utilization_bins);
      for (const Send& send : sends) bins.add(send.start, hop(send).busy);
      result.utilization = bins.result();
    }
    if (options_.record_sends) result.sends = make_list_schedule(std::move(sends));
    return result;
  }

 private:
  [[nodiscard]] const HopTime& hop(const Send& send) const {
    return hop_times_.at(topology_.class_of(send.link), collective_.size_class(send.chunk));
  }
  void note_arrival(const Send& send, NpuId npu, SimTime arrival, Simulation& result) const {
    if (options_.record_npu_finish) result.npu_finish[npu.index()] = std::max(result.npu_finish[npu.index()], arrival);
    if (options_.record_arrivals) result.arrivals.push_back({arrival, npu, send.chunk});
  }

  const Topology& topology_;
  const Collective& collective_;
  const SimulationOptions& options_;
  HopTimes hop_times_;
};

/// What a schedule must keep to before it can be followed at all.
Status check_sends(const Topology& topology, const Collective& collective, const std::vector<Send>& sends) {
  for (const auto& send : sends) {
    if (send.link.index() >= topology.links())
      return input_error({}, fmt::format("a send uses link {}", send.link.value()),
                         fmt::format("the topology has {} links", topology.links()),
                         "replay the schedule on the topology that it was made for");
    if (send.chunk.index() >= collective.chunks())
      return input_error({}, fmt::format("a send carries chunk {}", send.chunk.value()),
                         fmt::format("the collective has {} chunks", collective.chunks()),
                         "replay the schedule with the collective that it was made for");
    if (send.start < SimTime::zero())
      return input_error({}, fmt::format("a send of chunk {} is planned before time zero", send.chunk.value()),
                         "nothing can start earlier");
  }
  return success();
}

}  // namespace

Result<Simulation> replay_listed(const Topology& topology, const Collective& collective, PlannedSends planned,
                                 PlayRules rules, const SimulationOptions& options) {
  if (auto fit = check_sends(topology, collective, planned.sends); !fit) return fit.errors();
  const auto played = play_list({topology, collective, options.occupancy}, planned, rules);
  if (!played) return played.errors();
  for (std::size_t i = 0; i < planned.sends.size(); ++i) planned.sends[i].start = played->start[i];
  return Record(topology, collective, options).finish(std::move(planned.sends));
}

namespace {

Result<Simulation> replay_if_possible(const Topology& topology, const Collective& collective, const Schedule& schedule,
                                      Replay mode, const SimulationOptions& options) {
  if (options.backend != Backend::congestion_aware)
    return unsupported_error({}, "the congestion-unaware backend cannot replay a schedule",
                             "its messages overlap on links", "use the congestion-aware backend");
  if (auto constant = check_constant(topology); !constant) return constant.errors();
  if (auto valid = check_delays(topology, options.start_delays); !valid) return valid.errors();
  if (schedule.payloads() != nullptr)
    return unsupported_error({}, "cannot replay sends that carry several chunks", "a replay follows chunk by chunk",
                             "replay a schedule whose sends carry one chunk each");
  if (mode == Replay::as_soon_as_possible)
    if (auto unlimited = check_buffers(topology); !unlimited) return unlimited.errors();
  if (options.start_delays.empty()) {
    if (auto result = replay_in_place(topology, collective, schedule, mode, options)) return std::move(*result);
    if (auto result = replay_in_order(topology, collective, schedule, mode, options)) return std::move(*result);
  }
  if (schedule.sends() > kMostListedSends)
    return resource_error(fmt::format("cannot replay {} sends one by one", schedule.sends()),
                          fmt::format("they take about {} bytes", schedule.sends() * kListedSendBytes),
                          "replay it under the occupancy that it was made for, or a smaller schedule");
  return replay_listed(topology, collective, {list_sends(schedule), {}}, {mode == Replay::timed, options.start_delays},
                       options);
}

}  // namespace

Result<Simulation> replay(const Topology& topology, const Collective& collective, const Schedule& schedule, Replay mode,
                          const SimulationOptions& options) {
  TENEX_EXPECTS(collective.npus() == topology.npus(), "a collective of the topology's NPUs");
  TENEX_EXPECTS(options.threads >= 1, "at least one thread");
  auto replayed = replay_if_possible(topology, collective, schedule, mode, options);
  if (!replayed) return replayed;
  TENEX_ENSURES(has_what_is_asked(*replayed, topology, options), "what the options ask for");
  TENEX_ENSURES(
      mode != Replay::timed || replayed->finish >= last_arrival({topology, collective, options.occupancy}, schedule),
      "a timed replay that ends no sooner than the schedule");
  return replayed;
}

}  // namespace tenex
