// optimize: one training point with its bandwidth split by a scheme; reports its time, cost and bounds.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "optimize_search.hpp"
#include "report.hpp"
#include "tenex/base/units.hpp"
#include "tenex/evaluate/dimension_table.hpp"
#include "tenex/evaluate/evaluate.hpp"
#include "tenex/topology/shape.hpp"
#include "tenex/training/npu_memory.hpp"

namespace tenex::cli {
namespace {

/// Where bandwidths come from that the user does not say: they are given where links are stated, by rates or by a
/// machine, and else chosen.
std::string_view scheme_for(std::vector<std::pair<std::string, std::string>> settings) {
  constexpr std::string_view kGiven = "given";
  const auto stated = [](const auto& each) { return each.first == "bandwidth" || each.first == "npu_bandwidth"; };
  if (std::ranges::any_of(settings, stated)) return kGiven;
  settings.emplace_back("scheme", std::string(kGiven));
  const auto point = make_point(settings, vocabulary());
  return point && !point->topology.machine_file.empty() ? kGiven : "perf_opt";
}

Result<DesignPoint> optimized_point(const OptimizeArguments& arguments) {
  auto settings = arguments.settings;
  const auto given = [&](std::string_view key) {
    return std::ranges::any_of(settings, [&](const auto& setting) { return setting.first == key; });
  };
  if (!given("workload"))
    return input_error({"--workload", 0, 0}, "no workload is named", "a bandwidth is split for a model to train",
                       "give --workload gpt3, or another of `tenex list workloads`");
  if (!given("hp"))
    return input_error({"--hp", 0, 0}, "no parallelization is named", {},
                       "give --npus N, which searches all of N NPUs, or one, such as --hp 8,64,2");
  if (!given("scheme")) settings.emplace_back("scheme", std::string(scheme_for(settings)));
  for (const auto& each : arguments.constraints) settings.emplace_back("constraint", each);
  return point_of_words(settings);
}

/// Adds the settings of training that the point has.
void add_training_settings(Report& report, const DesignPoint& point) {
  for (const auto& setting : setting_columns()) {
    if (!setting.training) continue;
    const auto cell = setting_cell(point, setting.name);
    if (cell != absent_cell(SettingColumn::Kind::text)) add_cell(report, std::string(setting.name), cell);
  }
}

Report optimum_report(const DesignPoint& point, const Evaluation& row) {
  Report settings;
  add_settings(settings, point, {"topology"});
  add_training_settings(settings, point);
  return report_of_row(point, row, std::move(settings));
}

std::string split_rate_text(Bandwidth bandwidth) { return to_rounded_rate(static_cast<double>(bandwidth.count())); }

/// Whole dollars.
std::string in_dollars(Money amount) {
  return to_string(dollars(std::llround(static_cast<double>(amount.count()) * 1e-6)));
}

/// "29.7ns (0.2 %)".
std::string change_text(SimTime change, SimTime time) {
  const auto share =
      100 * static_cast<double>(change.count()) / static_cast<double>(std::max<std::int64_t>(time.count(), 1));
  return fmt::format("{} ({:.2f} %)", to_rounded(change), share);
}

/// A line for each dimension: what it is, what the scheme gave it, and the same in equal shares.
std::string dimension_text(const DimensionTable& table, const Shape& shape) {
  auto total = Bandwidth::zero();
  for (const auto& each : table.chosen.dimensions) total += each.bandwidth;
  std::vector<std::vector<std::string>> lines{{"dimension", "kind", "bandwidth", "share", "cost", "busy time",
                                               "1 % more saves", "1 % less costs", "in equal shares", "cost",
                                               "busy time"}};
  for (std::size_t i = 0; i < table.chosen.dimensions.size(); ++i) {
    const auto& chosen = table.chosen.dimensions[i];
    const auto& equal = table.equal.dimensions[i];
    const auto share = 100 * static_cast<double>(chosen.bandwidth.count()) / static_cast<double>(total.count());
    lines.push_back({fmt::format("{} {}", i + 1, to_string(Shape{{shape.blocks[i]}})), table.kinds[i],
                     split_rate_text(chosen.bandwidth), fmt::format("{:.1f} %", share), in_dollars(chosen.cost),
                     to_rounded(chosen.busy), change_text(chosen.saved, table.chosen.time),
                     change_text(chosen.lost, table.chosen.time), split_rate_text(equal.bandwidth),
                     in_dollars(equal.cost), to_rounded(equal.busy)});
  }
  lines.push_back({"iteration", "", split_rate_text(total), "", in_dollars(table.chosen.cost),
                   to_rounded(table.chosen.time), "", "", split_rate_text(total), in_dollars(table.equal.cost),
                   to_rounded(table.equal.time)});
  return format_table(lines);
}

Report optimum_report(const NetworkUse& use) {
  std::vector<Report> dimensions;
  for (const auto& each : use.dimensions) {
    Report entry;
    entry.add("bandwidth_bytes_per_s", each.bandwidth.count());
    entry.add("cost_usd", static_cast<double>(each.cost.count()) * 1e-6);
    entry.add("busy_ps", each.busy.count());
    entry.add("saved_by_one_percent_more_ps", each.saved.count());
    entry.add("lost_by_one_percent_less_ps", each.lost.count());
    dimensions.push_back(std::move(entry));
  }
  Report report;
  report.add("libra_time_ps", use.time.count());
  report.add("network_cost_usd", static_cast<double>(use.cost.count()) * 1e-6);
  report.add("dimensions", std::move(dimensions));
  return report;
}

}  // namespace

ExitCode execute(const OptimizeArguments& arguments) {
  if (arguments.npus > 0) return search_hp(arguments);
  const auto limit = memory_limit(arguments.memory, EvaluateOptions{}.memory_limit_bytes);
  if (!limit) return refuse(limit.errors());
  const auto point = optimized_point(arguments);
  if (!point) return refuse(point.errors());
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
  if (const auto bytes = output.row.memory_per_npu_bytes;
      bytes > kUnlikelyMemory && !point->training().npu_memory.limits())
    warn(
        fmt::format("{} takes {} of an NPU, and npu_memory states no limit: give it, and what does not fit is refused "
                    "with the fastest change that does",
                    to_string(point->training().hp), to_rounded_bytes(static_cast<double>(bytes))));
  auto report = optimum_report(*point, output.row);
  const auto table = exit == ExitCode::done ? dimension_table(*point, cache) : Result<DimensionTable>(Diagnostic());
  if (table && arguments.json) {
    report.add_object("network", optimum_report(table->chosen));
    report.add_object("equal_shares", optimum_report(table->equal));
  }
  std::fputs((arguments.json ? to_json(report) : to_text(report)).c_str(), stdout);
  if (table && !arguments.json)
    fmt::print("\nBy dimension, with LIBRA's formula:\n{}", dimension_text(*table, point->topology.shape));
  return exit;
}

}  // namespace tenex::cli
