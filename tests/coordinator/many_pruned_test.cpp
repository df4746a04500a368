// A search that prunes more points than rank 0 holds rows of at a time.
#include <gtest/gtest.h>

#include <optional>

#include "coordinator/fake_study.hpp"
#include "coordinator/ranks.hpp"

namespace tenex {
namespace {

using testing::TemporaryFolder;

TEST(SearchRun, EndsOnceTheRowsOfAllPrunedPointsAreWritten) {
  // 12,000 points, each with its seed as value; one in 6,000 goes on: 2 are evaluated, 11,998 are pruned at once.
  const TemporaryFolder folder;
  Study study = testing::make_study(12'000);
  study.search.objective = {"collective_time_ps", false};
  study.search.rounds = {{Fidelity::bound, 1, 6'000}};
  auto options = testing::quiet_options(folder.path());
  options.value_point_early = [](const DesignPoint& point, Fidelity, const Objective&, Cache&,
                                 const EvaluateOptions&) -> std::optional<double> {
    return static_cast<double>(point.seed);
  };
  options.estimate_point_early = [](const DesignPoint&, Fidelity) { return Estimate{1e-5, 1000}; };
  const auto report = run_alone(study, options);
  ASSERT_TRUE(report.ok()) << to_string(report.errors());
  EXPECT_FALSE(report->interrupted);
  EXPECT_EQ(report->pruned, 11'998U);
  EXPECT_EQ(report->merge.rows, 12'000U);
}

}  // namespace
}  // namespace tenex
