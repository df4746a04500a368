#include "study_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "report.hpp"
#include "tenex/base/units.hpp"
#include "tenex/codesign/network_cost.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/store/store.hpp"
#include "tenex/training/npu_memory.hpp"

namespace tenex::cli {
namespace {

struct Tally {
  std::size_t points = 0;
  std::size_t verified = 0;
  std::size_t at_bound = 0;
  std::size_t not_ok = 0;
  std::size_t measured = 0;
  double log_efficiency = 0;
  double least_efficiency = std::numeric_limits<double>::infinity();
  double best_algbw = 0;
};

void count(Tally& tally, const Evaluation& row) {
  if (row.status == PointStatus::pruned) return;  // pruned by a search
  ++tally.points;
  if (row.status != PointStatus::ok) {
    ++tally.not_ok;
    return;
  }
  if (row.verified == Verified::yes) ++tally.verified;
  // A row without an efficiency is not compared with its bound (congestion_unaware).
  if (!std::isnan(row.efficiency) && row.collective_time_ps == row.bound_ps) ++tally.at_bound;
  if (!std::isnan(row.efficiency) && row.efficiency > 0) {
    ++tally.measured;
    tally.log_efficiency += std::log(row.efficiency);
    tally.least_efficiency = std::min(tally.least_efficiency, row.efficiency);
  }
  if (!std::isnan(row.algbw_bytes_per_s)) tally.best_algbw = std::max(tally.best_algbw, row.algbw_bytes_per_s);
}

std::vector<std::string> table_row(const std::string& name, const Tally& tally) {
  const auto measured = static_cast<double>(tally.measured);
  return {name,
          fmt::format("{}", tally.points),
          fmt::format("{}", tally.verified),
          fmt::format("{}", tally.not_ok),
          fmt::format("{}", tally.at_bound),
          tally.measured > 0 ? percent_text(std::exp(tally.log_efficiency / measured)) : "-",
          tally.measured > 0 ? percent_text(tally.least_efficiency) : "-",
          tally.best_algbw > 0 ? to_rounded_rate(tally.best_algbw) : "-"};
}

std::string table_of(const std::map<std::string, Tally>& tallies, const Tally& all) {
  std::vector<std::vector<std::string>> rows{{"collective, algorithm", "points", "verified", "not ok", "at bound",
                                              "geometric mean efficiency", "least", "best algbw"}};
  for (const auto& [name, tally] : tallies) rows.push_back(table_row(name, tally));
  rows.push_back(table_row("all", all));
  return format_table(rows);
}

/// The points that train one workload under one scheme.
struct TrainingTally {
  std::size_t points = 0;
  std::size_t not_ok = 0;
  std::int64_t best_time_ps = -1;
  double its_cost_usd = std::numeric_limits<double>::quiet_NaN();  ///< the cheapest network of that time
  double best_perf_per_cost = std::numeric_limits<double>::quiet_NaN();
  double largest_gap = std::numeric_limits<double>::quiet_NaN();
};

/// Whether `value` beats `best`; either may be absent.
bool beats(double value, double best) { return !std::isnan(value) && (std::isnan(best) || value > best); }

void count(TrainingTally& tally, const Evaluation& row) {
  if (row.status == PointStatus::pruned) return;
  ++tally.points;
  if (row.status != PointStatus::ok) {
    ++tally.not_ok;
    return;
  }
  const bool sooner = tally.best_time_ps < 0 || row.training_time_ps < tally.best_time_ps;
  const bool cheaper = row.training_time_ps == tally.best_time_ps && beats(-row.network_cost_usd, -tally.its_cost_usd);
  if (sooner || cheaper) tally.its_cost_usd = row.network_cost_usd;
  if (sooner) tally.best_time_ps = row.training_time_ps;
  if (beats(row.perf_per_cost_per_s_usd, tally.best_perf_per_cost))
    tally.best_perf_per_cost = row.perf_per_cost_per_s_usd;
  if (beats(row.relative_gap, tally.largest_gap)) tally.largest_gap = row.relative_gap;
}

std::string table_of(const std::map<std::string, TrainingTally>& tallies) {
  std::vector<std::vector<std::string>> rows{
      {"workload, scheme", "points", "not ok", "best time", "its cost", "best perf per cost", "largest gap"}};
  const auto or_dash = [](double value, auto&& text) { return std::isnan(value) ? std::string("-") : text(value); };
  for (const auto& [name, tally] : tallies)
    rows.push_back({name, fmt::format("{}", tally.points), fmt::format("{}", tally.not_ok),
                    tally.best_time_ps < 0 ? "-" : to_rounded(picoseconds(tally.best_time_ps)),
                    or_dash(tally.its_cost_usd, [](double usd) { return to_string(dollars(std::llround(usd))); }),
                    or_dash(tally.best_perf_per_cost, [](double value) { return fmt::format("{:.4g}/(s$)", value); }),
                    or_dash(tally.largest_gap, [](double gap) { return fmt::format("{:.1e}", gap); })});
  return format_table(rows);
}

/// Rows that are not ok, by cause.
class Failures {
 public:
  void count(const Evaluation& row) {
    if (row.status == PointStatus::ok || row.status == PointStatus::pruned) return;
    ++points_[row.status];
    if (row.status != PointStatus::out_of_memory) return;
    largest_ = std::max(largest_, row.memory_planned_bytes);
  }

