// Chooses among attempts at an All-to-All; leaves the other collectives to synthesis/orbit.

#include "synthesis/pccl/orbit/orbit.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "synthesis/free_gaps.hpp"
#include "synthesis/orbit/symmetric.hpp"
#include "synthesis/pccl/orbit/exchange_ways.hpp"
#include "synthesis/pccl/orbit/orbit_exchange.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/base/random.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/schedule/storage/symmetric_schedule.hpp"
#include "tenex/schedule/timing/orbit_ports.hpp"
#include "tenex/schedule/views/relayed.hpp"
#include "tenex/synthesis/synthesizer.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex {
namespace {

// A problem over switches that store and forward, as one over the ways that pass them.
//
// A plan for all NPUs takes a way up and down a switch as one link: it is longer than over a switch that cuts through,
// by the time in which the switch receives the chunk, and otherwise the same (tenex/schedule/timing/orbit_ports.hpp:
// one send at a time up and down for each NPU and dimension). The plan's sends are then spread over the links
// (tenex/schedule/views/relayed.hpp). No chunk waits in a switch, so the plan keeps to any buffer. (A switch that
// copies or adds keeps what comes to it in parts, from the first part on: its buffer must have no limit. One that
// copies and adds would add a sum that passes to the next one, so it serves no reductions.)

/// Owns the topology of ways.
struct RelayProblem {
  std::shared_ptr<const Topology> ways;
  SynthesisProblem problem;  ///< on the ways; refers to the collective that it was made of

