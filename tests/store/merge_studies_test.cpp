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

/// Simulates a run of a study: its point i gets the row `row(i)`. Returns the merged file.
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
  // A merged file can be merged again.
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
  // Point 0 has no ragged part in either file (0 % 3 groups, even, 0 % 4 arrivals), so the first file's row is chosen,
  // and it comes first.
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

TEST(MergeStudies, ComparesNoRowsThatAClockEnded) {
  const TemporaryFolder folder;
  const auto good = result_of(folder.path() / "a", study_of(3), [](std::size_t i) { return row_of(i); });
  const auto ended_at = [&](const char* name, std::size_t ended) {
    return result_of(folder.path() / name, study_of(3), [&](std::size_t i) {
      auto row = row_of(i);
      if (i == 2) row.sends = 13;
      if (i == ended) row.clock_ended = 1;
      return row;
    });
  };
  EXPECT_EQ(message_of(merge_studies(folder.path() / "both.h5", {good, ended_at("b", 2)})), "(no error)");
  // A mark in another row excuses nothing.
  EXPECT_THAT(message_of(merge_studies(folder.path() / "more.h5", {good, ended_at("c", 1)})), HasSubstr("\"sends\""));
}

/// (time, sends) of rows.
using Costs = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// A merged file of the points from `first` on with these costs and, if `objectives` are given, their front.
fs::path front_of(const fs::path& dir, std::size_t first, const Costs& costs, const std::vector<Objective>& objectives,
                  const std::vector<std::string>& per = {}) {
  Study study = study_of(costs.size(), first);
  study.search.pareto = objectives;
  study.search.per = per;
  return result_of(dir, study, [&](std::size_t i) {
    Evaluation row = row_of(first + i);
    row.collective_time_ps = costs[i].first;
    row.sends = costs[i].second;
    return row;
  });
}

const std::vector<Objective> least_of_both{{"collective_time_ps", false}, {"sends", false}};

std::vector<int> front_in(const fs::path& file) {
  const auto reader = ColumnFileReader::open(file);
  const auto column = reader->read<std::int8_t>("/pareto");
  EXPECT_TRUE(column.ok()) << message_of(column);
  return column.ok() ? std::vector<int>(column->begin(), column->end()) : std::vector<int>();
}

TEST(MergeStudies, HasOneFrontOverAllRowsWhereTheObjectivesAreTheSame) {
  const TemporaryFolder folder;
  const auto a = front_of(folder.path() / "a", 0, {{10, 5}, {20, 3}, {30, 2}}, least_of_both);
  const auto b = front_of(folder.path() / "b", 3, {{15, 4}, {20, 2}, {40, 2}}, least_of_both);
  EXPECT_THAT(front_in(a), ElementsAre(1, 1, 1));
  EXPECT_THAT(front_in(b), ElementsAre(1, 1, 0)) << "(40, 2) is dominated by (20, 2)";
  const auto out = folder.path() / "both.h5";
  ASSERT_TRUE(merge_studies(out, {a, b}).ok());
  // (20, 2) dominates (20, 3) and (30, 2) of the other study too; nothing dominates (10, 5) or (15, 4).
  EXPECT_THAT(front_in(out), ElementsAre(1, 0, 0, 1, 1, 0));
  // A study without objectives takes part. A merged file can be merged again: (5, 1) dominates every row.
  const auto c = front_of(folder.path() / "c", 6, {{5, 1}}, {});
  // The order in which a study names them does not matter: (20, 1) is on the common front, and dominates (20, 2).
  const auto d = front_of(folder.path() / "d", 7, {{20, 1}}, {least_of_both[1], least_of_both[0]});
  ASSERT_TRUE(merge_studies(folder.path() / "turned.h5", {a, b, d}).ok());
  EXPECT_THAT(front_in(folder.path() / "turned.h5"), ElementsAre(1, 0, 0, 1, 0, 0, 1));
  const auto again = folder.path() / "again.h5";
  ASSERT_TRUE(merge_studies(again, {out, c}).ok());
  EXPECT_THAT(front_in(again), ElementsAre(0, 0, 0, 0, 0, 0, 1));
}

TEST(MergeStudies, HasAFrontPerCompetition) {
  const TemporaryFolder folder;
  // The sizes of all points differ and their chunks do not, so by `size` every row competes alone, and by `chunks` with
  // all.
  const auto by = [&](const std::string& setting) {
    const auto a = front_of(folder.path() / (setting + "-a"), 0, {{10, 5}, {20, 6}}, least_of_both, {setting});
    const auto b = front_of(folder.path() / (setting + "-b"), 2, {{10, 4}}, least_of_both, {setting});
    const auto out = folder.path() / (setting + ".h5");
    EXPECT_TRUE(merge_studies(out, {a, b}).ok());
    return front_in(out);
  };
  EXPECT_THAT(by("size"), ElementsAre(1, 1, 1));
  EXPECT_THAT(by("chunks"), ElementsAre(0, 0, 1));
}

TEST(MergeStudies, KeepsEveryStudysOwnFrontWhereTheObjectivesDiffer) {
  const TemporaryFolder folder;
  const auto a = front_of(folder.path() / "a", 0, {{10, 5}, {20, 6}}, least_of_both);
  const auto b =
      front_of(folder.path() / "b", 2, {{5, 4}, {6, 7}, {7, 6}}, {{"collective_time_ps", false}, {"sends", true}});
  const auto c = front_of(folder.path() / "c", 5, {{1, 1}}, {});
  const auto out = folder.path() / "all.h5";
  ASSERT_TRUE(merge_studies(out, {a, b, c}).ok());
  // The front of a has only its first row, that of b its fastest row and the one with most sends; c has no front.
  EXPECT_THAT(front_in(out), ElementsAre(1, 0, 1, 1, 0, 0));
}

TEST(MergeStudies, HasNoFrontWhereNoStudyNamesOne) {
  const TemporaryFolder folder;
  const auto out = folder.path() / "one.h5";
  ASSERT_TRUE(merge_studies(out, {front_of(folder.path() / "a", 0, {{10, 5}}, {})}).ok());
  EXPECT_FALSE(ColumnFileReader::open(out)->has("/pareto"));
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
