// Rows are written as shards, merged, and read back from the merged result.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/rows.hpp"
#include "tenex/files/atomic_write.hpp"
#include "tenex/store/store.hpp"

namespace tenex {
namespace {

using namespace test;
using support::TemporaryFolder;
using ::testing::HasSubstr;

/// Opens the folder, writes the rows of all points as rank 0, and closes it.
void run_whole(const std::filesystem::path& dir, const Study& study) {
  const auto folder = ResultFolder::open(dir, study, {});
  ASSERT_TRUE(folder.ok()) << message_of(folder);
  auto writer = ShardWriter::open(dir, study, folder->state().incarnation, 0);
  ASSERT_TRUE(writer.ok()) << message_of(writer);
  add_rows(*writer, 0, study.points.size());
  const auto status = writer->flush();
  ASSERT_TRUE(status.ok()) << message_of(status);
}

TEST(Merge, GivesBackEveryFieldOfEveryRow) {
  const TemporaryFolder folder;
  const auto study = study_of(7);
  run_whole(folder.path(), study);
  const auto report = merge(folder.path(), study);
  ASSERT_TRUE(report.ok()) << message_of(report);
  EXPECT_EQ(report->rows, 7U);
  EXPECT_EQ(report->missing, 0U);
  EXPECT_EQ(report->failed, 0U);
  const auto table = read_result(report->file);
  ASSERT_TRUE(table.ok()) << message_of(table);
  ASSERT_EQ(table->rows.size(), 7U);
  for (std::size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(table->point[i], static_cast<std::int64_t>(i));
    EXPECT_EQ(table->key[i], to_string(study.points[i].key));
    expect_same_metrics(table->rows[i], row_of(i));
    EXPECT_EQ(table->rows[i].group_times_ps, row_of(i).group_times_ps);
    EXPECT_EQ(table->rows[i].utilization_ps, row_of(i).utilization_ps);
    EXPECT_EQ(table->rows[i].utilization_bin_ps, row_of(i).utilization_bin_ps);
    EXPECT_EQ(table->rows[i].arrivals, row_of(i).arrivals);
    for (std::size_t s = 0; s < setting_columns().size(); ++s) {
      const auto& setting = setting_columns()[s];
      EXPECT_EQ(table->settings[i][s], cell_text(setting_cell(study.points[i], setting.name)));
    }
  }
}

TEST(Merge, WritesTheSameBytesTwice) {
  const TemporaryFolder folder;
  const auto study = study_of(300);
  run_whole(folder.path(), study);
  ASSERT_TRUE(merge(folder.path(), study).ok());
  const auto first = support::read_text(folder.path() / "study.h5");
  ASSERT_TRUE(merge(folder.path(), study).ok());
  EXPECT_EQ(support::read_text(folder.path() / "study.h5"), first);
}

TEST(Merge, LeavesOutPointsWithoutARow) {
  const TemporaryFolder folder;
  const auto study = study_of(5);
  const auto opened = ResultFolder::open(folder.path(), study, {});
  ASSERT_TRUE(opened.ok());
  auto writer = ShardWriter::open(folder.path(), study, 1, 0);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer->add({3, row_of(3), 1}).ok());
  ASSERT_TRUE(writer->add({1, failed_row("S < n*c"), 2}).ok());
  ASSERT_TRUE(writer->flush().ok());
  const auto report = merge(folder.path(), study);
  ASSERT_TRUE(report.ok()) << message_of(report);
  EXPECT_EQ(report->rows, 2U);
  EXPECT_EQ(report->missing, 3U);
  EXPECT_EQ(report->failed, 1U);
  const auto table = read_result(report->file);
  ASSERT_TRUE(table.ok()) << message_of(table);
  EXPECT_EQ(table->point, (std::vector<std::int64_t>{1, 3}));
  EXPECT_EQ(table->rows[0].reason, "S < n*c");
}

TEST(Merge, OfNoRowsIsAnEmptyResult) {
  const TemporaryFolder folder;
  const auto study = study_of(2);
  ASSERT_TRUE(ResultFolder::open(folder.path(), study, {}).ok());
  const auto report = merge(folder.path(), study);
  ASSERT_TRUE(report.ok()) << message_of(report);
  EXPECT_EQ(report->missing, 2U);
  const auto table = read_result(report->file);
  ASSERT_TRUE(table.ok()) << message_of(table);
  EXPECT_TRUE(table->rows.empty());
}

TEST(Merge, TakesOneOfTwoEqualRowsWhateverTheyMeasured) {
  const TemporaryFolder folder;
  const auto study = study_of(2);
  const auto opened = ResultFolder::open(folder.path(), study, {});
  ASSERT_TRUE(opened.ok());
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    auto writer = ShardWriter::open(folder.path(), study, 1, rank);
    ASSERT_TRUE(writer.ok());
    auto row = row_of(0);
    set_measured(row, 1.0 + rank);
    ASSERT_TRUE(writer->add({0, row, 5}).ok());
    ASSERT_TRUE(writer->flush().ok());
  }
  const auto report = merge(folder.path(), study);
  ASSERT_TRUE(report.ok()) << message_of(report);
  EXPECT_EQ(report->rows, 1U);
  EXPECT_EQ(report->repeated, 1U);
}

