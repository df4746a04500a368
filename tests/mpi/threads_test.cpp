// Evaluations in several threads: every engine that opens an OpenMP region, and two ranks of two threads each. Results
// do not depend on the threads; ThreadSanitizer also checks for races.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "support/process.hpp"
#include "support/results.hpp"

namespace tenex {
namespace {

using support::TemporaryFolder;
using ::testing::HasSubstr;
using CommandWords = std::vector<std::string>;

support::Finished run_words(CommandWords words) {
  words.insert(words.begin(), TENEX_BINARY);
  auto finished = support::run({std::move(words), {{"OMP_NUM_THREADS", "2"}}, {}});
  EXPECT_EQ(finished.status(), 0) << finished.out << finished.err;
  return finished;
}

/// The text that follows `"key":"` in one JSON object.
std::string text_of(const std::string& json, const std::string& key) {
  const auto begin = json.find("\"" + key + "\":\"");
  if (begin == std::string::npos) return "no " + key;
  const auto from = begin + key.size() + 4;
  return json.substr(from, json.find('"', from) - from);
}

struct Case {
  std::string name;
  CommandWords words;
};

void PrintTo(const Case& engine, std::ostream* out) { *out << engine.name; }

class EveryEngine : public ::testing::TestWithParam<Case> {};

TEST_P(EveryEngine, MakesVerifiesAndReplaysTheSameScheduleInTwoThreads) {
  const TemporaryFolder folder;
  std::vector<std::string> hashes;
  const auto file = (folder.path() / "schedule.h5").string();
  for (const std::string threads : {"1", "2"}) {
    CommandWords words = {"synthesize", "--algorithm", "tacos", "--alpha", "0.5us", "--size", "1MiB",
                          "--json",     "--threads",   threads, "--seed",  "3",     "--out",  file};
    words.insert(words.end(), GetParam().words.begin(), GetParam().words.end());
    const auto made = run_words(words);
    EXPECT_THAT(made.out, HasSubstr("\"verified\":true"));
    hashes.push_back(text_of(made.out, "schedule_hash"));
  }
  EXPECT_EQ(hashes[0], hashes[1]);
  EXPECT_EQ(hashes[0].find("no "), std::string::npos);
  run_words({"verify", file, "--threads", "2"});
  run_words({"simulate", "--schedule", file, "--threads", "2"});
}

CommandWords words_for(const std::string& topology, const std::string& bandwidth, const std::string& collective,
                       const std::string& engine) {
  return {"--topology", topology, "--bandwidth", bandwidth, "--collective", collective, "--engine", engine};
}

INSTANTIATE_TEST_SUITE_P(
    Threads, EveryEngine,
    ::testing::Values(Case{"event_driven",
                           [] {
                             auto words = words_for("mesh(3,3)", "50GB/s", "all_gather", "event_driven");
                             words.insert(words.end(), {"--attempts", "4"});
                             return words;
                           }()},
                      Case{"steps", words_for("mesh(7,6)", "50GB/s", "all_gather", "exact")},
                      Case{"steps_reduced", words_for("torus(4,4)", "50GB/s", "all_reduce", "exact")},
                      Case{"levels", words_for("mesh(5,4)", "50GB/s,25GB/s", "all_gather", "exact")},
                      Case{"coarse", words_for("mesh(10,10)", "50GB/s", "all_gather", "coarse")},
                      Case{"coarse_reduced", words_for("mesh(8,8)", "50GB/s", "all_reduce", "coarse")},
                      Case{"symmetric", words_for("torus(4,4)", "50GB/s", "reduce_scatter", "symmetric")}),
    [](const ::testing::TestParamInfo<Case>& info) { return info.param.name; });

// Points of every kind: textbook, synthesized (some get both threads), over a switch, trained.
constexpr auto mixed_study = R"TOML(schema = 1
name = "mixed"
seed = 7
[defaults]
alpha = "0.5us"
bandwidth = "50GB/s"
size = "1MiB"
[[sweep]]
axes.topology = ["mesh(3,3)", "torus(3,3)", "RI(3)_SW(3)"]
axes.collective = ["all_gather", "all_reduce"]
axes.algorithm = ["ring", "direct", "tacos"]
axes.chunks = [1, 2]
[[sweep]]
topology = "mesh(6,6)"
collective = "all_reduce"
axes.size = ["1MiB", "2MiB", "4MiB"]
algorithm = "tacos"
)TOML";

TEST(Threads, OfTwoRanksGiveTheRowsOfOneThread) {
  const TemporaryFolder folder;
  const auto study = folder.path() / "study.toml";
  support::write_text(study, mixed_study);
  const auto run_into = [&](const std::string& out) {
    return CommandWords{TENEX_BINARY, "run", study.string(), "--out", (folder.path() / out).string(), "--quiet"};
  };
  const auto alone = support::run({run_into("alone"), {{"OMP_NUM_THREADS", "1"}}, {}});
  ASSERT_EQ(alone.status(), 0) << alone.err;
  const auto job = support::run(support::mpirun(2, run_into("job"), 2));
  ASSERT_EQ(job.status(), 0) << job.err;
  support::expect_same_rows(folder.path() / "alone" / "study.h5", folder.path() / "job" / "study.h5");
}

}  // namespace
}  // namespace tenex
