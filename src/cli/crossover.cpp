// Crossovers: rows by problem, by size and by value; the least times; runs of sizes with one winner.
#include "crossover.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "tenex/design/setting.hpp"

namespace tenex::cli {
namespace {

using Rows = std::vector<std::size_t>;
using Source = ResultColumn::Source;

/// The times of one value of the column, by size.
struct ValueTimes {
  std::string value;
  std::map<std::int64_t, std::int64_t> times;
};

/// Rows of one network and collective.
struct Problem {
  std::size_t row = 0;  ///< the first of them
  std::vector<ValueTimes> contenders;

  [[nodiscard]] std::vector<std::int64_t> sizes() const {
    std::map<std::int64_t, bool> all;
    for (const auto& contender : contenders)
      for (const auto& [size, time] : contender.times) all.emplace(size, true);
    std::vector<std::int64_t> sorted;
    for (const auto& [size, seen] : all) sorted.push_back(size);
    return sorted;
  }
};

/// Sizes in a row with one winner.
struct WinningSizes {
  std::size_t contender = 0;
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::optional<double> crossing;
  std::optional<double> least_lead;  ///< by which share the next one is slower
  std::optional<double> most_lead;
};

std::vector<ResultColumn> dividing_columns(const ResultView& view, const Rows& rows, const ResultColumn& by) {
  std::vector<ResultColumn> columns;
  for (const auto& column : view.columns()) {
    if (column.source != Source::setting || column.name == by.name) continue;
    const auto setting =
        std::ranges::find(settings(), column.name, [](const Setting& each) { return each.column.name; });
    constexpr auto divides = Changes::network | Changes::latency | Changes::bandwidth | Changes::collective;
    if (setting == settings().end() || !meet(setting->changes, divides)) continue;
    const auto first = view.cell(column, rows[0]);
    if (std::ranges::any_of(rows, [&](auto row) { return view.cell(column, row) != first; })) columns.push_back(column);
  }
  return columns;
}

std::vector<Problem> problems_of(const ResultView& view, const Rows& rows, const ResultColumn& by,
                                 const std::vector<ResultColumn>& dividing) {
  const auto size = view.find("size", {}).value();
  const auto chosen = view.find("chosen_algorithm", {}).value();
  std::vector<Problem> problems;
  std::map<std::vector<ResultCell>, std::size_t> known;
  for (const auto row : rows) {
    const auto time = view.table().rows[row].collective_time_ps;
    const auto bytes = view.cell(size, row);
    if (time < 0 || !std::holds_alternative<std::int64_t>(bytes)) continue;
    std::vector<ResultCell> place;
    for (const auto& column : dividing) place.push_back(view.cell(column, row));
    const auto [at, is_new] = known.emplace(std::move(place), problems.size());
    if (is_new) problems.push_back({row, {}});
    auto& contenders = problems[at->second].contenders;
    auto value = shown(by, view.cell(by, row));
    if (by.name == "algorithm" && view.cell(chosen, row).index() != 0) value = shown(chosen, view.cell(chosen, row));
    auto contender = std::ranges::find(contenders, value, &ValueTimes::value);
    if (contender == contenders.end()) contender = contenders.insert(contenders.end(), {value, {}});
    const auto [least, first] = contender->times.emplace(std::get<std::int64_t>(bytes), time);
    if (!first) least->second = std::min(least->second, time);
  }
  return problems;
}

/// Where two lines meet whose differences at two sizes have other signs.
std::optional<double> crossing_of(const ValueTimes& before, const ValueTimes& after, std::int64_t left,
                                  std::int64_t right) {
  if (!before.times.contains(right) || !after.times.contains(left)) return std::nullopt;
  const auto lead = static_cast<double>(after.times.at(left) - before.times.at(left));
  const auto lag = static_cast<double>(before.times.at(right) - after.times.at(right));
  if (lead + lag <= 0) return std::nullopt;
  return static_cast<double>(left) + static_cast<double>(right - left) * lead / (lead + lag);
}

std::vector<WinningSizes> ranges_of(const Problem& problem) {
  std::vector<WinningSizes> ranges;
  std::int64_t last_size = 0;
  for (const auto size : problem.sizes()) {
    std::optional<std::size_t> best;
    const auto time_of = [&](std::size_t i) { return problem.contenders[i].times.at(size); };
    for (std::size_t i = 0; i < problem.contenders.size(); ++i)
      if (problem.contenders[i].times.contains(size) && (!best || time_of(i) < time_of(*best))) best = i;
    std::optional<double> lead;
    for (std::size_t i = 0; i < problem.contenders.size(); ++i)
      if (i != *best && problem.contenders[i].times.contains(size)) {
        const double share = static_cast<double>(time_of(i)) / static_cast<double>(time_of(*best)) - 1;
        lead = std::min(lead.value_or(share), share);
      }
    if (ranges.empty() || ranges.back().contender != *best) {
      std::optional<double> crossing;
      if (!ranges.empty())
        crossing = crossing_of(problem.contenders[ranges.back().contender], problem.contenders[*best], last_size, size);
      ranges.push_back({*best, size, size, crossing, {}, {}});
    }
    auto& range = ranges.back();
    range.to = last_size = size;
    if (!lead) continue;
    range.least_lead = std::min(range.least_lead.value_or(*lead), *lead);
    range.most_lead = std::max(range.most_lead.value_or(*lead), *lead);
  }
  return ranges;
}

ResultCell optional_cell(const std::optional<double>& value) { return value ? ResultCell(*value) : ResultCell(); }

}  // namespace

Result<Crossovers> crossovers_of(const ResultView& view, const Rows& rows, const std::string& column) {
  const auto by = view.find(column, {"--crossover", 0, 0});
  if (!by) return by.errors();
  if (by->source != Source::setting || by->name == "size")
    return input_error({"--crossover", 0, 0}, fmt::format("\"{}\" cannot be compared at each size", by->name),
                       "it has to be a setting other than the size", "write for instance --crossover algorithm");
  Crossovers crossovers;
  if (rows.empty()) return crossovers;
  const auto dividing = dividing_columns(view, rows, *by);
  crossovers.columns = dividing;
  for (const auto* name : {"from", "to", "crossing"}) crossovers.columns.push_back({name, "B", Source::computed});
  crossovers.columns.push_back(*by);
  for (const auto* name : {"least_lead", "most_lead"}) crossovers.columns.push_back({name, "%", Source::computed});
  for (const auto& problem : problems_of(view, rows, *by, dividing))
    for (const auto& range : ranges_of(problem)) {
      auto& line = crossovers.lines.emplace_back();
      for (const auto& each : dividing) line.push_back(view.cell(each, problem.row));
      line.insert(line.end(), {range.from, range.to});
      line.push_back(range.crossing ? ResultCell(std::int64_t{std::llround(*range.crossing)}) : ResultCell());
      line.emplace_back(problem.contenders[range.contender].value);
      line.push_back(optional_cell(range.least_lead));
      line.push_back(optional_cell(range.most_lead));
    }
  return crossovers;
}

}  // namespace tenex::cli
