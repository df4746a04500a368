// Tuner tables of results whose times are known.
#include "tenex/pages/tuner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tenex/design/setting.hpp"

namespace tenex {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Adds a row whose time is known.
void add_row(ResultTable& result, const std::string& algorithm, std::int64_t size, double us,
             const std::string& collective = "all_reduce", const std::string& topology = "SW(8)") {
  const auto& columns = setting_columns();
  std::vector<std::string> settings(columns.size());
  const auto set = [&](std::string_view name, std::string value) {
    settings[static_cast<std::size_t>(std::ranges::find(columns, name, &SettingColumn::name) - columns.begin())] =
        std::move(value);
  };
  set("topology", topology);
  set("collective", collective);
  set("algorithm", algorithm);
  set("size", std::to_string(size));
  Evaluation row;
  row.status = PointStatus::ok;
  row.npus = 8;
  row.collective_time_ps = static_cast<std::int64_t>(us * 1e6);
  result.point.push_back(static_cast<std::int64_t>(result.rows.size()));
  result.key.push_back("");
  result.settings.push_back(std::move(settings));
  result.rows.push_back(std::move(row));
}

/// A ring of 10 us and 10 GB/s, a tree of 4 us and 5 GB/s, and a better algorithm of 2 us and 20 GB/s.
ResultTable study() {
  ResultTable result;
  for (std::int64_t size = 1'000; size <= 100'000'000; size *= 10) {
    const auto bytes_of = static_cast<double>(size);
    add_row(result, "rings", size, 10 + bytes_of / 1e4);
    add_row(result, "dbt", size, 4 + bytes_of / 5e3);
    add_row(result, "best", size, 2 + bytes_of / 2e4);
  }
  return result;
}

TEST(TunerFromResults, EverySizeHasALineAndRangesMeetWhereTimesCross) {
  const auto table = make_tuner_table(study(), {TunerReader::nccl, 16});
  ASSERT_TRUE(table.ok()) << to_string(table.errors());
  // tree/ll: 6.8 + 4 + S / 2.5 GB/s; tree/simple: 8.4 + 4 + S / 5 GB/s: they cross at 8,000 B, and tree/simple and
  // ring/simple (8.4 + 10 + S / 10 GB/s) at 60,000 B. Lines are read off the study's sizes, where both are straight.
  ASSERT_EQ(table->rules.size(), 3U);
  EXPECT_EQ(table->rules[0].first, 0U);
  EXPECT_EQ(table->rules[0].algorithm + "/" + table->rules[0].protocol, "tree/ll");
  EXPECT_NEAR(static_cast<double>(table->rules[0].last), 8'000, 2);
  EXPECT_EQ(table->rules[1].first, table->rules[0].last + 1);
  EXPECT_EQ(table->rules[1].algorithm + "/" + table->rules[1].protocol, "tree/simple");
  EXPECT_NEAR(static_cast<double>(table->rules[1].last), 60'000, 2);
  EXPECT_EQ(table->rules[2].algorithm + "/" + table->rules[2].protocol, "ring/simple");
  EXPECT_EQ(table->rules[2].last, kLargestTunedSize);
  for (const auto& rule : table->rules) EXPECT_EQ(rule.ranks, 8);
  EXPECT_THAT(lint_tuner_table({"t.csv", table->text}, TunerReader::nccl)->findings, IsEmpty());
}

TEST(TunerFromResults, WhatIsLeftComparesLikeWithLike) {
  const auto table = make_tuner_table(study(), {TunerReader::nccl, 16});
  ASSERT_TRUE(table.ok());
  const auto& last = table->left.back();
  EXPECT_EQ(last.size, bytes(100'000'000));
  EXPECT_EQ(last.library, "ring/simple");
  EXPECT_NEAR(last.library_us, 8.4 + 10 + 10'000, 1e-6);
  EXPECT_EQ(last.best, "best");
  EXPECT_NEAR(last.best_us, 8.4 + 2 + 5'000, 1e-6);
  for (const auto& left : table->left) EXPECT_GE(left.saved(), 0);
}

TEST(TunerFromResults, OnlyWhatTheReaderHas) {
  EXPECT_THAT(to_string(make_tuner_table(study(), {TunerReader::nccl}).errors()), HasSubstr("--channels"));
  const auto rccl = make_tuner_table(study(), {TunerReader::rccl});
  ASSERT_TRUE(rccl.ok());
  EXPECT_EQ(rccl->rules[0].channels, -1);
  ResultTable other;
  add_row(other, "tacos", 1'000, 1);
  EXPECT_THAT(to_string(make_tuner_table(other, {TunerReader::rccl}).errors()), HasSubstr("`rings`"));
  auto mixed = study();
  add_row(mixed, "direct", 1'000, 1, "all_to_all");
  const auto noted = make_tuner_table(mixed, {TunerReader::rccl});
  ASSERT_TRUE(noted.ok());
  EXPECT_THAT(noted->notes.at(0), HasSubstr("all_to_all is not tuned"));
  add_row(mixed, "rings", 1'000, 1, "all_reduce", "FC(8)");
  EXPECT_THAT(to_string(make_tuner_table(mixed, {TunerReader::rccl}).errors()), HasSubstr("two networks of 8 NPUs"));
}

}  // namespace
}  // namespace tenex
