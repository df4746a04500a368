// run, plan and merge: whole studies.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "mpi_session.hpp"
#include "report.hpp"
#include "shared_study.hpp"
#include "summary.hpp"
#include "tenex/base/units.hpp"
#include "tenex/coordinator/coordinator.hpp"
#include "tenex/coordinator/resources.hpp"
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

/// Says that rows are missing from the merged file, and how to get them.
ExitCode say_missing(const MergeReport& merged, const std::filesystem::path& dir) {
  std::fprintf(stderr, "%zu of %zu points have no row yet; `tenex run STUDY --out %s` continues\n", merged.missing,
               merged.rows + merged.missing, dir.string().c_str());
  return ExitCode::interrupted;
}

ExitCode finish(const RunReport& report, const std::filesystem::path& out) {
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
  if (report.merge.missing > 0) return say_missing(report.merge, out);
  return report.failed > 0 ? ExitCode::some_failed : ExitCode::done;
}

ExitCode run_study(const RunArguments& arguments, const MpiSession* session) {
  const auto shared = share_run(arguments, session);
  if (!shared) return ExitCode::bad_input;
  RunOptions options;
  options.out = shared->out;
  options.threads = arguments.threads;
  options.memory_limit_bytes = shared->memory_limit;
  options.open = {arguments.extend, arguments.retry_failed};
  options.quiet = arguments.quiet;
  options.one_by_one = arguments.one_by_one;
  const bool first = session == nullptr || session->rank() == 0;
  const auto report = session != nullptr ? run_with_mpi(shared->study, options) : run_alone(shared->study, options);
  if (!report) {
    if (first) complain(report.errors());
    return exit_of(report.errors());
  }
  return first ? finish(*report, arguments.out) : ExitCode::done;
}

}  // namespace

ExitCode execute(const RunArguments& arguments) {
  const bool launched = under_launcher();
  if (launched) block_run_signals();
  std::optional<MpiSession> session;
  if (launched) session.emplace();
  try {
    return run_study(arguments, session ? &*session : nullptr);
  } catch (const std::exception& error) {
    if (!session) throw;
    // The other ranks may wait for this one in a collective, which it will never enter.
    std::fprintf(stderr, "tenex: rank %d: %s; the job is aborted, the same command continues\n", session->rank(),
                 error.what());
    session->abort(static_cast<int>(ExitCode::interrupted));
  }
}

ExitCode execute(const PlanArguments& arguments) {
  auto study = read_study(arguments.study, vocabulary());
  if (!study) return complain(study.errors()), ExitCode::bad_input;
  if (const auto wrong = check_study(*study); !wrong.empty()) return complain(wrong), ExitCode::bad_input;
  Estimator estimator(resolve_memory_limit(0, 1));
  double seconds = 0;
  std::size_t largest = 0;
  std::vector<Report> points;
  for (const auto& point : study->points) {
    const auto cost = estimator(point);
    seconds += cost.seconds;
    largest = std::max(largest, cost.bytes);
    if (!arguments.points) continue;
    Report entry;
    entry.add("key", to_string(point.key));
    for (const auto& setting : settings()) {
      if (setting.kind == Setting::Kind::text)
        entry.add(std::string(setting.name), text_setting(point, setting.name));
      else
        entry.add(std::string(setting.name), integer_setting(point, setting.name));
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
  if (report->missing > 0) return say_missing(*report, arguments.dir);
  return report->failed > 0 ? ExitCode::some_failed : ExitCode::done;
}

}  // namespace tenex::cli
