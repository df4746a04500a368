// The expected cost of a point from sizes alone: its work (point_work.hpp) and its bytes. Leases are ordered and memory
// is planned by it. The only result that contains it is memory_planned_bytes, which depends on sizes alone.
//
// program_plan.cpp has the memory of a textbook algorithm's point; that of a synthesizer's point is here. The program
// text and the base memory of any process (some 15 MB) are not included.
#include "tenex/execution/plan.hpp"
#include "tenex/execution/build.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "execution/point_traits.hpp"
#include "execution/point_work.hpp"
#include "execution/program_plan.hpp"
#include "tenex/execution/prepared_point.hpp"
#include "tenex/execution/shared_schedules.hpp"
#include "tenex/execution/sizes.hpp"
#include "tenex/execution/switch_play.hpp"
#include "tenex/schedule/storage/list_builder.hpp"
#include "tenex/schedule/timing/retime.hpp"
#include "tenex/schedule/verifier/symmetric_verifier.hpp"
#include "tenex/simulation/switched_replay.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {
namespace {

constexpr double bytes_per_orbit = 32;               // checked one by one in place of n sends
constexpr double bytes_per_chunk_by_link = 32 * 24;  // at one NPU: by as many as 32 threads
constexpr double bytes_per_walk = 8;                 // of a chunk that goes to one NPU
constexpr double bytes_per_relayed_chunk = 56;       // of one that waits to be sent on
constexpr double bytes_per_send_in_segments = 2.4;   // read, checked and reversed segment by segment,
constexpr double most_segment_bytes = 12e6;          // of which there are a few at a time

/// A schedule as its check reads it.
struct CheckedSends {
  double sends = 0;
  bool symmetric = false;
  bool by_link = false;
};

/// The bytes of a synthesizer's point without its topology and its synthesis. `sizes`: of the network of the check.
std::size_t bytes_beside_synthesis(const DesignPoint& point, const PointSizes& sizes, const CheckedSends& checked,
                                   bool one_for_all) {
  const auto chunks = static_cast<double>(sizes.collective.chunks);
  const double segments = std::min(most_segment_bytes, checked.sends * bytes_per_send_in_segments);
  const double held = checked.by_link ? chunks * bytes_per_chunk_by_link : 3 * holdings_bytes(sizes);
  // Chunks with one destination are followed one by one, but over switches, where one table says who holds them.
  const double of_walks = sizes.topology.switches == 0 && !has_wires(point)
                              ? chunks * bytes_per_walk
                              : holdings_bytes(sizes) + chunks * bytes_per_relayed_chunk;
  const double followed = walks(point) ? std::min(held, of_walks) : held;
  const double orbits = walks(point) ? checked.sends / static_cast<double>(sizes.topology.npus)
                                     : chunks * passes_of(point.collective().kind);
  const bool by_orbit = checked.symmetric && is_checked_by_orbit(point, sizes, checked.sends);
  const double check_bytes = by_orbit ? orbits * bytes_per_orbit : followed + segments;
  return static_cast<std::size_t>(check_bytes + kBytesOfAnyPoint + bound_bytes(point, sizes, one_for_all) +
                                  collective_bytes(sizes));
}

Cost cost_of_program(const DesignPoint& point, const PointSizes& sizes, std::uint64_t topology_bytes,
                     std::size_t memory_limit_bytes) {
  const auto plan = plan_program(point, sizes, topology_bytes, memory_limit_bytes, false);
  auto counted = count_program(point, sizes, plan.records);
  return {std::move(counted.told), counted.weight, plan.bytes, false};
}

ScheduleReading reading_of(const PreparedPoint& prepared) {
  return {is_kept_by_link(prepared), is_symmetric(prepared)};
}

/// Whether one NPU's sends stand for all in the play on the switches.
bool plays_by_orbit(const PreparedPoint& prepared, const ScheduleReading& reading) {
  return prepared.unwound() != nullptr && reading.symmetric &&
         is_played_by_orbit(prepared, scheduled_sends(prepared.point, prepared.sizes));
}

constexpr double hops_over_a_switch = 2;

/// Whether a schedule of so many sends for the unwound network that the point asks for is played on the switches beside
/// its time.
bool plays_beside(const PreparedPoint& prepared, double sends) {
  return prepared.network->unwound_degree > 0 && sends <= static_cast<double>(kMostPlayedSends);
}

/// Whether all switches add and copy: then each pass takes a link to a switch, or from it, once per NPU and chunk.
bool adds_and_copies(const Topology& topology) {
  for (std::size_t v = topology.npus(); v < topology.vertices(); ++v) {
    const SwitchProperties& properties = topology.switch_properties(VertexId::at(v));
    if (!properties.copy || !properties.reduce) return false;
  }
  return topology.switches() > 0;
}

/// Bytes of the play on the switches, or of the re-timing by virtual cut-through, which follows the synthesis, with the
/// schedules for unwound switches, which are kept meanwhile. Zero without a play.
std::size_t bytes_after_synthesis(const PreparedPoint& prepared, bool by_orbit) {
  const double sends = scheduled_sends(prepared.point, prepared.sizes);
  if (plays_beside(prepared, sends))
    return static_cast<std::size_t>(sends * kBytesOfListedSend) +
           bytes_of_play(static_cast<std::uint64_t>(hops_over_a_switch * sends), prepared.topology().npus(),
                         prepared.collective->chunks());
  if (prepared.unwound() == nullptr) {
    if (!retimes_early(prepared, sends)) return 0;
    const bool once = walks(prepared.point) || (prepared.collective->kind() == CollectiveKind::all_reduce &&
                                                adds_and_copies(prepared.topology()));
    const double hops = once ? sends : 2 * sends;  // to a switch and on
    return retime_early_bytes(static_cast<std::uint64_t>(hops)) +
           static_cast<std::size_t>(hops * passes_of(prepared.collective->kind()) * kBytesOfListedSend);
  }
  const double of_send =
      by_orbit ? bytes_per_orbit / static_cast<double>(prepared.collective->npus()) : kBytesOfListedSend;
  const double kept = sends * passes_of(prepared.collective->kind()) * of_send;  // with and without overlap
  return static_cast<std::size_t>(kept) +
         played_bytes(static_cast<std::uint64_t>(sends), *prepared.unwound(), *prepared.collective, by_orbit);
}

/// All hops of the plays on the switches, an All-Reduce's with and without overlap; zero without one. Of a point that
/// asks for the unwound network, a play is beside its time, of so many sends at most, and over one switch. `by_orbit`:
/// those of one NPU.
double played_hops(const PreparedPoint& prepared, bool by_orbit) {
  double sends = scheduled_sends(prepared.point, prepared.sizes);
  if (by_orbit) sends /= static_cast<double>(prepared.collective->npus());
  const bool twice = prepared.collective->kind() == CollectiveKind::all_reduce && prepared.synthesizer->reads.phases;
  if (prepared.unwound() != nullptr)
    return (twice ? 2 : 1) * sends * static_cast<double>(longest_path(*prepared.unwound()));
  return plays_beside(prepared, sends) ? hops_over_a_switch * sends : 0;
}

/// Bytes of a synthesizer's point without its topology and its synthesis.
std::size_t bytes_beside_synthesis(const PreparedPoint& prepared, const ScheduleReading& reading) {
  const auto& [point, sizes] = std::tie(prepared.point, prepared.sizes);
  const double sends = scheduled_sends(point, sizes);
  if (prepared.unwound() == nullptr)
    return bytes_beside_synthesis(point, sizes, {sends, reading.symmetric, reading.by_link}, reading.symmetric);
  const double hops = sends * static_cast<double>(longest_path(*prepared.unwound()));
  PointSizes on_switches = sizes;
  on_switches.topology = sizes.network;
  return bytes_beside_synthesis(point, on_switches, {hops, plays_by_orbit(prepared, reading)}, reading.symmetric);
}

/// Bytes of the run of the best textbook algorithm that follows a synthesis; zero where there is none, or where its
/// plan does not fit, so that it is left out.
std::size_t bytes_of_textbook(const PreparedPoint& prepared, std::size_t memory_limit_bytes) {
  if (!competes_with_textbooks(prepared)) return 0;
  const auto point = as_best_textbook(prepared.point);
  const auto plan = plan_program(point, prepared.sizes, prepared.topology_bytes, memory_limit_bytes, false);
  return plan.bytes <= memory_limit_bytes ? plan.bytes : 0;
}

PointPlan plan_synthesis(const PreparedPoint& prepared, const ScheduleReading& reading,
                         std::size_t memory_limit_bytes) {
  const auto beside = prepared.topology_bytes + bytes_beside_synthesis(prepared, reading);
  PointPlan plan;
  plan.left_for_synthesis = memory_limit_bytes - std::min<std::size_t>(memory_limit_bytes, beside);
  const auto synthesis = prepared.synthesizer->estimate_bytes(prepared.problem(plan.left_for_synthesis));
  auto after = bytes_after_synthesis(prepared, plays_by_orbit(prepared, reading));
  // A play beside the point's own time is left out where it does not fit.
  const bool beside_time = plays_beside(prepared, scheduled_sends(prepared.point, prepared.sizes));
  if (beside_time && after > plan.left_for_synthesis) after = 0;
  plan.bytes = std::max(synthesis, after) + beside;
  plan.bytes = std::max(plan.bytes, bytes_of_textbook(prepared, memory_limit_bytes));
  plan.bound_work = bound_work(prepared.point, prepared.sizes, reading.symmetric);
  return plan;
}

}  // namespace

