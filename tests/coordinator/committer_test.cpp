// The thread that writes a rank's results.
#include "coordinator/committer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "coordinator/fake_study.hpp"

namespace tenex {
namespace {

TEST(Committer, LetsNoMorePointsWaitThanItSays) {
  // Each of two threads hands over a row in well under a microsecond; writing one takes several. Without a limit most
  // of the 60,000 rows would wait.
  constexpr std::size_t each = 30'000;
  const auto study = testing::make_study(2 * each);
  const support::TemporaryFolder folder;
  ASSERT_TRUE(ResultFolder::open(folder.path(), study, {}).ok());
  auto writer = ShardWriter::open(folder.path(), study, 1, 0);
  ASSERT_TRUE(writer.ok());
  Committer committer(study, folder.path(), std::move(*writer));
  std::vector<std::size_t> most(2, 0);
  const auto put_all = [&](std::size_t half) {
    for (std::size_t i = 0; i < each; ++i) {
      FinishedPoint point;
      point.point = static_cast<std::uint32_t>(half * each + i);
      point.output.row.status = PointStatus::infeasible;
      committer.put(std::move(point));
      most[half] = std::max(most[half], committer.waiting());
    }
  };
  std::thread other([&] { put_all(1); });
  put_all(0);
  other.join();
  EXPECT_LE(std::max(most[0], most[1]), Committer::most_waiting);
  EXPECT_GT(std::max(most[0], most[1]), Committer::most_waiting / 2)
      << "the writer was never behind: nothing was tried";
  ASSERT_TRUE(committer.finish().ok());
  const auto trace = read_trace(folder.path(), study, 1, 0);
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->committed.size(), 2 * each);
}

}  // namespace
}  // namespace tenex