  /// nullopt where the ways are no network of their own (relay_wires_of()), switches or chunks differ, or
  /// switches keep what passes. O(ways).
  [[nodiscard]] static std::optional<RelayProblem> of(const SynthesisProblem& problem);
  /// A synthesis for `problem`, on physical links.
  [[nodiscard]] Synthesis relayed(Synthesis made) const;
};

std::optional<RelayProblem> RelayProblem::of(const SynthesisProblem& problem) {
  if (problem.collective.chunk_sizes().size() != 1 || !may_be_relayed(problem.topology, problem.collective.kind()))
    return std::nullopt;
  auto ways = relay_wires_of(problem.topology, problem.collective.chunk_sizes()[0]);
  if (!ways) return std::nullopt;
  const auto shared = std::make_shared<const Topology>(*std::move(ways));
  SynthesisProblem same{{*shared, problem.collective, problem.occupancy}};
  same.seed = problem.seed;
  same.attempts = problem.attempts;
  same.threads = problem.threads;
  same.memory_limit_bytes = problem.memory_limit_bytes;
  return RelayProblem{shared, same};
}

Synthesis RelayProblem::relayed(Synthesis made) const {
  const bool same = made.schedule.storage() == made.without_overlap.storage();
  made.without_overlap = tenex::relayed(made.without_overlap, ways);
  made.schedule = same ? made.without_overlap : tenex::relayed(made.schedule, ways);
  return made;
}

/// Bytes of the ways of a topology with switches that is an intact product. O(dimensions).
double relay_bytes(const Topology& topology) {
  if (!topology.shape() || !topology.shape()->is_product()) return 0;
  return static_cast<double>(wire_bytes(topology.npus(), count_wires(*topology.shape())));
}

// One attempt at a symmetric All-to-All, job by job: PCCL's own order of work.
//
// PCCL (the ASTRA-sim2.0 thesis, chapter 6) takes the farthest condition first, searches its earliest path over the
// time that is left on the links, and removes what the path uses. Here a job takes, hop by hop, the port that it could
// use soonest, in the first gap that is long enough. Where latency is long, jobs whose hops follow each other
// without a pause leave gaps for shorter ones, which an event loop (orbit_exchange.hpp) cannot see ahead of time. Each
// machine keeps its gaps (free_gaps.hpp), whose number every send may have to look through, so this is for small plans.
//
// The walk of one job over the free times of machines.

/// The sends of a plan, sorted by start and direction, and its last arrival. Numbers are those of jobs.
struct ReservedExchange {
  std::vector<OrbitSend> sends;
  SimTime time;
};

/// The jobs, the longest first.
std::vector<std::uint32_t> farthest_first(const ExchangeWays& ways, const OrbitPorts& ports,
                                          std::optional<Random>& random) {
  std::vector<SimTime> length(ways.jobs);
  for (std::size_t leg = 0; leg < ways.legs.size(); ++leg)
    length[leg / ways.dimensions] += ports.hop(ways.legs[leg].direction).latency * ways.legs[leg].hops;
  std::vector<std::uint32_t> jobs(ways.jobs);
  std::iota(jobs.begin(), jobs.end(), 0U);
  if (random) random->shuffle(std::span(jobs));
  std::stable_sort(jobs.begin(), jobs.end(), [&](std::uint32_t a, std::uint32_t b) { return length[a] > length[b]; });
  return jobs;
}

/// With random numbers, jobs that are equally far are shuffled. The same arguments give the same
/// plan.
ReservedExchange reserve_exchange(const TranslationGroup& group, const ExchangeWays& ways, const OrbitPorts& ports,
                                  std::optional<Random> random) {
  ReservedExchange made;
  std::vector<FreeGaps> machines(ports.size() * ways.cosets);
  const auto machine = [&](std::uint32_t direction, std::size_t coset) -> FreeGaps& {
    return machines[ports.port_of[direction] * ways.cosets + coset];
  };
  for (const std::uint32_t job : farthest_first(ways, ports, random)) {
    const auto first = ways.legs.begin() + static_cast<std::ptrdiff_t>(job * ways.dimensions);
    std::vector<ExchangeLeg> legs(first, first + static_cast<std::ptrdiff_t>(ways.dimensions));
    std::size_t coset = job / ways.numbers;
    NpuId at(0);
    for (SimTime now;;) {
      ExchangeLeg* next = nullptr;
      SimTime start = SimTime::max();
      for (auto& leg : legs) {
        if (leg.hops == 0) continue;
        const SimTime possible =
            picoseconds(machine(leg.direction, coset).first(now.count(), ports.hop(leg.direction).busy.count()));
        if (possible > start || (possible == start && leg.hops <= next->hops)) continue;
        start = possible;
        next = &leg;
      }
      if (next == nullptr) break;
      const HopTime& hop = ports.hop(next->direction);
      // A port is busy equally long with every send, so a shorter gap is of no use.
      machine(next->direction, coset).take(start.count(), (start + hop.busy).count(), hop.busy.count());
      --next->hops;
      at = group.neighbour(at, next->direction);
      if (ways.cosets > 1 && group.directions()[next->direction].dimension == ways.coset_dimension) coset ^= 1U;
      made.sends.push_back({start, next->direction, at, job, Stage::copy});
      now = start + hop.latency;
      made.time = std::max(made.time, now);
    }
  }
  std::stable_sort(made.sends.begin(), made.sends.end(), [](const OrbitSend& a, const OrbitSend& b) {
    return a.start != b.start ? a.start < b.start : a.direction < b.direction;
  });
  return made;
}

constexpr std::string_view kName = "orbit";
constexpr double kSpareHops = 4e6;                             // hops in attempts beyond those that the user asked for
constexpr std::uint32_t kMostSpareAttempts = 200;              // the most such attempts
constexpr double kMostReserved = 2e4;                          // hops of a plan that is also made job by job
constexpr std::uint64_t kMostListed = std::uint64_t{1} << 22;  // sends of a schedule with two cosets
constexpr double kBytesPerHop = 36;                            // sends, the storage's indices
constexpr double kBytesPerHopKept = 24;                        // the best so far
constexpr double kBytesPerLeg = 28;                            // legs twice, queues
constexpr double kBytesPerListedSend = 80;
constexpr double kRelayedFactor = 1.5;  // a plan over switches is also kept link by link

bool exchanges(const SynthesisProblem& problem) { return problem.collective.kind() == CollectiveKind::all_to_all; }

/// The hops of one NPU's chunks along each dimension. O(npus * dimensions).
std::vector<std::uint64_t> hops_by_dimension(const TranslationGroup& group, const OrbitChunks& chunks) {
  std::vector<std::uint64_t> hops(group.dimensions().size(), 0);
  if (group.twisted()) {
    const ExchangeWays ways(group, chunks);
    for (std::size_t d = 0; d < ways.load.size(); ++d) hops[group.directions()[d].dimension] += ways.load[d];
    return hops;
  }
  for (std::uint32_t delta = 0; delta < group.npus(); ++delta) {
    if (!chunks.has(delta * chunks.each)) continue;
    for (std::size_t i = 0; i < hops.size(); ++i) {
      const auto& dimension = group.dimensions()[i];
      hops[i] += std::uint64_t{chunks.each} * exchange_hops(dimension, delta / dimension.stride % dimension.size);
    }
  }
  return hops;
}

double hops_of_one(const TranslationGroup& group, const OrbitChunks& chunks) {
  const auto hops = hops_by_dimension(group, chunks);
  return static_cast<double>(std::accumulate(hops.begin(), hops.end(), std::uint64_t{0}));
}

/// The most attempts at a plan of that many hops.
std::uint32_t most_attempts(const SynthesisProblem& problem, double hops) {
  const double spare = std::clamp<double>(kSpareHops / std::max(1.0, hops), 1, kMostSpareAttempts);
  return std::max(problem.attempts, static_cast<std::uint32_t>(spare));
}

/// The time in which a port carries so many chunks.
SimTime time_of_port(const OrbitPort& port, std::uint64_t chunks) {
  return chunks == 0 ? SimTime::zero() : port.hop.busy * (static_cast<std::int64_t>(chunks) - 1) + port.hop.latency;
}

/// The time in which the ports of a dimension carry what must cross it.
SimTime bound_of_ports(const SynthesisProblem& problem, const TranslationGroup& group) {
  const OrbitPorts ports = orbit_ports(problem, group);
  const auto hops = hops_by_dimension(group, orbit_chunks(problem.collective));
  SimTime bound;
  for (std::size_t i = 0; i < hops.size(); ++i) {
    const auto& dimension = group.dimensions()[i];
    const std::uint32_t side_by_side = dimension.one_port ? 1 : dimension.directions;
    const OrbitPort& port = ports.all[ports.port_of[dimension.first_direction]];
    bound = std::max(bound, time_of_port(port, (hops[i] + side_by_side - 1) / side_by_side));
  }
  return bound;
}

/// The strongest of the bounds on one NPU that cost little.
SimTime bound_of(const SynthesisProblem& problem, const TranslationGroup& group) {
  if (problem.topology.wires() != nullptr) return bound_of_ports(problem, group);
  return largest_bound_with(&BoundMethod::one_for_all, {{problem.topology, problem.collective, problem.occupancy}});
}

/// The least time in which the ports can carry the hops of these ways.
SimTime load_time(const ExchangeWays& ways, const OrbitPorts& ports) {
  const auto load = ways.load_of(ports);
  SimTime time;
  for (std::size_t port = 0; port < ports.size(); ++port)
    time = std::max(time, time_of_port(ports.all[port], (load[port] + ways.cosets - 1) / ways.cosets));
  return time;
}

/// The best of several attempts with the same ways.
struct BestExchange {
  std::vector<OrbitSend> sends;
  SimTime time = SimTime::max();
  std::uint32_t attempt = 0;

