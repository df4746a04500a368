// `tenex fit` and `tenex predict`: a log to a machine, and back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/process.hpp"

namespace tenex {
namespace {

using support::TemporaryFolder;
using ::testing::HasSubstr;

/// All-Reduce on 4 ranks at 10 GB/s, 100 us and 6 steps of 10 us: 160 us + 1.5 S / 10 GB/s.
std::string log_text() {
  std::string text = "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n";
  for (std::int64_t size = 1 << 20; size <= 1 << 28; size *= 2) {
    const double us = 160 + 1.5 * static_cast<double>(size) / 1e4;
    const double algbw = static_cast<double>(size) / us / 1e3;
    std::string half =
        " " + std::to_string(us) + " " + std::to_string(algbw) + " " + std::to_string(1.5 * algbw) + " 0";
    text += std::to_string(size) + " " + std::to_string(size / 4) + " float sum -1" + half + half + "\n";
  }
  return text + "2048 512 float sum -1 13.0\n";
}

class FitCommand : public ::testing::Test {
 protected:
  FitCommand() { support::write_text(folder.path() / "a.log", log_text()); }
  [[nodiscard]] std::string file(const char* name) const { return (folder.path() / name).string(); }
  static support::Finished tenex(std::vector<std::string> words) {
    words.insert(words.begin(), TENEX_BINARY);
    return support::run({words, {}, {}});
  }
  TemporaryFolder folder;
};

TEST_F(FitCommand, WritesAMachineThatPredictsTheLog) {
  const auto done = tenex({"fit", file("a.log"), "--overhead", "100us", "-o", file("m.toml"), "--points"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("all_reduce, 4 ranks, ring"));
  EXPECT_THAT(done.out, HasSubstr("10GB/s"));
  EXPECT_THAT(done.err, HasSubstr("a torn row"));
  EXPECT_THAT(support::read_text(folder.path() / "m.toml"), HasSubstr("alpha = \"5us\""));
  const auto predicted = tenex({"predict", file("m.toml"), file("a.log"), "--overhead", "100us", "--channels", "1"});
  ASSERT_EQ(predicted.exit_code, 0) << predicted.err;
  EXPECT_THAT(predicted.out, HasSubstr("median difference 0.0 %"));
}

TEST_F(FitCommand, JsonHasTheSameNumbers) {
  const auto done = tenex({"fit", file("a.log"), "--overhead", "100us", "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  for (const auto* const key : {"\"tables\"", "\"pieces\"", "\"numbers\"", "\"left_out\"", "\"skipped\"", "a torn row"})
    EXPECT_THAT(done.out, HasSubstr(key));
  const auto predicted = tenex({"predict", "dgx_h100", file("a.log"), "--json"});
  EXPECT_EQ(predicted.exit_code, 2);
  EXPECT_THAT(predicted.err, HasSubstr("the machine has 8 NPUs"));
}

TEST_F(FitCommand, SaysWhatIsWrong) {
  EXPECT_THAT(tenex({"fit", file("none.log")}).err, HasSubstr("none.log"));
  support::write_text(folder.path() / "b.log", "nothing\n");
  const auto refused = tenex({"fit", file("b.log"), "--collective", "all_reduse"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("did you mean \"all_reduce\""));
  EXPECT_EQ(tenex({"fit", file("a.log"), "--machine", "dgx_h100", "--overhead", "1us"}).exit_code, 2);
}

TEST_F(FitCommand, AStudyBecomesATunerTableThatItsReaderTakes) {
  constexpr auto study = R"(schema = 1
name = "box"
[[sweep]]
topology = "dgx_h100"
axes.collective = ["all_reduce", "all_gather"]
axes.size = ["1KiB", "1MiB", "1GiB"]
axes.algorithm = ["rings", "dbt", "auto"]
keep = "collective == 'all_reduce' or algorithm != 'dbt'"
)";
  support::write_text(folder.path() / "s.toml", study);
  const auto ran = tenex({"run", file("s.toml"), "--out", file("r"), "--quiet"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const std::vector<std::string> words{"export", file("r"), "--format", "tuner", "-o", file("t.csv"), "--for", "nccl"};
  EXPECT_THAT(tenex(words).err, HasSubstr("--channels"));
  auto whole = words;
  whole.insert(whole.end(), {"--channels", "16"});
  const auto done = tenex(whole);
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("what is left"));
  const auto verified = tenex({"verify", file("t.csv"), "--for", "nccl"});
  EXPECT_EQ(verified.exit_code, 0) << verified.err;
  EXPECT_THAT(verified.out, HasSubstr("each does what it says"));
  EXPECT_THAT(tenex({"verify", file("t.csv")}).err, HasSubstr("--for nccl"));
  support::write_text(folder.path() / "bad.csv", "allreduce,0,100,rings,simple,-1,-1,-1\n");
  const auto bad = tenex({"verify", file("bad.csv"), "--for", "nccl", "--json"});
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_THAT(bad.out, HasSubstr("\"verified\":false"));
}

}  // namespace
}  // namespace tenex
