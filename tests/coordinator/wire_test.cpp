// Messages survive their encoding; points survive as ranges.
#include "coordinator/wire.hpp"

#include <gtest/gtest.h>

namespace tenex {
namespace {

RankReport sample_report() {
  RankReport report;
  report.progress = {1.5, 2.25};
  report.backlog_seconds = 1e-9;
  report.evaluated = 7;
  report.failed = 2;
  report.leases_received = 3;
  report.finished_leases = {4, 1, 9};
  report.skipped = 11;
  report.memory_kills = 5;
  report.costs = {{0xfffffffeU, 3, 0.5, 1.25, 0.75}, {7, 0xffffffffU, 2.5, 0.125, 2.5}};
  report.occupied_seconds = 12.5;
  report.running = {{0xfffffffdU, 64, 41.25}, {1, 1, 1e-3}};
  report.early_values = {{0xfffffff0U, 1, -2.5}, {3, 0, 1e18}};
  return report;
}

void expect_same(const RankReport& a, const RankReport& b) {
  EXPECT_EQ(a.progress.expected_done, b.progress.expected_done);
  EXPECT_EQ(a.progress.busy_seconds, b.progress.busy_seconds);
  EXPECT_EQ(a.backlog_seconds, b.backlog_seconds);
  EXPECT_EQ(a.evaluated, b.evaluated);
  EXPECT_EQ(a.failed, b.failed);
  EXPECT_EQ(a.leases_received, b.leases_received);
  EXPECT_EQ(a.finished_leases, b.finished_leases);
  EXPECT_EQ(a.skipped, b.skipped);
  EXPECT_EQ(a.memory_kills, b.memory_kills);
  ASSERT_EQ(a.costs.size(), b.costs.size());
  for (std::size_t i = 0; i < a.costs.size(); ++i) {
    EXPECT_EQ(a.costs[i].kind, b.costs[i].kind);
    EXPECT_EQ(a.costs[i].points, b.costs[i].points);
    EXPECT_EQ(a.costs[i].expected, b.costs[i].expected);
    EXPECT_EQ(a.costs[i].measured, b.costs[i].measured);
    EXPECT_EQ(a.costs[i].ended, b.costs[i].ended);
  }
  EXPECT_EQ(a.occupied_seconds, b.occupied_seconds);
  ASSERT_EQ(a.running.size(), b.running.size());
  for (std::size_t i = 0; i < a.running.size(); ++i) {
    EXPECT_EQ(a.running[i].point, b.running[i].point);
    EXPECT_EQ(a.running[i].threads, b.running[i].threads);
    EXPECT_EQ(a.running[i].elapsed, b.running[i].elapsed);
  }
  ASSERT_EQ(a.early_values.size(), b.early_values.size());
  for (std::size_t i = 0; i < a.early_values.size(); ++i) {
    EXPECT_EQ(a.early_values[i].point, b.early_values[i].point);
    EXPECT_EQ(a.early_values[i].round, b.early_values[i].round);
    EXPECT_EQ(a.early_values[i].value, b.early_values[i].value);
  }
}

TEST(Wire, CarriesEveryKindOfMessage) {
  const auto hello = std::get<HelloMessage>(decode(encode(HelloMessage{{1, ~0ULL}, 250, 16, "node-17"})));
  EXPECT_EQ(hello.study, (Digest{1, ~0ULL}));
  EXPECT_EQ(hello.points, 250U);
  EXPECT_EQ(hello.threads, 16U);
  EXPECT_EQ(hello.host, "node-17");
  EXPECT_EQ(std::get<StartMessage>(decode(encode(StartMessage{12}))).incarnation, 12U);
  expect_same(std::get<RequestMessage>(decode(encode(RequestMessage{sample_report()}))).report, sample_report());
  expect_same(std::get<AliveMessage>(decode(encode(AliveMessage{sample_report()}))).report, sample_report());
  const auto lease =
      std::get<LeaseMessage>(decode(encode(LeaseMessage{5, {{1, 4}, {9, 10}}, 0.75, 3.5, true, false, 200})));
  EXPECT_EQ(lease.id, 5U);
  EXPECT_EQ(lease.seconds, 0.75);
  EXPECT_EQ(lease.scale, 3.5);
  EXPECT_TRUE(lease.careful);
  EXPECT_FALSE(lease.exclusive);
  EXPECT_EQ(lease.round, 200U);
  EXPECT_EQ(lease.ranges, (std::vector<PointRange>{{1, 4}, {9, 10}}));
  EXPECT_EQ(std::get<DrainMessage>(decode(encode(DrainMessage{DrainReason::error}))).reason, DrainReason::error);
}

TEST(Wire, CarriesErrorsWithAllTheirParts) {
  Diagnostic error = resource_error("problem \xC3\xA9", "", "suggestion of 23 letters");
  error.place = {"a.toml", 3, 14};
  const auto bye = std::get<ByeMessage>(decode(encode(ByeMessage{sample_report(), {error, error}, true, 2})));
  EXPECT_EQ(bye.errors, (Diagnostics{error, error}));
  EXPECT_TRUE(bye.interrupted);
  EXPECT_EQ(bye.lost_ranks, 2U);
  expect_same(bye.report, sample_report());
}

TEST(Wire, RefusesWordsThatAreCutOrTooMany) {
  const auto words = encode(HelloMessage{{1, 2}, 3, 4, "host"});
  for (std::size_t size = 0; size < words.size(); ++size) {
    EXPECT_THROW((void)decode(Words(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(size))), InvariantError);
  }
  auto longer = words;
  longer.push_back(0);
  EXPECT_THROW((void)decode(longer), InvariantError);
  EXPECT_THROW((void)decode({99}), InvariantError);
}

TEST(Wire, SendsPointsAsAscendingRanges) {
  EXPECT_EQ(to_ranges({7, 3, 4, 9, 5}), (std::vector<PointRange>{{3, 6}, {7, 8}, {9, 10}}));
  EXPECT_EQ(to_points({{3, 6}, {7, 8}, {9, 10}}), (std::vector<std::uint32_t>{3, 4, 5, 7, 9}));
  EXPECT_TRUE(to_ranges({}).empty());
}

}  // namespace
}  // namespace tenex
