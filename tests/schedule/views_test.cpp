// Pruning, reversal and sequence. The line of three NPUs is that of verifier_test.cpp: 2 us over links 0 and 1, 6 us
// over 2 and 3.
#include "tenex/schedule/views/views.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "schedule/schedule_factories.hpp"
#include "support/verdicts.hpp"
#include "tenex/schedule/verifier/verifier.hpp"

namespace tenex {
namespace {

using test::copy_of;
using test::hop_of;
using test::link_between;
using test::sum_of;
using ::testing::ElementsAre;

Collective viewed_line3(CollectiveKind kind) { return support::collective(kind, 3, bytes(12'000)); }

std::vector<Send> viewed_sends() {
  return {copy_of(0, 0, microseconds(0)), copy_of(1, 1, microseconds(0)), copy_of(1, 2, microseconds(0)),
          copy_of(2, 3, microseconds(0)), copy_of(2, 1, microseconds(6)), copy_of(0, 2, microseconds(6))};
}

TEST(PruneWaste, KeepsAScheduleWithoutWaste) {
  const auto topology = support::line3_heterogeneous();
  const Schedule pruned = prune_waste({topology, viewed_line3(CollectiveKind::all_gather), Occupancy::transfer},
                                      make_list_schedule(viewed_sends()));
  EXPECT_EQ(list_sends(pruned), viewed_sends());
}

TEST(PruneWaste, DropsSecondDeliveriesAndDeliveriesToTheOwner) {
  const auto topology = support::line3_heterogeneous();
  auto sends = viewed_sends();
  sends.push_back(copy_of(2, 1, microseconds(20)));  // NPU 0 has chunk 2 since 8 us
  sends.push_back(copy_of(0, 1, microseconds(30)));  // NPU 0 has chunk 0 from the start
  const Schedule pruned =
      prune_waste({topology, viewed_line3(CollectiveKind::all_gather), Occupancy::transfer}, make_list_schedule(sends));
  EXPECT_EQ(list_sends(pruned), viewed_sends());
}

TEST(PruneWaste, DropsAWholeBranchOfBystandersThatEndsNowhere) {
  // Line of 5, Broadcast of the group {0, 1}: 0 -> 1 is needed; no member needs what 1 -> 2 -> 3 -> 4 forwards.
  const auto topology = support::line(5);
  const auto broadcast = support::collective(CollectiveKind::broadcast, 5, bytes(1000), 1, "0,1");
  std::vector<Send> sends;
  for (std::uint32_t i = 0; i < 4; ++i)
    sends.push_back(copy_of(0, link_between(topology, i, i + 1).value(), microseconds(i)));
  const Schedule pruned = prune_waste({topology, broadcast, Occupancy::transfer}, make_list_schedule(sends));
  EXPECT_THAT(list_sends(pruned), ElementsAre(sends[0]));
}

TEST(PruneWaste, KeepsBystandersThatForwardWhatIsNeeded) {
  const auto topology = support::line(3);
  const auto broadcast = support::collective(CollectiveKind::broadcast, 3, bytes(1000), 1, "0,2");
  const std::vector<Send> sends{copy_of(0, link_between(topology, 0, 1).value(), microseconds(0)),
                                copy_of(0, link_between(topology, 1, 2).value(), microseconds(1))};
  EXPECT_EQ(list_sends(prune_waste({topology, broadcast, Occupancy::transfer}, make_list_schedule(sends))), sends);
}

TEST(PruneWaste, DropsArrivalsThatASwitchDoesNotForward) {
  // A switch without copy: of three arrivals (1.52 us apart) two are forwarded.
  const auto topology = test::star(3, {});
  const auto broadcast = support::collective(CollectiveKind::broadcast, 3, bytes(1000));
  const std::vector<Send> sends{copy_of(0, 0, microseconds(0)), copy_of(0, 0, microseconds(1)),
                                copy_of(0, 3, microseconds(2)), copy_of(0, 5, microseconds(2)),
                                copy_of(0, 0, microseconds(3))};
  const Schedule pruned = prune_waste({topology, broadcast, Occupancy::transfer}, make_list_schedule(sends));
  EXPECT_THAT(list_sends(pruned), ElementsAre(sends[0], sends[1], sends[2], sends[3]));
}

TEST(PruneWaste, DropsAllHopsOfAMessageThatIsNotNeeded) {
  const auto topology = test::star(3, {});
  const auto broadcast = support::collective(CollectiveKind::broadcast, 3, bytes(1000));
  std::vector<Send> sends;
  for (std::uint32_t message = 0; message < 3; ++message) {  // to NPU 1, to NPU 2, to NPU 1 again
    const std::uint32_t peer = message == 1 ? 2 : 1;
    sends.push_back(hop_of(copy_of(0, 0, microseconds(2 * message)), message, peer));
    sends.push_back(hop_of(copy_of(0, 2 * peer + 1, microseconds(2 * message + 1)), message, peer));
  }
  const Schedule pruned = prune_waste({topology, broadcast, Occupancy::transfer}, make_list_schedule(sends));
  EXPECT_THAT(list_sends(pruned), ElementsAre(sends[0], sends[1], sends[2], sends[3]));
}

TEST(PruneWaste, LeavesNoWasteInAFloodedGather) {
  const auto topology = support::torus(4, 2);
  const auto gather = support::collective(CollectiveKind::all_gather, 8, bytes(8000), 1, "0,2,5; 1,6");
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Schedule flood =
        make_list_schedule(test::greedy_gather({topology, gather, Occupancy::serialization}, seed, true));
    EXPECT_GT(verify({topology, gather, Occupancy::serialization}, flood).waste, 0U);
    const Schedule pruned = prune_waste({topology, gather, Occupancy::serialization}, flood);
    const Verdict verdict = verify({topology, gather, Occupancy::serialization}, pruned);
    EXPECT_TRUE(verdict.valid());
    EXPECT_EQ(verdict.waste, 0U);
    EXPECT_LT(pruned.sends(), flood.sends());
  }
}

TEST(Reversal, TurnsAGatherIntoAReduceScatter) {
  // The line reversed: chunk 2 leaves by link 2 (which runs 2 -> 1 there), and so on. Time 12 us, so a send that ran
  // from s to a runs from 12 - a to 12 - s over the same link id.
  const auto topology = support::line3_heterogeneous();
  const std::vector<Send> gather{copy_of(0, 1, microseconds(0)), copy_of(1, 0, microseconds(0)),
                                 copy_of(1, 3, microseconds(0)), copy_of(2, 2, microseconds(0)),
                                 copy_of(2, 0, microseconds(6)), copy_of(0, 3, microseconds(6))};
  const auto partner = viewed_line3(CollectiveKind::all_gather);
  ASSERT_TRUE(verify({topology.reversed(), partner, Occupancy::transfer}, make_list_schedule(gather)).valid());
  const Schedule reduction = reversed({topology, partner, Occupancy::transfer}, make_list_schedule(gather));
  EXPECT_THAT(list_sends(reduction), ElementsAre(sum_of(0, 3, microseconds(0)), sum_of(2, 0, microseconds(4)),
                                                 sum_of(2, 2, microseconds(6)), sum_of(1, 3, microseconds(6)),
                                                 sum_of(1, 0, microseconds(10)), sum_of(0, 1, microseconds(10))));
  const Verdict verdict =
      verify({topology, viewed_line3(CollectiveKind::reduce_scatter), Occupancy::transfer}, reduction);
  EXPECT_TRUE(verdict.valid());
  EXPECT_EQ(verdict.collective_time, microseconds(12));
}

TEST(Reversal, TwiceGivesTheSameTimesAndLinks) {
  const auto topology = support::mesh(3, 3);
  const auto gather = support::collective(CollectiveKind::all_gather, 9, bytes(9000));
  const auto sends = test::greedy_gather({topology.reversed(), gather, Occupancy::transfer}, 4);
  const Schedule once = reversed({topology, gather, Occupancy::transfer}, make_list_schedule(sends));
  auto back = list_sends(reversed({topology.reversed(), gather, Occupancy::transfer}, once));
  for (auto& send : back) send.stage = Stage::copy;
  EXPECT_EQ(back, list_sends(make_list_schedule(sends)));
}

TEST(Reversal, IsValidOnEveryKindOfTopologyUnderBothOccupancies) {
  struct Case {
    Topology topology;
    CollectiveKind kind;
    const char* groups;
  };
  const std::vector<Case> cases{
      {support::ring(5), CollectiveKind::reduce_scatter, "all"},
      {support::mesh(3, 3), CollectiveKind::reduce, "all"},
      {support::shape("RI(3)_FC(3)", {nanoseconds(100), nanoseconds(900)},
                      {gigabytes_per_second(100), gigabytes_per_second(10)}),
       CollectiveKind::reduce_scatter, "0-3; 4-8"},
      {support::line3_heterogeneous(), CollectiveKind::reduce_scatter, "all"},
      {support::random_connected_topology(7, 9, true), CollectiveKind::reduce_scatter, "all"}};
  for (const auto& [topology, kind, groups] : cases)
    for (const auto occupancy : {Occupancy::serialization, Occupancy::transfer})
      for (std::uint64_t seed = 0; seed < 4; ++seed) {
        const auto collective = support::collective(kind, topology.npus(), bytes(90'000), 2, groups);
        const Schedule schedule = test::greedy_schedule({topology, collective, occupancy}, seed, true);
        const Verdict verdict = verify({topology, collective, occupancy}, schedule);
        EXPECT_TRUE(verdict.valid()) << support::first_finding(verdict);
        EXPECT_EQ(verdict.waste, 0U);
        EXPECT_EQ(verdict.reduction_check, "in_tree");
      }
}

TEST(Reversal, ReversesThePathsOfMessages) {
  const auto topology = support::switched(4);
  const auto gather = support::collective(CollectiveKind::all_gather, 4, bytes(4000));
  const auto scatter = gather.as(CollectiveKind::reduce_scatter);
  const auto sends = test::direct_over_switch({topology.reversed(), gather, Occupancy::serialization}, true);
  const Schedule reduction = reversed({topology, gather, Occupancy::serialization}, make_list_schedule(sends));
  const Verdict verdict = verify({topology, scatter, Occupancy::serialization}, reduction);
  EXPECT_TRUE(verdict.valid()) << support::first_finding(verdict);
}

TEST(Reversal, OfAScheduleWithWasteCountsAContributionTwice) {
  const auto topology = support::line3_heterogeneous();
  const auto partner = viewed_line3(CollectiveKind::all_gather);
  auto sends = test::greedy_gather({topology.reversed(), partner, Occupancy::transfer}, 1);
  Send again = sends.front();
  again.start += microseconds(50);
  sends.push_back(again);
  const Schedule gather = make_list_schedule(sends);
  ASSERT_TRUE(verify({topology.reversed(), partner, Occupancy::transfer}, gather).valid());
  const auto scatter = partner.as(CollectiveKind::reduce_scatter);
  EXPECT_FALSE(
      verify({topology, scatter, Occupancy::transfer}, reversed({topology, partner, Occupancy::transfer}, gather))
          .valid());
  const Schedule pruned = prune_waste({topology.reversed(), partner, Occupancy::transfer}, gather);
  EXPECT_TRUE(
      verify({topology, scatter, Occupancy::transfer}, reversed({topology, partner, Occupancy::transfer}, pruned))
          .valid());
}

/// A ring of 140: 19,460 sends in each part, more than one segment.
class Sequence : public ::testing::Test {
 protected:
  const Topology topology_ = support::ring(140);
  const Collective all_reduce_ = support::collective(CollectiveKind::all_reduce, 140, bytes(140 * 4000));
  const Collective gather_ = all_reduce_.as(CollectiveKind::all_gather);
  const Schedule second_ = make_list_schedule(test::ring_gather({topology_, gather_, Occupancy::transfer}));
  const Schedule first_ =
      reversed({topology_, gather_, Occupancy::transfer},
               make_list_schedule(test::ring_gather({topology_.reversed(), gather_, Occupancy::transfer})));
  const Schedule both_ = then_gather({topology_, all_reduce_, Occupancy::transfer}, first_, second_);
};

TEST_F(Sequence, IsTheReductionAndThenTheGatherLaterByTheReductionsTime) {
  const SimTime shift = last_arrival({topology_, all_reduce_, Occupancy::transfer}, first_);
  auto expected = list_sends(first_);
  for (Send send : list_sends(second_)) {
    send.start += shift;
    expected.push_back(send);
  }
  EXPECT_EQ(list_sends(both_), expected);
  EXPECT_EQ(both_.sends(), first_.sends() + second_.sends());
}

TEST_F(Sequence, IsAViewThatTakesNoMemoryOfItsOwn) {
  EXPECT_GT(first_.segments(), 1U);
  EXPECT_EQ(both_.segments(), first_.segments() + second_.segments());
  EXPECT_LT(both_.memory_bytes(), first_.memory_bytes() + second_.memory_bytes() + 200);
  EXPECT_EQ(both_.storage_kind(), "sequence");
}

TEST_F(Sequence, IsAValidAllReduceWhoseTimeIsTheSumOfItsParts) {
  const Verdict verdict = verify({topology_, all_reduce_, Occupancy::transfer}, both_);
  EXPECT_TRUE(verdict.valid());
  // 139 steps each way, of 500 ns + 4,000 B / 50 GB/s = 580 ns.
  EXPECT_EQ(verdict.collective_time, nanoseconds(2 * 139 * 580));
}

TEST_F(Sequence, HasTheHashOfItsList) {
  EXPECT_EQ(schedule_hash(both_), schedule_hash(make_list_schedule(list_sends(both_))));
  EXPECT_NE(schedule_hash(both_), schedule_hash(first_));
}

TEST_F(Sequence, CanItselfBeReadIntoABufferThatWasUsedBefore) {
  SendBuffer buffer;
  std::uint64_t sends = 0;
  for (int round = 0; round < 2; ++round)
    for (std::size_t segment = both_.segments(); segment-- > 0;) {
      both_.read(segment, buffer);
      sends += buffer.batch.size();
    }
  EXPECT_EQ(sends, 2 * both_.sends());
}

TEST(SequenceOfMessages, NumbersTheGathersMessagesAfterTheReductions) {
  const auto topology = support::switched(4);
  const auto all_reduce = support::collective(CollectiveKind::all_reduce, 4, bytes(4000));
  const auto part = [&](CollectiveKind kind) {
    return make_list_schedule(
        test::direct_over_switch({topology, all_reduce.as(kind), Occupancy::serialization}, true));
  };
  const Schedule both = then_gather({topology, all_reduce, Occupancy::serialization},
                                    part(CollectiveKind::reduce_scatter), part(CollectiveKind::all_gather));
  const Verdict verdict = verify({topology, all_reduce, Occupancy::serialization}, both);
  EXPECT_TRUE(verdict.valid()) << support::first_finding(verdict);
  // The same for a sequence of sequences: columns read in place are shifted in place.
  const Schedule thrice =
      then_gather({topology, all_reduce, Occupancy::serialization}, part(CollectiveKind::reduce_scatter), both);
  const auto sends = list_sends(thrice);
  EXPECT_TRUE(
      std::is_sorted(sends.begin(), sends.end(), [](const Send& a, const Send& b) { return a.start < b.start; }));
  const auto last =
      std::max_element(sends.begin(), sends.end(), [](const Send& a, const Send& b) { return a.message < b.message; });
  EXPECT_EQ(last->message, MessageId(35));  // three parts of 12 messages
}

}  // namespace
}  // namespace tenex
