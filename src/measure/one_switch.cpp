// A machine without a description: all ranks on one switch. The last pieces of all tables together give beta, the first
// ones alpha and overhead where tables differ in steps; with one number of steps, these two cannot be told apart.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "measure/fit_numbers.hpp"
#include "measure/link_kinds.hpp"
#include "measure/regression.hpp"
#include "tenex/base/units.hpp"
#include "tenex/base/words.hpp"
#include "tenex/exchange/machine_text.hpp"

namespace tenex::measure {
namespace {

/// Which pieces of tables are read: the first, where bytes hardly count, or the last, where they decide.
enum class Reads : bool { first, last };

/// Whether a point gives numbers. The size next to a change may belong to the other piece, which would move all
/// numbers, so it is left out where four others remain.
class PointChoice {
 public:
  PointChoice(const FittedTable& table, Reads reads)
      : piece_(reads == Reads::first ? 0 : table.pieces.size() - 1), doubtful_(Bytes::of(-1)) {
    constexpr std::size_t kEnough = 4;
    std::set<Bytes> sizes;
    for (const auto& point : table.points)
      if (point.piece == piece_) sizes.insert(point.size);
    if (table.pieces.size() > 1 && sizes.size() > kEnough)
      doubtful_ = reads == Reads::first ? *sizes.rbegin() : *sizes.begin();
  }
  [[nodiscard]] bool takes(const FittedPoint& point) const { return point.piece == piece_ && point.size != doubtful_; }

