// Rank 0 and a worker that sends nothing any more, played by the test: no process dies, and it takes only
// seconds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/fake_study.hpp"
#include "coordinator/mailboxes.hpp"
#include "coordinator/merged_rows.hpp"
#include "coordinator/rank_loop.hpp"
#include "coordinator/ranks.hpp"
#include "tenex/coordinator/signals.hpp"

namespace tenex {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using testing::Mailboxes;
using testing::make_row;
using testing::make_study;
using testing::merged_rows;
using testing::sleep_seconds;
using testing::TemporaryFolder;

constexpr double kSilence = 1.5;  // seconds: longer than a living rank pauses on a loaded machine under sanitizers

RunOptions options_for(const std::filesystem::path& out) {
  auto options = testing::sleeping_options(out, 0.002);
  options.silence_seconds = kSilence;
  return options;
}

std::vector<std::string> rows_without_losses(const Study& study) {
  return testing::undisturbed_rows(study, options_for);
}

/// A job of three ranks: rank 0 and rank 2 are real (threads of this process), and the test plays rank 1.
class Job {
 public:
  Job(const Study& study, const RunOptions& options) : study_(study), mine_(boxes_, 1) {
    block_run_signals();
    for (const std::size_t rank : {0U, 2U}) {
      reports_.push_back(std::async(std::launch::async, [this, rank, options]() -> Result<RunReport> {
        Mailboxes::Endpoint endpoint(boxes_, rank);
        const auto setup = resolve(options, 1);
        return rank == 0 ? lead(study_, setup, endpoint) : follow(study_, setup, endpoint);
      }));
    }
  }

  /// Sends HELLO and REQUEST until a lease comes.
  LeaseMessage get_lease(const RankReport& report = {}) {
    mine_.send(0, HelloMessage{study_.digest, study_.points.size(), 1, "elsewhere"});
    mine_.send(0, RequestMessage{report});
    while (true) {
      if (auto message = mine_.receive()) {
        if (const auto* lease = std::get_if<LeaseMessage>(&message->second)) return *lease;
      } else {
        sleep_seconds(0.001);
      }
    }
  }
  void say(const RankMessage& message) { mine_.send(0, message); }
  /// The next message that is neither ALIVE nor LEASE.
  RankMessage hear() {
    while (true) {
      auto message = mine_.receive();
      if (!message) {
        sleep_seconds(0.001);
      } else if (!std::holds_alternative<AliveMessage>(message->second) &&
                 !std::holds_alternative<LeaseMessage>(message->second)) {
        return message->second;
      }
    }
  }
  Result<RunReport> end() {
    auto report = reports_[0].get();
    (void)reports_[1].get();
    return report;
  }

