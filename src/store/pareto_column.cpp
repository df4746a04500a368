// A front per competition. Integers are compared as integers: 2^53 ps are two hours and a half.
#include "store/pareto_column.hpp"

#include <cmath>
#include <cstddef>
#include <map>
#include <string>

#include "tenex/base/diagnostic.hpp"
#include "tenex/evaluate/evaluation.hpp"
#include "tenex/evaluate/search.hpp"

namespace tenex::store {
namespace {

bool has_value(const MetricValues& column, std::size_t row) {
  if (const auto* reals = std::get_if<std::vector<double>>(&column)) return !std::isnan((*reals)[row]);
  return std::get<std::vector<std::int64_t>>(column)[row] >= 0;
}

/// Places of some rows by one objective.
std::vector<std::uint32_t> places_in(const MetricValues& column, const std::vector<std::size_t>& rows, bool maximize) {
  return std::visit(
      [&](const auto& values) {
        std::remove_cvref_t<decltype(values)> some;
        for (const auto row : rows) some.push_back(values[row]);
        return places_of(std::span(std::as_const(some)), maximize);
      },
      column);
}

}  // namespace

std::vector<std::int8_t> pareto_column(const Study& study, const std::vector<std::uint64_t>& points,
                                       const std::vector<std::int8_t>& status,
                                       const std::vector<MetricValues>& objectives) {
  ensure(objectives.size() == study.search.pareto.size(), "a column for each objective");
  std::map<std::string, std::vector<std::size_t>> competitions;
  for (std::size_t row = 0; row < points.size(); ++row) {
    bool competes = status[row] == static_cast<std::int8_t>(PointStatus::ok);
    for (const auto& column : objectives) competes = competes && has_value(column, row);
    if (!competes) continue;
    const bool alike = study.search.per.empty();
    competitions[alike ? "" : competition_of(study.search, study.points[points[row]])].push_back(row);
  }
  std::vector<std::int8_t> on_front(points.size(), 0);
  for (const auto& [name, rows] : competitions) {
    std::vector<std::vector<std::uint32_t>> places;
    for (std::size_t o = 0; o < objectives.size(); ++o)
      places.push_back(places_in(objectives[o], rows, study.search.pareto[o].maximize));
    const auto front = pareto_front(places);
    for (std::size_t i = 0; i < rows.size(); ++i) on_front[rows[i]] = front[i] ? 1 : 0;
  }
  return on_front;
}

}  // namespace tenex::store
