// tenex accepts every study of experiments/; without solvers it refuses those that need one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tenex/base/diagnostic.hpp"
#include "tenex/evaluate/evaluate.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Experiments, AreStudiesThatAreAccepted) {
  const Vocabulary words = vocabulary();
  const bool has_solvers = find_synthesizer("te_ccl") != nullptr;
  std::size_t studies = 0;
  for (const auto& folder : std::filesystem::directory_iterator(TENEX_SOURCE_DIR "/experiments")) {
    const auto path = folder.path() / "study.toml";
    if (!std::filesystem::exists(path)) continue;
    ++studies;
    const auto study = read_study(path, words);
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
