// The engine `paths` of pccl: searches equal a slow twin, plans are valid on any graph and close to the bound on grids,
// useless branches are pruned, and what cannot be reached is named.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "support/topologies.hpp"
#include "support/verdicts.hpp"
#include "synthesis/compose.hpp"
#include "synthesis/pccl/paths/gap_links.hpp"
#include "synthesis/pccl/paths/paths.hpp"
#include "synthesis/pccl/paths/slot_links.hpp"
#include "synthesis/synthesis_support.hpp"
#include "tenex/base/random.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/schedule/timing/retime.hpp"
#include "tenex/schedule/verifier/verifier.hpp"

namespace tenex {
namespace {

using support::kMegabyte;
using support::kStep;
using enum CollectiveKind;

// ---- plans
// -----------------------------------------------------------------------------------------------------------

/// Plans, and expects a valid schedule without waste that takes the time it states, not below the bound.
PathsPlan plan_checked(const SynthesisProblem& problem, const PathsOptions& options = {}) {
  const PathsPlan plan = plan_paths(problem, options).value();
  support::expect_valid(problem, plan.gathered.schedule, plan.gathered.time);
  EXPECT_GE(plan.gathered.time, best_cheap_bound({problem, true}).time);
  return plan;
}

struct GridCase {
  const char* shape;
  std::int64_t chunks;
  double least;  ///< efficiency
};

Collective all_to_all_of(std::size_t npus, std::int64_t chunks) {
  return support::collective(all_to_all, npus, kMegabyte * (chunks * static_cast<std::int64_t>(npus)), chunks);
}

class PathsOnGrids : public testing::TestWithParam<GridCase> {};

TEST_P(PathsOnGrids, AreCloseToTheBound) {
  const auto& [shape, chunks, least] = GetParam();
  const Topology topology = support::shape(shape);
  const Collective collective = all_to_all_of(topology.npus(), chunks);
  const SynthesisProblem problem{{topology, collective, Occupancy::transfer}, {1, 16}};
  const PathsPlan plan = plan_checked(problem);
  EXPECT_GE(support::efficiency(problem, plan.gathered.time), least) << shape;
}

// Bounds in steps: the middle cut of grid(4,4,4) passes 32*32 chunks over 16 links, that of mesh(8,8) 32*32 over 8. On
// torus(8,8) and the hypercube every link is busy in every step of the bound (64 and 32), so that one step more is 1.5
// and 3 %.
INSTANTIATE_TEST_SUITE_P(Shapes, PathsOnGrids,
                         testing::Values(GridCase{"grid(4,4,4)", 1, 0.97}, GridCase{"grid(4,4,4)", 8, 0.99},
                                         GridCase{"mesh(8,8)", 1, 0.98}, GridCase{"mesh(8,8)", 8, 0.99},
                                         GridCase{"torus(8,8)", 1, 0.94}, GridCase{"torus(8,8)", 8, 0.98},
                                         GridCase{"hypercube(6)", 1, 0.91}, GridCase{"hypercube(6)", 8, 0.97},
                                         GridCase{"grid(2,3,5)", 4, 0.97}, GridCase{"FC(9)", 4, 0.99}));

// Without alpha, hops at 1 GB/s take 8, 4 and 2 times as long as those at 8, 2 and 4 GB/s: links have gaps, not slots.
TEST(PcclPaths, KnowsUnequalDimensions) {
  const Topology topology = support::shape("RI(4)_FC(4)_LI(3)", {microseconds(0), microseconds(1), microseconds(2)},
                                           {gigabytes_per_second(1), gigabytes_per_second(4), gigabytes_per_second(2)});
  const Collective collective = all_to_all_of(topology.npus(), 2);
  for (const auto occupancy : {Occupancy::serialization, Occupancy::transfer}) {
    const SynthesisProblem problem{{topology, collective, occupancy}, {1, 4}};
    EXPECT_GE(support::efficiency(problem, plan_checked(problem).gathered.time), 0.9);
  }
}

// A chunk of 50 kB takes 1 us on a link of 50 GB/s, and arrives 1.5 us after its start: 1.5 slots. On a line 0-1-2-3 a
// chunk from end to end arrives after 3 * 1.5 = 4.5 us, although slots say 6.
TEST(PcclPaths, MakesTimesExactThatSlotsRoundUp) {
  const Topology topology = support::line(4, nanoseconds(500), gigabytes_per_second(50));
  ProcessGroup group{.members = {NpuId(0), NpuId(3)}};
  const Collective collective =
      Collective::make({.kind = all_to_all, .npus = 4, .groups = {group}, .size = bytes(100'000)}).value();
  const SynthesisProblem problem{{topology, collective, Occupancy::serialization}, {1, 1}};
  EXPECT_EQ(plan_checked(problem).gathered.time, nanoseconds(4'500));
  const PathsPlan rounded = plan_checked(problem, {.retime = false});
  EXPECT_EQ(rounded.gathered.time, nanoseconds(5'500));  // starts at 0, 2 and 4 us
}

// Fig. 6.1: a unicast from NPU 1 to NPU 4, which NPUs 2 and 3 relay. Links 1-2, 2-4, 1-3, 3-4: two ways of two hops.
// Four chunks leave over both links at steps 0 and 1; the last arrives after 3 steps.
TEST(PcclPaths, SendsAUnicastOverRelays) {
  const auto link = [](std::uint32_t from, std::uint32_t to) {
    return Link{VertexId(from), VertexId(to), support::kAlpha, gigabytes_per_second(50)};
  };
  const Topology topology = support::graph(4, {link(0, 1), link(1, 3), link(0, 2), link(2, 3)});
  auto list = std::make_shared<const std::vector<Condition>>(std::vector<Condition>{{0, {1}, kMegabyte * 4}});
  ProcessGroup pair{.members = {NpuId(0), NpuId(3)}, .kind = conditions, .conditions = list};
  const Collective collective =
      Collective::make({.kind = conditions, .npus = 4, .groups = {pair}, .chunks = 4, .size = kMegabyte * 4}).value();
  const SynthesisProblem problem{{topology, collective, Occupancy::transfer}, {1, 1}};
  const SimTime hop = hop_time(topology.classes()[0], kMegabyte, Occupancy::transfer).latency;
  EXPECT_EQ(plan_checked(problem).gathered.time, 3 * hop);
}

/// Fig. 6.4: five NPUs, eight one-way links. The text names 2-4, 3-5 and 5-1; the others are chosen. NPU i has number
/// i - 1.
Topology figure_6_4() {
  std::vector<Link> links;
  for (const auto& [from, to] : std::vector<std::pair<std::uint32_t, std::uint32_t>>{
           {2, 4}, {3, 5}, {5, 1}, {1, 2}, {2, 3}, {3, 2}, {4, 3}, {5, 4}})
    links.push_back({VertexId(from - 1), VertexId(to - 1), nanoseconds(500), gigabytes_per_second(50)});
  return support::graph(5, links);
}

// Chunk 2 for NPUs 1 and 3: 2-3, 3-5, 5-1. The search also reaches NPU 4, which leads nowhere and is left out; NPU 5
// stays, because it leads to NPU 1. Three sends, three steps.
TEST(PcclPaths, PrunesBranchesThatReachNoDestination) {
  const Topology topology = figure_6_4();
  const Collective collective = support::collective(broadcast, 5, kMegabyte, 1, "1,0,2");
  const SynthesisProblem problem{{topology, collective, Occupancy::transfer}, {1, 1}};
  const PathsPlan plan = plan_checked(problem);
  EXPECT_EQ(plan.gathered.time, 3 * kStep);
  EXPECT_EQ(plan.gathered.schedule.sends(), 3U);
}

// Fig. 6.5: an All-Gather of NPUs 1, 2, 3. Chunk 2 needs three hops to NPU 1, and 5-1 carries chunk 3 in step 1 and
// chunk 2 in step 2: three steps are least and enough. Sends: chunk 1 two (1-2, 2-3), chunk 2 three, chunk 3 three.
TEST(PcclPaths, GathersInAGroupOverAnNpuOutsideIt) {
  const Topology topology = figure_6_4();
  const Collective collective = support::collective(all_gather, 5, kMegabyte * 3, 1, "0-2");
  const SynthesisProblem problem{{topology, collective, Occupancy::transfer}, {1, 1}};
  const PathsPlan plan = plan_checked(problem);
  EXPECT_EQ(plan.gathered.time, 3 * kStep);
  EXPECT_EQ(plan.gathered.schedule.sends(), 8U);

  const auto inside = plan_paths(problem, {.outside = false});
  ASSERT_FALSE(inside.ok());
  EXPECT_EQ(to_string(inside.errors()[0]),
            "NPU 0 cannot be reached from NPU 1 (no link leaves the NPUs that NPU 1 reaches inside its process group: "
            "1-2) allow paths over NPUs outside the group, or add links");
}

// The two end columns of a 3x3 mesh: {0, 3, 6} and {2, 5, 8}. The middle column may help, and must not if paths stay
// inside: an All-to-All in a line of 3 with 4 chunks takes max(cut, injection) = 2*1*4 = 8 steps.
TEST(PcclPaths, StaysInsideTheGroupOnRequest) {
  const Topology topology = support::mesh(3, 3, nanoseconds(500), gigabytes_per_second(50));
  const Collective collective = support::collective(all_to_all, 9, kMegabyte * 12, 4, "0,3,6; 2,5,8");
  const SynthesisProblem problem{{topology, collective, Occupancy::transfer}, {1, 4}};
  const PathsPlan inside = plan_checked(problem, {.outside = false});
  EXPECT_EQ(inside.gathered.time, 8 * kStep);
  const std::set<std::uint32_t> middle{1, 4, 7};
  for (const Send& send : list_sends(inside.gathered.schedule)) {
    EXPECT_FALSE(middle.contains(topology.source(send.link).value()));
    EXPECT_FALSE(middle.contains(topology.target(send.link).value()));
  }
  EXPECT_LT(plan_checked(problem).gathered.time, inside.gathered.time);
}

TEST(PcclPaths, NamesAnNpuThatCannotBeReachedAndTheCut) {
  const auto link = [](std::uint32_t from, std::uint32_t to) {
    return Link{VertexId(from), VertexId(to), support::kAlpha, gigabytes_per_second(50)};
  };
  const Topology topology = support::graph(4, {link(0, 1), link(1, 0), link(2, 0), link(2, 3), link(3, 2)});
  const Collective collective = all_to_all_of(4, 1);
  const auto made = plan_paths({{topology, collective, Occupancy::transfer}, {1, 1}});
  ASSERT_FALSE(made.ok());
  ASSERT_EQ(made.errors().size(), 2U);  // one per source that is cut off
  EXPECT_EQ(to_string(made.errors()[0]),
            "NPU 2 cannot be reached from NPU 0 (no link leaves the NPUs that NPU 0 reaches: 0-1) add links, or leave "
            "the NPU out of the collective");
}

TEST(PcclPaths, ReportsWhatThePassesDid) {
  const Topology topology = support::mesh(12, 12);
  const Collective collective = support::of_megabytes(all_gather, topology.npus());
  const SynthesisProblem problem{{topology, collective, Occupancy::transfer}, {1, 1}};
  const PathsPlan plain = plan_checked(problem, {.reroute_effort = 0});
  EXPECT_TRUE(plain.report.passes.empty());
  const PathsPlan better = plan_checked(problem);
  ASSERT_EQ(better.report.passes.size(), 1U);
  const PathsPass& pass = better.report.passes[0];
  EXPECT_EQ(pass.name, "reroute");
  EXPECT_EQ(pass.before, plain.gathered.time);
  EXPECT_EQ(pass.after, better.gathered.time);
  EXPECT_LT(pass.after, pass.before);
  EXPECT_GT(pass.work, 0U);
  EXPECT_LE(pass.work, 144U);  // one time the number of conditions
}

// A byte takes 1 ns at 1 GB/s, and 1 us of latency: 1,001 slots per hop. On torus(64,64) a gather's last send starts
// after 63 hops and more: rows of 63,063 slots for 16,384 links would take 4 GB, for 131,072 sends.
TEST(PcclPaths, KeepsNoSlotsWhereMostStayEmpty) {
  const auto slots_of = [](const Topology& topology, SimTime alpha) {
    const Collective collective =
        support::collective(gather, topology.npus(), bytes(static_cast<std::int64_t>(topology.npus())));
    const SynthesisProblem problem{{topology, collective, Occupancy::serialization}};
    EXPECT_LT(static_cast<double>(paths_bytes(problem)), 2e8);
    const PathNetwork network(problem);
    EXPECT_EQ(network.hop(0, 0).latency, alpha + nanoseconds(1));
    return std::pair(network.slotted(), network.slotted() ? network.empty_slot_bytes() : 0);
  };
  const std::vector<SimTime> latent{microseconds(1), microseconds(1)};
  const std::vector<Bandwidth> slow{gigabytes_per_second(1), gigabytes_per_second(1)};
  const Topology large = support::shape("torus(64,64)", latent, slow);
  EXPECT_FALSE(slots_of(large, latent[0]).first);
  const auto small = slots_of(support::shape("torus(4,4)", latent, slow), latent[0]);
  EXPECT_TRUE(small.first);  // 64 links, 4 hops to the farthest, 1,000 slots: 1.5 MB
  EXPECT_EQ(small.second, 64 * 4 * 1000 * 6);
  const std::vector<SimTime> none{SimTime::zero(), SimTime::zero()};
  EXPECT_EQ(slots_of(support::shape("torus(64,64)", none, slow), none[0]), std::pair(true, 0.0));
}

TEST(PcclPaths, EstimatesMoreForMore) {
  const Topology small = support::mesh(4, 4);
  const Topology large = support::mesh(8, 8);
  const Collective few = all_to_all_of(16, 1);
  const Collective many = all_to_all_of(16, 8);
  const Collective most = all_to_all_of(64, 8);
  const std::array<SynthesisProblem, 3> problems{SynthesisProblem{{small, few, Occupancy::transfer}},
                                                 SynthesisProblem{{small, many, Occupancy::transfer}},
                                                 SynthesisProblem{{large, most, Occupancy::transfer}}};
  for (std::size_t i = 0; i + 1 < problems.size(); ++i) {
    EXPECT_LT(paths_bytes(problems[i]), paths_bytes(problems[i + 1]));
    EXPECT_LT(paths_work(problems[i]).seconds(), paths_work(problems[i + 1]).seconds());
  }
}

// ---- properties
// ------------------------------------------------------------------------------------------------------

struct DrawnConditions {
  Topology topology;
  Collective collective;
  Occupancy occupancy;
};

/// Random groups, which may overlap, each with a copying collective of its own; or one kind for all.
DrawnConditions draw(bool copies) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  Random random(seed, 0x7061746873);
  Topology topology = support::random_connected_topology(seed, 24, random.below(2) == 0);
  const auto npus = static_cast<std::uint32_t>(topology.npus());
  constexpr std::array copying{all_gather, broadcast, all_to_all, gather, scatter};
  constexpr std::array reducing{all_gather, reduce_scatter, all_reduce, broadcast, reduce};
  CollectiveRequest request;
  request.kind = copies ? copying[random.below(5)] : reducing[random.below(5)];
  request.npus = npus;
  request.chunks = 1 + random.below(3);
  request.size = bytes(10'000 + random.below(2'000'000));
  for (std::uint32_t g = copies ? random.below(4) : 0; g > 0; --g) {
    std::vector<NpuId> order;
    for (std::uint32_t i = 0; i < npus; ++i) order.push_back(NpuId(i));
    random.shuffle(std::span(order));
    order.resize(2 + random.below(npus - 1));
    ProcessGroup group{.members = order};
    if (random.below(2) == 0) {
      group.kind = copying[random.below(5)];
      group.size = bytes(5'000 + random.below(1'000'000));
    }
    request.groups.push_back(std::move(group));
  }
  return {std::move(topology), Collective::make(request).value(),
          random.below(2) == 0 ? Occupancy::serialization : Occupancy::transfer};
}

RC_GTEST_PROP(PcclPathsProperties, PlansAreValidOnAnyGraph, ()) {
  const DrawnConditions drawn = draw(true);
  const SynthesisProblem problem{{drawn.topology, drawn.collective, drawn.occupancy}, {1, 3}};
  const auto plan = plan_paths(problem);
  RC_ASSERT(plan.ok());
  const Verdict verdict = verify(problem, plan->gathered.schedule);
  for (const Finding& finding : verdict.findings) RC_LOG() << finding.message << '\n';
  RC_ASSERT(verdict.valid());
  RC_ASSERT(verdict.waste == 0U);
  RC_ASSERT(verdict.collective_time == plan->gathered.time);
  RC_ASSERT(plan->gathered.time >= best_cheap_bound({problem, true}).time);

  SynthesisProblem on_two = problem;
  on_two.threads = 2;
  const auto same = plan_paths(on_two);
  RC_ASSERT(schedule_hash(same->gathered.schedule) == schedule_hash(plan->gathered.schedule));
  RC_ASSERT(same->gathered.best_attempt == plan->gathered.best_attempt);
}

RC_GTEST_PROP(PcclPathsProperties, ReductionsAreReversals, ()) {
  const DrawnConditions drawn = draw(false);
  const SynthesisProblem problem{{drawn.topology, drawn.collective, drawn.occupancy}, {1, 1, "paths"}};
  const auto made = find_synthesizer("pccl")->synthesize(problem);
  RC_ASSERT(made.ok());
  const Verdict verdict = verify(problem, made->schedule);
  for (const Finding& finding : verdict.findings) RC_LOG() << finding.message << '\n';
  RC_ASSERT(verdict.valid());
  RC_ASSERT(verdict.collective_time == made->time);
  RC_ASSERT(made->time >= best_cheap_bound({problem, true}).time);
}

// ---- searches against a slow twin
// ------------------------------------------------------------------------------------

/// Busy intervals as a plain list, and Bellman's equations until nothing changes.
class SlowSearch {
 public:
  explicit SlowSearch(const PathNetwork& network) : network_(network), busy_(network.links()) {}

  void take(std::uint32_t link, SimTime start, std::size_t size) {
    busy_[link].push_back({start, start + network_.hop(link, size).busy});
  }

  /// Earliest arrivals at all vertices.
  std::vector<SimTime> arrivals(std::uint32_t source, std::size_t size) const {
    std::vector<SimTime> arrival(network_.vertices(), SimTime::max());
    arrival[source] = SimTime::zero();
    for (bool changed = true; changed;) {
      changed = false;
      for (std::uint32_t link = 0; link < network_.links(); ++link) {
        if (arrival[network_.source(link)] == SimTime::max()) continue;
        const SimTime then = free_from(link, arrival[network_.source(link)], size) + network_.hop(link, size).latency;
        SimTime& there = arrival[network_.target(link)];
        changed = changed || then < there;
        there = std::min(there, then);
      }
    }
    return arrival;
  }

 private:
  struct Interval {
    SimTime begin;
    SimTime end;
  };

  SimTime free_from(std::uint32_t link, SimTime time, std::size_t size) const {
    const SimTime busy = network_.hop(link, size).busy;
    for (bool moved = true; moved;) {
      moved = false;
      for (const Interval& other : busy_[link])
        if (time < other.end && other.begin < time + busy) {
          time = other.end;
          moved = true;
        }
    }
    return time;
  }

  const PathNetwork& network_;
  std::vector<std::vector<Interval>> busy_;
};

/// Random traffic on a random graph; after each path taken, searches from a random source must agree with the twin.
template <class Links>
void check_searches(const Instance& instance, std::uint64_t seed) {
  const PathNetwork network(instance);
  const auto vertices = static_cast<std::uint32_t>(network.vertices());
  const auto sizes = static_cast<std::uint32_t>(network.sizes());
  Links links(network, instance.collective);
  SlowSearch slow(network);
  PathSearch<Links> search(network);
  DistanceSearch<typename Links::Cell> distances(network);
  std::vector<typename Links::Cell> left(vertices);
  std::vector<std::uint32_t> all(vertices);
  std::iota(all.begin(), all.end(), 0U);
  Random random(seed, 0x736C6F77);
  for (int round = 0; round < 30; ++round) {
    const std::uint32_t source = random.below(vertices);
    const std::uint32_t destination = (source + 1 + random.below(vertices - 1)) % vertices;
    const std::size_t size = random.below(sizes);
    const auto expected = slow.arrivals(source, size);
    distances.fill(destination, size, LinkDirection::backward, nullptr, left);
    const auto path = search.find_path(links, source, destination, left.data(), size, PathRange::any, random());
    RC_ASSERT(links.time_of(search.arrival()) == expected[destination]);
    const std::vector<typename PathSearch<Links>::Hop> hops(path.begin(), path.end());

    std::vector<std::uint32_t> others;
    for (const std::uint32_t v : all)
      if (v != source) others.push_back(v);
    std::vector<SimTime> reached(vertices, SimTime::zero());
    for (const auto& hop : search.find_tree(links, source, others, nullptr, size, random())) {
      RC_ASSERT(links.time_of(hop.start) >= reached[network.source(hop.link)]);
      reached[network.target(hop.link)] = links.time_of(hop.start + links.latency(hop.link, size));
    }
    RC_ASSERT(reached == expected);

    for (const auto& hop : hops) {
      const ChunkId chunk = instance.collective.first_chunk(GroupId::at(size));
      links.take(hop.link, hop.start, size, chunk.value());
      slow.take(hop.link, links.time_of(hop.start), size);
    }
  }
}

RC_GTEST_PROP(PcclPathsProperties, SearchesEqualASlowTwin, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const bool slots = seed % 2 == 0;
  const Topology topology = support::random_connected_topology(seed, 16, !slots);
  // Two groups of all NPUs with chunks of different sizes: size class g is that of group g.
  CollectiveRequest request;
  request.npus = topology.npus();
  request.size = kMegabyte;
  for (const std::int64_t size : {1'000'000, 300'000}) {
    request.groups.push_back({});
    for (std::size_t i = 0; i < topology.npus(); ++i) request.groups.back().members.push_back(NpuId::at(i));
    request.groups.back().size = bytes(size);
    if (slots) break;
  }
  const Collective collective = Collective::make(request).value();
  if (slots)
    check_searches<SlotLinks>({topology, collective, Occupancy::transfer}, seed);
  else
    for (const auto occupancy : {Occupancy::transfer, Occupancy::serialization})
      check_searches<GapLinks>({topology, collective, occupancy}, seed);
}

RC_GTEST_PROP(PcclPathsProperties, RetimesAsTheGeneralRetimerDoes, ()) {
  const DrawnConditions drawn = draw(true);
  const Instance instance{drawn.topology, drawn.collective, drawn.occupancy};
  const auto plan = plan_paths({instance, {1, 1}}, {.reroute_effort = 0, .retime = false});
  RC_ASSERT(plan.ok());
  std::vector<PlannedHop<std::int64_t>> hops;
  for (const Send& send : list_sends(plan->gathered.schedule))
    hops.push_back({2 * send.start.count(), send.link.value(), send.chunk.value()});  // twice as slow as it might be
  const Schedule slow = schedule_of(hops);
  const PathNetwork network(instance);
  const auto times = [&](const auto& hop) {
    return network.hop(hop.link, drawn.collective.size_class(ChunkId(hop.chunk)));
  };
  const auto end = retime_hops(
      network, drawn.collective.chunks(), hops, [&](const auto& hop) { return times(hop).busy.count(); },
      [&](const auto& hop) { return times(hop).latency.count(); });
  const Schedule expected = retime(instance, slow);
  RC_ASSERT(schedule_hash(schedule_of(hops)) == schedule_hash(expected));
  RC_ASSERT(picoseconds(end) == last_arrival(instance, expected));
}

}  // namespace
}  // namespace tenex
