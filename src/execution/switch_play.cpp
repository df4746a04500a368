// The limits of a play on switches: memory, and the range of times.
#include "tenex/execution/switch_play.hpp"

#include "tenex/execution/prepared_point.hpp"
#include "tenex/simulation/switched_replay.hpp"
#include "tenex/topology/hand_over.hpp"
#include "tenex/topology/time_range.hpp"

namespace tenex {

bool retimes_early(const PreparedPoint& prepared, double sends) {
  return sends <= static_cast<double>(kMostRetimedSends) && any_passes_on_early(prepared.topology()) &&
         check_buffers(prepared.topology());
}

bool is_played_by_orbit(const PreparedPoint& prepared, double sends) {
  return prepared.start_delays.empty() && sends > static_cast<double>(kMostSendsPlayedOneByOne);
}

std::size_t played_bytes(std::uint64_t sends, const UnwoundNetwork& unwound, const Collective& collective,
                         bool by_orbit) {
  if (by_orbit) return bytes_of_orbit_play(sends / collective.npus(), collective.chunks(), unwound.topology.links());
  return bytes_of_play(sends * longest_path(unwound), unwound.topology.npus(), collective.chunks());
}

Result<Simulation> play_within(const PreparedPoint& prepared, const Topology& network, const UnwoundNetwork& unwound,
                               const Schedule& schedule, bool overlap, std::size_t memory_limit_bytes) {
  // The sends of all links whose paths share a physical link take turns there, on each hop of a path.
  const auto turns = static_cast<double>(longest_path(unwound) * most_paths_over_a_link(unwound));
  const auto& sizes = prepared.collective->chunk_sizes();
  if (!fits_time_range(slowest_hop(network, sizes), turns * prepared.sizes.serialised_hops))
    return unsupported_error(
        {}, "the schedule was not played on the switches", "it may take longer than times are computed",
        "set unwind = 1 for its time on the unwound network, or choose an algorithm that uses switches");
  SimulationOptions options;
  options.occupancy = prepared.point.occupancy;
  options.record_sends = true;
  options.start_delays = prepared.start_delays;
  return play_on_switches(network, unwound, *prepared.collective, schedule, options, {overlap, memory_limit_bytes});
}

}  // namespace tenex
