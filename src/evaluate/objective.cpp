// Objectives: the metrics that may be objectives, and their values in rows.
#include <algorithm>
#include <cmath>
#include <vector>

#include "evaluate/metric_points.hpp"
#include "tenex/evaluate/search.hpp"

namespace tenex {
const std::vector<ObjectiveName>& objective_names() {
  using Kind = MetricColumn::Kind;
  static const std::vector<ObjectiveName> names = [] {
    std::vector<ObjectiveName> list;
    for (const auto& column : metric_columns()) {
      if (column.measured || (column.kind != Kind::integer && column.kind != Kind::real)) continue;
      ObjectiveName name{column.name, column.maximize, column.early};
      name.former = column.former;
      if (const auto* owners = column.owners != nullptr ? column.owners : column.training ? &kTraining : nullptr)
        name.may_have = owners->may_have, name.whose = owners->whose;
      list.push_back(name);
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
