// Lists of conditions and matrices: their texts, their files, and what is wrong with others.
#include "tenex/files/demand.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace tenex {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class T>
std::string demand_message(const Result<T>& result) {
  return result ? "accepted" : to_string(result.errors());
}

TEST(Conditions, AreReadFromText) {
  const auto list = parse_conditions("0 -> 1,2-4 , 6 4MiB;5->6; 7 -> 0 , 1", {}).value();
  ASSERT_EQ(list.conditions().size(), 3U);
  EXPECT_EQ(list.conditions()[0].source, 0U);
  EXPECT_THAT(list.conditions()[0].destinations, ElementsAre(1, 2, 3, 4, 6));
  EXPECT_EQ(list.conditions()[0].size, mebibytes(4));
  EXPECT_EQ(list.conditions()[1].size, std::nullopt);
  EXPECT_THAT(list.conditions()[2].destinations, ElementsAre(0, 1));
  EXPECT_EQ(list.text(), "0>1,2,3,4,6 4194304;5>6;7>0,1");
}

TEST(Conditions, OfTextAndFilesAreEqual) {
  const auto text = parse_conditions("0 -> 1,2,3 4MiB; 5 -> 6", {}).value();
  EXPECT_EQ(read_conditions("source,destinations,size\n# by hand\n0,1 2-3,4MiB\n\n5,6\n", "c.csv").value(), text);
  EXPECT_EQ(read_conditions("[[condition]]\nsource = 0\ndestinations = [1, 2, 3]\nsize = \"4MiB\"\n"
                            "[[condition]]\nsource = 5\ndestinations = [6]\n",
                            "c.toml")
                .value(),
            text);
}

TEST(Conditions, InAnyOrderOfSourcesAndDestinationsAreEqual) {
  EXPECT_EQ(parse_conditions("5 -> 6; 0 -> 3,1-2", {}).value(), parse_conditions("0 -> 1,2,3; 5 -> 6", {}).value());
  // Chunks of one source are numbered in the order of its conditions.
  EXPECT_NE(parse_conditions("0 -> 1; 0 -> 2", {}).value(), parse_conditions("0 -> 2; 0 -> 1", {}).value());
}

TEST(Conditions, MistakesInFilesAreToldAtTheirLines) {
  const auto csv = demand_message(read_conditions("source,destinations\n0,1\n1,x\n2\n3,4,5MX\n", "c.csv"));
  EXPECT_THAT(csv, HasSubstr("c.csv:3:1: \"x\" is not understood"));
  EXPECT_THAT(csv, HasSubstr("c.csv:4:1: \"2\" is not understood"));
  EXPECT_THAT(csv, HasSubstr("c.csv:5:1: "));
  EXPECT_THAT(demand_message(read_conditions("# nothing\n", "c.csv")), HasSubstr("a file without conditions"));
  const auto toml =
      demand_message(read_conditions("[[condition]]\nsource = -1\ndestinations = [1]\n[[condition]]\n"
                                     "source = 1\n[[condition]]\nsource = 2\ndestinations = [\"a\"]\n",
                                     "c.toml"));
  EXPECT_THAT(toml, HasSubstr("c.toml:2:10: a condition without a source"));
  EXPECT_THAT(toml, HasSubstr("c.toml:4:"));
  EXPECT_THAT(toml, HasSubstr("c.toml:8:17: a destination that is no rank"));
}

TEST(Conditions, LongListsHaveADigestAsText) {
  std::string text = "0 -> 1";
  for (int i = 0; i < 100; ++i) text += "; 2 -> 3 1MiB";
  const auto list = parse_conditions(text, {}).value();
  EXPECT_THAT(std::string(list.text()), HasSubstr("xxh3-128:"));
  EXPECT_NE(parse_conditions(text + "; 4 -> 5", {}).value(), list);
}

TEST(Traffic, IsReadFromTextAndFiles) {
  const auto matrix = parse_traffic("0,2,2; 1,0,1; 1,1,0", {}).value();
  EXPECT_EQ(matrix.ranks(), 3U);
  EXPECT_EQ(matrix.amount(0, 2), 2);
  EXPECT_EQ(matrix.most_sent(), 4);  // of rank 0
  EXPECT_EQ(matrix.pairs(), 6U);
  EXPECT_EQ(matrix.text(), "0,2,2;1,0,1;1,1,0");
  EXPECT_EQ(read_traffic("# from a trace\n0,2,2\n1,0,1\n1, 1, 0\n", "m.csv").value(), matrix);
}

TEST(Traffic, MistakesAreToldAtTheirPlaces) {
  EXPECT_THAT(demand_message(parse_traffic("0,1;-1,0", {"study.toml", 4, 10})), HasSubstr("study.toml:4:14: \"-1\""));
  EXPECT_THAT(demand_message(read_traffic("0,1\n1\n", "m.csv")), HasSubstr("m.csv:2:1: a row of 1 amounts"));
  EXPECT_THAT(demand_message(parse_traffic("0", {})), HasSubstr("fewer than two rows"));
  EXPECT_THAT(demand_message(parse_traffic("5,0;0,5", {})), HasSubstr("a matrix without an amount"));
}

}  // namespace
}  // namespace tenex
