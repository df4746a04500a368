// Logs of nccl-tests, rccl-tests and OSU: rows of all variants, and what is no row.
#include "tenex/exchange/measurements.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace tenex {
namespace {

using ::testing::HasSubstr;

MeasurementLog log_of(const std::string& text, const LogOptions& options = {}) {
  const auto log = read_measurements({"dir/a.log", text}, options);
  EXPECT_TRUE(log.ok()) << to_string(log.errors());
  return log.ok() ? *log : MeasurementLog{};
}

std::string log_refusal(const std::string& text, const LogOptions& options = {}) {
  const auto log = read_measurements({"a.log", text}, options);
  EXPECT_FALSE(log.ok());
  return to_string(log.errors());
}

const std::string heading =
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw "
    "#wrong\n";
// 1 GiB in 4,000 us: algbw 268.44, busbw 469.76, 2 * 7 / 8 of it: 8 ranks.
const std::string row =
    "  1073741824     268435456     float     sum      -1   4000.0  268.44  469.76      0   3990.0  "
    "269.11  470.94      0\n";

TEST(Measurements, ARowHasBothTimesAndTheBandwidthsTellRanks) {
  const auto log = log_of(heading + row);
  ASSERT_EQ(log.tables.size(), 1U);
  const auto& table = log.tables[0];
  EXPECT_EQ(table.collective, CollectiveKind::all_reduce);
  EXPECT_EQ(table.ranks, 8U);
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(table.rows[0].size, gibibytes(1));
  EXPECT_EQ(table.rows[0].out_of_place_us, 4000.0);
  EXPECT_EQ(table.rows[0].in_place_us, 3990.0);
  EXPECT_EQ(table.rows[0].wrong, 0);
  EXPECT_EQ(table.rows[0].place, (Place{"dir/a.log", 2, 1}));
  EXPECT_EQ(log.skipped_rows, 0U);
}

TEST(Measurements, LaunchersPutAPrefixBeforeLines) {
  for (const std::string prefix : {"[1,0]<stdout>:", "0: ", " 12: "}) {
    std::string text;
    for (const auto& line : {heading, row}) text += prefix + line;
    const auto log = log_of(text);
    ASSERT_EQ(log.tables.size(), 1U) << prefix;
    EXPECT_EQ(log.tables[0].rows.size(), 1U);
    EXPECT_EQ(log.tables[0].rows[0].place.column, prefix.size() + 1);
  }
}

TEST(Measurements, AllVariantsOfColumnsAreRead) {
  const LogOptions gather{CollectiveKind::all_gather, 4};
  // Replayed traces print nothing out of place.
  const auto replayed = log_of(heading + "  4096  256  float  none  -1  10.0  0.41  0.31  N/A\n", gather).tables.at(0);
  EXPECT_TRUE(std::isnan(replayed.rows.at(0).out_of_place_us));
  EXPECT_EQ(replayed.rows[0].in_place_us, 10.0);
  EXPECT_EQ(replayed.rows[0].wrong, -1);
  // -I: four more columns per half.
  const std::string with_iterations =
      "# size count type redop root time algbw busbw #wrong i_min i_max i_p99 i_cv% time algbw busbw #wrong i_min "
      "i_max "
      "i_p99 i_cv%\n";
  const auto iterated =
      log_of(with_iterations + "4096 256 float none -1 10.0 0.41 0.31 2 9.0 11.0 11.0 3.0 12.0 0.34 0.26 0 9 13 13 4\n",
             gather)
          .tables.at(0);
  EXPECT_EQ(iterated.rows.at(0).out_of_place_us, 10.0);
  EXPECT_EQ(iterated.rows[0].in_place_us, 12.0);
  EXPECT_EQ(iterated.rows[0].wrong, 2);
  // 2020: no root, and an error in place of a count.
  const auto old = log_of(
      "# size count type redop time algbw busbw error time algbw busbw error\n"
      "4096 1024 float sum 10.0 0.41 0.72 0e+00 11.0 0.37 0.65 0e+00\n",
      {CollectiveKind::all_reduce, 4});
  EXPECT_EQ(old.tables.at(0).rows.at(0).in_place_us, 11.0);
  EXPECT_EQ(old.tables[0].rows[0].wrong, 0);
  // A timestamp ends the row, and a wide number has an exponent.
  const auto stamped =
      log_of(heading + "4096 256 float none -1 1.0e+03 0.41 0.31 0 11.0 0.37 0.28 0 2026-07-09 10:11:12\n", gather);
  EXPECT_EQ(stamped.tables.at(0).rows.at(0).out_of_place_us, 1000.0);
}

TEST(Measurements, TornRowsAreSkippedAndCounted) {
  const auto log = log_of(heading + "1024 256 float sum -1host0:1:1 [0] NCCL INFO x set by environment to 1.\n" +
                          "    13.41    0.00    0.00      0     9.95    0.00    0.00      0\n" +
                          "host0:1:1 [0] NCCL INFO Channel 00 : 1 2\n" + "2048 512 float sum -1 13.0 0.1\n" + row);
  EXPECT_EQ(log.tables.at(0).rows.size(), 1U);
  ASSERT_EQ(log.skipped_rows, 2U);
  EXPECT_EQ(log.skipped[0].place.line, 2U);
  EXPECT_EQ(log.skipped[1].place.line, 5U);
}

TEST(Measurements, ALogMayHoldSeveralRuns) {
  const std::string device =
      "#  Rank  0 Group  0 Pid 1 on host0 device 0 [0] GPU\n#  Rank  1 Group  0 Pid 2 on host1 "
      "device 0 [0] GPU\n";
  const auto log = log_of("# Collective test starting: alltoall_perf\n" + device + heading +
                          "4096 256 float none -1 10.0 0.41 0.20 0 10.0 0.41 0.20 0\n" + heading + row);
  ASSERT_EQ(log.tables.size(), 2U);
  EXPECT_EQ(log.tables[0].collective, CollectiveKind::all_to_all);
  EXPECT_EQ(log.tables[0].ranks, 2U);
  EXPECT_EQ(log.tables[0].hosts, 2U);
}

TEST(Measurements, WhatALogDoesNotSayIsAskedFor) {
  const auto text = heading + "4096 256 float none -1 10.0 0.41 0.31 0 10.0 0.41 0.31 0\n";
  EXPECT_THAT(log_refusal(text), HasSubstr("--collective"));
  EXPECT_THAT(log_refusal(text), HasSubstr("a.log:2:1"));
  // 0.31 / 0.41 printed to a hundredth is 4 ranks, and 0.04 / 0.05 is any number of 3 or more.
  EXPECT_EQ(log_of(text, {CollectiveKind::all_gather, 0}).tables.at(0).ranks, 4U);
  const auto coarse = heading + "512 32 float none -1 10.0 0.05 0.04 0 10.0 0.05 0.04 0\n";
  EXPECT_THAT(log_refusal(coarse, {CollectiveKind::all_gather, 0}), HasSubstr("--ranks"));
  EXPECT_THAT(log_refusal("# Collective test starting: sendrecv_perf\n" + heading + row), HasSubstr("sendrecv"));
  EXPECT_THAT(log_refusal("# Collective test starting: all_reduce_perf\n" + heading + row, {CollectiveKind::reduce, 0}),
              HasSubstr("the log says all_reduce"));
  EXPECT_THAT(log_refusal("nothing\n"), HasSubstr("no row is measured"));
  EXPECT_THAT(log_refusal(""), HasSubstr("empty"));
}

TEST(Measurements, JsonOfVersionThreeIsRead) {
  const std::string text =
      "{\"version\":3,\"args\":[\".\\/build\\/all_reduce_perf\",\"-b\",\"8\"],\"env\":[\"TOKEN=x\"],\"config\":"
      "{\"nthreads\":1,\"ngpus\":2,\"devices\":[{\"rank\":0,\"hostname\":\"host0\"},{\"rank\":1,\"hostname\":"
      "\"host1\"}]},\"results\":[{\"size\":1024,\"count\":256,\"type\":\"float\",\"redop\":\"sum\",\"root\":\"    -1\","
      "\"out_of_place\":{\"time\":12.9,\"alg_bw\":0.08,\"bus_bw\":0.12,\"nwrong\":null},\"in_place\":null},"
      "{\"size\":2048,\"out_of_place\":null,\"in_place\":{\"cpu_time\":13.5,\"alg_bw\":0,\"bus_bw\":0,\"nwrong\":2.0}}]"
      "}";
  const auto table = log_of(text).tables.at(0);
  EXPECT_EQ(table.ranks, 4U);  // two devices listed, two GPUs each
  EXPECT_EQ(table.hosts, 2U);
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0].out_of_place_us, 12.9);
  EXPECT_EQ(table.rows[0].wrong, -1);
  EXPECT_EQ(table.rows[1].in_place_us, 13.5);
  EXPECT_EQ(table.rows[1].wrong, 1);
  const auto killed = log_refusal(text.substr(0, text.size() - 40));
  EXPECT_THAT(killed, HasSubstr("a.log:1:"));
  EXPECT_THAT(killed, HasSubstr("killed"));
  auto newer = text;
  newer.replace(newer.find(":3"), 2, ":4");
  EXPECT_THAT(log_refusal(newer), HasSubstr("version \"4\""));
}

