// Times of the textbook algorithms that can be derived by hand.
#include <gtest/gtest.h>

#include <map>

#include "simulation/programs.hpp"
#include "support/topologies.hpp"

namespace tenex {
namespace {

using support::finish;

// Chunks of 1 MB over 50 GB/s: beta*m = 20 us; alpha = 0.5 us.
constexpr auto kSer = microseconds(20);
constexpr auto kHop = kSer + support::kAlpha;

Collective megabyte_chunks(CollectiveKind kind, std::uint32_t npus, std::int64_t chunks = 1) {
  return support::collective(kind, npus, bytes(1'000'000 * npus * chunks), chunks);
}

TEST(RingTimes, OneWayTakesAHopPerOtherNpu) {
  for (const std::uint32_t n : {2U, 3U, 7U, 8U, 33U}) {
    const auto ring = support::ring(n);
    const auto hops = static_cast<std::int64_t>(n) - 1;
    for (const auto kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter})
      EXPECT_EQ(finish("ring_unidirectional", ring, megabyte_chunks(kind, n)), hops * kHop) << n;
    // The sums of all owners are complete after n-1 hops; then the gather takes n-1.
    EXPECT_EQ(finish("ring_unidirectional", ring, megabyte_chunks(CollectiveKind::all_reduce, n)), 2 * hops * kHop);
  }
}

TEST(RingTimes, BothWaysTakeAHopPerNpuOfTheLongerWay) {
  for (const std::uint32_t n : {2U, 3U, 7U, 8U, 33U, 64U}) {
    const auto ring = support::ring(n);
    const auto hops = static_cast<std::int64_t>(n) / 2;  // ceil((n-1)/2)
    for (const auto kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter})
      EXPECT_EQ(finish("ring", ring, megabyte_chunks(kind, n)), hops * kHop) << n;
    EXPECT_EQ(finish("ring", ring, megabyte_chunks(CollectiveKind::all_reduce, n)), 2 * hops * kHop) << n;
  }
}

TEST(RingTimes, ChunksFollowEachOtherWithoutAGap) {
  // n = 8, c = 3, one way: a link carries 7 x 3 chunks. The first chunk to be passed on arrives at 20.5 us, before the
  // NPU's own three have left at 60 us, and so on: the link never idles. Finish = 21 x 20 us + 0.5 us.
  EXPECT_EQ(finish("ring_unidirectional", support::ring(8), megabyte_chunks(CollectiveKind::all_gather, 8, 3)),
            21 * kSer + support::kAlpha);
  // Both ways, c = 2, n = 8: a link carries 4 + 3 chunks, with those that go farther first. Their last hops leave at 5
  // x 20 us and 6 x 20 us, long after they have arrived: nothing waits. Finish = 7 x 20 us + 0.5 us.
  EXPECT_EQ(finish("ring", support::ring(8), megabyte_chunks(CollectiveKind::all_gather, 8, 2)),
            7 * kSer + support::kAlpha);
}

TEST(RingTimes, UnderTransferPipelinedChunksPayTheLatencyEachTime) {
  SimulationOptions options;
  options.occupancy = Occupancy::transfer;
  // As above, but each of the 21 transfers holds the link for 20.5 us, and the last one arrives as it ends.
  EXPECT_EQ(finish("ring_unidirectional", support::ring(8), megabyte_chunks(CollectiveKind::all_gather, 8, 3), options),
            21 * kHop);
}

TEST(RingTimes, WithoutCongestionAreTheSameOnARing) {
  SimulationOptions options;
  options.backend = Backend::congestion_unaware;
  for (const auto* algorithm : {"ring", "ring_unidirectional"})
    for (const auto kind : support::kGathersAndSums)
      EXPECT_EQ(finish(algorithm, support::ring(9), megabyte_chunks(kind, 9), options),
                finish(algorithm, support::ring(9), megabyte_chunks(kind, 9)));
}

TEST(RingTimes, GroupsOnDisjointLinksDoNotSlowEachOther) {
  // Two groups of 4 on a line of 8: the way back from 3 to 0 crosses 3 hops, within the group.
  const auto line = support::line(8);
  const auto both = support::collective(CollectiveKind::all_gather, 8, bytes(4'000'000), 1, "0-3; 4-7");
  const auto one = support::collective(CollectiveKind::all_gather, 8, bytes(4'000'000), 1, "0-3");
  EXPECT_EQ(finish("ring", line, both), finish("ring", line, one));
}

