// The expected cost of a search, before it and during the run.
#include "../../src/cli/search_outlook.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "../../src/cli/overview.hpp"
#include "support/process.hpp"
#include "tenex/evaluate/evaluate.hpp"

namespace tenex::cli {
namespace {

const std::string ring =
    "topology = \"RI(4)\"\nalpha = \"1us\"\nbandwidth = \"1GB/s\"\ncollective = \"all_gather\"\nalgorithm = "
    "\"ring\"\n";

/// A study of `seeds` equal rings of every size, with this [search].
Study searched_rings(int seeds, const std::string& sizes, const std::string& search) {
  auto study = parse_study("schema = 1\nname = \"rings\"\nseed = { from = 1, to = " + std::to_string(seeds) +
                               ", step = 1 }\n[[sweep]]\n" + ring + "axes.size = " + sizes + "\n[search]\n" + search,
                           "study.toml", vocabulary());
  EXPECT_TRUE(study.ok()) << to_string(study.errors());
  return *std::move(study);
}

TEST(SearchOutlook, FollowsTheParts) {
  // Of 10 points the first round keeps half, 5; of those the second keeps a third, rounded up: 2.
  const auto study = searched_rings(10, "[\"1MiB\"]",
                                    "objective = \"algbw\"\nrounds = [\"bound\", \"coarse\"]\nkeep = "
                                    "[\"1/2\", \"1/3\"]\n");
  const SearchOutlook outlook(study);
  EXPECT_EQ(outlook.points(0), 10U);
  EXPECT_EQ(outlook.points(1), 5U);
  EXPECT_EQ(outlook.points(2), 2U);
  EXPECT_DOUBLE_EQ(outlook.share(7, 0), 1);
  EXPECT_DOUBLE_EQ(outlook.share(7, 1), 0.5);
  EXPECT_DOUBLE_EQ(outlook.share_in_full(7), 0.2);
}

TEST(SearchOutlook, RoundsEveryCompetitionUp) {
  // Two sizes of 3 seeds each: of each 3, half is 2 (rounded up), together 4. In one competition it would be 3.
  const auto study = searched_rings(3, "[\"1MiB\", \"2MiB\"]", "objective = \"algbw\"\nper = \"size\"\n");
  const SearchOutlook outlook(study);
  EXPECT_EQ(outlook.points(1), 4U);
  EXPECT_NE(outlook.competition(0), outlook.competition(1));
  EXPECT_DOUBLE_EQ(outlook.share_in_full(0), 2.0 / 3);
}

TEST(SearchOutlook, KeepsPointsThatCannotHaveTheObjective) {
  // Four rings, half of which go on, and one point that trains: 2 + 1.
  const auto study =
      searched_rings(1, "[\"1MiB\", \"2MiB\", \"3MiB\", \"4MiB\"]",
                     "objective = \"algbw\"\n[[sweep]]\ntopology = \"RI(4)\"\nworkload = \"resnet50\"\nhp = "
                     "\"1,4\"\nnpu_bandwidth = \"1GB/s\"\n");
  const SearchOutlook outlook(study);
  EXPECT_EQ(outlook.points(0), 5U);
  EXPECT_EQ(outlook.points(1), 3U);
  EXPECT_EQ(outlook.competition(4), 0U);
  EXPECT_DOUBLE_EQ(outlook.share_in_full(4), 1);
}

TEST(SearchOutlook, IsAllPointsWhereNothingIsPruned) {
  const auto study = searched_rings(3, "[\"1MiB\"]", "pareto = [\"algbw\", \"sends\"]\n");
  const SearchOutlook outlook(study);
  EXPECT_EQ(outlook.points(0), 3U);
  EXPECT_DOUBLE_EQ(outlook.share_in_full(1), 1);
}

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// A live run of 12 equal points of which a search keeps 6: after 100 s of search it evaluated two points of 2 s each,
/// one after another, the last of them just now. Three of the others got a pruned row `ago` seconds ago.
FolderStatus searching(const Study& study, std::int64_t ago) {
  const auto now = now_ms();
  FolderStatus status;
  status.identity.incarnation = 1;
  status.owner = FolderOwner{"host", 1, 0, true};
  status.run_began_unix_ms = now - 104'000;
  status.mine.assign(study.points.size(), true);
  status.ranks = {{0, "host"}};
  for (std::uint64_t point = 0; point < 5; ++point) {
    CommittedRow row;
    row.point = point;
    row.incarnation = 1;
    row.status = point < 2 ? PointStatus::ok : PointStatus::pruned;
    row.finished_unix_ms = point < 2 ? now - 2'000 + 2'000 * static_cast<std::int64_t>(point) : now - 1'000 * ago;
    row.evaluation_seconds = point < 2 ? 2 : 0;
    status.rows.push_back(row);
  }
  return status;
}

TEST(TimeLeftOfASearch, LeavesOutPointsThatWillBePruned) {
  const auto study = searched_rings(12, "[\"1MiB\"]", "objective = \"algbw\"\n");
  ASSERT_EQ(study.points.size(), 12U);
  const auto overview = overview_of(searching(study, 3), study);
  EXPECT_EQ(overview.done, 5U);
  EXPECT_EQ(overview.pruned, 3U);
  // 7 points have no row. 6 are pruned in the end, 3 of these still to come, so 4 points of 2 s are left. In the 4 s
  // since the search ended, one second of work was done per second. (All 7 points at the rate over 104 s would take 364
  // s.)
  EXPECT_NEAR(overview.left.seconds, 8, 0.5);
}

TEST(TimeLeftOfASearch, TrustsTheRowsOnceTheyHadTimeToBeCommitted) {
  // Only three points were pruned, a minute and a half ago, because more values were equal than expected. Then the two
  // points took 40 s each, so no further pruned row is coming: 7 points of 40 s are left.
  const auto study = searched_rings(12, "[\"1MiB\"]", "objective = \"algbw\"\n");
  auto status = searching(study, 90);
  status.rows[0].evaluation_seconds = status.rows[1].evaluation_seconds = 40;
  status.rows[0].finished_unix_ms -= 38'000;
  EXPECT_NEAR(overview_of(status, study).left.seconds, 280, 3);
}

TEST(TheRateOfASearch, DoesNotCountPrunedPoints) {
  const auto study = searched_rings(12, "[\"1MiB\"]", "objective = \"algbw\"\n");
  const auto overview = overview_of(searching(study, 3), study);
  EXPECT_NEAR(overview.points_per_second, 2 / 104.0, 1e-3);
  ASSERT_EQ(overview.ranks.size(), 1U);
  EXPECT_EQ(overview.ranks[0].rows, 5U);
}

TEST(ThePlanOfASearch, CostsItsRoundsAndThePointsThatGoOn) {
  const support::TemporaryFolder folder;
  const auto plan = [&](const std::string& search) {
    const auto file = (folder.path() / "study.toml").string();
    support::write_text(file, "schema = 1\nname = \"rings\"\nseed = { from = 1, to = 9, step = 1 }\n[[sweep]]\n" +
                                  ring + "size = \"1MiB\"\n" + search);
    return support::run({{TENEX_BINARY, "plan", file, "--json"}, {}, {}});
  };
  const auto number = [](const std::string& json, const std::string& name, std::size_t from = 0) {
    const auto at = json.find("\"" + name + "\":", from);
    return at == std::string::npos ? -999 : std::strtod(json.c_str() + at + name.size() + 3, nullptr);
  };
  const auto all = plan("");
  ASSERT_EQ(all.exit_code, 0) << all.err;
  EXPECT_EQ(all.out.find("search_rounds"), std::string::npos);
  const auto each = number(all.out, "expected_core_seconds") / 9;
  // Round `bound` takes 1 ms for each of 9 points; 3 of them go on, each at the cost that it has without a search.
  const auto third = plan("[search]\nobjective = \"algbw\"\nrounds = \"bound\"\nkeep = \"1/3\"\n");
  ASSERT_EQ(third.exit_code, 0) << third.err;
  EXPECT_EQ(number(third.out, "points"), 9);
  EXPECT_EQ(number(third.out, "evaluated_in_full"), 3);
  EXPECT_NEAR(number(third.out, "expected_core_seconds"), 9e-3 + 3 * each, 1e-9);
  const auto rounds = third.out.find("search_rounds");
  EXPECT_EQ(number(third.out, "points", rounds), 9);
  EXPECT_NEAR(number(third.out, "expected_core_seconds", rounds), 9e-3, 1e-12);
}

}  // namespace
}  // namespace tenex::cli
