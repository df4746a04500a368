// Jobs of the size that a study needs.
#include "../../src/cli/sbatch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include "support/process.hpp"

namespace tenex::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::size_t kGiB = std::size_t{1} << 30;

StudyCost cost_of_points(int points, Estimate each) {
  StudyCost cost;
  for (int i = 0; i < points; ++i) cost.add(each);
  return cost;
}

TEST(StudyCost, KnowsTheLargestPoints) {
  StudyCost cost;
  for (const std::size_t bytes : {3, 9, 1, 7}) cost.add({1, bytes, false});
  EXPECT_EQ(cost.largest_bytes(), 9U);
  EXPECT_EQ(cost.bytes_side_by_side(2), 16U);
  EXPECT_EQ(cost.bytes_side_by_side(100), 20U);
  cost.add({50, 1, true});
  EXPECT_DOUBLE_EQ(cost.longest(10), 5);
  EXPECT_DOUBLE_EQ(cost.longest(100), 1);  // other points get no shorter
}

TEST(ShapeOfAJob, IsOneRankForASmallStudy) {
  // 7,200 s: twice that in 3,300 s takes 4.4 cores, so 8 threads of one rank. Time: 2 * 900 s + 300 s = 35 min. Memory:
  // 8 points of 1 GiB and half a GiB for the process, and a quarter more: 10.6 GiB.
  const auto shape = shape_job(cost_of_points(1'000, {7.2, kGiB, false}), {});
  EXPECT_EQ(shape.nodes, 1);
  EXPECT_EQ(shape.ranks_per_node, 1);
  EXPECT_EQ(shape.threads, 8);
  EXPECT_EQ(shape.memory_bytes, 11 * kGiB);
  EXPECT_EQ(shape.seconds, 2'100);
}

TEST(ShapeOfAJob, FillsNodesForALargeStudy) {
  // 3.3e6 s: 2,000 cores, 125 ranks of 16 threads, so 63 nodes with 2 ranks each. 2 * 3.3e6 / 2,016 + 300 = 3,574 s,
  // rounded up to a multiple of 5 min: an hour.
  const auto shape = shape_job(cost_of_points(33'000, {100, 1 << 20, false}), {});
  EXPECT_EQ(shape.nodes, 63);
  EXPECT_EQ(shape.ranks_per_node, 2);
  EXPECT_EQ(shape.threads, 16);
  EXPECT_EQ(shape.seconds, 3'600);
}

TEST(ShapeOfAJob, LastsAsLongAsItsLongestPoint) {
  // 10,000 s take 6.1 cores: 8 threads. A point that cannot use them takes 2 * 10,000 + 300 s, rounded up to 20,400 s;
  // a point that can takes 2 * 1,250 + 300 s, rounded up to 3,000 s.
  EXPECT_EQ(shape_job(cost_of_points(1, {10'000, 1, false}), {}).seconds, 20'400);
  EXPECT_EQ(shape_job(cost_of_points(1, {10'000, 1, true}), {}).seconds, 3'000);
}

TEST(ShapeOfAJob, IsWhatTheUserAskedFor) {
  const auto shape = shape_job(cost_of_points(10, {1, kGiB, false}), {6, 4});
  EXPECT_EQ(shape.nodes * shape.ranks_per_node, 6);
  EXPECT_EQ(shape.threads, 4);
  EXPECT_EQ(shape_job(cost_of_points(10, {1, kGiB, false}), {5, 4}).nodes,
            5);  // an odd number of ranks: one on each node
}

TEST(ShapeOfAJob, GivesANodeRoomForItsLargestPoint) {
  // A point of 100 GiB runs alone on a node: with half a GiB for each of 2 ranks and a quarter more, 126.25 GiB.
  StudyCost cost = cost_of_points(100, {1, kGiB, false});
  cost.add({1, 100 * kGiB, false});
  EXPECT_EQ(shape_job(cost, {2, 4}).memory_bytes, 127 * kGiB);
}

JobContent content_of(std::string name, std::string text, std::map<std::string, std::string> files = {}) {
  return {std::move(name), "it's $HOME.toml", std::move(text), std::move(files), "/no/where/tenex's"};
}

/// Runs what a job does before it starts its ranks, and then `command`.
support::Finished prepare(const support::TemporaryFolder& folder, const std::string& text, const std::string& command) {
  const auto file = folder.path() / "job.sbatch";
  const auto end = text.rfind("run_in_turns ");
  support::write_text(file, text.substr(0, end) + command + "\n");
  return support::run({{"bash", "-c", "cd " + folder.path().string() + " && bash job.sbatch"},
                       {{"SLURM_JOB_ID", "1"}, {"TENEX", "/bin/true"}},
                       {}});
}

TEST(SbatchText, AsksForTheShapeAndIsSoundShellForAnyName) {
  const auto cost = cost_of_points(2, {7.2, kGiB, false});
  const auto text = sbatch_text(content_of("it's \"big\"\nrm -rf", "schema = 1\n"), "results/it's", cost,
                                {3, 2, 16, 48 * kGiB, 90'000});
  EXPECT_THAT(text, HasSubstr("#SBATCH --nodes=3\n#SBATCH --ntasks-per-node=2\n#SBATCH --cpus-per-task=16\n"));
  EXPECT_THAT(text, HasSubstr("#SBATCH --mem=48G\n#SBATCH --time=1-01:00:00\n"));
  EXPECT_THAT(text, HasSubstr("#SBATCH --job-name=tenex-it-s--big--rm--rf\n"));
  EXPECT_THAT(text, HasSubstr("# The study \"it's \"big\" rm -rf\""));
  EXPECT_THAT(text, HasSubstr("2 times the expected time"));
  EXPECT_THAT(text, HasSubstr("\n##SBATCH --account=ACCOUNT\n##SBATCH --partition=PARTITION\n"));
  EXPECT_THAT(text, HasSubstr("\n# module load "));
  const support::TemporaryFolder folder;
  const auto ran = prepare(folder, text, "printf '%s|%s' \"$study\" \"$dir\"");
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(ran.out, "results/it's/job/it's $HOME.toml|results/it's");
}

TEST(SbatchText, CarriesTheStudyAndItsFiles) {
  // "../../a.toml" is two folders above the study's, so the study stands two folders deep in DIR/job: its path ends in
  // DIR/job. The last line of the study has no end, and one looks like the end of a here-document.
  const std::string study = "x = \"$(touch bad) `touch bad` \\\\ '\"\nEND_OF_FILE\nlast";
  const auto text = sbatch_text(content_of("n", study, {{"../../a.toml", "A\n"}, {"m/b's.toml", "B\n"}, {"/c", "C\n"}}),
                                "out", cost_of_points(1, {1, 1, false}), {1, 1, 1, kGiB, 300});
  EXPECT_THAT(text, Not(HasSubstr("\nC\n")));  // an absolute path is read where it is
  const support::TemporaryFolder folder;
  const auto ran = prepare(folder, text, "printf %s \"$study\"");
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(ran.out, "out/job/in/in/it's $HOME.toml");
  EXPECT_EQ(support::read_text(folder.path() / ran.out), study + "\n");
  EXPECT_EQ(support::read_text(folder.path() / "out/job/a.toml"), "A\n");
  EXPECT_EQ(support::read_text(folder.path() / "out/job/in/in/m/b's.toml"), "B\n");
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "bad"));
}

}  // namespace
}  // namespace tenex::cli
