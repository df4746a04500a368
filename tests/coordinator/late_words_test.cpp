// Late messages: to a rank 0 that was stopped, and from a rank that had not yet received a message of rank 0.
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "coordinator/fake_study.hpp"
#include "coordinator/mailboxes.hpp"
#include "coordinator/merged_rows.hpp"
#include "coordinator/rank_loop.hpp"
#include "coordinator/ranks.hpp"

namespace tenex {
namespace {

using std::chrono::milliseconds;
using testing::Mailboxes;
using testing::TemporaryFolder;

/// Rank 0's mailbox. At the 20th look into it rank 0 is stopped for `stop`, and messages sent meanwhile take a while.
class StoppedEndpoint final : public Transport {
 public:
  StoppedEndpoint(Mailboxes& boxes, milliseconds stop) : mine_(boxes, 0), stop_(stop) {}
  [[nodiscard]] std::size_t rank() const override { return mine_.rank(); }
  [[nodiscard]] std::size_t size() const override { return mine_.size(); }
  void send(std::size_t to, const RankMessage& message) override { mine_.send(to, message); }
  [[nodiscard]] std::optional<std::pair<std::size_t, RankMessage>> receive() override {
    if (++looks_ == 20) {
      std::this_thread::sleep_for(stop_);
      nothing_before_ = std::chrono::steady_clock::now() + milliseconds(200);
    }
    if (std::chrono::steady_clock::now() < nothing_before_) return std::nullopt;
    return mine_.receive();
  }
  [[nodiscard]] bool all_sent() override { return mine_.all_sent(); }

 private:
  Mailboxes::Endpoint mine_;
  milliseconds stop_;
  int looks_ = 0;
  std::chrono::steady_clock::time_point nothing_before_{};
};

TEST(RankZero, DoesNotBuryTheOthersForWhatItMissedWhileItWasStopped) {
  const TemporaryFolder folder;
  const Study study = testing::make_study(50);  // 1 s of sleep
  auto options = testing::sleeping_options(folder.path(), 0.02);
  options.silence_seconds = 2;
  Mailboxes boxes(2);
  auto leading = std::async(std::launch::async, [&] {
    StoppedEndpoint endpoint(boxes, milliseconds(4'000));
    return lead(study, resolve(options, 1), endpoint);
  });
  Mailboxes::Endpoint mine(boxes, 1);  // asks for no lease, but sends ALIVE
  mine.send(0, HelloMessage{study.digest, study.points.size(), 1, "elsewhere"});
  for (bool drained = false; !drained; testing::sleep_seconds(0.02)) {
    mine.send(0, AliveMessage{});
    while (const auto message = mine.receive())
      drained = drained || std::holds_alternative<DrainMessage>(message->second);
  }
  mine.send(0, ByeMessage{});
  const auto report = leading.get();
  ASSERT_TRUE(report.ok()) << to_string(report.errors());
  EXPECT_EQ(report->lost_ranks, 0U);
}

TEST(RankZero, AnswersNoRequestThatALeaseOnItsWayAnswersAlready) {
  const TemporaryFolder folder;
  const Study study = testing::make_study(200);
  auto options = testing::sleeping_options(folder.path(), 0.005);
  options.silence_seconds = 1;
  Mailboxes boxes(2);
  auto leading = std::async(std::launch::async, [&] {
    Mailboxes::Endpoint endpoint(boxes, 0);
    return lead(study, resolve(options, 1), endpoint);
  });
  Mailboxes::Endpoint mine(boxes, 1);
  const auto leases_within = [&](double seconds, std::size_t wanted) {
    std::vector<LeaseMessage> leases;
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (std::chrono::steady_clock::now() < end && leases.size() < wanted) {
      const auto message = mine.receive();
      if (!message)
        testing::sleep_seconds(0.001);
      else if (const auto* lease = std::get_if<LeaseMessage>(&message->second))
        leases.push_back(*lease);
    }
    return leases;
  };
  mine.send(0, HelloMessage{study.digest, study.points.size(), 1, "elsewhere"});
  mine.send(0, RequestMessage{});
  const auto probe = leases_within(5, 1);
  ASSERT_EQ(probe.size(), 1U);
  RankReport report;  // the probe is done; sent again before the answer was there
  report.leases_received = 1;
  report.finished_leases = {probe[0].id};
  report.progress = {probe[0].seconds, probe[0].seconds};
  mine.send(0, RequestMessage{report});
  report.finished_leases.clear();
  ASSERT_EQ(leases_within(5, 1).size(), 1U);
  mine.send(0, RequestMessage{report});
  EXPECT_TRUE(leases_within(0.3, 1).empty());
  const auto end = leading.get();  // this rank is silent from now on
  ASSERT_TRUE(end.ok()) << to_string(end.errors());
  EXPECT_EQ(testing::merged_rows(folder.path()).size(), 200U);
}

}  // namespace
}  // namespace tenex
