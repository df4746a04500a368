// The expected cost of a point from sizes alone: its work (point_work.hpp) and its bytes. Leases are ordered and memory
// is planned by it. The only result that contains it is memory_planned_bytes, which depends on sizes alone.
//
// The memory of a simulation is counted from the types and checked against measured peaks. Every link has a port,
// perhaps a queue, and a bit in each window of the calendar. Every recorded hop has a list entry, and columns once the
// list is sorted (the list doubles as it grows, so up to two entries). Every recorded message has its injection and a
// new number; its list is twice as long while it grows, when that of hops does not. What a point does one after another
// takes the most of its parts: the simulation, the check, whose tables come after the lists have gone, and the bounds.
// A plan is for one thread; more threads are used if the limit leaves memory for them. The program text and the base
// memory of any process (some 15 MB) are not included.
#include "tenex/execution/plan.hpp"
#include "tenex/execution/build.hpp"

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
#include "tenex/schedule/storage/list_builder.hpp"
#include "tenex/schedule/timing/retime.hpp"
#include "tenex/schedule/verifier/symmetric_verifier.hpp"
#include "tenex/simulation/simulator.hpp"
#include "tenex/simulation/switched_replay.hpp"
#include "tenex/synthesis/synthesizer.hpp"
#include "tenex/topology/block.hpp"
#include "tenex/topology/translation.hpp"

