// Objectives: which metrics they may be, and their values in rows.
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "tenex/evaluate/search.hpp"

namespace tenex {
namespace {

using Kind = MetricColumn::Kind;

/// More is better.
constexpr std::array<std::string_view, 5> kMaximized{"efficiency", "algbw", "busbw", "perf_per_cost", "split_exact"};
/// Follow from a time and the point's bandwidths alone, so that a cheap time gives them cheaply.
constexpr std::array<std::string_view, 6> kEarly{"collective_time_ps", "algbw",        "busbw", "training_time_ps",
                                                 "network_cost_usd",   "perf_per_cost"};

}  // namespace

const std::vector<ObjectiveName>& objective_names() {
  static const std::vector<ObjectiveName> names = [] {
    std::vector<ObjectiveName> list;
    for (const auto& column : metric_columns()) {
      if (column.measured || (column.kind != Kind::integer && column.kind != Kind::real)) continue;
      list.push_back({column.name, std::ranges::find(kMaximized, column.name) != kMaximized.end(),
                      std::ranges::find(kEarly, column.name) != kEarly.end()});
    }
    return list;
  }();
  return names;
}

std::optional<double> objective_value(const Evaluation& row, const Objective& objective) {
  if (row.status != PointStatus::ok) return std::nullopt;
  const auto& columns = metric_columns();
  const auto column = std::ranges::find(columns, objective.metric, &MetricColumn::name);
  ensure(column != columns.end(), "an objective that is no metric");
  const auto value = metric_value(row, static_cast<std::size_t>(column - columns.begin()));
  if (const auto* real = std::get_if<double>(&value))
    return std::isnan(*real) ? std::nullopt : std::optional<double>(*real);
  const auto integer = std::get<std::int64_t>(value);
  return integer < 0 ? std::nullopt : std::optional<double>(static_cast<double>(integer));
}

}  // namespace tenex