TEST(Measurements, OsuSizesBecomeTotalsAndTheSlowestRankCounts) {
  const std::string gather =
      "\n# OSU MPI Allgather Latency Test v7.0\n# Size       Avg Latency(us)\n1    0.41\n1024  1.00\n";
  EXPECT_THAT(log_refusal(gather), HasSubstr("--ranks"));
  const auto log = log_of(gather, {std::nullopt, 4});
  EXPECT_EQ(log.format, "OSU text");
  EXPECT_EQ(log.tables.at(0).rows.at(1).size, bytes(4096));
  EXPECT_EQ(log.tables[0].rows[1].out_of_place_us, 1.0);
  const auto reduce = log_of(
                          "# OSU MPI-CUDA Allreduce Latency Test v7.3\n# Datatype: MPI_CHAR.\n# Size       Avg "
                          "Latency(us)   Min Latency(us)   Max Latency(us)  Iterations  Validation\n"
                          "1024  1.00  0.90  1.20  200  Pass\n2048  1.5\n4096  2.0  1.9  2.5  200  Fail\n",
                          {std::nullopt, 4})
                          .tables.at(0);
  ASSERT_EQ(reduce.rows.size(), 2U);  // one is torn
  EXPECT_EQ(reduce.rows[0].out_of_place_us, 1.2);
  EXPECT_EQ(reduce.rows[0].size, bytes(1024));
  EXPECT_EQ(reduce.rows[1].wrong, 1);
  EXPECT_THAT(log_refusal("# OSU MPI Latency Test v7.0\n1 1\n"), HasSubstr("no collective"));
}

TEST(Measurements, HostileLogsEndWithAPlaceInBoundedMemory) {
  EXPECT_THAT(log_refusal(heading + std::string("8\0", 2)), HasSubstr("a.log:2:2: a NUL byte"));
  EXPECT_THAT(log_refusal(std::string(17 << 20, '8')), HasSubstr("at most 16777216"));
  EXPECT_THAT(log_refusal(heading + "99999999999999999999 1 float sum -1 1 1 1 0 1 1 1 0\n"), HasSubstr("no row"));
  EXPECT_THAT(log_refusal(heading + "1024 256 float sum -1 inf 1 1 0 nan 1 1 0\n"), HasSubstr("torn"));
  std::string torn = heading + row;
  for (int i = 0; i < 100'000; ++i) torn += "8 2 float\n";
  const auto log = log_of(torn);
  EXPECT_EQ(log.skipped_rows, 100'000U);
  EXPECT_LE(log.skipped.size(), 100U);
  // A size that does not fit when all ranks are counted.
  EXPECT_THAT(log_refusal("# OSU MPI Allgather Latency Test v7.0\n# Size\n9000000000000000000 1\n", {std::nullopt, 4}),
              HasSubstr("63 bits"));
}

}  // namespace
}  // namespace tenex
