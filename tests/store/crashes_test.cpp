// Points that ended their process: the last line of a journal, and the trace of a dead writer.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "store/rows.hpp"
#include "tenex/store/crashes.hpp"

namespace tenex {
namespace {

using namespace test;
using support::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Appends the line that a crash handler would append.
void append_crash(int journal, const Study& study, std::size_t point, std::string_view reason) {
  std::array<char, 128> line{};
  const auto length = format_crash_line(line, reason, to_string(study.points.key(point)));
  ASSERT_GT(length, 0U);
  ASSERT_EQ(::write(journal, line.data(), length), static_cast<ssize_t>(length));
}

TEST(CrashLine, CountsInTheNextRunAndInTheTrace) {
  const TemporaryFolder folder;
  const auto study = study_of(4);
  ASSERT_TRUE(ResultFolder::open(folder.path(), study, {}).ok());
  {
    auto writer = ShardWriter::open(folder.path(), study, 1, 2);
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(writer->start(3).ok() && writer->start(1).ok());
    ASSERT_TRUE(writer->add({1, row_of(1), 1}).ok() && writer->flush().ok());
    append_crash(writer->journal_descriptor(), study, 3, "SIGSEGV");
    ASSERT_TRUE(writer->note_crash(3, "out_of_memory").ok());
  }
  const auto trace = read_trace(folder.path(), study, 1, 2);
  ASSERT_TRUE(trace.ok()) << message_of(trace);
  EXPECT_THAT(trace->committed, ElementsAre(1U));
  EXPECT_EQ(trace->not_ok, 0U);
  EXPECT_THAT(trace->unfinished, ElementsAre(3U));
  EXPECT_THAT(trace->crashes, ElementsAre(CrashRecord{3, 2, "out_of_memory"}));
  const auto opened = ResultFolder::open(folder.path(), study, {});
  ASSERT_TRUE(opened.ok()) << message_of(opened);
  EXPECT_THAT(opened->state().crashes, ElementsAre(CrashRecord{3, 2, "out_of_memory"}));
  EXPECT_THAT(opened->state().warnings, IsEmpty());
}

TEST(CrashLine, CountsNoMoreOnceItsPointHasARow) {
  const TemporaryFolder folder;
  const auto study = study_of(2);
  ASSERT_TRUE(ResultFolder::open(folder.path(), study, {}).ok());
  {
    auto writer = ShardWriter::open(folder.path(), study, 1, 0);
    ASSERT_TRUE(writer.ok());
    append_crash(writer->journal_descriptor(), study, 0, "SIGFPE");
    append_crash(writer->journal_descriptor(), study, 1, "SIGFPE");
    ASSERT_TRUE(writer->add({0, row_of(0), 1}).ok() && writer->flush().ok());
  }
  const auto opened = ResultFolder::open(folder.path(), study, {.retry_failed = true});
  ASSERT_TRUE(opened.ok()) << message_of(opened);
  EXPECT_THAT(opened->state().crashes, ElementsAre(CrashRecord{1, 1, "SIGFPE"}));
}

TEST(CrashLine, ThatDoesNotFitIsNotWritten) {
  // "\ncrash SIGSEGV key sum": 1 + 5 + 1 + 7 + 1 + 3 + 1 + 16 = 35 characters.
  std::array<char, 35> line{};
  EXPECT_EQ(format_crash_line(line, "SIGSEGV", "key"), 35U);
  EXPECT_EQ(std::string(line.data(), 19), "\ncrash SIGSEGV key ");
  EXPECT_EQ(format_crash_line({line.data(), 34}, "SIGSEGV", "key"), 0U);
}

TEST(Trace, OfARankWithoutAJournalIsEmpty) {
  const TemporaryFolder folder;
  const auto study = study_of(2);
  ASSERT_TRUE(ResultFolder::open(folder.path(), study, {}).ok());
  const auto trace = read_trace(folder.path(), study, 1, 7);
  ASSERT_TRUE(trace.ok()) << message_of(trace);
  EXPECT_THAT(trace->committed, IsEmpty());
  EXPECT_THAT(trace->crashes, IsEmpty());
}

}  // namespace
}  // namespace tenex
