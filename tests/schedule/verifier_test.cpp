// The verifier on schedules made by hand.
//
// Most use three NPUs in a line: links 0 (0 -> 1) and 1 (1 -> 0) are fast, 2 (1 -> 2) and 3 (2 -> 1) slow. A chunk of
// 4,000 B takes 1 us + 4,000 B / 4 GB/s = 2 us over a fast link and 2 us + 4,000 B / 1 GB/s = 6 us over a slow one;
// under `transfer` it takes the link for all of that, under `serialization` for 1 us and 4 us.
#include "tenex/schedule/verifier/verifier.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "schedule/schedule_factories.hpp"
#include "support/verdicts.hpp"
#include "tenex/topology/slow_windows.hpp"

namespace tenex {
namespace {

using test::copy_of;
using test::link_between;
using test::sum_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const Topology& line3() {
  static const Topology topology = support::line3_heterogeneous();
  return topology;
}

Collective on_line3(CollectiveKind kind, std::int64_t chunk_bytes = 4000) {
  const bool rooted = kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce;
  return support::collective(kind, 3, bytes(rooted ? chunk_bytes : 3 * chunk_bytes));
}

/// 12 us: chunk 0 reaches NPU 2 last, behind chunk 1 on link 2.
std::vector<Send> gather_sends() {
  return {copy_of(0, 0, microseconds(0)), copy_of(1, 1, microseconds(0)), copy_of(1, 2, microseconds(0)),
          copy_of(2, 3, microseconds(0)), copy_of(0, 2, microseconds(6)), copy_of(2, 1, microseconds(6))};
}

/// 12 us: both partial sums of chunk 1 end at NPU 1 (4 us, 12 us); those of chunks 0 and 2 pass through it.
std::vector<Send> reduce_scatter_sends() {
  return {sum_of(2, 0, microseconds(0)), sum_of(0, 3, microseconds(0)), sum_of(1, 0, microseconds(2)),
          sum_of(2, 2, microseconds(2)), sum_of(0, 1, microseconds(6)), sum_of(1, 3, microseconds(6))};
}

Verdict check(CollectiveKind kind, std::vector<Send> sends, const Topology& topology = line3(),
              Occupancy occupancy = Occupancy::transfer) {
  return verify({topology, on_line3(kind), occupancy}, make_list_schedule(std::move(sends)));
}

using support::messages;

TEST(Verifier, AcceptsAnAllGather) {
  const Verdict verdict = check(CollectiveKind::all_gather, gather_sends());
  EXPECT_THAT(messages(verdict), IsEmpty());
  EXPECT_TRUE(verdict.valid());
  EXPECT_EQ(verdict.sends, 6U);
  EXPECT_EQ(verdict.waste, 0U);
  EXPECT_EQ(verdict.collective_time, microseconds(12));
  EXPECT_EQ(verdict.reduction_check, "none");
}

// Half the speed on link 2 until 4 us: 2 of the 4 us of chunk 1's bytes have left by then, so the link is taken until 4
// + 2 + 2 us, and chunk 0 may follow at 8 us and arrives at 14 us.
TEST(Verifier, KnowsThatASendInAWindowTakesLonger) {
  const Topology varied =
      with_slow_windows(line3(), {{VertexId(1), VertexId(2), {SimTime::zero(), microseconds(4), 2000}}}).value();
  const Verdict early = check(CollectiveKind::all_gather, gather_sends(), varied);
  ASSERT_THAT(messages(early), SizeIs(1));
  EXPECT_THAT(messages(early)[0], HasSubstr("the link is busy with another send until 8us"));
  auto sends = gather_sends();
  sends[4].start = microseconds(8);
  const Verdict verdict = check(CollectiveKind::all_gather, sends, varied);
  EXPECT_THAT(messages(verdict), IsEmpty());
  EXPECT_EQ(verdict.collective_time, microseconds(14));
  // A later start of the first send, in the window too: chunk 0 waits for its end.
  sends[2].start = microseconds(3);  // 0.5 us of bytes in the window, 3.5 after it: taken until 4 + 3.5 + 2 us
  sends[4].start = nanoseconds(9500);
  EXPECT_TRUE(check(CollectiveKind::all_gather, sends, varied).valid());
  sends[4].start = nanoseconds(9499);
  EXPECT_FALSE(check(CollectiveKind::all_gather, sends, varied).valid());
}

TEST(Verifier, AcceptsUnderSerializationWhatOverlapsUnderTransfer) {
  // Link 2 is busy with chunk 1 for 4 us under serialization, 6 us under transfer. Chunk 0 then arrives at 4 + 6 us.
  auto sends = gather_sends();
  sends[4].start = microseconds(4);
  const Verdict verdict = check(CollectiveKind::all_gather, sends, line3(), Occupancy::serialization);
  EXPECT_TRUE(verdict.valid());
  EXPECT_EQ(verdict.collective_time, microseconds(10));
  EXPECT_THAT(
      messages(check(CollectiveKind::all_gather, sends)),
      ElementsAre(
          "link_overlap: send of chunk 0 on link 2 (1 -> 2) at 4us: the link is busy with another send until 6us"));
}

TEST(Verifier, AcceptsAReduceScatter) {
  const Verdict verdict = check(CollectiveKind::reduce_scatter, reduce_scatter_sends());
  EXPECT_THAT(messages(verdict), IsEmpty());
  EXPECT_TRUE(verdict.valid());
  EXPECT_EQ(verdict.collective_time, microseconds(12));
  EXPECT_EQ(verdict.reduction_check, "in_tree");
}

TEST(Verifier, AcceptsAnAllReduce) {
  auto sends = reduce_scatter_sends();
  for (Send send : gather_sends()) {
    send.start += microseconds(12);
    sends.push_back(send);
  }
  const Verdict verdict = check(CollectiveKind::all_reduce, sends);
  EXPECT_THAT(messages(verdict), IsEmpty());
  EXPECT_TRUE(verdict.valid());
  EXPECT_EQ(verdict.collective_time, microseconds(24));
  EXPECT_EQ(verdict.reduction_check, "in_tree");
}

TEST(Verifier, LetsAChunksGatherBeginWhenItsOwnSumIsComplete) {
  // Chunk 0 is complete at NPU 0 at 8 us, before the reduction of chunk 1 ends at 12 us; link 0 is free from 4 us.
  auto sends = reduce_scatter_sends();
  for (Send send : gather_sends()) {
    send.start += microseconds(12);
    sends.push_back(send);
  }
  sends[6].start = microseconds(8);
  EXPECT_TRUE(check(CollectiveKind::all_reduce, sends).valid());
  sends[6].start = microseconds(8) - SimTime::of(1);
  EXPECT_THAT(
      messages(check(CollectiveKind::all_reduce, sends)),
      ElementsAre(
          "incomplete_sum: send of chunk 0 on link 0 (0 -> 1) at 7999999ps: NPU 0 cannot send the final value, as its "
          "sum is not complete until 8us"));
}

TEST(Verifier, AcceptsABroadcastAndAReduce) {
  EXPECT_EQ(check(CollectiveKind::broadcast, {copy_of(0, 0, microseconds(0)), copy_of(0, 2, microseconds(2))})
                .collective_time,
            microseconds(8));
  const Verdict reduce = check(CollectiveKind::reduce, {sum_of(0, 3, microseconds(0)), sum_of(0, 1, microseconds(6))});
  EXPECT_TRUE(reduce.valid());
  EXPECT_EQ(reduce.collective_time, microseconds(8));
}

TEST(Verifier, CountsASecondDeliveryAsWasteThatTakesNoTime) {
  auto sends = gather_sends();
  sends.push_back(copy_of(0, 2, microseconds(20)));
  const Verdict verdict = check(CollectiveKind::all_gather, sends);
  EXPECT_TRUE(verdict.valid());
  EXPECT_EQ(verdict.waste, 1U);
  EXPECT_EQ(verdict.collective_time, microseconds(12));
}

TEST(Verifier, CountsADeliveryToABystanderAsWasteUnlessItIsForwarded) {
  // A group of NPUs 0 and 2 only: NPU 1 needs neither chunk, but both pass through it.
  const auto topology = support::line(3, microseconds(1), gigabytes_per_second(4));
  const auto gather = support::collective(CollectiveKind::all_gather, 3, bytes(8000), 1, "0,2");
  const auto link = [&](std::uint32_t a, std::uint32_t b) { return link_between(topology, a, b).value(); };
  std::vector<Send> sends{copy_of(0, link(0, 1), microseconds(0)), copy_of(1, link(2, 1), microseconds(0)),
                          copy_of(0, link(1, 2), microseconds(2)), copy_of(1, link(1, 0), microseconds(2))};
  EXPECT_EQ(verify({topology, gather, Occupancy::transfer}, make_list_schedule(sends)).waste, 0U);
  sends.push_back(copy_of(0, link(0, 1), microseconds(9)));  // NPU 1 has it already
  const Verdict verdict = verify({topology, gather, Occupancy::transfer}, make_list_schedule(sends));
  EXPECT_TRUE(verdict.valid());
  EXPECT_EQ(verdict.waste, 1U);
  EXPECT_EQ(verdict.collective_time, microseconds(4));

  // On a ring NPU 0 reaches 2 directly: the chunks that go to NPU 1 are never forwarded.
  const auto ring = support::ring(3, microseconds(1), gigabytes_per_second(4));
  const Verdict direct = verify({ring, gather, Occupancy::transfer},
                                make_list_schedule({copy_of(0, link_between(ring, 0, 2).value(), microseconds(0)),
                                                    copy_of(1, link_between(ring, 2, 0).value(), microseconds(0)),
                                                    copy_of(0, link_between(ring, 0, 1).value(), microseconds(5))}));
  EXPECT_TRUE(direct.valid());
  EXPECT_EQ(direct.waste, 1U);
  EXPECT_EQ(direct.collective_time, microseconds(2));
}

TEST(Verifier, LetsAChunkBeForwardedAtTheInstantOfItsArrivalButNotBefore) {
  auto sends = gather_sends();
  EXPECT_TRUE(check(CollectiveKind::all_gather, sends).valid());  // link 1 takes chunk 2 at 6 us, when it arrives
  sends[5].start = microseconds(6) - SimTime::of(1);
  EXPECT_THAT(messages(check(CollectiveKind::all_gather, sends)),
              ElementsAre("source_lacks_chunk: send of chunk 2 on link 1 (1 -> 0) at 5999999ps: NPU 1 does not hold "
                          "the chunk until 6us"));
}

TEST(Verifier, RejectsASendOfAChunkThatNeverReachesItsSource) {
  auto sends = gather_sends();
  sends.erase(sends.begin() + 3);  // chunk 2 never leaves NPU 2
  const Verdict verdict = check(CollectiveKind::all_gather, sends);
  EXPECT_EQ(verdict.outcome, Verification::invalid);
  EXPECT_THAT(
      messages(verdict),
      ElementsAre("source_lacks_chunk: send of chunk 2 on link 1 (1 -> 0) at 6us: NPU 1 does not hold the chunk",
                  "missing_postcondition: NPU 1 ends without chunk 2, which it must hold"));
}

TEST(Verifier, RejectsALateDuplicateSwappedForAChunkThatItsSourceDoesNotHoldYet) {
  // Link 1 repeats chunk 1 at 2 us: waste, but valid. Swapped for chunk 2, which NPU 1 receives at 6 us, it would end
  // the gather at NPU 0 four microseconds too early.
  auto sends = gather_sends();
  sends[5] = copy_of(2, 1, microseconds(6));
  sends.push_back(copy_of(1, 1, microseconds(2)));
  EXPECT_TRUE(check(CollectiveKind::all_gather, sends).valid());
  sends.erase(sends.begin() + 5);
  sends.back().chunk = ChunkId(2);
  EXPECT_THAT(
      messages(check(CollectiveKind::all_gather, sends)),
      ElementsAre(
          "source_lacks_chunk: send of chunk 2 on link 1 (1 -> 0) at 2us: NPU 1 does not hold the chunk until 6us"));
}

TEST(Verifier, RejectsASendOnALinkThatDoesNotExist) {
  auto sends = gather_sends();
  sends.push_back(copy_of(0, 4, microseconds(0)));
  EXPECT_THAT(messages(check(CollectiveKind::all_gather, sends)),
              ElementsAre("unknown_link: send of chunk 0 on link 4 at 0s: the topology has 4 links"));
}

TEST(Verifier, RejectsAChunkThatDoesNotExist) {
  auto sends = gather_sends();
  sends.push_back(copy_of(3, 0, microseconds(30)));
  EXPECT_THAT(messages(check(CollectiveKind::all_gather, sends)),
              ElementsAre("unknown_chunk: send of chunk 3 on link 0 (0 -> 1) at 30us: the collective has 3 chunks"));
}

TEST(Verifier, RejectsASendBeforeTimeZero) {
  auto sends = gather_sends();
  sends[0].start = SimTime::zero() - nanoseconds(3);
  EXPECT_THAT(messages(check(CollectiveKind::all_gather, sends)),
              ElementsAre("negative_start: send of chunk 0 on link 0 (0 -> 1) at -3ns: time begins at 0s"));
}

TEST(Verifier, SurvivesStartsAtTheEndsOfTime) {
  auto sends = gather_sends();
  sends.push_back(copy_of(0, 0, SimTime::max()));
  EXPECT_TRUE(check(CollectiveKind::all_gather, sends).valid());
  sends.push_back(copy_of(0, 0, SimTime::of(std::numeric_limits<std::int64_t>::min())));
  EXPECT_EQ(check(CollectiveKind::all_gather, sends).violations, 1U);
}

TEST(Verifier, RejectsAMissingPostcondition) {
  auto sends = gather_sends();
  sends.pop_back();
  EXPECT_THAT(messages(check(CollectiveKind::all_gather, sends)),
              ElementsAre("missing_postcondition: NPU 0 ends without chunk 2, which it must hold"));
}

TEST(Verifier, NamesTheContributionsThatASumLacks) {
  auto sends = reduce_scatter_sends();
  sends.erase(sends.begin() + 2);  // NPU 0's part of chunk 1
  EXPECT_THAT(
      messages(check(CollectiveKind::reduce_scatter, sends)),
      ElementsAre(
          "missing_contribution: NPU 1 ends without the sum of chunk 1: its sum lacks the contribution of NPU 0"));
  EXPECT_THAT(messages(check(CollectiveKind::reduce, {})),
              ElementsAre("missing_contribution: NPU 0 ends without the sum of chunk 0: its sum lacks the "
                          "contributions of NPU 1, NPU 2"));
}

TEST(Verifier, RejectsAContributionThatIsCountedTwice) {
  auto sends = reduce_scatter_sends();
  sends.push_back(sum_of(2, 0, microseconds(30)));  // NPU 0's part of chunk 2 again
  EXPECT_THAT(messages(check(CollectiveKind::reduce_scatter, sends)),
              ElementsAre("contribution_twice: send of chunk 2 on link 0 (0 -> 1) at 30us: at its arrival at 32us the "
                          "contribution of NPU 0 "
                          "is in the sum at NPU 1 already"));
}

TEST(Verifier, RejectsAPartialSumThatMeetsItsOwnCopyByAnotherWay) {
  // Ring of 3, Reduce to NPU 0: NPU 2 sends its part to NPU 1 (which sends on to 0) and to NPU 0.
  const auto ring = support::ring(3, microseconds(1), gigabytes_per_second(4));
  const auto reduce = support::collective(CollectiveKind::reduce, 3, bytes(4000));
  const auto link = [&](std::uint32_t a, std::uint32_t b) { return link_between(ring, a, b).value(); };
  const Verdict verdict =
      verify({ring, reduce, Occupancy::transfer},
             make_list_schedule({sum_of(0, link(2, 1), microseconds(0)), sum_of(0, link(2, 0), microseconds(0)),
                                 sum_of(0, link(1, 0), microseconds(2))}));
  ASSERT_EQ(verdict.violations, 1U);
  EXPECT_EQ(verdict.findings[0].violation, Violation::contribution_twice);
  EXPECT_THAT(verdict.findings[0].message,
              ::testing::HasSubstr("at its arrival at 4us the contribution of NPU 2 is in the sum at NPU 0"));
  EXPECT_EQ(verdict.reduction_check, "exact_sets");
}

TEST(Verifier, RejectsAPartialSumThatArrivesAfterTheFinalValue) {
  // NPU 2 has the final chunk 0 at 36 us; then NPU 1's partial sum comes once more.
  auto sends = reduce_scatter_sends();
  for (Send send : gather_sends()) {
    send.start += microseconds(12);
    sends.push_back(send);
  }
  sends.push_back(sum_of(0, 2, microseconds(40)));
  const Verdict verdict = check(CollectiveKind::all_reduce, sends);
  ASSERT_EQ(verdict.violations, 1U);
  EXPECT_EQ(verdict.findings[0].violation, Violation::contribution_twice);
}

TEST(Verifier, RejectsACopyOfASumThatIsNotComplete) {
  // NPU 1 sends chunk 1 as a final value with only NPU 0's part in it (4 us); NPU 2's part arrives at 12 us.
  auto sends = reduce_scatter_sends();
  for (Send send : gather_sends()) {
    send.start += microseconds(12);
    sends.push_back(send);
  }
  sends.push_back(copy_of(1, 1, microseconds(9)));
  EXPECT_THAT(messages(check(CollectiveKind::all_reduce, sends)),
              ElementsAre("incomplete_sum: send of chunk 1 on link 1 (1 -> 0) at 9us: NPU 1 cannot send the final "
                          "value, as its sum is not "
                          "complete until 12us"));
}

TEST(Verifier, RejectsAPartialSumWhereThereIsNone) {
  // In a gather no NPU has sums; in a reduction over NPUs 0 and 2 the bystander NPU 1 has none before it receives one.
  auto sends = gather_sends();
  sends.push_back(sum_of(1, 1, microseconds(30)));
  EXPECT_THAT(
      messages(check(CollectiveKind::all_gather, sends)),
      ElementsAre(
          "source_lacks_chunk: send of chunk 1 on link 1 (1 -> 0) at 30us: NPU 1 has no part of the chunk's sum"));
  const auto reduce = support::collective(CollectiveKind::reduce, 3, bytes(4000), 1, "0,2");
  const auto relayed = [&](SimTime second) {
    return verify({line3(), reduce, Occupancy::transfer},
                  make_list_schedule({sum_of(0, 3, microseconds(0)), sum_of(0, 1, second)}));
  };
  EXPECT_TRUE(relayed(microseconds(6)).valid());
  EXPECT_EQ(relayed(microseconds(6)).reduction_check, "in_tree");
  ASSERT_EQ(relayed(microseconds(5)).outcome, Verification::invalid);
  EXPECT_EQ(relayed(microseconds(5)).findings[0].violation, Violation::source_lacks_chunk);
}

TEST(Verifier, SendsWhatHadArrivedWhenTheSendBeganAndNoMore) {
  // NPU 1 sends chunk 0 at 5.9 us, before NPU 2's part arrives at 6 us: NPU 0's sum lacks it.
  auto sends = reduce_scatter_sends();
  sends[4].start = nanoseconds(5900);
  EXPECT_THAT(
      messages(check(CollectiveKind::reduce_scatter, sends)),
      ElementsAre(
          "missing_contribution: NPU 0 ends without the sum of chunk 0: its sum lacks the contribution of NPU 2"));
}

TEST(Verifier, AcceptsASumThatWasCompletedElsewhereAndCopiedToItsOwner) {
  // Chunk 0 of a Reduce is summed at NPU 1 instead of its root NPU 0, which receives the final value.
  const Verdict verdict = check(CollectiveKind::reduce, {sum_of(0, 0, microseconds(0)), sum_of(0, 3, microseconds(0)),
                                                         copy_of(0, 1, microseconds(6))});
  EXPECT_THAT(messages(verdict), IsEmpty());
  EXPECT_EQ(verdict.collective_time, microseconds(8));
  EXPECT_EQ(verdict.reduction_check, "exact_sets");
}

TEST(Verifier, CountsAllViolationsAndDescribesTheFirst) {
  std::vector<Send> sends;
  for (std::uint32_t i = 0; i < 100; ++i) sends.push_back(copy_of(0, 10 + i, microseconds(i)));
  VerifyOptions options;
  options.max_findings = 3;
  const Verdict verdict =
      verify({line3(), on_line3(CollectiveKind::all_gather), Occupancy::transfer}, make_list_schedule(sends), options);
  EXPECT_EQ(verdict.violations, 106U);  // 100 unknown links, 6 chunks that were not delivered
  ASSERT_EQ(verdict.findings.size(), 3U);
  EXPECT_EQ(verdict.findings[2].send.link, LinkId(12));
}

TEST(Verifier, RejectsAnEmptyScheduleOncePerPostcondition) {
  EXPECT_EQ(check(CollectiveKind::all_gather, {}).violations, 6U);
}

// A 3x3 mesh (NPU = x + 3y), 1 us per hop and chunk under transfer: alpha 0.5 us, 500 B at 1 GB/s.
const Topology& mesh3x3() {
  static const Topology topology = support::mesh(3, 3, nanoseconds(500), gigabytes_per_second(1));
  return topology;
}

Send mesh_send(std::uint32_t chunk, std::uint32_t source, std::uint32_t target, std::int64_t step) {
  return {microseconds(step), link_between(mesh3x3(), source, target), ChunkId(chunk), Stage::copy};
}

TEST(Verifier, AcceptsABroadcastOverA3x3MeshInFourSteps) {
  // From corner to corner: 4 hops.
  const auto broadcast = support::collective(CollectiveKind::broadcast, 9, bytes(500));
  const Schedule schedule =
      make_list_schedule({mesh_send(0, 0, 1, 0), mesh_send(0, 0, 3, 0), mesh_send(0, 1, 2, 1), mesh_send(0, 3, 4, 1),
                          mesh_send(0, 3, 6, 1), mesh_send(0, 2, 5, 2), mesh_send(0, 4, 7, 2), mesh_send(0, 5, 8, 3)});
  const Verdict verdict = verify({mesh3x3(), broadcast, Occupancy::transfer}, schedule);
  EXPECT_TRUE(verdict.valid());
  EXPECT_EQ(verdict.waste, 0U);
  EXPECT_EQ(verdict.collective_time, microseconds(4));
}

/// All-Gather by rows, then by columns. A line a - b - c gathers one chunk each in 2 steps (b passes a's and c's on in
/// step 1). Columns gather 3 chunks each in 6 steps: the ends send theirs in steps 2-4; the middle sends its own in
/// steps 2-4 and what it received from one end to the other in steps 5-7.
std::vector<Send> mesh_gather() {
  std::vector<Send> sends;
  for (std::uint32_t y = 0; y < 3; ++y) {
    const std::uint32_t a = 3 * y;
    for (const auto& send :
         {mesh_send(a, a, a + 1, 0), mesh_send(a + 2, a + 2, a + 1, 0), mesh_send(a + 1, a + 1, a, 0),
          mesh_send(a + 1, a + 1, a + 2, 0), mesh_send(a, a + 1, a + 2, 1), mesh_send(a + 2, a + 1, a, 1)})
      sends.push_back(send);
  }
  for (std::uint32_t x = 0; x < 3; ++x)
    for (std::uint32_t k = 0; k < 3; ++k)
      for (const auto& send : {mesh_send(k, x, x + 3, 2 + k), mesh_send(6 + k, x + 6, x + 3, 2 + k),
                               mesh_send(3 + k, x + 3, x, 2 + k), mesh_send(3 + k, x + 3, x + 6, 2 + k),
                               mesh_send(k, x + 3, x + 6, 5 + k), mesh_send(6 + k, x + 3, x, 5 + k)})
        sends.push_back(send);
  return sends;
}

TEST(Verifier, AcceptsAnAllGatherOverA3x3MeshByRowsThenColumns) {
  const auto gather = support::collective(CollectiveKind::all_gather, 9, bytes(4500));
  const Verdict verdict = verify({mesh3x3(), gather, Occupancy::transfer}, make_list_schedule(mesh_gather()));
  EXPECT_THAT(messages(verdict), IsEmpty());
  EXPECT_EQ(verdict.sends, 72U);  // 9 chunks to 8 NPUs each
  EXPECT_EQ(verdict.waste, 0U);
  EXPECT_EQ(verdict.collective_time, microseconds(8));
}

TEST(Verifier, RejectsThe3x3MeshGatherWhenColumnsStartOneStepEarly) {
  // In step 1 the ends of a row still lack the far chunk: NPUs 0, 3, 6 lack chunks 2, 5, 8 and NPUs 2, 5, 8 lack 0, 3,
  // 6 until 2 us. Shifting all column sends one step back makes the middle column's first sends collide with nothing
  // (columns and rows use different links), and the chunks k sent in step 1 + k are missing only for k = 0 in column x
  // = 2 (rows 0, 1, 2: three sends, the middle row's twice, up and down).
  auto sends = mesh_gather();
  for (auto& send : sends)
    if (send.start >= microseconds(2)) send.start -= microseconds(1);
  const auto gather = support::collective(CollectiveKind::all_gather, 9, bytes(4500));
  const Verdict verdict = verify({mesh3x3(), gather, Occupancy::transfer}, make_list_schedule(sends));
  EXPECT_EQ(verdict.violations, 4U);
  for (const auto& finding : verdict.findings) EXPECT_EQ(finding.violation, Violation::source_lacks_chunk);
}

}  // namespace
}  // namespace tenex