PointPlan plan_point(const PreparedPoint& prepared, std::size_t memory_limit_bytes, bool time_only) {
  if (prepared.synthesizer != nullptr) return plan_synthesis(prepared, reading_of(prepared), memory_limit_bytes);
  auto plan = plan_program(prepared.point, prepared.sizes, prepared.topology_bytes, memory_limit_bytes, time_only);
  plan.bound_work = bound_work(prepared);
  return plan;
}

Cost cost_of_point(const PreparedPoint& prepared, std::size_t memory_limit_bytes) {
  if (prepared.synthesizer == nullptr)
    return cost_of_program(prepared.point, prepared.sizes, prepared.topology_bytes, memory_limit_bytes);
  const auto& synthesizer = *prepared.synthesizer;
  const auto reading = reading_of(prepared);
  const auto plan = plan_synthesis(prepared, reading, memory_limit_bytes);
  const auto problem = prepared.problem(plan.left_for_synthesis);
  auto [told, weight, made] = count_synthesis(prepared.point, synthesizer, problem, prepared.sizes, reading,
                                              played_hops(prepared, plays_by_orbit(prepared, reading)));
  const bool shares = synthesizer.scales_with_pace && uniform_hop(problem).has_value();
  return {std::move(told), weight, plan.bytes, reading.by_link, shares ? std::move(made) : Work()};
}

std::uint64_t bound_work(const PreparedPoint& prepared) {
  const auto& [point, sizes] = std::tie(prepared.point, prepared.sizes);
  return bound_work(point, sizes,
                    prepared.synthesizer != nullptr ? is_symmetric(prepared) : moves_by_orbit(point, sizes));
}

Cost cost_of_program(const DesignPoint& point, std::size_t memory_limit_bytes) {
  return cost_of_program(point, sizes_of_shape(point), planned_topology_bytes(point), memory_limit_bytes);
}

Cost guess_synthesis(const DesignPoint& point) {
  constexpr double bytes_per_send = 48;
  const double sends = sizes_of_shape(point).collective.sends * passes_of(point.collective().kind);
  const Work work(WorkUnit::guessed_send, sends);
  const auto made = static_cast<std::size_t>(std::min(sends * bytes_per_send, 1e18));
  return {work, work.weight(), made + planned_topology_bytes(point)};
}

}  // namespace tenex