  BestExchange(const SynthesisProblem& problem, const TranslationGroup& group, const ExchangeWays& ways,
               SimTime bound) {
    const OrbitPorts ports = orbit_ports(problem, group);
    const SimTime enough = std::max(bound, load_time(ways, ports));
    const auto work = static_cast<double>(std::accumulate(ways.load.begin(), ways.load.end(), std::uint64_t{0}));
    const std::uint32_t attempts = most_attempts(problem, work);
    std::optional<Digest> key;
    OrbitExchange exchange(group, ways, ports);
    const std::uint32_t styles = work <= kMostReserved ? 3 : 2;  // free, with ordered dimensions, job by job
    for (std::uint32_t i = 0; i < attempts && time > enough; ++i) {
      if (i == styles) key = synthesis_key(problem);
      const auto random = key ? std::optional(attempt_stream(problem.seed, *key, i)) : std::nullopt;
      if (i % styles == 2) {
        auto made = reserve_exchange(group, ways, ports, random);
        if (made.time < time) take(made.time, i, std::move(made.sends));
      } else {
        const SimTime made = exchange.run(i % styles == 1, random);
        if (made < time) take(made, i, exchange.take_sends());
      }
    }
  }

 private:
  void take(SimTime made_time, std::uint32_t made_attempt, std::vector<OrbitSend> made) {
    time = made_time;
    attempt = made_attempt;
    sends = std::move(made);
  }
};

/// The sends of a plan with two cosets of owners, one by one.
Schedule listed(const TranslationGroup& group, const ExchangeWays& ways, const OrbitChunks& chunks,
                const std::vector<OrbitSend>& jobs) {
  const SymmetricStorage names(group, chunks, {});
  const auto& ring = group.dimensions()[ways.coset_dimension];
  std::vector<Send> sends;
  sends.reserve(jobs.size() * group.npus() / ways.cosets);
  for (const OrbitSend& job : jobs) {
    const auto coset = static_cast<std::uint32_t>(job.number / ways.numbers);
    const auto number = static_cast<std::uint32_t>(job.number % ways.numbers);
    for (std::uint32_t owner = 0; owner < group.npus(); ++owner) {
      if (owner / ring.stride % ring.size % 2 != coset) continue;
      const NpuId receiver = group.add(NpuId(owner), job.offset);
      const NpuId source = group.origin(receiver, job.direction);
      sends.push_back({job.start, group.link({source, job.direction}), names.chunk(NpuId(owner), number)});
    }
  }
  return make_list_schedule(std::move(sends));
}

/// Whether two cosets of owners are tried: there is a ring to split, and not too much to list.
std::optional<std::size_t> ring_to_split(const TranslationGroup& group, const OrbitChunks& chunks) {
  const double sends = hops_of_one(group, chunks) * static_cast<double>(group.npus());
  return sends <= static_cast<double>(kMostListed) ? uneven_ring(group, chunks) : std::nullopt;
}

Gathered exchange_by_orbit(const SynthesisProblem& problem, const TranslationGroup& group) {
  const OrbitChunks chunks = orbit_chunks(problem.collective);
  const SimTime bound = bound_of(problem, group);
  const ExchangeWays ways(group, chunks);
  BestExchange best(problem, group, ways, bound);
  Gathered gathered;
  gathered.engine = kName;
  gathered.time = best.time;
  gathered.best_attempt = best.attempt;
  if (const auto ring = ring_to_split(group, chunks); ring && best.time > bound) {
    const ExchangeWays split_ways(group, chunks, ring);
    const BestExchange split(problem, group, split_ways, bound);
    if (split.time < best.time) {
      gathered.time = split.time;
      gathered.best_attempt = split.attempt;
      gathered.schedule = listed(group, split_ways, chunks, split.sends);
      return gathered;
    }
  }
  gathered.schedule = make_symmetric_schedule(group, chunks, std::move(best.sends));
  return gathered;
}

/// The gather that another collective is made of.
SynthesisProblem gather_of(const SynthesisProblem& problem, const Collective& gather) {
  SynthesisProblem same{{problem.topology, gather, problem.occupancy}};
  same.seed = problem.seed;
  same.attempts = problem.attempts;
  same.threads = problem.threads;
  same.memory_limit_bytes = problem.memory_limit_bytes;
  return same;
}

}  // namespace

