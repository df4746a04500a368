// The meaning of the table [search]; refusals.txt has the refused ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "design/design_support.hpp"

namespace tenex {
namespace {

Result<Study> searched(const std::string& lines) { return study_with("[search]\n" + lines); }

TEST(Search, SaysNothingWhereItIsNotThere) {
  const auto study = study_with("");
  ASSERT_EQ(messages_of(study), "");
  EXPECT_FALSE(study->search.prunes());
  EXPECT_EQ(study->search, SearchChoice());
}

TEST(Search, HasOneCoarseRoundThatKeepsHalfUnlessItSaysMore) {
  const auto study = searched("objective = \"minimize collective_time_ps\"\n");
  ASSERT_EQ(messages_of(study), "");
  EXPECT_EQ(to_string(study->search.objective), "minimize collective_time_ps");
  EXPECT_EQ(study->search.rounds, (std::vector<HalvingRound>{{Fidelity::coarse, 1, 2}}));
}

TEST(Search, KeepsAPartPerRound) {
  const auto study =
      searched("objective = \"algbw_bytes_per_s\"\nrounds = [\"bound\", \"coarse\"]\nkeep = [\"1/2\", \"3/10\"]\n");
  ASSERT_EQ(messages_of(study), "");
  EXPECT_EQ(to_string(study->search.objective), "maximize algbw_bytes_per_s")
      << "the direction in which a bandwidth is better";
  EXPECT_EQ(study->search.rounds, (std::vector<HalvingRound>{{Fidelity::bound, 1, 2}, {Fidelity::coarse, 3, 10}}));
}

TEST(Search, KeepsTheSamePartInEveryRoundWhenThereIsOne) {
  const auto study = searched("objective = \"algbw\"\nrounds = [\"bound\", \"coarse\"]\nkeep = \"1/3\"\n");
  ASSERT_EQ(messages_of(study), "");
  EXPECT_EQ(study->search.rounds, (std::vector<HalvingRound>{{Fidelity::bound, 1, 3}, {Fidelity::coarse, 1, 3}}));
}

TEST(Search, TakesDirectionsAsWritten) {
  const auto study =
      searched("pareto = [\"maximize collective_time_ps\", \"algbw_bytes_per_s\", \"minimize sends\"]\n");
  ASSERT_EQ(messages_of(study), "");
  EXPECT_EQ(
      study->search.pareto,
      (std::vector<Objective>{{"collective_time_ps", true}, {"algbw_bytes_per_s", true, "algbw"}, {"sends", false}}));
  EXPECT_FALSE(study->search.prunes());
}

TEST(Search, ComparesPointsThatAgreeInTheSettingsOfPer) {
  const auto study = study_with(
      "axes.size = [\"1MiB\", \"2MiB\"]\naxes.chunks = [1, 2]\n[search]\npareto = [\"algbw\", \"sends\"]\n"
      "per = [\"topology\", \"size\"]\n");
  ASSERT_EQ(messages_of(study), "");
  const auto of = [&](std::size_t i) { return competition_of(study->search, study->points[i]); };
  EXPECT_EQ(of(0), of(1)) << "other chunks";
  EXPECT_EQ(of(2), of(3));
  EXPECT_NE(of(0), of(2)) << "another size";
}

TEST(Search, WarnsOfMetricsThatOnlySomePointsHaveWithTheirNumber) {
  // Lines 12 to 15 are a second sweep, of two points that train; the base's sweep is one All-Gather.
  const auto study = study_with(
      "[[sweep]]\nworkload = \"gpt3\"\nhp = \"4,1\"\naxes.compute = [\"1TFLOPS\", \"2TFLOPS\"]\n[search]\n"
      "objective = \"training_time_ps\"\npareto = [\"npus\", \"algbw\"]\n");
  ASSERT_EQ(messages_of(study), "");
  ASSERT_EQ(study->points.size(), 3U);
  EXPECT_THAT(study->warnings,
              testing::ElementsAre(
                  "study.toml:16:14: 1 of 3 points have no \"training_time_ps\" (only points that train a model have "
                  "it) they are never pruned and all evaluated in full",
                  "study.toml:17:20: 2 of 3 points have no \"algbw_bytes_per_s\" (only points that run a collective "
                  "have it) they "
                  "are on no front and dominate nothing"));
}

TEST(Search, IsSilentWhereEveryPointHasTheMetrics) {
  const auto study = searched("objective = \"algbw\"\npareto = [\"npus\", \"algbw\"]\n");
  ASSERT_EQ(messages_of(study), "");
  EXPECT_THAT(study->warnings, testing::IsEmpty());
}

TEST(Search, MakesAnotherStudyWhereItPrunesAndOnlyThere) {
  const auto plain = study_with("");
  const auto front = searched("pareto = [\"algbw\", \"sends\"]\n");
  const auto half = searched("objective = \"algbw\"\n");
  const auto third = searched("objective = \"algbw\"\nkeep = \"1/3\"\n");
  ASSERT_EQ(messages_of(plain) + messages_of(front) + messages_of(half) + messages_of(third), "");
  EXPECT_EQ(plain->digest, front->digest) << "a front changes no row";
  EXPECT_NE(plain->digest, half->digest);
  EXPECT_NE(half->digest, third->digest);
  EXPECT_NE(search_stamp(*half), search_stamp(*third));
  EXPECT_EQ(plain->points.key(0), half->points.key(0)) << "a point's key is its own";
}

/// Digests of studies, and so the folders that belong to them, survive changes of columns' names.
TEST(Search, TakesFormerNamesForTheSameStudy) {
  const auto former = searched(
      "objective = \"algbw\"\nper = [\"engine_choice\", \"groups\", \"simulation_engine_choice\", "
      "\"collective_time_model\"]\n");
  const auto today = searched(
      "objective = \"algbw_bytes_per_s\"\nper = [\"engine_setting\", \"groups_setting\", "
      "\"simulation_engine_setting\", \"collective_time_setting\"]\n");
  ASSERT_EQ(messages_of(former) + messages_of(today), "");
  EXPECT_EQ(former->search, today->search);
  EXPECT_EQ(former->digest, today->digest);
  EXPECT_EQ(pruning_text(today->search),
            "maximize algbw; coarse 1/2; per engine_choice; per groups; per simulation_engine_choice; per "
            "collective_time_model")
      << "as in schema 1";
}

/// One alpha for all dimensions is one alpha, whatever the number of dimensions.
TEST(Search, ComparesListsAsTheyAreStated) {
  const auto study = study_with(
      "axes.topology = [\"RI(4)\", \"RI(4)_RI(4)\"]\naxes.chunks = [1, 2]\n[search]\npareto = [\"npus\", \"sends\"]\n"
      "per = [\"alpha\"]\n");
  ASSERT_EQ(messages_of(study), "");
  ASSERT_EQ(study->points.size(), 4U);
  EXPECT_EQ(competition_of(study->search, study->points[0]), competition_of(study->search, study->points[3]));
}

}  // namespace
}  // namespace tenex
