// tenex bound --check: what --json printed is confirmed, and files that say something else are not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "support/process.hpp"

namespace tenex {
namespace {

using support::Finished;
using support::TemporaryFolder;
using ::testing::HasSubstr;

/// mesh(3,3) with chunks of 1000 B at 1 GB/s: 1 us per chunk and link.
std::vector<std::string> bound(const std::string& topology, const std::string& collective) {
  return {TENEX_BINARY,  "bound", "--topology",   topology,   "--alpha", "0ns",
          "--bandwidth", "1GB/s", "--collective", collective, "--size",  "9000B"};
}

class BoundCheck : public ::testing::Test {
 protected:
  /// What `tenex bound --json` prints.
  static std::string printed(const std::string& collective) {
    auto words = bound("mesh(3,3)", collective);
    words.emplace_back("--json");
    return support::run({words, {}, {}}).out;
  }

  Finished check(const std::string& text, const std::string& collective, const std::string& topology = "mesh(3,3)",
                 const std::vector<std::string>& options = {}) const {
    const auto file = folder_.path() / "bounds.json";
    support::write_text(file, text);
    auto words = bound(topology, collective);
    words.insert(words.end(), {"--check", file.string()});
    words.insert(words.end(), options.begin(), options.end());
    return support::run({words, {}, {}});
  }

  /// The text with the first `from` replaced.
  static std::string with(std::string text, const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from << " in " << text;
    return at == std::string::npos ? text : text.replace(at, from.size(), to);
  }

