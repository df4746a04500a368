// What a search writes into a result folder: the column `pareto`, and rows of points that it left out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/rows.hpp"
#include "tenex/store/folder_status.hpp"

namespace tenex {
namespace {

using namespace test;
using support::TemporaryFolder;
using ::testing::ElementsAre;

Evaluation row_with(std::int64_t time_ps, std::int64_t sends) {
  Evaluation row = row_of(0);
  row.collective_time_ps = time_ps;
  row.sends = sends;
  return row;
}

/// Makes the folder if it does not exist, and commits these rows for the first points of the study.
void commit_rows(const std::filesystem::path& dir, const Study& study, const std::vector<Evaluation>& rows) {
  const auto folder = ResultFolder::open(dir, study, {.extend = true});
  ASSERT_TRUE(folder.ok()) << message_of(folder);
  auto writer = ShardWriter::open(dir, study, folder->state().incarnation, 0);
  ASSERT_TRUE(writer.ok()) << message_of(writer);
  for (std::size_t i = 0; i < rows.size(); ++i) ASSERT_TRUE(writer->add({i, rows[i], 1}).ok());
  ASSERT_TRUE(writer->flush().ok());
}

std::vector<int> merged_front(const std::filesystem::path& dir, const Study& study) {
  const auto merged = merge(dir, study);
  EXPECT_TRUE(merged.ok()) << message_of(merged);
  const auto file = ColumnFileReader::open(dir / "study.h5");
  EXPECT_TRUE(file.ok()) << message_of(file);
  const auto column = file->read<std::int8_t>("/pareto");
  EXPECT_TRUE(column.ok()) << message_of(column);
  return {column->begin(), column->end()};
}

Study study_with_front(std::size_t points) {
  Study study = study_of(points);
  study.search.pareto = {{"collective_time_ps", false}, {"sends", false}};
  return study;
}

Evaluation pruned_row(const Study& study) {
  Evaluation row;
  row.status = PointStatus::pruned;
  row.reason = "left out " + search_stamp(study);
  return row;
}

TEST(ParetoColumn, MarksTheRowsThatNoOtherDominates) {
  const TemporaryFolder folder;
  const Study study = study_with_front(8);
  // (10, 5), twice, and (20, 3) and (2^53 + 1, 1) are the front. (20, 3) dominates (20, 4). (2^53 + 1, 1) dominates
  // (2^53 + 2, 1), which would be equal to it as doubles. An infeasible row and one without a time do not compete.
  constexpr std::int64_t large = (std::int64_t{1} << 53) + 1;
  commit_rows(folder.path(), study,
              {row_with(10, 5), row_with(20, 4), row_with(20, 3), row_with(10, 5), row_with(large + 1, 1),
               row_with(large, 1), failed_row("S < n*c"), row_with(-1, 0)});
  EXPECT_THAT(merged_front(folder.path(), study), ElementsAre(1, 0, 1, 1, 0, 1, 0, 0));
}

TEST(ParetoColumn, TakesTheDirectionOfEachObjective) {
  const TemporaryFolder folder;
  Study study = study_with_front(3);
  study.search.pareto[1].maximize = true;
  commit_rows(folder.path(), study, {row_with(10, 5), row_with(20, 4), row_with(20, 6)});
  EXPECT_THAT(merged_front(folder.path(), study), ElementsAre(1, 0, 1));
}

TEST(ParetoColumn, HasAFrontPerCompetition) {
  const TemporaryFolder folder;
  Study study = study_with_front(3);
  study.search.per = {"size"};  // the setting in which the points of these studies differ
  commit_rows(folder.path(), study, {row_with(10, 5), row_with(20, 6), row_with(30, 7)});
  EXPECT_THAT(merged_front(folder.path(), study), ElementsAre(1, 1, 1));
}

TEST(ParetoColumn, IsThereOnlyWhereTheStudyAsksForIt) {
  const TemporaryFolder folder;
  const Study study = study_of(1);
  commit_rows(folder.path(), study, {row_with(10, 5)});
  ASSERT_TRUE(merge(folder.path(), study).ok());
  EXPECT_FALSE(ColumnFileReader::open(folder.path() / "study.h5")->has("/pareto"));
  EXPECT_THAT(merged_front(folder.path(), study_with_front(1)), ElementsAre(1)) << "merged again, with a front";
}

TEST(PrunedRows, AreDoneAndNotFailed) {
  const TemporaryFolder folder;
  Study study = study_of(3);
  study.search.rounds.push_back({Fidelity::bound, 1, 2});
  commit_rows(folder.path(), study, {row_with(10, 5), pruned_row(study), failed_row("S < n*c")});
  const auto merged = merge(folder.path(), study);
  ASSERT_TRUE(merged.ok()) << message_of(merged);
  EXPECT_EQ(merged->pruned, 1U);
  EXPECT_EQ(merged->failed, 1U);
  OpenOptions retry;
  retry.retry_failed = true;
  const auto reopened = ResultFolder::open(folder.path(), study, retry);
  ASSERT_TRUE(reopened.ok()) << message_of(reopened);
  EXPECT_THAT(reopened->state().done, ElementsAre(true, true, false)) << "only the failed one is tried again";
  EXPECT_EQ(reopened->state().pruned_count, 1U);
  EXPECT_EQ(reopened->state().failed_count, 0U);
}

TEST(PrunedRows, SayNothingInAnotherStudy) {
  const TemporaryFolder folder;
  Study study = study_of(2);
  study.search.rounds.push_back({Fidelity::bound, 1, 2});
  commit_rows(folder.path(), study, {row_with(10, 5), pruned_row(study)});
  Study other = study;
  other.digest = digest128("with another cut");
  const auto reopened = ResultFolder::open(folder.path(), other, {.extend = true});
  ASSERT_TRUE(reopened.ok()) << message_of(reopened);
  EXPECT_THAT(reopened->state().done, ElementsAre(true, false));
  const auto merged = merge(folder.path(), other);
  ASSERT_TRUE(merged.ok()) << message_of(merged);
  EXPECT_EQ(merged->missing, 1U);
  EXPECT_EQ(merged->pruned, 0U);
  const auto status = read_folder_status(folder.path(), other);
  ASSERT_TRUE(status.ok()) << message_of(status);
  EXPECT_EQ(status->rows.size(), 1U);
}

}  // namespace
}  // namespace tenex