namespace tenex {
namespace {

constexpr double bytes_of_any_point = 2e6;   // buffers of segments, tables of few entries
constexpr double bytes_per_npu = 64;         // the collective and its parts
constexpr double bytes_per_condition = 110;  // as the point asks for it and as the collective keeps it
constexpr double bytes_per_port = 96;        // port, ids, routes
constexpr double bytes_per_queue = 64;       // of two messages
constexpr double bytes_per_recorded_hop = 2.0 * sizeof(Send);
constexpr double bytes_per_kept_hop = 26;  // columns of start, link, chunk, stage, message, destination
constexpr double bytes_per_kept_send = kBytesOfListedSend;  // the same without message and destination
constexpr double bytes_per_injection = 48;
constexpr double bytes_per_numbered_message = 16;  // beside its injection
constexpr double most_left_behind = 8 << 20;
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
constexpr double bytes_per_relayed_chunk = 56;       // of one that waits to be sent on
constexpr double bytes_per_send_in_segments = 2.4;   // read, checked and reversed segment by segment,
constexpr double most_segment_bytes = 12e6;          // of which there are a few at a time
constexpr double most_calendar_bytes = 65e6;
constexpr double most_route_bytes = 85e6;

/// The calendar has one bit per link for each time window in which a message may be in flight.
double calendar_bytes(const DesignPoint& point, const PointSizes& sizes) {
  SimTime least = SimTime::max();
  SimTime greatest = picoseconds(1);
  for (const auto& link_class : sizes.classes) {
    const auto pieces = static_cast<std::int64_t>(sizes.pieces);
    const Bytes smallest = bytes(std::max<std::int64_t>(1, sizes.collective.smallest_chunk.count() / pieces));
    least = std::min(least, hop_time(link_class, smallest, point.occupancy).latency);
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

/// Bytes of the collective.
double collective_bytes(const PointSizes& sizes) {
  return static_cast<double>(sizes.topology.npus) * bytes_per_npu + sizes.collective.conditions * bytes_per_condition;
}

double holdings_bytes(const PointSizes& sizes) {
  return static_cast<double>(BitMatrix::bytes_for(sizes.topology.vertices(), sizes.collective.chunks));
}

/// An All-Reduce whose two halves are kept, one after another.
bool keeps_halves(const DesignPoint& point) {
  return point.collective().kind == CollectiveKind::all_reduce && !point.collective().overlap;
}

/// Whether every message takes one hop. Means of hops are rounded.
bool takes_one_hop(const ProgramSizes& program) { return program.hops < (1 + 1e-9) * program.messages; }

/// Bytes of a kept schedule. Messages of one hop need no numbers.
double kept_bytes(const ProgramSizes& program) {
  const double columns = takes_one_hop(program) ? bytes_per_kept_send : bytes_per_kept_hop;
  return program.hops * columns + program.carried * bytes_per_carried_chunk;
}

/// Whether messages go round cycles that share no link, one hop each: rings, or those that are packed on the links of
/// pairs. An NPU sends as it receives, so the lists of messages are near to their length when they grow last.
bool goes_in_order(const PointSizes& sizes, const SizedProgram& program) {
  const auto* algorithm = program.algorithm;
  return algorithm != nullptr && (algorithm->along_rings || algorithm->joins_pairs) && takes_one_hop(program) &&
         sizes.product && sizes.collective.everyone;
}

/// Bytes that the lists of messages leave on the heap as they grow: larger blocks are given back.
double left_behind(const ProgramSizes& program) {
  return std::min(most_left_behind, program.messages * bytes_per_injection);
}

/// Bytes of the lists of a simulation that records. Messages of one hop and one chunk need no numbers.
double recorded_bytes(const DesignPoint& point, const PointSizes& sizes, const SizedProgram& program) {
  const double numbers = takes_one_hop(program) && program.carried == 0 ? 0 : bytes_per_numbered_message;
  const double numbered = program.hops * bytes_per_recorded_hop + program.messages * (bytes_per_injection + numbers);
  const double growing = program.hops * sizeof(Send) + program.messages * 2 * bytes_per_injection;
  const double lists = goes_in_order(sizes, program) ? numbered : std::max(numbered, growing) + left_behind(program);
  const double once = lists + program.carried * bytes_per_carried_chunk;
  return keeps_halves(point) ? once / 2 + kept_bytes(program) / 2 : once;  // the first half is kept meanwhile
}

/// Bytes of both halves of an All-Reduce and of what joins them: the halves' columns, all sends and those of the second
/// half as a list, and the new columns.
double joined_bytes(const DesignPoint& point, const ProgramSizes& program) {
  return keeps_halves(point) ? 2 * kept_bytes(program) + 1.5 * program.hops * sizeof(Send) + left_behind(program) : 0;
}

/// Bytes of the sets of contributors that the check keeps where sums state theirs: a set and two entries of tables for
/// each chunk at each member, and what has arrived there.
double contributor_bytes(const PointSizes& sizes, const SizedProgram& program) {
  constexpr double bytes_per_pair = 96 + 72;  // an entry, and slots of what has arrived and when,
  constexpr double bytes_per_arrival = 10;    // whose lists and tables double as they grow
  if (program.algorithm == nullptr || !program.algorithm->states_contributors) return 0;
  const auto members = static_cast<double>(sizes.collective.members);
  const double pairs = members * static_cast<double>(sizes.collective.chunks);
  return pairs * (bytes_per_pair + 8 * std::ceil(members / 64)) + program.moves * bytes_per_arrival;
}

/// Bytes of the check of what was recorded: the sends and their tables, of which sums need three.
double checked_bytes(const DesignPoint& point, const PointSizes& sizes, const SizedProgram& program) {
  const auto kind = point.collective().kind;
  const double tables = reduces(kind) || kind == CollectiveKind::mixed ? 3 : 1;
  return program.hops * sizeof(Send) + program.carried * bytes_per_carried_chunk + tables * holdings_bytes(sizes) +
         contributor_bytes(sizes, program);
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

/// Whether no message of a program waits for another: each goes straight over the one link of its pair.
bool meets_none(const DesignPoint& point, const PointSizes& sizes, const ProgramSizes& program) {
  const auto* algorithm = find_algorithm(point.algorithm);
  const auto kind = point.collective().kind;
  return algorithm != nullptr && algorithm->straight && sizes.product && sizes.collective.everyone &&
         point.chunks == 1 && !stores_conditions(kind) && kind != CollectiveKind::mixed && takes_one_hop(program);
}

/// Bytes of the messages that wait in queues because all are sent at time zero. The engine `orbit` keeps one NPU's
/// messages; the engine `trains` takes them one by one, and so does `window` where an NPU has one link.
double waiting_bytes(const DesignPoint& point, const PointSizes& sizes, const ProgramSizes& program, bool records) {
  if (!may_run(point, sizes.topology.npus, &Algorithm::straight)) return 0;
  if (!records && (goes_by_orbit(point, sizes) || goes_in_trains(point, sizes, point.collective().kind)))
    return static_cast<double>(sizes.topology.npus) * 512;
  if (!records && waits_little(point, sizes, point.collective().kind))
    return static_cast<double>(sizes.topology.links) * (256 + bytes_per_waiting_message * sizes.pieces);
  return meets_none(point, sizes, program) ? 0 : program.messages * bytes_per_waiting_message;
}

/// Bytes of ports, which have queues unless messages never meet.
double port_bytes(const DesignPoint& point, const PointSizes& sizes, const ProgramSizes& program) {
  return static_cast<double>(sizes.topology.links) *
         (bytes_per_port + (meets_none(point, sizes, program) ? 0 : bytes_per_queue));
}

/// The programs of which one is expected to be the fastest: all but those that would keep all links busy for longer
/// than a chunk needs once round all NPUs, hop by hop, one way; `ring` sends both ways at once. A point that tries them
/// keeps the sends of these alone.
std::vector<SizedProgram> expected_programs(const PointSizes& sizes, std::vector<SizedProgram> programs,
                                            Occupancy occupancy) {
  const auto ring = std::ranges::find_if(programs, [](const SizedProgram& program) {
    return program.algorithm != nullptr && program.algorithm->along_rings;
  });
  if (ring == programs.end() || sizes.collective.members == 0 || sizes.topology.links == 0) return programs;
  SimTime least = SimTime::max();
  SimTime most;
  for (const LinkClass& link : sizes.classes) {
    least = std::min(least, hop_time(link, sizes.collective.smallest_chunk, occupancy).busy);
    most = std::max(most, hop_time(link, sizes.collective.largest_chunk, occupancy).latency);
  }
  const double round = ring->hops / static_cast<double>(sizes.collective.members) * static_cast<double>(most.count());
  const double all_links = static_cast<double>(sizes.topology.links) / static_cast<double>(least.count());
  std::erase_if(programs, [&](const SizedProgram& program) {
    return std::max(program.hops, program.least_busy) / all_links > round;
  });
  return programs;
}

/// Why the plan of a program keeps no sends.
std::string why_unrecorded(const DesignPoint& point, bool may_record, double hops, double bytes, bool time_only) {
  if (time_only) return "only the time was asked for: nothing was recorded or verified";
  if (point.collective().routes.rule == RouteRule::sprayed)
    return "sprayed messages are cut into pieces, of which no sends of whole chunks are kept to verify";
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

/// The most bytes of what a program does one after another, if its sends are kept. `beside`: of all parts but the
/// bounds.
double bytes_with_sends(const DesignPoint& point, const PointSizes& sizes, const SizedProgram& program, double beside,
                        double bounds) {
  const double simulated = beside + port_bytes(point, sizes, program) + waiting_bytes(point, sizes, program, true) +
                           recorded_bytes(point, sizes, program);
  return std::max(
      {simulated, joined_bytes(point, program), checked_bytes(point, sizes, program), kept_bytes(program) + bounds});
}

/// The plan of a textbook algorithm without its topology, which takes `beside` of the limit.
PointPlan plan_program(const DesignPoint& point, const PointSizes& sizes, std::size_t beside, std::size_t limit,
                       bool time_only) {
  const auto& programs = sizes.programs;
  const auto& most = sizes.most;
  const auto links = static_cast<double>(sizes.topology.links);
  const double common = bytes_of_any_point + collective_bytes(sizes);
  const double making = route_bytes(point, sizes) + begun_bytes(point, sizes) + stored_tree_bytes(point, sizes) +
                        pair_bytes(point, sizes);
  const double bounds = bound_bytes(point, sizes, moves_by_orbit(point, sizes));
  if (point.collective().backend == Backend::congestion_unaware)
    return planned(false, common + std::max(making + waiting_bytes(point, sizes, most, true) + 16 * links, bounds));
  const double simulating = making + calendar_bytes(point, sizes);
  const double unrecorded =
      common + std::max(simulating + port_bytes(point, sizes, most) + links * bytes_per_observed_link +
                            waiting_bytes(point, sizes, most, false),
                        bounds);
  const auto expected = tries_all(point) ? expected_programs(sizes, programs, point.occupancy) : programs;
  double recorded = tries_all(point) ? unrecorded : 0;  // all are timed first
  for (const SizedProgram& program : expected)
    recorded = std::max(recorded, common + bytes_with_sends(point, sizes, program, simulating, bounds));
  const SimulationEngine engine = point.collective().simulation_engine;
  const bool may_record = (engine == SimulationEngine::automatic || traits_of(engine).records_sends) &&
                          point.collective().routes.rule != RouteRule::sprayed;
  const double with_topology = recorded + static_cast<double>(beside);
  if (may_record && !time_only && most.hops <= most_recorded_hops && with_topology <= static_cast<double>(limit)) {
    auto plan = planned(true, recorded);
    for (const SizedProgram& program : programs)
      if (std::ranges::find(expected, program.algorithm, &SizedProgram::algorithm) == expected.end())
        plan.unexpected.push_back(program.algorithm);
    return plan;
  }
  auto plan = planned(false, unrecorded);
  plan.left_out = why_unrecorded(point, may_record, most.hops, with_topology, time_only);
  return plan;
}

/// Adds the bytes of more threads to the plan for one.
void plan_threads(PointPlan& plan, const DesignPoint& point, const PointSizes& sizes) {
  const double waiting = plan.records ? 0 : waiting_bytes(point, sizes, sizes.most, false);
  const double routes = sizes.product ? 0 : route_bytes(point, sizes);
  plan.bytes_of_sharing = static_cast<std::size_t>(
      bytes_per_shared_port * static_cast<double>(sizes.topology.links) + waiting +
      bytes_per_shared_slice * static_cast<double>(point.chunks) * static_cast<double>(sizes.collective.members));
  plan.bytes_per_thread = static_cast<std::size_t>(bytes_per_further_thread + routes);
}

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
  return static_cast<std::size_t>(check_bytes + bytes_of_any_point + bound_bytes(point, sizes, one_for_all) +
                                  collective_bytes(sizes));
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

/// Bytes of the play on the switches, or of the re-timing by virtual cut-through, which follows the synthesis, with the
/// schedules for unwound switches, which are kept meanwhile. Zero without a play.
std::size_t bytes_after_synthesis(const PreparedPoint& prepared, bool by_orbit) {
  const double sends = scheduled_sends(prepared.point, prepared.sizes);
  if (plays_beside(prepared, sends))
    return static_cast<std::size_t>(sends * bytes_per_kept_send) +
           bytes_of_play(static_cast<std::uint64_t>(hops_over_a_switch * sends), prepared.topology().npus(),
                         prepared.collective->chunks());
  if (prepared.unwound() == nullptr) {
    if (!retimes_early(prepared, sends)) return 0;
    const double hops = walks(prepared.point) ? sends : 2 * sends;  // to a switch and on
    return retime_early_bytes(static_cast<std::uint64_t>(hops)) +
           static_cast<std::size_t>(hops * passes_of(prepared.collective->kind()) * bytes_per_kept_send);
  }
  const double of_send =
      by_orbit ? bytes_per_orbit / static_cast<double>(prepared.collective->npus()) : bytes_per_kept_send;
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
  const auto plan =
      plan_program_with_topology(point, prepared.sizes, prepared.topology_bytes, memory_limit_bytes, false);
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
