// A run whose folder another run has taken stops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>

#include "coordinator/fake_study.hpp"
#include "coordinator/ranks.hpp"
#include "support/process.hpp"

namespace tenex {
namespace {

using ::testing::HasSubstr;
using testing::TemporaryFolder;

TEST(RunAlone, StopsWhenItsLockIsLostAndLeavesTheOthersLock) {
  const TemporaryFolder folder;
  const Study study = testing::make_study(1000);  // 5 s of sleep
  auto options = testing::sleeping_options(folder.path(), 0.005);
  options.open.heartbeat = std::chrono::milliseconds(5);
  std::atomic<int> begun = 0;
  const auto sleeping = options.evaluate_point;
  const std::string another = "elsewhere\n1\n0\n12345\n";
  options.evaluate_point = [&](const DesignPoint& point, Cache& cache, const EvaluateOptions& how) {
    if (++begun == 3) support::write_text(folder.path() / "lock", another);
    return sleeping(point, cache, how);
  };
  const auto report = run_alone(study, options);
  ASSERT_FALSE(report.ok());
  EXPECT_THAT(to_string(report.errors()), HasSubstr("is lost"));
  EXPECT_LT(begun, 1000) << "it went on to the end";
  EXPECT_EQ(support::read_text(folder.path() / "lock"), another);
}

}  // namespace
}  // namespace tenex
