// tenex accepts every study of experiments/.
#include <gtest/gtest.h>

#include <filesystem>

#include "tenex/evaluate/evaluate.hpp"

namespace tenex {
namespace {

TEST(Experiments, AreStudiesThatAreAccepted) {
  const Vocabulary words = vocabulary();
  std::size_t studies = 0;
  for (const auto& folder : std::filesystem::directory_iterator(TENEX_SOURCE_DIR "/experiments")) {
    const auto path = folder.path() / "study.toml";
    if (!std::filesystem::exists(path)) continue;
    ++studies;
    const auto study = read_study(path, words);
    EXPECT_TRUE(study.ok()) << to_string(study.errors());
  }
  EXPECT_GE(studies, 17U);
}

}  // namespace
}  // namespace tenex
