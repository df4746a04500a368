// optimize: one training point with its bandwidth split by a scheme; reports its time, cost and bounds.
#include <algorithm>
#include <cstdio>
#include <string_view>
#include <utility>

#include "commands.hpp"
#include "report.hpp"
#include "tenex/evaluate/evaluate.hpp"

namespace tenex::cli {
namespace {

Result<DesignPoint> point_of(const OptimizeArguments& arguments) {
  auto settings = arguments.settings;
  const auto given = [&](std::string_view key) {
    return std::ranges::any_of(settings, [&](const auto& setting) { return setting.first == key; });
  };
  if (!given("workload"))
    return input_error({"--workload", 0, 0}, "no workload is named", "a bandwidth is split for a model to train",
                       "give --workload gpt3, or another of `tenex list workloads`");
  if (!given("scheme")) settings.emplace_back("scheme", "perf_opt");
  for (const auto& each : arguments.constraints) settings.emplace_back("constraint", each);
  return make_point(settings, vocabulary());
}

/// Adds the settings of training that the point has.
void add_training_settings(Report& report, const DesignPoint& point) {
  for (const auto& setting : setting_columns()) {
    if (!setting.training) continue;
    const auto cell = setting_cell(point, setting.name);
    if (cell != absent_cell(SettingColumn::Kind::text)) add_cell(report, std::string(setting.name), cell);
  }
}

Report report_of(const DesignPoint& point, const Evaluation& row) {
  Report report;
  add_metrics(report, row, {"status"});
  add_present_metrics(report, row, {"reason"});
  add_settings(report, point, {"topology"});
  add_training_settings(report, point);
  add_metrics(report, row,
              {"npus", "mapping", "training_time_ps", "chosen_bandwidth_bytes_per_s", "network_cost_usd",
               "perf_per_cost_per_s_usd", "objective", "relative_gap"});
  if (row.split_exact >= 0)
    report.add("split_exact", row.split_exact != 0);
  else
    report.add_count("split_exact", -1);
  add_metrics(
      report, row,
      {"forward_compute_ps", "input_gradient_compute_ps", "weight_gradient_compute_ps", "forward_exposed_ps",
       "input_gradient_exposed_ps", "weight_gradient_exposed_ps", "bubble_ps", "bound_ps", "bound_name", "efficiency"});
  if (row.verified == Verified::skipped)
    report.add("verified", std::string("skipped"));
  else  // with LIBRA's formulas there is nothing to verify
    report.add("verified", row.verified == Verified::yes ? Report::Value(true) : Report::Value(std::monostate{}));
  add_metrics(report, row, {"evaluation_seconds", "memory_planned_bytes"});
  report.add("seed", static_cast<std::int64_t>(point.seed));
  report.add("key", to_string(point.key));
  return report;
}

}  // namespace

ExitCode execute(const OptimizeArguments& arguments) {
  const auto limit = memory_limit(arguments.memory, EvaluateOptions{}.memory_limit_bytes);
  if (!limit) return complain(limit.errors()), ExitCode::bad_input;
  const auto point = point_of(arguments);
  if (!point) return complain(point.errors()), ExitCode::bad_input;
  Cache cache;
  EvaluateOptions options;
  options.threads = arguments.threads;
  options.memory_limit_bytes = *limit;
  options.alone = true;
  const auto output = evaluate(*point, cache, options);
  const auto exit = exit_of(output.row.status);
  if (exit != ExitCode::done && !arguments.json) {
    complain({input_error({}, output.row.reason)});
    return exit;
  }
  const auto report = report_of(*point, output.row);
  std::fputs((arguments.json ? to_json(report) : to_text(report)).c_str(), stdout);
  return exit;
}

}  // namespace tenex::cli
