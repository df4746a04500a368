// Whole runs with made-up rows: alone, and on ranks that are threads of this process.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <future>
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

namespace tenex {
namespace {

using testing::Mailboxes;
using testing::make_row;
using testing::make_study;
using testing::merged_rows;
using testing::quiet_options;
using testing::run_ranks;
using testing::sleep_seconds;
using testing::TemporaryFolder;

std::vector<std::string> undisturbed_rows(const Study& study) {
  return testing::undisturbed_rows(study, [](const auto& folder) { return quiet_options(folder); });
}

TEST(RunAlone, EvaluatesEveryPointOnceAndMerges) {
  const TemporaryFolder folder;
  const Study study = make_study(50);
  auto options = quiet_options(folder.path());
  std::mutex mutex;
  std::multiset<std::uint64_t> seeds;
  options.evaluate_point = [&](const DesignPoint& point, Cache&, const EvaluateOptions&) {
    const std::lock_guard lock(mutex);
    seeds.insert(point.seed);
    return make_row(point);
  };
  const auto report = run_alone(study, options);
  ASSERT_TRUE(report.ok()) << to_string(report.errors());
  EXPECT_EQ(report->points, 50U);
  EXPECT_EQ(report->evaluated, 50U);
  EXPECT_EQ(report->failed, 5U);  // every tenth seed
  EXPECT_FALSE(report->interrupted);
  EXPECT_EQ(report->merge.rows, 50U);
  EXPECT_EQ(seeds.size(), 50U);
  for (std::uint64_t seed = 1; seed <= 50; ++seed) EXPECT_EQ(seeds.count(seed), 1U) << seed;
  EXPECT_EQ(merged_rows(folder.path()).size(), 50U);
}

TEST(RunAlone, EvaluatesNothingTwiceWhenRunAgain) {
  const TemporaryFolder folder;
  const Study study = make_study(20);
  ASSERT_TRUE(run_alone(study, quiet_options(folder.path())).ok());
  const auto before = merged_rows(folder.path());
  auto options = quiet_options(folder.path());
  options.evaluate_point = [](const DesignPoint& point, Cache&, const EvaluateOptions&) {
    ADD_FAILURE() << "evaluated again: " << point.seed;
    return make_row(point);
  };
  const auto again = run_alone(study, options);
  ASSERT_TRUE(again.ok()) << to_string(again.errors());
  EXPECT_EQ(again->already_done, 20U);
  EXPECT_EQ(again->evaluated, 0U);
  EXPECT_EQ(again->failed, 2U);
  EXPECT_FALSE(again->interrupted);
  EXPECT_EQ(merged_rows(folder.path()), before);
}

TEST(RunAlone, GivesTheSameRowsForAnyNumberOfThreads) {
  const Study study = make_study(40);
  const auto truth = undisturbed_rows(study);
  for (const int threads : {1, 2, 5}) {
    const TemporaryFolder folder;
    ASSERT_TRUE(run_alone(study, quiet_options(folder.path(), threads)).ok());
    EXPECT_EQ(merged_rows(folder.path()), truth) << threads << " threads";
  }
}

TEST(RunAlone, EstimatesEveryPointOnce) {
  const TemporaryFolder folder;
  auto options = quiet_options(folder.path(), 1);
  std::atomic<int> estimated = 0;
  options.estimate_point = [&](const DesignPoint&) {
    ++estimated;
    return Estimate{0.01, 1000};
  };
  ASSERT_TRUE(run_alone(make_study(30), options).ok());
  EXPECT_EQ(estimated, 30);
}

TEST(RunAlone, KeepsItsLocksHeartBeatingWhileItEstimates) {
  const TemporaryFolder folder;
  auto options = quiet_options(folder.path(), 1);
  options.open.heartbeat = std::chrono::milliseconds(5);
  std::vector<std::filesystem::file_time_type> seen;  // by the only thread that estimates
  options.estimate_point = [&](const DesignPoint&) {
    seen.push_back(std::filesystem::last_write_time(folder.path() / "lock"));
    sleep_seconds(0.1);
    return Estimate{0.01, 1000};
  };
  ASSERT_TRUE(run_alone(make_study(4), options).ok());
  ASSERT_EQ(seen.size(), 4U);
  for (std::size_t i = 1; i < seen.size(); ++i) EXPECT_GT(seen[i], seen[i - 1]) << "no heartbeat during estimate " << i;
}

TEST(RunAlone, HearsASignalWhileItEstimates) {
  const TemporaryFolder folder;
  auto options = quiet_options(folder.path(), 1);
  std::atomic<int> estimated = 0;
  options.estimate_point = [&](const DesignPoint&) {
    if (++estimated == 3) kill(getpid(), SIGUSR1);
    sleep_seconds(0.02);
    return Estimate{0.01, 1000};
  };
  const auto report = run_alone(make_study(1000), options);
  ASSERT_TRUE(report.ok()) << to_string(report.errors());
  EXPECT_TRUE(report->interrupted);
  EXPECT_EQ(report->evaluated, 0U);
  EXPECT_LT(estimated, 100) << "it went on estimating";
}

TEST(RunAlone, NotesALongPointInTheJournalBeforeItBegins) {
  const TemporaryFolder folder;
  const Study study = make_study(5);
  auto options = quiet_options(folder.path());
  options.estimate_point = [](const DesignPoint& point) { return Estimate{point.seed == 3 ? 2.0 : 0.5, 1000}; };
  std::atomic<bool> noted = false;
  options.evaluate_point = [&](const DesignPoint& point, Cache&, const EvaluateOptions&) {
    const auto journal = support::read_text(folder.path() / "journal" / "1-0.log");
    if (point.seed == 3) noted = journal.find("\nstart " + to_string(point.key)) != std::string::npos;
    return make_row(point);
  };
  const auto report = run_alone(study, options);
  ASSERT_TRUE(report.ok()) << to_string(report.errors());
  EXPECT_TRUE(noted);
  EXPECT_TRUE(run_alone(study, quiet_options(folder.path()))->warnings.empty()) << "it was finished";
}

TEST(RunAlone, NamesThePointThatAnEarlierRunDiedIn) {
  const TemporaryFolder folder;
  const Study study = make_study(5);
  {
    ASSERT_TRUE(ResultFolder::open(folder.path(), study, {}).ok());
    auto writer = ShardWriter::open(folder.path(), study, 1, 0);
    ASSERT_TRUE(writer.ok() && writer->start(2).ok());
  }
  const auto again = run_alone(study, quiet_options(folder.path()));
  ASSERT_TRUE(again.ok()) << to_string(again.errors());
  ASSERT_EQ(again->warnings.size(), 1U);
  EXPECT_NE(again->warnings[0].find("began and did not finish, to be evaluated again: 1; the first: all_gather ring on "
                                    "RI(4), key " +
                                    to_string(study.points[2].key)),
            std::string::npos)
      << again->warnings[0];
  EXPECT_EQ(merged_rows(folder.path()), undisturbed_rows(study));
  EXPECT_TRUE(run_alone(study, quiet_options(folder.path()))->warnings.empty()) << "it has a row by now";
}

TEST(RunAlone, DrainsOnSigusr1AndCompletesTheSameRowsWhenRunAgain) {
  const TemporaryFolder folder;
  const Study study = make_study(60);
  auto options = quiet_options(folder.path());
  std::atomic<int> started = 0;
  options.evaluate_point = [&](const DesignPoint& point, Cache&, const EvaluateOptions&) {
    if (++started == 10) kill(getpid(), SIGUSR1);
    sleep_seconds(0.01);
    return make_row(point);
  };
  const auto first = run_alone(study, options);
  ASSERT_TRUE(first.ok()) << to_string(first.errors());
  EXPECT_TRUE(first->interrupted);
  EXPECT_GE(first->evaluated, 9U);
  EXPECT_LT(first->evaluated, 60U);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "study.h5"));
  const auto second = run_alone(study, quiet_options(folder.path()));
  ASSERT_TRUE(second.ok()) << to_string(second.errors());
  EXPECT_FALSE(second->interrupted);
  EXPECT_EQ(second->already_done, first->evaluated) << "a finished row of the drained run was lost";
  EXPECT_EQ(second->evaluated, 60U - first->evaluated);
  EXPECT_EQ(merged_rows(folder.path()), undisturbed_rows(study));
}

