// Merged rows one after the other, with the columns that were asked for.
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

/// A merged result of `count` rows: row i is row_of(i).
std::filesystem::path merged(const TemporaryFolder& folder, std::size_t count) {
  const auto study = study_of(count);
  const auto opened = ResultFolder::open(folder.path(), study, {});
  EXPECT_TRUE(opened.ok()) << message_of(opened);
  auto writer = ShardWriter::open(folder.path(), study, 1, 0);
  EXPECT_TRUE(writer.ok()) << message_of(writer);
  add_rows(*writer, 0, count);
  EXPECT_TRUE(writer->flush().ok());
  const auto report = merge(folder.path(), study);
  EXPECT_TRUE(report.ok()) << message_of(report);
  return folder.path() / "study.h5";
}

TEST(VisitRows, GivesTheChosenColumnsOfEveryRowInOrder) {
  const TemporaryFolder folder;
  const auto file = merged(folder, 6);
  std::size_t i = 0;
  const auto status = visit_rows(
      file, {{"algorithm", "topology", "workload"}, {"status", "collective_time_ps", "efficiency"}},
      [&](const std::vector<std::string_view>& words, const Evaluation& row) {
        EXPECT_THAT(words,
                    ElementsAre("ring", ring_point(i).topology.text, ""));  // no point trains, so there is no workload
        EXPECT_EQ(row.status, PointStatus::ok);
        EXPECT_EQ(row.collective_time_ps, row_of(i).collective_time_ps);
        EXPECT_EQ(row.efficiency, row_of(i).efficiency);
        EXPECT_EQ(row.bound_ps, Evaluation().bound_ps) << "it was not asked for";
        ++i;
      });
  ASSERT_TRUE(status.ok()) << message_of(status);
  EXPECT_EQ(i, 6U);
}

TEST(VisitRows, GoesOnBeyondATile) {
  const TemporaryFolder folder;
  constexpr std::size_t kRows = 65'536 + 3;  // a tile of numbers has 65,536
  const auto file = merged(folder, kRows);
  std::size_t i = 0;
  std::size_t wrong = 0;
  const auto status =
      visit_rows(file, {{}, {"collective_time_ps"}}, [&](const std::vector<std::string_view>&, const Evaluation& row) {
        wrong += row.collective_time_ps == row_of(i).collective_time_ps ? 0U : 1U;
        ++i;
      });
  ASSERT_TRUE(status.ok()) << message_of(status);
  EXPECT_EQ(i, kRows);
  EXPECT_EQ(wrong, 0U);
}

TEST(VisitRows, RefusesWhatIsNoResult) {
  const TemporaryFolder folder;
  const auto status = visit_rows(folder.path() / "absent.h5", {{}, {}}, [](const auto&, const auto&) {});
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(message_of(status), HasSubstr("cannot read"));
}

}  // namespace
}  // namespace tenex
