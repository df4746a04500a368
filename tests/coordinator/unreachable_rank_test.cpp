// A rank that the transport reports as gone counts as dead at once, without waiting for its silence.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <optional>
#include <utility>
#include <vector>

#include "coordinator/fake_study.hpp"
#include "coordinator/mailboxes.hpp"
#include "coordinator/merged_rows.hpp"
#include "coordinator/rank_loop.hpp"
#include "coordinator/ranks.hpp"

namespace tenex {
namespace {

using testing::Mailboxes;
using testing::TemporaryFolder;

/// Rank 0's mailbox, which reports once that rank 1 is gone.
class WatchfulEndpoint final : public Transport {
 public:
  WatchfulEndpoint(Mailboxes& boxes, std::atomic<bool>& gone) : mine_(boxes, 0), gone_(gone) {}
  [[nodiscard]] std::size_t rank() const override { return mine_.rank(); }
  [[nodiscard]] std::size_t size() const override { return mine_.size(); }
  void send(std::size_t to, const RankMessage& message) override { mine_.send(to, message); }
  [[nodiscard]] std::optional<std::pair<std::size_t, RankMessage>> receive() override { return mine_.receive(); }
  [[nodiscard]] bool all_sent() override { return mine_.all_sent(); }
  [[nodiscard]] std::vector<std::size_t> failed_ranks() override {
    return gone_.exchange(false) ? std::vector<std::size_t>{1} : std::vector<std::size_t>{};
  }

 private:
  Mailboxes::Endpoint mine_;
  std::atomic<bool>& gone_;
};

TEST(UnreachableRank, LosesItsPointsToOthersLongBeforeItsSilenceTells) {
  const TemporaryFolder folder;
  const Study study = testing::make_study(40);
  auto options = testing::sleeping_options(folder.path(), 0.001);
  options.silence_seconds = 3600;  // if the run waited for it, the test would not end
  Mailboxes boxes(2);
  std::atomic<bool> gone = false;
  auto leading = std::async(std::launch::async, [&] {
    WatchfulEndpoint endpoint(boxes, gone);
    return lead(study, resolve(options, 1), endpoint);
  });
  Mailboxes::Endpoint mine(boxes, 1);  // takes a lease and dies
  mine.send(0, HelloMessage{study.digest, study.points.size(), 1, "elsewhere"});
  mine.send(0, RequestMessage{});
  for (bool has_lease = false; !has_lease;) {
    const auto message = mine.receive();
    has_lease = message && std::holds_alternative<LeaseMessage>(message->second);
    if (!message) testing::sleep_seconds(0.001);
  }
  gone = true;
  const auto report = leading.get();
  ASSERT_TRUE(report.ok()) << to_string(report.errors());
  EXPECT_EQ(report->lost_ranks, 1U);
  EXPECT_FALSE(report->interrupted);
  EXPECT_EQ(testing::merged_rows(folder.path()).size(), 40U);
}

}  // namespace
}  // namespace tenex
