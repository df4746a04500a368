// fit: a machine from measured times of collectives.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>

#include "commands.hpp"
#include "log_files.hpp"
#include "report.hpp"
#include "tenex/base/units.hpp"
#include "tenex/base/words.hpp"
#include "tenex/files/atomic_write.hpp"
#include "tenex/measure/fit.hpp"

namespace tenex::cli {
namespace {

std::string time_text(const Estimated& time) {
  return fmt::format("{:.4g}us ({:.4g} to {:.4g})", time.value, time.low, time.high);
}

/// Without end where a rate has no upper limit.
std::string rate_text(double rate) { return std::isfinite(rate) ? to_rounded_rate(rate) : "any"; }

std::string number_text(const FittedNumber& number) {
  if (!number.fitted)
    return number.is_rate ? rate_text(number.value.value) : fmt::format("{:.4g}us", number.value.value);
  if (!number.is_rate) return time_text(number.value);
  return fmt::format("{} ({} to {})", rate_text(number.value.value), rate_text(number.value.low),
                     rate_text(number.value.high));
}

void print_table(const FittedTable& table, bool points) {
  fmt::print("{}, {} ranks, {}: {}, {}\n", to_string(table.collective), table.ranks, table.algorithm,
             place_text(table.place), counted(table.points.size(), "point"));
  std::vector<std::vector<std::string>> rows{{"sizes", "points", "at size zero", "algbw without end", "spread"}};
  for (const auto& piece : table.pieces) {
    const auto& slope = piece.us_per_byte;
    const auto rate = [](double us) { return us > 0 ? rate_text(1e6 / us) : std::string("any"); };
    rows.push_back({fmt::format("{} to {}", size_text(piece.first.count()), size_text(piece.last.count())),
                    fmt::format("{}", piece.points), time_text(piece.at_zero_us),
                    fmt::format("{} ({} to {})", rate(slope.value), rate(slope.high), rate(slope.low)),
                    percent_text(piece.spread)});
  }
  std::fputs(format_table(rows).c_str(), stdout);
  for (const auto& change : table.changes)
    fmt::print("changes between {} and {}: {}\n", size_text(change.below.count()), size_text(change.above.count()),
               change.what);
  if (points) {
    rows = {{"size", "measured", "fitted", "residual", "piece"}};
    for (const auto& point : table.points)
      rows.push_back({size_text(point.size.count()), fmt::format("{:.5g}us", point.measured_us),
                      fmt::format("{:.5g}us", point.fitted_us), fmt::format("{:+.1f} %", 100 * point.residual()),
                      fmt::format("{}", point.piece + 1)});
    std::fputs(format_table(rows).c_str(), stdout);
  }
  std::fputs("\n", stdout);
}

void print_fit(const Fit& fit, bool points) {
  for (const auto& table : fit.tables) print_table(table, points);
  std::vector<std::vector<std::string>> rows{{"number", "value (95 %)", "from"}};
  for (const auto& number : fit.numbers) rows.push_back({number.name, number_text(number), number.origin});
  if (!fit.numbers.empty()) std::fputs(format_table(rows).c_str(), stdout);
  if (!fit.left_out.empty()) fmt::print("\n{} not fitted:\n", counted(fit.left_out.size(), "row"));
  for (const auto& row : fit.left_out) fmt::print("  {}: {}\n", place_text(row.place), row.why);
}

void add_estimate(Report& report, const std::string& name, const Estimated& value) {
  const auto add = [&](const std::string& key, double number) {
    report.add(key, std::isfinite(number) ? Report::Value(number) : Report::Value(std::monostate{}));
  };
  add(name, value.value);
  add(name + "_low", value.low);
  add(name + "_high", value.high);
}

Report fit_report(const FittedTable& table) {
  Report report;
  report.add("place", place_text(table.place));
  report.add("collective", std::string(to_string(table.collective)));
  report.add("ranks", static_cast<std::int64_t>(table.ranks));
  report.add("algorithm", table.algorithm);
  report.add_list("pieces", table.pieces, [](Report& each, const auto& piece) {
    each.add("first_bytes", piece.first.count());
    each.add("last_bytes", piece.last.count());
    each.add("points", static_cast<std::int64_t>(piece.points));
    add_estimate(each, "at_zero_us", piece.at_zero_us);
    add_estimate(each, "us_per_byte", piece.us_per_byte);
    each.add("spread", piece.spread);
  });
  report.add_list("changes", table.changes, [](Report& each, const auto& change) {
    each.add("below_bytes", change.below.count());
    each.add("above_bytes", change.above.count());
    each.add("what", change.what);
  });
  report.add_list("points", table.points, [](Report& each, const auto& point) {
    each.add("place", place_text(point.place));
    each.add("size_bytes", point.size.count());
    each.add("measured_us", point.measured_us);
    each.add("fitted_us", point.fitted_us);
    each.add("piece", static_cast<std::int64_t>(point.piece + 1));
  });
  return report;
}

Report fit_report(const Fit& fit, const std::vector<MeasurementLog>& logs) {
  Report report;
  report.add_list("tables", fit.tables, [](Report& each, const auto& table) { each = fit_report(table); });
  report.add_list("numbers", fit.numbers, [](Report& each, const auto& number) {
    each.add("name", number.name);
    add_estimate(each, number.is_rate ? "bytes_per_s" : "us", number.value);
    each.add("fitted", number.fitted);
    each.add("from", number.origin);
  });
  report.add_list("left_out", fit.left_out, [](Report& each, const auto& row) {
    each.add("place", place_text(row.place));
    each.add("why", row.why);
  });
  report.add("skipped", skipped_rows(logs));
  return report;
}

}  // namespace

ExitCode execute(const FitArguments& arguments) {
  const auto logs = read_logs(arguments.logs);
  const auto overhead = overhead_of(arguments.logs);
  Diagnostics errors = logs.errors();
  append(errors, overhead.errors());
  FitOptions options{arguments.algorithm, arguments.logs.in_place};
  options.name = arguments.name;
  if (!arguments.machine.empty()) {
    auto machine = machine_of(arguments.machine);
    append(errors, machine.errors());
    if (machine) options.machine = *std::move(machine);
    options.machine_name = arguments.machine;
  }
  if (!errors.empty()) return refuse(errors);
  options.overhead = *overhead;
  if (options.machine && options.overhead)
    return refuse({input_error({"--overhead", 0, 0}, "--overhead beside --machine",
                               "what the simulated time leaves is the overhead", "remove it")});
  const auto fit = fit_machine(*logs, options);
  if (!fit) return refuse(fit.errors());
  if (!arguments.out.empty() && !fit->no_machine.empty()) return refuse(fit->no_machine);
  warn_of(*logs);
  for (const auto& note : fit->notes) warn(note);
  for (const auto& error : fit->no_machine) warn("no machine: " + to_string(error));
  if (!arguments.out.empty())
    if (const auto written = write_file_atomically(arguments.out, fit->machine); !written)
      return refuse(written.errors(), ExitCode::some_failed);
  if (arguments.json)
    std::fputs(to_json(fit_report(*fit, *logs)).c_str(), stdout);
  else
    print_fit(*fit, arguments.points);
  return ExitCode::done;
}

}  // namespace tenex::cli
