// Refused studies and their messages: the catalogue in refusals.txt, all mistakes at once, and the limit on
// contradictions.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <fstream>
#include <ostream>
#include <sstream>

#include "design/design_support.hpp"
#include "tenex/base/message.hpp"

namespace tenex {

namespace {

struct Refusal {
  std::string name;
  std::string study;
  std::string messages;
};

void PrintTo(const Refusal& refusal, std::ostream* stream) { *stream << refusal.name; }

std::vector<Refusal> read_catalogue() {
  std::ifstream stream(std::string(TENEX_SOURCE_DIR) + "/tests/design/refusals.txt");
  std::vector<Refusal> catalogue;
  bool in_study = false;
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("=== ")) {
      catalogue.push_back({line.substr(4), "", ""});
      in_study = true;
    } else if (line == "---") {
      in_study = false;
    } else if (!catalogue.empty() && in_study) {
      catalogue.back().study += line == "..." ? base_study() : line + '\n';
    } else if (!catalogue.empty()) {
      catalogue.back().messages += (catalogue.back().messages.empty() ? "" : "\n") + line;
    }
  }
  return catalogue;
}

class RefusedStudy : public testing::TestWithParam<Refusal> {};

TEST_P(RefusedStudy, IsToldWhereAndWhy) {
  const auto study = parse_study(GetParam().study, "study.toml", test_words());
  ASSERT_FALSE(study.ok());
  EXPECT_EQ(render(study.errors()), GetParam().messages + "\n");
}

TEST(Refusals, TellPlaceAndHelpOfMostMistakes) {
  std::size_t helped = 0;
  for (const Refusal& refusal : read_catalogue()) {
    EXPECT_THAT(refusal.messages, testing::HasSubstr(": error: ")) << refusal.name;
    helped += refusal.messages.find("\n  help: ") != std::string::npos ? 1 : 0;
  }
  EXPECT_GE(helped, 50U);
}

INSTANTIATE_TEST_SUITE_P(Catalogue, RefusedStudy, testing::ValuesIn(read_catalogue()),
                         [](const testing::TestParamInfo<Refusal>& each) { return each.param.name; });

TEST(Refusals, SuggestedKeepConditionsWork) {
  // Adds every `keep = "..."` that a message of the catalogue suggests to the study of that message.
  const std::string before = "leave such rows out with keep = \"";
  std::size_t tried = 0;
  for (const Refusal& refusal : read_catalogue()) {
    const std::size_t at = refusal.messages.find(before);
    if (at == std::string::npos) continue;
    const std::string condition =
        refusal.messages.substr(at + before.size(), refusal.messages.rfind('"') - at - before.size());
    const auto study = parse_study(refusal.study + "keep = \"" + condition + "\"\n", "study.toml", test_words());
    EXPECT_EQ(messages_of(study), "") << refusal.name;
    ++tried;
  }
  EXPECT_GE(tried, 5U);
}

TEST(Refusals, CatalogueIsFound) { EXPECT_GE(read_catalogue().size(), 80U); }

TEST(Refusals, BaseStudyIsGood) { EXPECT_EQ(messages_of(study_with("")), ""); }

TEST(Refusals, AllMistakesAreToldAtOnceInTheOrderOfTheirPlaces) {
  // A word of a later version (6), a unit (8), an unknown collective inside an axis (9), a contradiction of the good
  // rows of the same axis (7: 4 NPUs * 1 chunk > 2 B), and an output (11).
  const auto study = parse_study(R"toml(schema = 1
name = "s"
[[sweep]]
topology = "RI(4)"
algorithm = "ring"
cost = "low"
size = "2B"
alpha = "1us"
axes.collective = ["all_gather", "all_gatherr"]
bandwidth = "1GB/s"
outputs = { store = [] }
[outputs]
store = ["links"]
)toml",
                                 "study.toml", test_words());
  ASSERT_FALSE(study.ok());
  std::vector<std::uint32_t> lines;
  for (const Diagnostic& error : study.errors()) lines.push_back(error.place.line);
  EXPECT_THAT(lines, testing::ElementsAre(6, 7, 9, 11, 13));
}

