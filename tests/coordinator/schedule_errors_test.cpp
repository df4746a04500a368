// A schedule that a study asks for and that cannot be stored.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "coordinator/ranks.hpp"
#include "support/process.hpp"
#include "tenex/design/study.hpp"
#include "tenex/evaluate/evaluate.hpp"

namespace tenex {
namespace {

using ::testing::HasSubstr;
using testing::TemporaryFolder;

TEST(RunAlone, EndsWithTheErrorOfAScheduleThatCannotBeWrittenAndResumes) {
  const TemporaryFolder folder;
  const auto study = parse_study(R"TOML(schema = 1
name = "schedules"
[[sweep]]
topology = "RI(4)"
alpha = "0.5us"
bandwidth = "50GB/s"
collective = "all_gather"
size = "1MiB"
axes.algorithm = ["ring", "tacos"]
[outputs]
schedule = "algorithm = tacos"
)TOML",
                                 "schedules.toml", vocabulary());
  ASSERT_TRUE(study.ok()) << to_string(study.errors());
  auto options = testing::quiet_options(folder.path());
  options.evaluate_point = {};  // real evaluations
  options.estimate_point = {};
  support::write_text(folder.path() / "schedules", "somebody's own");
  const auto report = run_alone(*study, options);
  ASSERT_FALSE(report.ok()) << "the row would count, and its schedule is nowhere";
  EXPECT_THAT(to_string(report.errors()), HasSubstr("schedules"));
  std::filesystem::remove(folder.path() / "schedules");
  const auto again = run_alone(*study, options);
  ASSERT_TRUE(again.ok()) << to_string(again.errors());
  EXPECT_FALSE(again->interrupted);
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "schedules" / (to_string(study->points[1].key) + ".h5")));
}

}  // namespace
}  // namespace tenex
