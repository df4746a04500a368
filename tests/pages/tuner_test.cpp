// Tuner tables of results whose times are known.
#include "tenex/pages/tuner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

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
  // 14 hops. tree/ll: 6.8 + 8.4 + S / 2.5 GB/s - 0.2, where 4.2 us is the smallest size's time; ring/ll: 6.6 + 10.1 +
  // S / 5 GB/s - 0.1, whose hops of 8.4 us the machine's 10.1 us exceed: they cross at 8,000 B. ring/ll128: 14 + 26.6 +
  // S / 9.375 GB/s - 0.1: 256,071 B. ring/simple: 8.4 + 47.6 + S / 10 GB/s - 0.1: 2,310,000 B.
  ASSERT_EQ(table->rules.size(), 4U);
  const std::vector<std::pair<std::string, double>> expected{
      {"tree/ll", 8'000}, {"ring/ll", 256'071}, {"ring/ll128", 2'310'000}, {"ring/simple", 1.8446744073709552e19}};
  std::uint64_t first = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto& rule = table->rules[i];
    EXPECT_EQ(rule.first, first);
    EXPECT_EQ(rule.algorithm + "/" + rule.protocol, expected[i].first);
    EXPECT_NEAR(static_cast<double>(rule.last), expected[i].second, 5);
    first = rule.last + 1;
  }
  EXPECT_EQ(table->rules.back().last, kLargestTunedSize);
  for (const auto& rule : table->rules) EXPECT_EQ(rule.ranks, 8);
  EXPECT_THAT(lint_tuner_table({"t.csv", table->text}, TunerReader::nccl)->findings, IsEmpty());
}

TEST(TunerFromResults, WhatIsLeftComparesLikeWithLike) {
  const auto table = make_tuner_table(study(), {TunerReader::nccl, 16});
  ASSERT_TRUE(table.ok());
  const auto& last = table->left.back();
  EXPECT_EQ(last.size, bytes(100'000'000));
  EXPECT_EQ(last.library, "ring/simple");
  // Hops take 47.6 us in place of 10.1, those of the better algorithm as much longer than its 2.05.
  EXPECT_NEAR(last.library_us, 8.4 + 47.6 + 10'010 - 10.1, 1e-6);
  EXPECT_EQ(last.best, "best");
  EXPECT_NEAR(last.best_us, 8.4 + 47.6 / 10.1 * 2.05 + 5'002 - 2.05, 1e-5);
  for (const auto& left : table->left) EXPECT_GE(left.saved(), 0);
}

TEST(TunerFromResults, ALimitOfLlEndsItsRangeEarlier) {
  // At 1 GB/s of busbw a byte takes 1.75 ns under LL: tree/ll, 15.2 us + S / 571 MB/s, meets tree/ll128, 14 + 17.5 + S
  // / 4.6875 GB/s - 0.2, at 10,477 B.
  const auto table = make_tuner_table(study(), {TunerReader::nccl, 16, -1, gigabytes_per_second(1)});
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(table->rules.at(0).algorithm + "/" + table->rules[0].protocol, "tree/ll");
  EXPECT_NEAR(static_cast<double>(table->rules[0].last), 10'477, 5);
  EXPECT_EQ(table->rules.at(1).algorithm + "/" + table->rules[1].protocol, "tree/ll128");
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