TEST(Refusals, PageExampleIsRefusedForFaultsThatDoNotFitItsOtherAxes) {
  // The example of the format's page: all its words are known, but one of its faults fits neither one of its networks
  // nor one of its groups.
  const auto study = parse_study(R"toml(schema = 1
name = "degraded-256"
seed = [1, 2]

[defaults]
alpha = "0.5us"
occupancy = "transfer"
attempts = 8

[[sweep]]
name = "collectives"
axes.collective = ["all_gather", "all_reduce"]
axes.size = { from = "1KiB", to = "1GiB", factor = 32 }
axes.chunks = { from = 1, to = 3, step = 1 }
axes.algorithm = ["tacos", "pccl", "ring"]
axes.groups = ["all", "0-127; 128-255"]
axes.faults = ["none", "links 1% draw 1..3", "link 3->4, npu 17"]
zip.topology  = ["torus(16,16)", "RI(4)_FC(8)_SW(8)"]
zip.bandwidth = ["50GB/s", "200GB/s, 100GB/s, 25GB/s"]
keep = ["chunks = 1 or size >= 1MiB", "algorithm != ring or groups = all"]

[[sweep]]
name = "training"
topology = "RI(4)_FC(8)_SW(8)"
workload = "gpt3"
collective_time = "libra"
constraints = ["B1 + B2 + B3 = 500GB/s", "B1 >= B2 >= B3"]
axes.hp = ["16,16", "32,8"]
axes.scheme = ["equal", "perf_opt"]

[outputs]
store = ["group_times", "link_bytes"]
schedule = "algorithm = tacos and size = 1GiB"
)toml",
                                 "study.toml", test_words());
  ASSERT_FALSE(study.ok());
  // 17:47: RI(4)_FC(8)_SW(8) has no link from 3 to 4. 17:58: NPU 17 is in the group 0-127. The rest is accepted.
  std::vector<std::string> found;
  for (const Diagnostic& error : study.errors())
    found.push_back(fmt::format("{}:{} {}", error.place.line, error.place.column, error.problem));
  EXPECT_THAT(found, testing::UnorderedElementsAre("17:47 no link leads from 3 to 4 in \"RI(4)_FC(8)_SW(8)\"",
                                                   "17:58 the failed NPU 17 is in a process group"));
}

TEST(Refusals, OnlyTheFirstTenContradictionsAreShown) {
  // Sizes 1 B to 30 B with 31 chunks on 4 NPUs: all 30 rows are below 124 B.
  const auto study = study_with("chunks = 31\naxes.size = { from = \"1B\", to = \"30B\", step = \"1B\" }\n");
  ASSERT_FALSE(study.ok());
  EXPECT_EQ(study.errors().size(), 11U);
  EXPECT_EQ(to_string(study.errors().back()), "study.toml: ... and 20 more contradictions (only the first are shown)");
}

TEST(Refusals, SameContradictionOfManyRowsIsToldOnce) {
  const auto study = study_with("axes.chunks = [1, 2]\naxes.attempts = [1, 2, 3]\nunwind = 2\n");
  EXPECT_EQ(
      messages_of(study),
      "study.toml:13:10: unwind = 2 without a switch (\"RI(4)\" has none) write unwind = 0, or leave such rows out "
      "with keep = \"unwind = 0 or topology != 'RI(4)'\"");
}

TEST(Refusals, ContradictionsThatKeepRemovesAreNone) {
  const auto study =
      study_with("axes.size = [\"4B\", \"1MiB\"]\naxes.chunks = [1, 2]\nkeep = \"size >= 8B or chunks < 2\"");
  ASSERT_EQ(messages_of(study), "");
  EXPECT_EQ(study->points.size(), 3U);  // of 4 rows, 4 B with 2 chunks is left out
}

TEST(Refusals, UnreadableStudyIsAnEnvironmentError) {
  const auto study = read_study("/no/such/study.toml", test_words());
  ASSERT_FALSE(study.ok());
  EXPECT_EQ(study.errors().front().fault, Fault::environment);
  EXPECT_EQ(messages_of(study),
            "cannot read \"/no/such/study.toml\" (No such file or directory) "
            "give the path of a study (.toml); `tenex init` prints one to begin with");
}

}  // namespace

}  // namespace tenex
