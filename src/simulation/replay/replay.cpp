// Replay of a schedule: the player's starts (tenex/schedule/timing/list_player.hpp), and what the options ask for of
// them. A timed replay moreover waits for the planned starts.
//
// Nothing of a valid schedule is later than planned: a timed replay equals the given schedule, one as soon as possible
// is never later. Whether sums are right is not looked at (the verifier does that): the replay tells times alone.
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "simulation/replay/listed_replay.hpp"
#include "simulation/replay/plain_replays.hpp"
#include "simulation/replay/play_record.hpp"
#include "simulation/simulation_contract.hpp"
#include "tenex/base/contract.hpp"
#include "tenex/simulation/simulator.hpp"
#include "tenex/topology/slow_windows.hpp"

namespace tenex {
namespace {

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
  const StartedHops hops(topology, collective.chunk_sizes(), options.occupancy);
  const auto hop_of = [&](const Send& send) {
    return hops.at(topology.class_of(send.link), collective.size_class(send.chunk), send.start);
  };
  PlayRecord record(topology, collective, options);
  for (std::size_t i = 0; i < planned.sends.size(); ++i) {
    Send& send = planned.sends[i];
    send.start = played->start[i];
    record.note(send, hop_of(send));
  }
  auto result = std::move(record).finish([&](auto&& visit) {
    for (const Send& send : planned.sends) visit(send.start, hop_of(send).busy);
  });
  if (options.record_sends) result.sends = make_list_schedule(std::move(planned.sends));
  return result;
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
