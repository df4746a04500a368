// The same study gives the same rows for any ranks and threads.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "study.hpp"
#include "support/results.hpp"

namespace tenex {
namespace {

using namespace crash_tests;

TEST(AStudy, GivesTheSameRowsForAnyRanksAndThreads) {
  const support::TemporaryFolder folder;
  const auto alone = support::run({run_words(folder.path(), "alone", brief), {{"OMP_NUM_THREADS", "1"}}, {}});
  ASSERT_EQ(alone.exit_code, 0) << alone.err;
  for (const auto& [ranks, threads] : {std::pair{1, 1}, {1, 2}, {2, 1}, {2, 2}, {3, 1}, {3, 2}}) {
    const auto out = "ranks" + std::to_string(ranks) + "threads" + std::to_string(threads);
    const auto job = support::run(support::mpirun(ranks, run_words(folder.path(), out, brief), threads));
    ASSERT_EQ(job.exit_code, 0) << out << ": " << job.err;
    support::expect_same_rows(folder.path() / "alone" / "study.h5", folder.path() / out / "study.h5");
  }
}

}  // namespace
}  // namespace tenex
