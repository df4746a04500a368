// Pairs links with their opposites, tested through All-Reduce: one gather if all links have an opposite.
#include <gtest/gtest.h>

#include "support/topologies.hpp"
#include "support/verdicts.hpp"
#include "tenex/schedule/verifier/verifier.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {
namespace {

Synthesis all_reduce_on(const Topology& topology, Occupancy occupancy, std::int64_t chunks = 2) {
  const auto npus = topology.npus();
  const auto collective = support::collective(CollectiveKind::all_reduce, npus,
                                              bytes(1000 * static_cast<std::int64_t>(npus) * chunks), chunks);
  auto made = find_synthesizer("tacos")->synthesize({topology, collective, occupancy, {3, 2, "event_driven"}}).value();
  for (const Schedule& schedule : {made.schedule, made.without_overlap}) {
    const Verdict verdict = verify({topology, collective, occupancy}, schedule);
    EXPECT_TRUE(verdict.valid()) << support::first_finding(verdict);
    EXPECT_EQ(verdict.sends, 2 * collective.chunks() * (npus - 1));
  }
  EXPECT_LE(made.time, made.time_without_overlap);
  return made;
}

/// The sends of the first half, which has as many as the second.
std::vector<Send> first_half(const Synthesis& made) {
  auto sends = list_sends(made.without_overlap);
  sends.resize(sends.size() / 2);
  return sends;
}

TEST(OppositeLinks, MakeTheReductionTheMirrorOfTheGather) {
  for (const auto occupancy : {Occupancy::transfer, Occupancy::serialization})
    for (const auto& topology : {support::mesh(3, 3), support::ring(5), support::fully_connected(4),
                                 support::line3_heterogeneous(), support::shape("RI(2)_RI(2)")}) {
      const Synthesis made = all_reduce_on(topology, occupancy);
      EXPECT_EQ(made.time_without_overlap % SimTime::of(2), SimTime::zero());  // two halves, equally long
      std::vector<std::uint64_t> reduced(topology.links()), all(topology.links());
      for (const Send& send : first_half(made)) {
        EXPECT_EQ(send.stage, Stage::reduce);
        ++reduced[send.link.index()];
      }
      for (const Send& send : list_sends(made.without_overlap)) ++all[send.link.index()];
      for (std::size_t l = 0; l < topology.links(); ++l) {  // as many sends each way, counted over both directions
        std::uint64_t opposite = 0;
        for (const LinkId other : topology.out_links(topology.target(LinkId::at(l))))
          if (topology.target(other) == topology.source(LinkId::at(l))) opposite += reduced[other.index()];
        EXPECT_EQ(all[l] - reduced[l], opposite) << "link " << l;
      }
    }
}

TEST(OppositeLinks, AreNotNeeded) {
  // A directed cycle has no opposite links: reduction and gather are synthesized separately.
  std::vector<Link> cycle;
  for (std::uint32_t i = 0; i < 4; ++i)
    cycle.push_back({VertexId(i), VertexId((i + 1) % 4), support::kAlpha, support::kBandwidth});
  all_reduce_on(support::graph(4, cycle), Occupancy::transfer);
  // Links that are slower one way have none either.
  const std::vector<Link> lopsided{{VertexId(0), VertexId(1), nanoseconds(10), gigabytes_per_second(10)},
                                   {VertexId(1), VertexId(0), nanoseconds(10), gigabytes_per_second(20)}};
  all_reduce_on(support::graph(2, lopsided), Occupancy::serialization);
}

TEST(OppositeLinks, AreFoundAmongParallelLinksOfSeveralClasses) {
  TopologyBuilder builder(2);
  builder.add_link({VertexId(0), VertexId(1), nanoseconds(10), gigabytes_per_second(10)});
  builder.add_link({VertexId(0), VertexId(1), nanoseconds(10), gigabytes_per_second(20)});
  builder.add_link({VertexId(1), VertexId(0), nanoseconds(10), gigabytes_per_second(20)});
  builder.add_link({VertexId(1), VertexId(0), nanoseconds(10), gigabytes_per_second(10)});
  const Synthesis made = all_reduce_on(std::move(builder).build().value(), Occupancy::transfer, 6);
  EXPECT_EQ(made.time_without_overlap % SimTime::of(2), SimTime::zero());
}

TEST(Overlap, IsReTimedOrProvenToGainNothing) {
  // All NPUs send to all in one step, and back in another: no link is ever idle.
  EXPECT_EQ(all_reduce_on(support::fully_connected(4), Occupancy::transfer, 1).overlap_method, "no_gain");
  // A line of 3 with different speeds leaves gaps to be filled.
  const Synthesis uneven = all_reduce_on(support::line3_heterogeneous(), Occupancy::serialization, 4);
  EXPECT_EQ(uneven.overlap_method, "retimed");
}

}  // namespace
}  // namespace tenex
