// Reduction and gather of an All-Reduce side by side, over wires whose switches copy and add: the times that counting
// gives, and validity on any graph by the verifier and by the slow twin of the rules for signals.
//
// A chunk of 1 MB takes D = 20 us over 50 GB/s, and every link has 0.5 us of latency.
#include "synthesis/merge_phases.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "support/verdicts.hpp"
#include "support/wired.hpp"
#include "synthesis/pccl/engines.hpp"
#include "synthesis/switch_twins.hpp"
#include "synthesis/synthesis_support.hpp"
#include "tenex/schedule/verifier/verifier.hpp"

namespace tenex {
namespace {

constexpr SwitchProperties kAdding{.copy = true, .reduce = true, .forwarding = Forwarding::cut_through};

Topology wires_over(std::string_view text, SwitchProperties properties = kAdding) {
  return wires_of(support::shape(text).with_switches(properties)).value();
}

Collective all_reduce_in(std::size_t npus, std::int64_t chunks) {
  return support::of_megabytes(CollectiveKind::all_reduce, npus, chunks);
}

/// Expects a valid schedule of the problem that ends then, by the verifier and by the twin.
void expect_valid(const Instance& instance, const Schedule& schedule, SimTime time) {
  support::expect_valid(instance, schedule, time);
  support::expect_physical_links_apart(instance, schedule);
}

Synthesis make(const Topology& topology, std::int64_t chunks, Occupancy occupancy = Occupancy::serialization) {
  const Collective collective = all_reduce_in(topology.npus(), chunks);
  const SynthesisProblem problem{{topology, collective, occupancy}};
  Synthesis made = synthesize_pccl(problem).value();
  expect_valid(problem, made.schedule, made.time);
  expect_valid(problem, made.without_overlap, made.time_without_overlap);
  return made;
}

// The reduction R of a chunk takes the up-links of all NPUs but its owner, and the owner's down-link; its gather G
// takes all other links. So R and G meet no link in common only if they have one owner. Each G goes beside the next R
// of its owner, which makes n (c - 1) times D for n owners with c chunks each. The first R of each owner and the last G
// have nothing beside them and are n - 1 shifts of single sends each. G comes two alphas after R, so that the last
// shifts begin at different times: one D more at most, and two alphas at each end. In turn, n - 1 shifts for each of c
// chunks make each half.
TEST(MergePhases, OverOneSwitchPutsEachGatherBesideTheNextReduction) {
  for (const std::uint32_t npus : {3U, 4U, 8U}) {
    constexpr std::int64_t kChunks = 8;
    const auto n = static_cast<std::int64_t>(npus);
    const Synthesis made = make(wires_over("SW(" + std::to_string(npus) + ")"), kChunks);
    EXPECT_GE(made.time, microseconds(20 * n * kChunks));
    EXPECT_LE(made.time, microseconds(20 * (n * (kChunks - 1) + 2 * (n - 1) + 1) + 2));
    EXPECT_EQ(made.time_without_overlap, microseconds(2 * (20 * (n - 1) * kChunks + 1)));
    EXPECT_EQ(made.overlap_method, "reordered");
  }
}

// Each chunk over its up-links twice takes 64 D at least. With one chunk per NPU, one after the other would take 16 D.
TEST(MergePhases, ApproachesTheVolumeOfALinkWithManyChunks) {
  const Synthesis made = make(wires_over("SW(4)"), 64);
  EXPECT_GE(made.time, microseconds(20 * 256));
  EXPECT_LE(made.time, microseconds(20 * 256 * 103 / 100));
  EXPECT_EQ(make(wires_over("SW(4)"), 1).overlap_method, "no_gain");
}

/// Two NPUs near a switch, and NPU 1, which is 3 us away on the way up.
Topology uneven_star() {
  TopologyBuilder builder(3);
  const VertexId hub = builder.add_switch(kAdding);
  const SimTime away[] = {microseconds(1), microseconds(3), microseconds(1)};
  for (std::uint32_t npu = 0; npu < 3; ++npu) {
    builder.add_link({VertexId(npu), hub, away[npu], gigabytes_per_second(50)});
    builder.add_link({hub, VertexId(npu), microseconds(1), gigabytes_per_second(50)});
  }
  return wires_of(std::move(builder).build().value()).value();
}

/// An All-Reduce in which every send goes straight to or from the owner, one send every 50 us.
Schedule one_by_one(const Topology& topology, const Collective& collective) {
  std::vector<Send> sends;
  SimTime time;
  for (const Stage stage : {Stage::reduce, Stage::copy})
    for (std::size_t c = 0; c < collective.chunks(); ++c)
      for (std::size_t wire = 0; wire < topology.links(); ++wire) {
        const LinkId link = LinkId::at(wire);
        const VertexId end = stage == Stage::reduce ? topology.target(link) : topology.source(link);
        if (end != vertex_of(collective.owner(ChunkId::at(c)))) continue;
        sends.push_back({time, link, ChunkId::at(c), stage});
        time += microseconds(50);
      }
  return make_list_schedule(std::move(sends));
}

// To NPU 0 a part takes 4 us and D from NPU 1, and 2 us and D from NPU 2, which therefore sends 2 us later. As over a
// switch with equal links, every owner takes 9 D. Latencies add at most 6 us to an owner and to the end: 2 us for parts
// that start later, and 4 us from the reduction of a chunk to its gather.
TEST(MergePhases, AddsWhatArrivesTogether) {
  const Topology topology = uneven_star();
  const Collective collective = all_reduce_in(3, 8);
  const Instance instance{topology, collective, Occupancy::serialization};
  const Schedule merged = merge_phases(instance, one_by_one(topology, collective)).value();
  const SimTime time = last_arrival(instance, merged);
  expect_valid(instance, merged, time);
  EXPECT_GE(time, microseconds(3 * 9 * 20));
  EXPECT_LE(time, microseconds(3 * 9 * 20 + 4 * 6));
  std::map<ChunkId, std::map<VertexId, SimTime>> starts;
  for (const Send& send : list_sends(merged))
    if (send.stage == Stage::reduce && topology.target(send.link) == VertexId(0))
      starts[send.chunk][topology.source(send.link)] = send.start;
  EXPECT_EQ(starts.size(), 8U);
  for (const auto& [chunk, parts] : starts) EXPECT_EQ(parts.at(VertexId(2)), parts.at(VertexId(1)) + microseconds(2));
}

TEST(MergePhases, OfSwitchesThatDoNotBothCopyAndReduceOrHaveLittleRoomAreLeft) {
  EXPECT_TRUE(may_merge_phases(wires_over("SW(4)")));
  EXPECT_FALSE(may_merge_phases(wires_over("SW(4)", {.copy = true, .forwarding = Forwarding::cut_through})));
  EXPECT_FALSE(may_merge_phases(wires_over("SW(4)", {.reduce = true, .forwarding = Forwarding::cut_through})));
  EXPECT_TRUE(may_merge_phases(wires_over("SW(4)", {.copy = true, .reduce = true})));
  EXPECT_FALSE(may_merge_phases(wires_over("SW(4)", {.copy = true, .reduce = true, .buffer = 4})));
  EXPECT_FALSE(may_merge_phases(support::mesh(2, 2)));
  // Beside a cut-through switch that does both, one that stores and forwards with little room.
  TopologyBuilder builder(2);
  builder.add_switch(kAdding);
  builder.add_switch({.copy = true, .reduce = true, .buffer = 1});
  for (const std::uint32_t hub : {2U, 3U})
    for (const std::uint32_t npu : {0U, 1U})
      builder.add_link_pair({VertexId(npu), VertexId(hub), support::kAlpha, support::kBandwidth});
  EXPECT_FALSE(may_merge_phases(wires_of(std::move(builder).build().value()).value()));
}

TEST(MergePhases, IsValidOnAnyGraph) {
  std::size_t wired = 0;
  std::size_t sooner = 0;
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    SCOPED_TRACE(seed);
    const Topology topology = wires_of(support::random_switches(seed, false, true, true)).value();
    const Collective collective = all_reduce_in(topology.npus(), static_cast<std::int64_t>(1 + seed % 4));
    const auto occupancy = seed % 2 == 0 ? Occupancy::serialization : Occupancy::transfer;
    const SynthesisProblem problem{{topology, collective, occupancy}, {seed, 1, std::string(pccl_engine::paths)}};
    const Synthesis made = synthesize_pccl(problem).value();
    expect_valid(problem, made.schedule, made.time);
    EXPECT_LE(made.time, made.time_without_overlap);
    const auto merged = merge_phases(problem, made.without_overlap);
    ASSERT_TRUE(merged);
    expect_valid(problem, *merged, last_arrival(problem, *merged));
    EXPECT_LE(made.time, last_arrival(problem, *merged));
    wired += topology.wires() != nullptr ? 1U : 0U;
    sooner += topology.wires() != nullptr && made.overlap_method == "reordered" ? 1U : 0U;
  }
  EXPECT_GT(wired, 40U);
  EXPECT_GT(sooner, 0U);
}

TEST(MergePhases, IsValidOnProducts) {
  std::size_t sooner = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed, 0x6d657267);
    const auto product = support::random_switched_product(random, 16);
    SCOPED_TRACE(product.text);
    const Topology topology =
        wires_of(support::shape(product.text, product.alpha, product.bandwidth).with_switches(kAdding)).value();
    const Synthesis made = make(topology, static_cast<std::int64_t>(1 + seed % 3),
                                seed % 2 == 0 ? Occupancy::serialization : Occupancy::transfer);
    EXPECT_LE(made.time, made.time_without_overlap);
    sooner += made.overlap_method == "reordered" ? 1U : 0U;
  }
  EXPECT_GT(sooner, 0U);
}

}  // namespace
}  // namespace tenex
