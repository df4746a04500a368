// Folders that another version of tenex has written to: what is refused, what does not count, what users are told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "store/folder_layout.hpp"
#include "store/journal.hpp"
#include "store/rows.hpp"
#include "store/shard.hpp"
#include "tenex/base/version.hpp"
#include "tenex/files/atomic_write.hpp"
#include "tenex/store/folder_status.hpp"

namespace tenex {
namespace {

using namespace test;
using support::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

namespace fs = std::filesystem;

/// A folder with the first two of four rows, to which tests add a shard.
class OtherVersions : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(ResultFolder::open(dir(), study_, {}).ok());
    auto writer = ShardWriter::open(dir(), study_, 1, 0);
    ASSERT_TRUE(writer.ok()) << message_of(writer);
    add_rows(*writer, 0, 2);
    ASSERT_TRUE(writer->flush().ok());
  }

  [[nodiscard]] const fs::path& dir() const { return folder_.path(); }

  /// Commits these bytes as another rank's shard.
  void commit(const std::vector<std::byte>& image, std::size_t rows) {
    const store::Layout layout{dir()};
    ASSERT_TRUE(write_file_atomically(layout.shard("1-1-0.h5"), image).ok());
    auto journal = store::Journal::create(layout.journals() / "1-1.log");
    ASSERT_TRUE(journal.ok()) << message_of(journal);
    ASSERT_TRUE(journal->commit({"1-1-0.h5", rows, image.size(), digest64(text_of(image))}).ok());
  }

  /// The rows of the last two points under another physics.
  [[nodiscard]] std::vector<std::byte> rows_of_physics(std::int64_t physics) const {
    auto origin = store::this_origin(to_string(study_.digest), 1, 1);
    origin.physics = physics;
    origin.version = "0.0.7";
    const std::vector<store::StoredRow> rows{{study_.points.key(2), row_of(2), 1, 0},
                                             {study_.points.key(3), row_of(3), 1, 0}};
    auto image = store::encode_shard(origin, rows, 0, 2, false);
    EXPECT_TRUE(image.ok()) << message_of(image);
    return *std::move(image);
  }

  Study study_ = study_of(4);

 private:
  TemporaryFolder folder_;
};

TEST_F(OtherVersions, ANewerShardIsRefusedAndNotTakenForDamaged) {
  ColumnFileWriter newer;
  newer.set_attribute("/", "kind", "tenex shard");
  newer.set_attribute("/", "schema", store::kSchema + 1);
  const auto image = newer.image();
  ASSERT_TRUE(image.ok());
  commit(*image, 2);
  // Its points must not run again: the version that wrote it has their rows.
  for (const auto& message : {message_of(ResultFolder::open(dir(), study_, {})), message_of(merge(dir(), study_)),
                              message_of(read_folder_status(dir(), study_))}) {
    EXPECT_THAT(message, HasSubstr((dir() / "shards" / "1-1-0.h5").string()));
    EXPECT_THAT(message, HasSubstr("schema " + std::to_string(store::kSchema + 1) + " is newer than this version"));
    EXPECT_THAT(message, HasSubstr("use a newer tenex"));
  }
}

TEST_F(OtherVersions, RowsOfAnotherPhysicsDoNotCountAndThatIsTold) {
  commit(rows_of_physics(physics_version - 1), 2);
  const auto folder = ResultFolder::open(dir(), study_, {});
  ASSERT_TRUE(folder.ok()) << message_of(folder);
  EXPECT_THAT(folder->state().done, ElementsAre(true, true, false, false));
  const auto told = "the rows of the shard \"1-1-0.h5\" do not count: tenex 0.0.7 computed them with physics " +
                    std::to_string(physics_version - 1) + ", and this version computes physics " +
                    std::to_string(physics_version);
  EXPECT_THAT(folder->state().warnings, ElementsAre(told));
  const auto merged = merge(dir(), study_);
  ASSERT_TRUE(merged.ok()) << message_of(merged);
  EXPECT_EQ(merged->missing, 2U);
  EXPECT_THAT(merged->warnings, ElementsAre(told));
  const auto status = read_folder_status(dir(), study_);
  ASSERT_TRUE(status.ok()) << message_of(status);
  EXPECT_EQ(status->rows.size(), 2U);
}

TEST_F(OtherVersions, RowsOfAnotherVersionOfThisPhysicsCount) {
  commit(rows_of_physics(physics_version), 2);
  const auto folder = ResultFolder::open(dir(), study_, {});
  ASSERT_TRUE(folder.ok()) << message_of(folder);
  EXPECT_EQ(folder->state().done_count, 4U);
  EXPECT_THAT(folder->state().warnings, IsEmpty());
}

TEST_F(OtherVersions, WhatALaterOneAddsToTheStateIsNoDamage) {
  auto state = support::read_text(dir() / "state.toml");
  support::write_text(dir() / "state.toml", state + "\nlater = \"word\"\n");
  const auto folder = ResultFolder::open(dir(), study_, {});
  ASSERT_TRUE(folder.ok()) << message_of(folder);
  EXPECT_EQ(folder->state().done_count, 2U);
}

TEST_F(OtherVersions, AnotherBuildOfTheSameVersionIsTold) {
  auto state = support::read_text(dir() / "state.toml");
  const auto at = state.find("version = ");
  state.replace(at, state.find('\n', at) - at, "version = \"" + std::string(version()) + " (0123456789ab)\"");
  support::write_text(dir() / "state.toml", state);
  const auto folder = ResultFolder::open(dir(), study_, {});
  ASSERT_TRUE(folder.ok()) << message_of(folder);
  ASSERT_EQ(folder->state().warnings.size(), 1U);
  EXPECT_THAT(folder->state().warnings[0], HasSubstr(std::string(version()) + " (0123456789ab) ran here last"));
  EXPECT_THAT(folder->state().warnings[0], HasSubstr("so the rows that are done count"));
}

}  // namespace
}  // namespace tenex
