// Hop times, arrival times and the latency diameter.
#include "tenex/topology/distance.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/topologies.hpp"
#include "tenex/topology/transform.hpp"
#include "topology/neighbours.hpp"

namespace tenex {
namespace {

using support::shape;
using ::testing::ElementsAre;

constexpr LinkClass kLink{microseconds(1), gigabytes_per_second(4)};

TEST(Timing, SerializationOccupiesTheLinkForTheSizeOnly) {
  // 4,000 B at 4 GB/s take 1 us.
  EXPECT_EQ(hop_time(kLink, bytes(4'000), Occupancy::serialization), (HopTime{microseconds(1), microseconds(2)}));
}

TEST(Timing, TransferOccupiesTheLinkUntilTheArrival) {
  EXPECT_EQ(hop_time(kLink, bytes(4'000), Occupancy::transfer), (HopTime{microseconds(2), microseconds(2)}));
}

TEST(Timing, LatenciesBeyondTheRangeOfTimeSaturate) {
  // 2^62 B at 1 B/s would be 4.6e30 ps.
  const LinkClass slow{microseconds(1), bytes_per_second(1)};
  EXPECT_EQ(hop_time(slow, bytes(std::int64_t{1} << 62), Occupancy::transfer),
            (HopTime{SimTime::max(), SimTime::max()}));
}

TEST(Timing, TablesAgreeWithTheFormula) {
  const Topology line = support::line3_heterogeneous();
  const std::vector<Bytes> sizes{bytes(1'000), kibibytes(3)};
  const HopTimes table(line, sizes, Occupancy::transfer);
  for (std::uint32_t i = 0; i < 4; ++i) {
    for (std::size_t s = 0; s < 2; ++s) {
      EXPECT_EQ(table.at(line.class_of(LinkId(i)), s),
                hop_time({line.alpha(LinkId(i)), line.bandwidth(LinkId(i))}, sizes[s], Occupancy::transfer));
    }
  }
}

TEST(Distance, AddsAlphaAndSerializationPerHop) {
  // 4,000 B: 0-1 takes 1 us + 1 us; 1-2 takes 2 us + 4 us.
  const Topology line = support::line3_heterogeneous();
  EXPECT_THAT(arrival_times(line, VertexId(0), bytes(4'000)),
              ElementsAre(SimTime::zero(), microseconds(2), microseconds(8)));
  EXPECT_THAT(arrival_times(line, VertexId(2), bytes(4'000)),
              ElementsAre(microseconds(8), microseconds(6), SimTime::zero()));
}

TEST(Distance, PrefersAFastDetour) {
  // 0 -> 1 direct takes 10 us; by way of 2 it takes 2 * 1 us. Alphas only.
  const auto link = [](std::uint32_t from, std::uint32_t to, std::int64_t alpha) {
    return Link{VertexId(from), VertexId(to), microseconds(alpha), gigabytes_per_second(1)};
  };
  const Topology detour = support::graph(3, {link(0, 1, 10), link(0, 2, 1), link(2, 1, 1)});
  EXPECT_THAT(arrival_times(detour, VertexId(0), Bytes::zero()),
              ElementsAre(SimTime::zero(), microseconds(2), microseconds(1)));
}

TEST(Distance, CountsSwitchesAsHops) {
  // SW(2), 500 ns and 50 GB/s: 50,000 B take 1.5 us to the switch and again to the other NPU.
  EXPECT_THAT(arrival_times(shape("SW(2)"), VertexId(0), bytes(50'000)),
              ElementsAre(SimTime::zero(), nanoseconds(3'000), nanoseconds(1'500)));
}

TEST(Distance, MarksTheUnreachable) {
  const Topology oneway = support::graph(2, {{VertexId(0), VertexId(1), support::kAlpha, support::kBandwidth}});
  EXPECT_THAT(arrival_times(oneway, VertexId(1), bytes(1)), ElementsAre(SimTime::max(), SimTime::zero()));
  EXPECT_EQ(latency_diameter(oneway), SimTime::max());
}

TEST(Distance, EndsWhereTimesDoNotFit) {
  // 2^62 B at 1 B/s: the first hop saturates, and so does every further one. Both searches look at each NPU once.
  const Bytes huge = bytes(std::int64_t{1} << 62);
  const Topology slow = shape("RI(4)", {SimTime::zero()}, {bytes_per_second(1)});
  EXPECT_THAT(arrival_times(slow, VertexId(0), huge),
              ElementsAre(SimTime::zero(), SimTime::max(), SimTime::max(), SimTime::max()));
  const Topology mixed = shape("RI(2)_LI(2)", {SimTime::zero()}, {bytes_per_second(1), bytes_per_second(2)});
  EXPECT_THAT(arrival_times(mixed, VertexId(0), huge),
              ElementsAre(SimTime::zero(), SimTime::max(), SimTime::max(), SimTime::max()));
}

TEST(Diameter, AddsTheDimensionsOfAShape) {
  // mesh(10,10): 9 + 9 hops of 500 ns.
  EXPECT_EQ(latency_diameter(shape("mesh(10,10)")), microseconds(9));
  // torus(4,4,4): 2 + 2 + 2 hops.
  EXPECT_EQ(latency_diameter(shape("torus(4,4,4)")), microseconds(3));
  // RI(5): 2 hops either way. hypercube(3): 3 hops.
  EXPECT_EQ(latency_diameter(shape("RI(5)")), microseconds(1));
  EXPECT_EQ(latency_diameter(shape("hypercube(3)")), nanoseconds(1'500));
  EXPECT_EQ(latency_diameter(shape("LI(1)")), SimTime::zero());
}

TEST(Diameter, CountsTwoHopsOfItsAlphaPerSwitchDimension) {
  // RI(4)_FC(8)_SW(8) with 1, 2 and 3 us: 2*1 + 1*2 + 2*3 = 10 us.
  EXPECT_EQ(latency_diameter(shape("RI(4)_FC(8)_SW(8)", {microseconds(1), microseconds(2), microseconds(3)})),
            microseconds(10));
}

TEST(Diameter, IsSearchedForWhereThereIsNoProduct) {
  EXPECT_EQ(latency_diameter(support::line3_heterogeneous()), microseconds(3));
  // dragonfly(4,5) with 1 us inside and 10 us between groups: from 1 by 0 and 7 to 4, 1 + 10 + 1.
  EXPECT_EQ(latency_diameter(shape("dragonfly(4,5)", {microseconds(1), microseconds(10)})), microseconds(12));
  // RI(6) without one pair of links is a line of six: 5 hops.
  EXPECT_EQ(latency_diameter(remove_links(shape("RI(6)"), {{VertexId(0), VertexId(1)}}).value()), nanoseconds(2'500));
}

TEST(Diameter, OfADragonflyTakesOneSearchPerNpuOfAGroup) {
  // 16 NPUs in each of 200 groups, 1 us inside and 2 us between: at worst 1 + 2 + 1. All 3,200 searches would look
  // at 2.8e8 links; 16 of them look at 16 * (3,200 * 15 + 200 * 199) = 1,404,800.
  const Topology large = shape("dragonfly(16,200)", {microseconds(1), microseconds(2)});
  EXPECT_EQ(latency_diameter_within(large, 1'404'800), microseconds(4));
  EXPECT_EQ(latency_diameter_within(large, 1'404'799), std::nullopt);
}

TEST(Diameter, IsAbsentWhereTheSearchWouldTakeTooLong) {
  // RI(6) without a pair of links has 10: 6 searches look at 60.
  const Topology line = remove_links(shape("RI(6)"), {{VertexId(0), VertexId(1)}}).value();
  EXPECT_EQ(latency_diameter_within(line, 60), nanoseconds(2'500));
  EXPECT_EQ(latency_diameter_within(line, 59), std::nullopt);
  // The diameter by dimension needs no search.
  EXPECT_EQ(latency_diameter_within(shape("RI(6)"), 0), nanoseconds(1'500));
}

TEST(Diameter, DoesNotTrustADragonflyWhoseLinksDiffer) {
  // A declared dragonfly(2,2): 0-1 and 2-3 inside, 0-2 between. With 2-3 at 9 us the farthest pair is 1 and 3, which a
  // search from the first group alone need not find: 1 + 1 + 9.
  TopologyBuilder builder(4);
  builder.add_link_pair({VertexId(0), VertexId(1), microseconds(1), gigabytes_per_second(1)});
  builder.add_link_pair({VertexId(2), VertexId(3), microseconds(9), gigabytes_per_second(1)});
  builder.add_link_pair({VertexId(0), VertexId(2), microseconds(1), gigabytes_per_second(1)});
  builder.declare_shape(parse_shape("dragonfly(2,2)").value());
  const Topology declared = std::move(builder).build().value();
  EXPECT_EQ(latency_diameter(declared), microseconds(11));
  // Four searches over 6 links, not two.
  EXPECT_EQ(latency_diameter_within(declared, 23), std::nullopt);
}

TEST(Diameter, DoesNotTrustADeclaredADeclaredShapeWhoseLinksDiffer) {
  // A declared RI(4) with one slow pair 0-1: the other way round from 0 to 1 takes 3 hops of 1 us.
  TopologyBuilder builder(4);
  for (std::uint32_t i = 0; i < 4; ++i) {
    builder.add_link_pair({VertexId(i), VertexId((i + 1) % 4), microseconds(i == 0 ? 50 : 1), gigabytes_per_second(1)});
  }
  builder.declare_shape(parse_shape("RI(4)").value());
  EXPECT_EQ(latency_diameter(std::move(builder).build().value()), microseconds(3));
}

}  // namespace
}  // namespace tenex
