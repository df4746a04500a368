#include <gtest/gtest.h>

#include "support/topologies.hpp"
#include "tenex/algorithm/algorithm.hpp"

namespace tenex {
namespace {

TEST(AlgorithmRegistry, ListsTheTextbookAlgorithms) {
  std::vector<std::string_view> names;
  for (const auto& algorithm : algorithms()) names.push_back(algorithm.name);
  EXPECT_EQ(names, (std::vector<std::string_view>{"ring", "ring_unidirectional", "direct"}));
}

TEST(AlgorithmRegistry, FindsByNameAlone) {
  ASSERT_NE(find_algorithm("direct"), nullptr);
  EXPECT_EQ(find_algorithm("direct")->name, "direct");
  EXPECT_EQ(find_algorithm("rings"), nullptr);
}

TEST(AlgorithmRegistry, RefusesACollectiveThatTheAlgorithmIsNotDefinedFor) {
  const auto topology = support::ring(4);
  const auto collective = support::collective(CollectiveKind::broadcast, 4, bytes(4));
  for (const auto& algorithm : algorithms()) {
    const auto program = algorithm.make(topology, collective);
    ASSERT_FALSE(program.ok()) << algorithm.name;
    EXPECT_EQ(program.errors()[0].fault, Fault::input);
    EXPECT_EQ(program.errors()[0].problem, "algorithm \"" + std::string(algorithm.name) + "\" does not do broadcast");
    EXPECT_EQ(program.errors()[0].why, "it is defined for all_gather, reduce_scatter, all_reduce");
  }
}

TEST(AlgorithmRegistry, RefusesACollectiveOfAnotherTopology) {
  const auto program =
      find_algorithm("ring")->make(support::ring(4), support::collective(CollectiveKind::all_gather, 5, bytes(5)));
  ASSERT_FALSE(program.ok());
  EXPECT_EQ(program.errors()[0].problem, "the collective is for 5 NPUs");
}

}  // namespace
}  // namespace tenex
