// Algorithms for small and middle sizes in rows: times by hand beside those of the algorithms that they were made to
// beat. A microsecond for 1 KB, and one of latency; over several links a message is stored at each NPU.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "evaluate/points.hpp"

namespace tenex {
namespace {

using support::point;
using support::row_of;

std::int64_t microseconds_of(const char* topology, const char* collective, const char* size, const char* chunks,
                             const std::string& algorithm, const char* radix = "2") {
  const auto row = row_of(point({{"topology", topology},
                                 {"collective", collective},
                                 {"algorithm", algorithm},
                                 {"size", size},
                                 {"chunks", chunks},
                                 {"radix", radix},
                                 {"alpha", "1us"},
                                 {"bandwidth", "1GB/s"}}));
  EXPECT_EQ(row.status, PointStatus::ok) << row.reason;
  EXPECT_EQ(row.verified, Verified::yes) << algorithm << " on " << topology << ": " << row.reason;
  EXPECT_GE(row.collective_time_ps, row.bound_ps);
  EXPECT_EQ(row.collective_time_ps % 1'000'000, 0);
  return row.collective_time_ps / 1'000'000;
}

// RI(8), 1 KB: steps over 1, 1 and 3 links of 2 us each, where doubling goes 1, 2 and 4 links.
TEST(SmallSizes, SwingOfWholeSumsStaysNearOnARing) {
  EXPECT_EQ(microseconds_of("RI(8)", "all_reduce", "1KB", "1", "swing_whole"), 10);
  EXPECT_EQ(microseconds_of("RI(8)", "all_reduce", "1KB", "1", "recursive_doubling"), 14);
}

// RI(8), 8 KB in chunks of 1 KB. PAT sends 1 chunk over 4 links, 2 over 2 and 4 over 1: 4 (1 + 1) + 2 (1 + 2) + 1 + 4.
// Bruck sends 1 over 1, 2 over 2 and 4 over 4: 1 + 1 + 2 (1 + 2) + 4 (1 + 4).
TEST(SmallSizes, PatSendsLittleFar) {
  EXPECT_EQ(microseconds_of("RI(8)", "all_gather", "8KB", "1", "pat"), 19);
  EXPECT_EQ(microseconds_of("RI(8)", "all_gather", "8KB", "1", "bruck"), 28);
  EXPECT_EQ(microseconds_of("RI(8)", "reduce_scatter", "8KB", "1", "pat"), 19);
}

// FC(16), 16 KB: with radix 4 three messages of 1 chunk, then three of 4, each over its own link: 2 + 5. With radix 2:
// 2 + 3 + 5 + 9.
TEST(SmallSizes, BruckWithARadixTakesFewerRounds) {
  EXPECT_EQ(microseconds_of("FC(16)", "all_gather", "16KB", "1", "bruck", "4"), 7);
  EXPECT_EQ(microseconds_of("FC(16)", "all_gather", "16KB", "1", "bruck"), 19);
}

// RI(8), Broadcast of 1 KB from NPU 0. Bine: 0 to 3 over 3 links, 3 to 4, 4 to 5: 6 + 2 + 2. Binomial: 0 to 4 over 4
// links, 4 to 6 over 2, 6 to 7: 8 + 4 + 2.
TEST(SmallSizes, BineTreesStayNearOnARing) {
  EXPECT_EQ(microseconds_of("RI(8)", "broadcast", "1KB", "1", "bine"), 10);
  EXPECT_EQ(microseconds_of("RI(8)", "broadcast", "1KB", "1", "binomial"), 14);
}

// FC(5), 8 KB in 4 chunks of 2 us: 4 links, and 3 chunks that follow the first: 4 (1 + 2) + 3 * 2. FC(7) with radix 2:
// two links, 2 (1 + 2) + 3 * 2.
TEST(SmallSizes, ChainsAndTreesAreAPipeline) {
  EXPECT_EQ(microseconds_of("FC(5)", "broadcast", "8KB", "4", "chain"), 18);
  EXPECT_EQ(microseconds_of("FC(7)", "broadcast", "8KB", "4", "k_ary_tree"), 12);
  EXPECT_EQ(microseconds_of("FC(7)", "reduce", "8KB", "4", "k_ary_tree"), 12);
}

// FC(3)_FC(2), 6 KB: a part of 2 chunks in the box, across, and in the box: 3 (1 + 2). Inputs of 6 KB per dimension
// take 2 (1 + 6).
TEST(SmallSizes, OneShotAcrossBoxesTakesThreeHops) {
  EXPECT_EQ(microseconds_of("FC(3)_FC(2)", "all_reduce", "6KB", "1", "one_shot_across"), 9);
  EXPECT_EQ(microseconds_of("FC(3)_FC(2)", "all_reduce", "6KB", "1", "one_shot_per_dimension"), 14);
  // A mesh, on which NPUs wait for others.
  EXPECT_GT(microseconds_of("LI(3)_SW(2)_LI(3)", "all_reduce", "36KB", "2", "one_shot_across"), 0);
}

// A row whose time is below its bound has failed. Speeds whose chunk times are no whole picoseconds, links of unequal
// speeds on a path, and messages of several chunks that pass switches before they are there whole.
TEST(SmallSizes, MessagesOverEarlySwitchesTakeNoLessThanTheirBounds) {
  int met = 0;
  for (const auto* topology : {"SW(4)", "SW(6)", "SW(4)_SW(2)", "leaf_spine(2,3,2)"})
    for (const auto* bandwidth : {"7GB/s", "450GB/s, 7GB/s"})
      for (const auto* algorithm : {"direct", "one_shot", "recursive_doubling", "pat", "dbt", "swing"})
        for (const auto* size : {"97B", "1013B", "65537B"}) {
          if (std::string(topology).find('_') == std::string::npos && std::string(bandwidth).size() > 6) continue;
          const auto row = row_of(point({{"topology", topology},
                                         {"collective", "all_reduce"},
                                         {"algorithm", algorithm},
                                         {"size", size},
                                         {"chunks", "3"},
                                         {"alpha", "3ns"},
                                         {"bandwidth", bandwidth},
                                         {"forwarding", "virtual_cut_through"}}));
          ASSERT_EQ(row.status, PointStatus::ok) << algorithm << " on " << topology << ": " << row.reason;
          EXPECT_EQ(row.verified, Verified::yes) << algorithm << " on " << topology << ": " << row.reason;
          met += row.bound_name == "hops" ? 1 : 0;
        }
  EXPECT_GT(met, 0);
}

}  // namespace
}  // namespace tenex
