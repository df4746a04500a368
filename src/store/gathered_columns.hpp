// Gathers metrics from many files into one. Only this header knows how each kind of column is gathered.
//
// A gatherer has `gather<T>(path, compared, absent)`, which returns the numbers of a column in the order of the result,
// `gather_text(path, compared, may_lack)`, `gather_lists(path, compared, may_lack)` and `dimensions()`, the width of
// lists. `compared`: rows that were found more than once must agree. Files of studies without training points lack the
// columns of training: their rows get `absent`, or empty texts and lists.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "store/pareto_column.hpp"
#include "store/result_columns.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/evaluate/evaluation.hpp"
#include "tenex/files/column_file.hpp"

namespace tenex::store {

/// The value for rows whose file lacks the column; nothing where the column must be there.
template <class T>
[[nodiscard]] std::optional<T> absent_of(const MetricColumn& column) {
  if (!column.training) return std::nullopt;
  if constexpr (std::is_same_v<T, double>)
    return std::numeric_limits<double>::quiet_NaN();
  else
    return T{-1};
}

/// Gathers a metric from the columns `path` and writes it. Errors: the gatherer's.
template <class Gatherer>
[[nodiscard]] Status gather_metric(ColumnFileWriter& file, Gatherer& from, const MetricColumn& column,
                                   const std::string& path) {
  const bool compared = !column.measured;
  const auto store_values = [&](const auto& values) -> Status {
    if (!values) return values.errors();
    write_metric(file, column, std::span(std::as_const(*values)));
    return success();
  };
  switch (column.kind) {
    case MetricColumn::Kind::real:
      return store_values(from.template gather<double>(path, compared, absent_of<double>(column)));
    case MetricColumn::Kind::flags:  // no flag belongs to training points
      return store_values(from.template gather<std::int8_t>(path, compared, std::nullopt));
    case MetricColumn::Kind::list: {
      const auto values = from.gather_lists(path, compared, column.training);
      if (!values) return values.errors();
      write_lists(file, "/" + std::string(column.name), values->unpacked(from.dimensions()), column.units,
                  column.meaning);
      return success();
    }
    case MetricColumn::Kind::text: {
      const auto values = from.gather_text(path, compared, column.training);
      if (!values) return values.errors();
      write_text(file, "/" + std::string(column.name), *values, column.meaning);
      return success();
    }
    case MetricColumn::Kind::integer:
      break;
  }
  return store_values(from.template gather<std::int64_t>(path, compared, absent_of<std::int64_t>(column)));
}

/// Gathers the objectives of a front; `path_of` gives the path of a metric by its name. Errors: the gatherer's.
template <class Gatherer, class PathOf>
[[nodiscard]] Result<std::vector<MetricValues>> gather_objectives(Gatherer& from, const Front& front,
                                                                  const PathOf& path_of) {
  std::vector<MetricValues> objectives;
  for (const auto& objective : front.objectives) {
    const auto column = std::ranges::find(metric_columns(), objective.metric, &MetricColumn::name);
    ensure(column != metric_columns().end(), "an objective that is no metric");
    const auto take = [&](auto&& values) -> Status {
      if (!values) return values.errors();
      objectives.emplace_back(*std::forward<decltype(values)>(values));
      return success();
    };
    const auto path = path_of(column->name);
    const auto taken = column->kind == MetricColumn::Kind::real
                           ? take(from.template gather<double>(path, false, absent_of<double>(*column)))
                           : take(from.template gather<std::int64_t>(path, false, absent_of<std::int64_t>(*column)));
    if (!taken) return taken.errors();
  }
  return objectives;
}

}  // namespace tenex::store
