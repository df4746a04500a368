// Predictions beside logs whose times are known.
#include "tenex/measure/predict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tenex/exchange/library_model.hpp"

namespace tenex {
namespace {

using ::testing::HasSubstr;

/// NPUs around a switch that cuts through, alpha 0.5 us on each side.
Machine box(std::size_t npus, const std::string& bandwidth) {
  std::string text =
      "schema = 1\nkind = \"machine\"\nname = \"box\"\nsource = \"none\"\nnpus = " + std::to_string(npus) +
      "\n[[switches]]\nforwarding = \"cut_through\"\n[[links]]\nbandwidth = \"" + bandwidth +
      "\"\nalpha = \"0.5us\"\npairs = [";
  for (std::size_t i = 0; i < npus; ++i) text += "[" + std::to_string(i) + ", " + std::to_string(npus) + "],";
  const auto machine = parse_machine(text + "]\n", "box.toml");
  EXPECT_TRUE(machine.ok()) << to_string(machine.errors());
  return machine.value();
}

MeasurementLog log_of(CollectiveKind kind, std::size_t ranks, std::vector<Bytes> sizes) {
  MeasuredTable table{{"a.log", 1, 1}, kind, ranks, 1, {}};
  for (const auto size : sizes) table.rows.push_back({{"a.log", 2, 1}, size, 1000.0, 1000.0, 0});
  return {"", {table}};
}

double time_of(const PredictedTable& table, std::size_t row, const std::string& algorithm,
               const std::string& protocol) {
  for (std::size_t i = 0; i < table.choices.size(); ++i)
    if (table.choices[i].algorithm == algorithm && table.choices[i].protocol == protocol)
      return table.rows[row].predicted_us[i];
  return -1;
}

TEST(Predict, ARingTakesItsStepsAndItsProtocolsOverhead) {
  // Four NPUs, one channel: six steps of 1 us and a quarter of S each. 8 MB at 10 GB/s: 200 us per step. Hops of Simple
  // take 3.4 us, of LL128 1.9 us; those of LL 0.6 us, so that the machine's count.
  const auto prediction = predict(box(4, "10GB/s"), {log_of(CollectiveKind::all_reduce, 4, {bytes(8'000'000)})}, {1});
  ASSERT_TRUE(prediction.ok()) << to_string(prediction.errors());
  const auto& table = prediction->tables.at(0);
  EXPECT_NEAR(time_of(table, 0, "ring", "simple"), 8.4 + 6 * 203.4, 1e-2);
  // LL has 4 bytes of data in 8; LL128 120 in 128.
  EXPECT_NEAR(time_of(table, 0, "ring", "ll"), 6.6 + 6 * 401, 1e-2);
  EXPECT_NEAR(time_of(table, 0, "ring", "ll128"), 14.0 + 6 * (1.9 + 200 * 128.0 / 120), 1e-2);
  EXPECT_EQ(table.choices[table.rows[0].fastest].protocol, "simple");
  EXPECT_NEAR(table.rows[0].difference(), (8.4 + 1220.4) / 1000 - 1, 1e-4);
}

TEST(Predict, SmallSizesRunLl) {
  const auto prediction =
      predict(box(4, "10GB/s"), {log_of(CollectiveKind::all_gather, 4, {bytes(1024), gibibytes(1)})}, {});
  ASSERT_TRUE(prediction.ok());
  const auto& table = prediction->tables.at(0);
  EXPECT_EQ(table.choices.size(), 3U);  // no tree gathers
  EXPECT_EQ(table.choices[table.rows[0].fastest].protocol, "ll");
  EXPECT_EQ(table.choices[table.rows[1].fastest].protocol, "simple");
}

TEST(Predict, AStatedOverheadReplacesThatOfProtocols) {
  const auto prediction = predict(box(4, "10GB/s"), {log_of(CollectiveKind::all_reduce, 4, {bytes(8'000'000)})},
                                  {.channels = 1, .overhead = microseconds(100)});
  ASSERT_TRUE(prediction.ok());
  EXPECT_NEAR(time_of(prediction->tables[0], 0, "ring", "simple"), 100 + 1206, 1e-3);
}

TEST(Predict, LlHasALimit) {
  const auto prediction = predict(box(4, "10GB/s"), {log_of(CollectiveKind::all_reduce, 4, {bytes(8'000'000)})},
                                  {.channels = 1, .ll_limit = gigabytes_per_second(3)});
  ASSERT_TRUE(prediction.ok());
  // 1.5 times 8 MB at 3 GB/s: 4 ms, where half the bandwidth would take 2.4.
  EXPECT_NEAR(time_of(prediction->tables[0], 0, "ring", "ll"), 6.6 + 6 + 4'000, 1e-2);
  EXPECT_NEAR(time_of(prediction->tables[0], 0, "ring", "simple"), 8.4 + 6 * 203.4, 1e-2);
}

TEST(Predict, NvlsIsAFormulaThatIsAskedFor) {
  const auto prediction =
      predict(box(4, "12GB/s"), {log_of(CollectiveKind::all_reduce, 4, {bytes(8'000'000)})}, {.nvls = true});
  ASSERT_TRUE(prediction.ok());
  // 8 MB at 5/6 of 12 GB/s: 0.8 ms.
  EXPECT_NEAR(time_of(prediction->tables[0], 0, "nvls", "simple"), 25 + 800, 1e-6);
}

// A chain of four NPUs passes 8 MB on, a chunk for each of 8 channels. 1 MB takes 100
// us at 10 GB/s and 1 us of alpha: the first is at the end after 3 * 101 us, seven more follow.
TEST(Predict, BroadcastIsAChain) {
  const auto prediction = predict(box(4, "10GB/s"), {log_of(CollectiveKind::broadcast, 4, {bytes(8'000'000)})}, {});
  ASSERT_TRUE(prediction.ok()) << to_string(prediction.errors());
  const auto& table = prediction->tables.at(0);
  // Three hops of Simple take 3.4 us, where the machine's take 1.
  EXPECT_NEAR(time_of(table, 0, "ring", "simple"), 8.4 + 3 * 3.4 + 3 * 100 + 7 * 100, 0.1);
}

// NVIDIA/nccl issue 1801: 24 GPUs of three NVLink partitions of GB200, a NIC of 50 GB/s for each, rings without NVLS:
// All-Reduce of 16 GiB at 205.39 GB/s (algbw). Rings over all NICs could reach 50 * 8 / (2 * 23 / 24) = 208.7.
TEST(Predict, RingsOverThreePartitionsAreAsMeasured) {
  const auto machine = parse_machine(
      "schema = 1\nkind = \"machine\"\nname = \"nvl8 x 3\"\nsource = \"none\"\nshape = \"SW(8)_SW(3)\"\nalpha = "
      "\"1us,3us\"\nbandwidth = \"900GB/s,50GB/s\"\n",
      "nvl8.toml");
  ASSERT_TRUE(machine.ok()) << to_string(machine.errors());
  const auto prediction = predict(*machine, {log_of(CollectiveKind::all_reduce, 24, {gibibytes(16)})}, {.boxes = 3});
  ASSERT_TRUE(prediction.ok()) << to_string(prediction.errors());
  const double us = time_of(prediction->tables.at(0), 0, "ring", "simple");
  EXPECT_NEAR(gibibytes(16).count() / us / 1e3, 205.39, 0.02 * 205.39);
}

TEST(Predict, WhatCannotBePredictedIsSaid) {
  EXPECT_THAT(to_string(predict(box(4, "1GB/s"), {log_of(CollectiveKind::all_reduce, 8, {bytes(1024)})}, {}).errors()),
              HasSubstr("the machine has 4 NPUs"));
  EXPECT_THAT(to_string(predict(box(4, "1GB/s"), {log_of(CollectiveKind::gather, 4, {bytes(1024)})}, {}).errors()),
              HasSubstr("no program here stands for"));
  const auto prediction =
      predict(box(4, "1GB/s"), {log_of(CollectiveKind::all_to_all, 4, {bytes(1024), Bytes::zero()})}, {});
  ASSERT_TRUE(prediction.ok());
  EXPECT_EQ(prediction->tables[0].rows.size(), 1U);
  EXPECT_EQ(prediction->tables[0].choices[0].algorithm, "direct");
  EXPECT_THAT(prediction->notes.at(0), HasSubstr("1 rows"));
}

TEST(Predict, TimesOutOfRangeHaveTheirRow) {
  const auto errors = predict(box(4, "1GB/s"), {log_of(CollectiveKind::all_reduce, 4, {Bytes::max()})}, {}).errors();
  EXPECT_THAT(to_string(errors), HasSubstr("a.log:2:1: "));
  EXPECT_THAT(to_string(errors), HasSubstr("longer than is computed"));
}

TEST(LibraryProtocol, HopsAreCountedAsNcclDoes) {
  const auto& ll = library_protocols()[0];
  const auto& simple = library_protocols()[2];
  constexpr auto all_reduce = CollectiveKind::all_reduce;
  EXPECT_EQ(ll.hops("ring", all_reduce, 8, 1), nanoseconds(14 * 600));
  EXPECT_EQ(simple.hops("ring", CollectiveKind::all_gather, 8, 1), nanoseconds(7 * 3'400));
  // Two boxes: 4 of the 30 steps are between them. A tree: chains of 7 hops and one level, up and down.
  EXPECT_EQ(ll.hops("ring", all_reduce, 16, 2), nanoseconds(26 * 600 + 4 * 2'700));
  EXPECT_EQ(ll.hops("tree", all_reduce, 16, 2), nanoseconds(2 * (7 * 600 + 5'000)));
  EXPECT_EQ(ll.hops("tree", CollectiveKind::all_gather, 16, 2), SimTime::zero());
}

TEST(LibraryProtocol, ManyBytesDoNotOverflow) {
  EXPECT_EQ(library_protocols()[0].carried(Bytes::max()), Bytes::max());
  EXPECT_EQ(library_protocols()[1].carried(bytes(121)), bytes(130));  // 129.07 rounded up
}

}  // namespace
}  // namespace tenex
