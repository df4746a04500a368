// The schedule of a point that asks for unwound switches, played on the switches: its time there and the bound of the
// network with switches, which compare with those of algorithms that use the switches themselves.
#include <fmt/format.h>

#include <tuple>

#include "evaluate/evaluate_point.hpp"
#include "tenex/execution/build.hpp"
#include "tenex/execution/execution_cache.hpp"
#include "tenex/execution/plan.hpp"
#include "tenex/execution/sizes.hpp"
#include "tenex/execution/switch_play.hpp"
#include "tenex/execution/verified_collective.hpp"
#include "tenex/topology/transform.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex {
namespace {

void leave_out(Evaluation& row, std::string_view why) {
  row.reason += fmt::format("{}the schedule was not played on the switches: {}", row.reason.empty() ? "" : "; ", why);
}

}  // namespace

bool fill_switched(Evaluation& row, const PreparedPoint& prepared, const Schedule& schedule,
                   const VerifyOptions& checking, ExecutionCache& cache) {
  const auto& [point, built, collective] = std::tie(prepared.point, *prepared.network, *prepared.collective);
  if (built.unwound_degree == 0) return true;
  if (schedule.sends() > kMostPlayedSends)
    return leave_out(row, fmt::format("it has more than {} sends", kMostPlayedSends)), true;
  const auto network_point = with_switches_kept(point);
  const auto network_bytes = planned_topology_bytes(network_point);
  if (network_bytes > checking.memory_limit_bytes)
    return leave_out(row, fmt::format("that needs {} bytes more", network_bytes)), true;
  const auto found = find_topology(network_point, cache_key(network_point, kOfNetwork), cache);
  if (!*found) return leave_out(row, to_string(found->errors())), true;
  const auto with_switches = prepare_with(network_point, {found, &**found}, prepared.collective);
  const auto& switched = with_switches.topology();
  const auto unwound = unwind_with_origins(physical_network(switched), built.unwound_degree,
                                           slowdowns_of(point.collective().stragglers));
  ensure(unwound && unwound->topology.links() == built.topology.links(), "unwinding is deterministic");
  const auto played = play_within(prepared, switched, *unwound, schedule, point.collective().overlap,
                                  checking.memory_limit_bytes - network_bytes);
  if (!played) return leave_out(row, to_string(played.errors())), true;
  auto in_time = checking;
  in_time.start_delays = prepared.start_delays;
  const auto check =
      check_stream(with_switches.instance(), played->sends, played->finish, "the play on switches", in_time);
  if (!check.error.empty()) return end_point(row, PointStatus::failed, check.error), false;
  const auto bound = find_bound(with_switches, true, played->finish, bound_work(with_switches), cache);
  if (played->finish < bound->time) {
    end_point(row, PointStatus::failed,
              fmt::format("time {} ps on the switches is below the proven bound {} ps ({})", played->finish.count(),
                          bound->time.count(), bound->name));
    return false;
  }
  row.switched_time_ps = played->finish.count();
  row.switched_bound_ps = bound->time.count();
  return true;
}

}  // namespace tenex
