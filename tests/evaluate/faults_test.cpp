// Rows of faulty networks: numbers by hand, the twin without faults, equal draws for all collectives, and cuts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "evaluate/points.hpp"
#include "tenex/base/random.hpp"

namespace tenex {
namespace {

using support::point;
using support::results_of;
using support::row_of;
using support::Words;
using testing::HasSubstr;

EvaluationOutput output_of(const Words& words) {
  Cache cache;
  EvaluateOptions options;
  options.keep_schedule = true;
  return evaluate(point(words), cache, options);
}

// mesh(2,3) without NPU 0, five NPUs of 1,000 bytes each, 1 us per hop. NPU 1 has one link left, from NPU 3, so its
// four chunks take 4 us: NPU 3 has its own, those of 2 and 5 from 1 us on and that of 4 from 2 us on, and passes them
// on at 0, 1, 2 and 3 us. The chunk of NPU 1 is at 3 after 1 us, at 2 and 5 after 2 us, at 4 after 3 us.
TEST(FaultyRows, OfAMeshWithoutAnNpuAreAsByHand) {
  const Words words{{"topology", "mesh(2,3)"}, {"size", "5KB"}, {"algorithm", "pccl"}, {"faults", "npu 0"}};
  const auto row = row_of(point(words));
  ASSERT_EQ(row.status, PointStatus::ok) << row.reason;
  EXPECT_EQ(row.collective_time_ps, 4'000'000);
  EXPECT_EQ(row.bound_ps, 4'000'000);
  EXPECT_EQ(row.verified, Verified::yes);
  EXPECT_EQ(row.npus, 6);
  EXPECT_EQ(row.total_links, 10);
  EXPECT_EQ(row.failed_links, 4);
  EXPECT_EQ(row.failed_npus, 1);
  EXPECT_EQ(row.total_chunks, 5);
  EXPECT_EQ(row.sends, 20);
  EXPECT_EQ(row.paper_ideal_ps, 4'000'000);  // 4 KB over a link of 1 GB/s; the isolated NPU is at no distance
}

TEST(FaultyRows, OfNoFaultSayZero) {
  const auto row = row_of(point({{"topology", "mesh(2,3)"}, {"size", "6KB"}, {"algorithm", "ring"}}));
  EXPECT_EQ(row.failed_links, 0);
  EXPECT_EQ(row.failed_npus, 0);
  // 1% of 7 pairs is none.
  const Words words{{"topology", "mesh(2,3)"}, {"size", "6KB"}, {"algorithm", "ring"}, {"faults", "links 1%"}};
  auto rounded = row_of(point(words));
  EXPECT_GT(rounded.memory_planned_bytes, row.memory_planned_bytes);  // of the network before faults, beside that after
  rounded.memory_planned_bytes = row.memory_planned_bytes;
  EXPECT_EQ(results_of(rounded), results_of(row));
}

// Without a link left there is nothing to estimate either: plans of trees divide by what their networks carry.
TEST(FaultyRows, WithoutAnyLinkLeftSayWhomTheyDoNotReach) {
  for (const auto* topology : {"RI(4)", "FC(3)", "mesh(2,2)"})
    for (const auto* collective : {"all_reduce", "all_gather", "broadcast"})
      for (const auto* algorithm : {"best", "trees", "direct"}) {
        const auto cut = point({{"topology", topology},
                                {"size", "1MB"},
                                {"collective", collective},
                                {"algorithm", algorithm},
                                {"chunks", "1"},
                                {"faults", "links 100%"}});
        EXPECT_LT(Estimator()(cut).bytes, 3'000'000U) << topology << ' ' << algorithm;  // any point takes 2 MB
        const auto row = row_of(cut);
        EXPECT_NE(row.status, PointStatus::ok) << topology << ' ' << algorithm;
        EXPECT_THAT(row.reason, HasSubstr("the faults leave no path from")) << topology << ' ' << algorithm;
      }
}

TEST(FaultyRows, AreVerifiedForTheAlgorithmsThatRunAmongSurvivors) {
  for (const auto* collective : {"all_gather", "reduce_scatter", "all_reduce", "all_to_all"})
    for (const auto* algorithm : {"direct", "ring", "tacos", "pccl"}) {
      const auto made = make_point({{"topology", "torus(4,4)"},
                                    {"size", "60KB"},
                                    {"alpha", "1us"},
                                    {"bandwidth", "1GB/s"},
                                    {"collective", collective},
                                    {"algorithm", algorithm},
                                    {"faults", "npu 5; links 10% draw 3"}},
                                   vocabulary());
      if (!made) continue;  // ring has no All-to-All
      const auto row = row_of(*made);
      ASSERT_EQ(row.status, PointStatus::ok) << algorithm << ' ' << collective << row.reason;
      EXPECT_EQ(row.verified, Verified::yes) << algorithm << ' ' << collective;
      EXPECT_EQ(row.failed_npus, 1);
    }
}

// A fault by name is a removed pair under another name, for every result but the counts of what failed.
TEST(FaultyRows, OfANamedPairEqualThoseWithoutIt) {
  Random random(1, 0x74776966);
  for (const auto* topology : {"mesh(3,3)", "torus(3,3)", "hypercube(3)", "RI(4)_FC(3)", "dragonfly(3,4)"})
    for (const auto* algorithm : {"direct", "ring", "tacos", "pccl", "multitree"})
      for (const auto* collective : {"all_gather", "all_reduce"}) {
        const auto graph =
            build_point_topology(point({{"topology", topology}, {"size", "9KB"}, {"algorithm", "ring"}}));
        const auto gone = graph->link(LinkId(random.below(static_cast<std::uint32_t>(graph->links()))));
        const auto a = std::to_string(gone.source.value());
        const auto b = std::to_string(gone.target.value());
        const Words words{{"topology", topology},
                          {"size", "900KB"},
                          {"alpha", "1us"},
                          {"algorithm", algorithm},
                          {"collective", collective}};
        auto faulty = words;
        faulty.emplace_back("faults", "link " + a + "-" + b);
        auto without = words;
        without.emplace_back("without", "[[" + a + ", " + b + "]]");
        auto left = row_of(point(faulty));
        auto right = row_of(point(without));
        EXPECT_EQ(left.failed_links, 2);
        left.failed_links = right.failed_links = 0;
        EXPECT_EQ(results_of(left), results_of(right))
            << topology << ' ' << algorithm << ' ' << collective << left.reason;
      }
}

TEST(FaultyRows, HaveTheSameDrawForAllCollectivesSizesAndAlgorithms) {
  std::set<std::vector<std::pair<std::uint32_t, std::uint32_t>>> networks;
  std::set<std::vector<std::pair<std::uint32_t, std::uint32_t>>> others;
  const auto ends_of = [](const EvaluationOutput& output) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> ends;
    for (std::size_t i = 0; i < output.topology->links(); ++i)
      ends.emplace_back(output.topology->source(LinkId::at(i)).value(), output.topology->target(LinkId::at(i)).value());
    return ends;
  };
  for (const auto* collective : {"all_gather", "all_reduce", "all_to_all", "broadcast"})
    for (const auto* size : {"64KB", "1MB"})
      for (const auto* algorithm : {"direct", "pccl", "tacos"})
        for (const auto* bandwidth : {"1GB/s", "50GB/s"}) {
          Words words{{"topology", "torus(4,4)"},
                      {"size", size},
                      {"bandwidth", bandwidth},
                      {"alpha", "1us"},
                      {"collective", collective},
                      {"algorithm", algorithm},
                      {"faults", "links 10%; npus 1 draw 2"}};
          auto made = make_point(words, vocabulary());
          if (!made) continue;  // an algorithm without this collective
          const auto output = output_of(words);
          ASSERT_TRUE(output.topology) << output.row.reason;
          networks.insert(ends_of(output));
          words.emplace_back("seed", "2");
          others.insert(ends_of(output_of(words)));
        }
  EXPECT_EQ(networks.size(), 1U);
  EXPECT_EQ(others.size(), 1U);
  EXPECT_NE(networks, others);
}

TEST(FaultyRows, OfADisconnectedDrawNameTheCut) {
  const auto row = row_of(
      point({{"topology", "mesh(2,3)"}, {"size", "6KB"}, {"algorithm", "direct"}, {"faults", "links 100% draw 4"}}));
  EXPECT_EQ(row.status, PointStatus::infeasible);
  EXPECT_EQ(row.reason,
            "the faults leave no path from NPU 0 to NPUs 1, 2, 3, 4 and 1 more (14 directed links failed, and every "
            "NPU of a group must reach every other) fewer faults, or another draw, may leave one");
  EXPECT_EQ(row.failed_links, 14);
  EXPECT_EQ(row.collective_time_ps, -1);
}

TEST(FaultyRows, AskForPathsOnlyAmongMembers) {
  // LI(4) cut between 2 and 3.
  const auto cut = [](const char* groups) {
    return row_of(point(
        {{"topology", "LI(4)"}, {"size", "6KB"}, {"algorithm", "direct"}, {"groups", groups}, {"faults", "link 2-3"}}));
  };
  EXPECT_EQ(cut("0-1").status, PointStatus::ok);
  EXPECT_EQ(cut("0-2").status, PointStatus::ok);
  EXPECT_THAT(cut("0,3").reason, HasSubstr("no path from NPU 0 to NPU 3 (2 directed links failed"));
  EXPECT_EQ(cut("all").status, PointStatus::infeasible);
  // Two groups on two islands.
  const auto islands = row_of(point(
      {{"topology", "LI(4)"}, {"size", "6KB"}, {"algorithm", "pccl"}, {"groups", "0-1; 2-3"}, {"faults", "link 1-2"}}));
  EXPECT_EQ(islands.status, PointStatus::ok) << islands.reason;
}

TEST(FaultyRows, UnwindSwitchesOverTheNpusThatAreLeft) {
  // SW(4) without NPU 1 unwinds to the ring 0, 2, 3: two chunks of 1,000 bytes one after the other.
  Words words{{"topology", "SW(4)"}, {"size", "3KB"}, {"algorithm", "tacos"}, {"faults", "npu 1"}};
  const auto played = row_of(point(words));
  ASSERT_EQ(played.status, PointStatus::ok) << played.reason;
  EXPECT_EQ(played.collective_time_ps, 4'000'000);  // each up to the switch and down
  EXPECT_EQ(played.unwound_time_ps, 2'000'000);
  EXPECT_EQ(played.total_links, 6);
  words.emplace_back("unwind", "1");
  const auto row = row_of(point(words));
  ASSERT_EQ(row.status, PointStatus::ok) << row.reason;
  EXPECT_EQ(row.collective_time_ps, 2'000'000);
  EXPECT_EQ(row.total_links, 3);
  EXPECT_EQ(row.failed_links, 2);
  // NPU 1 sends to the switch, which is vertex 4, and hears nothing from it.
  Words half{{"topology", "SW(4)"}, {"size", "3KB"}, {"algorithm", "tacos"}, {"faults", "link 4->1"}};
  EXPECT_EQ(row_of(point(half)).status, PointStatus::infeasible);
  half.emplace_back("groups", "0,2,3");
  half[2].second = "direct";
  EXPECT_EQ(row_of(point(half)).status, PointStatus::ok);
}

TEST(FaultyRows, IgnoreStragglersThatHaveFailed) {
  const auto with = [](const char* stragglers) {
    return row_of(point({{"topology", "mesh(2,3)"},
                         {"size", "60KB"},
                         {"algorithm", "direct"},
                         {"stragglers", stragglers},
                         {"faults", "npu 0; link 4-5"}}));
  };
  const auto plain = with("none");
  ASSERT_EQ(plain.status, PointStatus::ok) << plain.reason;
  for (const auto* stragglers : {"npu 0 x4; link 5-4 x3", "npu 0 delay 5ms"})
    EXPECT_EQ(with(stragglers).collective_time_ps, plain.collective_time_ps) << stragglers;
  EXPECT_GT(with("link 1-3 x4").collective_time_ps, plain.collective_time_ps);
}

}  // namespace
}  // namespace tenex
