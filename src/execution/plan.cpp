// The expected cost of a point from sizes alone: its work (point_work.hpp) and its bytes. Leases are ordered and memory
// is planned by it. The only result that contains it is memory_planned_bytes, which depends on sizes alone.
//
// The memory of a simulation is counted from the types and checked against measured peaks. Every link has a queue, a
// port and a bit in each window of the calendar. Every recorded hop has a list entry, and columns once the list is
// sorted (the list doubles as it grows, so up to two entries). Every recorded message has its injection and a new
// number; its list is twice as long while it grows, when that of hops does not. The verifier's tables come after the
// lists have gone. A plan is for one thread; more threads are used if the limit leaves memory
// for them. The program text and the base memory of any process (some 15 MB) are not included.
#include "tenex/execution/plan.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "execution/point_traits.hpp"
#include "execution/point_work.hpp"
#include "tenex/algorithm/algorithm.hpp"
#include "tenex/base/bitset.hpp"
#include "tenex/bound/strength.hpp"
#include "tenex/execution/prepared_point.hpp"
#include "tenex/execution/shared_schedules.hpp"
#include "tenex/execution/sizes.hpp"
#include "tenex/execution/switch_play.hpp"
#include "tenex/schedule/verifier/symmetric_verifier.hpp"
#include "tenex/simulation/simulator.hpp"
#include "tenex/synthesis/synthesizer.hpp"
#include "tenex/topology/block.hpp"
#include "tenex/topology/translation.hpp"

namespace tenex {
namespace {

constexpr double bytes_of_any_point = 2e6;  // buffers of segments, tables of few entries
constexpr double bytes_per_npu = 64;        // the collective and its parts
constexpr double bytes_per_port = 160;      // port, ids, a queue of two messages, routes
constexpr double bytes_per_recorded_hop = 2.0 * sizeof(Send);
constexpr double bytes_per_hop_of_halves = 110;  // All-Reduce without overlap: both halves and their concatenation
constexpr double bytes_per_injection = 48;
constexpr double bytes_per_numbered_message = 16;                // beside its injection
constexpr double most_left_behind = 32 << 20;                    // by a list that grows: larger blocks are given back
constexpr double bytes_per_carried_chunk = 4 * sizeof(ChunkId);  // while their list grows, twice if concatenated
constexpr double most_recorded_hops = 0x1p26;                    // with more, a program is timed but not verified
constexpr double bytes_per_observed_link = 16;
constexpr double bytes_per_further_thread = 8e6;     // without tables of routes
constexpr double bytes_per_shared_port = 300;        // messages in flight are kept by sender and receiver
constexpr double bytes_per_shared_slice = 24;        // the first sends are kept twice too
constexpr double bytes_per_waiting_message = 64;     // Direct: all messages wait in queues
constexpr double bytes_per_slice = 64;               // of counts
constexpr double bytes_per_queued_slice = 48;        // at one port
constexpr double bytes_per_leaf = 32;                // its waiting messages, on average over trees
constexpr double bytes_per_orbit = 32;               // checked one by one in place of n sends
constexpr double bytes_per_chunk_by_link = 32 * 24;  // at one NPU: by as many as 32 threads
constexpr double bytes_per_walk = 8;                 // of a chunk that goes to one NPU
constexpr double bytes_per_send_in_segments = 2.4;   // read, checked and reversed segment by segment,
constexpr double most_segment_bytes = 12e6;          // of which there are a few at a time
constexpr double most_calendar_bytes = 65e6;
constexpr double most_route_bytes = 85e6;

/// The calendar has one bit per link for each time window in which a message may be in flight.
double calendar_bytes(const DesignPoint& point, const PointSizes& sizes) {
  SimTime least = SimTime::max();
  SimTime greatest = picoseconds(1);
  for (const auto& link_class : sizes.classes) {
    least = std::min(least, hop_time(link_class, sizes.collective.smallest_chunk, point.occupancy).latency);
    greatest = std::max(greatest, hop_time(link_class, sizes.collective.largest_chunk, point.occupancy).latency);
  }
  const auto window = std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(1, least.count())));
  const double slots = std::min(static_cast<double>(greatest.count()) / static_cast<double>(window) + 3, 4096.0);
  return std::min(most_calendar_bytes, slots * static_cast<double>(sizes.topology.links) / 7);
}

/// On products: coordinates and links by direction, twice. Elsewhere: tables of next links, and trees if routes are
/// searched.
double route_bytes(const DesignPoint& point, const PointSizes& sizes) {
  const auto& topology = sizes.topology;
  if (sizes.product)
    return 8 * (static_cast<double>(topology.npus) * static_cast<double>(point.topology.shape.dimensions()) +
                static_cast<double>(topology.links));
  return std::min(most_route_bytes, 8 * static_cast<double>(topology.vertices()) * static_cast<double>(topology.npus));
}

