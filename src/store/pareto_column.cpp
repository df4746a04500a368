// One front per competition. Integers are compared as integers: a double is exact only up to 2^53 ps, two hours and a
// half.
#include "store/pareto_column.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "store/result_columns.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/evaluate/evaluation.hpp"
#include "tenex/evaluate/search.hpp"

namespace tenex::store {
namespace {

bool has_value(const MetricValues& column, std::size_t row) {
  if (const auto* reals = std::get_if<std::vector<double>>(&column)) return !std::isnan((*reals)[row]);
  return std::get<std::vector<std::int64_t>>(column)[row] >= 0;
}

/// Ranks some rows by one objective: equal values have equal places.
std::vector<std::uint32_t> places_in(const MetricValues& column, const std::vector<std::size_t>& rows, bool maximize) {
  return std::visit(
      [&](const auto& values) {
        std::remove_cvref_t<decltype(values)> some;
        for (const auto row : rows) some.push_back(values[row]);
        return places_of(std::span(std::as_const(some)), maximize);
      },
      column);
}

constexpr const char* kPath = "/pareto";
constexpr const char* kObjectives = "objectives";
constexpr const char* kPer = "per";

std::vector<std::string> parts_of(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const auto comma = std::min(list.find(", "), list.size());
    parts.emplace_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 2, list.size()));
  }
  return parts;
}

std::optional<Objective> parse_objective(std::string_view text) {
  const auto blank = text.find(' ');
  const auto direction = text.substr(0, blank);
  if (blank == std::string_view::npos || (direction != "minimize" && direction != "maximize")) return std::nullopt;
  const auto metric = text.substr(blank + 1);
  const auto& names = objective_names();
  const auto known = std::ranges::find_if(names, [&](const ObjectiveName& each) { return each.is_named(metric); });
  if (known == names.end()) return std::nullopt;
  return Objective{std::string(known->metric), direction == "maximize", std::string(known->former)};
}

}  // namespace

bool Front::operator==(const Front& other) const {
  return std::ranges::is_permutation(objectives, other.objectives) && std::ranges::is_permutation(per, other.per);
}

std::vector<std::int8_t> pareto_column(const Front& front,
                                       const std::function<std::string(std::size_t row)>& competition,
                                       const std::vector<std::int8_t>& status,
                                       const std::vector<MetricValues>& objectives) {
  ensure(objectives.size() == front.objectives.size(), "a column for each objective");
  std::map<std::string, std::vector<std::size_t>> competitions;
  for (std::size_t row = 0; row < status.size(); ++row) {
    bool competes = status[row] == static_cast<std::int8_t>(PointStatus::ok);
    for (const auto& column : objectives) competes = competes && has_value(column, row);
    if (!competes) continue;
    competitions[front.per.empty() ? "" : competition(row)].push_back(row);
  }
  std::vector<std::int8_t> on_front(status.size(), 0);
  for (const auto& [name, rows] : competitions) {
    std::vector<std::vector<std::uint32_t>> places;
    for (std::size_t o = 0; o < objectives.size(); ++o)
      places.push_back(places_in(objectives[o], rows, front.objectives[o].maximize));
    const auto best = pareto_front(places);
    for (std::size_t i = 0; i < rows.size(); ++i) on_front[rows[i]] = best[i] ? 1 : 0;
  }
  return on_front;
}

void write_front(ColumnFileWriter& file, const Front& front, const std::vector<std::int8_t>& values) {
  std::vector<std::string> names;
  for (const auto& objective : front.objectives) names.push_back(to_string(objective));
  const auto objectives = fmt::format("{}", fmt::join(names, ", "));
  file.write(kPath, std::span<const std::int8_t>(values));
  describe(file, kPath, "", "1: no row is at least as good in all and better in one of: " + objectives);
  file.set_attribute(kPath, kObjectives, objectives);
  file.set_attribute(kPath, kPer, fmt::format("{}", fmt::join(front.per, ", ")));
}

std::optional<Front> read_front(const ColumnFileReader& file) {
  const auto objectives = file.text_attribute(kPath, kObjectives);
  const auto per = file.text_attribute(kPath, kPer);
  if (!objectives || !per) return std::nullopt;
  Front front;
  for (const auto& text : parts_of(*objectives)) {
    auto objective = parse_objective(text);
    if (!objective) return std::nullopt;
    front.objectives.push_back(*std::move(objective));
  }
  for (const auto& name : parts_of(*per)) {
    const auto* setting = find_setting_column(name);
    if (setting == nullptr) return std::nullopt;
    front.per.emplace_back(setting->name);
  }
  if (front.objectives.empty()) return std::nullopt;
  return front;
}

}  // namespace tenex::store
