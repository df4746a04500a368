// The joint replay against examples by hand, against the reference replay, and against the verifier.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <optional>

#include "evaluate/joint_streams.hpp"
#include "tenex/schedule/verifier/verifier.hpp"

namespace tenex {
namespace {

using support::ObviousReplay;
using support::part_of;
using support::PartOfPoint;
using support::Words;

constexpr std::size_t kPlenty = std::size_t{1} << 30;

// Two NPUs with a link of 1 GB/s each way and no latency: a chunk of 1000 bytes takes 1 us.
PartOfPoint gather_of_pair(const std::string& chunks) {
  const auto size = chunks == "1" ? "2000B" : "4000B";
  return *part_of({{"topology", "RI(2)"}, {"size", size}, {"chunks", chunks}, {"algorithm", "direct"}});
}

JointReplay replay_of(const PartOfPoint& one, const JointStream& first, const JointStream& second) {
  auto made = replay_jointly(one.topology, Occupancy::serialization, first, second, kPlenty);
  EXPECT_TRUE(made.ok()) << to_string(made.errors());
  return *std::move(made);
}

TEST(JointReplay, LetsTheFirstStreamGoFirstWhenBothBeginAtOnce) {
  const auto pair = gather_of_pair("1");
  const auto made = replay_of(pair, {SimTime::zero(), {pair.part}}, {SimTime::zero(), {pair.part}});
  // Each link carries one chunk of each stream: 0-1 us and 1-2 us.
  EXPECT_EQ(made.ends, (std::array{microseconds(1), microseconds(2)}));
}

TEST(JointReplay, GivesAFreeLinkToTheSendThatCouldStartLongest) {
  const auto two = gather_of_pair("2");
  const auto one = gather_of_pair("1");
  // The second stream's chunk could start at 0.5 us, the first's second chunk at 1 us, when the link is free: first
  // 0-1, second 1-2, first 2-3.
  const auto made = replay_of(two, {SimTime::zero(), {two.part}}, {nanoseconds(500), {one.part}});
  EXPECT_EQ(made.ends, (std::array{microseconds(3), microseconds(2)}));
}

TEST(JointReplay, BeginsACommunicationWhenTheOneBeforeItHasEnded) {
  const auto pair = gather_of_pair("1");
  // First 0-1, second 1-2. The first's next chunk is ready at 1 us, after the second's, which has waited since 0: 2-3.
  const auto made = replay_of(pair, {SimTime::zero(), {pair.part, pair.part}}, {SimTime::zero(), {pair.part}});
  EXPECT_EQ(made.ends, (std::array{microseconds(3), microseconds(2)}));
  ASSERT_EQ(made.first.size(), 2U);
  EXPECT_EQ(made.first[1].begin, microseconds(1));
  EXPECT_EQ(made.first[1].end, microseconds(3));
}

TEST(JointReplay, LetsAPauseTakeItsTimeAndNoLink) {
  const auto pair = gather_of_pair("1");
  const JointPart pause{nullptr, {}, nanoseconds(1500)};
  // A pause 0-1.5, in which the second uses the links 0-1; then the gather 1.5-2.5.
  const auto made = replay_of(pair, {SimTime::zero(), {pause, pair.part}}, {SimTime::zero(), {pair.part}});
  EXPECT_EQ(made.ends, (std::array{nanoseconds(2500), microseconds(1)}));
}

// Two NPUs on a switch, links of 1 GB/s without latency. A chunk of 1000 bytes leaves the switch while it arrives, so
// links into the switch and out of it carry the first stream's chunks 0-1 us and the second's 1-2 us. Where the switch
// stores, both are a microsecond later.
TEST(JointReplay, LetsSwitchesPassMessagesOnWhileTheyArrive) {
  for (const auto& [forwarding, late] : {std::pair("virtual_cut_through", 0), std::pair("store_and_forward", 1)}) {
    const auto pair = *part_of(
        {{"topology", "SW(2)"}, {"size", "2000B"}, {"algorithm", "direct"}, {"forwarding", std::string(forwarding)}});
    const auto made = replay_of(pair, {SimTime::zero(), {pair.part}}, {SimTime::zero(), {pair.part}});
    EXPECT_EQ(made.ends, (std::array{microseconds(1 + late), microseconds(2 + late)})) << forwarding;
  }
}

TEST(JointReplay, EndsAnEmptyStreamWhenItBegins) {
  const auto pair = gather_of_pair("1");
  const auto made = replay_of(pair, {SimTime::zero(), {pair.part}}, {microseconds(7), {}});
  EXPECT_EQ(made.ends, (std::array{microseconds(1), microseconds(7)}));
}

TEST(JointReplay, RefusesMoreThanTheMemoryLimitWithTheBytes) {
  const auto pair = gather_of_pair("1");
  const JointStream stream{SimTime::zero(), {pair.part}};
  const auto needed = joint_replay_bytes(pair.topology, stream, stream);
  const auto made = replay_jointly(pair.topology, Occupancy::serialization, stream, stream, needed - 1);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.errors().front().fault, Fault::resource);
  EXPECT_NE(made.errors().front().problem.find(std::to_string(needed)), std::string::npos);
  EXPECT_TRUE(replay_jointly(pair.topology, Occupancy::serialization, stream, stream, needed).ok());
}

// A send: its start (8 bytes), chunk (4), stage (1) and link (4). A gather's table has 4 bytes per NPU and chunk, as
// many as sends and one more per chunk; the links, 4 per NPU, take about 150 bytes each, of both streams 1.2 per send
// of either.
TEST(JointReplay, NeedsAtMost32BytesPerSend) {
  for (const auto* collective : {"all_gather", "reduce_scatter", "all_reduce"}) {
    const auto torus = *part_of(
        {{"topology", "torus(16,16)"}, {"size", "65536B"}, {"algorithm", "tacos"}, {"collective", collective}});
    const JointStream stream{SimTime::zero(), {torus.part}};
    const auto sends = 2 * torus.part.schedule.sends();
    EXPECT_LT(joint_replay_bytes(torus.topology, stream, stream), 32 * sends) << collective;
    const auto made = replay_of(torus, stream, stream);
    const auto kept = made.first[0].schedule.memory_bytes() + made.second[0].schedule.memory_bytes();
    EXPECT_LT(kept, joint_replay_bytes(torus.topology, stream, stream)) << collective;
  }
}

TEST(JointReplay, RefusesSumsThatDoNotTravelInTrees) {
  const auto triangle =
      *part_of({{"topology", "FC(3)"}, {"collective", "reduce_scatter"}, {"size", "3000B"}, {"algorithm", "direct"}});
  auto sends = list_sends(triangle.part.schedule);
  auto again = sends.front();  // an NPU sends its sum of a chunk a second time
  again.start = microseconds(5);
  sends.push_back(again);
  const JointStream twice{SimTime::zero(), {{triangle.part.collective, make_list_schedule(sends), {}}}};
  const auto made = replay_jointly(triangle.topology, Occupancy::serialization, twice, {}, kPlenty);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.errors().front().fault, Fault::unsupported);
}