std::optional<std::string> pccl_orbit_unsuitable(const SynthesisProblem& problem) {
  const auto kind = problem.collective.kind();
  const bool gathers = kind == CollectiveKind::all_gather || kind == CollectiveKind::reduce_scatter ||
                       kind == CollectiveKind::all_reduce;
  if (!gathers && !exchanges(problem))
    return "one NPU's plan serves all in All-Gather, Reduce-Scatter, All-Reduce and All-to-All only";
  if (problem.topology.switches() > 0) {
    if (const auto relay = RelayProblem::of(problem)) return pccl_orbit_unsuitable(relay->problem);
    return "one NPU's plan serves all only on a shape of RI, FC and SW blocks, whose links are alike in each "
           "dimension, "
           "and over equal switches that pass chunks on as they are";
  }
  if (gathers) {
    if (!moves_with_npus(problem.collective)) return "one NPU's plan serves one group of all NPUs in their order";
    const Collective gather = problem.collective.as(CollectiveKind::all_gather);
    auto reason = symmetric_over_ports_unsuitable(gather_of(problem, gather));
    return reason.empty() ? std::nullopt : std::optional(std::move(reason));
  }
  const auto group = TranslationGroup::of(problem.topology, LinkPorts::shared);
  if (!group || !has_exchange_ways(*group))
    return "one NPU's plan serves all only on a shape of RI and FC blocks, of lines of two and of SW blocks, whose "
           "links are alike in each dimension";
  if (group->directions().empty()) return "there is no other NPU to exchange chunks with";
  if (!moves_with_translations(problem.collective, *group))
    return "one NPU's plan serves all only in one group of all NPUs in their order, or in equal groups of all NPUs "
           "that are every line, plane or grid with the same spacing";
  return std::nullopt;
}

