// A run writes its progress over all ranks into the folder from the first second on, before any point has ended.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <future>
#include <set>
#include <vector>

#include "coordinator/fake_study.hpp"
#include "coordinator/ranks.hpp"
#include "tenex/store/run_progress.hpp"

namespace tenex {
namespace {

using testing::make_row;
using testing::make_study;
using testing::merged_rows;
using testing::quiet_options;
using testing::run_ranks;
using testing::sleep_seconds;
using testing::TemporaryFolder;

/// Holds up every point until it is opened, at the end of the test at the latest.
class Gate {
 public:
  ~Gate() { open(); }
  void open() {
    if (!std::exchange(opened_, true)) promise_.set_value();
  }
  /// Points that are estimated at `seconds`, and end when the gate is open.
  RunOptions options(const std::filesystem::path& out, int threads, double seconds) {
    auto options = quiet_options(out, threads);
    options.silence_seconds = 6;  // an ALIVE message every half second
    options.estimate_point = [seconds](const DesignPoint&) { return Estimate{seconds, 1000}; };
    options.evaluate_point = [future = future_](const DesignPoint& point, Cache&, const EvaluateOptions&) {
      future.wait();
      return make_row(point);
    };
    return options;
  }

 private:
  bool opened_ = false;
  std::promise<void> promise_;
  std::shared_future<void> future_ = promise_.get_future().share();
};

/// The progress once `holds` is true of it; otherwise the last one.
RunProgress wait_until(const std::filesystem::path& dir, const std::function<bool(const RunProgress&)>& holds) {
  RunProgress last;
  for (int i = 0; i < 6'000; ++i) {
    if (const auto told = read_run_progress(dir)) last = told->progress;
    if (holds(last)) return last;
    sleep_seconds(0.01);
  }
  ADD_FAILURE() << "it is not told within a minute";
  return last;
}

TEST(ToldProgress, MovesWhileALongPointRunsAndNoneHasEnded) {
  const TemporaryFolder folder;
  const Study study = make_study(3);
  Gate gate;
  auto run = std::async(std::launch::async,
                        [&, options = gate.options(folder.path(), 1, 100)] { return run_alone(study, options); });
  const auto first = wait_until(folder.path(), [](const auto& told) { return told.fraction > 0; });
  EXPECT_LT(first.fraction, 1);
  EXPECT_GT(first.seconds_left, 200) << "two points wait";
  EXPECT_LT(first.seconds_left, 300);
  EXPECT_EQ(first.finished, 0U);
  EXPECT_EQ(first.incarnation, 1U);
  ASSERT_EQ(first.running.size(), 1U);
  EXPECT_TRUE(study.points.find(first.running[0].key).has_value());
  EXPECT_GT(first.running[0].seconds, 0);
  EXPECT_LT(first.running[0].left_seconds, 100);
  const auto next = wait_until(folder.path(), [&](const auto& told) { return told.fraction > first.fraction; });
  EXPECT_LT(next.seconds_left, first.seconds_left);
  gate.open();
  const auto report = run.get();
  ASSERT_TRUE(report.ok()) << to_string(report.errors());
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "progress.toml"));
  EXPECT_EQ(merged_rows(folder.path()).size(), 3U);
}

TEST(ToldProgress, IsNeverAllWhilePointsTakeLongerThanExpected) {
  const TemporaryFolder folder;
  Gate gate;
  const Study study = make_study(2);
  auto run = std::async(std::launch::async,
                        [&, options = gate.options(folder.path(), 2, 0.001)] { return run_alone(study, options); });
  const auto late = wait_until(folder.path(), [](const auto& told) {
    return !told.running.empty() && told.running[0].seconds > 1;  // a thousand times
  });
  EXPECT_GT(late.fraction, 0);
  EXPECT_LT(late.fraction, 1);
  EXPECT_GT(late.seconds_left, 0);
  gate.open();
  EXPECT_TRUE(run.get().ok());
}

TEST(ToldProgress, KnowsThePointsOfAllRanks) {
  const TemporaryFolder folder;
  const Study study = make_study(4);
  Gate gate;
  auto run = std::async(std::launch::async, [&, options = gate.options(folder.path(), 1, 100)] {
    return run_ranks({study, study}, {options, options});
  });
  std::set<std::uint32_t> ranks;
  const auto told = wait_until(folder.path(), [&](const auto& now) {
    ranks.clear();
    for (const auto& point : now.running) ranks.insert(point.rank);
    return ranks.size() == 2;
  });
  EXPECT_THAT(ranks, ::testing::ElementsAre(0U, 1U));
  EXPECT_GT(told.fraction, 0);
  EXPECT_LT(told.fraction, 1);
  gate.open();
  for (const auto& report : run.get()) EXPECT_TRUE(report.ok()) << to_string(report.errors());
}

TEST(ToldProgress, BeginsWithTheWorkOfEarlierRuns) {
  const TemporaryFolder folder;
  const Study study = make_study(4);
  {  // Three points took 100 s each: three quarters of the time that four are expected to take.
    const auto before = ResultFolder::open(folder.path(), study, {});
    auto writer = ShardWriter::open(folder.path(), study, 1, 0);
    ASSERT_TRUE(before.ok() && writer.ok());
    for (std::uint64_t point = 0; point < 3; ++point) {
      auto row = make_row(study.points[point]).row;
      row.evaluation_seconds = 100;
      row.threads = 1;
      ASSERT_TRUE(writer->add({point, row, 1}).ok());
    }
    ASSERT_TRUE(writer->flush().ok());
  }
  Gate gate;
  auto run = std::async(std::launch::async,
                        [&, options = gate.options(folder.path(), 1, 100)] { return run_alone(study, options); });
  const auto told = wait_until(folder.path(), [](const auto& now) { return !now.running.empty(); });
  EXPECT_EQ(told.incarnation, 2U);
  EXPECT_EQ(told.finished, 3U);
  EXPECT_GT(told.fraction, 0.75);
  EXPECT_LT(told.fraction, 1);
  EXPECT_LT(told.seconds_left, 100);
  gate.open();
  EXPECT_TRUE(run.get().ok());
}

}  // namespace
}  // namespace tenex
