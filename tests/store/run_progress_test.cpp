// A run's progress can be read back from its file; any other file is ignored.
#include "tenex/store/run_progress.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>

#include "support/process.hpp"

namespace tenex {
namespace {

using support::TemporaryFolder;

RunProgress sample() {
  RunProgress progress;
  progress.incarnation = 3;
  progress.finished = 12;
  progress.fraction = 0.25;
  progress.seconds_left = 48.5;
  progress.draining = true;
  progress.phase = "search round 1 of 2";
  progress.running = {{{1, 2}, 0, 16, 41.5, 18}, {{~0ULL, 9}, 7, 1, 0.25, 3}};
  return progress;
}

/// The progress that is read once the thread has written it.
std::optional<ToldProgress> wait_for(const std::filesystem::path& dir, std::uint64_t finished) {
  for (int i = 0; i < 20'000; ++i) {
    auto told = read_run_progress(dir);
    if (told && told->progress.finished == finished) return told;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return std::nullopt;
}

TEST(RunProgress, SurvivesItsFileAndEndsWithTheRun) {
  const TemporaryFolder folder;
  EXPECT_FALSE(read_run_progress(folder.path()).has_value());
  {
    ProgressFile file(folder.path());
    file.put(sample());
    const auto told = wait_for(folder.path(), 12);
    ASSERT_TRUE(told.has_value());
    EXPECT_GE(told->age_seconds, 0);
    const auto& progress = told->progress;
    EXPECT_EQ(progress.incarnation, 3U);
    EXPECT_EQ(progress.fraction, 0.25);
    EXPECT_EQ(progress.seconds_left, 48.5);
    EXPECT_TRUE(progress.draining);
    EXPECT_EQ(progress.phase, "search round 1 of 2");
    ASSERT_EQ(progress.running.size(), 2U);
    EXPECT_EQ(progress.running[0].key, (Digest{1, 2}));
    EXPECT_EQ(progress.running[0].threads, 16U);
    EXPECT_EQ(progress.running[0].seconds, 41.5);
    EXPECT_EQ(progress.running[0].left_seconds, 18);
    EXPECT_EQ(progress.running[1].rank, 7U);
    auto next = sample();
    next.finished = 13;
    next.fraction = next.seconds_left = -1;
    file.put(next);
    const auto later = wait_for(folder.path(), 13);
    ASSERT_TRUE(later.has_value());
    EXPECT_LT(later->progress.fraction, 0);
    EXPECT_LT(later->progress.seconds_left, 0);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(RunProgress, ThatIsTornOrNoSuchFileTellsNothing) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "progress.toml";
  for (const std::string text : {"", "run = 3\nfinished = ", "run = \"three\"\n", "finished = 3\n", "run = -1\n",
                                 "run = 3\n[[running]]\nkey", "run = 3\nfraction = true\n"}) {
    support::write_text(file, text);
    EXPECT_FALSE(read_run_progress(folder.path()).has_value()) << text;
  }
  support::write_text(file, std::string(300, '\0'));  // as a power failure may leave it
  EXPECT_FALSE(read_run_progress(folder.path()).has_value());
  // A file of a later version: unknown keys are ignored, and a point without a key is left out.
  support::write_text(file, "run = 3\nfinished = 1\nmood = \"good\"\n[[running]]\nrank = 1\n");
  const auto told = read_run_progress(folder.path());
  ASSERT_TRUE(told.has_value());
  EXPECT_TRUE(told->progress.running.empty());
}

TEST(RunProgress, ThatCannotBeWrittenHoldsUpNobody) {
  const TemporaryFolder folder;
  ProgressFile file(folder.path() / "missing");
  file.put(sample());
  file.put(sample());
  EXPECT_FALSE(read_run_progress(folder.path() / "missing").has_value());
}

}  // namespace
}  // namespace tenex
