// The window engine equals the reference simulator message by message, and neither depends on how vertices are
// numbered.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <string>

#include "simulation/against_reference.hpp"
#include "simulation/programs.hpp"
#include "support/collectives.hpp"
#include "support/draws.hpp"
#include "support/topologies.hpp"
#include "support/verdicts.hpp"
#include "tenex/base/random.hpp"
#include "tenex/schedule/verifier/verifier.hpp"
#include "tenex/topology/transform.hpp"

namespace tenex {
namespace {

using support::expect_equal_for_all_algorithms;
using support::expect_equal_to_reference;
using support::recording;
using support::some_delays;
using support::WanderingProgram;

TEST(WindowEngine, EqualsTheReferenceOnRandomTopologies) {
  const auto seeds = static_cast<std::uint64_t>(support::draws(20, 60));
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto topology = support::random_connected_topology(seed, 12, seed % 2 == 1);
    expect_equal_for_all_algorithms(topology, static_cast<std::int64_t>(1 + seed % 3), bytes(100'000));
    if (HasFailure()) return;
  }
}

TEST(WindowEngine, EqualsTheReferenceOnShapes) {
  for (const auto* shape : {"RI(7)", "FC(6)", "LI(3)_LI(4)", "RI(4)_RI(3)", "RI(4)_RI(4)", "SW(6)", "FC(8)",
                            "RI(3)_FC(2)_SW(2)", "SW(6,3)", "RI(2)_SW(8,4:2)", "SW(8,2,4:2)"}) {
    SCOPED_TRACE(shape);
    expect_equal_for_all_algorithms(support::shape(shape), 3, bytes(1'000'000));
    if (HasFailure()) return;
  }
}

TEST(WindowEngine, EqualsTheReferenceWhereMessagesHaveAnOverhead) {
  const auto costly = [](const Topology& topology, SimTime overhead) {
    return with_overhead(topology, overhead).value();
  };
  for (std::uint64_t seed = 0; seed < 8 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    expect_equal_for_all_algorithms(costly(support::random_connected_topology(seed, 9, true), nanoseconds(400)), 2,
                                    bytes(10'000));
  }
  for (const auto* shape : {"RI(4)_FC(3)", "SW(6)", "RI(3)_SW(4,2:2)"})
    for (const auto forwarding : {Forwarding::store_and_forward, Forwarding::virtual_cut_through}) {
      SCOPED_TRACE(shape);
      Random random(3, 0x6f766572);
      const auto topology = support::with_drawn_links(shape, random).with_switches({.forwarding = forwarding});
      expect_equal_for_all_algorithms(costly(topology, microseconds(1)), 2, bytes(30'000));
    }
}

constexpr SwitchProperties kEarly{.forwarding = Forwarding::virtual_cut_through};

TEST(WindowEngine, EqualsTheReferenceOverVirtualCutThrough) {
  for (const auto* shape :
       {"SW(6)", "RI(3)_FC(2)_SW(2)", "SW(6,3)", "RI(2)_SW(8,4:2)", "SW(8,2,4:2)", "leaf_spine(3,2,2)"}) {
    SCOPED_TRACE(shape);
    expect_equal_for_all_algorithms(support::shape(shape).with_switches(kEarly), 3, bytes(1'000'000));
    Random random(7, 0x766374);
    expect_equal_for_all_algorithms(support::with_drawn_links(shape, random).with_switches(kEarly), 2, bytes(100'000));
    if (HasFailure()) return;
  }
}

TEST(WindowEngine, EqualsTheReferenceOverVirtualCutThroughWithoutAlpha) {
  // A message then leaves a switch at the instant at which it takes the link there, and passes several at one instant.
  const auto none = picoseconds(0);
  for (const auto* shape : {"SW(5)", "SW(6,3)", "leaf_spine(3,2,2)"})
    for (const bool uneven : {false, true}) {
      SCOPED_TRACE(shape);
      std::vector<Bandwidth> speeds(parse_shape(shape)->dimensions(), gigabytes_per_second(50));
      if (uneven) speeds.back() = gigabytes_per_second(25);
      const auto topology = support::shape(shape, {none}, speeds).with_switches(kEarly);
      expect_equal_for_all_algorithms(topology, 2, bytes(36'000));
      if (HasFailure()) return;
    }
}

TEST(WindowEngine, GivesValidSchedulesOverVirtualCutThrough) {
  for (std::uint64_t seed = 0; seed < 60 && !HasFailure(); ++seed) {
    Random random(seed, 0x7663);
    const char* const shapes[] = {"SW(5)", "SW(6,3)", "RI(3)_SW(2)", "leaf_spine(3,2,2)"};
    const auto topology = support::with_drawn_links(shapes[random.below(4)], random).with_switches(kEarly);
    const auto storing = topology.with_switches(SwitchProperties{});
    const CollectiveKind kinds[] = {CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
                                    CollectiveKind::all_reduce, CollectiveKind::all_to_all};
    const auto collective = support::collective(kinds[random.below(4)], topology.npus(), bytes(360'000), 2);
    const auto occupancy = support::kOccupancies[random.below(2)];
    SCOPED_TRACE("seed " + std::to_string(seed));
    for (const char* algorithm : {"direct", "ring"}) {
      const auto program = support::program_if_defined(*find_algorithm(algorithm), topology, collective);
      if (!program) continue;
      const auto recorded = simulate(topology, collective, *program, recording(occupancy)).value();
      const auto verdict = verify({topology, collective, occupancy}, recorded.sends);
      ASSERT_TRUE(verdict.valid()) << algorithm << ": " << support::first_finding(verdict);
      ASSERT_EQ(verdict.collective_time, recorded.finish);
      const auto replayed = replay(topology, collective, recorded.sends, Replay::timed, recording(occupancy)).value();
      ASSERT_EQ(list_sends(replayed.sends), list_sends(recorded.sends)) << algorithm;
      // In the order of a run over switches that store, nothing is later than there.
      const auto stored = simulate(storing, collective, *program, recording(occupancy)).value();
      ASSERT_LE(replay(topology, collective, stored.sends, Replay::as_soon_as_possible, recording(occupancy))->finish,
                stored.finish);
    }
  }
}

TEST(WindowEngine, EqualsTheReferenceForGroupsOfDifferentSizes) {
  // Different group sizes make different chunk sizes, so messages that share a link differ in length.
  expect_equal_for_all_algorithms(support::mesh(3, 3), 2, bytes(500'000), "0,1,2,8; 3-7");
}

TEST(WindowEngine, EqualsTheReferenceForMixturesWhoseGroupsShareNpus) {
  for (std::uint64_t seed = 0; seed < 200 && !HasFailure(); ++seed) {
    Random random(seed, 0x6d69);
    const auto topology = seed % 3 == 0 ? support::shape(seed % 2 == 0 ? "RI(4)_SW(2)" : "LI(2)_RI(3)")
                                        : support::random_connected_topology(seed, 9, seed % 3 == 1);
    const auto npus = static_cast<std::uint32_t>(topology.npus());
    const auto groups = support::drawn_groups(npus, random);
    SCOPED_TRACE(groups + ", seed " + std::to_string(seed));
    const auto collective = support::any_collective(CollectiveKind::mixed, npus, bytes(300'000), 2, groups, seed);
    const auto program = support::program_of("direct", topology, collective);
    const auto occupancy = support::kOccupancies[random.below(2)];
    expect_equal_to_reference(topology, collective, *program, occupancy);
    expect_equal_to_reference(topology, collective, *program, occupancy, some_delays(topology, seed));
    const auto recorded = simulate(topology, collective, *program, recording(occupancy)).value();
    const auto verdict = verify({topology, collective, occupancy}, recorded.sends);
    ASSERT_TRUE(verdict.valid()) << support::first_finding(verdict);
    ASSERT_EQ(verdict.waste, 0U);
    ASSERT_EQ(verdict.collective_time, recorded.finish);
    const auto replayed = replay(topology, collective, recorded.sends, Replay::timed, recording(occupancy)).value();
    ASSERT_EQ(list_sends(replayed.sends), list_sends(recorded.sends));
    SimulationOptions unaware;
    unaware.occupancy = occupancy;
    unaware.backend = Backend::congestion_unaware;
    ASSERT_LE(simulate(topology, collective, *program, unaware)->finish, recorded.finish);
  }
}

TEST(WindowEngine, EqualsTheReferenceWhereBystandersStartLate) {
  // Bystanders forward messages of others from their start on, and have no part in the program.
  const auto topology = support::ring(6);
  for (const auto* groups : {"0-3", "1,3,5", "0,1; 3,4"})
    for (const auto& algorithm : algorithms())
      for (const auto kind : algorithm.collectives) {
        const auto collective = support::any_collective(kind, topology.npus(), bytes(1'000'000), 3, groups);
        const auto program = support::program_if_defined(algorithm, topology, collective);
        if (!program) continue;
        SCOPED_TRACE(std::string(algorithm.name) + " " + std::string(to_string(kind)) + " " + groups);
        for (std::uint64_t seed = 0; seed < 10; ++seed)
          expect_equal_to_reference(topology, collective, *program, Occupancy::serialization,
                                    some_delays(topology, seed));
        if (HasFailure()) return;
      }
}

TEST(WindowEngine, EqualsTheReferenceWhereLinksDifferAMillionfold) {
  // The slow link's arrivals lie far beyond the calendar's ring and wait in its heap.
  const auto fast = gigabytes_per_second(400);
  const auto slow = bytes_per_second(400'000);
  const auto topology = support::graph(4, {{VertexId(0), VertexId(1), picoseconds(0), fast},
                                           {VertexId(1), VertexId(2), picoseconds(0), slow},
                                           {VertexId(2), VertexId(3), picoseconds(1), fast},
                                           {VertexId(3), VertexId(0), picoseconds(0), fast},
                                           {VertexId(0), VertexId(2), microseconds(3000), fast}});
  expect_equal_for_all_algorithms(topology, 3, bytes(24));
}

TEST(WindowEngine, HandlesSimultaneousArrivalsLikeTheReference) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    // All links alike, so many messages arrive at the same time.
    const auto topology = seed % 2 == 0 ? support::torus(4, 4) : support::shape("FC(4)_SW(4)");
    const auto collective = support::collective(CollectiveKind::all_gather, 16, bytes(16'000'000), 2);
    const WanderingProgram program(16, 30, seed);
    for (const auto occupancy : support::kOccupancies) {
      expect_equal_to_reference(topology, collective, program, occupancy);
      expect_equal_to_reference(topology, collective, program, occupancy, some_delays(topology, seed));
    }
    if (HasFailure()) return;
  }
}

// The same network with its vertices renamed: NPU v becomes name[v], links keep their order.
Topology renamed(const Topology& topology, const std::vector<std::uint32_t>& name) {
  std::vector<Link> links;
  for (std::uint32_t l = 0; l < topology.links(); ++l) {
    auto link = topology.link(LinkId(l));
    link.source = VertexId(name[link.source.index()]);
    link.target = VertexId(name[link.target.index()]);
    links.push_back(link);
  }
  return support::graph(topology.npus(), links);
}

Collective in_order(CollectiveKind kind, const std::vector<std::uint32_t>& members) {
  CollectiveRequest request;
  request.kind = kind;
  request.npus = members.size();
  request.groups.emplace_back();
  for (const auto member : members) request.groups[0].members.emplace_back(member);
  request.chunks = 2;
  request.size = bytes(1'000'000);
  return Collective::make(std::move(request)).value();
}

TEST(WindowEngine, DoesNotCareHowNpusAreNumbered) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto topology = support::random_connected_topology(seed, 10, false);
    std::vector<std::uint32_t> same(topology.npus());
    std::iota(same.begin(), same.end(), 0U);
    auto name = same;
    Random random(seed, 7);
    random.shuffle(std::span(name));
    const auto other = renamed(topology, name);
    const auto plain = renamed(topology, same);
    for (const auto& algorithm : algorithms())
      for (const auto kind : support::kGathersAndSums) {
        const auto defined = [&](const Topology& network, const std::vector<std::uint32_t>& members) {
          return support::program_if_defined(algorithm, network, in_order(kind, members)) != nullptr;
        };
        if (!defined(plain, same) || !defined(other, name)) continue;
        const auto a = support::run(algorithm.name, plain, in_order(kind, same));
        const auto b = support::run(algorithm.name, other, in_order(kind, name));
        ASSERT_EQ(a.finish, b.finish) << algorithm.name << ", seed " << seed;
        ASSERT_EQ(a.hops, b.hops);
      }
  }
}

TEST(WindowEngine, GivesARotatedRingTheSameTimesOnEveryLink) {
  const auto ring = support::ring(9);
  for (const auto kind : support::kGathersAndSums) {
    std::vector<std::uint32_t> same(9);
    std::iota(same.begin(), same.end(), 0U);
    const auto expected = support::run("direct", ring, in_order(kind, same));
    for (std::uint32_t shift = 1; shift < 9; ++shift) {
      auto rotated = same;
      std::rotate(rotated.begin(), rotated.begin() + shift, rotated.end());
      EXPECT_EQ(support::run("direct", ring, in_order(kind, rotated)).finish, expected.finish);
    }
    // By symmetry all links of a direction carry the same load.
    for (std::uint32_t v = 0; v < 9; ++v)
      for (const auto link : ring.out_links(VertexId(v)))
        EXPECT_EQ(expected.links[link.index()].bytes, expected.links[0].bytes);
  }
}

}  // namespace
}  // namespace tenex
