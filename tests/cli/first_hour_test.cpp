// What a new user types: other spellings of options, misspelt ones, and the messages that follow.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/process.hpp"

namespace tenex {
namespace {

using support::Finished;
using ::testing::HasSubstr;
using ::testing::Not;

Finished tenex(std::vector<std::string> words) {
  words.insert(words.begin(), TENEX_BINARY);
  return support::run({words, {}, {}});
}

/// The last 32 digits of a report in JSON that a key ends.
std::string key_in(const std::string& json) {
  const auto at = json.find("\"key\":\"");
  return at == std::string::npos ? json : json.substr(at + 7, 32);
}

Finished optimize(std::vector<std::string> degrees) {
  std::vector<std::string> words{"optimize", "--workload",        "gpt3",     "--topology", "RI(4)_FC(8)_RI(4)_SW(32)",
                                 "--json",   "--total-bandwidth", "1000GB/s", "--compute",  "234TFLOPS"};
  words.insert(words.end(), degrees.begin(), degrees.end());
  return tenex(words);
}

TEST(Degrees, AreAnotherSpellingOfHp) {
  EXPECT_EQ(key_in(optimize({"--tp", "16", "--dp", "256"}).out), key_in(optimize({"--hp", "16,256"}).out));
  EXPECT_EQ(key_in(optimize({"--tp", "8", "--dp", "128", "--pp", "4"}).out), key_in(optimize({"--hp", "8,128,4"}).out));
  const auto both = optimize({"--tp", "16", "--dp", "256", "--hp", "16,256"});
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_THAT(both.err, HasSubstr("\"hp\" is given twice"));
  EXPECT_EQ(optimize({"--tp", "0"}).exit_code, 2);
}

TEST(Messages, NameTheNearestOption) {
  const auto finished = tenex({"simulate", "--topology", "RI(4)", "--alpah", "1us", "--bandwidht", "1GB/s"});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err,
              HasSubstr("tenex simulate: error: unknown option \"--alpah\"\n  help: did you mean \"--alpha\"?\n"));
  EXPECT_THAT(finished.err, HasSubstr("did you mean \"--bandwidth\"?"));
}

TEST(Messages, OfAnUnknownOptionThatIsNearNothingNameTheHelp) {
  const auto finished = tenex({"plan", "study.toml", "--frobnicate"});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_EQ(finished.err,
            "tenex plan: error: unknown option \"--frobnicate\"\n  help: `tenex plan --help` shows the options\n");
}

TEST(Messages, HaveNoColoursInAFile) {
  const auto finished = tenex({"simulate", "--topology", "dgx3", "--collective", "all_gather", "--size", "1MB"});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, HasSubstr("--topology: error: unknown topology \"dgx3\"\n"));
  EXPECT_THAT(finished.err, HasSubstr("  help: did you mean \"dgx1\"?\n"));
  EXPECT_THAT(finished.err, Not(HasSubstr("\x1b")));
}

TEST(List, HasTheBuiltInMachines) {
  const auto finished = tenex({"list", "machines"});
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_THAT(finished.out, HasSubstr("dgx1"));
  EXPECT_THAT(finished.out, HasSubstr("DGX1: 8 NPUs"));
}

}  // namespace
}  // namespace tenex