TEST(Merge, NamesKeyAndColumnWhenEqualPointsDiffer) {
  const TemporaryFolder folder;
  const auto study = study_of(2);
  const auto opened = ResultFolder::open(folder.path(), study, {});
  ASSERT_TRUE(opened.ok());
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    auto writer = ShardWriter::open(folder.path(), study, 1, rank);
    ASSERT_TRUE(writer.ok());
    auto row = row_of(1);
    row.efficiency = std::nextafter(row.efficiency, rank == 0 ? 0.0 : 1.0);
    ASSERT_TRUE(writer->add({1, row, 5}).ok());
    ASSERT_TRUE(writer->flush().ok());
  }
  const auto report = merge(folder.path(), study);
  ASSERT_FALSE(report.ok());
  EXPECT_THAT(message_of(report), HasSubstr("\"efficiency\""));
  EXPECT_THAT(message_of(report), HasSubstr(to_string(study.points[1].key)));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "study.h5"));
}

TEST(Merge, ComparesGroupTimesOfEqualPoints) {
  const TemporaryFolder folder;
  const auto study = study_of(3);
  const auto opened = ResultFolder::open(folder.path(), study, {});
  ASSERT_TRUE(opened.ok());
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    auto writer = ShardWriter::open(folder.path(), study, 1, rank);
    ASSERT_TRUE(writer.ok());
    auto row = row_of(2);
    row.group_times_ps.back() += rank;
    ASSERT_TRUE(writer->add({2, row, 5}).ok());
    ASSERT_TRUE(writer->flush().ok());
  }
  const auto report = merge(folder.path(), study);
  ASSERT_FALSE(report.ok());
  EXPECT_THAT(message_of(report), HasSubstr("\"group_time_ps\""));
}

