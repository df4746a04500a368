// A point that ends one rank in the first round of a search and another in the second. Rank 0 is real; the test plays
// the other two.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <vector>

#include "coordinator/fake_study.hpp"
#include "coordinator/mailboxes.hpp"
#include "coordinator/merged_rows.hpp"
#include "coordinator/rank_loop.hpp"
#include "coordinator/ranks.hpp"
#include "tenex/coordinator/signals.hpp"
#include "tenex/store/store.hpp"

namespace tenex {
namespace {

using ::testing::HasSubstr;
using testing::Mailboxes;
using testing::TemporaryFolder;

/// A rank that sends ALIVE until it dies in a point.
class PlayedRank {
 public:
  PlayedRank(const Study& study, const std::filesystem::path& out, Mailboxes& boxes, std::uint32_t rank)
      : study_(study), out_(out), rank_(rank), mine_(boxes, rank) {
    mine_.send(0, HelloMessage{study.digest, study.points.size(), 1, "elsewhere"});
  }
  void ask() { mine_.send(0, RequestMessage{report_}); }

  /// The points of the next lease; none when rank 0 has nothing more.
  LeaseMessage next_lease() {
    while (true) {
      mine_.send(0, AliveMessage{report_});
      while (const auto message = mine_.receive()) {
        if (std::holds_alternative<DrainMessage>(message->second)) return {};
        if (const auto* lease = std::get_if<LeaseMessage>(&message->second)) {
          ++report_.leases_received;
          return *lease;
        }
      }
      testing::sleep_seconds(0.005);
    }
  }
  /// Values the lease's points, and asks for more.
  void value(const LeaseMessage& lease) {
    report_.finished_leases = {lease.id};
    for (const auto point : to_points(lease.ranges)) report_.early_values.push_back({point, lease.round - 1U, 1.0});
    ask();
    report_.finished_leases.clear();
    report_.early_values.clear();
  }
  void die_over(std::uint32_t point) {
    auto writer = ShardWriter::open(out_, study_, 1, rank_);
    ASSERT_TRUE(writer.ok() && writer->note_crash(point, "SIGSEGV").ok());
  }
  void say_bye() { mine_.send(0, ByeMessage{}); }

 private:
  const Study& study_;
  std::filesystem::path out_;
  std::uint32_t rank_;
  Mailboxes::Endpoint mine_;
  RankReport report_;
};

TEST(SearchRun, AddsUpTheFaultsOfAPointOverItsRounds) {
  const TemporaryFolder folder;
  Study study = testing::make_study(8);
  study.search.objective = {"collective_time_ps", false};
  study.search.rounds = {{Fidelity::bound, 1, 1}, {Fidelity::coarse, 1, 1}};  // all go on
  auto options = testing::quiet_options(folder.path(), 1);
  options.silence_seconds = 1.5;
  options.value_point_early = [](const DesignPoint&, Fidelity, const Objective&, Cache&,
                                 const EvaluateOptions&) -> std::optional<double> { return 1.0; };
  options.estimate_point_early = [](const DesignPoint&, Fidelity) { return Estimate{0.01, 1000}; };
  block_run_signals();
  Mailboxes boxes(3);
  PlayedRank first(study, folder.path(), boxes, 1);
  PlayedRank second(study, folder.path(), boxes, 2);
  first.ask();
  auto leading = std::async(std::launch::async, [&] {
    Mailboxes::Endpoint endpoint(boxes, 0);
    return lead(study, resolve(options, 1), endpoint);
  });
  const auto probe = first.next_lease();
  ASSERT_FALSE(probe.ranges.empty());
  const auto guilty = to_points(probe.ranges).front();
  first.die_over(guilty);
  second.ask();
  bool dead = false;
  for (auto lease = second.next_lease(); !lease.ranges.empty() && !dead; lease = dead ? lease : second.next_lease()) {
    dead = lease.round == 0 || (lease.round == 2 && to_points(lease.ranges).front() == guilty);
    if (dead && lease.round == 2) second.die_over(guilty);
    if (!dead) second.value(lease);
  }
  if (!dead) second.say_bye();
  const auto report = leading.get();
  ASSERT_TRUE(report.ok()) << to_string(report.errors());
  EXPECT_EQ(report->lost_ranks, 2U);
  EXPECT_EQ(report->quarantined, 1U);
  const auto rows = testing::merged_rows(folder.path());
  ASSERT_EQ(rows.size(), 8U);
  EXPECT_THAT(rows[guilty], HasSubstr("ended its process 2 times (SIGSEGV)"));
}

}  // namespace
}  // namespace tenex
