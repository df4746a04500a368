// Crossovers: rows by problem, by size and by value; the least times; runs of sizes with one winner.
#include "crossover.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "tenex/base/decimal.hpp"
#include "tenex/design/setting.hpp"
#include "tenex/topology/shape.hpp"

namespace tenex::cli {
namespace {

using Rows = std::vector<std::size_t>;
using Source = ResultColumn::Source;

/// The times of one value of the column, by size.
struct ValueTimes {
  ResultCell value;
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

/// What an NPU has over all dimensions, in place of its shares: topologies are compared that have as much.
constexpr ResultColumn kTotal{"total_bandwidth", "B/s", Source::computed};

/// The sum of shares such as "200000000000,100000000000", or of as many equal ones as the topology has dimensions. To
/// six digits: thirds of a rate have lost a remainder.
ResultCell total_of(const ResultCell& shares, const ResultCell& topology) {
  constexpr double kDigits = 6;
  double sum = 0;
  if (const auto* equal = std::get_if<std::int64_t>(&shares)) {
    const auto* name = std::get_if<std::string>(&topology);
    const auto shape = parse_shape(name == nullptr ? std::string_view() : std::string_view(*name));
    sum = static_cast<double>(*equal) * (shape ? static_cast<double>(shape->dimensions()) : 1);
  } else if (const auto* list = std::get_if<std::string>(&shares)) {
    for (std::size_t at = 0; at < list->size();) {
      const auto end = std::min(list->find(',', at), list->size());
      sum += static_cast<double>(read_number<std::int64_t>(list->substr(at, end - at)).value_or(0));
      at = end + 1;
    }
  }
  if (sum <= 0) return {};
  const double unit = std::pow(10, std::floor(std::log10(sum)) - kDigits + 1);
  return std::int64_t{std::llround(std::round(sum / unit) * unit)};
}

ResultCell cell_of(const ResultView& view, const ResultColumn& column, std::size_t row) {
  if (column.source == Source::computed)
    return total_of(view.cell(view.find("npu_bandwidth", {}).value(), row),
                    view.cell(view.find("topology", {}).value(), row));
  return view.cell(column, row);
}

/// The values of a row in some columns.
std::vector<ResultCell> cells_of(const ResultView& view, const std::vector<ResultColumn>& columns, std::size_t row) {
  std::vector<ResultCell> cells;
  for (const auto& column : columns) cells.push_back(cell_of(view, column, row));
  return cells;
}

auto setting_of(const ResultColumn& column) {
  return std::ranges::find(settings(), column.name, [](const Setting& each) { return each.column.name; });
}

std::size_t count_values(const ResultView& view, const Rows& rows, const std::vector<ResultColumn>& columns) {
  std::set<std::vector<ResultCell>> values;
  for (const auto row : rows) values.insert(cells_of(view, columns, row));
  return values.size();
}

/// Leaves out what follows from the compared value and the other columns: the links' bandwidths where the study states
/// the total of an NPU and compares topologies. Of two that follow from each other the one with fewer values stays.
void drop_consequences(const ResultView& view, const Rows& rows, const ResultColumn& by,
                       std::vector<ResultColumn>& columns) {
  auto order = columns;
  std::ranges::stable_sort(order, std::greater(), [&](const auto& each) { return count_values(view, rows, {each}); });
  for (const auto& candidate : order) {
    const auto setting = setting_of(candidate);
    if (setting != settings().end() && meet(setting->changes, Changes::network | Changes::collective)) continue;
    auto others = columns;
    std::erase_if(others, [&](const auto& each) { return each.name == candidate.name; });
    auto without = others;
    without.push_back(by);
    auto with = without;
    with.push_back(candidate);
    if (count_values(view, rows, with) == count_values(view, rows, without)) columns = std::move(others);
  }
}

std::vector<ResultColumn> dividing_columns(const ResultView& view, const Rows& rows, const ResultColumn& by) {
  std::vector<ResultColumn> columns;
  for (const auto& column : view.columns()) {
    if (column.source != Source::setting || column.name == by.name) continue;
    const auto setting = setting_of(column);
    constexpr auto divides = Changes::network | Changes::latency | Changes::bandwidth | Changes::collective;
    if (setting == settings().end() || !meet(setting->changes, divides)) continue;
    const auto first = view.cell(column, rows[0]);
    if (std::ranges::any_of(rows, [&](auto row) { return view.cell(column, row) != first; })) columns.push_back(column);
  }
  if (by.name == "topology") std::ranges::replace(columns, "npu_bandwidth", kTotal, &ResultColumn::name);
  // Two algorithms on links of unlike rates are no contest; two networks are, and two protocols of one machine.
  const auto compared = setting_of(by);
  if (compared != settings().end() &&
      (meet(compared->changes, Changes::network) || compared->key == Key::link_protocol))
    drop_consequences(view, rows, by, columns);
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
    const auto [at, is_new] = known.emplace(cells_of(view, dividing, row), problems.size());
    if (is_new) problems.push_back({row, {}});
    auto& contenders = problems[at->second].contenders;
    const bool chose = by.name == "algorithm" && view.cell(chosen, row).index() != 0;
    auto value = view.cell(chose ? chosen : by, row);
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
                       "it has to be a setting other than the size and the seed, of whose rows the fastest counts",
                       "write for instance --crossover algorithm");
  Crossovers crossovers;
  if (rows.empty()) return crossovers;
  if (std::ranges::all_of(rows, [&](auto row) { return view.cell(*by, row).index() == 0; }))
    return input_error({"--crossover", 0, 0}, fmt::format("no row has a value of \"{}\"", by->name),
                       "rows of collectives have the links' rates, whatever the study states",
                       "write for instance --crossover npu_bandwidth");
  const auto dividing = dividing_columns(view, rows, *by);
  crossovers.columns = dividing;
  for (const auto* name : {"from", "to", "crossing"}) crossovers.columns.push_back({name, "B", Source::computed});
  crossovers.columns.push_back(*by);
  for (const auto* name : {"least_lead", "most_lead"}) crossovers.columns.push_back({name, "%", Source::computed});
  for (const auto& problem : problems_of(view, rows, *by, dividing))
    for (const auto& range : ranges_of(problem)) {
      auto& line = crossovers.lines.emplace_back();
      line = cells_of(view, dividing, problem.row);
      line.insert(line.end(), {range.from, range.to});
      line.push_back(range.crossing ? ResultCell(std::int64_t{std::llround(*range.crossing)}) : ResultCell());
      line.push_back(problem.contenders[range.contender].value);
      line.push_back(optional_cell(range.least_lead));
      line.push_back(optional_cell(range.most_lead));
    }
  return crossovers;
}

}  // namespace tenex::cli
