// Reads one row of a folder, and compares it with another evaluation of the same point.
#include "tenex/store/committed_row.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "store/rows.hpp"

namespace tenex {
namespace {

using namespace test;
using support::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> columns_of(const std::vector<RowDifference>& differences) {
  std::vector<std::string> columns;
  for (const auto& difference : differences) columns.push_back(difference.column);
  return columns;
}

TEST(CommittedRow, IsTheOneThatAMergeWouldTake) {
  const TemporaryFolder folder;
  auto study = study_of(5);
  study.outputs.store = {"group_times", "arrivals"};
  ASSERT_TRUE(ResultFolder::open(folder.path(), study, {}).ok());
  for (const std::uint32_t incarnation : {1U, 2U}) {
    auto writer = ShardWriter::open(folder.path(), study, incarnation, 7);
    ASSERT_TRUE(writer.ok());
    // The first run failed at point 2, the second one did not.
    ASSERT_TRUE(writer->add({2, incarnation == 1 ? failed_row("no") : row_of(2), 40 + incarnation}).ok());
    ASSERT_TRUE(writer->add({3, row_of(3), 50}).ok());
    ASSERT_TRUE(writer->flush().ok());
  }
  const auto kept = read_committed_row(folder.path(), study, 2);
  ASSERT_TRUE(kept.ok() && *kept) << message_of(kept);
  expect_same_metrics((*kept)->evaluation, row_of(2));
  EXPECT_EQ((*kept)->evaluation.group_times_ps, row_of(2).group_times_ps);
  EXPECT_EQ((*kept)->evaluation.arrivals, row_of(2).arrivals);
  EXPECT_EQ((*kept)->incarnation, 2U);
  EXPECT_EQ((*kept)->rank, 7U);
  EXPECT_EQ((*kept)->finished_unix_ms, 42);
  EXPECT_TRUE((*kept)->group_times && (*kept)->arrivals);
  EXPECT_FALSE((*kept)->link_bytes || (*kept)->utilization);
  const auto none = read_committed_row(folder.path(), study, 4);
  ASSERT_TRUE(none.ok()) << message_of(none);
  EXPECT_FALSE(none->has_value());
}

TEST(CompareRows, NamesEveryColumnThatDiffersAndNoMeasuredOne) {
  KeptRow stored;
  stored.evaluation = row_of(2);
  auto now = row_of(2);
  set_measured(now, 17);
  now.threads = 9;
  EXPECT_THAT(compare_rows(stored, now), IsEmpty());
  now.status = PointStatus::failed;
  now.reason = "broken";
  now.total_chunks = 5;
  now.efficiency = 0.25;
  const auto differences = compare_rows(stored, now);
  EXPECT_THAT(columns_of(differences), ElementsAre("status", "reason", "total_chunks", "efficiency"));
  EXPECT_EQ(differences[0].stored, "ok");
  EXPECT_EQ(differences[0].other, "failed");
  EXPECT_EQ(differences[1].other, "\"broken\"");
  EXPECT_EQ(differences[2].stored, "4");
  EXPECT_EQ(differences[3].other, "0.25");
}

TEST(CompareRows, LooksAtRaggedPartsThatTheRowWasAskedFor) {
  KeptRow stored;
  stored.evaluation = row_of(3);  // arrivals at 3, 13 and 23 ps; utilization 3, 6, 7
  auto now = row_of(3);
  now.arrivals[1].time = picoseconds(14);
  now.utilization_ps.pop_back();
  EXPECT_THAT(compare_rows(stored, now), IsEmpty());  // neither was asked for
  const auto metrics = compared_columns(stored);
  stored.arrivals = stored.utilization = true;
  EXPECT_EQ(compared_columns(stored), metrics + 2);
  const auto differences = compare_rows(stored, now);
  ASSERT_THAT(columns_of(differences), ElementsAre("utilization", "arrivals"));
  EXPECT_EQ(differences[0].stored, "entry 2 of 3: 7");
  EXPECT_EQ(differences[0].other, "2 entries");
  EXPECT_EQ(differences[1].stored, "entry 1 of 3: chunk 3 at NPU 1 at 13 ps");
  EXPECT_EQ(differences[1].other, "entry 1 of 3: chunk 3 at NPU 1 at 14 ps");
}

}  // namespace
}  // namespace tenex
