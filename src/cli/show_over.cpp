// Groups rows by the text of their settings but one.
#include "show_over.hpp"

#include <algorithm>
#include <cstdint>

namespace tenex::cli {
namespace {

using Rows = std::vector<std::size_t>;

bool is_setting(const ResultColumn& column) {
  return column.source == ResultColumn::Source::setting || column.source == ResultColumn::Source::seed;
}

/// The settings but `over` that differ between rows.
std::vector<ResultColumn> differing(const ResultView& view, const Rows& rows, const ResultColumn& over) {
  std::vector<ResultColumn> found;
  for (const ResultColumn& column : view.columns()) {
    if (!is_setting(column) || column.name == over.name) continue;
    if (std::ranges::any_of(rows, [&](auto row) { return view.cell(column, row) != view.cell(column, rows[0]); }))
      found.push_back(column);
  }
  return found;
}

/// A line of a table.
std::vector<NamedCell> line_of(const ResultView& view, const Rows& rows, const std::vector<ResultColumn>& settings,
                               const ResultColumn& over) {
  const ResultColumn time = view.find("collective_time_ps", {}).value();
  const ResultColumn efficiency = view.find("efficiency", {}).value();
  std::vector<NamedCell> line;
  for (const ResultColumn& column : settings)
    line.push_back({std::string(column.short_name()), column, view.cell(column, rows[0])});
  Rows timed;
  for (const std::size_t row : rows)
    if (view.table().rows[row].collective_time_ps >= 0) timed.push_back(row);
  const auto time_of = [&](std::size_t row) { return view.table().rows[row].collective_time_ps; };
  const auto efficiency_of = [&](std::size_t row) { return view.table().rows[row].efficiency; };
  const auto count = [](std::size_t number) { return ResultCell(static_cast<std::int64_t>(number)); };
  const auto untimed = std::ranges::find_if(rows, [&](std::size_t row) { return time_of(row) < 0; });
  line.push_back({"rows", {}, count(rows.size())});
  line.push_back({"without_time", {}, count(rows.size() - timed.size())});
  if (timed.empty()) {
    for (const char* name : {"least_time", "mean_time", "worst_time"}) line.push_back({name, time, {}});
    line.push_back({"least_efficiency", efficiency, {}});
    line.push_back({"worst", over, {}});
  } else {
    const auto worst = *std::ranges::max_element(timed, {}, time_of);
    double sum = 0;
    for (const std::size_t row : timed) sum += static_cast<double>(time_of(row));
    line.push_back({"least_time", time, time_of(std::ranges::min(timed, {}, time_of))});
    line.push_back({"mean_time", time, static_cast<std::int64_t>(sum / static_cast<double>(timed.size()))});
    line.push_back({"worst_time", time, time_of(worst)});
    line.push_back({"least_efficiency", efficiency, efficiency_of(std::ranges::min(timed, {}, efficiency_of))});
    line.push_back({"worst", over, view.cell(over, worst)});
  }
  line.push_back({"first_without_time", over, untimed == rows.end() ? ResultCell() : view.cell(over, *untimed)});
  return line;
}

}  // namespace

std::vector<std::vector<NamedCell>> lines_over(const ResultView& view, const std::vector<std::size_t>& rows,
                                               const ResultColumn& over) {
  const auto settings = differing(view, rows, over);
  std::vector<Rows> groups;
  for (const std::size_t row : rows) {
    const auto group = std::ranges::find_if(groups, [&](const Rows& members) {
      return std::ranges::all_of(settings, [&](const ResultColumn& column) {
        return view.cell(column, members.front()) == view.cell(column, row);
      });
    });
    if (group == groups.end())
      groups.push_back({row});
    else
      group->push_back(row);
  }
  std::vector<std::vector<NamedCell>> lines;
  for (const Rows& group : groups) lines.push_back(line_of(view, group, settings, over));
  return lines;
}

}  // namespace tenex::cli
