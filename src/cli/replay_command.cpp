// replay: evaluates one row of a result folder again and compares.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "report.hpp"
#include "tenex/base/version.hpp"
#include "tenex/coordinator/resources.hpp"
#include "tenex/evaluate/evaluate.hpp"
#include "tenex/store/committed_row.hpp"
#include "tenex/store/store.hpp"

namespace tenex::cli {
namespace {

/// The only point whose key begins with `prefix`.
Result<std::uint64_t> find_point(const Study& study, std::string_view prefix) {
  std::vector<std::uint64_t> found;
  for (std::uint64_t point = 0; point < study.points.size(); ++point)
    if (to_string(study.points.key(point)).starts_with(prefix)) found.push_back(point);
  if (found.size() == 1) return found.front();
  if (found.empty())
    return input_error({"KEY", 0, 0},
                       fmt::format("no point of the study \"{}\" has the key \"{}\"", study.name, prefix),
                       "a key is 32 hexadecimal digits, of which the first ones are enough",
                       "the variable `key` of study.h5 and `tenex plan --points` list them");
  std::string some;
  for (std::size_t i = 0; i < std::min<std::size_t>(found.size(), 3); ++i)
    some += (some.empty() ? "" : ", ") + to_string(study.points.key(found[i]));
  return input_error({"KEY", 0, 0}, fmt::format("{} points have a key that begins with \"{}\"", found.size(), prefix),
                     some + (found.size() > 3 ? ", ..." : ""), "give more digits");
}

/// The options that a run would evaluate this row with.
EvaluateOptions options_of(const KeptRow& row, const Study& study, const RowReplayArguments& arguments,
                           std::size_t memory_limit) {
  EvaluateOptions options;
  options.threads = arguments.threads;
  options.memory_limit_bytes = memory_limit;
  options.link_loads = row.link_bytes;
  options.group_times = row.group_times;
  options.utilization_bins = row.utilization ? study.outputs.utilization_bins : 0;
  options.arrivals = row.arrivals;
  options.alone = true;
  return options;
}

Report replay_report(const DesignPoint& point, const KeptRow& row, const Evaluation& now,
                     const std::vector<RowDifference>& differences, bool json) {
  Report report;
  report.add("key", to_string(point.key));
  report.add("same", differences.empty());
  report.add("compared_columns", static_cast<std::int64_t>(compared_columns(row)));
  report.add("stored_by_version", row.version);
  report.add("stored_by_revision", row.git_revision);
  report.add("run", static_cast<std::int64_t>(row.incarnation));
  report.add("rank", static_cast<std::int64_t>(row.rank));
  report.add("host", row.host);
  report.add("stored_evaluation_seconds", row.evaluation.evaluation_seconds);
  report.add("evaluation_seconds", now.evaluation_seconds);
  std::vector<Report> entries;
  for (const auto& difference : differences) {
    Report entry;
    entry.add("column", difference.column);
    entry.add("stored", difference.stored);
    entry.add("now", difference.other);
    entries.push_back(std::move(entry));
  }
  if (json || !entries.empty()) report.add("differences", std::move(entries));
  return report;
}

void explain(const KeptRow& row, const std::vector<RowDifference>& differences) {
  if (differences.empty()) return;
  const bool same_program = row.version == version() && row.git_revision == git_revision();
  const bool memory =
      std::ranges::any_of(differences, [](const auto& d) { return d.column == "memory_planned_bytes"; });
  std::fprintf(stderr, "the row differs in %zu columns (%s) %s\n", differences.size(),
               same_program ? "the same version of tenex evaluated it"
                            : fmt::format("it was evaluated by {}, revision {}; this is {}, revision {}", row.version,
                                          row.git_revision, version(), git_revision())
                                  .c_str(),
               memory || row.evaluation.status == PointStatus::out_of_memory
                   ? "the run may have had another memory limit: give its own with --memory"
                   : "please report it, with the study and the key");
}

}  // namespace

ExitCode execute(const RowReplayArguments& arguments) {
  const auto limit = memory_limit(arguments.memory, resolve_memory_limit(0, 1));
  if (!limit) return refuse(limit.errors());
  const auto study = read_stored_study(arguments.dir, vocabulary());
  if (!study) return refuse(study.errors());
  const auto index = find_point(*study, arguments.key);
  if (!index) return refuse(index.errors());
  const auto row = read_committed_row(arguments.dir, *study, *index);
  if (!row) return refuse(row.errors(), ExitCode::some_failed);
  const DesignPoint point = study->points[*index];
  if (!*row)
    return refuse({input_error({"KEY", 0, 0}, fmt::format("the point {} has no row yet", to_string(point.key)), {},
                               "let `tenex run` evaluate it first")});
  if ((*row)->evaluation.status == PointStatus::pruned)
    return refuse(
        {input_error({"KEY", 0, 0}, fmt::format("the point {} was pruned by the search", to_string(point.key)),
                     (*row)->evaluation.reason + ": it was never evaluated, so there is nothing to compare",
                     "replay a row that is not pruned")});
  if (!arguments.json) fmt::print("{}\n", point.canonical);
  std::fflush(stdout);  // printed before the evaluation, so that a point that ends this process is named
  Cache cache;
  const auto output = evaluate(point, cache, options_of(**row, *study, arguments, *limit));
  const auto differences = compare_rows(**row, output.row);
  const auto report = replay_report(point, **row, output.row, differences, arguments.json);
  std::fputs((arguments.json ? to_json(report) : to_text(report)).c_str(), stdout);
  explain(**row, differences);
  return differences.empty() ? ExitCode::done : ExitCode::some_failed;
}

}  // namespace tenex::cli