TEST(JointReplay, ItsCheckFindsALinkThatCarriesTwoSendsAtOnce) {
  const auto pair = gather_of_pair("1");
  const std::vector<JointPart> parts{pair.part, pair.part};
  const auto at = [&](SimTime begin) { return PlayedPart{begin, begin + microseconds(1), pair.part.schedule}; };
  // The second begins 1 ps before the first frees the links, then exactly at that time.
  const std::vector<PlayedPart> early{at(SimTime::zero()), at(microseconds(1) - picoseconds(1))};
  const std::vector<PlayedPart> in_time{at(SimTime::zero()), at(microseconds(1))};
  EXPECT_TRUE(find_shared_link(pair.topology, Occupancy::serialization, parts, early));
  EXPECT_FALSE(find_shared_link(pair.topology, Occupancy::serialization, parts, in_time));
}

/// Two points on one topology: any collective and algorithm, any groups, any occupancy.
struct TwoParts {
  std::string words;
  Occupancy occupancy = Occupancy::serialization;
  PartOfPoint first;
  PartOfPoint second;
};

std::string any_of(const std::vector<std::string>& words) { return *rc::gen::elementOf(words); }

TwoParts any_two_parts() {
  struct Network {
    std::string shape;
    std::vector<std::string> groups;
    std::vector<std::string> algorithms;
    std::string bandwidth = "1GB/s";
    std::string forwarding = "as_built";
  };
  // Synthesizers unwind switches and programs do not, so networks with switches run programs only.
  static const std::vector<Network> networks{
      {"RI(4)_FC(2)", {"all", "0-3; 4-7", "0,4; 1,5; 2,6; 3,7", "0,2; 4,6"}, {"tacos", "direct", "ring"}},
      {"RI(6)", {"all", "0-2; 3-5", "0,3; 1,4; 2,5"}, {"tacos", "direct", "ring"}},
      {"LI(2)_FC(3)", {"all", "0,1; 2,3; 4,5", "0,2,4; 1,3,5"}, {"tacos", "direct", "ring"}},
      {"RI(3)_SW(2)", {"all", "0-2; 3-5", "0,3; 1,4; 2,5"}, {"direct", "ring", "hierarchical"}},
      {"SW(3)_SW(2)",
       {"all", "0-2; 3-5", "0,3; 1,4; 2,5"},
       {"direct", "ring", "hierarchical"},
       "3GB/s, 1GB/s",
       "virtual_cut_through"},
      {"leaf_spine(2,2,2)", {"all", "0,1; 2,3", "0,2; 1,3"}, {"direct", "ring"}, "1GB/s", "virtual_cut_through"},
  };
  while (true) {
    const auto& network = networks[*rc::gen::inRange<std::size_t>(0, networks.size())];
    const auto occupancy = any_of({"serialization", "transfer"});
    const auto alpha = any_of({"0ns", "300ns"});
    TwoParts two;
    two.occupancy = occupancy == "transfer" ? Occupancy::transfer : Occupancy::serialization;
    std::array<std::optional<PartOfPoint>, 2> parts;
    for (auto& part : parts) {
      const Words words{{"topology", network.shape},
                        {"bandwidth", network.bandwidth},
                        {"forwarding", network.forwarding},
                        {"alpha", alpha},
                        {"occupancy", occupancy},
                        {"collective", any_of({"all_gather", "reduce_scatter", "all_reduce", "all_to_all"})},
                        {"groups", any_of(network.groups)},
                        {"chunks", any_of({"1", "2"})},
                        {"size", any_of({"6000B", "9001B"})},
                        {"algorithm", any_of(network.algorithms)}};
      part = part_of(words);
      for (const auto& [name, value] : words) two.words += name + "=" + value + " ";
    }
    if (!parts[0] || !parts[1] || !parts[0]->in_trees || !parts[1]->in_trees) continue;
    two.first = *parts[0];
    two.second = *parts[1];
    return two;
  }
}

