// `tenex execute` under a real mpirun: a rank for each NPU, every element compared.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/process.hpp"

namespace tenex {
namespace {

using support::Finished;
using support::TemporaryFolder;
using ::testing::HasSubstr;

Finished execute(int ranks, std::vector<std::string> words) {
  words.insert(words.begin(), {TENEX_BINARY, "execute"});
  return support::run(support::mpirun(ranks, std::move(words)));
}

/// Writes the schedule that the words of `simulate` or `synthesize` make.
std::string schedule(const TemporaryFolder& folder, std::vector<std::string> words) {
  const auto file = (folder.path() / "s.h5").string();
  words.insert(words.begin(), TENEX_BINARY);
  words.insert(words.end(), {"--alpha", "1us", "--bandwidth", "1GB/s", "--out", file});
  const auto made = support::run({words, {}, {}});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  return file;
}

TEST(Execute, GivesEverySumUnderMpirun) {
  const TemporaryFolder folder;
  const auto file =
      schedule(folder, {"synthesize", "--topology", "RI(4)", "--collective", "all_reduce", "--size", "64KB"});
  // 4 ranks must hold 4 chunks of 4,000 elements.
  const auto done = execute(4, {file, "--repeats", "2", "--json"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("\"compared_elements\":64000,\"wrong_elements\":0"));
  EXPECT_THAT(done.out, HasSubstr("\"mpi_collective_us\":"));
}

TEST(Execute, MovesOverSwitchesAndExchanges) {
  const TemporaryFolder folder;
  const auto file = schedule(folder, {"simulate", "--topology", "SW(3)", "--collective", "all_to_all", "--algorithm",
                                      "direct", "--size", "9KB"});
  const auto done = execute(3, {file, "--type", "bf16", "--elements", "5", "--json"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  // 3 ranks must hold 3 of 9 chunks of 5 elements.
  EXPECT_THAT(done.out, HasSubstr("\"compared_elements\":45,\"wrong_elements\":0"));
}

TEST(Execute, RefusesAnotherNumberOfRanksOnce) {
  const TemporaryFolder folder;
  const auto file =
      schedule(folder, {"simulate", "--topology", "RI(4)", "--collective", "all_gather", "--size", "4KB"});
  const auto done = execute(2, {file});
  EXPECT_NE(done.exit_code, 0);
  EXPECT_THAT(done.err, HasSubstr("the schedule is for 4 NPUs, and there are 2 ranks"));
  EXPECT_THAT(done.err, HasSubstr("mpirun -n 4 tenex execute"));
  EXPECT_EQ(done.err.find("the schedule is for"), done.err.rfind("the schedule is for"));
}

TEST(Execute, SaysOnceThatAMessageIsBeyondWhatMpiCounts) {
  const TemporaryFolder folder;
  const auto file =
      schedule(folder, {"simulate", "--topology", "RI(3)", "--collective", "all_gather", "--size", "3KB"});
  // 3 chunks of 2^30 elements of 4 bytes.
  const auto done = execute(3, {file, "--elements", "1073741824"});
  EXPECT_NE(done.exit_code, 0);
  EXPECT_THAT(done.err, HasSubstr("messages beyond 2 GiB"));
  EXPECT_EQ(done.err.find("messages beyond 2 GiB"), done.err.rfind("messages beyond 2 GiB"));
}

}  // namespace
}  // namespace tenex
