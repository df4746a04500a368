// Rows of points that weigh process groups.
#include <gtest/gtest.h>

#include <vector>

#include "evaluate/points.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {
namespace {

using support::point;
using support::row_of;
using support::Words;

// 1 MB at 50 GB/s takes 20 us. NPU 0's link into the switch takes the chunk of one group after the other, and the
// switch passes each on: one group ends after 40 us, the other one after 60 us.
TEST(PriorityRows, HaveTheTimeOfEachGroup) {
  const auto row_with = [](const char* priorities) {
    return row_of(point({{"topology", "SW(3)"},
                         {"alpha", "0us"},
                         {"bandwidth", "50GB/s"},
                         {"size", "1MB"},
                         {"collective", "broadcast"},
                         {"groups", "0,1; 0,2"},
                         {"algorithm", "te_ccl"},
                         {"priorities", priorities}}));
  };
  const auto first = row_with("4,1");
  ASSERT_EQ(first.status, PointStatus::ok) << first.reason;
  EXPECT_EQ(first.group_times_ps, (std::vector<std::int64_t>{40'000'000, 60'000'000}));
  const auto second = row_with("1,4");
  EXPECT_EQ(second.group_times_ps, (std::vector<std::int64_t>{60'000'000, 40'000'000}));
  for (const auto& row : {first, second}) {
    EXPECT_EQ(row.collective_time_ps, 60'000'000);
    EXPECT_EQ(row.verified, Verified::yes);
    EXPECT_EQ(row.optimal, 1);
  }
}

// Groups of one kind that share no NPU have their times, too, if they are weighed: an All-Gather of 1 MB for each of
// two pairs of a ring, over links of their own, takes 10 us.
TEST(PriorityRows, HaveThemForGroupsOfOneKind) {
  const auto row = row_of(point({{"topology", "RI(4)"},
                                 {"alpha", "0us"},
                                 {"bandwidth", "50GB/s"},
                                 {"size", "1MB"},
                                 {"groups", "0,1; 2,3"},
                                 {"algorithm", "te_ccl"},
                                 {"priorities", "4,1"}}));
  ASSERT_EQ(row.status, PointStatus::ok) << row.reason;
  EXPECT_EQ(row.group_times_ps, (std::vector<std::int64_t>{10'000'000, 10'000'000}));
}

}  // namespace
}  // namespace tenex