RC_GTEST_PROP(JointReplay, EqualsTheObviousReplaySendBySend, ()) {
  const auto two = any_two_parts();
  RC_LOG(two.words);
  const auto offset = nanoseconds(*rc::gen::inRange(0, 8000));
  std::array<JointStream, 2> streams{JointStream{SimTime::zero(), {two.first.part}},
                                     JointStream{offset, {two.second.part}}};
  if (*rc::gen::arbitrary<bool>()) streams[0].parts.push_back(two.second.part);
  if (*rc::gen::arbitrary<bool>())
    streams[1].parts.insert(streams[1].parts.begin(), JointPart{nullptr, {}, nanoseconds(700)});
  const auto made = replay_jointly(two.first.topology, two.occupancy, streams[0], streams[1], kPlenty);
  RC_ASSERT(made.ok());
  ObviousReplay obvious(two.first.topology, two.occupancy, streams);
  const auto times = obvious.run();
  for (const auto stream : {0U, 1U}) {
    const auto& played = stream == 0 ? made->first : made->second;
    RC_ASSERT(played.size() == times[stream].size());
    for (std::size_t part = 0; part < played.size(); ++part) {
      RC_ASSERT(played[part].begin.count() == times[stream][part].first.count());
      RC_ASSERT(played[part].end.count() == times[stream][part].second.count());
      if (!streams[stream].parts[part].collective) continue;
      auto expected = list_sends(streams[stream].parts[part].schedule);
      for (std::size_t i = 0; i < expected.size(); ++i) expected[i].start = obvious.starts[stream][part][i];
      Payloads payloads;
      if (const auto* own = streams[stream].parts[part].schedule.payloads()) payloads = *own;
      RC_ASSERT(schedule_hash(played[part].schedule) == schedule_hash(make_list_schedule(expected, payloads)));
    }
  }
}

