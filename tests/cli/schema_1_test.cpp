// Folders and files of results of schema 1: runs continue them, and they are merged and replayed as if they had today's
// schema. tests/cli/schema_1.tar.gz was made by tenex 0.1.0. Its `mixed` has one of two slices of a study whose points
// run collectives or train. Its `search` has all rows of a study that prunes by a metric under its former name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/process.hpp"
#include "support/results.hpp"
#include "tenex/files/column_file.hpp"

namespace tenex {
namespace {

using ::testing::HasSubstr;

namespace fs = std::filesystem;

support::Finished tenex(std::vector<std::string> words) {
  words.insert(words.begin(), TENEX_BINARY);
  return support::run({words, {{"OMP_NUM_THREADS", "1"}}, {}});
}

class SchemaOne : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto unpacked =
        support::run({{"tar", "-xzf", TENEX_SOURCE_DIR "/tests/cli/schema_1.tar.gz", "-C", dir().string()}, {}, {}});
    ASSERT_EQ(unpacked.exit_code, 0) << unpacked.err;
    fs::copy_file(result("mixed"), dir() / "mixed.h5");
    fs::copy_file(result("search"), dir() / "search.h5");
  }

  [[nodiscard]] const fs::path& dir() const { return folder_.path(); }
  [[nodiscard]] std::string in(const std::string& name) const { return (dir() / name).string(); }
  [[nodiscard]] fs::path result(const std::string& name) const { return dir() / name / "study.h5"; }

  /// Runs the study of a folder in a new folder.
  void run_anew(const std::string& name, const std::string& into, const std::string& slice = "1/1") {
    const auto ran = tenex({"run", in(name) + "/study.toml", "--out", in(into), "--slice", slice, "--quiet"});
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
  }

 private:
  support::TemporaryFolder folder_;
};

std::vector<std::int8_t> front_of(const fs::path& file) {
  const auto reader = ColumnFileReader::open(file);
  EXPECT_TRUE(reader.ok()) << to_string(reader.errors());
  const auto front = reader->read<std::int8_t>("/pareto");
  EXPECT_TRUE(front.ok()) << to_string(front.errors());
  return *front;
}

TEST_F(SchemaOne, GoesOnWhereItWasLeft) {
  const auto status = tenex({"status", in("mixed"), "--json"});
  ASSERT_EQ(status.exit_code, 0) << status.err;
  EXPECT_THAT(status.out, HasSubstr("\"done\":7"));
  const auto went_on = tenex({"run", in("mixed") + "/study.toml", "--out", in("mixed"), "--quiet"});
  ASSERT_EQ(went_on.exit_code, 0) << went_on.err;
  EXPECT_THAT(went_on.out, HasSubstr("14 points: 7 evaluated now"));
  EXPECT_THAT(went_on.out, HasSubstr("7 from before"));
  run_anew("mixed", "new");
  support::expect_same_rows(result("mixed"), result("new"));
  EXPECT_EQ(front_of(result("mixed")), front_of(result("new")));
  const auto reader = ColumnFileReader::open(result("mixed"));
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(*reader->integer_attribute("/", "schema"), 2);
  for (const auto* gone : {"/algbw", "/engine_choice", "/process_groups", "/collective_time", "/chosen_bandwidth"})
    EXPECT_FALSE(reader->has(gone)) << gone;
}

TEST_F(SchemaOne, CountsRowsThatItsSearchPruned) {
  const auto went_on = tenex({"run", in("search") + "/study.toml", "--out", in("search"), "--quiet"});
  ASSERT_EQ(went_on.exit_code, 0) << went_on.err;
  EXPECT_THAT(went_on.out, HasSubstr("0 evaluated now"));
  EXPECT_THAT(went_on.out, HasSubstr("10 pruned"));
  run_anew("search", "new");
  support::expect_same_rows(result("search"), result("new"));
}

/// Values read from texts of schema 1 equal those in today's file.
TEST_F(SchemaOne, IsReadAsWhatItsFolderIsMergedTo) {
  for (const std::string name : {"mixed", "search"}) {
    const auto merged = tenex({"merge", in(name)});
    ASSERT_EQ(merged.exit_code, name == "mixed" ? 3 : 0) << merged.err;
    support::expect_same_rows(dir() / (name + ".h5"), result(name));
  }
}

TEST_F(SchemaOne, IsMergedWithASliceOfToday) {
  run_anew("mixed", "second", "2/2");
  const auto merged = tenex({"merge", in("mixed"), in("second"), "--out", in("both")});
  ASSERT_EQ(merged.exit_code, 0) << merged.err;
  run_anew("mixed", "new");
  support::expect_same_rows(result("both"), result("new"));
}

TEST_F(SchemaOne, IsMergedWithOtherStudies) {
  const auto former = tenex({"merge", in("mixed.h5"), in("search.h5"), "--out", in("former.h5")});
  ASSERT_EQ(former.exit_code, 0) << former.err;
  run_anew("mixed", "new_mixed", "1/2");
  run_anew("search", "new_search");
  const auto today = tenex({"merge", in("new_mixed/study.h5"), in("new_search/study.h5"), "--out", in("today.h5")});
  ASSERT_EQ(today.exit_code, 0) << today.err;
  support::expect_same_rows(dir() / "former.h5", dir() / "today.h5");
  EXPECT_EQ(front_of(dir() / "former.h5"), front_of(dir() / "today.h5"));
  const auto across = tenex({"merge", in("mixed.h5"), in("new_mixed/study.h5"), "--out", in("across.h5")});
  ASSERT_EQ(across.exit_code, 0) << across.err;
  EXPECT_THAT(across.out, HasSubstr("7 found more than once"));
}

TEST_F(SchemaOne, IsReplayed) {
  const auto table = read_result(dir() / "mixed.h5");
  ASSERT_TRUE(table.ok()) << to_string(table.errors());
  ASSERT_EQ(table->key.size(), 7U);
  for (const auto& key : table->key) {
    const auto replayed = tenex({"replay", in("mixed"), key, "--json"});
    EXPECT_EQ(replayed.exit_code, 0) << replayed.out << replayed.err;
    EXPECT_THAT(replayed.out, HasSubstr("\"same\":true"));
  }
}

TEST_F(SchemaOne, OpensInTheAnalysisReaderAsToday) {
  ASSERT_EQ(tenex({"merge", in("mixed")}).exit_code, 3);
  support::Command command;
  command.arguments = {"/usr/bin/python3", "-c",
                       "import sys, tenex_analysis\n"
                       "from pandas.testing import assert_frame_equal\n"
                       "former, today = (tenex_analysis.open_study(path) for path in sys.argv[1:])\n"
                       "old, new = former.frame(), today.frame()\n"
                       "assert_frame_equal(old, new[old.columns], check_like=True)\n"
                       "younger = set(today.points.variables) - set(former.points.variables)\n"
                       "assert set(former.points.variables) <= set(today.points.variables)\n"
                       "for name in younger:  # keys that schema 1 never had: their defaults\n"
                       "    assert new[name].nunique(dropna=False) == 1, name\n"
                       "assert set(former.points.coords) <= set(today.points.coords)\n"
                       "for name in ('alpha', 'split', 'chosen_bandwidth_bytes_per_s'):\n"
                       "    assert (former.points[name].values == today.points[name].values).all(), name\n",
                       in("mixed.h5"), result("mixed").string()};
  command.environment = {{"PYTHONPATH", std::string(TENEX_SOURCE_DIR) + "/analysis"}};
  const auto finished = support::run(command);
  EXPECT_EQ(finished.exit_code, 0) << finished.out << finished.err;
}

}  // namespace
}  // namespace tenex
