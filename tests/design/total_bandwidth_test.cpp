// total_bandwidth of collectives, and other spellings of one point: names of blocks, algorithms and machines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "design/design_support.hpp"
#include "tenex/design/divide_bandwidth.hpp"
#include "tenex/topology/shape.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

std::string canonical_of(Words words) {
  for (const auto& [key, text] : Words{{"alpha", "1us"}, {"collective", "all_gather"}, {"size", "1MiB"}})
    words.emplace_back(key, text);
  if (std::ranges::find(words, "algorithm", &Words::value_type::first) == words.end())
    words.emplace_back("algorithm", "ring");
  const auto point = make_point(words, test_words());
  return point ? point->canonical : to_string(point.errors());
}

TEST(ShareOut, GivesTheRestToTheFirstDimensions) {
  // 10 B/s in shares 1:1:1 are 3, 3, 3 and a rest of 1.
  EXPECT_THAT(divide_bandwidth(Bandwidth::of(10), {}, 3),
              ElementsAre(Bandwidth::of(4), Bandwidth::of(3), Bandwidth::of(3)));
  EXPECT_THAT(divide_bandwidth(Bandwidth::of(12), {2, 1}, 2), ElementsAre(Bandwidth::of(8), Bandwidth::of(4)));
}

TEST(TotalBandwidth, IsSharedEquallyByTheDimensionsOfACollective) {
  EXPECT_EQ(canonical_of({{"topology", "torus(4,4)"}, {"total_bandwidth", "400GB/s"}}),
            canonical_of({{"topology", "torus(4,4)"}, {"npu_bandwidth", "200GB/s"}}));
  EXPECT_EQ(canonical_of({{"topology", "RI(16)"}, {"total_bandwidth", "400GB/s"}}),
            canonical_of({{"topology", "RI(16)"}, {"npu_bandwidth", "400GB/s"}}));
}

TEST(TotalBandwidth, IsSharedBySplit) {
  EXPECT_EQ(canonical_of({{"topology", "RI(4)_SW(4)"}, {"total_bandwidth", "400GB/s"}, {"split", "3:1"}}),
            canonical_of({{"topology", "RI(4)_SW(4)"}, {"npu_bandwidth", "300GB/s, 100GB/s"}}));
}

TEST(TotalBandwidth, IsSharedByTheLevelsOfAFamily) {
  // A fat tree has three levels of links, equal shares of 300 GB/s are 100 GB/s each.
  EXPECT_EQ(canonical_of({{"topology", "fat_tree(4)"}, {"total_bandwidth", "300GB/s"}}),
            canonical_of({{"topology", "fat_tree(4)"}, {"npu_bandwidth", "100GB/s"}}));
  // NPU-leaf gets three times as much as leaf-spine.
  EXPECT_EQ(canonical_of({{"topology", "leaf_spine(2,2,2)"}, {"total_bandwidth", "400GB/s"}, {"split", "3:1"}}),
            canonical_of({{"topology", "leaf_spine(2,2,2)"}, {"npu_bandwidth", "300GB/s, 100GB/s"}}));
}

TEST(TotalBandwidth, IsThatOfAnNpuOfADragonfly) {
  // dragonfly(3,4): an NPU has two links within its group, which share 200 GB/s, and one of 200 GB/s to another group.
  const auto point = make_point({{"topology", "dragonfly(3,4)"},
                                 {"alpha", "1us"},
                                 {"total_bandwidth", "400GB/s"},
                                 {"collective", "all_gather"},
                                 {"size", "1MiB"},
                                 {"algorithm", "ring"}},
                                test_words());
  ASSERT_TRUE(point.ok()) << to_string(point.errors());
  EXPECT_EQ(cell_text(setting_cell(*point, "npu_bandwidth")), "200000000000,200000000000");
  const auto topology = build_topology(point->topology.shape, point->topology.links);
  ASSERT_TRUE(topology.ok());
  for (std::size_t npu = 0; npu < topology->npus(); ++npu) {
    std::vector<Bandwidth> links;
    for (const LinkId link : topology->out_links(VertexId::at(npu))) links.push_back(topology->bandwidth(link));
    EXPECT_THAT(links,
                UnorderedElementsAre(gigabytes_per_second(100), gigabytes_per_second(100), gigabytes_per_second(200)));
  }
}