TEST(RunAlone, LeavesAtOnceOnSigtermWithWhatIsFinished) {
  const TemporaryFolder folder;
  const Study study = make_study(300);  // 3 s of sleep
  auto options = quiet_options(folder.path());
  std::atomic<int> started = 0;
  options.evaluate_point = [&](const DesignPoint& point, Cache&, const EvaluateOptions&) {
    if (++started == 10) kill(getpid(), SIGTERM);
    sleep_seconds(0.01);
    return make_row(point);
  };
  const auto report = run_alone(study, options);
  ASSERT_TRUE(report.ok()) << to_string(report.errors());
  EXPECT_TRUE(report->interrupted);
  EXPECT_LT(report->evaluated, 300U);  // up to ten points before the signal, half a second after it
  const auto again = run_alone(study, quiet_options(folder.path()));
  ASSERT_TRUE(again.ok()) << to_string(again.errors());
  EXPECT_EQ(again->already_done, report->evaluated);
}

TEST(RunAlone, EndsWithTheStoresErrorWhenRowsCannotBeWritten) {
  const TemporaryFolder folder;
  const Study study = make_study(20);
  auto options = quiet_options(folder.path());
  std::atomic<int> started = 0;
  options.evaluate_point = [&](const DesignPoint& point, Cache&, const EvaluateOptions&) {
    if (++started == 3) {  // a file replaces the folder of shards
      std::filesystem::remove_all(folder.path() / "shards");
      std::ofstream(folder.path() / "shards") << "no folder";
    }
    return make_row(point);
  };
  const auto report = run_alone(study, options);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.errors().front().fault, Fault::environment);
}

