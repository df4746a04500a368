// The two checks of reductions: the in-tree rule and exact contribution sets must agree, and memory decides between
// them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "schedule/schedule_factories.hpp"
#include "support/verdicts.hpp"
#include "tenex/schedule/verifier/verifier.hpp"

namespace tenex {
namespace {

using test::sum_of;

VerifyOptions by(ReductionCheck method, std::size_t memory_limit = std::size_t{1} << 30) {
  VerifyOptions options;
  options.reduction_check = method;
  options.memory_limit_bytes = memory_limit;
  return options;
}

TEST(ReductionChecks, AgreeOnSchedulesThatAreInTrees) {
  for (std::uint64_t seed = 0; seed < 10; ++seed)
    for (const auto kind : {CollectiveKind::reduce_scatter, CollectiveKind::all_reduce, CollectiveKind::reduce}) {
      const auto topology = support::random_connected_topology(seed, 9, true);
      const auto collective = support::collective(kind, topology.npus(), bytes(90'000), 2);
      const Schedule schedule = test::greedy_schedule({topology, collective, Occupancy::transfer}, seed);
      const Verdict tree = verify({topology, collective, Occupancy::transfer}, schedule, by(ReductionCheck::in_tree));
      const Verdict sets =
          verify({topology, collective, Occupancy::transfer}, schedule, by(ReductionCheck::exact_sets));
      EXPECT_TRUE(tree.valid());
      EXPECT_TRUE(sets.valid());
      EXPECT_EQ(tree.reduction_check, "in_tree");
      EXPECT_EQ(sets.reduction_check, "exact_sets");
      EXPECT_EQ(tree.collective_time, sets.collective_time);
    }
}

TEST(ReductionChecks, AgreeOnWhenASumMayBeCopied) {
  // The first copy of an All-Reduce 1 ps before its sum is complete: both methods see an incomplete sum.
  const auto topology = support::ring(4);
  const auto collective = support::collective(CollectiveKind::all_reduce, 4, bytes(4000));
  auto sends = list_sends(test::greedy_schedule({topology, collective, Occupancy::transfer}, 3));
  const auto first_copy =
      std::find_if(sends.begin(), sends.end(), [](const Send& send) { return send.stage == Stage::copy; });
  const ChunkId chunk = first_copy->chunk;
  const SimTime latency = hop_time(topology.classes()[0], collective.chunk_sizes()[0], Occupancy::transfer).latency;
  SimTime complete;
  for (const auto& send : sends)
    if (send.chunk == chunk && send.stage == Stage::reduce) complete = std::max(complete, send.start + latency);
  first_copy->start = complete - SimTime::of(1);
  for (const auto method : {ReductionCheck::in_tree, ReductionCheck::exact_sets}) {
    const Verdict verdict = verify({topology, collective, Occupancy::transfer}, make_list_schedule(sends), by(method));
    ASSERT_GE(verdict.violations, 1U);
    EXPECT_TRUE(std::any_of(verdict.findings.begin(), verdict.findings.end(),
                            [](const Finding& finding) { return finding.violation == Violation::incomplete_sum; }));
  }
}

TEST(ReductionChecks, FallBackToExactSetsWhereEverybodySumsUp) {
  const auto topology = support::shape("hypercube(3)");
  const auto collective = support::collective(CollectiveKind::all_reduce, 8, bytes(8000));
  const Schedule schedule = make_list_schedule(test::recursive_doubling({topology, collective, Occupancy::transfer}));
  const Verdict verdict = verify({topology, collective, Occupancy::transfer}, schedule);
  EXPECT_TRUE(verdict.valid());
  EXPECT_EQ(verdict.reduction_check, "exact_sets");
  // Each chunk and message takes 500 ns + 1,000 B / 50 GB/s = 520 ns; 3 rounds of 8 chunks, one after the other on a
  // link.
  EXPECT_EQ(verdict.collective_time, nanoseconds(520 * 8 * 3));
}

/// An All-Reduce on a line 0 - 1 - 2: every chunk is summed up at NPU 2 and sent back. NPU 0's part is a message that
/// passes NPU 1. A hop takes 500 ns + 1,000 B / 50 GB/s = 520 ns.
std::vector<Send> summed_at_the_end(const Topology& line) {
  std::vector<Send> sends;
  const auto link = [&](std::uint32_t a, std::uint32_t b) { return test::link_between(line, a, b).value(); };
  for (std::uint32_t chunk = 0; chunk < 3; ++chunk) {
    const SimTime start = nanoseconds(4 * 520) * chunk;
    sends.push_back(test::hop_of(sum_of(chunk, link(0, 1), start), chunk, 2));
    sends.push_back(test::hop_of(sum_of(chunk, link(1, 2), start + nanoseconds(520)), chunk, 2));
    sends.push_back(sum_of(chunk, link(1, 2), start));
    sends.push_back(test::copy_of(chunk, link(2, 1), start + nanoseconds(2 * 520)));
    sends.push_back(test::copy_of(chunk, link(1, 0), start + nanoseconds(3 * 520)));
  }
  return sends;
}

TEST(ReductionChecks, AllowAnAllReducesSumsToBecomeCompleteAnywhere) {
  const auto topology = support::line(3);
  const auto collective = support::collective(CollectiveKind::all_reduce, 3, bytes(3000));
  const Schedule schedule = make_list_schedule(summed_at_the_end(topology));
  for (const auto method : {ReductionCheck::in_tree, ReductionCheck::exact_sets}) {
    const Verdict verdict = verify({topology, collective, Occupancy::transfer}, schedule, by(method, 10'000));
    EXPECT_TRUE(verdict.valid()) << support::first_finding(verdict);
    EXPECT_EQ(verdict.reduction_check, method == ReductionCheck::in_tree ? "in_tree" : "exact_sets");
    EXPECT_EQ(verdict.collective_time, nanoseconds(3 * 4 * 520));
  }
}

TEST(ReductionChecks, SeeACopyOfASumThatIsCompleteElsewhere) {
  // NPU 1 owns chunk 1, but its sum is complete at NPU 2 after 1,040 ns, and NPU 1 sends a value to NPU 0 before.
  const auto topology = support::line(3);
  const auto collective = support::collective(CollectiveKind::all_reduce, 3, bytes(3000));
  auto sends = summed_at_the_end(topology);
  sends[9].start -= picoseconds(521'000);  // the copy of chunk 1 from NPU 1 to NPU 0: after the sums, before the copy
  for (const auto method : {ReductionCheck::in_tree, ReductionCheck::exact_sets}) {
    const Verdict verdict = verify({topology, collective, Occupancy::transfer}, make_list_schedule(sends), by(method));
    ASSERT_EQ(verdict.violations, 1U) << static_cast<int>(method);
    EXPECT_EQ(verdict.findings[0].violation, Violation::incomplete_sum);
    if (method == ReductionCheck::in_tree) {
      EXPECT_THAT(verdict.findings[0].message, ::testing::HasSubstr("goes toward NPU 2 and never becomes complete"));
    }
  }
}

TEST(ReductionChecks, DoNotTakeAReduceScatterForRootedElsewhere) {
  // The same sums without their copies. As a Reduce-Scatter, chunks 0 and 1 end at NPUs that do not need them.
  const auto topology = support::line(3);
  const auto collective = support::collective(CollectiveKind::reduce_scatter, 3, bytes(3000));
  auto sends = summed_at_the_end(topology);
  std::erase_if(sends, [](const Send& send) { return send.stage == Stage::copy; });
  const Verdict verdict = verify({topology, collective, Occupancy::transfer}, make_list_schedule(sends));
  EXPECT_EQ(verdict.outcome, Verification::invalid);
  ASSERT_EQ(verdict.violations, 2U);
  EXPECT_EQ(verdict.findings[0].violation, Violation::missing_contribution);
}

TEST(ReductionChecks, SkipWhatWouldNeedTooMuchMemoryAndSayHowMuch) {
  const auto topology = support::shape("hypercube(3)");
  const auto collective = support::collective(CollectiveKind::all_reduce, 8, bytes(8000));
  const Schedule schedule = make_list_schedule(test::recursive_doubling({topology, collective, Occupancy::transfer}));
  const Verdict verdict =
      verify({topology, collective, Occupancy::transfer}, schedule, by(ReductionCheck::automatic, 100));
  EXPECT_EQ(verdict.outcome, Verification::skipped);
  EXPECT_FALSE(verdict.valid());
  EXPECT_EQ(verdict.violations, 0U);
  EXPECT_EQ(verdict.reduction_check, "skipped");
  // 8 NPUs x 8 chunks x one word of 8 B, and up to 24 sums under way (one per link), each with some overhead.
  EXPECT_GE(verdict.memory_needed_bytes, 512U + 24U * 8U);
  EXPECT_LE(verdict.memory_needed_bytes, 512U + 24U * 200U);
  EXPECT_TRUE(verify({topology, collective, Occupancy::transfer}, schedule,
                     by(ReductionCheck::automatic, verdict.memory_needed_bytes))
                  .valid());
}

TEST(ReductionChecks, StillFindOtherViolationsWhereSumsAreSkipped) {
  const auto topology = support::shape("hypercube(3)");
  const auto collective = support::collective(CollectiveKind::all_reduce, 8, bytes(8000));
  auto sends = test::recursive_doubling({topology, collective, Occupancy::transfer});
  sends[1].start -= SimTime::of(1);  // overlaps with sends[0] on the same link
  const Verdict verdict =
      verify({topology, collective, Occupancy::transfer}, make_list_schedule(sends), by(ReductionCheck::in_tree));
  EXPECT_EQ(verdict.outcome, Verification::invalid);
  ASSERT_EQ(verdict.violations, 1U);
  EXPECT_EQ(verdict.findings[0].violation, Violation::link_overlap);
}

TEST(ReductionChecks, RejectTheInTreeRuleForASumSentBeforeItsLastReceive) {
  // Line 0 - 1 - 2 - 3, Reduce to NPU 0. NPU 1 sends at 0, before NPU 2's part arrives: no in-tree, and in fact NPU 2's
  // and 3's contributions are lost.
  const auto topology = support::line(4);
  const auto reduce = support::collective(CollectiveKind::reduce, 4, bytes(1000));
  const auto link = [&](std::uint32_t a) { return test::link_between(topology, a, a - 1).value(); };
  const std::vector<Send> sends{sum_of(0, link(3), microseconds(0)), sum_of(0, link(2), microseconds(1)),
                                sum_of(0, link(1), microseconds(0))};
  EXPECT_EQ(
      verify({topology, reduce, Occupancy::transfer}, make_list_schedule(sends), by(ReductionCheck::in_tree)).outcome,
      Verification::skipped);
  const Verdict verdict = verify({topology, reduce, Occupancy::transfer}, make_list_schedule(sends));
  ASSERT_EQ(verdict.violations, 1U);
  EXPECT_THAT(verdict.findings[0].message, ::testing::HasSubstr("its sum lacks the contributions of NPU 2, NPU 3"));
}

TEST(ReductionChecks, RejectAPartialSumThatIsSentAgainWithMoreInIt) {
  // NPU 1 sends its own part at 0 and could not send it again: exact sets know that a kept sum counts twice.
  const auto topology = support::line(3);
  const auto reduce = support::collective(CollectiveKind::reduce, 3, bytes(1000));
  const auto link = [&](std::uint32_t a) { return test::link_between(topology, a, a - 1).value(); };
  const Verdict verdict =
      verify({topology, reduce, Occupancy::transfer},
             make_list_schedule({sum_of(0, link(1), microseconds(0)), sum_of(0, link(2), microseconds(0)),
                                 sum_of(0, link(1), microseconds(1))}));
  ASSERT_EQ(verdict.violations, 1U);
  EXPECT_EQ(verdict.findings[0].violation, Violation::contribution_twice);
}

// RI(3), groups "0,1": a Reduce-Scatter of two chunks is a sum over 1 -> 0 and one over 0 -> 1, 520 ns each. Later
// sends of the same sums to NPU 2, which is in no group, are legal and of no use to anybody: the time stays 520 ns.
// Where NPU 2 relays the second sum instead, 0 -> 2 and 2 -> 1, both sends are useful, and a third one from 2 back to 0
// is not.
TEST(ReductionChecks, CountPartialSumsThatNobodyNeedsAsWaste) {
  const auto topology = support::ring(3);
  const auto scatter = support::collective(CollectiveKind::reduce_scatter, 3, bytes(2000), 1, "0,1");
  const auto link = [&](std::uint32_t a, std::uint32_t b) { return test::link_between(topology, a, b).value(); };
  const auto check = [&](std::vector<Send> sends) {
    const Verdict verdict = verify({topology, scatter, Occupancy::transfer}, make_list_schedule(std::move(sends)));
    EXPECT_TRUE(verdict.valid()) << support::first_finding(verdict);
    return std::pair(verdict.collective_time, verdict.waste);
  };
  const Send to_first = sum_of(0, link(1, 0), microseconds(0));
  const Send to_second = sum_of(1, link(0, 1), microseconds(0));
  EXPECT_EQ(check({to_first, to_second}), std::pair(nanoseconds(520), std::uint64_t{0}));
  EXPECT_EQ(check({to_first, to_second, sum_of(0, link(0, 2), microseconds(50))}),
            std::pair(nanoseconds(520), std::uint64_t{1}));
  EXPECT_EQ(
      check({to_first, to_second, sum_of(0, link(0, 2), microseconds(50)), sum_of(1, link(1, 2), microseconds(60))}),
      std::pair(nanoseconds(520), std::uint64_t{2}));
  const Send to_relay = sum_of(1, link(0, 2), microseconds(0));
  const Send from_relay = sum_of(1, link(2, 1), microseconds(2));
  EXPECT_EQ(check({to_first, to_relay, from_relay}), std::pair(nanoseconds(2520), std::uint64_t{0}));
}

TEST(ReductionChecks, NeedOneBitPerNpuAndChunkAtScale) {
  // 1,024 NPUs on a ring, a chain for each chunk: a million sends verified by the in-tree rule with no memory for sets
  // at all.
  constexpr std::uint32_t n = 1024;
  const auto topology = support::ring(n);
  const auto scatter = support::collective(CollectiveKind::reduce_scatter, n, bytes(1000 * n));
  const auto gather = scatter.as(CollectiveKind::all_gather);
  const Schedule schedule =
      reversed({topology, gather, Occupancy::transfer},
               make_list_schedule(test::ring_gather({topology.reversed(), gather, Occupancy::transfer})));
  const Verdict verdict = verify({topology, scatter, Occupancy::transfer}, schedule, by(ReductionCheck::automatic, 0));
  // 1,023 steps of 500 ns + 1,000 B / 50 GB/s = 520 ns.
  EXPECT_TRUE(verdict.valid());
  EXPECT_EQ(verdict.reduction_check, "in_tree");
  EXPECT_EQ(verdict.collective_time, nanoseconds(1023 * 520));
}

}  // namespace
}  // namespace tenex
