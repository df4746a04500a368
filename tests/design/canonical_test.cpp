// The canonical text and the key: pinned, because stored results are found by them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "design/design_support.hpp"

namespace tenex {

namespace {

/// One point from command-line words; the test fails when there is none.
DesignPoint point_of(const std::vector<std::pair<std::string, std::string>>& words) {
  const auto point = make_point(words, test_words());
  EXPECT_TRUE(point.ok()) << (point ? "" : to_string(point.errors()));
  return point ? *point : DesignPoint();
}

/// A 4x4 mesh All-Gather with some words replaced or added.
DesignPoint mesh_with(const std::vector<std::pair<std::string, std::string>>& changes) {
  std::vector<std::pair<std::string, std::string>> words{{"topology", "mesh(4,4)"}, {"alpha", "0.5us"},
                                                         {"bandwidth", "50GB/s"},   {"collective", "all_gather"},
                                                         {"size", "1GiB"},          {"algorithm", "tacos"}};
  for (const auto& change : changes) {
    const auto same = [&](const auto& word) { return word.first == change.first; };
    words.erase(std::remove_if(words.begin(), words.end(), same), words.end());
    if (change.first == "npu_bandwidth") {
      words.erase(std::remove_if(words.begin(), words.end(), [](const auto& w) { return w.first == "bandwidth"; }),
                  words.end());
    }
    if (!change.second.empty()) words.push_back(change);
  }
  return point_of(words);
}

// 0.5us = 500,000 ps; 50GB/s = 50e9 B/s; 1GiB = 2^30 = 1,073,741,824 B. Defaults are left out, seed and physics are
// not.
TEST(CanonicalText, OfAPlainPoint) {
  const DesignPoint point = mesh_with({});
  EXPECT_EQ(point.canonical,
            "algorithm=tacos\n"
            "alpha=500000\n"
            "bandwidth=50000000000\n"
            "collective=all_gather\n"
            "physics=21\n"
            "seed=1\n"
            "size=1073741824\n"
            "topology=LI(4)_LI(4)");
  EXPECT_EQ(to_string(point.key), "d934658c11fe9eb2baf0f33b350e5ff4");
}

// A synthesizer's point with every key it may have, none at its default. 25GiB/s = 25 * 2^30 = 26,843,545,600.
TEST(CanonicalText, OfASynthesizersPointWithEverything) {
  const DesignPoint point = point_of({{"topology", "RI(4)_SW(4)"},
                                      {"alpha", "0.5us, 1us"},
                                      {"npu_bandwidth", "25GiB/s, 1GB/s"},
                                      {"unwind", "2"},
                                      {"without", "[[6, 5], [1, 0]]"},
                                      {"collective", "all_reduce"},
                                      {"size", "1MB"},
                                      {"chunks", "4"},
                                      {"groups", "0,2,4,6; 1, 3-5:2"},
                                      {"synthesizer", "tacos"},
                                      {"occupancy", "transfer"},
                                      {"overlap", "false"},
                                      {"attempts", "8"},
                                      {"seed", "42"}});
  EXPECT_EQ(point.canonical,
            "algorithm=tacos\n"
            "alpha=500000,1000000\n"
            "attempts=8\n"
            "chunks=4\n"
            "collective=all_reduce\n"
            "groups=0-6:2; 1-5:2\n"
            "npu_bandwidth=26843545600,1000000000\n"
            "occupancy=transfer\n"
            "overlap=false\n"
            "physics=21\n"
            "seed=42\n"
            "size=1000000\n"
            "topology=RI(4)_SW(4)\n"
            "unwind=2\n"
            "without=[[0,1],[5,6]]");
  EXPECT_EQ(to_string(point.key), "79e4518f8192216f408f341bdbc12be4");
}

// A textbook algorithm has a backend and no attempts; All-Gather has no overlap and no root.
TEST(CanonicalText, OfATextbookPointLeavesOutWhatItNeverReads) {
  const DesignPoint point = mesh_with({{"algorithm", "ring"},
                                       {"backend", "congestion_unaware"},
                                       {"attempts", "8"},
                                       {"overlap", "false"},
                                       {"root", "3"}});
  EXPECT_EQ(point.canonical,
            "algorithm=ring\n"
            "alpha=500000\n"
            "backend=congestion_unaware\n"
            "bandwidth=50000000000\n"
            "collective=all_gather\n"
            "physics=21\n"
            "seed=1\n"
            "size=1073741824\n"
            "topology=LI(4)_LI(4)");
  EXPECT_EQ(to_string(point.key), "db24e92a74e560a0fd73632744c0216d");
  EXPECT_EQ(point.attempts, 1U);
  EXPECT_TRUE(point.collective().overlap);
  EXPECT_EQ(point.collective().root, 0U);
}

TEST(CanonicalText, OfABroadcastNamesItsRoot) {
  const DesignPoint point = mesh_with({{"collective", "broadcast"}, {"root", "3"}, {"backend", "congestion_unaware"}});
  EXPECT_EQ(point.canonical,
            "algorithm=tacos\n"
            "alpha=500000\n"
            "bandwidth=50000000000\n"
            "collective=broadcast\n"
            "physics=21\n"
            "root=3\n"
            "seed=1\n"
            "size=1073741824\n"
            "topology=LI(4)_LI(4)");
  EXPECT_EQ(to_string(point.key), "fdbf8e68b7be6b318cc8f9ff201941aa");
}

TEST(CanonicalText, OfAMachineFileHasItsContentNotItsPath) {
  DesignPoint point;
  point.topology.text = "machines/dgx1.toml";
  point.topology.machine_file = "/somewhere/machines/dgx1.toml";
  point.topology.machine_content = std::string("npus = 8\n");
  point.collective().size = kibibytes(1);
  point.algorithm = "direct";
  seal(point);
  EXPECT_EQ(point.canonical,
            "algorithm=direct\n"
            "collective=all_gather\n"
            "physics=21\n"
            "seed=1\n"
            "size=1024\n"
            "topology=machine:" +
                to_string(digest128("npus = 8\n")));
  EXPECT_EQ(point.key, digest128(point.canonical));
}

TEST(CanonicalText, IsEqualForEqualPoints) {
  const std::string plain = mesh_with({}).canonical;
  EXPECT_EQ(mesh_with({{"topology", "grid(4,4)"}}).canonical, plain);
  EXPECT_EQ(mesh_with({{"topology", "LI(4)_LI(4)"}}).canonical, plain);
  EXPECT_EQ(mesh_with({{"alpha", "500ns"}}).canonical, plain);
  EXPECT_EQ(mesh_with({{"alpha", "0.5us, 500ns"}}).canonical, plain);
  EXPECT_EQ(mesh_with({{"bandwidth", "50000MB/s,0.05TB/s"}}).canonical, plain);
  EXPECT_EQ(mesh_with({{"size", "1024MiB"}}).canonical, plain);
  EXPECT_EQ(mesh_with({{"groups", "0-15"}}).canonical, plain);
  EXPECT_EQ(mesh_with({{"groups", " 0 - 7 , 8,9, 10-15"}}).canonical, plain);
  EXPECT_EQ(mesh_with({{"chunks", "1"}, {"occupancy", "serialization"}, {"unwind", "0"}, {"attempts", "1"}}).canonical,
            plain);
  EXPECT_EQ(mesh_with({{"algorithm", ""}, {"synthesizer", "tacos"}}).canonical, plain);
  EXPECT_EQ(mesh_with({{"without", "[[1,0],[0,1]]"}}).canonical, mesh_with({{"without", "[[0, 1]]"}}).canonical);
}

TEST(CanonicalText, DiffersForDifferentPoints) {
  const std::vector<DesignPoint> points{mesh_with({}),
                                        mesh_with({{"topology", "mesh(2,8)"}}),
                                        mesh_with({{"topology", "torus(4,4)"}}),
                                        mesh_with({{"alpha", "501ns"}}),
                                        mesh_with({{"alpha", "0.5us, 501ns"}}),
                                        mesh_with({{"npu_bandwidth", "50GB/s"}}),
                                        mesh_with({{"groups", "0-7; 8-15"}}),
                                        mesh_with({{"groups", "8-15; 0-7"}}),
                                        mesh_with({{"groups", "1,0,2-15"}}),  // other order of ranks
                                        mesh_with({{"without", "[[0, 1]]"}}),
                                        mesh_with({{"seed", "2"}}),
                                        mesh_with({{"algorithm", "ring"}}),
                                        mesh_with({{"collective", "all_reduce"}}),
                                        mesh_with({{"collective", "all_reduce"}, {"overlap", "false"}}),
                                        mesh_with({{"attempts", "2"}})};
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t j = i + 1; j < points.size(); ++j) EXPECT_NE(points[i].key, points[j].key) << i << ' ' << j;
  }
}

