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

/// Adds the settings that the point has.
void add_settings(Report& report, const DesignPoint& point) {
  for (const auto& setting : setting_columns()) {
    if (!setting.training) continue;
    const auto cell = setting_cell(point, setting.name);
    if (cell != absent_cell(SettingColumn::Kind::text)) add_cell(report, std::string(setting.name), cell);
  }
}

Report report_of(const DesignPoint& point, const Evaluation& row) {
  Report report;
  report.add("status", std::string(metric_columns()[0].flags[static_cast<std::size_t>(row.status)]));
  if (!row.reason.empty()) report.add("reason", row.reason);
  report.add("topology", text_setting(point, "topology"));
  add_settings(report, point);
  report.add_count("npus", row.npus);
  report.add("mapping", row.mapping);
  report.add_count("training_time_ps", row.training_time_ps);
  report.add("chosen_bandwidth_bytes_per_s", row.chosen_bandwidth_bytes_per_s);
  report.add_real("network_cost_usd", row.network_cost_usd);
  report.add_real("perf_per_cost_per_s_usd", row.perf_per_cost);
  report.add_real("objective", row.objective);
  report.add_real("relative_gap", row.relative_gap);
  if (row.split_exact >= 0)
    report.add("split_exact", row.split_exact != 0);
  else
    report.add_count("split_exact", -1);
  report.add_count("forward_compute_ps", row.forward_compute_ps);
  report.add_count("input_gradient_compute_ps", row.input_gradient_compute_ps);
  report.add_count("weight_gradient_compute_ps", row.weight_gradient_compute_ps);
  report.add_count("forward_exposed_ps", row.forward_exposed_ps);
  report.add_count("input_gradient_exposed_ps", row.input_gradient_exposed_ps);
  report.add_count("weight_gradient_exposed_ps", row.weight_gradient_exposed_ps);
  report.add_count("bubble_ps", row.bubble_ps);
  report.add_count("bound_ps", row.bound_ps);
  report.add("bound_name", row.bound_name);
  report.add_real("efficiency", row.efficiency);
  if (row.verified == Verified::skipped)
    report.add("verified", std::string("skipped"));
  else  // with LIBRA's formulas there is nothing to verify
    report.add("verified", row.verified == Verified::yes ? Report::Value(true) : Report::Value(std::monostate{}));
  report.add("evaluation_seconds", row.evaluation_seconds);
  report.add_count("memory_planned_bytes", row.memory_planned_bytes);
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
    std::fprintf(stderr, "%s\n", output.row.reason.c_str());
    return exit;
  }
  const auto report = report_of(*point, output.row);
  std::fputs((arguments.json ? to_json(report) : to_text(report)).c_str(), stdout);
  return exit;
}

}  // namespace tenex::cli
