// Results of several studies in one file.
#include "tenex/store/merge_studies.hpp"

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
using ::testing::HasSubstr;

namespace fs = std::filesystem;

/// Runs a study by hand: point i of it has the row `row(i)`. Returns its merged file.
template <class MakeRow>
fs::path result_of(const fs::path& dir, const Study& study, const MakeRow& row) {
  EXPECT_TRUE(ResultFolder::open(dir, study, {}).ok());
  auto writer = ShardWriter::open(dir, study, 1, 0);
  EXPECT_TRUE(writer.ok());
  for (std::size_t i = 0; i < study.points.size(); ++i)
    EXPECT_TRUE(writer->add({i, row(i), 1'000 + static_cast<std::int64_t>(i)}).ok());
  EXPECT_TRUE(writer->flush().ok());
  const auto report = merge(dir, study);
  EXPECT_TRUE(report.ok()) << message_of(report);
  return dir / "study.h5";
}

TEST(MergeStudies, HasEveryPointOnceAndSaysWhereItIsFrom) {
  const TemporaryFolder folder;
  // Points 0 1 2, and points 2 3 4 5: point 2 is in both.
  const auto first = result_of(folder.path() / "a", study_of(3), [](std::size_t i) { return row_of(i); });
  const auto second = result_of(folder.path() / "b", study_of(4, 2), [](std::size_t i) { return row_of(i + 2); });
  const auto out = folder.path() / "both.h5";
  const auto report = merge_studies(out, {first, second});
  ASSERT_TRUE(report.ok()) << message_of(report);
  EXPECT_EQ(report->rows, 6U);
  EXPECT_EQ(report->repeated, 1U);
  EXPECT_EQ(report->failed, 0U);
  const auto table = read_result(out);
  ASSERT_TRUE(table.ok()) << message_of(table);
  EXPECT_THAT(table->point, ElementsAre(0, 1, 2, 3, 4, 5));
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(table->key[i], to_string(ring_point(i).key));
    expect_same_metrics(table->rows[i], row_of(i));
    EXPECT_EQ(table->rows[i].group_times_ps, row_of(i).group_times_ps);
    EXPECT_EQ(table->rows[i].utilization_ps, row_of(i).utilization_ps);
    EXPECT_EQ(table->rows[i].arrivals, row_of(i).arrivals);
  }
  const auto file = ColumnFileReader::open(out);
  ASSERT_TRUE(file.ok());
  EXPECT_THAT(*file->read<std::int64_t>("/study_number"), ElementsAre(1, 1, 1, 2, 2, 2));
  EXPECT_THAT(*file->read<std::int64_t>("/study_point"), ElementsAre(0, 1, 2, 1, 2, 3));
  EXPECT_THAT(*file->read<std::int64_t>("/runs/finished_unix_ms"), ElementsAre(1000, 1001, 1002, 1001, 1002, 1003));
  EXPECT_EQ(*file->text_attribute("/", "study"), study_of(3).text);
  EXPECT_EQ(*file->text_attribute("/", "study_2"), study_of(4, 2).text);
  EXPECT_EQ(*file->integer_attribute("/", "studies"), 2);
}

TEST(MergeStudies, OfOneFileHasItsRows) {
  const TemporaryFolder folder;
  const auto first = result_of(folder.path() / "a", study_of(7), [](std::size_t i) { return row_of(i); });
  const auto out = folder.path() / "same.h5";
  ASSERT_TRUE(merge_studies(out, {first}).ok());
  const auto a = read_result(first);
  const auto b = read_result(out);
  ASSERT_TRUE(a.ok() && b.ok());
  expect_same_results(*a, *b);
  // What was merged can be merged again.
  const auto again = merge_studies(folder.path() / "again.h5", {out, first});
  ASSERT_TRUE(again.ok()) << message_of(again);
  EXPECT_EQ(again->rows, 7U);
  EXPECT_EQ(again->repeated, 7U);
}

TEST(MergeStudies, PrefersRowsThatAreOkAndThoseWithOutputs) {
  const TemporaryFolder folder;
  const auto poor = result_of(folder.path() / "a", study_of(4), [](std::size_t i) {
    if (i == 1) return failed_row("out of memory there");
    auto row = row_of(i);
    row.group_times_ps.clear();
    row.arrivals.clear();
    row.utilization_ps.clear();
    return row;
  });
  const auto rich = result_of(folder.path() / "b", study_of(4), [](std::size_t i) { return row_of(i); });
  const auto out = folder.path() / "both.h5";
  const auto report = merge_studies(out, {poor, rich});
  ASSERT_TRUE(report.ok()) << message_of(report);
  EXPECT_EQ(report->failed, 0U);
  const auto file = ColumnFileReader::open(out);
  ASSERT_TRUE(file.ok());
  // Point 0 has no ragged part in either (0 % 3 groups, even, 0 % 4 arrivals): the first one's row stands, and stands
  // first.
  EXPECT_THAT(*file->read<std::int64_t>("/study_number"), ElementsAre(1, 2, 2, 2));
  EXPECT_THAT(*file->read<std::int64_t>("/study_point"), ElementsAre(0, 1, 2, 3));
}

TEST(MergeStudies, NamesKeyColumnAndFileWhereEqualPointsDiffer) {
  const TemporaryFolder folder;
  const auto good = result_of(folder.path() / "a", study_of(3), [](std::size_t i) { return row_of(i); });
  const auto bad = result_of(folder.path() / "b", study_of(3), [](std::size_t i) {
    auto row = row_of(i);
    set_measured(row, 3);  // may differ
    if (i == 2) row.sends = 13;
    return row;
  });
  const auto out = folder.path() / "both.h5";
  const auto report = merge_studies(out, {good, bad});
  EXPECT_THAT(message_of(report), HasSubstr(to_string(ring_point(2).key)));
  EXPECT_THAT(message_of(report), HasSubstr("\"sends\""));
  EXPECT_THAT(message_of(report), HasSubstr(bad.string()));
  EXPECT_FALSE(fs::exists(out));
  const auto ragged = result_of(folder.path() / "c", study_of(3), [](std::size_t i) {
    auto row = row_of(i);
    if (i == 2) row.group_times_ps.back() += 1;
    return row;
  });
  EXPECT_THAT(message_of(merge_studies(out, {good, ragged})), HasSubstr("\"groups/time_ps\""));
}

TEST(MergeStudies, RefusesWhatIsNoResultAndOtherPhysicsAllAtOnce) {
  const TemporaryFolder folder;
  const auto old = folder.path() / "old.h5";
  ColumnFileWriter file;
  file.set_attribute("/", "kind", "tenex result");
  file.set_attribute("/", "schema", 1);
  file.set_attribute("/", "physics", physics_version + 1);
  ASSERT_TRUE(file.save(old).ok());
  const auto report = merge_studies(folder.path() / "x.h5", {folder.path() / "none.h5", old});
  EXPECT_EQ(report.errors().size(), 2U);
  EXPECT_THAT(message_of(report), HasSubstr("none.h5"));
  EXPECT_THAT(message_of(report), HasSubstr("physics " + std::to_string(physics_version + 1)));
}

}  // namespace
}  // namespace tenex