TEST(RunAlone, StoresTheSchedulesThatTheStudyAsksFor) {
  const TemporaryFolder folder;
  const std::string text =
      "schema = 1\n"
      "name = \"schedules\"\n"
      "[defaults]\n"
      "topology = \"RI(4)\"\n"
      "alpha = \"0.5us\"\n"
      "bandwidth = \"50GB/s\"\n"
      "collective = \"all_gather\"\n"
      "size = \"1MiB\"\n"
      "[[sweep]]\n"
      "name = \"two\"\n"
      "axes.algorithm = [\"ring\", \"tacos\"]\n"
      "[outputs]\n"
      "schedule = \"algorithm = tacos\"\n";
  const auto study = parse_study(text, "schedules.toml", vocabulary());
  ASSERT_TRUE(study.ok()) << to_string(study.errors());
  auto options = quiet_options(folder.path());
  options.evaluate_point = {};  // real evaluations
  options.estimate_point = {};
  const auto report = run_alone(*study, options);
  ASSERT_TRUE(report.ok()) << to_string(report.errors());
  EXPECT_EQ(report->failed, 0U);
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(folder.path() / "schedules")) {
    names.push_back(file.path().filename().string());
  }
  EXPECT_EQ(names, (std::vector<std::string>{to_string(study->points[1].key) + ".h5"}));
}

TEST(RunOnRanks, GivesTheSameRowsForOneToFourRanks) {
  const Study study = make_study(80);
  const auto truth = undisturbed_rows(study);
  ASSERT_EQ(truth.size(), 80U);
  for (std::size_t ranks = 1; ranks <= 4; ++ranks) {
    const TemporaryFolder folder;
    auto options = quiet_options(folder.path(), 1);
    options.evaluate_point = [](const DesignPoint& point, Cache&, const EvaluateOptions&) {
      sleep_seconds(0.002);
      return make_row(point);
    };
    const auto reports = run_ranks(std::vector<Study>(ranks, study), std::vector<RunOptions>(ranks, options));
    std::size_t by_others = 0;
    for (const auto& report : reports) ASSERT_TRUE(report.ok()) << to_string(report.errors());
    for (std::size_t r = 1; r < ranks; ++r) {
      EXPECT_GT(reports[r]->evaluated, 0U) << "rank " << r << " of " << ranks << " had no part in it";
      by_others += reports[r]->evaluated;
    }
    EXPECT_EQ(reports[0]->evaluated, 80U);
    EXPECT_LT(by_others, 80U) << "rank 0 evaluates too";
    EXPECT_EQ(reports[0]->failed, 8U);
    EXPECT_EQ(reports[0]->merge.repeated, 0U);
    EXPECT_EQ(merged_rows(folder.path()), truth) << ranks << " ranks";
  }
}