Result<Synthesis> synthesize_pccl_orbit(const SynthesisProblem& problem) {
  if (problem.topology.switches() > 0) {
    const auto relay = RelayProblem::of(problem);
    ensure(relay.has_value(), "a plan for all NPUs over switches without ways");
    auto made = synthesize_pccl_orbit(relay->problem);
    return made ? Result<Synthesis>(relay->relayed(*std::move(made))) : std::move(made);
  }
  if (!exchanges(problem)) {
    auto synthesis = synthesize_symmetric(problem);
    if (!synthesis) return synthesis;
    synthesis->engine = kName;
    if (problem.collective.kind() == CollectiveKind::all_reduce) merge_halves(problem, *synthesis);
    return synthesis;
  }
  const auto group = TranslationGroup::of(problem.topology, LinkPorts::shared);
  ensure(group.has_value(), "a plan for all NPUs without a translation group");
  auto gathered = exchange_by_orbit(problem, *group);
  Synthesis synthesis;
  synthesis.engine = kName;
  synthesis.best_attempt = gathered.best_attempt;
  synthesis.time = synthesis.time_without_overlap = gathered.time;
  synthesis.schedule = synthesis.without_overlap = std::move(gathered.schedule);
  return synthesis;
}

std::size_t pccl_orbit_bytes(const SynthesisProblem& problem) {
  if (problem.topology.switches() > 0) {
    const auto relay = RelayProblem::of(problem);
    return relay ? static_cast<std::size_t>(relay_bytes(problem.topology) +
                                            kRelayedFactor * static_cast<double>(pccl_orbit_bytes(relay->problem)))
                 : 0;
  }
  if (!exchanges(problem)) return symmetric_bytes(problem) + merge_bytes(problem);
  const auto group = TranslationGroup::of(problem.topology, LinkPorts::shared);
  if (!group || !moves_with_translations(problem.collective, *group)) return 0;
  const OrbitChunks chunks = orbit_chunks(problem.collective);
  const double npus = static_cast<double>(group->npus());
  const double hops = hops_of_one(*group, chunks);
  const double legs = npus * chunks.each * static_cast<double>(group->dimensions().size());
  const double listed_sends = ring_to_split(*group, chunks) ? hops * npus : 0;
  const double per_hop = kBytesPerHop + (most_attempts(problem, hops) > 1 ? kBytesPerHopKept : 0);
  return static_cast<std::size_t>(hops * per_hop + legs * kBytesPerLeg + listed_sends * kBytesPerListedSend);
}

Work pccl_orbit_work(const SynthesisProblem& problem) {
  if (problem.topology.switches() > 0) {
    const auto relay = RelayProblem::of(problem);
    return relay ? pccl_orbit_work(relay->problem) : Work();
  }
  if (!exchanges(problem)) return symmetric_work(problem) + merge_work(problem);
  const auto group = TranslationGroup::of(problem.topology, LinkPorts::shared);
  if (!group || !moves_with_translations(problem.collective, *group)) return {};
  const OrbitChunks chunks = orbit_chunks(problem.collective);
  const double hops = hops_of_one(*group, chunks);
  const double listed_sends = ring_to_split(*group, chunks) ? hops * static_cast<double>(group->npus()) : 0;
  return Work(WorkUnit::moved_hop, hops + listed_sends) +
         Work(WorkUnit::moved_link, static_cast<double>(problem.topology.links()));
}

}  // namespace tenex