 private:
  std::size_t piece_;
  Bytes doubtful_;
};

/// The points of these pieces as observations of beta, alpha and overhead.
std::vector<Observation> observations_of(const Fit& fit, Reads reads) {
  std::vector<Observation> rows;
  for (const auto& table : fit.tables) {
    const auto cost = cost_of(table.algorithm, table.collective, table.ranks);
    ensure(cost.has_value(), "the algorithm of a table does its collective");
    const PointChoice choice(table, reads);
    for (const auto& point : table.points)
      if (choice.takes(point))
        rows.push_back({{cost->share * static_cast<double>(point.size.count()), cost->steps, 1.0}, point.measured_us});
  }
  return rows;
}

Estimated inverted(const Estimated& us_per_byte) {
  const auto rate = [](double us) { return us > 0 ? 1e6 / us : std::numeric_limits<double>::infinity(); };
  return {rate(us_per_byte.value), rate(us_per_byte.high), rate(us_per_byte.low)};
}

std::string interval(const FittedNumber& number) {
  if (number.is_rate)
    return fmt::format("{} (95 %: {} to {})", to_rounded_rate(number.value.value), to_rounded_rate(number.value.low),
                       std::isfinite(number.value.high) ? to_rounded_rate(number.value.high) : "any");
  return fmt::format("{:.4g}us (95 %: {:.4g} to {:.4g})", number.value.value, number.value.low, number.value.high);
}

/// The machine file: ranks around one switch that cuts through, so that a hop takes alpha and its bytes once.
std::string text_of(const Fit& fit, const FitOptions& options, std::size_t ranks) {
  const auto find = [&](std::string_view name) { return *std::ranges::find(fit.numbers, name, &FittedNumber::name); };
  const auto alpha = find("alpha");
  const auto bandwidth = find("bandwidth");
  const auto overhead = find("overhead");
  std::vector<std::string> remarks{
      fmt::format("overhead of a call, which is no part of a machine: {}", interval(overhead)),
      "alpha is that of small sizes, bandwidth that of large ones: protocols between them differ in both",
      "all ranks are on one switch: name a machine (--machine) for another network"};
  auto out = exchange::machine_head({}, options.name.empty() ? "fitted" : options.name,
                                    fmt::format("fitted by tenex from {}; licence: that of the logs", places_of(fit)),
                                    remarks);
  out += fmt::format("# NPUs: the ranks of the logs\nnpus = {}\n\n[[switches]]\nforwarding = \"virtual_cut_through\"\n",
                     ranks);
  const auto half = static_cast<std::int64_t>(std::llround(alpha.value.value * kPicosecondsPerMicrosecond / 2));
  std::string pairs;
  for (std::size_t i = 0; i < ranks; ++i) pairs += fmt::format("{}[{}, {}]", i > 0 ? ", " : "", i, ranks);
  return out + fmt::format(
                   "\n[[links]]\n# bandwidth: {}; {}\nbandwidth = \"{}\"\n# alpha: half of {}; {}\nalpha = "
                   "\"{}\"\npairs = [{}]\n",
                   interval(bandwidth), bandwidth.origin,
                   to_string(Bandwidth::of(static_cast<std::int64_t>(std::llround(bandwidth.value.value)))),
                   interval(alpha), alpha.origin, to_string(picoseconds(half)), pairs);
}

}  // namespace

Status fit_one_switch(Fit& fit, const FitOptions& options) {
  std::set<std::size_t> ranks;
  std::set<double> steps;
  for (const auto& table : fit.tables) {
    ranks.insert(table.ranks);
    steps.insert(cost_of(table.algorithm, table.collective, table.ranks)->steps);
    if (table.hosts > 1)
      fit.notes.push_back(
          fmt::format("{}:{}: {} hosts, which are fitted as one switch: --machine describes their network",
                      table.place.file, table.place.line, table.hosts));
  }
  const bool stated = options.overhead.has_value();
  const bool apart = !stated && steps.size() > 1;
  const double overhead = stated ? static_cast<double>(options.overhead->count()) / kPicosecondsPerMicrosecond : 0;
  const auto solve = [&](std::vector<Observation> rows) {
    for (auto& row : rows) row.time -= overhead;
    const bool positive = std::ranges::all_of(rows, [](const Observation& row) { return row.time > 0; });
    return positive ? regress(rows, apart ? 3 : 2, Intervals::yes) : std::nullopt;
  };
  const auto small = observations_of(fit, Reads::first);
  const auto large = observations_of(fit, Reads::last);
  const auto latency = solve(small);
  const auto line = solve(large);
  if (stated && !latency)
    return input_error({"--overhead", 0, 0},
                       fmt::format("{} are longer than a measured call", to_string(*options.overhead)),
                       "every call has its overhead", "give less");
  constexpr double kRounding = 1e-9;
  const bool grows = line && std::ranges::any_of(large, [&](const Observation& row) {
                       return row.factors[0] * line->values[0] > kRounding * row.time;
                     });
  if (!latency || !grows)
    return input_error(fit.tables.front().place, "times do not grow with the size",
                       "the largest sizes of the logs take no time per byte", "measure larger sizes");
  constexpr double kLargestRate = 1e18;
  constexpr double kLongestAlpha = 1e12;
  const double rate = 1e6 / line->values[0];
  if (rate < 1 || rate > kLargestRate || latency->values[1] > kLongestAlpha)
    return input_error(fit.tables.front().place, "times that no machine has",
                       fmt::format("they give {:.3g} B/s and an alpha of {:.3g}us", rate, latency->values[1]),
                       "check the units of the log: bytes and microseconds");
  const auto tables = counted(fit.tables.size(), "table");
  const auto at_small = fmt::format("{} at small sizes of {}", counted(small.size(), "point"), tables);
  fit.numbers.push_back({"bandwidth", inverted(line->estimates[0]), true, true,
                         fmt::format("{} at large sizes of {}", counted(large.size(), "point"), tables)});
  fit.numbers.push_back({"alpha", latency->estimates[1], false, true, at_small});
  if (apart)
    fit.numbers.push_back({"overhead", latency->estimates[2], false, true, at_small});
  else
    fit.numbers.push_back(
        {"overhead", {overhead, overhead, overhead}, false, false, stated ? "--overhead" : "assumed"});
  if (!apart && !stated)
    fit.notes.push_back(
        "all tables have the same number of steps, so alpha holds the overhead of a call, too: add a log of another "
        "collective or number of ranks, or give --overhead");
  fit.machine = text_of(fit, options, *ranks.rbegin());
  if (ranks.size() > 1)
    fit.notes.push_back(fmt::format("the machine has the most ranks of the logs: {}", *ranks.rbegin()));
  return success();
}

}  // namespace tenex::measure
