// optimize: one point that trains a model, its bandwidth split by a scheme, its time, cost and what is proven of them.
#include <algorithm>
#include <charconv>
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

/// "1000,2000": whole bytes per second.
Report::Integers integers_of(std::string_view list) {
  Report::Integers values;
  while (!list.empty()) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(list.data(), list.data() + list.size(), value);
    ensure(error == std::errc(), "a row's bandwidths are no whole numbers");
    values.push_back(value);
    list.remove_prefix(std::min(list.size(), static_cast<std::size_t>(end - list.data()) + 1));
  }
  return values;
}

/// The name of a setting in the report: that of the column, but units are named and `compute` is the time.
std::string reported_name(std::string_view setting) {
  if (setting == "compute") return "compute_rate";
  if (setting == "total_bandwidth") return "total_bandwidth_bytes_per_s";
  return std::string(setting);
}

/// What was asked, as far as the point has it.
void add_settings(Report& report, const DesignPoint& point) {
  for (const auto& setting : setting_columns()) {
    if (!setting.training) continue;
    if (setting.kind == SettingColumn::Kind::integer) {
      report.add_count(reported_name(setting.name), integer_setting(point, setting.name));
      continue;
    }
    auto text = text_setting(point, setting.name);
    if (text.empty()) continue;
    if (setting.name == "cost_budget")  // whole millionths
      report.add("cost_budget_usd", std::stod(text) / 1e6);
    else
      report.add(reported_name(setting.name), std::move(text));
  }
}

Report by_phase(std::int64_t forward, std::int64_t input_gradient, std::int64_t weight_gradient) {
  Report report;
  report.add_count("forward_ps", forward);
  report.add_count("input_gradient_ps", input_gradient);
  report.add_count("weight_gradient_ps", weight_gradient);
  return report;
}

Report report_of(const DesignPoint& point, const Evaluation& row) {
  Report report;
  report.add("status", std::string(metric_columns()[0].flags[static_cast<std::size_t>(row.status)]));
  if (!row.reason.empty()) report.add("reason", row.reason);
  report.add("topology", text_setting(point, "topology"));
  add_settings(report, point);
  report.add_count("npus", row.npus);
  report.add("mapping", row.mapping);
  report.add_count("time_ps", row.training_time_ps);
  report.add("bandwidth_bytes_per_s", integers_of(row.chosen_bandwidth));
  report.add_real("cost_usd", row.network_cost_usd);
  report.add_real("perf_per_cost", row.perf_per_cost);
  report.add_real("objective", row.objective);
  report.add_real("relative_gap", row.relative_gap);
  if (row.split_exact >= 0)
    report.add("split_exact", row.split_exact != 0);
  else
    report.add_count("split_exact", -1);
  report.add_object("compute",
                    by_phase(row.forward_compute_ps, row.input_gradient_compute_ps, row.weight_gradient_compute_ps));
  report.add_object("exposed",
                    by_phase(row.forward_exposed_ps, row.input_gradient_exposed_ps, row.weight_gradient_exposed_ps));
  report.add_count("bubble_ps", row.bubble_ps);
  report.add_count("bound_ps", row.bound_ps);
  report.add("bound_name", row.bound_name);
  report.add_real("efficiency", row.efficiency);
  if (row.verified == Verified::skipped)
    report.add("verified", std::string("skipped"));
  else  // LIBRA's formulas leave nothing to verify
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
