// Result files of schema 2 have texts of fixed length, which xarray writes back as bytes. They are read as before, and
// their folders go on. tests/cli/schema_2.tar.gz was made by tenex 0.1.0: one of two slices of a study whose points run
// collectives or train.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/process.hpp"
#include "support/results.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/files/column_file.hpp"

namespace tenex {
namespace {

using ::testing::HasSubstr;

namespace fs = std::filesystem;

class SchemaTwo : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto unpacked =
        support::run({{"tar", "-xzf", TENEX_SOURCE_DIR "/tests/cli/schema_2.tar.gz", "-C", dir().string()}, {}, {}});
    ASSERT_EQ(unpacked.exit_code, 0) << unpacked.err;
    fs::copy_file(dir() / "mixed" / "study.h5", former());
  }

  static support::Finished tenex(std::vector<std::string> words) {
    words.insert(words.begin(), TENEX_BINARY);
    return support::run({words, {{"OMP_NUM_THREADS", "1"}}, {}});
  }
  [[nodiscard]] const fs::path& dir() const { return folder_.path(); }
  [[nodiscard]] std::string in(const std::string& name) const { return (dir() / name).string(); }
  /// A copy of the folder's result as it was.
  [[nodiscard]] fs::path former() const { return dir() / "former.h5"; }
  [[nodiscard]] static std::int64_t attribute_of(const fs::path& file, const char* name) {
    const auto reader = ColumnFileReader::open(file);
    return reader ? reader->integer_attribute("/", name).value() : -1;
  }

 private:
  support::TemporaryFolder folder_;
};

TEST_F(SchemaTwo, IsReadWithAllItsTexts) {
  ASSERT_EQ(attribute_of(former(), "schema"), 2);
  const auto shown = tenex({"show", former().string(), "--where", "algorithm = tacos and collective = all_reduce",
                            "--columns", "topology,groups,algorithm,engine_setting", "--csv"});
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_EQ(shown.out,
            "topology,groups_setting,algorithm,engine_setting\n"
            "RI(4)_SW(2),0-3; 4-7,tacos,auto\nRI(4)_SW(2),0-3; 4-7,tacos,auto\n");
}

/// The folder goes on where its physics is today's. Its rows stay as they are, and its result gets today's schema.
TEST_F(SchemaTwo, GoesOn) {
  const bool same_physics = attribute_of(former(), "physics") == physics_version;
  const auto ran = tenex({"run", in("mixed") + "/study.toml", "--out", in("mixed"), "--quiet"});
  ASSERT_EQ(ran.exit_code, same_physics ? 0 : 2) << ran.err;
  if (!same_physics) return;
  EXPECT_EQ(attribute_of(dir() / "mixed" / "study.h5", "schema"), 3);
  const auto before = read_result(former());
  const auto after = read_result(dir() / "mixed" / "study.h5");
  ASSERT_TRUE(before.ok() && after.ok()) << to_string(before.errors()) << to_string(after.errors());
  EXPECT_EQ(before->point.size(), 7U);
  ASSERT_EQ(after->point.size(), 14U);
  for (std::size_t row = 0; row < before->point.size(); ++row) {
    const auto now = static_cast<std::size_t>(before->point[row]);
    EXPECT_EQ(before->key[row], after->key[now]);
    EXPECT_EQ(before->settings[row], after->settings[now]);
    EXPECT_EQ(before->rows[row].schedule_hash, after->rows[now].schedule_hash);
  }
  // One file of both schemas; rows with equal keys agree.
  const auto both = tenex({"merge", former().string(), in("mixed") + "/study.h5", "--out", in("both.h5")});
  ASSERT_EQ(both.exit_code, 0) << both.err;
  EXPECT_THAT(both.out, HasSubstr("14 rows of 2 studies"));
}

TEST_F(SchemaTwo, OpensInTheAnalysisReader) {
  support::Command command;
  command.arguments = {"/usr/bin/python3", "-c",
                       "import sys, tenex_analysis\n"
                       "study = tenex_analysis.open_study(sys.argv[1])\n"
                       "frame = study.frame()\n"
                       "assert len(frame) == 7 and (frame['algorithm'] == 'tacos').sum() == 4, frame['algorithm']\n"
                       "assert set(study.runs()['host']) == {'host'}, study.runs()\n",
                       former().string()};
  command.environment = {{"PYTHONPATH", std::string(TENEX_SOURCE_DIR) + "/analysis"}};
  const auto finished = support::run(command);
  EXPECT_EQ(finished.exit_code, 0) << finished.out << finished.err;
}

}  // namespace
}  // namespace tenex
