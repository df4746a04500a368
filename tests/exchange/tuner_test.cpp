// Tuner tables: what is written, and what each reader does with a line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tenex/exchange/tuner_table.hpp"

namespace tenex {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TunerLint lint_of(const std::string& text, TunerReader reader) {
  const auto lint = lint_tuner_table({"t.csv", text}, reader);
  EXPECT_TRUE(lint.ok()) << to_string(lint.errors());
  return lint.ok() ? *lint : TunerLint{};
}

/// All findings of a text, a line each; wrong ones begin with "!".
std::string findings(const std::string& text, TunerReader reader) {
  std::string all;
  for (const auto& finding : lint_of(text, reader).findings)
    all += (finding.wrong ? "!" : "") + to_string(finding.what) + "\n";
  return all;
}

constexpr auto all_sizes = "0,18446744073709551615";

TEST(TunerTable, WhatIsWrittenIsReadWithoutFindings) {
  const std::vector<TunerRule> rules{
      {.collective = "allreduce", .last = 65535, .algorithm = "tree", .protocol = "ll", .channels = 16, .ranks = 8},
      {.collective = "allreduce",
       .first = 65536,
       .algorithm = "ring",
       .protocol = "simple",
       .channels = 16,
       .ranks = 8}};
  const auto text = tuner_table_text({"from a study \xc3\xa4", std::string(400, 'x')}, rules);
  EXPECT_THAT(text, HasSubstr("\nallreduce,65536,18446744073709551615,ring,simple,16,-1,8,-1,-1\n"));
  for (const auto reader : {TunerReader::nccl, TunerReader::rccl}) {
    const auto lint = lint_of(text, reader);
    EXPECT_THAT(lint.findings, IsEmpty());
    ASSERT_EQ(lint.rules.size(), 2U);
    EXPECT_EQ(lint.rules[0].last, 65535U);
    EXPECT_EQ(lint.rules[1].last, kLargestTunedSize);
    EXPECT_EQ(lint.rules[1].ranks, 8);
  }
}

TEST(TunerTable, UnknownWordsBecomeOthersForNcclAndDropTheLineForRccl) {
  const auto line = "AllReduce," + std::string(all_sizes) + ",rings,Simple,4,-1,-1\n";
  const auto nccl = findings(line, TunerReader::nccl);
  EXPECT_THAT(nccl, HasSubstr("!t.csv:1:1: \"AllReduce\" is no collective (the reader takes it for allreduce)"));
  EXPECT_THAT(nccl, HasSubstr("\"rings\" is no algorithm (the reader takes it for ring)"));
  EXPECT_EQ(lint_of(line, TunerReader::nccl).rules.size(), 1U);
  EXPECT_THAT(findings(line, TunerReader::rccl), HasSubstr("the line is not read"));
  EXPECT_THAT(lint_of(line, TunerReader::rccl).rules, IsEmpty());
}

TEST(TunerTable, ALineWithoutChannelsRunsOnOneForNccl) {
  const auto line = "allreduce," + std::string(all_sizes) + ",ring,simple,-1,-1,-1\n";
  EXPECT_THAT(findings(line, TunerReader::nccl), HasSubstr("!t.csv:1:46: channels -1"));
  EXPECT_EQ(findings(line, TunerReader::rccl), "");
  const auto none = "allreduce," + std::string(all_sizes) + ",ring,simple,0,-1,-1\n";
  EXPECT_THAT(findings(none, TunerReader::rccl), HasSubstr("RCCL chooses"));
}

TEST(TunerTable, EmptyFieldsVanish) {
  const auto line = "allreduce," + std::string(all_sizes) + ",ring,simple,4,,-1,-1\n";
  EXPECT_THAT(findings(line, TunerReader::nccl), HasSubstr("!t.csv:1:48: an empty field (it vanishes"));
  const auto blank = "allreduce," + std::string(all_sizes) + ",ring,simple,4, ,-1,-1\n";
  EXPECT_THAT(lint_of(blank, TunerReader::rccl).rules, IsEmpty());
  EXPECT_EQ(lint_of(blank, TunerReader::nccl).rules.at(0).nodes, 0);
  EXPECT_THAT(findings("allreduce,0,1,ring\n", TunerReader::nccl), HasSubstr("4 of 8 fields"));
}

TEST(TunerTable, NumbersAreReadAsCReadsThem) {
  const auto text = findings("allreduce,1e6,-1,ring,simple,4x,99999999999,-1\n", TunerReader::nccl);
  EXPECT_THAT(text, HasSubstr("\"1e6\" is no number of bytes (the reader takes it for 1)"));
  EXPECT_THAT(text, HasSubstr("\"-1\" is no number of bytes (the reader takes it for 18446744073709551615)"));
  EXPECT_THAT(text, HasSubstr("\"4x\" is no number (the reader takes it for 4)"));
  EXPECT_THAT(text, HasSubstr("2147483647"));
  EXPECT_THAT(findings("allreduce,9,1,ring,simple,4,-1,-1\n", TunerReader::nccl),
              HasSubstr("no size is in this range"));
}

TEST(TunerTable, LongLinesAreCutInTwo) {
  const auto line = "allreduce," + std::string(all_sizes) + ",ring,simple,4,-1,-1" + std::string(300, ' ') + "\n";
  EXPECT_THAT(findings(line, TunerReader::nccl), HasSubstr("!t.csv:1:255: a line of 352 bytes"));
  EXPECT_THAT(findings(line, TunerReader::rccl), HasSubstr("t.csv:1:256"));
  // What follows the cut of a comment is a line of the table.
  const auto comment = "#" + std::string(254, 'x') + "allreduce,0,1,ring,ll,1,-1,-1\n";
  EXPECT_EQ(lint_of(comment, TunerReader::nccl).rules.size(), 1U);
}

TEST(TunerTable, SizesWithoutALineAndLinesThatNeverApplyAreFound) {
  const std::string tail = ",ring,simple,4,-1,-1\n";
  const auto text = "allreduce,0,100" + tail + "allreduce,50,60" + tail + "allreduce,102,18446744073709551615" + tail;
  const auto found = findings(text, TunerReader::nccl);
  EXPECT_THAT(found, HasSubstr("!t.csv:2:1: a line that never applies"));
  EXPECT_THAT(found, HasSubstr("!t.csv:1:1: allreduce: no line for 101 bytes"));
  // A line for 8 ranks is not hidden by one for 4, and does not cover others.
  const std::string ranks = "allgather," + std::string(all_sizes) + ",ring,simple,4,-1,";
  EXPECT_EQ(findings(ranks + "4\n" + ranks + "8\n", TunerReader::nccl), "");
  EXPECT_THAT(findings(ranks + "-1\n" + ranks + "8\n", TunerReader::nccl), HasSubstr("never applies"));
}

TEST(TunerTable, CombinationsThatALibraryLacks) {
  for (const auto* const line :
       {"allgather,tree,ll", "allreduce,nvls,ll", "broadcast,nvls,simple", "allreduce,pat,simple"}) {
    std::string words = line;
    words.insert(words.find(',') + 1, std::string(all_sizes) + ",");
    EXPECT_THAT(findings(words + ",4,-1,-1\n", TunerReader::nccl), HasSubstr("NCCL marks it impossible")) << line;
  }
  EXPECT_TRUE(has_combination(TunerReader::nccl, "allreduce", "nvls", "simple"));
  EXPECT_FALSE(has_combination(TunerReader::rccl, "allreduce", "nvls", "simple"));
}

TEST(TunerTable, CommentsBelongAtTheBeginningForNccl) {
  EXPECT_THAT(findings("  # a comment\n", TunerReader::nccl), HasSubstr("a comment that does not begin its line"));
  EXPECT_EQ(findings("  # a comment\r\n\n", TunerReader::rccl), "");
}

TEST(TunerTable, TheRulesOfNcclxAreAnotherFormat) {
  EXPECT_THAT(to_string(lint_tuner_table({"t.json", "\n{\"rules\": []}"}, TunerReader::nccl).errors()),
              HasSubstr("NCCLX"));
}

TEST(TunerTable, HostileTablesAreBounded) {
  std::string many;
  for (int i = 0; i < 5'000; ++i) many += "allreduce,0,1,ring,simple,4,-1,-1\n";
  EXPECT_THAT(to_string(lint_tuner_table({"t.csv", many}, TunerReader::nccl).errors()), HasSubstr("too many lines"));
  EXPECT_THAT(to_string(lint_tuner_table({"t.csv", std::string("a\0", 2)}, TunerReader::nccl).errors()),
              HasSubstr("t.csv:1:2: a NUL byte"));
  EXPECT_THAT(to_string(lint_tuner_table({"t.csv", std::string(2 << 20, ',')}, TunerReader::nccl).errors()),
              HasSubstr("at most 1048576"));
  EXPECT_LE(lint_of(std::string(100'000, ','), TunerReader::nccl).findings.size(), 200U);
}

}  // namespace
}  // namespace tenex
