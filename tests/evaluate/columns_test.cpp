// The table of metric columns: fields of Evaluation and columns of files.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/evaluate/evaluation.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {
namespace {

TEST(MetricColumns, HaveDistinctNamesAndFlagsOnlyWhereTheyAreFlags) {
  std::set<std::string_view> names;
  for (const auto& column : metric_columns()) {
    EXPECT_TRUE(names.insert(column.name).second) << column.name;
    EXPECT_EQ(column.kind == MetricColumn::Kind::flags, !column.flags.empty()) << column.name;
    EXPECT_FALSE(column.meaning.empty()) << column.name;
  }
}

TEST(MetricColumns, HaveAFlagForEveryEngineOfASynthesizer) {
  for (const auto& column : metric_columns()) {
    if (column.name != "engine") continue;
    EXPECT_EQ(std::ranges::find(column.flags, "symmetric") - column.flags.begin(), 7) << "numbers are stored";
    for (const auto& synthesizer : synthesizers())
      for (const auto engine : synthesizer.engines)
        EXPECT_EQ(std::ranges::count(column.flags, engine), 1) << synthesizer.name << ' ' << engine;
  }
}

// A bound that has left the table keeps its number, so that the rows of older files mean what they meant.
TEST(MetricColumns, KeepTheNumbersOfBounds) {
  const auto column = std::ranges::find(metric_columns(), "bound_name", &MetricColumn::name);
  ASSERT_NE(column, metric_columns().end());
  const std::vector<std::string_view> first{
      "none",        "ejection", "injection",       "link_total", "eccentricity", "pipeline",        "relay",
      "approach",    "slices",   "volume_distance", "middle_cut", "sum_of_parts", "total_bandwidth", "optimizer",
      "collectives", "cut"};
  ASSERT_GE(column->flags.size(), first.size());
  EXPECT_TRUE(std::equal(first.begin(), first.end(), column->flags.begin()));
}

// Files store the number of a flag. A build without solvers reads and writes the same numbers as one with them.
TEST(MetricColumns, HaveTheEnginesOfSolversInEveryBuild) {
  for (const auto& column : metric_columns()) {
    if (column.name != "engine") continue;
    const std::vector<std::string_view> last{"lp", "milp", "a_star", "incumbent", "shortest", "smt"};
    ASSERT_EQ(column.flags.size(), 25U);  // eight, tacos_reference, four of pccl, six of trees, and these six
    EXPECT_TRUE(std::equal(last.begin(), last.end(), column.flags.end() - 6));
  }
}

TEST(MetricColumns, CarryEveryFieldThereAndBack) {
  Evaluation row;
  row.status = PointStatus::ok;
  row.verified = Verified::skipped;
  row.reason = "why";
  row.engine = "event_driven";
  row.reduction_check = "in_tree";
  row.overlap_method = "no_gain";
  row.bound_name = std::string(metric_columns()[6].flags.at(1));
  row.schedule_hash = "00ff";
  row.npus = 9;
  row.collective_time_ps = 123456789012345678;
  row.efficiency = 0.1 + 0.2;
  row.synthesis_seconds = 1.5;
  row.training_time_ps = 7;
  row.mapping = "tensor: 4 of 8 in dimension 1";
  row.network_cost_usd = 1722;
  row.chosen_bandwidth_bytes_per_s = {3, 1};
  Evaluation copy;
  for (std::size_t c = 0; c < metric_columns().size(); ++c) set_metric(copy, c, metric_value(row, c));
  for (std::size_t c = 0; c < metric_columns().size(); ++c) {
    const auto value = metric_value(row, c);
    // NaN (an absent double) never equals itself.
    if (const auto* real = std::get_if<double>(&value); real != nullptr && std::isnan(*real)) {
      EXPECT_TRUE(std::isnan(std::get<double>(metric_value(copy, c)))) << metric_columns()[c].name;
      continue;
    }
    EXPECT_EQ(metric_value(copy, c), value) << metric_columns()[c].name;
  }
  EXPECT_EQ(copy.bound_name, row.bound_name);
  EXPECT_EQ(copy.collective_time_ps, row.collective_time_ps);
  EXPECT_EQ(copy.efficiency, row.efficiency);
  EXPECT_EQ(copy.training_time_ps, 7);
  EXPECT_EQ(copy.mapping, row.mapping);
  EXPECT_EQ(copy.network_cost_usd, 1722);
  EXPECT_EQ(copy.chosen_bandwidth_bytes_per_s, row.chosen_bandwidth_bytes_per_s);
}

TEST(MetricColumns, SayWhichOnlyPointsThatTrainHave) {
  std::vector<std::string_view> names;
  for (const auto& column : metric_columns())
    if (column.training) names.push_back(column.name);
  const std::vector<std::string_view> expected{"training_time_ps",
                                               "forward_compute_ps",
                                               "input_gradient_compute_ps",
                                               "weight_gradient_compute_ps",
                                               "forward_exposed_ps",
                                               "input_gradient_exposed_ps",
                                               "weight_gradient_exposed_ps",
                                               "bubble_ps",
                                               "mapping",
                                               "chosen_bandwidth_bytes_per_s",
                                               "network_cost_usd",
                                               "perf_per_cost_per_s_usd",
                                               "relative_gap",
                                               "objective",
                                               "split_exact",
                                               "samples_per_s",
                                               "tokens_per_s",
                                               "model_flop_utilization",
                                               "mfu_rate_flop_per_s",
                                               "chosen_microbatches",
                                               "memory_per_npu_bytes",
                                               "weight_memory_bytes",
                                               "gradient_memory_bytes",
                                               "optimizer_memory_bytes",
                                               "activation_memory_bytes",
                                               "buffer_memory_bytes",
                                               "tensor_exposed_ps",
                                               "data_exposed_ps",
                                               "pipeline_exposed_ps",
                                               "expert_exposed_ps",
                                               "world_exposed_ps"};
  EXPECT_EQ(names, expected);
}

/// The names of times in ps or s, sizes in B, rates in B/s and money all end in their unit.
TEST(MetricColumns, NameTheirUnits) {
  const std::map<std::string_view, std::string_view> endings{
      {"ps", "_ps"},   {"s", "_seconds"},           {"B", "_bytes"},   {"B/s", "_bytes_per_s"},
      {"USD", "_usd"}, {"1/(s*USD)", "_per_s_usd"}, {"1/s", "_per_s"}, {"FLOP/s", "_flop_per_s"}};
  for (const auto& column : metric_columns()) {
    if (!column.units.empty()) {
      ASSERT_TRUE(endings.contains(column.units)) << column.units;
      EXPECT_TRUE(column.name.ends_with(endings.at(column.units))) << column.name << " in " << column.units;
      continue;
    }
    for (const auto& [units, ending] : endings) EXPECT_FALSE(column.name.ends_with(ending)) << column.name;
  }
}

TEST(MetricColumns, HavePlacesWithoutGaps) {
  for (const auto place : {&MetricColumn::answer, &MetricColumn::tabled}) {
    int next = 1;
    for (const auto metric : placed_metrics(place))
      EXPECT_EQ(metric_columns()[metric].*place, next++) << metric_columns()[metric].name;
    EXPECT_GT(next, 1);
  }
}

TEST(MetricColumns, RefuseAFlagOutsideTheTable) {
  Evaluation row;
  row.engine = "steam";
  bool refused = false;
  for (std::size_t c = 0; c < metric_columns().size(); ++c) {
    if (metric_columns()[c].name != "engine") continue;
    EXPECT_THROW((void)metric_value(row, c), InvariantError);
    refused = true;
  }
  EXPECT_TRUE(refused);
}

}  // namespace
}  // namespace tenex
