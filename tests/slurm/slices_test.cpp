// Slices and merging by hand, without Slurm: the commands that array.sbatch and merge.sbatch call.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "slurm/cluster.hpp"

namespace tenex {
namespace {

using namespace slurm_tests;
using ::testing::HasSubstr;

support::Finished tenex(std::vector<std::string> words) {
  words.insert(words.begin(), TENEX_BINARY);
  return support::run({std::move(words), {{"OMP_NUM_THREADS", "1"}}, {}});
}

TEST(TenexRun, RefusesASliceThatIsNone) {
  const Site site;
  const auto refused = tenex({"run", site.study(), "--out", site.path() / "out", "--slice", "9/8"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("\"9/8\" is no slice\n  reason: I/N is expected, with 1 <= I <= N"));
  EXPECT_FALSE(std::filesystem::exists(site.path() / "out"));
}

TEST(TenexMerge, JoinsSlicesAndTheJoinedFolderContinues) {
  const Site site;
  const auto dir = [&](const char* name) { return (site.path() / name).string(); };
  const auto first = tenex({"run", site.study(), "--out", dir("a"), "--slice", "1/2", "--quiet"});
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("slice 1/2, 40 of 80 points: 40 evaluated now"));
  const auto again = tenex({"run", site.study(), "--out", dir("a"), "--slice", "1/2", "--quiet"});
  EXPECT_THAT(again.out, HasSubstr("slice 1/2, 40 of 80 points: 0 evaluated now"));
  const auto half = tenex({"merge", dir("a"), "--out", dir("all")});
  EXPECT_EQ(half.exit_code, 3);
  EXPECT_THAT(half.err, HasSubstr("40 of 80 points have no row yet"));
  const auto rest = tenex({"run", site.study(), "--out", dir("all"), "--quiet"});
  EXPECT_EQ(rest.exit_code, 0) << rest.err;
  EXPECT_THAT(rest.out, HasSubstr("80 points: 40 evaluated now"));
  support::expect_same_rows(site.local_result(), site.result("all"));
}

TEST(TenexMerge, OfSeveralFoldersWantsAPlace) {
  const Site site;
  const auto refused = tenex({"merge", site.path() / "a", site.path() / "b"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("several folders, and none to merge them in\n"));
  EXPECT_THAT(refused.err, HasSubstr("help: give --out DIR"));
}

}  // namespace
}  // namespace tenex
