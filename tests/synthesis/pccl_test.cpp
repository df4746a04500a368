// The registry entry `pccl`: any collectives in any groups on any graph, valid and not below the bounds; which engine
// makes what; the cases of the thesis' text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "support/collectives.hpp"
#include "support/topologies.hpp"
#include "support/verdicts.hpp"
#include "synthesis/pccl/engines.hpp"
#include "synthesis/synthesis_support.hpp"

namespace tenex {
namespace {

using ::testing::HasSubstr;

Collective groups_of(std::string_view groups, std::size_t npus) {
  CollectiveRequest request;
  request.kind = CollectiveKind::mixed;
  request.npus = npus;
  request.groups = parse_groups(groups, npus).value();
  return Collective::make(std::move(request)).value();
}

/// A line whose hops of 1000 B take 1 us.
Topology kilobyte_line(std::uint32_t npus) { return support::line(npus, nanoseconds(0), gigabytes_per_second(1)); }

/// A schedule of the registry's `pccl`, verified and compared with the cheap bounds.
Synthesis made(const SynthesisProblem& problem) {
  auto synthesis = find_synthesizer("pccl")->synthesize(problem).value();
  const Verdict verdict = verify(problem, synthesis.schedule);
  EXPECT_TRUE(verdict.valid()) << support::first_finding(verdict);
  EXPECT_EQ(verdict.collective_time, synthesis.time);
  EXPECT_GE(synthesis.time, best_cheap_bound({problem}).time);
  return synthesis;
}

TEST(Pccl, PassesAChunkOnThroughNpusThatDoNotNeedIt) {
  // Thesis, Figure 6.1: a unicast whose relays are in no group. Three hops of 1 us each.
  const auto topology = kilobyte_line(4);
  CollectiveRequest request{CollectiveKind::conditions, 4, {{}}, 1, bytes(1000), 0};
  request.groups[0].conditions =
      std::make_shared<const std::vector<Condition>>(std::vector<Condition>{{0, {3}, bytes(1000)}});
  const auto collective = Collective::make(std::move(request)).value();
  EXPECT_EQ(made({topology, collective}).time, microseconds(3));
}

TEST(Pccl, ReductionAndGatherSideBySide) {
  // Thesis, Figure 6.2, on a line of six: Reduce-Scatter of NPUs 0-2 beside All-Gather of NPUs 3-5, 1 us per hop. In
  // each group a middle NPU gets a chunk from either side, and each end two over one link: 2 us.
  const auto topology = kilobyte_line(6);
  const auto collective = groups_of("0-2 reduce_scatter 3000B; 3-5 all_gather 3000B", 6);
  const SynthesisProblem problem{topology, collective};
  const auto synthesis = made(problem);
  EXPECT_EQ(synthesis.time, microseconds(2));
  EXPECT_EQ(synthesis.engine, "paths");
}

TEST(Pccl, GroupsThatShareAnNpuAddUp) {
  // NPU 0 of a line of two sends its chunk of each of three groups over one link: 3 us.
  const auto topology = kilobyte_line(2);
  const auto collective = groups_of("0,1 all_gather 2000B; 0,1 all_gather 2000B; 0,1 all_gather 2000B", 2);
  EXPECT_EQ(made({topology, collective}).time, microseconds(3));
}

TEST(Pccl, RelaysOutsideTheGroupMayBeForbidden) {
  // A ring of 4, NPUs 0 and 2 exchange 4 chunks each way. With all relays both ways round carry two chunks each:
  // store-and-forward, 3 us. Without relays there is no path.
  const auto topology = support::ring(4, nanoseconds(0), gigabytes_per_second(1));
  const auto collective = groups_of("0,2 all_gather 8000B 4 chunks", 4);
  SynthesisProblem problem{topology, collective};
  EXPECT_EQ(made(problem).time, microseconds(3));
  problem.relays = Relays::members;
  const auto refused = find_synthesizer("pccl")->synthesize(problem);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(to_string(refused.errors()), HasSubstr("NPU"));
}

TEST(Pccl, ImprovementsAreReported) {
  const auto topology = support::mesh(4, 4);
  const auto collective = support::of_megabytes(CollectiveKind::all_to_all, 16);
  SynthesisProblem problem{topology, collective, Occupancy::transfer};
  problem.engine = "paths";
  const auto all = made(problem);
  ASSERT_GE(all.searched_time_ps, 0);
  EXPECT_EQ(all.searched_time_ps - all.retime_gain_ps - all.reroute_gain_ps, all.time.count());
  problem.improve = Improvement::none;
  const auto none = made(problem);
  EXPECT_EQ(none.searched_time_ps, -1);
  EXPECT_GE(none.time, all.time);
}

TEST(Pccl, LinksThatAreFreeSoonerMakeNoPlanLater) {
  // A schedule under `transfer` is valid under `serialization`, so the time there is no longer, also where alpha is
  // small and slots of the busy time round every hop up to two.
  const auto topology = support::mesh(8, 8);
  for (const auto* groups : {"0-7 all_to_all 8000000B", "0-31 all_to_all 32000000B", "0-7 all_gather 8000000B"}) {
    const auto collective = groups_of(groups, 64);
    const auto held = made({topology, collective, Occupancy::transfer});
    EXPECT_LE(made({topology, collective, Occupancy::serialization}).time, held.time) << groups;
  }
}

TEST(Pccl, UnreachableDestinationsAreNamedWithTheCut) {
  const auto link = [](std::uint32_t from, std::uint32_t to) {
    return Link{VertexId(from), VertexId(to), nanoseconds(0), gigabytes_per_second(1)};
  };
  const auto topology = support::graph(3, {link(0, 1), link(1, 0), link(2, 0)});
  const auto collective = groups_of("0-2 all_gather 3000B", 3);
  const auto refused = find_synthesizer("pccl")->synthesize({topology, collective});
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(to_string(refused.errors()), HasSubstr("NPU 2"));
}

RC_GTEST_PROP(Pccl, MakesAnyCollectiveInAnyGroupsOnAnyGraph, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  Random random(seed, 2);
  const auto topology = support::random_connected_topology(seed, 9, random.below(2) == 0);
  const auto npus = static_cast<std::uint32_t>(topology.npus());
  const auto kind = static_cast<CollectiveKind>(random.below(static_cast<std::uint32_t>(collective_names().size())));
  const auto collective = support::any_collective(kind, npus, bytes(48'000), 1 + random.below(3),
                                                  support::drawn_groups(npus, random), seed);
  SynthesisProblem problem{
      topology, collective, random.below(2) == 0 ? Occupancy::transfer : Occupancy::serialization, {seed}};
  problem.attempts = 1 + random.below(2);
  const auto synthesis = made(problem);
  problem.threads = 2;
  RC_ASSERT(schedule_hash(find_synthesizer("pccl")->synthesize(problem).value().schedule) ==
            schedule_hash(synthesis.schedule));
}

TEST(Pccl, ByItselfIsNoSlowerThanEightAttemptsOfItsSearch) {
  int gained = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const Topology topology = support::random_connected_topology(seed, 10, seed % 2 == 0);
    const Collective gather =
        support::of_megabytes(CollectiveKind::all_gather, topology.npus(), 1 + static_cast<std::int64_t>(seed % 3));
    SynthesisProblem problem{{topology, gather}, {seed}};
    const auto automatic = find_synthesizer("pccl")->synthesize(problem).value();
    problem.engine = pccl_engine::paths;
    const auto once = find_synthesizer("pccl")->synthesize(problem).value();
    problem.attempts = 8;
    const auto searched = find_synthesizer("pccl")->synthesize(problem).value();
    EXPECT_LE(automatic.time, searched.time) << seed;
    EXPECT_LE(automatic.time, once.time) << seed;
    gained += automatic.time < once.time ? 1 : 0;
  }
  EXPECT_GT(gained, 0);
}

}  // namespace
}  // namespace tenex
