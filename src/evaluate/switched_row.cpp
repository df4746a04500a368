// The schedule of a point whose switches were unwound, played on the switches: its time there and the bound of the
// network with switches, which compare with those of algorithms that use the switches themselves.
#include <fmt/format.h>

#include <tuple>

#include "evaluate/evaluate_point.hpp"
#include "tenex/execution/build.hpp"
#include "tenex/execution/execution_cache.hpp"
#include "tenex/execution/plan.hpp"
#include "tenex/execution/sizes.hpp"
#include "tenex/execution/verified_collective.hpp"
#include "tenex/simulation/switched_replay.hpp"
#include "tenex/topology/time_range.hpp"
#include "tenex/topology/transform.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex {
namespace {

constexpr std::uint64_t kBytesOfPlayedHop = 150;  // listed and replayed

void leave_out(Evaluation& row, std::string_view why) {
  row.reason += fmt::format("{}the schedule was not played on the switches: {}", row.reason.empty() ? "" : "; ", why);
}

}  // namespace

bool fill_switched(Evaluation& row, const PreparedPoint& prepared, const Schedule& schedule,
                   const VerifyOptions& checking, ExecutionCache& cache) {
  const auto& [point, built, collective] = std::tie(prepared.point, *prepared.network, *prepared.collective);
  if (built.unwound_degree == 0 || !prepared.start_delays.empty()) return true;
  if (schedule.sends() > kMostPlayedSends)
    return leave_out(row, fmt::format("it has more than {} sends", kMostPlayedSends)), true;
  // With overlap: as soon as possible, a gather begins when its own sum is complete.
  const auto network_point = with_switches_kept(point);
  const auto unless_it_fits = [&](std::uint64_t bytes) {
    if (bytes > checking.memory_limit_bytes) leave_out(row, fmt::format("that needs {} bytes more", bytes));
    return bytes > checking.memory_limit_bytes;
  };
  const auto network_bytes = planned_topology_bytes(network_point);
  if (unless_it_fits(network_bytes)) return true;
  const auto found = find_topology_within(network_point, checking.memory_limit_bytes, cache);
  if (!*found) return leave_out(row, to_string(found->errors())), true;
  const auto with_switches = prepare_with(network_point, {found, &**found}, prepared.collective);
  const auto& switched = with_switches.topology();
  const auto& physical = switched.wires() != nullptr ? switched.wires()->network() : switched;
  const auto unwound = unwind_with_origins(physical, built.unwound_degree, slowdowns_of(point.collective().stragglers));
  ensure(unwound && unwound->topology.links() == built.topology.links(), "unwinding is deterministic");
  const auto longest = longest_path(*unwound);
  if (unless_it_fits(network_bytes + schedule.sends() * longest * kBytesOfPlayedHop)) return true;
  // The sends of all links whose paths share a physical link take turns there, on each hop of a path.
  const auto turns = static_cast<double>(longest * most_paths_over_a_link(*unwound));
  if (!fits_time_range(slowest_hop(switched, collective.chunk_sizes()), turns * serialised_hops(point, prepared.sizes)))
    return leave_out(row, "it may take longer than times are computed"), true;
  SimulationOptions options;
  options.occupancy = point.occupancy;
  options.record_sends = true;
  const auto played = play_on_switches(switched, *unwound, collective, schedule, options);
  if (!played) return leave_out(row, to_string(played.errors())), true;
  const auto check =
      check_stream(with_switches.instance(), played->sends, played->finish, "the play on switches", checking);
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