TEST(Merge, KeepsLinkLoadsWithTheEndsOfTheLinks) {
  const TemporaryFolder folder;
  const auto study = study_of(3);
  const auto opened = ResultFolder::open(folder.path(), study, {});
  ASSERT_TRUE(opened.ok());
  auto writer = ShardWriter::open(folder.path(), study, 1, 0);
  ASSERT_TRUE(writer.ok());
  auto row = row_of(1);
  for (int link = 0; link < 8; ++link) row.link_loads.push_back({bytes(100 + link), picoseconds(1000 + link)});
  ASSERT_TRUE(writer->add({1, row, 5}).ok());
  ASSERT_TRUE(writer->add({2, row_of(2), 5}).ok());
  ASSERT_TRUE(writer->flush().ok());
  const auto report = merge(folder.path(), study);
  ASSERT_TRUE(report.ok()) << message_of(report);
  const auto table = read_result(report->file);
  ASSERT_TRUE(table.ok()) << message_of(table);
  ASSERT_EQ(table->rows[0].link_loads.size(), 8U);
  EXPECT_EQ(table->rows[0].link_loads[7].bytes, bytes(107));
  EXPECT_EQ(table->rows[0].link_loads[7].busy, picoseconds(1007));
  EXPECT_TRUE(table->rows[1].link_loads.empty());
  // A bidirectional ring of 4: every NPU is the source of two links and the destination of two.
  const auto file = ColumnFileReader::open(report->file);
  ASSERT_TRUE(file.ok());
  for (const auto* ends : {"/links/source", "/links/destination"}) {
    auto vertices = file->read<std::int64_t>(ends);
    ASSERT_TRUE(vertices.ok());
    std::sort(vertices->begin(), vertices->end());
    EXPECT_EQ(*vertices, (std::vector<std::int64_t>{0, 0, 1, 1, 2, 2, 3, 3}));
  }
}

TEST(Merge, OpensInXarrayAsItIs) {
  ASSERT_EQ(std::system("/usr/bin/python3 -c 'import xarray, h5netcdf'"), 0) << "tests/run.sh installs both";
  const TemporaryFolder folder;
  const auto study = study_of(6);
  const auto opened = ResultFolder::open(folder.path(), study, {});
  ASSERT_TRUE(opened.ok());
  auto writer = ShardWriter::open(folder.path(), study, 1, 0);
  ASSERT_TRUE(writer.ok());
  add_rows(*writer, 0, 5);
  ASSERT_TRUE(writer->add({5, failed_row("größer als erlaubt"), 5}).ok());
  ASSERT_TRUE(writer->flush().ok());
  const auto report = merge(folder.path(), study);
  ASSERT_TRUE(report.ok()) << message_of(report);
  const auto script = std::string(TENEX_SOURCE_DIR) + "/tests/store/open_with_xarray.py";
  support::Command command;
  command.arguments = {"/usr/bin/python3", script, report->file.string()};
  const auto finished = support::run(command);
  EXPECT_EQ(finished.exit_code, 0) << finished.out << finished.err;
}

TEST(ReadResult, RefusesForeignFiles) {
  const TemporaryFolder folder;
  const auto foreign = folder.path() / "foreign.h5";
  ColumnFileWriter writer;
  writer.set_attribute("/", "title", "something else");
  ASSERT_TRUE(writer.save(foreign).ok());
  EXPECT_THAT(message_of(read_result(foreign)), HasSubstr("this is no tenex result"));
  support::write_text(folder.path() / "text.h5", "not HDF5 at all");
  EXPECT_THAT(message_of(read_result(folder.path() / "text.h5")), HasSubstr("this is no HDF5 file"));
  EXPECT_THAT(message_of(read_result(folder.path() / "absent.h5")), HasSubstr("cannot read"));
}

TEST(ReadResult, RefusesANewerSchema) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "newer.h5";
  ColumnFileWriter writer;
  writer.set_attribute("/", "kind", "tenex result");
  writer.set_attribute("/", "schema", result_schema() + 1);
  ASSERT_TRUE(writer.save(file).ok());
  EXPECT_THAT(message_of(read_result(file)), HasSubstr("newer than this version"));
}

TEST(ReadResult, RefusesATruncatedResult) {
  const TemporaryFolder folder;
  const auto study = study_of(50);
  run_whole(folder.path(), study);
  ASSERT_TRUE(merge(folder.path(), study).ok());
  const auto file = folder.path() / "study.h5";
  const auto whole = support::read_text(file);
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{7}, std::size_t{100}, whole.size() / 2, whole.size() - 1}) {
    support::write_text(file, whole.substr(0, size));
    EXPECT_FALSE(read_result(file).ok()) << size;
  }
}

}  // namespace
}  // namespace tenex
