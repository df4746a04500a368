// Solvers in `tenex synthesize`: the gap of a working one on stderr (`--progress`), and a published case of TE-CCL.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

#include "support/process.hpp"

namespace tenex {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Two chunks for each NPU of a DGX-1 over epochs of 50 ns: the first relaxation alone takes longer than the limit.
std::vector<std::string> hard_case() {
  return {TENEX_BINARY, "synthesize", "--topology",    "dgx1", "--collective",        "all_gather",
          "--size",     "400KB",      "--chunks",      "2",    "--synthesizer",       "te_ccl",
          "--epoch",    "50ns",       "--formulation", "milp", "--solver_time_limit", "1500ms"};
}

struct Line {
  double time_us = 0, bound_us = 0, gap_percent = 0, seconds = 0;
  int nodes = 0;
};

/// The lines "time 1us, bound 2us, gap 3 %, 4 nodes, 5.0s in solvers", after a number of epochs where there is one.
std::vector<Line> solver_lines(const std::string& text) {
  std::vector<Line> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    const auto time = line.find("time ");
    if (time == std::string::npos) continue;
    Line read;
    if (std::sscanf(line.c_str() + time, "time %lfus, bound %lfus, gap %lf %%, %d nodes, %lfs in solvers",  // NOLINT
                    &read.time_us, &read.bound_us, &read.gap_percent, &read.nodes, &read.seconds) == 5)
      lines.push_back(read);
  }
  return lines;
}

// The solver works until its limit of 1.5 s, and each second has a line: so there is at least one, however fast the
// machine is. stderr is a pipe here, on which lines are shown only if they are asked for.
TEST(SolverProgressOption, ShowsTheGapOfAWorkingSolver) {
  auto words = hard_case();
  words.emplace_back("--progress");
  const auto finished = support::run({words, {}, {}});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const auto lines = solver_lines(finished.err);
  ASSERT_FALSE(lines.empty()) << finished.err;
  for (const Line& line : lines) {
    EXPECT_GE(line.seconds, 1);
    EXPECT_GT(line.bound_us, 0);
    EXPECT_GE(line.time_us, line.bound_us);
    // Times have six digits and the gap three.
    EXPECT_NEAR(line.gap_percent, 100 * (1 - line.bound_us / line.time_us), 0.06) << finished.err;
  }
}

TEST(SolverProgressOption, IsSilentInAPipeIfItIsNotGiven) {
  const auto finished = support::run({hard_case(), {}, {}});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.err, IsEmpty());
  EXPECT_THAT(finished.out, HasSubstr("clock_ended"));
}

// All-to-All of 1 GB inside each of two NDv2 chassis. Between the halves of a chassis, 16 chunks of 125 MB go each way
// over two links of 50 GB/s, 2.5 ms each, and two of 25 GB/s, 5 ms each, with an alpha of 0.7 us: 14 are there after
// 12.5 ms, so that no schedule takes less than 15,000.7 us. A model of 240 epochs of 62.5 us is too large. The next
// longer epochs, four times as long, have a plan of 60 that takes just this time.
TEST(SolverEpochs, AreLongerWhereAModelOfRatesIsTooLarge) {
  const auto finished = support::run(
      {{TENEX_BINARY, "synthesize", "--topology", "ndv2_2ch", "--collective", "all_to_all", "--size", "1GB", "--groups",
        "0-7; 8-15", "--relays", "members", "--synthesizer", "te_ccl", "--epoch", "62.5us", "--json"},
       {},
       {}});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  for (const auto* fact : {"\"engine\":\"lp\"", "\"epochs\":60,", "\"epoch_ps\":250000000,", "\"optimal\":1,",
                           "\"collective_time_ps\":15000700000,", "\"bound_ps\":15000700000,"})
    EXPECT_THAT(finished.out, HasSubstr(fact));
}

}  // namespace
}  // namespace tenex