double holdings_bytes(const PointSizes& sizes) {
  return static_cast<double>(BitMatrix::bytes_for(sizes.topology.vertices(), sizes.collective.chunks));
}

/// Bytes of the lists of a simulation that records.
double recorded_bytes(const DesignPoint& point, const ProgramSizes& program) {
  const bool halves = point.collective().kind == CollectiveKind::all_reduce && !point.collective().overlap;
  const double numbered = program.hops * (halves ? bytes_per_hop_of_halves : bytes_per_recorded_hop) +
                          program.messages * (bytes_per_injection + bytes_per_numbered_message);
  const double growing = program.hops * sizeof(Send) + program.messages * 2 * bytes_per_injection;
  const double left_behind = std::min(most_left_behind, program.messages * bytes_per_injection);
  return std::max(numbered, growing) + left_behind + program.carried * bytes_per_carried_chunk;
}

/// Bytes of the check of what was recorded: the sends and their tables, of which sums need three.
double checked_bytes(const DesignPoint& point, const PointSizes& sizes, const ProgramSizes& program) {
  const auto kind = point.collective().kind;
  const double tables = reduces(kind) || kind == CollectiveKind::mixed ? 3 : 1;
  return program.hops * sizeof(Send) + program.carried * bytes_per_carried_chunk + tables * holdings_bytes(sizes);
}

/// Bytes of the search for bounds: the stand-in of the network, flows and weights of links, and for an All-Reduce the
/// ways through switches, if they are so few that they are listed.
double bound_bytes(const DesignPoint& point, const PointSizes& sizes, bool one_for_all) {
  constexpr double bytes_per_bounded_link = 100;
  constexpr double bytes_per_bounded_vertex = 250;
  constexpr double bytes_per_way = 66;  // their list doubles as it grows
  const auto links = static_cast<double>(sizes.topology.links);
  double ways = 0;
  if (point.collective().kind == CollectiveKind::all_reduce && sizes.topology.switches > 0) {
    const double most = std::min(static_cast<double>(kMostWays),
                                 static_cast<double>(bound_work(point, sizes, one_for_all)) / kVisitsPerWay);
    ways = links * links / 4 / static_cast<double>(sizes.topology.switches);
    if (ways > 2 * most) ways = 0;  // the links of other dimensions count here, too
    ways = std::min(ways, most);
  }
  return links * bytes_per_bounded_link + static_cast<double>(sizes.topology.vertices()) * bytes_per_bounded_vertex +
         ways * bytes_per_way;
}

/// Bytes of a program with a tree per NPU. While a tree grows: every NPU's position, its edge and whether it has been
/// reached. Then, for collectives with sums: how many contributions have arrived. Other programs are small.
double stored_tree_bytes(const DesignPoint& point, const PointSizes& sizes) {
  if (!may_run(point, sizes.topology.npus, &Algorithm::tree_per_npu)) return 0;
  constexpr double bytes_per_place = 12 + 12 + 2;
  const double places = static_cast<double>(sizes.topology.npus) * static_cast<double>(sizes.topology.npus);
  const double counts =
      point.collective().kind == CollectiveKind::all_gather ? 0 : 4 * static_cast<double>(point.chunks);
  return places * (bytes_per_place + counts);
}

/// Bytes for the pairs of NPUs among which an algorithm looks for neighbours: a table of all, and a record of those
/// that are joined.
double pair_bytes(const DesignPoint& point, const PointSizes& sizes) {
  if (!may_run(point, sizes.topology.npus, &Algorithm::joins_pairs)) return 0;
  constexpr double bytes_per_joined = 80;
  const double pairs = static_cast<double>(sizes.topology.npus) * static_cast<double>(sizes.topology.npus);
  const double joined = sizes.topology.switches > 0 ? pairs : static_cast<double>(sizes.topology.links);
  return 4 * pairs + bytes_per_joined * joined;
}

/// Bytes that a program keeps for each slice at each NPU, and for its waiting messages: every port keeps the memory of
/// the longest queue it has had. Straight messages are counted in waiting_bytes(); queues of rings are short.
double begun_bytes(const DesignPoint& point, const PointSizes& sizes) {
  const auto* algorithm = find_algorithm(point.algorithm);
  if (algorithm != nullptr && (algorithm->straight || algorithm->along_rings)) return 0;
  const auto& collective = sizes.collective;
  const double ports = static_cast<double>(sizes.topology.links) / static_cast<double>(sizes.topology.npus);
  const double slices = static_cast<double>(point.chunks) * static_cast<double>(collective.members);
  // If there are sums, the leaves of all NPUs' trees send at time zero.
  const bool sums = point.collective().kind != CollectiveKind::all_gather;
  const double leaves = sums && may_run(point, sizes.topology.npus, &Algorithm::tree_per_npu) ? collective.sends : 0;
  return slices * (bytes_per_slice + ports * bytes_per_queued_slice) + leaves * bytes_per_leaf;
}

