// Whole runs of studies that prune, with made-up values and rows: alone, on several ranks, interrupted, extended.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <future>
#include <limits>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "coordinator/fake_study.hpp"
#include "coordinator/mailboxes.hpp"
#include "coordinator/merged_rows.hpp"
#include "coordinator/rank_loop.hpp"
#include "coordinator/ranks.hpp"
#include "tenex/coordinator/signals.hpp"
#include "tenex/store/gather.hpp"

namespace tenex {
namespace {

using testing::Mailboxes;
using testing::make_row;
using testing::make_study;
using testing::merged_rows;
using testing::sleep_seconds;
using testing::TemporaryFolder;

/// Prunes in two rounds: of 60 points 30 go on, and a third of those.
Study searched_study(std::size_t points, const std::string& second_part = "1/3") {
  Study study = make_study(points);
  study.search.objective = {"collective_time_ps", false};
  study.search.rounds = {{Fidelity::bound, 1, 2}, {Fidelity::coarse, second_part == "1/3" ? 1 : 2, 3}};
  study.digest = digest128(to_string(study.digest) + pruning_text(study.search));
  return study;
}

/// The first round prefers small seeds, the second large ones. Every 25th point has no value.
std::optional<double> made_up_value(const DesignPoint& point, Fidelity fidelity) {
  if (point.seed % 25 == 0) return std::nullopt;
  const auto seed = static_cast<double>(point.seed);
  return fidelity == Fidelity::bound ? seed : 1000 - seed;
}

RunOptions searching_options(const std::filesystem::path& out, int threads = 2) {
  auto options = testing::quiet_options(out, threads);
  options.value_point_early = [](const DesignPoint& point, Fidelity fidelity, const Objective&, Cache&,
                                 const EvaluateOptions&) { return made_up_value(point, fidelity); };
  options.estimate_point_early = [](const DesignPoint&, Fidelity) { return Estimate{0.001, 1000}; };
  return options;
}

std::vector<std::string> searched_rows(const Study& study) {
  return testing::undisturbed_rows(study, [](const auto& folder) { return searching_options(folder); });
}

/// Seeds of the rows that have this status.
std::set<std::uint64_t> seeds_with(const std::filesystem::path& out, const Study& study, PointStatus status) {
  std::set<std::uint64_t> seeds;
  const auto table = read_result(out / "study.h5");
  for (std::size_t i = 0; i < table->rows.size(); ++i)
    if (table->rows[i].status == status) seeds.insert(study.points[static_cast<std::size_t>(table->point[i])].seed);
  return seeds;
}

TEST(SearchRun, EvaluatesOnlyWhatItsRoundsKeep) {
  const TemporaryFolder folder;
  const Study study = searched_study(60);
  auto options = searching_options(folder.path());
  std::mutex mutex;
  std::set<std::uint64_t> evaluated;
  options.evaluate_point = [&](const DesignPoint& point, Cache&, const EvaluateOptions&) {
    const std::lock_guard lock(mutex);
    EXPECT_TRUE(evaluated.insert(point.seed).second) << "twice";
    return make_row(point);
  };
  const auto report = run_alone(study, options);
  ASSERT_TRUE(report.ok()) << to_string(report.errors());
  // 58 of 60 points have values (not 25 and 50), so 29 go on: seeds 1 to 30 without 25. A third of them, 29 / 3 rounded
  // up, is 10: the largest seeds 30 to 26 and 24 to 20. 25 and 50 go on too.
  const std::set<std::uint64_t> expected{20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 50};
  EXPECT_EQ(evaluated, expected);
  EXPECT_EQ(report->pruned, 48U);
  EXPECT_EQ(report->evaluated, 60U);
  EXPECT_EQ(report->failed, 3U) << "20, 30 and 50: every tenth seed is infeasible";
  EXPECT_FALSE(report->interrupted);
  EXPECT_EQ(report->merge.rows, 60U);
  EXPECT_EQ(report->merge.pruned, 48U);
  EXPECT_EQ(seeds_with(folder.path(), study, PointStatus::pruned).size(), 48U);
  const auto rows = merged_rows(folder.path());
  EXPECT_NE(rows[59].find("left out in round 1 of 2 (bound): collective_time_ps 60 is place 58 of 58, the cut is after "
                          "place 29 with 30 " +
                          search_stamp(study)),
            std::string::npos)
      << rows[59];
  EXPECT_NE(rows[0].find("left out in round 2 of 2 (coarse): collective_time_ps 999 is place 29 of 29"),
            std::string::npos)
      << rows[0];
}

TEST(SearchRun, GivesTheSameRowsForAnyRanksAndThreads) {
  const Study study = searched_study(300);
  const auto truth = searched_rows(study);
  for (const std::size_t ranks : {1U, 2U, 4U}) {
    for (const int threads : {1, 2}) {
      const TemporaryFolder folder;
      const auto reports = testing::run_ranks(
          std::vector<Study>(ranks, study), std::vector<RunOptions>(ranks, searching_options(folder.path(), threads)));
      for (const auto& report : reports) ASSERT_TRUE(report.ok()) << to_string(report.errors());
      EXPECT_EQ(merged_rows(folder.path()), truth) << ranks << " ranks, " << threads << " threads";
    }
  }
}

TEST(SearchRun, DoesNotWaitForTheLastValueOfARound) {
  // One value of the first round is made only when another point has gone on: to a value of the second round or, where
  // there is none, to its evaluation. With 57 of 58 values at hand, the points up to 27th place are sure to go on (27 +
  // 1 < 29), and so are those without a value.
  const Study study = make_study(60);
  for (const bool two_rounds : {false, true}) {
    Study searching = study;
    searching.search.objective = {"collective_time_ps", false};
    searching.search.rounds = {{Fidelity::bound, 1, 2}};
    if (two_rounds) searching.search.rounds.push_back({Fidelity::coarse, 1, 3});
    searching.digest = digest128(to_string(study.digest) + pruning_text(searching.search));
    const TemporaryFolder folder;
    auto options = searching_options(folder.path());
    std::mutex mutex;
    std::condition_variable changed;
    bool went_on = false;
    const auto go_on = [&] {
      const std::lock_guard lock(mutex);
      went_on = true;
      changed.notify_all();
    };
    options.evaluate_point = [&](const DesignPoint& point, Cache&, const EvaluateOptions&) {
      go_on();
      return make_row(point);
    };
    options.value_point_early = [&](const DesignPoint& point, Fidelity fidelity, const Objective&, Cache&,
                                    const EvaluateOptions&) {
      if (fidelity == Fidelity::coarse) go_on();
      if (fidelity == Fidelity::bound && point.seed == 60) {
        std::unique_lock lock(mutex);
        EXPECT_TRUE(changed.wait_for(lock, std::chrono::seconds(60), [&] { return went_on; }));
      }
      return made_up_value(point, fidelity);
    };
    const auto report = run_alone(searching, options);
    ASSERT_TRUE(report.ok()) << to_string(report.errors());
    EXPECT_EQ(merged_rows(folder.path()), searched_rows(searching));
  }
}

TEST(SearchRun, DoesNothingWhenRunAgain) {
  const TemporaryFolder folder;
  const Study study = searched_study(60);
  ASSERT_TRUE(run_alone(study, searching_options(folder.path())).ok());
  auto options = searching_options(folder.path());
  options.value_point_early = [](const DesignPoint&, Fidelity, const Objective&, Cache&,
                                 const EvaluateOptions&) -> std::optional<double> {
    ADD_FAILURE() << "valued again";
    return std::nullopt;
  };
  const auto again = run_alone(study, options);
  ASSERT_TRUE(again.ok()) << to_string(again.errors());
  EXPECT_EQ(again->already_done, 60U);
  EXPECT_EQ(again->pruned, 48U);
  EXPECT_EQ(again->evaluated, 0U);
}

TEST(SearchRun, EndsInTheSameRowsWhereverItIsInterrupted) {
  const Study study = searched_study(60);
  const auto truth = searched_rows(study);
  // 60 values, 31 values, 12 evaluations: stops in the first round, at its end, in the second, and in the evaluation.
  for (const int stop : {1, 30, 59, 61, 80, 91, 92, 96, 103}) {
    const TemporaryFolder folder;
    auto options = searching_options(folder.path(), 1);
    std::atomic<int> steps = 0;
    const auto step = [&] {
      if (++steps == stop) kill(getpid(), SIGUSR1);
      sleep_seconds(0.001);
    };
    options.evaluate_point = [&](const DesignPoint& point, Cache&, const EvaluateOptions&) {
      step();
      return make_row(point);
    };
    options.value_point_early = [&](const DesignPoint& point, Fidelity fidelity, const Objective&, Cache&,
                                    const EvaluateOptions&) {
      step();
      return made_up_value(point, fidelity);
    };
    const auto first = run_alone(study, options);
    ASSERT_TRUE(first.ok()) << to_string(first.errors());
    const auto second = run_alone(study, searching_options(folder.path()));
    ASSERT_TRUE(second.ok()) << to_string(second.errors());
    EXPECT_FALSE(second->interrupted) << stop;
    EXPECT_EQ(second->pruned, 48U) << stop;
    EXPECT_EQ(merged_rows(folder.path()), truth) << "stopped at step " << stop;
  }
}

TEST(SearchRun, DrawsItsCutsAnewWhenTheStudyIsExtended) {
  const TemporaryFolder folder;
  const Study strict = searched_study(60);
  const Study mild = searched_study(60, "2/3");  // keeps all points that the strict one keeps, and more
  ASSERT_TRUE(run_alone(strict, searching_options(folder.path())).ok());
  auto options = searching_options(folder.path());
  EXPECT_FALSE(run_alone(mild, options).ok()) << "it is another study";
  options.open.extend = true;
  const auto extended = run_alone(mild, options);
  ASSERT_TRUE(extended.ok()) << to_string(extended.errors());
  EXPECT_EQ(extended->already_done, 12U) << "evaluated points keep their rows, pruned ones do not";
  EXPECT_EQ(merged_rows(folder.path()), searched_rows(mild));
}

TEST(SearchRun, EvaluatesPrunedPointsWhenTheStudySearchesNoLonger) {
  const TemporaryFolder folder;
  ASSERT_TRUE(run_alone(searched_study(60), searching_options(folder.path())).ok());
  const Study plain = make_study(60);
  auto options = searching_options(folder.path());
  options.open.extend = true;
  const auto extended = run_alone(plain, options);
  ASSERT_TRUE(extended.ok()) << to_string(extended.errors());
  EXPECT_EQ(extended->evaluated, 48U);
  EXPECT_EQ(merged_rows(folder.path()), searched_rows(plain));
}

TEST(SearchRun, TriesFailedPointsAgainButNotPrunedOnes) {
  const TemporaryFolder folder;
  const Study study = searched_study(60);
  ASSERT_TRUE(run_alone(study, searching_options(folder.path())).ok());
  auto options = searching_options(folder.path());
  options.open.retry_failed = true;
  const auto again = run_alone(study, options);
  ASSERT_TRUE(again.ok()) << to_string(again.errors());
  EXPECT_EQ(again->already_done, 57U);
  EXPECT_EQ(again->evaluated, 3U);
  EXPECT_EQ(again->pruned, 48U);
}

TEST(SearchRun, PrunesInSlicesAsInTheWhole) {
  const TemporaryFolder folder;
  const Study study = searched_study(60);
  std::vector<std::filesystem::path> parts;
  for (std::uint32_t slice = 1; slice <= 3; ++slice) {
    parts.push_back(folder.path() / std::to_string(slice));
    auto options = searching_options(parts.back());
    options.open.slice = {slice, 3};
    const auto report = run_alone(study, options);
    ASSERT_TRUE(report.ok()) << to_string(report.errors());
    EXPECT_FALSE(report->interrupted);
  }
  ASSERT_TRUE(gather(folder.path() / "all", parts, study).ok());
  ASSERT_TRUE(merge(folder.path() / "all", study).ok());
  EXPECT_EQ(merged_rows(folder.path() / "all"), searched_rows(study));
}

TEST(SearchRun, GivesAPointWithoutAValueTheRowThatItsEvaluationMakes) {
  const TemporaryFolder folder;
  const Study study = searched_study(20);
  auto options = searching_options(folder.path());
  options.value_point_early = [](const DesignPoint&, Fidelity, const Objective&, Cache&,
                                 const EvaluateOptions&) -> std::optional<double> {
    throw std::runtime_error("no value at all");
  };
  const auto report = run_alone(study, options);
  ASSERT_TRUE(report.ok()) << to_string(report.errors());
  EXPECT_EQ(report->pruned, 0U);
  EXPECT_EQ(merged_rows(folder.path()), searched_rows(make_study(20)));
}

TEST(SearchRun, NeitherValuesNorAwaitsAPointThatEndedItsProcessTwice) {
  const TemporaryFolder folder;
  const Study study = searched_study(60);
  {
    ASSERT_TRUE(ResultFolder::open(folder.path(), study, {}).ok());
    auto writer = ShardWriter::open(folder.path(), study, 1, 0);
    ASSERT_TRUE(writer.ok() && writer->note_crash(4, "SIGSEGV").ok() && writer->note_crash(4, "SIGSEGV").ok());
  }
  auto options = searching_options(folder.path());
  options.value_point_early = [](const DesignPoint& point, Fidelity fidelity, const Objective&, Cache&,
                                 const EvaluateOptions&) {
    EXPECT_NE(point.seed, 5U) << "the fifth point";
    return made_up_value(point, fidelity);
  };
  const auto report = run_alone(study, options);
  ASSERT_TRUE(report.ok()) << to_string(report.errors());
  EXPECT_FALSE(report->interrupted);
  EXPECT_EQ(report->quarantined, 1U);
  // 57 of 59 points have values, so 29 go on: seeds 1 to 31 without 5 and 25; of these 10 go on.
  EXPECT_EQ(report->pruned, 47U);
  EXPECT_EQ(seeds_with(folder.path(), study, PointStatus::failed), std::set<std::uint64_t>{5});
}

TEST(SearchRun, LeavesPointsToTheNextRunWhenTheTimeEndsInARound) {
  const TemporaryFolder folder;
  const Study study = searched_study(60);
  auto options = searching_options(folder.path());
  options.time_limit_seconds = 5;
  options.estimate_point_early = [](const DesignPoint& point, Fidelity) {
    return Estimate{point.seed == 7 ? 1e6 : 0.001, 1000};
  };
  const auto first = run_alone(study, options);
  ASSERT_TRUE(first.ok()) << to_string(first.errors());
  EXPECT_TRUE(first->interrupted);
  EXPECT_EQ(first->evaluated, 0U) << "the round was not complete, so nothing was pruned";
  ASSERT_TRUE(run_alone(study, searching_options(folder.path())).ok());
  EXPECT_EQ(merged_rows(folder.path()), searched_rows(study));
}

TEST(SearchRun, ValuesAgainWhatALostRankHad) {
  const TemporaryFolder folder;
  const Study study = searched_study(200);
  block_run_signals();
  Mailboxes boxes(3);
  auto options = searching_options(folder.path(), 1);
  options.silence_seconds = 1.5;
  options.value_point_early = [](const DesignPoint& point, Fidelity fidelity, const Objective&, Cache&,
                                 const EvaluateOptions&) {
    sleep_seconds(0.002);
    return made_up_value(point, fidelity);
  };
  std::vector<std::future<Result<RunReport>>> ranks;
  for (const std::size_t rank : {0U, 2U}) {
    ranks.push_back(std::async(std::launch::async, [&, rank]() -> Result<RunReport> {
      Mailboxes::Endpoint endpoint(boxes, rank);
      const auto setup = resolve(options, 1);
      return rank == 0 ? lead(study, setup, endpoint) : follow(study, setup, endpoint);
    }));
  }
  Mailboxes::Endpoint mine(boxes, 1);  // takes one lease and falls silent
  mine.send(0, HelloMessage{study.digest, study.points.size(), 1, "elsewhere"});
  mine.send(0, RequestMessage{});
  std::optional<LeaseMessage> lease;
  while (!lease) {
    if (const auto message = mine.receive()) {
      if (const auto* got = std::get_if<LeaseMessage>(&message->second)) lease = *got;
    } else {
      sleep_seconds(0.001);
    }
  }
  EXPECT_EQ(lease->round, 1U);
  const auto report = ranks[0].get();
  ASSERT_TRUE(report.ok()) << to_string(report.errors());
  EXPECT_EQ(report->lost_ranks, 1U);
  (void)ranks[1].get();
  EXPECT_EQ(merged_rows(folder.path()), searched_rows(study));
}

}  // namespace
}  // namespace tenex
