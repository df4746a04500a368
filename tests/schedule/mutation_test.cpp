// Breaks valid schedules in a thousand random ways and compares the verifier with a naive reading of the definition.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "schedule/link_major_storage.hpp"
#include "schedule/mutations.hpp"
#include "schedule/naive_oracle.hpp"
#include "tenex/schedule/timing/retime.hpp"
#include "tenex/schedule/verifier/verifier.hpp"

namespace tenex {
namespace {

using test::Case;
using test::cases;
using test::describe;
using test::expect_equal;
using test::mutate;

TEST(Mutations, StartFromSchedulesThatVerifierAndOracleAccept) {
  for (const auto& original : cases()) {
    const Schedule schedule = make_list_schedule(original.sends);
    const Verdict verdict = verify({original.topology, original.collective, original.occupancy}, schedule);
    EXPECT_TRUE(verdict.valid()) << original.name << ": " << describe(verdict);
    const auto oracle =
        test::NaiveOracle({original.topology, original.collective, original.occupancy}, schedule).answer();
    EXPECT_TRUE(oracle.valid) << original.name;
    EXPECT_EQ(oracle.collective_time, verdict.collective_time) << original.name;
    EXPECT_EQ(oracle.waste, verdict.waste) << original.name;
  }
}

TEST(Mutations, AreJudgedAsTheDefinitionJudgesThem) {
  const auto originals = cases();
  Random random(2024);
  std::size_t broken = 0;
  std::size_t harmless = 0;
  for (int round = 0; round < 1000; ++round) {
    const Case& original = originals[static_cast<std::size_t>(round) % originals.size()];
    const Schedule schedule = make_list_schedule(mutate(original, random));
    const auto oracle =
        test::NaiveOracle({original.topology, original.collective, original.occupancy}, schedule).answer();
    for (const auto method : {ReductionCheck::automatic, ReductionCheck::exact_sets, ReductionCheck::in_tree}) {
      VerifyOptions options;
      options.reduction_check = method;
      const Verdict verdict = verify({original.topology, original.collective, original.occupancy}, schedule, options);
      if (verdict.outcome == Verification::skipped) {
        EXPECT_EQ(method, ReductionCheck::in_tree);
        continue;
      }
      EXPECT_EQ(verdict.valid(), oracle.valid) << original.name << ", mutation " << round << ", method "
                                               << static_cast<int>(method) << ": " << describe(verdict);
      if (!oracle.valid || !verdict.valid()) continue;
      EXPECT_EQ(verdict.collective_time, oracle.collective_time) << original.name << ", mutation " << round;
      EXPECT_EQ(verdict.waste, oracle.waste) << original.name << ", mutation " << round;
    }
    ++(oracle.valid ? harmless : broken);
  }
  EXPECT_GT(broken, 300U);
  EXPECT_GT(harmless, 50U);
}

TEST(Mutations, AreJudgedLinkByLinkAsTheyAreInTimeOrder) {
  const auto originals = cases();
  Random random(777);
  std::size_t accepted = 0;
  std::size_t refused = 0;
  for (int round = 0; round < 1500; ++round) {
    const Case& original = originals[static_cast<std::size_t>(round) % originals.size()];
    const auto sends = round < static_cast<int>(originals.size()) ? original.sends : mutate(original, random);
    const auto check = [&](const Schedule& schedule, ReductionCheck method, int threads) {
      VerifyOptions options;
      options.reduction_check = method;
      options.threads = threads;
      return verify({original.topology, original.collective, original.occupancy}, schedule, options);
    };
    const Schedule by_time = make_list_schedule(sends);
    const test::LinkMajor by_link(sends, 1 + random.below(5));
    const std::string where = original.name + ", mutation " + std::to_string(round);
    for (const auto method : {ReductionCheck::automatic, ReductionCheck::in_tree}) {
      const Verdict expected = check(by_time, method, 1);
      for (const int threads : {1, 3}) {
        by_link.forget_reads();
        const Verdict verdict = check(by_link.schedule(), method, threads);
        expect_equal(verdict, expected, where);
        if (by_link.segments_read() > 0) continue;  // wrong or unusual, and so replayed in time order
        const auto oracle =
            test::NaiveOracle({original.topology, original.collective, original.occupancy}, by_time).answer();
        EXPECT_TRUE(oracle.valid) << where;
        EXPECT_EQ(verdict.collective_time, oracle.collective_time) << where;
        EXPECT_EQ(verdict.waste, oracle.waste) << where;
        ++accepted;
      }
      // Collectives that only copy, among NPUs alone, are usual whatever their mutation, as long as there are no
      // messages.
      const bool messages = std::ranges::any_of(sends, [](const Send& send) { return send.message.exists(); });
      if (expected.valid() && !reduces(original.collective.kind()) && original.topology.switches() == 0 && !messages) {
        EXPECT_EQ(by_link.segments_read(), 0U) << where;
      }
    }
    if (!check(by_time, ReductionCheck::automatic, 1).valid()) ++refused;
  }
  EXPECT_GT(accepted, 600U);
  EXPECT_GT(refused, 400U);
}

TEST(Mutations, ThatStayValidCanBeRetimed) {
  const auto originals = cases();
  Random random(99);
  std::size_t retimed_count = 0;
  for (int round = 0; round < 1000; ++round) {
    const Case& original = originals[static_cast<std::size_t>(round) % originals.size()];
    const Schedule schedule = make_list_schedule(mutate(original, random));
    const Verdict before = verify({original.topology, original.collective, original.occupancy}, schedule);
    if (!before.valid()) continue;
    const Schedule sooner = retime({original.topology, original.collective, original.occupancy}, schedule);
    const Verdict after = verify({original.topology, original.collective, original.occupancy}, sooner);
    EXPECT_TRUE(after.valid()) << original.name << ", mutation " << round << ": " << describe(after);
    EXPECT_LE(after.collective_time, before.collective_time) << original.name << ", mutation " << round;
    ++retimed_count;
  }
  EXPECT_GT(retimed_count, 50U);
}

}  // namespace
}  // namespace tenex
