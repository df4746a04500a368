// run, plan and merge: whole studies.
#include <fmt/format.h>

#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "mpi_session.hpp"
#include "report.hpp"
#include "summary.hpp"
#include "tenex/base/units.hpp"
#include "tenex/coordinator/coordinator.hpp"
#include "tenex/coordinator/signals.hpp"
#include "tenex/evaluate/evaluate.hpp"
#include "tenex/store/store.hpp"

namespace tenex::cli {
namespace {

ExitCode print_summary(const std::filesystem::path& file) {
  const auto table = summarize(file);
  if (!table) return complain(table.errors()), ExitCode::some_failed;
  std::fputs(table->c_str(), stdout);
  fmt::print("result: {}\n", file.string());
  return ExitCode::done;
}

// Input mistakes come before any work; what the environment does to a run can be mended and resumed.
ExitCode exit_of(const Diagnostics& errors) {
  for (const auto& error : errors)
    if (error.fault == Fault::input || error.fault == Fault::unsupported) return ExitCode::bad_input;
  return ExitCode::interrupted;
}

void warn(const std::vector<std::string>& warnings) {
  for (const auto& warning : warnings) std::fprintf(stderr, "warning: %s\n", warning.c_str());
}

ExitCode finish(const RunReport& report) {
  warn(report.warnings);
  warn(report.merge.warnings);
  if (report.interrupted) {
    std::fprintf(stderr, "interrupted after %zu of %zu points; the same command continues\n",
                 report.already_done + report.evaluated, report.points);
    return ExitCode::interrupted;
  }
  fmt::print("{} points: {} evaluated now in {:.1f} s, {} from before, {} not ok\n", report.points, report.evaluated,
             report.seconds, report.already_done, report.failed);
  const auto printed = print_summary(report.merge.file);
  if (printed != ExitCode::done) return printed;
  return report.failed > 0 ? ExitCode::some_failed : ExitCode::done;
}

}  // namespace

ExitCode execute(const RunArguments& arguments) {
  const auto limit = memory_limit(arguments.memory, 0);
  const bool launched = under_launcher();
  if (launched) block_run_signals();
  std::optional<MpiSession> session;
  if (launched) session.emplace();
  const bool first = !session || session->rank() == 0;

  auto study = limit ? read_study(arguments.study, vocabulary()) : Result<Study>(limit.errors());
  if (study) {
    if (auto wrong = check_study(*study); !wrong.empty()) study = std::move(wrong);
  }
  if (!study) {
    if (first) complain(study.errors());
    return ExitCode::bad_input;
  }
  RunOptions options;
  options.out = arguments.out;
  options.threads = arguments.threads;
  options.memory_limit_bytes = *limit;
  options.open = {arguments.extend, arguments.retry_failed};
  options.quiet = arguments.quiet;
  const auto report = session ? run_with_mpi(*study, options) : run_alone(*study, options);
  if (!report) {
    if (first) complain(report.errors());
    return exit_of(report.errors());
  }
  return first ? finish(*report) : ExitCode::done;
}

ExitCode execute(const PlanArguments& arguments) {
  auto study = read_study(arguments.study, vocabulary());
  if (!study) return complain(study.errors()), ExitCode::bad_input;
  if (const auto wrong = check_study(*study); !wrong.empty()) return complain(wrong), ExitCode::bad_input;
  double seconds = 0;
  std::size_t largest = 0;
  std::vector<Report> points;
  for (const auto& point : study->points) {
    const auto cost = estimate(point);
    seconds += cost.seconds;
    largest = std::max(largest, cost.bytes);
    if (!arguments.points) continue;
    Report entry;
    entry.add("key", to_string(point.key));
    for (const auto& setting : settings()) {
      if (setting.kind == Setting::Kind::text) entry.add(std::string(setting.name), text_setting(point, setting.name));
      else entry.add(std::string(setting.name), integer_setting(point, setting.name));
    }
    entry.add("expected_seconds", cost.seconds);
    entry.add("planned_bytes", static_cast<std::int64_t>(cost.bytes));
    points.push_back(std::move(entry));
  }
  Report report;
  report.add("study", study->name);
  report.add("points", static_cast<std::int64_t>(study->points.size()));
  report.add("rows_before_keep", static_cast<std::int64_t>(study->rows_before_keep));
  report.add("duplicates", static_cast<std::int64_t>(study->duplicates));
  report.add("expected_core_seconds", seconds);
  report.add("largest_point_bytes", static_cast<std::int64_t>(largest));
  if (arguments.points) report.add("point_list", std::move(points));
  std::fputs((arguments.json ? to_json(report) : to_text(report)).c_str(), stdout);
  return ExitCode::done;
}

ExitCode execute(const MergeArguments& arguments) {
  const auto study = read_stored_study(arguments.dir, vocabulary());
  if (!study) return complain(study.errors()), ExitCode::bad_input;
  const auto report = merge(arguments.dir, *study);
  if (!report) return complain(report.errors()), ExitCode::some_failed;
  warn(report->warnings);
  fmt::print("{} rows, {} missing, {} not ok, {} found more than once\n", report->rows, report->missing, report->failed,
             report->repeated);
  const auto printed = print_summary(report->file);
  if (printed != ExitCode::done) return printed;
  return report->failed > 0 ? ExitCode::some_failed : ExitCode::done;
}

}  // namespace tenex::cli
