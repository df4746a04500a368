// The verifier on traffic in transit: messages of several hops, and switches with and without properties.
//
// Star: NPU i goes up to the switch by link 2i and is reached from it by link 2i + 1. A chunk of 1,000 B takes 1 us +
// 1,000 B / 1 GB/s = 2 us per hop and, under `transfer`, takes the link for all of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "schedule/schedule_factories.hpp"
#include "support/verdicts.hpp"
#include "tenex/schedule/verifier/verifier.hpp"

namespace tenex {
namespace {

using test::copy_of;
using test::hop_of;
using test::sum_of;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Topology star3(SwitchProperties properties = {}) {
  return test::star(3, properties, microseconds(1), gigabytes_per_second(1));
}

using support::messages;

Verdict broadcast_over(const Topology& topology, std::vector<Send> sends) {
  const auto collective = support::collective(CollectiveKind::broadcast, 3, bytes(1000));
  return verify({topology, collective, Occupancy::transfer}, make_list_schedule(std::move(sends)));
}

Verdict reduce_over(const Topology& topology, std::vector<Send> sends) {
  const auto collective = support::collective(CollectiveKind::reduce, 3, bytes(1000));
  return verify({topology, collective, Occupancy::transfer}, make_list_schedule(std::move(sends)));
}

TEST(VerifierSwitches, ThatCopyForwardOneArrivalToMany) {
  const std::vector<Send> sends{copy_of(0, 0, microseconds(0)), copy_of(0, 3, microseconds(2)),
                                copy_of(0, 5, microseconds(2))};
  const Verdict copying = broadcast_over(star3({.copy = true, .reduce = false}), sends);
  EXPECT_THAT(messages(copying), IsEmpty());
  EXPECT_EQ(copying.collective_time, microseconds(4));
  EXPECT_THAT(messages(broadcast_over(star3(), sends)),
              ElementsAre("switch_copy: send of chunk 0 on link 5 (3 -> 2) at 2us: switch 3 has already forwarded all "
                          "it has received of the "
                          "chunk, and cannot copy"));
}

TEST(VerifierSwitches, ThatCannotCopyForwardEachOfSeveralArrivals) {
  const Verdict verdict = broadcast_over(star3(), {copy_of(0, 0, microseconds(0)), copy_of(0, 0, microseconds(2)),
                                                   copy_of(0, 3, microseconds(4)), copy_of(0, 5, microseconds(4))});
  EXPECT_THAT(messages(verdict), IsEmpty());
  EXPECT_EQ(verdict.waste, 0U);
}

TEST(VerifierSwitches, DoNotForwardWhatHasNotArrived) {
  EXPECT_THAT(
      messages(broadcast_over(
          star3({.copy = true, .reduce = false}),
          {copy_of(0, 0, microseconds(0)), copy_of(0, 3, microseconds(1)), copy_of(0, 5, microseconds(2))})),
      ElementsAre(
          "source_lacks_chunk: send of chunk 0 on link 3 (3 -> 1) at 1us: switch 3 does not hold the chunk until 2us"));
}

TEST(VerifierSwitches, CountArrivalsThatAreNeverForwardedAsWaste) {
  const Verdict verdict = broadcast_over(
      star3(), {copy_of(0, 0, microseconds(0)), copy_of(0, 0, microseconds(2)), copy_of(0, 0, microseconds(4)),
                copy_of(0, 3, microseconds(4)), copy_of(0, 5, microseconds(4))});
  EXPECT_TRUE(verdict.valid());
  EXPECT_EQ(verdict.waste, 1U);
}

TEST(VerifierSwitches, ThatReduceAddWhatArrives) {
  const std::vector<Send> sends{sum_of(0, 2, microseconds(0)), sum_of(0, 4, microseconds(0)),
                                sum_of(0, 1, microseconds(2))};
  for (const bool copy : {false, true}) {
    const Verdict verdict = reduce_over(star3({.copy = copy, .reduce = true}), sends);
    EXPECT_THAT(messages(verdict), IsEmpty());
    EXPECT_EQ(verdict.collective_time, microseconds(4));
    EXPECT_EQ(verdict.reduction_check, "in_tree");
  }
}

TEST(VerifierSwitches, ThatCannotReduceDoNotAdd) {
  EXPECT_THAT(
      messages(reduce_over(
          star3(), {sum_of(0, 2, microseconds(0)), sum_of(0, 4, microseconds(0)), sum_of(0, 1, microseconds(2))})),
      ElementsAre(
          "missing_contribution: NPU 0 ends without the sum of chunk 0: its sum lacks the contribution of NPU 2",
          "switch_reduce: switch 3 ends with 1 of the partial sums of chunk 0 that reached it: it cannot add them, so "
          "each "
          "must be sent on"));
}

TEST(VerifierSwitches, ThatCannotReducePassPartialSumsOnOneByOneInOrderOfArrival) {
  const Verdict verdict = reduce_over(star3(), {sum_of(0, 2, microseconds(0)), sum_of(0, 4, microseconds(0)),
                                                sum_of(0, 1, microseconds(2)), sum_of(0, 1, microseconds(4))});
  EXPECT_THAT(messages(verdict), IsEmpty());
  EXPECT_EQ(verdict.reduction_check, "in_tree");
  EXPECT_EQ(verdict.collective_time, microseconds(6));
}

TEST(VerifierSwitches, ThatCannotReduceDoNotSendOnePartialSumTwice) {
  const Verdict verdict =
      reduce_over(star3(), {sum_of(0, 2, microseconds(0)), sum_of(0, 4, microseconds(0)), sum_of(0, 1, microseconds(2)),
                            sum_of(0, 1, microseconds(4)), sum_of(0, 1, microseconds(6))});
  ASSERT_EQ(verdict.violations, 1U);
  EXPECT_EQ(verdict.findings[0].violation, Violation::switch_copy);
}

TEST(VerifierSwitches, ThatReduceButCannotCopyGiveTheirSumAway) {
  // A second send at 4 us finds the switch empty.
  const Verdict verdict = reduce_over(star3({.copy = false, .reduce = true}),
                                      {sum_of(0, 2, microseconds(0)), sum_of(0, 4, microseconds(0)),
                                       sum_of(0, 1, microseconds(2)), sum_of(0, 1, microseconds(4))});
  ASSERT_EQ(verdict.violations, 1U);
  EXPECT_EQ(verdict.findings[0].violation, Violation::switch_copy);
}

TEST(VerifierSwitches, ThatCopyAndReduceCompleteASumAndMulticastIt) {
  // All-Reduce in the network: all NPUs send up, the switch holds the complete sum at 2 us and sends it down to all.
  std::vector<Send> sends;
  const auto all_reduce = support::collective(CollectiveKind::all_reduce, 3, bytes(3000));
  for (std::uint32_t chunk = 0; chunk < 3; ++chunk)
    for (std::uint32_t npu = 0; npu < 3; ++npu) {
      sends.push_back(sum_of(chunk, 2 * npu, microseconds(2 * chunk)));
      sends.push_back(copy_of(chunk, 2 * npu + 1, microseconds(2 * chunk + 2)));
    }
  const Verdict verdict =
      verify({star3({.copy = true, .reduce = true}), all_reduce, Occupancy::transfer}, make_list_schedule(sends));
  EXPECT_THAT(messages(verdict), IsEmpty());
  EXPECT_EQ(verdict.collective_time, microseconds(8));
  EXPECT_EQ(verdict.reduction_check, "exact_sets");
  // A switch that only reduces may send the complete sum once.
  const Verdict once =
      verify({star3({.copy = false, .reduce = true}), all_reduce, Occupancy::transfer}, make_list_schedule(sends));
  EXPECT_EQ(once.outcome, Verification::invalid);
}

/// Chunk 0 from NPU 0 to both others, as messages over the switch.
std::vector<Send> message_sends() {
  return {hop_of(copy_of(0, 0, microseconds(0)), 0, 1), hop_of(copy_of(0, 3, microseconds(2)), 0, 1),
          hop_of(copy_of(0, 0, microseconds(2)), 1, 2), hop_of(copy_of(0, 5, microseconds(4)), 1, 2)};
}

TEST(VerifierMessages, PassRelaysWithoutBeingUnpackedThere) {
  const Verdict verdict = broadcast_over(star3(), message_sends());
  EXPECT_THAT(messages(verdict), IsEmpty());
  EXPECT_EQ(verdict.waste, 0U);
  EXPECT_EQ(verdict.collective_time, microseconds(6));
  // A relay does not own what it has in transit: on a line of 3 NPUs, NPU 1 does not get chunk 0 by passing it to NPU
  // 2.
  const auto line = support::line(3, microseconds(1), gigabytes_per_second(1));
  const Verdict passed =
      broadcast_over(line, {hop_of(copy_of(0, test::link_between(line, 0, 1).value(), microseconds(0)), 0, 2),
                            hop_of(copy_of(0, test::link_between(line, 1, 2).value(), microseconds(2)), 0, 2)});
  EXPECT_THAT(messages(passed), ElementsAre("missing_postcondition: NPU 1 ends without chunk 0, which it must hold"));
}

TEST(VerifierMessages, CarryThePartialSumThatTheirSourceHadWhenTheyLeftIt) {
  // Line 0 - 1 - 2, Reduce to NPU 0: 2's part passes 1 in transit while 1 sends its own.
  const auto line = support::line(3, microseconds(1), gigabytes_per_second(1));
  const auto link = [&](std::uint32_t a, std::uint32_t b) { return test::link_between(line, a, b).value(); };
  const Verdict verdict =
      reduce_over(line, {hop_of(sum_of(0, link(2, 1), microseconds(0)), 0, 0), sum_of(0, link(1, 0), microseconds(0)),
                         hop_of(sum_of(0, link(1, 0), microseconds(2)), 0, 0)});
  EXPECT_THAT(messages(verdict), IsEmpty());
  EXPECT_EQ(verdict.reduction_check, "in_tree");
  EXPECT_EQ(verdict.collective_time, microseconds(4));
}

TEST(VerifierMessages, MustStartWhereTheChunkIsHeld) {
  const Verdict verdict = broadcast_over(
      star3(), {hop_of(copy_of(0, 2, microseconds(0)), 0, 0), hop_of(copy_of(0, 1, microseconds(2)), 0, 0)});
  ASSERT_GE(verdict.violations, 1U);
  EXPECT_EQ(messages(verdict)[0],
            "source_lacks_chunk: send of chunk 0 on link 2 (1 -> 3) at 0s: NPU 1 does not hold the chunk");
}

TEST(VerifierMessages, CannotBeginAtASwitch) {
  auto sends = message_sends();
  sends.push_back(hop_of(copy_of(0, 3, microseconds(9)), 2, 1));
  EXPECT_THAT(messages(broadcast_over(star3(), sends)),
              ElementsAre("broken_path: send of chunk 0 on link 3 (3 -> 1) at 9us: message 2 begins at switch 3; only "
                          "an NPU can send one"));
}

TEST(VerifierMessages, GoOnFromWhereTheyAre) {
  auto sends = message_sends();
  sends[3].link = LinkId(2);  // from NPU 1 instead of the switch
  const Verdict verdict = broadcast_over(star3(), sends);
  EXPECT_EQ(messages(verdict)[0],
            "broken_path: send of chunk 0 on link 2 (1 -> 3) at 4us: message 1 was last sent to switch 3, so it cannot "
            "go on from here");
}

TEST(VerifierMessages, GoOnNoSoonerThanTheyArrive) {
  auto sends = message_sends();
  sends[3].start = microseconds(3);
  EXPECT_EQ(messages(broadcast_over(star3(), sends))[0],
            "broken_path: send of chunk 0 on link 5 (3 -> 2) at 3us: message 1 does not reach switch 3 until 4us");
}

TEST(VerifierMessages, KeepChunkStageAndDestination) {
  for (const auto& change :
       {std::pair{1U, 2U}, std::pair{0U, 1U}}) {  // (chunk, destination) of the second message's last hop
    auto sends = message_sends();
    sends[3].chunk = ChunkId(change.first);
    sends[3].destination = NpuId(change.second);
    const auto two_chunks = support::collective(CollectiveKind::broadcast, 3, bytes(2000), 2);
    const Verdict verdict = verify({star3(), two_chunks, Occupancy::transfer}, make_list_schedule(sends));
    EXPECT_EQ(verdict.findings[0].violation, Violation::broken_path);
    EXPECT_THAT(verdict.findings[0].message, ::testing::HasSubstr("does not keep its chunk, stage and destination"));
  }
}

TEST(VerifierMessages, MustReachTheirDestination) {
  auto sends = message_sends();
  sends.pop_back();
  EXPECT_THAT(
      messages(broadcast_over(star3(), sends)),
      ElementsAre("broken_path: send of chunk 0 on link 0 (0 -> 3) at 2us: message 1 ends here and never reaches NPU 2",
                  "missing_postcondition: NPU 2 ends without chunk 0, which it must hold"));
}

TEST(VerifierMessages, EndAtTheirDestination) {
  auto sends = message_sends();
  sends.push_back(hop_of(copy_of(0, 4, microseconds(10)), 1, 2));
  EXPECT_THAT(messages(broadcast_over(star3(), sends)),
              ElementsAre("broken_path: send of chunk 0 on link 4 (2 -> 3) at 10us: message 1 has been sent to its "
                          "destination before"));
}

TEST(VerifierMessages, NeedADestinationThatExistsAndAMessage) {
  auto sends = message_sends();
  sends[2].destination = sends[3].destination = NpuId(7);
  EXPECT_EQ(messages(broadcast_over(star3(), sends))[0],
            "broken_path: send of chunk 0 on link 0 (0 -> 3) at 2us: its destination, NPU 7, does not exist");
  sends = message_sends();
  sends[2].message = MessageId::none();
  EXPECT_EQ(messages(broadcast_over(star3(), sends))[0],
            "broken_path: send of chunk 0 on link 0 (0 -> 3) at 2us: it names a destination but no message");
  sends = message_sends();
  sends[2].destination = NpuId::none();
  EXPECT_EQ(messages(broadcast_over(star3(), sends))[0],
            "broken_path: send of chunk 0 on link 0 (0 -> 3) at 2us: it names a message but no destination");
}

TEST(VerifierMessages, OverASwitchMakeAWholeGatherAndReduction) {
  for (const auto kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter}) {
    const auto topology = support::switched(5);
    const auto collective = support::collective(kind, 5, bytes(5000));
    for (const auto occupancy : {Occupancy::serialization, Occupancy::transfer}) {
      const auto sends = test::direct_over_switch({topology, collective, occupancy}, true);
      const Verdict verdict = verify({topology, collective, occupancy}, make_list_schedule(sends));
      EXPECT_THAT(messages(verdict), IsEmpty());
      EXPECT_EQ(verdict.waste, 0U);
    }
  }
}

}  // namespace
}  // namespace tenex