/// Bytes of the messages that wait in queues because all are sent at time zero. The engine `orbit` keeps one NPU's
/// messages; the engine `trains` takes them one by one.
double waiting_bytes(const DesignPoint& point, const PointSizes& sizes, double messages, bool records) {
  if (!may_run(point, sizes.topology.npus, &Algorithm::straight)) return 0;
  if (!records && (goes_by_orbit(point, sizes) || goes_in_trains(point, sizes, point.collective().kind)))
    return static_cast<double>(sizes.topology.npus) * 512;
  return messages * bytes_per_waiting_message;
}

/// Why the plan of a program keeps no sends.
std::string why_unrecorded(const DesignPoint& point, bool may_record, double hops, double bytes, bool time_only) {
  if (time_only) return "only the time was asked for: nothing was recorded or verified";
  if (!may_record)
    return fmt::format("the simulation engine \"{}\" keeps no sends to verify",
                       to_string(point.collective().simulation_engine));
  return fmt::format("the timed stream of about {:.0f} sends was not kept for verification: that needs {:.0f} bytes",
                     hops, bytes);
}

PointPlan planned(bool records, double bytes) {
  PointPlan plan;
  plan.bytes = static_cast<std::size_t>(bytes);
  plan.records = records;
  return plan;
}

/// The plan of a textbook algorithm without its topology, which takes `beside` of the limit.
PointPlan plan_program(const DesignPoint& point, const PointSizes& sizes, std::size_t beside, std::size_t limit,
                       bool time_only) {
  const auto programs = sizes_of_programs(point, sizes);
  const auto [messages, hops, carried] = most_of(programs);
  const auto links = static_cast<double>(sizes.topology.links);
  const double common = route_bytes(point, sizes) + begun_bytes(point, sizes) + bytes_of_any_point +
                        static_cast<double>(sizes.topology.npus) * bytes_per_npu + stored_tree_bytes(point, sizes) +
                        pair_bytes(point, sizes) + bound_bytes(point, sizes, moves_by_orbit(point, sizes));
  if (point.collective().backend == Backend::congestion_unaware)
    return planned(false, common + waiting_bytes(point, sizes, messages, true) + 16 * links);
  const double unrecorded = common + links * (bytes_per_port + bytes_per_observed_link) + calendar_bytes(point, sizes) +
                            waiting_bytes(point, sizes, messages, false);
  double recorded = 0;
  for (const ProgramSizes& program : programs)
    recorded = std::max({recorded, waiting_bytes(point, sizes, program.messages, true) + recorded_bytes(point, program),
                         checked_bytes(point, sizes, program)});
  recorded += common + links * bytes_per_port + calendar_bytes(point, sizes);
  const SimulationEngine engine = point.collective().simulation_engine;
  const bool may_record = engine == SimulationEngine::automatic || traits_of(engine).records_sends;
  const double with_topology = recorded + static_cast<double>(beside);
  if (may_record && !time_only && hops <= most_recorded_hops && with_topology <= static_cast<double>(limit))
    return planned(true, recorded);
  auto plan = planned(false, unrecorded);
  plan.left_out = why_unrecorded(point, may_record, hops, with_topology, time_only);
  return plan;
}

/// Adds the bytes of more threads to the plan for one.
void plan_threads(PointPlan& plan, const DesignPoint& point, const PointSizes& sizes) {
  const double waiting =
      plan.records ? 0 : waiting_bytes(point, sizes, most_of(sizes_of_programs(point, sizes)).messages, false);
  const double routes = sizes.product ? 0 : route_bytes(point, sizes);
  plan.bytes_of_sharing = static_cast<std::size_t>(
      bytes_per_shared_port * static_cast<double>(sizes.topology.links) + waiting +
      bytes_per_shared_slice * static_cast<double>(point.chunks) * static_cast<double>(sizes.collective.members));
  plan.bytes_per_thread = static_cast<std::size_t>(bytes_per_further_thread + routes);
}