  /// The check refuses the text with one line that says so.
  void expect_refused(const std::string& text, const std::string& collective, const std::string& why) const {
    const auto finished = check(text, collective);
    EXPECT_EQ(finished.exit_code, 2) << finished.out << finished.err;
    EXPECT_THAT(finished.err, HasSubstr(why));
    EXPECT_EQ(finished.out, "");
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(BoundCheck, ConfirmsWhatWasPrinted) {
  for (const auto* collective : {"all_gather", "reduce_scatter", "all_reduce", "all_to_all"}) {
    const auto finished = check(printed(collective), collective, "mesh(3,3)", {"--json"});
    EXPECT_EQ(finished.exit_code, 0) << collective << finished.out << finished.err;
    EXPECT_THAT(finished.out, HasSubstr(R"({"schema":2,"checked":[{"name":"ejection","time_ps":)"));
    EXPECT_THAT(finished.out, HasSubstr(R"("confirmed":true)"));
    EXPECT_THAT(finished.out, ::testing::Not(HasSubstr("false")));
  }
  const auto text = check(printed("all_gather"), "all_gather");
  EXPECT_THAT(text.out, HasSubstr("name=cut time_ps=4000000 (4us) confirmed=true"));
}

TEST_F(BoundCheck, TellsOfACertificateThatProvesAnotherTime) {
  // The 8 chunks for NPU 0 take 4 steps on its 2 in-links. NPUs 2 to 8 have 7 chunks for NPUs 0 and 1, which the links
  // 3-0, 2-1 and 4-1 enter: 3 steps.
  const auto less = check(with(printed("all_gather"), R"("inside":"1-8")", R"("inside":"2-8")"), "all_gather");
  EXPECT_EQ(less.exit_code, 1);
  EXPECT_THAT(less.out, HasSubstr("name=cut time_ps=4000000 (4us) confirmed=false proven_ps=3000000"));
  // One link weighs 100, its opposite one, so that no tree weighs more: 2 * 9 * 8 crossings on weights of 123 in all
  // take 2 steps.
  const auto weights = with(printed("all_reduce"), R"("link_weights":"1x24")", R"("link_weights":"100x1,1x23")");
  const auto changed = check(weights, "all_reduce");
  EXPECT_EQ(changed.exit_code, 1) << changed.err;
  EXPECT_THAT(changed.out, HasSubstr("name=strength time_ps=6000000 (6us) confirmed=false proven_ps=2000000"));
  // No weights at all prove nothing.
  const auto none = check(with(printed("all_reduce"), R"("link_weights":"1x24")", R"("other":1)"), "all_reduce");
  EXPECT_EQ(none.exit_code, 1) << none.err;
  EXPECT_THAT(none.out, HasSubstr("confirmed=false proven_ps=0"));
}

TEST_F(BoundCheck, TellsOfAChangedTime) {
  const std::string time = R"("name":"cut","time_ps":4000000)";
  const auto less = check(with(printed("all_gather"), time, R"("name":"cut","time_ps":3999999)"), "all_gather");
  EXPECT_EQ(less.exit_code, 1);
  EXPECT_THAT(less.out, HasSubstr("time_ps=3999999 (4us) confirmed=false proven_ps=4000000"));
  auto more = with(printed("all_gather"), time, R"("name":"cut","time_ps":5000000)");
  more = with(more, R"("bound_ps":4000000)", R"("bound_ps":5000000)");
  EXPECT_EQ(check(more, "all_gather").exit_code, 1);
  // A bound without a certificate is computed anew.
  const auto cheap =
      with(printed("all_gather"), R"("name":"ejection","time_ps":4000000)", R"("name":"ejection","time_ps":4)");
  EXPECT_THAT(check(cheap, "all_gather").out, HasSubstr("name=ejection time_ps=4 (4ps) confirmed=false"));
  // The file belongs to another collective.
  EXPECT_EQ(check(printed("all_gather"), "all_reduce").exit_code, 1);
}

TEST_F(BoundCheck, RefusesAnotherNetwork) {
  const auto finished = check(printed("all_gather"), "all_gather", "RI(9)");
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, HasSubstr("these are bounds of another network\n"));
  EXPECT_THAT(finished.err, HasSubstr("its NPUs, switches and links are 9, 0 and 24, and the point's 9, 0 and 18\n"));
  EXPECT_THAT(finished.err, HasSubstr("give the options"));
}

TEST_F(BoundCheck, RefusesWhatIsNoSuchFile) {
  const auto gather = printed("all_gather");
  const auto reduce = printed("all_reduce");
  const std::string inside = R"("inside":"1-8")";
  const std::string weights = R"("link_weights":"1x24")";
  for (const std::size_t length : {std::size_t{0}, std::size_t{1}, gather.size() / 2, gather.size() - 3})
    expect_refused(gather.substr(0, length), "all_gather", "this is not what `tenex bound --json` prints");
  for (const auto* text : {"[]", "7", "null", "{}", R"({"schema":2})", "\x80\xff"})
    expect_refused(text, "all_gather", "this is not what `tenex bound --json` prints");
  expect_refused(with(gather, R"("schema":2)", R"("schema":3)"), "all_gather", "its schema is 3");
  expect_refused(with(gather, R"("npus":9)", R"("npus":"9")"), "all_gather", "it lacks one of \"npus\"");
  expect_refused(with(gather, R"("npus":9)", R"("npus":18446744073709551615)"), "all_gather", "63 bits");
  for (const auto* ids :
       {"", "1-9", "9", "8-1", "1,1", "1-3,3", "-1", "1-", "1-99999999999", "a", "1,,2", "0-4294967295"})
    expect_refused(with(gather, inside, std::string(R"("inside":")") + ids + '"'), "all_gather", "\"inside\" is not");
  for (const auto* runs : {"", "1", "1x23", "1x25", "1x18446744073709551615,1x25", "4294967296x24", "-1x24", "1x0,1x24",
                           "1x24,", "x", "1.5x24", "1x400000000000"})
    expect_refused(with(reduce, weights, std::string(R"("link_weights":")") + runs + '"'), "all_reduce",
                   "\"link_weights\" is not runs");
  expect_refused(with(reduce, weights, R"("link_weights":[1,2.5])"), "all_reduce", "where integers stand");
  expect_refused(with(gather, R"("name":"cut")", R"("name":"cat")"), "all_gather", "\"cat\" is no bound");
  expect_refused(with(gather, R"("name":"cut")", R"("name":"ejection")"), "all_gather", "it names a bound twice");
  expect_refused(with(gather, "\"certificate\"", "\"certificates\""), "all_gather", "the bound cut has no certificate");
  expect_refused(with(gather, R"("bound_ps":4000000)", R"("bound_ps":9)"), "all_gather", "is not the largest time");
}

TEST_F(BoundCheck, RefusesLargeAndDeepFilesInLittleMemory) {
  expect_refused(std::string(1 << 20, '['), "all_gather", "those of this network have at most");
  expect_refused(std::string(60'000, '['), "all_gather", "this is not what");
  std::string deep;
  for (int i = 0; i < 5000; ++i) deep += "{\"a\":";
  expect_refused(deep + "1" + std::string(5000, '}'), "all_gather", "deeper than any report");
  const auto missing = support::run({{TENEX_BINARY, "bound", "--topology", "mesh(3,3)", "--alpha", "0ns", "--bandwidth",
                                      "1GB/s", "--collective", "all_gather", "--size", "9000B", "--check", "/no/such"},
                                     {},
                                     {}});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.err, HasSubstr("/no/such"));
}

TEST_F(BoundCheck, TakesTheLargestWeights) {
  // All weights alike prove what weights of one do: sums of the largest do not overflow.
  const auto largest = with(printed("all_reduce"), R"("link_weights":"1x24")", R"("link_weights":"4294967295x24")");
  EXPECT_EQ(check(largest, "all_reduce").exit_code, 0);
}

}  // namespace
}  // namespace tenex
