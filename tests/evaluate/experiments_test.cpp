// tenex accepts every study of experiments/; without solvers it refuses those that need one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "support/draws.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/evaluate/evaluate.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// The study of a million points takes seconds. With 2 of its 20 bandwidths it has all the same words.
Result<Study> parse_million(const std::filesystem::path& path, const Vocabulary& words) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  auto fewer = text.str();
  const std::string_view step = "step = \"100GB/s\"";
  const auto place = fewer.find(step);
  EXPECT_NE(place, std::string::npos);
  if (place != std::string::npos) fewer.replace(place, step.size(), "step = \"1900GB/s\"");
  return parse_study(fewer, path.string(), words);
}

TEST(Experiments, AreStudiesThatAreAccepted) {
  const Vocabulary words = vocabulary();
  const bool has_solvers = find_synthesizer("te_ccl") != nullptr;
  std::size_t studies = 0;
  for (const auto& folder : std::filesystem::directory_iterator(TENEX_SOURCE_DIR "/experiments")) {
    const auto path = folder.path() / "study.toml";
    if (!std::filesystem::exists(path)) continue;
    ++studies;
    const bool million = folder.path().filename() == "million";
    const auto study = million && !support::long_run() ? parse_million(path, words) : read_study(path, words);
    if (study.ok() || has_solvers) {
      EXPECT_TRUE(study.ok()) << to_string(study.errors());
      continue;
    }
    // A build without solvers refuses what asks for one, with the packages, and nothing else.
    for (const Diagnostic& error : study.errors()) {
      EXPECT_EQ(error.fault, Fault::unsupported) << to_string(error);
      EXPECT_THAT(error.problem, StartsWith("this tenex has no algorithm")) << to_string(error);
      EXPECT_THAT(error.suggestion, HasSubstr("coinor-libclp-dev coinor-libcbc-dev libz3-dev")) << to_string(error);
    }
  }
  EXPECT_GE(studies, 17U);
}

}  // namespace
}  // namespace tenex