/// The bytes of a synthesizer's point without its topology and its synthesis.
std::size_t bytes_beside_synthesis(const DesignPoint& point, const PointSizes& sizes, bool symmetric, bool by_link) {
  const double sends = scheduled_sends(point, sizes);
  const auto chunks = static_cast<double>(sizes.collective.chunks);
  const double segments = std::min(most_segment_bytes, sends * bytes_per_send_in_segments);
  const double held = by_link ? chunks * bytes_per_chunk_by_link : 3 * holdings_bytes(sizes);
  const double followed = walks(point) ? std::min(held, chunks * bytes_per_walk) : held;
  const double orbits =
      walks(point) ? sends / static_cast<double>(sizes.topology.npus) : chunks * passes_of(point.collective().kind);
  const bool by_orbit = symmetric && is_checked_by_orbit(point, sizes, sends);
  const double check_bytes = by_orbit ? orbits * bytes_per_orbit : followed + segments;
  return static_cast<std::size_t>(check_bytes + bytes_of_any_point + bound_bytes(point, sizes, symmetric) +
                                  static_cast<double>(sizes.topology.npus) * bytes_per_npu);
}

PointPlan plan_program_with_topology(const DesignPoint& point, const PointSizes& sizes, std::uint64_t topology_bytes,
                                     std::size_t memory_limit_bytes, bool time_only) {
  auto plan = plan_program(point, sizes, topology_bytes, memory_limit_bytes, time_only);
  plan.bytes += topology_bytes;
  plan_threads(plan, point, sizes);
  return plan;
}

Cost cost_of_program(const DesignPoint& point, const PointSizes& sizes, std::uint64_t topology_bytes,
                     std::size_t memory_limit_bytes) {
  const auto plan = plan_program_with_topology(point, sizes, topology_bytes, memory_limit_bytes, false);
  auto counted = count_program(point, sizes, plan.records);
  return {std::move(counted.told), counted.weight, plan.bytes, false};
}

ScheduleReading reading_of(const PreparedPoint& prepared) {
  return {is_kept_by_link(prepared), is_symmetric(prepared)};
}

/// Bytes of the play on the switches, which follows the synthesis; zero without one, or with too many sends.
std::size_t bytes_of_play(const PreparedPoint& prepared) {
  if (!prepared.unwound) return 0;
  const double sends = scheduled_sends(prepared.point, prepared.sizes);
  if (sends > static_cast<double>(kMostPlayedSends)) return 0;
  return played_bytes(static_cast<std::uint64_t>(sends), *prepared.unwound);
}

PointPlan plan_synthesis(const PreparedPoint& prepared, const ScheduleReading& reading,
                         std::size_t memory_limit_bytes) {
  const auto& [point, sizes] = std::tie(prepared.point, prepared.sizes);
  const auto beside =
      prepared.topology_bytes + bytes_beside_synthesis(point, sizes, reading.symmetric, reading.by_link);
  PointPlan plan;
  plan.left_for_synthesis = memory_limit_bytes - std::min<std::size_t>(memory_limit_bytes, beside);
  const auto synthesis = prepared.synthesizer->estimate_bytes(prepared.problem(plan.left_for_synthesis));
  plan.bytes = std::max(synthesis, bytes_of_play(prepared)) + beside;
  plan.bound_work = bound_work(point, sizes, reading.symmetric);
  return plan;
}

}  // namespace

PointPlan plan_point(const PreparedPoint& prepared, std::size_t memory_limit_bytes, bool time_only) {
  if (prepared.synthesizer != nullptr) return plan_synthesis(prepared, reading_of(prepared), memory_limit_bytes);
  auto plan = plan_program_with_topology(prepared.point, prepared.sizes, prepared.topology_bytes, memory_limit_bytes,
                                         time_only);
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
  auto [told, weight, made] = count_synthesis(prepared.point, synthesizer, problem, prepared.sizes, reading);
  const bool shares = synthesizer.scales_with_pace && uniform_hop(problem).has_value();
  return {std::move(told), weight, plan.bytes, reading.by_link, shares ? std::move(made) : Work()};
}

std::uint64_t bound_work(const PreparedPoint& prepared) {
  const auto& [point, sizes] = std::tie(prepared.point, prepared.sizes);
  return bound_work(point, sizes,
                    prepared.synthesizer != nullptr ? is_symmetric(prepared) : moves_by_orbit(point, sizes));
}

int affordable_threads(const PointPlan& plan, int threads, std::size_t memory_limit_bytes) {
  const auto left = memory_limit_bytes - std::min(memory_limit_bytes, plan.bytes);
  if (left < plan.bytes_of_sharing) return 1;
  if (plan.bytes_per_thread == 0) return threads;
  const auto further = (left - plan.bytes_of_sharing) / plan.bytes_per_thread;
  return static_cast<int>(std::min(static_cast<std::size_t>(std::max(threads, 1)), 1 + further));
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