// With as many chunks per NPU as there are rings of one rate, every NPU has one chunk on each ring, and a ring takes
// n-1 steps of alpha + beta*m (All-Reduce: twice as many), whatever the others do.
TEST(RingsTimes, AreThoseOfOneRingWhereAllRingsAreAlike) {
  struct Case {
    const char* shape;
    std::int64_t rings;
  };
  for (const auto& [shape, rings] :
       {Case{"RI(7)", 2}, Case{"RI(4)_RI(4)", 4}, Case{"RI(3)_RI(4)_RI(5)", 6}, Case{"FC(5)", 4}, Case{"FC(8)", 7}}) {
    const auto topology = support::shape(shape);
    const auto n = static_cast<std::uint32_t>(topology.npus());
    for (const auto kind : support::kGathersAndSums) {
      const std::int64_t steps = (n - 1) * (kind == CollectiveKind::all_reduce ? 2 : 1);
      EXPECT_EQ(finish("rings", topology, megabyte_chunks(kind, n, rings)), steps * kHop) << shape;
      // Two chunks on each ring follow each other without a gap: alpha is paid once, in All-Reduce too.
      EXPECT_EQ(finish("rings", topology, megabyte_chunks(kind, n, 2 * rings)), 2 * steps * kSer + support::kAlpha);
    }
  }
  // One switch: one ring, and every step passes two links.
  EXPECT_EQ(finish("rings", support::switched(6), megabyte_chunks(CollectiveKind::all_gather, 6)), 5 * 2 * kHop);
}

