// The column link_imbalance: ratios by hand, and where there is none.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "evaluate/points.hpp"

namespace tenex {
namespace {

using support::Words;

double imbalance_on(const char* topology, Words more = {}) {
  more.insert(more.end(), {{"topology", topology}, {"collective", "all_to_all"}, {"size", "1MB"}});
  if (std::ranges::none_of(more, [](const auto& word) { return word.first == "algorithm"; }))
    more.emplace_back("algorithm", "direct");
  const auto row = support::row_of(support::point(more));
  EXPECT_EQ(row.status, PointStatus::ok) << row.reason;
  EXPECT_TRUE(row.link_loads.empty());
  return row.link_imbalance;
}

TEST(LinkImbalance, IsThatOfTheBusiestLinksLevel) {
  // leaf_spine(4,4,4): an NPU sends 15 messages. A leaf sends 48 to others over 4 links: 12 each in turn, where an
  // NPU's links are the busiest and alike; all 48 over the lowest one, where the mean of the level is 12.
  EXPECT_EQ(imbalance_on("leaf_spine(4,4,4)"), 1);
  EXPECT_EQ(imbalance_on("leaf_spine(4,4,4)", {{"routes", "single"}}), 4);
  EXPECT_EQ(imbalance_on("leaf_spine(4,4,4)", {{"routes", "single"}, {"backend", "congestion_unaware"}}), 4);
  EXPECT_EQ(imbalance_on("fat_tree(4)"), 1);
  // Hashes are uneven: some link between switches carries more than the 15 messages of an NPU.
  EXPECT_GT(imbalance_on("leaf_spine(4,4,4)", {{"routes", "hashed draw 1"}}), 1);
}

TEST(LinkImbalance, CountsWiresOnPhysicalLinks) {
  // The path of a pair goes over spine (source + destination) mod 4.
  EXPECT_EQ(imbalance_on("leaf_spine(4,4,4)", {{"forwarding", "cut_through"}}), 1);
}

TEST(LinkImbalance, IsAbsentWhereNothingCanBeCompared) {
  EXPECT_TRUE(std::isnan(imbalance_on("RI(8)")));
  EXPECT_TRUE(std::isnan(imbalance_on("SW(8)")));
  EXPECT_TRUE(std::isnan(imbalance_on("leaf_spine(2,2,2)", {{"algorithm", "pccl"}})));
}

}  // namespace
}  // namespace tenex
