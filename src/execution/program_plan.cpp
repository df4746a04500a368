// The memory of a textbook algorithm's point. It is counted from the types and checked against measured peaks.
//
// Every link has a port, perhaps a queue, and a bit in each window of the calendar. Every recorded hop has a list
// entry, and columns once the list is sorted (the list doubles as it grows, so up to two entries). Every recorded
// message has its injection and a new number; its list is twice as long while it grows, when that of hops does not.
// What a point does one after another takes the most of its parts: the simulation, the check, whose tables come after
// the lists have gone, and the bounds. A plan is for one thread; more threads are used if the limit leaves memory for
// them.
#include "execution/program_plan.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "execution/point_traits.hpp"
#include "execution/point_work.hpp"
#include "tenex/algorithm/algorithm.hpp"
#include "tenex/base/bitset.hpp"
#include "tenex/bound/strength.hpp"
#include "tenex/schedule/storage/list_builder.hpp"
#include "tenex/simulation/simulator.hpp"

namespace tenex {
namespace {

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
constexpr double bytes_per_further_thread = 8e6;  // without tables of routes
constexpr double bytes_per_shared_port = 300;     // messages in flight are kept by sender and receiver
constexpr double bytes_per_shared_slice = 24;     // the first sends are kept twice too
constexpr double bytes_per_waiting_message = 64;  // Direct: all messages wait in queues
constexpr double bytes_per_slice = 64;            // of counts
constexpr double bytes_per_queued_slice = 48;     // at one port
constexpr double bytes_per_leaf = 32;             // its waiting messages, on average over trees
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
  if (!records && (goes_by_orbit(point, sizes, find_algorithm(point.algorithm)) ||
                   goes_in_trains(point, sizes, point.collective().kind)))
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
PointPlan plan_without_topology(const DesignPoint& point, const PointSizes& sizes, std::size_t beside,
                                std::size_t limit, bool time_only) {
  const auto& programs = sizes.programs;
  const auto& most = sizes.most;
  const auto links = static_cast<double>(sizes.topology.links);
  const double common = kBytesOfAnyPoint + collective_bytes(sizes);
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

}  // namespace

double collective_bytes(const PointSizes& sizes) {
  return static_cast<double>(sizes.topology.npus) * bytes_per_npu + sizes.collective.conditions * bytes_per_condition;
}

double holdings_bytes(const PointSizes& sizes) {
  return static_cast<double>(BitMatrix::bytes_for(sizes.topology.vertices(), sizes.collective.chunks));
}

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

PointPlan plan_program(const DesignPoint& point, const PointSizes& sizes, std::uint64_t topology_bytes,
                       std::size_t memory_limit_bytes, bool time_only) {
  auto plan = plan_without_topology(point, sizes, topology_bytes, memory_limit_bytes, time_only);
  plan.bytes += topology_bytes;
  plan_threads(plan, point, sizes);
  return plan;
}

}  // namespace tenex