TEST(RunOnRanks, FailsOnAllRanksWhenOneReadAnotherStudy) {
  const TemporaryFolder folder;
  const auto options = quiet_options(folder.path(), 1);
  const auto reports = run_ranks({make_study(30), make_study(30), make_study(31)}, {options, options, options});
  for (const auto& report : reports) {
    ASSERT_FALSE(report.ok());
    EXPECT_NE(report.errors().front().problem.find("rank 2"), std::string::npos) << to_string(report.errors());
    EXPECT_NE(report.errors().front().problem.find("another study"), std::string::npos) << to_string(report.errors());
  }
}

TEST(RunOnRanks, FailsOnAllRanksWhenTheFolderCannotBeMade) {
  const auto options = quiet_options("/dev/null/results", 1);
  const auto reports = run_ranks(std::vector<Study>(3, make_study(5)), std::vector<RunOptions>(3, options));
  for (const auto& report : reports) {
    ASSERT_FALSE(report.ok());
    EXPECT_EQ(report.errors(), reports[0].errors());
    EXPECT_EQ(report.errors().front().fault, Fault::environment);
  }
}

TEST(RunOnRanks, DrainsAllRanksWhenOneCannotStoreItsRows) {
  const TemporaryFolder folder;
  auto options = std::vector<RunOptions>(3, quiet_options(folder.path(), 1));
  for (auto& each : options) {
    each.evaluate_point = [](const DesignPoint& point, Cache&, const EvaluateOptions&) {
      sleep_seconds(0.02);
      return make_row(point);
    };
  }
  options[2].out = "/dev/null/results";
  const auto reports = run_ranks(std::vector<Study>(3, make_study(2000)), options);
  for (const auto& report : reports) {
    ASSERT_FALSE(report.ok());
    EXPECT_NE(report.errors().front().problem.find("rank 2 on "), std::string::npos) << to_string(report.errors());
  }
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "study.h5"));
}

TEST(RunOnRanks, DrainsAllRanksOnASignalToAnyAndCompletesWhenRunAgain) {
  const TemporaryFolder folder;
  const Study study = make_study(120);
  auto options = quiet_options(folder.path(), 1);
  std::atomic<int> started = 0;
  options.evaluate_point = [&](const DesignPoint& point, Cache&, const EvaluateOptions&) {
    // All three ranks read this process's signals: the first to poll gets the signal and must tell the others.
    if (++started == 30) kill(getpid(), SIGUSR1);
    sleep_seconds(0.01);
    return make_row(point);
  };
  const auto first = run_ranks(std::vector<Study>(3, study), std::vector<RunOptions>(3, options));
  for (const auto& report : first) {
    ASSERT_TRUE(report.ok()) << to_string(report.errors());
    EXPECT_TRUE(report->interrupted);
  }
  EXPECT_LT(first[0]->evaluated, 120U);
  const auto second =
      run_ranks(std::vector<Study>(2, study), std::vector<RunOptions>(2, quiet_options(folder.path(), 1)));
  ASSERT_TRUE(second[0].ok()) << to_string(second[0].errors());
  EXPECT_EQ(second[0]->already_done, first[0]->evaluated);
  EXPECT_FALSE(second[0]->interrupted);
  EXPECT_EQ(merged_rows(folder.path()), undisturbed_rows(study));
}

}  // namespace
}  // namespace tenex
