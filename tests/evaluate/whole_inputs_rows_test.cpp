// All-Reduces by sums of whole inputs in rows: times by hand, the choice of `auto` and their verification.
#include <gtest/gtest.h>

#include <cstdint>

#include "evaluate/points.hpp"

namespace tenex {
namespace {

using support::point;
using support::row_of;

std::int64_t time_of_all_reduce(const char* topology, const char* size, const char* chunks, const char* algorithm) {
  const auto row = row_of(point({{"topology", topology},
                                 {"collective", "all_reduce"},
                                 {"algorithm", algorithm},
                                 {"size", size},
                                 {"chunks", chunks},
                                 {"alpha", "1us"}}));
  EXPECT_EQ(row.status, PointStatus::ok) << row.reason;
  EXPECT_EQ(row.verified, Verified::yes) << algorithm << " on " << topology << ": " << row.reason;
  EXPECT_GE(row.collective_time_ps, row.bound_ps);
  return row.collective_time_ps;
}

// A microsecond for 1 KB, and one of latency.
TEST(WholeInputs, TakeTheTimesByHand) {
  // FC(4), 2 KB: one hop of 1 + 2 us. Doubling takes two of them.
  EXPECT_EQ(time_of_all_reduce("FC(4)", "2000B", "1", "one_shot"), 3'000'000);
  EXPECT_EQ(time_of_all_reduce("FC(4)", "2000B", "1", "recursive_doubling"), 6'000'000);
  // SW(8), 16 KB in 2 slices of 8 KB. An NPU's link carries 7 inputs of 2 slices: 112 us; the last slice is at the
  // switch 1 us later, and at its destination after 1 + 8 us more. NPUs send to different receivers at each time.
  EXPECT_EQ(time_of_all_reduce("SW(8)", "16KB", "2", "one_shot"), 122'000'000);
  // Doubling: a slice takes 2 * (1 + 8) us in each of 3 steps, and the second one is 8 us behind.
  EXPECT_EQ(time_of_all_reduce("SW(8)", "16KB", "2", "recursive_doubling"), 62'000'000);
  // SW(6), 6 KB: 6 = 2 * 3. A step of one input, 2 * (1 + 6) us, and one of two, of which the second is 6 us behind.
  EXPECT_EQ(time_of_all_reduce("SW(6)", "6KB", "1", "recursive_doubling"), 34'000'000);
  // FC(3)_FC(2), 6 KB: two inputs over two links at once, 1 + 6 us, then one: 1 + 6 us.
  EXPECT_EQ(time_of_all_reduce("FC(3)_FC(2)", "6KB", "1", "one_shot_per_dimension"), 14'000'000);
}

// mi300x.toml: seven links of 64 GB/s and 700 ns. 8 KiB: 700 + 128 ns, which is proven to be the optimum; two hops take
// 1,400 ns at least.
TEST(WholeInputs, AreWhatAutoChoosesAtSmallSizes) {
  for (const auto* algorithm : {"auto", "best"}) {
    const auto row = row_of(point({{"topology", "FC(8)"},
                                   {"collective", "all_reduce"},
                                   {"algorithm", algorithm},
                                   {"size", "8KiB"},
                                   {"chunks", "1"},
                                   {"alpha", "700ns"},
                                   {"bandwidth", "64GB/s"}}));
    ASSERT_EQ(row.status, PointStatus::ok) << row.reason;
    EXPECT_EQ(row.chosen_algorithm, "one_shot") << algorithm;
    EXPECT_EQ(row.collective_time_ps, 828'000);
    EXPECT_EQ(row.bound_ps, 828'000);
    EXPECT_EQ(row.bound_name, "hops");
    EXPECT_EQ(row.verified, Verified::yes);
  }
}

// A ring of 8 passes inputs on over NPUs, a mesh has NPUs that wait longer than others, and their partners are ahead.
TEST(WholeInputs, AreVerifiedWhereverMessagesMeet) {
  for (const auto* algorithm : {"one_shot", "one_shot_per_dimension", "recursive_doubling"})
    for (const auto* topology : {"RI(8)", "mesh(3,4)", "LI(5)_SW(3)", "SW(4,2)_RI(3)"})
      EXPECT_GT(time_of_all_reduce(topology, "36KB", "3", algorithm), 0);
}

}  // namespace
}  // namespace tenex