TEST(RingsTimes, OfADgx1UseAllBricks) {
  // All-Reduce of 256 MB with 6 chunks per NPU: each of six rings takes 14 steps with chunks of S/48, which a brick of
  // 25 GB/s passes in 213.33 us. Were every link one brick, the time would be 14 (alpha + S/48 / 25 GB/s). A link of
  // two bricks passes one chunk of each of its two rings in turn, at twice the speed, so that rings may run ahead
  // there; links of one brick bound the time: 14 chunks, and the latency of the last.
  const auto collective = support::collective(CollectiveKind::all_reduce, 8, bytes(256'000'000), 6);
  const auto brick = serialization_time(collective.chunk_bytes(ChunkId(0)), gigabytes_per_second(25));
  EXPECT_GE(brick, nanoseconds(213'333));
  const auto alpha = nanoseconds(700);
  const auto time = finish("rings", support::dgx1(), collective);
  EXPECT_GE(time, 14 * brick + alpha);
  EXPECT_LE(time, 14 * (brick + alpha));
  // TACOS, section V-A: Ideal = 2 S (n-1)/n / (150 GB/s) + diameter * alpha = 2986.67 us + 2 * 0.7 us. The six rings
  // reach 0.9972 of it at least; section VI-B.5 prints 0.9961 for its Ring. Ranks in order of id reach 0.168.
  const double ideal = 2988.0667e6;
  EXPECT_GE(ideal / static_cast<double>(time.count()), 0.9972);
  EXPECT_LT(ideal / static_cast<double>(finish("ring", support::dgx1(), collective).count()), 0.35);
}

TEST(DirectTimes, OnAFullyConnectedTopologyAreOneHop) {
  const auto topology = support::fully_connected(9);
  EXPECT_EQ(finish("direct", topology, megabyte_chunks(CollectiveKind::all_gather, 9)), kHop);
  EXPECT_EQ(finish("direct", topology, megabyte_chunks(CollectiveKind::reduce_scatter, 9)), kHop);
  EXPECT_EQ(finish("direct", topology, megabyte_chunks(CollectiveKind::all_reduce, 9)), 2 * kHop);
}

TEST(DirectTimes, OnARingOfEightAreTheFullLinkPlusOneGap) {
  // All NPUs are alike. A clockwise link L serves messages to peers +1, +2, +3, +4 (the tie goes up): 1 + 2 + 3 + 4 =
  // 10 services of s = 20 us. By hops left, L serves: its own 1, 2, 3, 4 at 0, s, 2s, 3s; then those passed on: 1
  // (arrived at 2s+a), 2 (3s+a), 3 (4s+a) at 4s, 5s, 6s; 1 (6s+a), 2 (7s+a) at 7s, 8s. The last 1 arrives at 9s+a, when
  // L has been idle for a. Finish = 9s + a + s + a = 10 s + 2 a = 201 us. Counter-clockwise there are only 6 services.
  const auto simulation = support::run("direct", support::ring(8), megabyte_chunks(CollectiveKind::all_gather, 8));
  EXPECT_EQ(simulation.finish, microseconds(201));
  EXPECT_EQ(simulation.messages, 8U * 7U);
  EXPECT_EQ(simulation.hops, 8U * (10U + 6U));
  std::map<std::int64_t, int> links_by_bytes;
  for (const auto& load : simulation.links) ++links_by_bytes[load.bytes.count()];
  EXPECT_EQ(links_by_bytes, (std::map<std::int64_t, int>{{6'000'000, 8}, {10'000'000, 8}}));
}

TEST(DirectTimes, OnASwitchQueueAtItsOutLinks) {
  // n = 4. Each NPU's uplink carries 3 messages, at the switch at 20.5, 40.5, 60.5 us, in relative order. The k-th
  // arrivals of all NPUs go to different NPUs, so none waits: 60.5 + 20.5 us.
  EXPECT_EQ(finish("direct", support::switched(4), megabyte_chunks(CollectiveKind::all_gather, 4)), microseconds(81));
}

// TACOS, Fig. 2(a): All-Reduce of 1 GB over 64 NPUs, alpha 0.5 us, 50 GB/s. Each topology prefers another algorithm, in
// the paper by factors of 16.71 (ring) and 62.63 (fully connected). A chunk of 1 GB / 64 takes 312.5 us, a hop 313 us.
class PreferredTopology : public testing::Test {
 protected:
  static Collective gigabyte(std::int64_t chunks) {
    return support::collective(CollectiveKind::all_reduce, 64, bytes(1'000'000'000), chunks);
  }
};

TEST_F(PreferredTopology, OfTheRingAlgorithmIsARing) {
  const auto ring = support::ring(64);
  // Direct: each way 1 + 2 + .. + 32 = 528 services per clockwise link; as on the ring of 8, one gap and the last
  // latency.
  EXPECT_EQ(finish("direct", ring, gigabyte(1)), 2 * (528 * nanoseconds(312'500) + 2 * support::kAlpha));
  // Ring, one chunk: 32 hops and 32 hops: Direct takes 16.47 times as long.
  EXPECT_EQ(finish("ring", ring, gigabyte(1)), 64 * microseconds(313));
  // Two chunks of half the size load both directions alike: 2 x 63 services of 156.25 us per link and little else: a
  // factor of 16.76. The paper's 16.71 is two opposite rings of half chunks that pay alpha at each of 126 steps.
  const auto services = 126 * nanoseconds(156'250);
  EXPECT_GE(finish("ring", ring, gigabyte(2)), services + support::kAlpha);
  EXPECT_LE(finish("ring", ring, gigabyte(2)), services + microseconds(2));
}

TEST_F(PreferredTopology, OfDirectIsTheFullyConnectedOne) {
  const auto topology = support::fully_connected(64);
  EXPECT_EQ(finish("direct", topology, gigabyte(1)), 2 * microseconds(313));
  // 63 times as long one way round, 32 times both ways.
  EXPECT_EQ(finish("ring_unidirectional", topology, gigabyte(1)), 126 * microseconds(313));
  EXPECT_EQ(finish("ring", topology, gigabyte(1)), 64 * microseconds(313));
}

Collective rooted(CollectiveKind kind, std::uint32_t npus, std::uint32_t root) {
  CollectiveRequest request{kind, npus, {}, 1, bytes(1'000'000), root};
  if (!owned_by_root(kind)) request.size = bytes(1'000'000 * npus);
  return Collective::make(std::move(request)).value();
}

// FC(8): Gather's subtrees of 1, 2 and 4 chunks take a step each, Scatter's of 4, 2 and 1: 3 alpha + 7 beta*m.
// Broadcast and Reduce move one chunk in each of the three steps.
TEST(BinomialTimes, AreThoseOfThreeStepsForEightNpus) {
  const auto network = support::fully_connected(8);
  for (const std::uint32_t root : {0U, 5U}) {
    for (const auto kind : {CollectiveKind::gather, CollectiveKind::scatter})
      EXPECT_EQ(finish("binomial", network, rooted(kind, 8, root)), 3 * support::kAlpha + 7 * kSer);
    for (const auto kind : {CollectiveKind::broadcast, CollectiveKind::reduce})
      EXPECT_EQ(finish("binomial", network, rooted(kind, 8, root)), 3 * kHop);
  }
}

// FC(6): the root's children have subtrees of 1, 2 and 2 ranks. Gather's second step carries 2 chunks: alpha + beta*m,
// then alpha + 2 beta*m.
TEST(BinomialTimes, AreThoseOfTheLargestSubtreeWhereRanksAreMissing) {
  EXPECT_EQ(finish("binomial", support::fully_connected(6), rooted(CollectiveKind::gather, 6, 2)),
            2 * support::kAlpha + 3 * kSer);
}

TEST(DirectTimes, OfRootedCollectivesAreThoseOfTheRootsLinks) {
  for (const auto kind :
       {CollectiveKind::gather, CollectiveKind::scatter, CollectiveKind::broadcast, CollectiveKind::reduce}) {
    // A link of its own for every peer.
    EXPECT_EQ(finish("direct", support::fully_connected(8), rooted(kind, 8, 3)), kHop);
    // The root's link to or from the switch carries 7 messages, one after another, before or after another hop.
    EXPECT_EQ(finish("direct", support::switched(8), rooted(kind, 8, 3)), 7 * kSer + support::kAlpha + kHop);
  }
  // RI(8): one of the root's links carries the messages to the next four NPUs, nearest first. The last one leaves after
  // three others and takes four hops.
  EXPECT_EQ(finish("direct", support::ring(8), rooted(CollectiveKind::broadcast, 8, 3)), 3 * kSer + 4 * kHop);
}

// The chunk of the second group is three times as large, though the source of both is NPU 0: 20 + 60 + 0.5 us.
TEST(DirectTimes, OfAMixtureFollowTheSizeOfEachChunk) {
  CollectiveRequest mixture;
  mixture.npus = 3;
  mixture.groups = parse_groups("0,1 broadcast 1MB; 0,1 broadcast 3MB", 3).value();
  const auto collective = Collective::make(std::move(mixture)).value();
  for (const auto& network : {support::fully_connected(3), support::ring(3)})
    EXPECT_EQ(finish("direct", network, collective), 4 * kSer + support::kAlpha);
}

}  // namespace
}  // namespace tenex