TEST(CanonicalText, OfAPointOfUnknownFamilyKeepsWhatMayMatter) {
  DesignPoint point = mesh_with({{"attempts", "3"}});
  point.family = AlgorithmFamily::unknown;
  point.collective().backend = Backend::congestion_unaware;
  seal(point);
  EXPECT_THAT(point.canonical, testing::HasSubstr("attempts=3\nbackend=congestion_unaware"));
}

TEST(CanonicalText, NamesAnEngineOnlyWhereASynthesizerWasGivenOne) {
  EXPECT_THAT(mesh_with({{"engine", "exact"}}).canonical,
              testing::HasSubstr("collective=all_gather\nengine=exact\nphysics=21"));
  EXPECT_EQ(mesh_with({{"engine", "auto"}}).canonical, mesh_with({}).canonical);
  const auto ring = point_of({{"topology", "mesh(4,4)"},
                              {"alpha", "0.5us"},
                              {"bandwidth", "50GB/s"},
                              {"collective", "all_gather"},
                              {"size", "1GiB"},
                              {"algorithm", "ring"},
                              {"engine", "exact"}});
  EXPECT_EQ(ring.canonical.find("engine"), std::string::npos);
}

TEST(CanonicalText, SealingTwiceChangesNothing) {
  DesignPoint point = mesh_with({{"groups", "0-7; 8-15"}, {"collective", "all_reduce"}});
  const DesignPoint before = point;
  seal(point);
  EXPECT_EQ(point.canonical, before.canonical);
  EXPECT_EQ(point.key, before.key);
  EXPECT_EQ(point.key, digest128(point.canonical));
}

