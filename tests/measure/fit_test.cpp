// Fits of synthetic logs, whose parameters are known.
#include "tenex/measure/fit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "measure/library_time.hpp"
#include "measure/regression.hpp"
#include "tenex/base/random.hpp"

namespace tenex {
namespace {

using ::testing::HasSubstr;

/// Normal noise (Box and Muller), the same for a seed.
class Noise {
 public:
  explicit Noise(std::uint64_t seed) : random_(seed) {}
  double operator()() {
    const double radius = std::sqrt(-2 * std::log(1 - random_.unit()));
    return radius * std::cos(2 * 3.14159265358979 * random_.unit());
  }

 private:
  Random random_;
};

/// The machine that synthetic logs come from.
struct Truth {
  double alpha_us = 1.5;
  double overhead_us = 20;
  double rate = 50e9;  ///< B/s
};

struct Protocols {
  double noise = 0;              ///< relative
  std::int64_t switch_size = 0;  ///< below it LL runs: half the bandwidth, 15 us less overhead; 0: no such protocol
  double wild = 0;               ///< share of points that take three times as long
};

MeasuredTable table_of(CollectiveKind kind, std::size_t ranks, const Truth& truth, const Protocols& protocols,
                       Noise& noise, int per_size = 1) {
  MeasuredTable table{{"a.log", 1, 1}, kind, ranks, 1, {}};
  const auto cost = cost_of(usual_algorithm(kind), kind, ranks).value();
  std::uint32_t line = 1;
  for (int power = 12; power <= 30; ++power)
    for (int repeat = 0; repeat < per_size; ++repeat) {
      const auto size = std::int64_t{1} << power;
      const bool small = size < protocols.switch_size;
      const double rate = small ? truth.rate / 2 : truth.rate;
      const double overhead = small ? truth.overhead_us - 15 : truth.overhead_us;
      double time = overhead + cost.steps * truth.alpha_us + cost.share * static_cast<double>(size) / rate * 1e6;
      time *= std::max(0.1, 1 + protocols.noise * noise());
      if (protocols.wild > 0 && std::abs(noise()) > 2.3) time *= 3;
      table.rows.push_back({{"a.log", ++line, 1}, bytes(size), time, time, 0});
    }
  return table;
}

const FittedNumber& number_of(const Fit& fit, std::string_view name) {
  return *std::ranges::find(fit.numbers, name, &FittedNumber::name);
}

bool holds(const Estimated& estimate, double truth) { return estimate.low <= truth && truth <= estimate.high; }

TEST(FitMachine, ExactTimesGiveTheirParameters) {
  // All-Reduce on 8 ranks has 14 steps and All-Gather 7, so that alpha and overhead can be told apart.
  Noise noise(1);
  const Truth truth;
  const auto fit = fit_machine({{"",
                                 {table_of(CollectiveKind::all_reduce, 8, truth, {}, noise),
                                  table_of(CollectiveKind::all_gather, 8, truth, {}, noise)}}},
                               {});
  ASSERT_TRUE(fit.ok()) << to_string(fit.errors());
  EXPECT_NEAR(number_of(*fit, "alpha").value.value, truth.alpha_us, 1e-6);
  EXPECT_NEAR(number_of(*fit, "overhead").value.value, truth.overhead_us, 1e-5);
  EXPECT_NEAR(number_of(*fit, "bandwidth").value.value / truth.rate, 1, 1e-9);
  for (const auto& table : fit->tables) EXPECT_EQ(table.pieces.size(), 1U);
  const auto machine = parse_machine(fit->machine, "m.toml");
  ASSERT_TRUE(machine.ok()) << to_string(machine.errors()) << fit->machine;
  EXPECT_EQ(machine->topology.npus(), 8U);
  // A hop from NPU to NPU takes two links.
  EXPECT_EQ(machine->topology.classes()[0].alpha, nanoseconds(750));
  EXPECT_NEAR(static_cast<double>(machine->topology.classes()[0].bandwidth.count()), truth.rate, 2);
}

TEST(FitMachine, EachParameterIsInItsIntervalInNineOfTenDraws) {
  const Truth truth;
  int alpha = 0;
  int rate = 0;
  int overhead = 0;
  int pieces = 0;
  constexpr int kDraws = 200;
  for (std::uint64_t seed = 0; seed < kDraws; ++seed) {
    Noise noise(seed);
    const Protocols protocols{0.03, 1 << 20};
    const auto fit = fit_machine({{"",
                                   {table_of(CollectiveKind::all_reduce, 8, truth, protocols, noise, 3),
                                    table_of(CollectiveKind::all_gather, 8, truth, protocols, noise, 3)}}},
                                 {});
    ASSERT_TRUE(fit.ok()) << to_string(fit.errors());
    alpha += holds(number_of(*fit, "alpha").value, truth.alpha_us) ? 1 : 0;
    rate += holds(number_of(*fit, "bandwidth").value, truth.rate) ? 1 : 0;
    // Small sizes run LL, which has 15 us less.
    overhead += holds(number_of(*fit, "overhead").value, truth.overhead_us - 15) ? 1 : 0;
    pieces += fit->tables[0].pieces.size() >= 2 && fit->tables[0].changes.back().above == mebibytes(1) ? 1 : 0;
  }
  EXPECT_GE(alpha, 180);
  EXPECT_GE(rate, 180);
  EXPECT_GE(overhead, 180);
  EXPECT_GE(pieces, 150);
}

TEST(FitMachine, WildPointsDoNotSwayTheFit) {
  const Truth truth;
  Noise noise(7);
  const auto fit = fit_machine({{"", {table_of(CollectiveKind::all_reduce, 8, truth, {0.01, 0, 0.02}, noise, 5)}}}, {});
  ASSERT_TRUE(fit.ok());
  EXPECT_NEAR(number_of(*fit, "bandwidth").value.value / truth.rate, 1, 0.02);
}

TEST(FitMachine, AChangeOfProtocolIsFoundAndNamed) {
  // LL takes twice the time per byte and 15 us less.
  Noise noise(3);
  const auto fit = fit_machine({{"", {table_of(CollectiveKind::all_reduce, 8, {}, {0.002, 1 << 20}, noise)}}}, {});
  ASSERT_TRUE(fit.ok());
  const auto& table = fit->tables[0];
  ASSERT_EQ(table.pieces.size(), 2U);
  EXPECT_EQ(table.changes[0].below, kibibytes(512));
  EXPECT_EQ(table.changes[0].above, mebibytes(1));
  EXPECT_THAT(table.changes[0].what, HasSubstr("as from LL to Simple"));
}

TEST(FitMachine, WhatIsNotFittedIsListed) {
  Noise noise(1);
  auto table = table_of(CollectiveKind::all_reduce, 8, {}, {}, noise);
  table.rows[0].size = Bytes::zero();
  table.rows[1].wrong = 3;
  table.rows[2].out_of_place_us = std::nan("");
  table.rows[3].wrong = -1;
  const auto fit = fit_machine({{"", {table}}}, {});
  ASSERT_TRUE(fit.ok());
  ASSERT_EQ(fit->left_out.size(), 3U);
  EXPECT_THAT(fit->left_out[0].why, HasSubstr("size 0"));
  EXPECT_THAT(fit->left_out[1].why, HasSubstr("wrong"));
  EXPECT_THAT(fit->left_out[2].why, HasSubstr("in place only"));
  EXPECT_THAT(fit->notes.at(0), HasSubstr("1 of 19 rows were not checked"));
  EXPECT_EQ(fit_machine({{"", {table}}}, {.in_place = true})->left_out.size(), 2U);
}

TEST(FitMachine, OneNumberOfStepsLeavesOverheadInAlpha) {
  Noise noise(1);
  const Truth truth;
  const std::vector<MeasurementLog> logs{{"", {table_of(CollectiveKind::all_reduce, 8, truth, {}, noise)}}};
  const auto mixed = fit_machine(logs, {});
  ASSERT_TRUE(mixed.ok());
  // 14 steps hold 20 us more.
  EXPECT_NEAR(number_of(*mixed, "alpha").value.value, truth.alpha_us + 20.0 / 14, 1e-6);
  EXPECT_FALSE(number_of(*mixed, "overhead").fitted);
  EXPECT_THAT(mixed->notes.at(0), HasSubstr("--overhead"));
  const auto stated = fit_machine(logs, {.overhead = microseconds(20)});
  ASSERT_TRUE(stated.ok());
  EXPECT_NEAR(number_of(*stated, "alpha").value.value, truth.alpha_us, 1e-6);
  EXPECT_THAT(to_string(fit_machine(logs, {.overhead = microseconds(2000)})->no_machine), HasSubstr("--overhead"));
}

TEST(FitMachine, BandwidthsOfAKnownMachineFollowFromWhatItsProgramsTake) {
  const auto machine = parse_machine(
      "schema = 1\nkind = \"machine\"\nname = \"pair\"\nsource = \"none\"\nshape = \"RI(4)_RI(2)\"\nalpha = "
      "\"1us\"\nbandwidth = \"100GB/s, 10GB/s\"\n",
      "pair.toml");
  ASSERT_TRUE(machine.ok()) << to_string(machine.errors());
  FitOptions options;
  options.machine = *machine;
  options.machine_name = "pair.toml";
  Noise noise(1);
  // What it takes with twice the bandwidth between the boxes, and 30 us per call.
  auto twice = *machine;
  twice.shaped->links.bandwidth = {gigabytes_per_second(100), gigabytes_per_second(20)};
  const auto network = measure::Network::make(topology_of(twice));
  ASSERT_TRUE(network.ok());
  auto table = table_of(CollectiveKind::all_reduce, 8, {}, {}, noise);
  for (auto& row : table.rows) {
    const auto time = network->time("ring", CollectiveKind::all_reduce, row.size, 8);
    ASSERT_TRUE(time.ok());
    row.out_of_place_us = 30 + static_cast<double>(time->count()) / 1e6;
  }
  const auto fit = fit_machine({{"", {table}}}, options);
  ASSERT_TRUE(fit.ok()) << to_string(fit.errors());
  const auto fitted = parse_machine(fit->machine, "m.toml");
  ASSERT_TRUE(fitted.ok()) << to_string(fitted.errors()) << fit->machine;
  ASSERT_TRUE(fitted->shaped.has_value());
  EXPECT_EQ(fitted->shaped->links.bandwidth[0], gigabytes_per_second(100));
  EXPECT_NEAR(static_cast<double>(fitted->shaped->links.bandwidth[1].count()), 20e9, 0.1e9);
  EXPECT_TRUE(number_of(*fit, "dimension 2").fitted);
  EXPECT_FALSE(number_of(*fit, "dimension 1").fitted);
  EXPECT_NEAR(number_of(*fit, "overhead").value.value, 30, 3);
}

// 4 NPUs on one switch that passes bytes on as they come: the fitted machine keeps its switch, and the fit runs on it.
// Twice the bandwidth is found only there: a switch that stores would take each chunk's time twice.
TEST(FitMachine, AKnownMachineKeepsItsForwarding) {
  const auto machine = parse_machine(
      "schema = 1\nkind = \"machine\"\nname = \"box\"\nsource = \"none\"\nshape = \"SW(4)\"\nalpha = \"1us\"\n"
      "bandwidth = \"100GB/s\"\nforwarding = \"virtual_cut_through\"\n",
      "box.toml");
  ASSERT_TRUE(machine.ok()) << to_string(machine.errors());
  FitOptions options;
  options.machine = *machine;
  options.machine_name = "box.toml";
  Noise noise(1);
  // A ring's All-Reduce takes 2 * 3 steps of 2 alphas and a quarter of the size; here at 200 GB/s.
  auto table = table_of(CollectiveKind::all_reduce, 4, {}, {}, noise);
  for (auto& row : table.rows) row.out_of_place_us = 30 + 6 * (2 + static_cast<double>(row.size.count()) / 4 / 200e3);
  const auto fit = fit_machine({{"", {table}}}, options);
  ASSERT_TRUE(fit.ok()) << to_string(fit.errors());
  const auto fitted = parse_machine(fit->machine, "m.toml");
  ASSERT_TRUE(fitted.ok()) << to_string(fitted.errors()) << fit->machine;
  ASSERT_TRUE(fitted->shaped.has_value());
  EXPECT_EQ(fitted->shaped->forwarding, Forwarding::virtual_cut_through);
  EXPECT_NEAR(static_cast<double>(fitted->shaped->links.bandwidth[0].count()), 200e9, 1e9);
}

// Two switches join two NPUs. Routes lead over the first, so its links bind, and the fit says that the machine file is
// without the routes. Without routes the destinations take the switches in turn, and the second, which is slower,
// binds.
TEST(FitMachine, AKnownMachineKeepsItsGivenRoutes) {
  const std::string links =
      "schema = 1\nkind = \"machine\"\nname = \"two\"\nsource = \"none\"\nnpus = 2\n[[switches]]\ncount = 2\n"
      "[[links]]\nbandwidth = \"100GB/s\"\nalpha = \"1us\"\npairs = [[0, 2], [1, 2]]\n"
      "[[links]]\nbandwidth = \"10GB/s\"\nalpha = \"1us\"\npairs = [[0, 3], [1, 3]]\n";
  const std::string routes = "[[route]]\nfrom = \"0..1\"\nto = \"0..1\"\nthrough = [2]\n";
  Noise noise(1);
  const auto table = table_of(CollectiveKind::all_reduce, 2, {}, {}, noise);
  for (const bool given : {true, false}) {
    const auto machine = parse_machine(given ? links + routes : links, "two.toml");
    ASSERT_TRUE(machine.ok()) << to_string(machine.errors());
    FitOptions options;
    options.machine = *machine;
    options.machine_name = "two.toml";
    const auto fit = fit_machine({{"", {table}}}, options);
    ASSERT_TRUE(fit.ok()) << to_string(fit.errors());
    EXPECT_EQ(number_of(*fit, "links of 10GB/s and 1us").fitted, !given);
    EXPECT_EQ(number_of(*fit, "links of 100GB/s and 1us").fitted, given);
    ASSERT_EQ(fit->notes.size(), given ? 1U : 0U);
    if (given) {
      EXPECT_THAT(fit->notes[0], HasSubstr("two.toml gives routes"));
    }
  }
}

TEST(FitMachine, WhatCannotBeFittedIsRefused) {
  Noise noise(1);
  const std::vector<MeasurementLog> logs{{"", {table_of(CollectiveKind::all_gather, 8, {}, {}, noise)}}};
  EXPECT_THAT(to_string(fit_machine(logs, {"tree"}).errors()), HasSubstr("tree does no all_gather"));
  EXPECT_THAT(to_string(fit_machine(logs, {"rnig"}).errors()), HasSubstr("did you mean \"ring\""));
  auto few = logs;
  few[0].tables[0].rows.resize(2);
  EXPECT_THAT(to_string(fit_machine(few, {}).errors()), HasSubstr("three sizes"));
  auto flat = logs;
  for (auto& row : flat[0].tables[0].rows) row.out_of_place_us = 5;
  EXPECT_THAT(to_string(fit_machine(flat, {})->no_machine), HasSubstr("do not grow"));
}

TEST(FitMachine, SizesOf63BitsKeepTheirValue) {
  MeasuredTable table{{"a.log", 1, 1}, CollectiveKind::all_reduce, 8, 1, {}};
  for (const auto size : {Bytes::max() - bytes(2), Bytes::max() - bytes(1), Bytes::max()})
    table.rows.push_back({{"a.log", 2, 1}, size, 10.0, 10.0, 0});
  const auto fit = fit_machine({{"", {table}}}, {});
  ASSERT_TRUE(fit.ok());
  EXPECT_EQ(fit->tables.at(0).pieces.at(0).last, Bytes::max());
  EXPECT_FALSE(fit->no_machine.empty());
}

TEST(FitMachine, ManyRowsAreFittedInASecond) {
  Noise noise(1);
  MeasuredTable table{{"a.log", 1, 1}, CollectiveKind::all_reduce, 8, 1, {}};
  for (std::int64_t i = 1; i <= 10'000; ++i)
    table.rows.push_back(
        {{"a.log", 1, 1}, bytes(i * 100'000), 30 + static_cast<double>(i) * 2 * (1 + 0.01 * noise()), 1, 0});
  const auto fit = fit_machine({{"", {table}}}, {});
  ASSERT_TRUE(fit.ok());
  // 2 us for 100 KB, 7/4 of which pass a port: 87.5 GB/s.
  EXPECT_NEAR(number_of(*fit, "bandwidth").value.value, 87.5e9, 1e9);
}

TEST(Regression, QuantilesOfStudentsT) {
  // Tables print 12.706, 2.571, 2.447, 2.228, 2.042 and 1.980.
  EXPECT_NEAR(measure::student_quantile(1), 12.706, 1e-3);
  EXPECT_NEAR(measure::student_quantile(5), 2.571, 1e-3);
  EXPECT_NEAR(measure::student_quantile(6), 2.447, 1e-3);
  EXPECT_NEAR(measure::student_quantile(10), 2.228, 1e-3);
  EXPECT_NEAR(measure::student_quantile(30), 2.042, 1e-3);
  EXPECT_NEAR(measure::student_quantile(120), 1.980, 1e-3);
}

}  // namespace
}  // namespace tenex
