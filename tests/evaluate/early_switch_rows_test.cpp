// Rows over switches with virtual cut-through: the numbers that real fabrics are expected to reach, and every algorithm
// and synthesizer, verified.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "evaluate/points.hpp"

namespace tenex {
namespace {

using support::row_of;
using support::Words;

Words words_of(const std::string& forwarding, const std::string& topology, Words more) {
  more.emplace_back("topology", topology);
  more.emplace_back("forwarding", forwarding);
  return more;
}

Evaluation verified_row(const Words& words) {
  const auto row = row_of(make_point(words, vocabulary()).value());
  EXPECT_EQ(row.status, PointStatus::ok) << row.reason;
  EXPECT_EQ(row.verified, Verified::yes) << row.reason;
  EXPECT_GE(row.collective_time_ps, row.bound_ps);
  return row;
}

TEST(EarlySwitchRows, OfOneSwitchTakeAChunkTimeLessThanWhereItStores) {
  // SW(8), All-Gather of 400 MB: chunks of 1 ms, two alphas of 0.5 us (EarlySwitchBound.OfOneSwitch...).
  const Words gather{{"collective", "all_gather"},
                     {"size", "400MB"},
                     {"alpha", "0.5us"},
                     {"bandwidth", "50GB/s"},
                     {"algorithm", "direct"}};
  const auto row = verified_row(words_of("virtual_cut_through", "SW(8)", gather));
  EXPECT_EQ(row.collective_time_ps, 7'001'000'000);
  EXPECT_EQ(row.bound_ps, 7'001'000'000);
  EXPECT_EQ(verified_row(words_of("store_and_forward", "SW(8)", gather)).collective_time_ps, 8'001'000'000);
}

TEST(EarlySwitchRows, KeepAFastLinkNoLongerThanItsOwnTime) {
  // Rings over nodes of four at 900 GB/s and rails of three at 50 GB/s. A path that is held at once keeps the fast
  // links for as long as the slow ones: 85.7 GB/s. Here the slow ones alone count.
  const Words rings{{"collective", "all_reduce"},    {"size", "16GiB"},      {"alpha", "1us,3us"},
                    {"bandwidth", "900GB/s,50GB/s"}, {"algorithm", "rings"}, {"chunks", "64"}};
  const auto early = verified_row(words_of("virtual_cut_through", "SW(4)_SW(3)", rings));
  const auto stored = verified_row(words_of("store_and_forward", "SW(4)_SW(3)", rings));
  EXPECT_GE(early.algbw_bytes_per_s, 108.5e9);
  EXPECT_LT(early.collective_time_ps, stored.collective_time_ps);
}

TEST(EarlySwitchRows, OfEveryAlgorithmAreVerified) {
  const Words sizes{{"size", "6MB"}, {"alpha", "1us"}, {"bandwidth", "50GB/s"}, {"chunks", "2"}};
  for (const auto* topology : {"SW(6)", "SW(3)_SW(2)", "SW(8,4:2)", "leaf_spine(2,3,2)"})
    for (const auto* collective : {"all_gather", "reduce_scatter", "all_reduce", "all_to_all"})
      for (const auto* algorithm : {"ring", "direct", "rings", "pccl", "trees", "tacos", "auto"}) {
        SCOPED_TRACE(std::string(topology) + " " + collective + " " + algorithm);
        Words more = sizes;
        more.emplace_back("collective", collective);
        more.emplace_back("algorithm", algorithm);
        auto words = words_of("virtual_cut_through", topology, more);
        const auto point = make_point(words, vocabulary());
        if (!point) continue;  // not of this collective
        const auto row = row_of(*point);
        if (row.status == PointStatus::unsupported) continue;
        EXPECT_EQ(row.status, PointStatus::ok) << row.reason;
        EXPECT_EQ(row.verified, Verified::yes) << row.reason;
        EXPECT_GE(row.collective_time_ps, row.bound_ps);
        words.back().second = "store_and_forward";
        const auto stored = row_of(make_point(words, vocabulary()).value());
        const std::string name = algorithm;
        if (name == "pccl" || name == "trees" || name == "tacos") {
          EXPECT_LE(row.collective_time_ps, stored.collective_time_ps);
        }
      }
}

TEST(EarlySwitchRows, OfSwitchesThatCopyAndAddAreVerified) {
  for (const auto* topology : {"SW(6)", "SW(8,4:2)"})
    for (const auto* collective : {"all_gather", "reduce_scatter", "all_reduce", "broadcast"})
      for (const auto* overlap : {"true", "false"}) {
        SCOPED_TRACE(std::string(topology) + " " + collective + " " + overlap);
        auto words = words_of("virtual_cut_through", topology,
                              {{"collective", collective},
                               {"size", "6MB"},
                               {"alpha", "1us"},
                               {"bandwidth", "50GB/s"},
                               {"chunks", "2"},
                               {"algorithm", "pccl"},
                               {"switch_copy", "yes"},
                               {"switch_reduce", "yes"},
                               {"overlap", overlap}});
        const auto row = verified_row(words);
        words.back().second = "store_and_forward";
        EXPECT_LE(row.collective_time_ps, verified_row(words).collective_time_ps);
      }
}

TEST(EarlySwitchRows, ClaimNoOptimumOfASolver) {
  // te_ccl's epochs are those of switches that store.
  const auto row = verified_row(words_of("virtual_cut_through", "SW(3)",
                                         {{"collective", "all_gather"},
                                          {"size", "3MB"},
                                          {"alpha", "1us"},
                                          {"bandwidth", "50GB/s"},
                                          {"algorithm", "te_ccl"}}));
  EXPECT_TRUE(row.optimal != 1 || row.collective_time_ps == row.bound_ps);
}

}  // namespace
}  // namespace tenex