TEST(CanonicalGroups, WritesTheLongestRuns) {
  const auto canonical = [](const std::string& text, std::size_t npus) {
    const auto groups = parse_groups(text, npus);
    EXPECT_TRUE(groups.ok());
    return groups ? canonical_groups(*groups, npus) : "";
  };
  EXPECT_EQ(canonical("all", 4), "all");
  EXPECT_EQ(canonical("0,1,2,3", 4), "all");
  EXPECT_EQ(canonical("0-3", 5), "0-3");
  EXPECT_EQ(canonical("0,1", 4), "0-1");
  EXPECT_EQ(canonical("0,2", 4), "0,2");          // two members with a gap are no run
  EXPECT_EQ(canonical("0,2,4,5", 8), "0-4:2,5");  // runs are taken from the left
  EXPECT_EQ(canonical("3,2,1,0", 4), "3,2,1,0");  // ranks are members in order, so the order stays
  EXPECT_EQ(canonical("4-7;0-3", 8), "4-7; 0-3");
}

TEST(CanonicalGroups, ParseBackToTheSameGroups) {
  for (const std::string text : {"0,1,3,5,7,2", "7,5,3,1", "0-6:3; 1,4,7", "5,6,0,1,2; 3,4"}) {
    const auto groups = parse_groups(text, 9);
    ASSERT_TRUE(groups.ok()) << text;
    const auto again = parse_groups(canonical_groups(*groups, 9), 9);
    ASSERT_TRUE(again.ok()) << text;
    EXPECT_EQ(*again, *groups) << text;
  }
}

}  // namespace

}  // namespace tenex
