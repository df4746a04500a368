// Logs: levels, whole lines, and the events that a writer of rows notes.
#include "tenex/store/rank_log.hpp"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <regex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "store/rows.hpp"

namespace tenex {
namespace {

using namespace test;
using support::TemporaryFolder;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(LogLevel, HasFourNames) {
  EXPECT_EQ(*parse_log_level("off"), LogLevel::off);
  EXPECT_EQ(*parse_log_level("debug"), LogLevel::debug);
  EXPECT_THAT(to_string(parse_log_level("verbose").errors()), HasSubstr("\"verbose\" is no log level"));
}

TEST(RankLog, WritesWhatItsLevelHas) {
  const TemporaryFolder folder;
  {
    const auto log = RankLog::open(folder.path(), 3, 12, LogLevel::info);
    ASSERT_TRUE(log.ok()) << message_of(log);
    log->note(LogLevel::warning, fmt::format("lost rank {}", 4));
    log->note(LogLevel::info, "two\nlines");
    log->note(LogLevel::debug, "not wanted");
  }
  const auto text = support::read_text(folder.path() / "logs" / "3.12.log");
  const std::regex expected(
      "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z warning lost rank 4\n"
      "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z info two lines\n");
  EXPECT_TRUE(std::regex_match(text, expected)) << text;
}

TEST(RankLog, ThatIsOffMakesNothing) {
  const TemporaryFolder folder;
  const auto log = RankLog::open(folder.path(), 1, 0, LogLevel::off);
  ASSERT_TRUE(log.ok());
  log->note(LogLevel::warning, "nobody reads this");
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "logs"));
}

TEST(RankLog, KeepsTheLinesOfManyThreadsWhole) {
  const TemporaryFolder folder;
  {
    const auto log = RankLog::open(folder.path(), 1, 0, LogLevel::debug);
    ASSERT_TRUE(log.ok());
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&log, t] {
        for (int i = 0; i < 200; ++i)
          log->note(LogLevel::debug, fmt::format("thread {} says {} {}", t, i, std::string(60, 'x')));
      });
    for (auto& thread : threads) thread.join();
  }
  std::istringstream lines(support::read_text(folder.path() / "logs" / "1.0.log"));
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    EXPECT_TRUE(line.ends_with(std::string(1, ' ').append(60, 'x'))) << line;
    EXPECT_EQ(line.find("debug thread"), 25U) << line;  // after 24 characters of time and a blank
  }
  EXPECT_EQ(count, 800);
}

TEST(ShardWriter, NotesCommitsAndJoinedShards) {
  const TemporaryFolder folder;
  const auto study = study_of(64);
  ASSERT_TRUE(ResultFolder::open(folder.path(), study, {}).ok());
  auto log = RankLog::open(folder.path(), 1, 0, LogLevel::info);
  ASSERT_TRUE(log.ok());
  auto writer = ShardWriter::open(folder.path(), study, 1, 0);
  ASSERT_TRUE(writer.ok());
  writer->log_to(std::make_shared<const RankLog>(std::move(*log)));
  for (std::size_t i = 0; i < 64; ++i) {  // the 64th small shard makes the writer join them
    add_rows(*writer, i, i + 1);
    ASSERT_TRUE(writer->flush().ok());
  }
  const auto text = support::read_text(folder.path() / "logs" / "1.0.log");
  EXPECT_THAT(text, HasSubstr("info committed 1 rows as 1-0-0.h5"));
  EXPECT_THAT(text, HasSubstr("info committed 1 rows as 1-0-63.h5"));
  EXPECT_THAT(text, HasSubstr("info joined 64 shards into 1-0-64.h5 (64 rows"));
  EXPECT_THAT(text, Not(HasSubstr("warning")));
}

}  // namespace
}  // namespace tenex
