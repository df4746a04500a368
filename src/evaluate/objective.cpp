// Objectives: the metrics that may be objectives, and their values in rows.
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include "tenex/design/design_point.hpp"
#include "tenex/evaluate/search.hpp"
#include "tenex/execution/sizes.hpp"

namespace tenex {
namespace {

using Kind = MetricColumn::Kind;

/// Metrics of which more is better.
constexpr std::array<std::string_view, 8> kMaximized{
    "efficiency",  "algbw_bytes_per_s", "busbw_bytes_per_s", "perf_per_cost_per_s_usd",
    "split_exact", "samples_per_s",     "tokens_per_s",      "model_flop_utilization"};
/// Metrics that follow from a time and the point's bandwidths alone, so that a cheap estimate of the time gives them.
constexpr std::array<std::string_view, 9> kEarly{"collective_time_ps", "algbw_bytes_per_s", "busbw_bytes_per_s",
                                                 "training_time_ps",   "network_cost_usd",  "perf_per_cost_per_s_usd",
                                                 "samples_per_s",      "tokens_per_s",      "model_flop_utilization"};

bool trains(const DesignPoint& point) { return point.trains(); }
bool communicates(const DesignPoint& point) { return !point.trains(); }
bool chooses_bandwidth(const DesignPoint& point) { return point.trains() && point.training().scheme; }
bool reduces_all(const DesignPoint& point) {
  return communicates(point) && point.collective().kind == CollectiveKind::all_reduce;
}
bool tries_several(const DesignPoint& point) {
  return communicates(point) && (tries_all(point) || point.algorithm == kBestOfAll);
}
bool chooses_chunks(const DesignPoint& point) { return communicates(point) && point.chunks == kAutomaticChunks; }
bool has_ideal(const DesignPoint& point) {
  return communicates(point) && point.collective().kind != CollectiveKind::all_to_all &&
         !has_root(point.collective().kind);
}
bool is_bounded(const DesignPoint& point) {
  return point.trains() || point.collective().backend != Backend::congestion_unaware;
}

/// Metrics, and the points whose rows may have them.
struct Owners {
  bool (*may_have)(const DesignPoint& point);
  std::string_view whose;
  std::vector<std::string_view> metrics;
};

/// The metrics that only some points have, beside the columns of training points.
const std::vector<Owners>& owners() {
  static const std::vector<Owners> table{
      {communicates,
       "points that run a collective",
       {"total_links", "total_chunks", "chunk_bytes", "sends", "steps", "waste", "collective_time_ps",
        "algbw_bytes_per_s", "busbw_bytes_per_s"}},
      {reduces_all, "points that run an All-Reduce", {"time_with_overlap_ps", "time_without_overlap_ps"}},
      {tries_several, "points with algorithm \"auto\" or \"best\"", {"candidates"}},
      {chooses_chunks, "points with chunks = \"auto\"", {"chosen_chunks"}},
      {has_ideal, "points that run an All-Gather, Reduce-Scatter or All-Reduce", {"paper_ideal_ps"}},
      {is_bounded, "points that train or whose backend is \"congestion_aware\"", {"bound_ps", "efficiency"}},
      {chooses_bandwidth,
       "points that train with a scheme other than \"given\"",
       {"objective", "relative_gap", "split_exact"}}};
  return table;
}

ObjectiveName with_owners(ObjectiveName name, bool training) {
  for (const auto& some : owners())
    if (std::ranges::find(some.metrics, name.metric) != some.metrics.end())
      return name.may_have = some.may_have, name.whose = some.whose, name;
  if (training) name.may_have = trains, name.whose = "points that train a model";
  return name;
}

}  // namespace

const std::vector<ObjectiveName>& objective_names() {
  static const std::vector<ObjectiveName> names = [] {
    std::vector<ObjectiveName> list;
    for (const auto& column : metric_columns()) {
      if (column.measured || (column.kind != Kind::integer && column.kind != Kind::real)) continue;
      ObjectiveName name{column.name, std::ranges::find(kMaximized, column.name) != kMaximized.end(),
                         std::ranges::find(kEarly, column.name) != kEarly.end()};
      name.former = column.former;
      list.push_back(with_owners(name, column.training));
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
