// From rows to pieces, and from pieces to a machine.
#include "tenex/measure/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "measure/fit_numbers.hpp"
#include "measure/pieces.hpp"
#include "tenex/base/words.hpp"

namespace tenex {
namespace measure {
namespace {

/// The rows of a table that can be fitted, by size; the others are listed.
std::vector<FittedPoint> usable(const MeasuredTable& table, const FitOptions& options, Fit& fit) {
  std::vector<FittedPoint> points;
  std::size_t unchecked = 0;
  for (const auto& row : table.rows) {
    const auto leave = [&](std::string why) { fit.left_out.push_back({row.place, std::move(why)}); };
    const double time = options.in_place ? row.in_place_us : row.out_of_place_us;
    if (row.size == Bytes::zero())
      leave("size 0: no bytes, no bandwidth");
    else if (row.wrong > 0)
      leave("wrong results");
    else if (!(time > 0))
      leave(options.in_place ? "not measured in place" : "measured in place only (--in-place fits those times)");
    else
      points.push_back({row.place, row.size, time});
    if (row.wrong < 0) ++unchecked;
  }
  if (unchecked > 0)
    fit.notes.push_back(fmt::format("{}:{}: results of {} of {} rows were not checked", table.place.file,
                                    table.place.line, unchecked, table.rows.size()));
  std::ranges::stable_sort(points, {}, &FittedPoint::size);
  return points;
}

/// Finds and fits the pieces of a table whose points stand in order of size.
void fit_pieces(FittedTable& table) {
  std::vector<Point> points;
  for (const auto& point : table.points) points.push_back({static_cast<double>(point.size.count()), point.measured_us});
  auto begins = piece_begins(points);
  begins.push_back(points.size());
  for (std::size_t piece = 0; piece + 1 < begins.size(); ++piece) {
    table.pieces.push_back(fit_piece(points, begins[piece], begins[piece + 1]));
    auto& fitted = table.pieces.back();
    fitted.first = table.points[begins[piece]].size;
    fitted.last = table.points[begins[piece + 1] - 1].size;
    for (std::size_t i = begins[piece]; i < begins[piece + 1]; ++i) {
      table.points[i].piece = piece;
      table.points[i].fitted_us = fitted.at_zero_us.value + fitted.us_per_byte.value * points[i].size;
    }
    if (piece == 0) continue;
    const auto& before = table.pieces[piece - 1];
    table.changes.push_back({before.last, fitted.first, describe_change(before, fitted)});
  }
}

Status fit_table(const MeasuredTable& table, const FitOptions& options, Fit& fit) {
  FittedTable fitted{table.place, table.collective, table.ranks, table.hosts};
  fitted.algorithm = options.algorithm.empty() ? std::string(usual_algorithm(table.collective)) : options.algorithm;
  if (!cost_of(fitted.algorithm, table.collective, table.ranks))
    return input_error({"--algorithm", 0, 0},
                       fmt::format("{} does no {}", fitted.algorithm, to_string(table.collective)),
                       fmt::format("the log at {}:{} measures it", table.place.file, table.place.line),
                       "fit this log with another algorithm");
  fitted.points = usable(table, options, fit);
  std::set<Bytes> sizes;
  for (const auto& point : fitted.points) sizes.insert(point.size);
  constexpr std::size_t kLeastSizes = 3;
  if (sizes.size() < kLeastSizes) {
    fit.notes.push_back(fmt::format("{}:{}: a table with {} usable, too few for a fit", table.place.file,
                                    table.place.line, counted(sizes.size(), "size")));
    return success();
  }
  fit_pieces(fitted);
  fit.tables.push_back(std::move(fitted));
  return success();
}

}  // namespace

std::string places_of(const Fit& fit) {
  std::string text;
  for (const auto& table : fit.tables) {
    const auto name = table.place.file.substr(table.place.file.find_last_of('/') + 1);
    text += fmt::format("{}{} line {} ({} by {}, {} ranks)", text.empty() ? "" : ", ", name, table.place.line,
                        to_string(table.collective), table.algorithm, table.ranks);
  }
  return text;
}

}  // namespace measure

Result<Fit> fit_machine(const std::vector<MeasurementLog>& logs, const FitOptions& options) {
  Fit fit;
  Diagnostics errors;
  const auto& known = fitted_algorithms();
  if (!options.algorithm.empty() && std::ranges::find(known, options.algorithm) == known.end())
    return unknown_word(options.algorithm, "algorithm", known, {"--algorithm", 0, 0});
  for (const auto& log : logs)
    for (const auto& table : log.tables)
      if (auto status = measure::fit_table(table, options, fit); !status) append(errors, status.errors());
  if (!errors.empty()) return errors;
  if (fit.tables.empty())
    return input_error({}, "no table has three sizes that can be fitted", "a line through fewer tells nothing",
                       "measure more sizes, such as -b 1K -e 1G -f 2");
  const auto status =
      options.machine ? measure::fit_known_machine(fit, options) : measure::fit_one_switch(fit, options);
  fit.no_machine = status.errors();
  return fit;
}

}  // namespace tenex