RC_GTEST_PROP(JointReplay, MakesValidSchedulesThatNeverShareALinkAndNeverEndBeforeTheSingleOnes, ()) {
  const auto two = any_two_parts();
  RC_LOG(two.words);
  const auto offset = nanoseconds(*rc::gen::inRange(0, 8000));
  const JointStream first{SimTime::zero(), {two.first.part}};
  const JointStream second{offset, {two.second.part}};
  const auto& topology = two.first.topology;
  const auto made = replay_jointly(topology, two.occupancy, first, second, kPlenty);
  RC_ASSERT(made.ok());
  RC_ASSERT(made->ends[0] >= two.first.alone);
  RC_ASSERT(made->ends[1] >= offset + two.second.alone);
  const std::vector<JointPart> parts{two.first.part, two.second.part};
  const std::vector<PlayedPart> played{made->first[0], made->second[0]};
  for (std::size_t part = 0; part < 2; ++part) {
    const auto verdict = verify({topology, *parts[part].collective, two.occupancy}, played[part].schedule);
    RC_ASSERT(verdict.valid());
    RC_ASSERT(verdict.collective_time.count() == (played[part].end - played[part].begin).count());
  }
  RC_ASSERT(!find_shared_link(topology, two.occupancy, parts, played));
}

RC_GTEST_PROP(JointReplay, PlaysEachStreamAsPlannedWhereTheyShareNoLink, ()) {
  // Rows use the ring's links, columns the links of the other dimension.
  const auto kind = [] { return any_of({"all_gather", "reduce_scatter", "all_reduce", "all_to_all"}); };
  const auto algorithm = [] { return any_of({"tacos", "direct", "ring"}); };
  const auto rows = part_of({{"topology", "RI(4)_FC(3)"},
                             {"groups", "0-3; 4-7; 8-11"},
                             {"size", "12000B"},
                             {"collective", kind()},
                             {"algorithm", algorithm()},
                             {"alpha", "100ns"}});
  const auto columns = part_of({{"topology", "RI(4)_FC(3)"},
                                {"groups", "0,4,8; 1,5,9; 2,6,10; 3,7,11"},
                                {"size", "9000B"},
                                {"collective", kind()},
                                {"algorithm", algorithm()},
                                {"alpha", "100ns"}});
  RC_PRE(rows.has_value() && columns.has_value());
  const auto offset = nanoseconds(*rc::gen::inRange(0, 5000));
  const auto made = replay_jointly(rows->topology, Occupancy::serialization, {SimTime::zero(), {rows->part}},
                                   {offset, {columns->part}}, kPlenty);
  RC_ASSERT(made.ok());
  RC_ASSERT(made->ends[0].count() == rows->alone.count());
  RC_ASSERT(made->ends[1].count() == (offset + columns->alone).count());
  RC_ASSERT(schedule_hash(made->first[0].schedule) == schedule_hash(rows->part.schedule));
  RC_ASSERT(schedule_hash(made->second[0].schedule) == schedule_hash(columns->part.schedule));
}

}  // namespace
}  // namespace tenex
