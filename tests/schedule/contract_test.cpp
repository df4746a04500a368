// What the verifier and the views of schedules expect, and what a verdict may say.
#include <gtest/gtest.h>

#include <vector>

#include "schedule/verifier/verdict_contract.hpp"
#include "support/contracts.hpp"
#include "support/topologies.hpp"
#include "tenex/schedule/timing/retime.hpp"
#include "tenex/schedule/verifier/verifier.hpp"
#include "tenex/schedule/views/scaled.hpp"
#include "tenex/schedule/views/views.hpp"

namespace tenex {
namespace {

using support::breaks;

/// Two NPUs that exchange a chunk each.
struct BrokenExchange {
  Topology topology = support::line(2);
  Collective gather = support::collective(CollectiveKind::all_gather, 2, bytes(2000));
  Schedule schedule =
      make_list_schedule({{SimTime::zero(), LinkId(0), ChunkId(0)}, {nanoseconds(3), LinkId(1), ChunkId(1)}});
  [[nodiscard]] Instance instance() const { return {topology, gather}; }
};

TEST(ScheduleContracts, OfTheVerifierAreAboutItsCaller) {
  TENEX_NEEDS_CONTRACTS();
  const BrokenExchange given;
  const Collective of_three = support::collective(CollectiveKind::all_gather, 3, bytes(3000));
  EXPECT_THAT(
      [&] {
        (void)verify({given.topology, of_three}, given.schedule);
      },
      breaks("verify() expects a collective of the topology's NPUs"));
  VerifyOptions options;
  options.threads = 0;
  EXPECT_THAT([&] { (void)verify(given.instance(), given.schedule, options); },
              breaks("verify() expects at least one thread"));
}

TEST(ScheduleContracts, OfAVerdictFindItsContradictions) {
  const BrokenExchange given;
  const Verdict right = verify(given.instance(), given.schedule);
  ASSERT_TRUE(right.valid());
  const auto agrees = [&](const Verdict& verdict) {
    return verifier::agrees_with_itself(verdict, given.gather, given.schedule);
  };
  EXPECT_TRUE(agrees(right));
  Verdict wrong = right;
  wrong.violations = 1;  // and valid
  EXPECT_FALSE(agrees(wrong));
  wrong.outcome = Verification::invalid;
  EXPECT_TRUE(agrees(wrong));
  wrong.violations = 0;  // and invalid
  EXPECT_FALSE(agrees(wrong));
  wrong = right;
  wrong.sends = 1;  // of two
  EXPECT_FALSE(agrees(wrong));
  wrong = right;
  wrong.collective_time = SimTime::zero();  // although two chunks were delivered
  EXPECT_FALSE(agrees(wrong));
  wrong = right;
  wrong.findings.emplace_back();  // of nothing
  EXPECT_FALSE(agrees(wrong));
}

TEST(ScheduleContracts, OfViewsAreAboutTheirCaller) {
  TENEX_NEEDS_CONTRACTS();
  const BrokenExchange given;
  EXPECT_THAT(
      [&] {
        (void)relabelled(given.schedule, {LinkId(0), LinkId(0)});
      },
      breaks("relabelled() expects permutations"));
  EXPECT_THAT(
      [&] {
        (void)relabelled(given.schedule, {LinkId(1), LinkId(2)});
      },
      breaks("relabelled() expects permutations"));
  // The second send starts at 3 ns, which is no multiple of 2 ns.
  EXPECT_THAT([&] { (void)scaled(given.schedule, nanoseconds(2), nanoseconds(4)); },
              breaks("scaled() expects starts that are multiples"));
  EXPECT_EQ(scaled(given.schedule, nanoseconds(3), nanoseconds(6)).sends(), 2U);
}

TEST(ScheduleContracts, OfRetimeLetSendsThatOverlapEndLater) {
  const Topology topology = support::line(2);
  const Collective gather = support::collective(CollectiveKind::all_gather, 2, bytes(4000), 2);
  const Instance instance{topology, gather};
  // Both chunks of NPU 0 at once over one link. A chunk of 1,000 bytes takes it for 20 ns, and arrives 500 ns later.
  const Schedule at_once =
      make_list_schedule({{SimTime::zero(), LinkId(0), ChunkId(0)}, {SimTime::zero(), LinkId(0), ChunkId(1)}});
  EXPECT_EQ(last_arrival(instance, at_once), nanoseconds(520));
  EXPECT_EQ(last_arrival(instance, retime(instance, at_once)), nanoseconds(540));
}

}  // namespace
}  // namespace tenex
