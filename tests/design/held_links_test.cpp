// The warning of studies whose switches of several tiers cut through.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "design/design_support.hpp"

namespace tenex {
namespace {

std::vector<std::string> warnings_of(const std::string& lines) {
  const auto study = parse_study(
      "schema = 1\nname = \"s\"\n[[sweep]]\nalpha = \"1us\"\nbandwidth = \"50GB/s\"\ncollective = \"all_gather\"\n"
      "size = \"1GiB\"\nalgorithm = \"ring\"\n" +
          lines,
      "study.toml", test_words());
  EXPECT_EQ(messages_of(study), "");
  return study ? study->warnings : std::vector<std::string>();
}

TEST(HeldLinks, AreWarnedOfWhereSwitchesOfSeveralTiersCutThrough) {
  const std::string cuts = "forwarding = \"cut_through\"\n";
  EXPECT_THAT(
      warnings_of("topology = \"leaf_spine(2,4,2)\"\n" + cuts),
      testing::ElementsAre(
          "study.toml:3:1: the switches of leaf_spine(2,4,2) in sweep 1 cut through several tiers (a send holds "
          "every link of its path until it has passed, so that messages wait for one another; real switches "
          "have buffers) take forwarding = \"virtual_cut_through\" there, or compare both"));
  EXPECT_THAT(warnings_of("axes.topology = [\"SW(8)\", \"SW(8,2:2)\"]\n" + cuts),
              testing::ElementsAre(testing::HasSubstr("the switches of SW(8,2:2) in sweep 1 ")));
  EXPECT_THAT(warnings_of("topology = \"SW(2)_SW(4)\"\n" + cuts), testing::IsEmpty()) << "an NPU lies between switches";
  EXPECT_THAT(warnings_of("topology = \"dragonfly(2,3)\"\n" + cuts), testing::IsEmpty()) << "no switches";
  EXPECT_THAT(warnings_of("topology = \"leaf_spine(2,4,2)\"\n"), testing::IsEmpty());
  EXPECT_THAT(warnings_of("topology = \"leaf_spine(2,4,2)\"\naxes.forwarding = [\"as_built\", \"cut_through\"]\n"),
              testing::IsEmpty())
      << "both are compared";
}

}  // namespace
}  // namespace tenex