  [[nodiscard]] std::string text() const {
    if (points_.empty()) return {};
    std::string list;
    for (const auto& [status, points] : points_)
      list += fmt::format("{}{} {}", list.empty() ? "" : ", ", points, name_of(status));
    auto text = fmt::format("not ok: {}; the column `reason` says why\n", list);
    if (points_.contains(PointStatus::over_npu_memory))
      text += "over_npu_memory: the iteration does not fit into an NPU; `reason` names the fastest change that fits\n";
    if (!points_.contains(PointStatus::out_of_memory)) return text;
    return text + fmt::format(
                      "out of memory{}: give a rank more with --memory, fewer ranks on a node, or a larger one, and "
                      "--retry-failed\n",
                      largest_ > 0 ? fmt::format(", the largest point takes {}", memory_text(largest_)) : "");
  }

 private:
  static std::string_view name_of(PointStatus status) {
    static const auto& flags = std::ranges::find(metric_columns(), "status", &MetricColumn::name)->flags;
    return flags[static_cast<std::size_t>(status)];
  }

  std::map<PointStatus, std::size_t> points_;
  std::int64_t largest_ = -1;  ///< bytes
};

/// Rows that train without a limit on the memory of an NPU and take more than most NPUs have.
class Excesses {
 public:
  void count(const Evaluation& row, std::string_view npu_memory) {
    if (npu_memory != "none" || row.memory_per_npu_bytes <= kUnlikelyMemory) return;
    ++points_;
    largest_ = std::max(largest_, row.memory_per_npu_bytes);
  }
  [[nodiscard]] std::string text() const {
    if (points_ == 0) return {};
    return fmt::format(
        "warning: {} of these points take more than {} of an NPU, the largest {}: npu_memory = \"80GB\" leaves out "
        "what "
        "does not fit\n",
        points_, to_rounded_bytes(static_cast<double>(kUnlikelyMemory)),
        to_rounded_bytes(static_cast<double>(largest_)));
  }

 private:
  std::size_t points_ = 0;
  std::int64_t largest_ = 0;
};

/// The columns that the tallies read.
ColumnChoice columns_to_read() {
  ColumnChoice choice{{"collective", "algorithm", "workload", "scheme", "npu_memory"},
                      {"status", "verified", "collective_time_ps", "bound_ps", "efficiency", "algbw_bytes_per_s",
                       "memory_planned_bytes"}};
  for (const auto& column : metric_columns())
    if (column.training && column.kind != MetricColumn::Kind::text && column.kind != MetricColumn::Kind::list)
      choice.metrics.push_back(column.name);
  return choice;
}

}  // namespace

Result<std::string> summarize(const std::filesystem::path& file) {
  std::map<std::string, Tally> tallies;
  std::map<std::string, TrainingTally> trained;
  Tally all;
  Failures failures;
  Excesses excesses;
  const auto count_row = [&](const std::vector<std::string_view>& words, const Evaluation& row) {
    failures.count(row);
    const auto& [collective, algorithm, workload, scheme] = std::tie(words[0], words[1], words[2], words[3]);
    if (!workload.empty()) {
      excesses.count(row, words[4]);
      return count(trained[fmt::format("{}  {}", workload, scheme)], row);
    }
    count(tallies[fmt::format("{}  {}", collective, algorithm)], row);
    count(all, row);
  };
  if (const auto status = visit_rows(file, columns_to_read(), count_row); !status) return status.errors();
  if (trained.empty()) return table_of(tallies, all) + failures.text();
  return (tallies.empty() ? "" : table_of(tallies, all) + "\n") + table_of(trained) + failures.text() + excesses.text();
}

}  // namespace tenex::cli
