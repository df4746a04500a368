// Columns of many shards: each shard is opened once for as many columns as there is memory for.
#include "store/shard_set.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/rows.hpp"
#include "store/shard.hpp"

namespace tenex::store {
namespace {

using namespace test;
using support::TemporaryFolder;
using Type = WantedColumn::Type;

/// A folder of `shards` shards with `rows` rows each, and the selection of a result from them.
class ManyShards {
 public:
  ManyShards(std::size_t shards, std::size_t rows) : study_(study_of(shards * rows)) {
    EXPECT_TRUE(ResultFolder::open(folder_.path(), study_, {}).ok());
    auto writer = ShardWriter::open(folder_.path(), study_, 1, 0);
    EXPECT_TRUE(writer.ok()) << message_of(writer);
    for (std::size_t shard = 0; shard < shards; ++shard) {
      add_rows(*writer, shard * rows, (shard + 1) * rows);
      EXPECT_TRUE(writer->flush().ok());
    }
    auto selection = select_rows(layout_, study_);
    EXPECT_TRUE(selection.ok()) << message_of(selection);
    selection_ = *std::move(selection);
    EXPECT_EQ(selection_.shards.size(), shards);
  }
  [[nodiscard]] const Layout& layout() const { return layout_; }
  [[nodiscard]] const Selection& selection() const { return selection_; }

 private:
  TemporaryFolder folder_;
  Layout layout_{folder_.path()};
  Study study_;
  Selection selection_;
};

const std::vector<WantedColumn> three_columns{{columns::metric("collective_time_ps"), Type::integer},
                                              {columns::metric("no_such_metric"), Type::real},
                                              {columns::metric("schedule_hash"), Type::text}};

/// Asks every shard for the first column, then for the next, as a result gathers them, and checks the first rows'
/// values.
void take_all(ShardSet& shards, std::size_t count, std::size_t rows) {
  for (std::size_t s = 0; s < count; ++s) {
    const auto times = shards.take<std::vector<std::int64_t>>(s, three_columns[0].path);
    ASSERT_TRUE(times.ok()) << message_of(times);
    ASSERT_TRUE(times->has_value());
    EXPECT_EQ((*times)->size(), rows);
    EXPECT_EQ((*times)->front(), row_of(s * rows).collective_time_ps);
  }
  for (std::size_t s = 0; s < count; ++s) {
    const auto absent = shards.take<std::vector<double>>(s, three_columns[1].path);
    ASSERT_TRUE(absent.ok()) << message_of(absent);
    EXPECT_FALSE(absent->has_value());
  }
  for (std::size_t s = 0; s < count; ++s) {
    const auto hashes = shards.take<TextColumn>(s, three_columns[2].path);
    ASSERT_TRUE(hashes.ok()) << message_of(hashes);
    ASSERT_TRUE(hashes->has_value());
    EXPECT_EQ((*hashes)->at(rows - 1), "00000000deadbeef");
  }
}

TEST(ShardSet, OpensEachShardOnceForAllThatIsPlanned) {
  const ManyShards folder(5, 3);
  ShardSet shards(folder.layout(), folder.selection(), three_columns);
  take_all(shards, 5, 3);
  EXPECT_EQ(shards.opened(), 5U);
}

TEST(ShardSet, CountsTextsAsWideAsTheyAre) {
  // 17 bytes per row hold a time (8 bytes) and would hold a text of 8, but a hash has 16: 24 bytes together. So each of
  // the two shards is opened once more for the hashes.
  const ManyShards folder(2, 600);
  ShardSet shards(folder.layout(), folder.selection(), three_columns, 17 * 1200);
  take_all(shards, 2, 600);
  EXPECT_EQ(shards.opened(), 4U);
}

TEST(ShardSet, HoldsNoMoreThanItsBudget) {
  // 600 rows: a column of times is 4,800 bytes, more than the 4 KiB that a shard may always hold. So each of the two
  // shards is opened once for each of the three columns.
  const ManyShards folder(2, 600);
  ShardSet shards(folder.layout(), folder.selection(), three_columns, 1);
  take_all(shards, 2, 600);
  EXPECT_EQ(shards.opened(), 6U);
}

TEST(ShardSet, AnswersQuestionsOutOfTurn) {
  const ManyShards folder(1, 3);
  ShardSet shards(folder.layout(), folder.selection(), three_columns);
  const auto sends = shards.take<std::vector<std::int64_t>>(0, columns::metric("sends"));
  ASSERT_TRUE(sends.ok()) << message_of(sends);
  EXPECT_EQ(**sends, std::vector<std::int64_t>(3, 12));
  take_all(shards, 1, 3);
  EXPECT_EQ(shards.opened(), 2U);
}

TEST(ShardSet, NamesAShardThatIsGone) {
  const ManyShards folder(1, 3);
  std::filesystem::remove(folder.layout().shard(folder.selection().shards[0].commit.shard));
  ShardSet shards(folder.layout(), folder.selection(), three_columns);
  EXPECT_THAT(message_of(shards.take<std::vector<std::int64_t>>(0, three_columns[0].path)),
              ::testing::HasSubstr("1-0-0.h5"));
}

}  // namespace
}  // namespace tenex::store
