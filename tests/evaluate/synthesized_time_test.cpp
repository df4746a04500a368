// Collectives of training on their own dimensions, alone and concurrent.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "evaluate/points.hpp"
#include "evaluate/synthesized_networks.hpp"
#include "training/group_network.hpp"
#include "training/synthesized_time.hpp"

namespace tenex {
namespace {

using support::gather;
using support::SynthesizedNetwork;

TEST(SynthesizedTime, TimesAGatherOverOneDimension) {
  SynthesizedNetwork given("RI(2)_RI(2)");
  const auto model = make_synthesized_time(given.network(), false).value();
  // RI(2) has one link each way with all of 2 GB/s: 1000 bytes take 500 ns.
  EXPECT_EQ(model->time(gather(Scope::tensor, 2000), given.mapping("2,2")).value(), nanoseconds(500));
  EXPECT_EQ(model->name(), "synthesized");
  EXPECT_EQ(model->effort().collectives, 1);
  EXPECT_EQ(model->effort().verified, 1);
  EXPECT_GT(model->effort().memory_planned_bytes, 0);
}

TEST(SynthesizedTime, CountsEqualCollectivesOnce) {
  SynthesizedNetwork given("RI(2)_RI(2)");
  const auto model = make_synthesized_time(given.network(), false).value();
  const auto mapping = given.mapping("2,2");
  for (int again = 0; again < 3; ++again) ASSERT_TRUE(model->time(gather(Scope::tensor, 2000), mapping).ok());
  EXPECT_EQ(model->effort().collectives, 1);
  ASSERT_TRUE(model->time(gather(Scope::tensor, 4000), mapping).ok());
  EXPECT_EQ(model->effort().collectives, 2);
}

TEST(SynthesizedTime, TakesTheSameTimeAsAllGroupsOnTheWholeNetwork) {
  // Groups on consecutive NPUs keep to their dimensions, so the whole network's point takes as long as one copy.
  for (const std::string algorithm : {"direct", "ring"}) {
    SynthesizedNetwork given("RI(4)_FC(3)_SW(2)", algorithm, nanoseconds(100));
    const auto model = make_synthesized_time(given.network(), false).value();
    const auto whole = support::row_of(support::point({{"topology", "RI(4)_FC(3)_SW(2)"},
                                                       {"alpha", "100ns"},
                                                       {"npu_bandwidth", "2GB/s"},
                                                       {"groups", "0-11; 12-23"},
                                                       {"size", "12000B"},
                                                       {"algorithm", algorithm}}));
    EXPECT_EQ(model->time(gather(Scope::tensor, 12000), given.mapping("12,2")).value().count(),
              whole.collective_time_ps)
        << algorithm;
  }
}

TEST(SynthesizedTime, SendsAStagesMessageOverTheSlowestBoundary) {
  SynthesizedNetwork given("RI(4)_RI(4)", "tacos", nanoseconds(500));
  const auto model = make_synthesized_time(given.network(), false).value();
  const Communication message{TrafficKind::point_to_point, bytes(1000), Scope::pipeline};
  // A ring's link has 1 GB/s: a hop takes 0.5 + 1 us. Eight stages take the outer half of dimension 1 (NPUs 0 and 2)
  // and all of dimension 2; where the digit of dimension 1 carries over, the way is 2 hops back and 1 on.
  EXPECT_EQ(model->time(message, given.mapping("1,2,8")).value(), nanoseconds(4500));
  // Four stages over dimension 2: one hop.
  EXPECT_EQ(model->time(message, given.mapping("1,4,4")).value(), nanoseconds(1500));
}

TEST(SynthesizedTime, SendsSmallMessagesInFewerChunks) {
  SynthesizedNetwork given("RI(4)_RI(4)", "ring_unidirectional");
  given.point.chunks = 64;
  const auto model = make_synthesized_time(given.network(), false).value();
  // 8 bytes among 4 NPUs are 2 chunks of 1 byte for each at most; 1 byte is padded to 4. A byte takes a ring's link 1
  // ns, 3 hops one after the other: with 2 chunks 6 ns.
  EXPECT_EQ(model->time(gather(Scope::tensor, 8), given.mapping("4,4")).value(), nanoseconds(6));
  EXPECT_EQ(model->time(gather(Scope::tensor, 1), given.mapping("4,4")).value(), nanoseconds(3));
}

TEST(SynthesizedTime, AddsUpStreamsThatShareNoDimension) {
  SynthesizedNetwork given("RI(2)_RI(2)");
  const auto model = make_synthesized_time(given.network(), true).value();
  EXPECT_TRUE(model->contends());
  const std::vector<Communication> tensor(2, gather(Scope::tensor, 2000));
  const std::vector<Communication> data{gather(Scope::data, 4000)};
  // Two gathers of 500 ns; one of 1000 ns that begins at 100 ns.
  EXPECT_EQ(model->concurrent(tensor, data, nanoseconds(100), given.mapping("2,2")).value(),
            (ConcurrentEnds{nanoseconds(1000), nanoseconds(1100)}));
}

TEST(SynthesizedTime, LetsStreamsOnTheSameLinksTakeTurns) {
  // SW(4): every NPU has one link into the switch and one out of it, 2 GB/s each. TP pairs 0-1 and 2-3, DP pairs 0-2
  // and 1-3: each NPU sends 1000 bytes in both, over the same two links, 500 ns each. The first takes 0-500 and
  // 500-1000, the second follows on both links: 500-1000 and 1000-1500.
  SynthesizedNetwork given("SW(4)", "direct");
  const auto model = make_synthesized_time(given.network(), true).value();
  const std::array tensor{gather(Scope::tensor, 2000)};
  const std::array data{gather(Scope::data, 2000)};
  const auto mapping = given.mapping("2,2");
  EXPECT_EQ(model->time(tensor[0], mapping).value(), nanoseconds(1000));
  EXPECT_EQ(model->time(data[0], mapping).value(), nanoseconds(1000));
  EXPECT_EQ(model->concurrent(tensor, data, SimTime::zero(), mapping).value(),
            (ConcurrentEnds{nanoseconds(1000), nanoseconds(1500)}));
  EXPECT_EQ(model->effort().collectives, 3);  // two alone, one joint replay
  EXPECT_EQ(model->effort().verified, 3);
}

TEST(SynthesizedTime, AddsUpStreamsWithLinksOfTheirOwnInOneDimension) {
  // TP pairs 0-1 and 2-3 of FC(4), DP pairs 0-2 and 1-3: each pair has its own link of 2/3 GB/s each way, 1000 bytes
  // take 1.5 us.
  SynthesizedNetwork given("FC(4)", "direct");
  given.bandwidth = {gigabytes_per_second(2)};
  const auto model = make_synthesized_time(given.network(), true).value();
  const std::array tensor{gather(Scope::tensor, 2000), gather(Scope::tensor, 2000)};
  const std::array data{gather(Scope::data, 2000)};
  const auto ends = model->concurrent(tensor, data, nanoseconds(100), given.mapping("2,2")).value();
  // ceil(1000e12 / 666,666,666) = 1,500,001 ps; the first stream takes it twice.
  EXPECT_EQ(ends, (ConcurrentEnds{picoseconds(3'000'002), picoseconds(1'600'001)}));
  EXPECT_EQ(model->effort().verified, 1);
}

TEST(SynthesizedTime, IgnoresTheOtherStreamWithoutContention) {
  SynthesizedNetwork given("SW(4)", "direct");
  const auto model = make_synthesized_time(given.network(), false).value();
  const std::array tensor{gather(Scope::tensor, 2000)};
  const std::array data{gather(Scope::data, 2000)};
  EXPECT_FALSE(model->contends());
  EXPECT_EQ(model->concurrent(tensor, data, SimTime::zero(), given.mapping("2,2")).value(),
            (ConcurrentEnds{nanoseconds(1000), nanoseconds(1000)}));
}

TEST(SynthesizedTime, SpreadsSchedulesOverTheCopiesOfTheirDimensions) {
  // TP takes dimension 1 and half of dimension 2, DP the other half and dimension 3: joint on all three, where TP's
  // dimensions have 2 copies and DP's 4. Every replayed part is verified against all groups at once.
  for (const std::string shape : {"RI(4)_RI(4)_FC(2)", "FC(4)_LI(4)_SW(2)", "SW(4)_SW(4)_RI(2)"})
    for (const std::string algorithm : {"tacos", "direct", "ring", "auto"}) {
      SynthesizedNetwork given(shape, algorithm, nanoseconds(50));
      const auto model = make_synthesized_time(given.network(), true).value();
      const auto mapping = given.mapping("8,4");
      const std::array tensor{Communication{TrafficKind::all_reduce, bytes(16000), Scope::tensor}};
      const std::array data{Communication{TrafficKind::all_reduce, bytes(8000), Scope::data},
                            Communication{TrafficKind::all_gather, bytes(4000), Scope::data}};
      const auto ends = model->concurrent(tensor, data, nanoseconds(300), mapping);
      ASSERT_TRUE(ends.ok()) << shape << ' ' << algorithm << ' ' << to_string(ends.errors());
      EXPECT_GE(ends->first, model->time(tensor[0], mapping).value());
      EXPECT_GE(ends->second,
                nanoseconds(300) + model->time(data[0], mapping).value() + model->time(data[1], mapping).value());
      EXPECT_EQ(model->effort().collectives, 4);
      EXPECT_EQ(model->effort().verified, 4);
    }
}

TEST(SynthesizedTime, IsTheSameCachedOrNotAndForAnyThreads) {
  std::vector<ConcurrentEnds> all;
  SynthesizedNetwork given("RI(4)_RI(4)", "tacos", nanoseconds(50));
  const std::array tensor{Communication{TrafficKind::all_reduce, bytes(16000), Scope::tensor}};
  const std::array data{Communication{TrafficKind::all_reduce, bytes(8000), Scope::data}};
  for (const bool cached : {true, true, false})
    for (const int threads : {1, 3}) {
      given.options.threads = threads;
      const auto model = make_synthesized_time(given.network(cached), true).value();
      all.push_back(model->concurrent(tensor, data, nanoseconds(10), given.mapping("8,2")).value());
      EXPECT_EQ(model->effort().collectives, 1);
      EXPECT_EQ(model->effort().verified, 1);
      EXPECT_EQ(all.back(), all.front());
    }
}

TEST(SynthesizedTime, TellsEqualSizesOfDifferentDimensionsApart) {
  SynthesizedNetwork given("RI(2)_RI(2)_RI(2)");
  given.bandwidth = {gigabytes_per_second(2), gigabytes_per_second(1), gigabytes_per_second(1)};
  const auto model = make_synthesized_time(given.network(), false).value();
  const auto mapping = given.mapping("2,2,2");
  EXPECT_EQ(model->time(gather(Scope::tensor, 2000), mapping).value(), nanoseconds(500));
  EXPECT_EQ(model->time(gather(Scope::data, 2000), mapping).value(), nanoseconds(1000));
}

TEST(SynthesizedTime, RefusesWhatDoesNotFitWithItsBytes) {
  SynthesizedNetwork given("RI(16)_RI(16)");
  given.options.memory_limit_bytes = 100'000;
  const auto model = make_synthesized_time(given.network(), false).value();
  const auto made = model->time(gather(Scope::world, 1 << 20), given.mapping("16,16"));
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.errors().front().fault, Fault::resource);
  EXPECT_NE(made.errors().front().why.find("100000 bytes"), std::string::npos);
}

TEST(SynthesizedTime, RefusesANetworkWithoutLatencyOrChunks) {
  SynthesizedNetwork given("RI(4)");
  given.point.topology.links.alpha.clear();
  EXPECT_FALSE(make_synthesized_time(given.network(), false).ok());
  given.point.topology.links.alpha = {SimTime::zero()};
  given.point.chunks = 0;
  EXPECT_FALSE(make_synthesized_time(given.network(), false).ok());
}

// A group's share of a dimension with 12 GB/s per NPU and 1 us of alpha.
GroupNetwork own_network(const std::string& shape, DimensionShare share) {
  return group_network({{share}}, parse_shape(shape).value(), {microseconds(1)}, {gigabytes_per_second(12)});
}

TEST(GroupNetwork, KeepsTheLinksOfSwitchesAndFullyConnectedBlocks) {
  const auto fully = own_network("FC(5)", {0, 5, 3, 1});
  EXPECT_EQ(to_string(fully.shape), "FC(3)");
  EXPECT_EQ(fully.links.bandwidth.front(), gigabytes_per_second(3));  // 12 over 4 links
  EXPECT_EQ(fully.links.alpha.front(), microseconds(1));
  const auto switched = own_network("SW(8)", {0, 8, 2, 4});
  EXPECT_EQ(to_string(switched.shape), "SW(2)");
  EXPECT_EQ(switched.links.bandwidth.front(), gigabytes_per_second(12));
}

TEST(GroupNetwork, SharesARingsLinksAmongInterleavedGroups) {
  // Four members 2 apart close a ring of 8: half of every link of 6 GB/s, two hops.
  const auto closed = own_network("RI(8)", {0, 8, 4, 2});
  EXPECT_EQ(to_string(closed.shape), "RI(4)");
  EXPECT_EQ(closed.links.bandwidth.front(), gigabytes_per_second(3));
  EXPECT_EQ(closed.links.alpha.front(), microseconds(2));
  // Four neighbours of 8 form a line of unshared links.
  const auto part = own_network("RI(8)", {0, 8, 4, 1});
  EXPECT_EQ(to_string(part.shape), "LI(4)");
  EXPECT_EQ(part.links.bandwidth.front(), gigabytes_per_second(6));
  EXPECT_EQ(part.links.alpha.front(), microseconds(1));
}

TEST(GroupNetwork, JoinsTheTwoPathsOfOppositeMembersOfARing) {
  // Members 4 apart on a ring of 8: two ways of four hops, each a quarter of 6 GB/s.
  const auto opposite = own_network("RI(8)", {0, 8, 2, 4});
  EXPECT_EQ(to_string(opposite.shape), "RI(2)");
  EXPECT_EQ(opposite.links.bandwidth.front(), gigabytes_per_second(3));
  EXPECT_EQ(opposite.links.alpha.front(), microseconds(4));
}

// FC(4), 2 GB/s per NPU, so a link has 2/3 GB/s: an All-to-All of 8000 B sends 2000 B to each peer straight, all at
// once: 2000 B / (2/3 GB/s) = 3 us (the bandwidth of a link is rounded down to 666666666 B/s: 3000000003 fs, so 3000001
// ps).
TEST(SynthesizedTime, OfWhatASynthesizerIsNotDefinedForIsDirect) {
  support::SynthesizedNetwork four("FC(4)");
  const auto mapping = four.mapping("4,1");
  const auto model = make_synthesized_time(four.network(), false).value();
  const Communication exchange{TrafficKind::all_to_all, bytes(8000), Scope::tensor};
  const auto time = model->time(exchange, mapping);
  ASSERT_TRUE(time.ok());
  EXPECT_EQ(time->count(), 3'000'001);
  EXPECT_EQ(model->effort().verified, 1);
}

// LI(4), 1 GB/s per link: a chunk of 2000 B takes 2 us per hop. The middle link carries four chunks each way: 8 us,
// which a schedule reaches that sends 1->3 first, then 0->3, 0->2 and 1->2 over it.
TEST(SynthesizedTime, OfAnAllToAllMayBeThatOfPccl) {
  support::SynthesizedNetwork four("LI(4)", "pccl");
  const auto mapping = four.mapping("4,1");
  const auto model = make_synthesized_time(four.network(), false).value();
  const Communication exchange{TrafficKind::all_to_all, bytes(8000), Scope::tensor};
  const auto time = model->time(exchange, mapping);
  ASSERT_TRUE(time.ok());
  EXPECT_EQ(*time, microseconds(8));
  EXPECT_EQ(model->effort().verified, 1);
  const auto network = four.network();
  EXPECT_EQ(synthesized_point(network, {0}, exchange).algorithm, "pccl");
}

}  // namespace
}  // namespace tenex