TEST(TotalBandwidth, ReplacesADefaultAndYieldsToBandwidthsOfCollectives) {
  const auto replaced = study_with("total_bandwidth = \"100GB/s\"\n");  // the base study has bandwidth = "50GB/s"
  const auto same = study_with("npu_bandwidth = \"100GB/s\"\n");
  ASSERT_EQ(messages_of(replaced), "");
  ASSERT_EQ(messages_of(same), "");
  EXPECT_EQ(replaced->points[0].canonical, same->points[0].canonical);

  // [defaults] with a total for workloads beside a bandwidth for collectives.
  const std::string head = "schema = 1\nname = \"s\"\n[defaults]\nalpha = \"1us\"\nbandwidth = \"50GB/s\"\n";
  const std::string sweep =
      "[[sweep]]\ntopology = \"RI(4)\"\ncollective = \"all_gather\"\nsize = \"1MiB\"\nalgorithm = \"ring\"\n";
  const auto with = parse_study(head + "total_bandwidth = \"1GB/s\"\n" + sweep, "study.toml", test_words());
  const auto without = parse_study(head + sweep, "study.toml", test_words());
  ASSERT_EQ(messages_of(with), "");
  EXPECT_EQ(with->points[0].canonical, without->points[0].canonical);
}

TEST(TotalBandwidth, CanBeAnAxis) {
  const auto study = study_with("axes.topology = [\"RI(16)\", \"torus(4,4)\"]\ntotal_bandwidth = \"100GB/s\"\n");
  ASSERT_EQ(messages_of(study), "");
  EXPECT_THAT(study->points[0].canonical, HasSubstr("npu_bandwidth=100000000000\n"));
  EXPECT_THAT(study->points[1].canonical, HasSubstr("npu_bandwidth=50000000000\n"));
}

TEST(Spellings, LongNamesOfBlocksAreTheSamePoint) {
  const auto with = [&](const std::string& shape) {
    return canonical_of({{"topology", shape}, {"npu_bandwidth", "200GB/s"}});
  };
  EXPECT_EQ(with("ring(4)_fully_connected(8)_switch(32,8:2)_line(2)"), with("RI(4)_FC(8)_SW(32,8:2)_LI(2)"));
}

TEST(Spellings, LongNamesOfAlgorithmsAreTheSamePoint) {
  Vocabulary words = test_words();
  AlgorithmTraits ring = *words.algorithms[0];
  ring.long_name = "circle";
  words.algorithms[0] = &ring;
  const auto of = [&](const std::string& algorithm) {
    const auto study = parse_study(
        base_study() + "axes.algorithm = [\"" + algorithm + "\"]\nkeep = \"algorithm = ring\"", "study.toml", words);
    return study ? study->points[0].canonical : messages_of(study);
  };
  EXPECT_EQ(of("circle"), of("ring"));
  EXPECT_THAT(of("circle"), HasSubstr("algorithm=ring\n"));
}

TEST(Spellings, ABuiltInMachineIsItsFile) {
  const std::string path = std::string(TENEX_SOURCE_DIR) + "/experiments/machines/dgx1.toml";
  const Words plain{{"collective", "all_gather"}, {"size", "1MiB"}, {"algorithm", "ring"}};
  Words named = plain;
  named.emplace_back("topology", "dgx1");
  Words filed = plain;
  filed.emplace_back("topology", path);
  const auto by_name = make_point(named, test_words());
  const auto by_path = make_point(filed, test_words());
  ASSERT_TRUE(by_name.ok()) << to_string(by_name.errors());
  ASSERT_TRUE(by_path.ok()) << to_string(by_path.errors());
  EXPECT_EQ(by_name->canonical, by_path->canonical);
  EXPECT_EQ(by_name->key, by_path->key);
}

TEST(Spellings, EveryBuiltInMachineMakesAPoint) {
  for (const BuiltinFile& machine : builtin_machines()) {
    const auto point = make_point({{"topology", std::string(machine.name)},
                                   {"collective", "all_gather"},
                                   {"size", "1GiB"},
                                   {"algorithm", "ring"}},
                                  test_words());
    EXPECT_TRUE(point.ok()) << machine.name << ": " << to_string(point.errors());
  }
}

}  // namespace
}  // namespace tenex
