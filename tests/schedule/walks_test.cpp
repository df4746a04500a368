// The check of walks against the replay and a naive reading of the definition, on random schedules and broken ones.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "schedule/naive_oracle.hpp"
#include "schedule/schedule_factories.hpp"
#include "schedule/verifier/fast_checks.hpp"
#include "schedule/verifier/walk_checks.hpp"
#include "schedule/walk_factories.hpp"
#include "tenex/schedule/verifier/verifier.hpp"

namespace tenex {
namespace {

/// A topology, a collective whose chunks have one destination each, and a schedule of random walks.
struct WalkCase {
  Topology topology;
  Collective collective;
  Occupancy occupancy;
  std::vector<Send> sends;
  [[nodiscard]] Instance instance() const { return {topology, collective, occupancy}; }
};

/// Up to five unicasts between random NPUs, some of them alike.
Collective random_unicasts(std::uint32_t npus, std::int64_t chunks, Random& random) {
  std::vector<Condition> conditions;
  for (std::uint32_t i = 0; i < 1 + random.below(5); ++i) {
    const std::uint32_t source = random.below(npus);
    conditions.push_back({source, {(source + 1 + random.below(npus - 1)) % npus}, bytes(1000 * (1 + random.below(3)))});
  }
  CollectiveRequest request{CollectiveKind::conditions, npus, parse_groups("all", npus).value(), chunks, bytes(6000)};
  request.groups.front().conditions = std::make_shared<const std::vector<Condition>>(std::move(conditions));
  return Collective::make(std::move(request)).value();
}

Collective random_unicast_collective(std::uint32_t npus, Random& random) {
  const auto chunks = 1 + static_cast<std::int64_t>(random.below(2));
  const auto kind =
      std::array{CollectiveKind::all_to_all, CollectiveKind::gather, CollectiveKind::scatter}[random.below(3)];
  if (random.below(4) == 0) return random_unicasts(npus, chunks, random);
  // Sometimes in two groups, with chunks of different sizes, or of different kinds that share NPUs.
  const std::string_view groups = npus <= 4 ? "all"
                                  : random.below(2) == 0
                                      ? "0,2,4; 1,3"
                                      : "0,2,4 all_to_all 9KB; 1,2,3,4 gather 8KB root 2; 0,4 scatter";
  return support::collective(kind, npus, bytes(12'000), chunks, groups);
}

WalkCase random_case(Random& random) {
  const std::uint32_t npus = 2 + random.below(5);
  Topology topology = test::random_walkable_graph(npus, random.below(8), random);
  Collective collective = random_unicast_collective(npus, random);
  const auto occupancy = random.below(2) == 0 ? Occupancy::transfer : Occupancy::serialization;
  auto sends = test::random_walks({topology, collective, occupancy}, random);
  return {std::move(topology), std::move(collective), occupancy, std::move(sends)};
}

/// One random change. Some are harmless: a later start of a last hop, a chunk that goes round.
std::vector<Send> broken(const WalkCase& original, Random& random) {
  auto sends = original.sends;
  Send& send = sends[random.below(static_cast<std::uint32_t>(sends.size()))];
  Send& other = sends[random.below(static_cast<std::uint32_t>(sends.size()))];
  switch (random.below(9)) {
    case 0:
      send.start -= nanoseconds(1 + random.below(20'000));
      break;
    case 1:
      send.start += nanoseconds(1 + random.below(20'000));
      break;
    case 2:
      send.chunk = ChunkId(random.below(static_cast<std::uint32_t>(original.collective.chunks()) + 1));
      break;
    case 3:
      send.link = LinkId(random.below(static_cast<std::uint32_t>(original.topology.links()) + 1));
      break;
    case 4:
      sends.erase(sends.begin() + (&send - sends.data()));
      break;
    case 5:
      std::swap(send.start, other.start);
      break;
    case 6:
      std::swap(send.chunk, other.chunk);
      break;
    case 7: {  // at the very end: again over the same link, or on from there
      Send again = send;
      again.start = microseconds(100'000);  // after all others
      if (random.below(2) == 0) {
        const auto onward = original.topology.out_links(original.topology.target(send.link));
        again.link = onward[random.below(static_cast<std::uint32_t>(onward.size()))];
      }
      sends.push_back(again);
      break;
    }
    default:
      send.stage = Stage::reduce;
      break;
  }
  return sends;
}

void expect_same(const Verdict& got, const Verdict& expected, const std::string& where) {
  EXPECT_EQ(got.outcome, expected.outcome) << where;
  EXPECT_EQ(got.violations, expected.violations) << where;
  EXPECT_EQ(got.sends, expected.sends) << where;
  EXPECT_EQ(got.waste, expected.waste) << where;
  EXPECT_EQ(got.collective_time, expected.collective_time) << where;
  EXPECT_EQ(got.reduction_check, expected.reduction_check) << where;
}

TEST(Walks, AreJudgedAsTheReplayAndTheDefinitionJudgeThem) {
  Random random(616);
  std::size_t walked = 0;
  std::size_t refused = 0;
  std::size_t wasteful = 0;
  for (int round = 0; round < 1500; ++round) {
    const WalkCase original = random_case(random);
    const auto sends = round % 3 == 0 ? original.sends : broken(original, random);
    const std::string where = "round " + std::to_string(round);
    const Instance instance = original.instance();
    VerifyOptions options;
    if (random.below(4) == 0) options.start_delays = {{NpuId(0), nanoseconds(random.below(3000))}};
    const Verdict expected = verify(instance, test::replayed(sends), options);
    if (options.start_delays.empty()) {
      const auto oracle = test::NaiveOracle(instance, make_list_schedule(sends)).answer();
      EXPECT_EQ(expected.valid(), oracle.valid) << where;
    }
    const verifier::Context context(instance);
    for (const auto& schedule : {make_list_schedule(sends), test::chunk_major(sends, sends)}) {
      expect_same(verify(instance, schedule, options), expected, where);
      const auto verdict = verifier::verify_by_walks(context, schedule, options);
      if (round % 3 == 0 && options.start_delays.empty()) {
        EXPECT_TRUE(verdict.has_value()) << where;
      }
      if (verdict) expect_same(*verdict, expected, where);
      ++(verdict ? walked : refused);
    }
    if (expected.valid() && expected.waste > 0) ++wasteful;
  }
  EXPECT_GT(walked, 900U);
  EXPECT_GT(refused, 1000U);
  EXPECT_GT(wasteful, 50U);
}

TEST(Walks, AreTheSameForAnyThreadsAndMemory) {
  Random random(31);
  const Topology mesh = support::mesh(6, 5);
  const Collective collective = support::collective(CollectiveKind::all_to_all, 30, bytes(360'000), 12);
  const Instance instance{mesh, collective, Occupancy::transfer};
  const auto sends = test::random_walks(instance, random);
  const Schedule schedule = make_list_schedule(sends);
  const verifier::Context context(instance);
  const verifier::WalkRules rules(context, {});
  const Verdict expected = verify(instance, test::replayed(sends));
  ASSERT_TRUE(expected.valid());
  ASSERT_GT(expected.sends, 100'000U);  // enough for several threads and segments
  // In three shares, each of some chunks and some links.
  verifier::WalkTally tally;
  for (const std::size_t share : {0, 1, 2}) {
    const auto own = verifier::follow_in_time(
        rules, schedule,
        {share * 3600, 3600, mesh.links() * share / 3, mesh.links() * (share + 1) / 3 - mesh.links() * share / 3});
    ASSERT_TRUE(own);
    tally.add(*own);
  }
  EXPECT_EQ(tally.sends, expected.sends);
  EXPECT_EQ(tally.last_arrival, expected.collective_time);
  // In two intervals of time.
  verifier::LinkSpan early(mesh.links());
  verifier::LinkSpan late(mesh.links());
  const std::size_t middle = schedule.segments() / 2;
  const auto first = verifier::check_links(rules, schedule, 0, middle, early);
  const auto second = verifier::check_links(rules, schedule, middle, schedule.segments(), late);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->sends + second->sends, expected.sends);
  EXPECT_TRUE(early.append(late));
  for (const int threads : {1, 2, 5}) {
    VerifyOptions options;
    options.threads = threads;
    expect_same(verify(instance, schedule, options), expected, std::to_string(threads));
  }
}

/// 0 -> 1 -> 2 on a line, one chunk per pair of 1000 B at 1 GB/s, alpha 1 us: each hop takes 2 us.
struct LineOfThree {
  Topology line = support::line(3, microseconds(1), gigabytes_per_second(1));
  Collective collective = support::collective(CollectiveKind::all_to_all, 3, bytes(3000));
  Instance instance{line, collective, Occupancy::transfer};
  // Chunk 3i + j goes from i to j. Links: 0 = 0->1, 1 = 1->2, 2 = 1->0, 3 = 2->1.
  std::vector<Send> sends() const {
    const auto on = [&](std::uint32_t from, std::uint32_t to) { return test::link_between(line, from, to).value(); };
    const auto at = [](std::int64_t us) { return microseconds(us); };
    return {test::copy_of(2, on(0, 1), at(0)), test::copy_of(5, on(1, 2), at(0)), test::copy_of(1, on(0, 1), at(2)),
            test::copy_of(2, on(1, 2), at(2)), test::copy_of(6, on(2, 1), at(0)), test::copy_of(3, on(1, 0), at(0)),
            test::copy_of(7, on(2, 1), at(2)), test::copy_of(6, on(1, 0), at(2))};
  }
};

// Two chunks cross each link, the second one's arrival is at 4 us; 8 hops in all.
TEST(Walks, OfALineOfThreeTakeFourMicroseconds) {
  const LineOfThree three;
  const verifier::Context context(three.instance);
  const auto verdict = verifier::verify_by_walks(context, make_list_schedule(three.sends()), {});
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->collective_time, microseconds(4));
  EXPECT_EQ(verdict->sends, 8U);
  EXPECT_EQ(verdict->waste, 0U);
}

TEST(Walks, NeedEqualReadingsByTimeAndByChunk) {
  const LineOfThree three;
  const verifier::Context context(three.instance);
  const auto sends = three.sends();
  EXPECT_TRUE(verifier::verify_by_walks(context, test::chunk_major(sends, sends), {}));
  auto later = sends;  // by chunk, the last hop of chunk 2 is 1 ps later: a valid walk, but not what is read by time
  later[3].start += picoseconds(1);
  EXPECT_FALSE(verifier::verify_by_walks(context, test::chunk_major(sends, later), {}));
  EXPECT_FALSE(verifier::verify_by_walks(context, test::chunk_major(later, sends), {}));
}

TEST(Walks, MayMakeDetoursButComeToNoNpuTwice) {
  // On a ring of four, chunk 0 -> 1 may go 0 -> 3 -> 2 -> 1. Then it may not pass 3 again.
  const Topology ring = support::ring(4, microseconds(1), gigabytes_per_second(1));
  const Collective collective = support::collective(CollectiveKind::all_to_all, 4, bytes(4000));
  const Instance instance{ring, collective, Occupancy::transfer};
  Random random(5);
  auto sends = test::random_walks(instance, random);
  std::erase_if(sends, [](const Send& send) { return send.chunk == ChunkId(1); });
  const auto late = [&](std::uint32_t from, std::uint32_t to, std::int64_t ms) {
    return test::copy_of(1, test::link_between(ring, from, to).value(), microseconds(1000 * ms));
  };
  auto detour = sends;
  for (const Send& send : {late(0, 3, 1), late(3, 2, 2), late(2, 1, 3)}) detour.push_back(send);
  const verifier::Context context(instance);
  const auto verdict = verifier::verify_by_walks(context, make_list_schedule(detour), {});
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->collective_time, microseconds(3002));
  auto round_trip = sends;
  for (const Send& send : {late(0, 3, 1), late(3, 2, 2), late(2, 3, 3), late(3, 0, 4), late(0, 1, 5)})
    round_trip.push_back(send);
  EXPECT_FALSE(verifier::verify_by_walks(context, make_list_schedule(round_trip), {}));
  const Verdict replayed = verify(instance, make_list_schedule(round_trip));  // arrivals at 3 and 0 are second copies
  EXPECT_TRUE(replayed.valid());
  EXPECT_EQ(replayed.waste, verify(instance, test::replayed(round_trip)).waste);
  EXPECT_GT(replayed.waste, 0U);
}

TEST(Walks, WithoutThemTheReplayIsSkippedBeyondItsLimit) {
  const LineOfThree three;
  VerifyOptions options;
  options.holdings_limit_bytes = 5;  // 3 NPUs, 9 chunks in 2 bytes each
  EXPECT_TRUE(verify(three.instance, make_list_schedule(three.sends()), options).valid());
  auto missing = three.sends();
  missing.pop_back();
  const Verdict verdict = verify(three.instance, make_list_schedule(missing), options);
  EXPECT_EQ(verdict.outcome, Verification::skipped);
  EXPECT_EQ(verdict.memory_needed_bytes, 6U);
  options.holdings_limit_bytes = 6;
  EXPECT_EQ(verify(three.instance, make_list_schedule(missing), options).outcome, Verification::invalid);
}

}  // namespace
}  // namespace tenex
