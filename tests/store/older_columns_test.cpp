// Result files older than a key: their points have its default.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>

#include "store/rows.hpp"
#include "tenex/store/merge_studies.hpp"

namespace tenex {
namespace {

using namespace test;
using support::TemporaryFolder;
using ::testing::HasSubstr;

namespace fs = std::filesystem;

fs::path older_result(const fs::path& dir, const Study& study) {
  EXPECT_TRUE(ResultFolder::open(dir, study, {}).ok());
  auto writer = ShardWriter::open(dir, study, 1, 0);
  EXPECT_TRUE(writer.ok());
  for (std::size_t i = 0; i < study.points.size(); ++i) EXPECT_TRUE(writer->add({i, row_of(i), 1'000}).ok());
  EXPECT_TRUE(writer->flush().ok());
  EXPECT_TRUE(merge(dir, study).ok());
  return dir / "study.h5";
}

void remove_column(const fs::path& path, const char* column) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  EXPECT_GE(H5Ldelete(file, column, H5P_DEFAULT), 0) << column;
  H5Fclose(file);
}

TEST(OlderColumns, ReadAsTheDefaultOfTheirKey) {
  const TemporaryFolder folder;
  const auto whole = older_result(folder.path() / "a", study_of(3));
  const auto older = folder.path() / "older.h5";
  fs::copy_file(whole, older);
  for (const char* column : {"window", "backend", "groups_setting", "order", "simulation_engine_setting"})
    remove_column(older, column);
  const auto expected = read_result(whole);
  const auto table = read_result(older);
  ASSERT_TRUE(expected.ok());
  ASSERT_TRUE(table.ok()) << message_of(table);
  EXPECT_EQ(table->settings, expected->settings) << "the points of these rows have the defaults";

  // The older file beside one that has the columns, and alone.
  const auto newer = older_result(folder.path() / "b", study_of(2, 3));
  for (const auto& sources : {std::vector<fs::path>{older, newer}, std::vector<fs::path>{older}}) {
    const auto out = folder.path() / ("merged_" + std::to_string(sources.size()) + ".h5");
    const auto report = merge_studies(out, sources);
    ASSERT_TRUE(report.ok()) << message_of(report);
    const auto merged = read_result(out);
    ASSERT_TRUE(merged.ok()) << message_of(merged);
    ASSERT_EQ(merged->settings.size(), report->rows);
    for (std::size_t row = 0; row < 3; ++row) EXPECT_EQ(merged->settings[row], expected->settings[row]) << row;
  }
}

TEST(OlderColumns, OfAKeyWithoutADefaultAreMissing) {
  const TemporaryFolder folder;
  const auto path = older_result(folder.path() / "a", study_of(2));
  remove_column(path, "topology");
  const auto table = read_result(path);
  ASSERT_FALSE(table.ok());
  EXPECT_THAT(message_of(table), HasSubstr("\"/topology\""));
}

}  // namespace
}  // namespace tenex
