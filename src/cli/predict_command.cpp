// predict: what a library would take on a machine, beside what a log says.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "commands.hpp"
#include "log_files.hpp"
#include "report.hpp"
#include "tenex/base/units.hpp"
#include "tenex/measure/predict.hpp"

namespace tenex::cli {
namespace {

std::string name_of(const LibraryChoice& choice) { return fmt::format("{}/{}", choice.algorithm, choice.protocol); }

/// The median of the absolute differences.
double median_difference(const PredictedTable& table) {
  std::vector<double> sizes;
  for (const auto& row : table.rows) sizes.push_back(std::abs(row.difference()));
  std::ranges::sort(sizes);
  return sizes[sizes.size() / 2];
}

/// A bar of up to five characters: to the left where the prediction is shorter than what was measured.
std::string bar_of(double difference) {
  constexpr double kWhole = 1.0;  // a difference of 100 % or more fills it
  constexpr int kLength = 5;
  const auto length = static_cast<std::size_t>(std::lround(std::min(std::abs(difference) / kWhole, 1.0) * kLength));
  const std::string bar(length, difference < 0 ? '<' : '>');
  return difference < 0 ? fmt::format("{:>5}|", bar) : fmt::format("{:>5}|{}", "", bar);
}

void print_prediction(const PredictedTable& table) {
  fmt::print("{}, {} ranks: {}, median difference {:.1f} %\n", to_string(table.collective), table.ranks,
             place_text(table.place), 100 * median_difference(table));
  std::vector<std::vector<std::string>> rows{{"size", "measured"}};
  for (const auto& choice : table.choices) rows.front().push_back(name_of(choice));
  for (const auto* const name : {"fastest", "difference", " less|more "}) rows.front().emplace_back(name);
  for (const auto& row : table.rows) {
    auto& cells = rows.emplace_back();
    cells = {size_text(row.size.count()), fmt::format("{:.5g}us", row.measured_us)};
    for (const auto us : row.predicted_us) cells.push_back(fmt::format("{:.5g}", us));
    cells.push_back(name_of(table.choices[row.fastest]));
    cells.push_back(fmt::format("{:+.1f} %", 100 * row.difference()));
    cells.push_back(fmt::format("{:<11}", bar_of(row.difference())));
  }
  std::fputs(format_table(rows).c_str(), stdout);
  std::fputs("\n", stdout);
}

Report prediction_report(const PredictedTable& table) {
  Report report;
  report.add("place", place_text(table.place));
  report.add("collective", std::string(to_string(table.collective)));
  report.add("ranks", static_cast<std::int64_t>(table.ranks));
  report.add("median_difference", median_difference(table));
  report.add_list("rows", table.rows, [&](Report& each, const auto& row) {
    each.add("place", place_text(row.place));
    each.add("size_bytes", row.size.count());
    each.add("measured_us", row.measured_us);
    each.add("predicted_us", row.predicted());
    each.add("fastest", name_of(table.choices[row.fastest]));
    each.add("difference", row.difference());
    Report all;
    for (std::size_t i = 0; i < table.choices.size(); ++i) all.add(name_of(table.choices[i]), row.predicted_us[i]);
    each.add_object("all_us", std::move(all));
  });
  return report;
}

}  // namespace

ExitCode execute(const PredictArguments& arguments) {
  const auto machine = machine_of(arguments.machine);
  const auto logs = read_logs(arguments.logs);
  const auto overhead = overhead_of(arguments.logs);
  const auto ll_limit = ll_limit_of(arguments.ll_limit);
  Diagnostics errors = machine.errors();
  append(errors, logs.errors());
  append(errors, overhead.errors());
  append(errors, ll_limit.errors());
  if (!errors.empty()) return refuse(errors);
  const auto prediction =
      predict(*machine, *logs,
              {arguments.channels, *overhead, arguments.nodes, *ll_limit, arguments.logs.in_place, arguments.nvls});
  if (!prediction) return refuse(prediction.errors());
  warn_of(*logs);
  for (const auto& note : prediction->notes) warn(note);
  if (!arguments.json) {
    for (const auto& table : prediction->tables) print_prediction(table);
    return ExitCode::done;
  }
  Report report;
  report.add("channels", static_cast<std::int64_t>(arguments.channels));
  std::vector<Report> tables;
  for (const auto& table : prediction->tables) tables.push_back(prediction_report(table));
  report.add("tables", std::move(tables));
  report.add("skipped", skipped_rows(*logs));
  std::fputs(to_json(report).c_str(), stdout);
  return ExitCode::done;
}

}  // namespace tenex::cli
