// Bounds over cut-through switches: numbers by hand, and none above the time of a valid schedule.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "bound/any_schedule.hpp"
#include "bound/compared.hpp"
#include "bound/wire_schedule.hpp"
#include "support/collectives.hpp"
#include "support/topologies.hpp"
#include "tenex/bound/cut.hpp"
#include "tenex/bound/strength.hpp"
#include "tenex/schedule/verifier/verifier.hpp"
#include "tenex/topology/distance.hpp"

namespace tenex {
namespace {

using enum CollectiveKind;
using support::compare;
using support::kAllKinds;

constexpr SwitchProperties kCutThrough{.forwarding = Forwarding::cut_through};
constexpr SwitchProperties kInNetwork{.copy = true, .reduce = true, .forwarding = Forwarding::cut_through};
constexpr std::uint64_t kCutThroughWork = 100'000'000;

/// A chunk of 1 MB takes 20 us at 50 GB/s; alpha is 500 ns.
Topology wired(const Topology& network) { return wires_of(network).value(); }
Topology wired(const char* text, SwitchProperties properties = kCutThrough) {
  return wired(support::shape(text).with_switches(properties));
}
Collective of_chunks(CollectiveKind kind, std::int64_t npus, std::int64_t chunks = 1) {
  return support::collective(kind, static_cast<std::size_t>(npus), bytes(1'000'000 * npus * chunks), chunks);
}
/// The largest of all bounds.
SimTime cut_through_bound(const Topology& topology, const Collective& collective,
                          Occupancy occupancy = Occupancy::serialization) {
  return compare({topology, collective, occupancy}, SimTime::max()).largest;
}

TEST(CutThroughBound, OfOneSwitchIsTheChunksIntoEachNpuAndTheAlphasOfAPath) {
  // SW(8): 7 chunks of 20 us over the one link into (All-to-All: and out of) each NPU, and two alphas of 0.5 us, as
  // nothing is stored on the way: 141 us. Under `transfer` each chunk keeps the link for its alpha too, and the first
  // has passed the link before: 7 * 20.5 + 0.5. NPU i sends to i + k in step k: both are met.
  const Topology topology = wired("SW(8)");
  for (const auto kind : {all_gather, reduce_scatter, all_to_all}) {
    EXPECT_EQ(cut_through_bound(topology, of_chunks(kind, 8)), microseconds(141)) << to_string(kind);
    EXPECT_EQ(cut_through_bound(topology, of_chunks(kind, 8), Occupancy::transfer), microseconds(144))
        << to_string(kind);
    // The same for the network with its switches.
    EXPECT_EQ(cut_through_bound(topology.wires()->network(), of_chunks(kind, 8)), microseconds(141)) << to_string(kind);
  }
  std::vector<Send> sends;
  for (std::uint32_t step = 1; step < 8; ++step)
    for (std::uint32_t npu = 0; npu < 8; ++npu)
      for (const LinkId link : topology.out_links(VertexId(npu)))
        if (topology.target(link).value() == (npu + step) % 8)
          sends.push_back({nanoseconds(20'500) * (step - 1), link, ChunkId(npu)});
  const auto verdict =
      verify({topology, of_chunks(all_gather, 8), Occupancy::transfer}, make_list_schedule(std::move(sends)));
  ASSERT_TRUE(verdict.valid());
  EXPECT_EQ(verdict.collective_time, microseconds(144));
}

TEST(CutThroughBound, OfTwoChassisIsWhatThePaperMeasures) {
  // Two DGX-2: 16 NPUs per chassis at 125 GB/s and 0.35 us; odd NPUs have a link of 12.5 GB/s to the other chassis,
  // even ones have one from it. All-Gather of 1 GB: chunks of 31.25 MB take 250 us on a switch link. An odd NPU gets 31
  // of them over its only in-link: 7,750 us (TE-CCL's printed time), and 0.7 us for the way. If the switch stored
  // chunks, a chunk time more: the first would be there after 500.7 us.
  TopologyBuilder builder(32);
  for (std::uint32_t chassis = 0; chassis < 2; ++chassis) {
    const VertexId hub = builder.add_switch(kCutThrough);
    for (std::uint32_t npu = 16 * chassis; npu < 16 * chassis + 16; ++npu) {
      builder.add_link_pair({VertexId(npu), hub, nanoseconds(350), gigabytes_per_second(125)});
      if (npu % 2 == 1)
        builder.add_link({VertexId(npu), VertexId((npu + 15) % 32), nanoseconds(2600), Bandwidth::of(12'500'000'000)});
    }
  }
  const Topology network = std::move(builder).build().value();
  const Collective gather = support::collective(all_gather, 32, bytes(1'000'000'000), 1);
  EXPECT_EQ(cut_through_bound(wired(network), gather), nanoseconds(7'750'700));
  const Topology storing = network.with_switches(SwitchProperties{});
  EXPECT_EQ(cut_through_bound(storing, gather), nanoseconds(8'000'700));
}

TEST(CutThroughBound, OfTwoDimensionsOfSwitchesIsThePlane) {
  // SW(8)_SW(64), 180 and 50 GB/s. All-to-All: the 8 NPUs of a plane send 504 chunks each to other planes, over one
  // link each of dimension 2: 504 * 20 us, and two alphas.
  const Topology topology =
      wired(support::shape("SW(8)_SW(64)", {nanoseconds(500)}, {gigabytes_per_second(180), gigabytes_per_second(50)})
                .with_switches(kCutThrough));
  const Collective all = of_chunks(all_to_all, 512);
  const BoundProblem problem{topology, all};
  const auto cut = cut_bound(problem, kCutThroughWork);
  EXPECT_EQ(cut->time, microseconds(504 * 20 + 1));
  EXPECT_EQ(check_cut(problem, cut->inside), cut->time);
  // An NPU's links of both dimensions together would allow less: the slow ones alone do not count.
  EXPECT_LT(best_cheap_bound(problem).time, cut->time);
}

/// NPUs 0 and 1 on one switch, 2 and 3 on another; 25 GB/s between the switches, 50 GB/s else.
Topology two_switches(SwitchProperties properties) {
  TopologyBuilder builder(4);
  const VertexId left = builder.add_switch(properties);
  const VertexId right = builder.add_switch(properties);
  for (std::uint32_t npu = 0; npu < 4; ++npu)
    builder.add_link_pair({VertexId(npu), npu < 2 ? left : right, support::kAlpha, support::kBandwidth});
  builder.add_link_pair({left, right, support::kAlpha, gigabytes_per_second(25)});
  return std::move(builder).build().value();
}

TEST(CutThroughBound, OfTwoSwitchesIsTheLinkBetweenThem) {
  // A chunk takes 40 us on the link between the switches, and three alphas to pass all links. All-Gather: 2 chunks each
  // way, 81.5 us; All-to-All: 4, 161.5 us. All-Reduce of 4 chunks: each crosses both ways.
  for (const auto properties : {kCutThrough, kInNetwork}) {
    const Topology topology = wired(two_switches(properties));
    EXPECT_EQ(cut_through_bound(topology, of_chunks(all_gather, 4)), nanoseconds(81'500));
    EXPECT_EQ(cut_through_bound(topology, of_chunks(all_to_all, 4)), nanoseconds(161'500));
    EXPECT_EQ(cut_through_bound(topology, of_chunks(all_reduce, 4)), nanoseconds(161'500));
    // 1.5 us and the slowest link's 40 us once, not 20 + 40 + 20.
    EXPECT_EQ(arrival_times(topology.wires()->network(), VertexId(0), bytes(1'000'000))[2], nanoseconds(41'500));
    EXPECT_EQ(arrival_times(topology.wires()->network(), VertexId(0), bytes(1'000'000))[1], microseconds(21));
  }
}

TEST(CutThroughBound, OfAnAllReduceInTheNetworkIsTheBufferOnce) {
  // SW(n) that adds and copies, c chunks per NPU: each chunk goes up once from every NPU and down once to every NPU, n
  // * c chunk times and two alphas. Switches that only add, or only copy, need 2(n-1) of n: those that add save
  // arrivals, not sends.
  for (const std::int64_t n : {2, 8}) {
    const auto name = "SW(" + std::to_string(n) + ")";
    const Collective all = of_chunks(all_reduce, n, 4);
    EXPECT_EQ(cut_through_bound(wired(name.c_str(), kInNetwork), all), microseconds(4 * n * 20 + 1)) << n;
    for (const bool copy : {true, false}) {
      SwitchProperties properties = kCutThrough;
      (copy ? properties.copy : properties.reduce) = true;
      EXPECT_EQ(cut_through_bound(wired(name.c_str(), properties), all), microseconds(4 * 2 * (n - 1) * 20 + 1))
          << n << copy;
    }
  }
}

/// Vertices in a ring with more links; switches of any kind.
Topology random_network() {
  const auto npus = *rc::gen::inRange<std::uint32_t>(2, 6);
  const auto switches = *rc::gen::inRange<std::uint32_t>(1, 5);
  const auto vertices = npus + switches;
  TopologyBuilder builder(npus);
  for (std::uint32_t s = 0; s < switches; ++s)
    builder.add_switch({.copy = *rc::gen::arbitrary<bool>(),
                        .reduce = *rc::gen::arbitrary<bool>(),
                        .forwarding = *rc::gen::element(Forwarding::cut_through, Forwarding::cut_through,
                                                        Forwarding::store_and_forward)});
  const auto place = support::random_ranks(vertices, vertices);
  const auto link = [&](std::uint32_t from, std::uint32_t to) {
    return Link{VertexId(place[from % vertices]), VertexId(place[to % vertices]),
                nanoseconds(*rc::gen::element<std::int64_t>(0, 500, 30'000)),
                gigabytes_per_second(*rc::gen::element<std::int64_t>(25, 50, 300))};
  };
  for (std::uint32_t v = 0; v < vertices; ++v) builder.add_link_pair(link(v, v + 1));
  for (auto more = *rc::gen::inRange<std::uint32_t>(0, vertices); more > 0; --more) {
    const auto from = *rc::gen::inRange<std::uint32_t>(0, vertices);
    builder.add_link(link(from, from + *rc::gen::inRange<std::uint32_t>(1, vertices)));
  }
  return std::move(builder).build().value();
}

RC_GTEST_PROP(CutThroughBoundProperties, NoneIsAboveAGreedy, ()) {
  const Topology topology = wired(random_network());
  const auto npus = static_cast<std::uint32_t>(topology.npus());
  const auto collective = support::random_collective(npus, kAllKinds, {1'000'000, 3'000'000, 70'000}, 2);
  const auto occupancy = *rc::gen::element(Occupancy::serialization, Occupancy::transfer);
  const Instance instance{topology, collective, occupancy};
  SimTime best = SimTime::max();
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const auto verdict = verify(instance, support::greedy_over_switches(instance, seed));
    if (!verdict.valid()) RC_FAIL(verdict.findings.front().message);
    best = std::min(best, verdict.collective_time);
  }
  for (const bool single_chunks : {true, false}) RC_ASSERT(compare({instance, true, single_chunks}, best).wrong == "");
}

/// Stars, and pairs of stars: the greedy comes near the optimum there, with and without copies and sums.
RC_GTEST_PROP(CutThroughBoundProperties, OfStarsAreNearAGreedy, ()) {
  const SwitchProperties properties{.copy = *rc::gen::arbitrary<bool>(),
                                    .reduce = *rc::gen::arbitrary<bool>(),
                                    .forwarding = Forwarding::cut_through};
  const auto npus = *rc::gen::inRange<std::int64_t>(2, 6);
  const bool two = *rc::gen::arbitrary<bool>();
  const Topology topology =
      two ? wired(two_switches(properties)) : wired(("SW(" + std::to_string(npus) + ")").c_str(), properties);
  const auto kind = *rc::gen::element(all_gather, reduce_scatter, all_to_all);
  const Collective collective = of_chunks(kind, two ? 4 : npus, *rc::gen::inRange<std::int64_t>(1, 4));
  const auto occupancy = *rc::gen::element(Occupancy::serialization, Occupancy::transfer);
  const Instance instance{topology, collective, occupancy};
  SimTime best = SimTime::max();
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const auto verdict = verify(instance, support::greedy_over_switches(instance, seed));
    if (!verdict.valid()) RC_FAIL(verdict.findings.front().message);
    best = std::min(best, verdict.collective_time);
  }
  const auto compared = compare({instance}, best);
  RC_ASSERT(compared.wrong == "");
  RC_ASSERT(3 * compared.largest >= best);
}

// The distance from holder to holder is that over the wires, or less where a path with more links is faster.
RC_GTEST_PROP(CutThroughBoundProperties, DistancesAreThoseOfWires, ()) {
  const Topology network = random_network();
  const Topology topology = wired(network);
  const Bytes size = bytes(*rc::gen::element<std::int64_t>(0, 70'000, 1'000'000));
  for (std::uint32_t npu = 0; npu < network.npus(); ++npu) {
    const auto there = arrival_times(network, VertexId(npu), size);
    const auto over_wires = arrival_times(topology, VertexId(npu), size);
    for (std::uint32_t to = 0; to < network.npus(); ++to) RC_ASSERT(there[to] <= over_wires[to]);
  }
}

}  // namespace
}  // namespace tenex
