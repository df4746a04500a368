// Re-timing: in one pass where that does, otherwise by a list.
#include "tenex/schedule/timing/retime.hpp"

#include <utility>
#include <vector>

#include "schedule/segments.hpp"
#include "schedule/timing/one_pass.hpp"
#include "tenex/base/contract.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/schedule/timing/list_player.hpp"
#include "tenex/topology/slow_windows.hpp"

namespace tenex {
namespace {

Schedule retime_list(const Instance& instance, const Schedule& schedule) {
  PlannedSends planned{list_sends(schedule), {}};
  const auto played = play_list(instance, planned, {});
  ensure(played.ok() && played->in_order, "retime: the schedule is not valid");
  for (std::size_t i = 0; i < planned.sends.size(); ++i) planned.sends[i].start = played->start[i];
  return make_list_schedule(std::move(planned.sends));
}

/// Whether a link has two sends at once. O(sends).
bool any_overlap(const Instance& instance, const Schedule& schedule) {
  const StartedHops times(instance.topology, instance.collective.chunk_sizes(), instance.occupancy);
  std::vector<SimTime> free(instance.topology.links());
  bool found = false;
  for_each_send(schedule, [&](const Send& send) {
    const auto size_class = instance.collective.size_class(send.chunk);
    SimTime& until = free[send.link.index()];
    found = found || send.start < until;
    until = send.start + times.at(instance.topology.class_of(send.link), size_class, send.start).busy;
  });
  return found;
}

}  // namespace

std::size_t retime_bytes(const Topology& topology, std::uint64_t sends) {
  constexpr std::size_t kOnce = std::size_t{1} << 20;  // segments, and the digits of the sort
  return kOnce + static_cast<std::size_t>(sends) * (topology.direct() && !topology.varies() ? 50 : 100);
}

Schedule retime(const Instance& instance, const Schedule& schedule) {
  TENEX_EXPECTS(!(instance.topology.varies() && instance.collective.has_sums()), "no sums where bandwidth varies");
  auto in_one_pass = retime_in_one_pass(instance, schedule);
  Schedule retimed = in_one_pass ? *std::move(in_one_pass) : retime_list(instance, schedule);
  TENEX_ENSURES(retimed.sends() == schedule.sends(), "as many sends");
  TENEX_ENSURES(last_arrival(instance, retimed) <= last_arrival(instance, schedule) ||
                    instance.topology.wires() != nullptr || any_overlap(instance, schedule),
                "no later an end than that of a schedule whose links take one send at a time");
  return retimed;
}

}  // namespace tenex