 private:
  const Study& study_;
  Mailboxes boxes_{3};
  Mailboxes::Endpoint mine_;
  std::vector<std::future<Result<RunReport>>> reports_;
};

TEST(SilentRank, LosesItsPointsToOthersThoughItNeverSaidAWord) {
  const TemporaryFolder folder;
  const Study study = make_study(60);
  std::atomic<int> told = 0;
  auto options = options_for(folder.path());
  options.on_lost_rank = [&] { ++told; };
  Job job(study, options);
  const auto report = job.end();
  ASSERT_TRUE(report.ok()) << to_string(report.errors());
  EXPECT_EQ(report->lost_ranks, 1U);
  EXPECT_EQ(told, 2) << "ranks 0 and 2 must know that MPI cannot be finalized";
  EXPECT_FALSE(report->interrupted);
  EXPECT_EQ(merged_rows(folder.path()), rows_without_losses(study));
}

TEST(SilentRank, GivesBackWhatItHadAtHandAndWhatItHadNotCommitted) {
  const TemporaryFolder folder;
  const Study study = make_study(200);
  Job job(study, options_for(folder.path()));
  const auto first = job.get_lease();
  // It reports the lease as done, but only the first point is in its journal.
  {
    auto writer = ShardWriter::open(folder.path(), study, 1, 1);
    ASSERT_TRUE(writer.ok());
    const auto point = first.ranges.front().first;
    ASSERT_TRUE(writer->add({point, make_row(study.points[point]).row, 1}).ok() && writer->flush().ok());
  }
  RankReport done;
  done.leases_received = 1;
  done.evaluated = to_points(first.ranges).size();
  done.finished_leases = {first.id};
  done.progress = {first.seconds, first.seconds};
  (void)job.get_lease(done);
  const auto report = job.end();
  ASSERT_TRUE(report.ok()) << to_string(report.errors());
  EXPECT_EQ(report->lost_ranks, 1U);
  EXPECT_EQ(report->evaluated, 200U);
  EXPECT_EQ(report->merge.repeated, 0U) << "what it had committed was evaluated again";
  EXPECT_EQ(merged_rows(folder.path()), rows_without_losses(study));
}

TEST(SilentRank, ThatSpeaksAgainIsSentHomeAndItsRowsAreValid) {
  const TemporaryFolder folder;
  const Study study = make_study(200);
  auto options = options_for(folder.path());
  options.evaluate_point = [](const DesignPoint& point, Cache&, const EvaluateOptions&) {
    sleep_seconds(0.03);  // two real ranks: 3 s in all, so that the run still goes on when rank 1 sends again
    return make_row(point);
  };
  Job job(study, options);
  const auto lease = job.get_lease();
  sleep_seconds(kSilence + 0.1);  // it counts as dead after this
  job.say(AliveMessage{});
  EXPECT_TRUE(std::holds_alternative<DrainMessage>(job.hear()));
  auto writer = ShardWriter::open(folder.path(), study, 1, 1);
  ASSERT_TRUE(writer.ok());
  const auto point = lease.ranges.front().first;
  ASSERT_TRUE(writer->add({point, make_row(study.points[point]).row, 1}).ok() && writer->flush().ok());
  job.say(ByeMessage{});
  const auto report = job.end();
  ASSERT_TRUE(report.ok()) << to_string(report.errors());
  EXPECT_EQ(report->evaluated, 200U);
  EXPECT_EQ(report->merge.repeated, 1U);
  EXPECT_EQ(merged_rows(folder.path()), rows_without_losses(study));
}

TEST(SilentRank, IsBlamedOnAPointWhoseKillForWantOfMemoryTheSystemCounted) {
  // The second fault: the first one is in the folder already, from another run.
  const TemporaryFolder folder;
  const Study study = make_study(20);
  {
    ASSERT_TRUE(ResultFolder::open(folder.path(), study, {}).ok());
    auto writer = ShardWriter::open(folder.path(), study, 1, 0);
    ASSERT_TRUE(writer.ok() && writer->note_crash(4, "out_of_memory").ok());
  }
  auto options = options_for(folder.path());
  std::atomic<std::uint64_t> kills = 7;
  options.count_memory_kills = [&] { return kills.load(); };
  // Point 4 is a suspect: rank 0 does not take it while others live, so the first of ranks 1 and 2 that asks gets it.
  // Here there are two ranks, so only rank 1 asks.
  Mailboxes boxes(2);
  block_run_signals();
  auto leading = std::async(std::launch::async, [&]() -> Result<RunReport> {
    Mailboxes::Endpoint endpoint(boxes, 0);
    auto setup = resolve(options, 1);
    setup.nodes = {{0, 0}, {std::size_t{1} << 30U, std::size_t{1} << 30U}};
    return lead(study, setup, endpoint);
  });
  Mailboxes::Endpoint mine(boxes, 1);
  RankReport report;
  report.memory_kills = 7;
  mine.send(0, HelloMessage{study.digest, study.points.size(), 1, "here"});
  mine.send(0, RequestMessage{report});
  std::optional<LeaseMessage> lease;
  while (!lease) {
    if (auto message = mine.receive(); message && std::holds_alternative<LeaseMessage>(message->second))
      lease = std::get<LeaseMessage>(message->second);
  }
  ASSERT_TRUE(lease->careful);
  ASSERT_EQ(to_points(lease->ranges), (std::vector<std::uint32_t>{4}));
  kills = 8;
  const auto ended = leading.get();
  ASSERT_TRUE(ended.ok()) << to_string(ended.errors());
  EXPECT_EQ(ended->quarantined, 1U);
  EXPECT_THAT(ended->warnings, Contains(HasSubstr("killed for want of memory in the point ")));
  const auto noted = read_trace(folder.path(), study, 2, 0);  // for later runs
  ASSERT_TRUE(noted.ok());
  EXPECT_EQ(noted->crashes, (std::vector<CrashRecord>{{4, 1, "out_of_memory"}}));
  auto rows = merged_rows(folder.path());
  auto truth = rows_without_losses(study);
  ASSERT_EQ(rows.size(), truth.size());
  EXPECT_THAT(rows[4], HasSubstr("ended its process 2 times (the system killed it for want of memory)"));
  rows[4] = truth[4] = "";
  EXPECT_EQ(rows, truth);
}

TEST(Follower, LeavesWithWhatIsFinishedWhenRankZeroFallsSilent) {
  const TemporaryFolder folder;
  const Study study = make_study(50);
  ASSERT_TRUE(ResultFolder::open(folder.path(), study, {}).ok());
  Mailboxes boxes(2);
  block_run_signals();
  std::atomic<int> code = -1;
  std::vector<std::uint64_t> committed;  // when it leaves: a process would end there
  auto following = std::async(std::launch::async, [&] {
    Mailboxes::Endpoint endpoint(boxes, 1);
    const auto setup = resolve(options_for(folder.path()), 1);
    const auto leave = [&](int with) {  // the test's process must stay: a BYE of rank 0 ends the follower
      if (code.exchange(with) >= 0) return;
      if (const auto trace = read_trace(folder.path(), study, 1, 1); trace.ok()) committed = trace->committed;
      Mailboxes::Endpoint zero(boxes, 0);
      zero.send(1, ByeMessage{{}, {}, true, 0});
    };
    return follow(study, setup, endpoint, leave);
  });
  Mailboxes::Endpoint zero(boxes, 0);
  zero.send(1, StartMessage{1});
  zero.send(1, LeaseMessage{1, {{0, 5}}, 0.01});
  ASSERT_TRUE(following.get().ok());
  EXPECT_EQ(code, 3);
  EXPECT_EQ(committed, (std::vector<std::uint64_t>{0, 1, 2, 3, 4}));
}

}  // namespace
}  // namespace tenex
