// run and plan: whole studies.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "mpi_session.hpp"
#include "plan_costs.hpp"
#include "report.hpp"
#include "sbatch.hpp"
#include "search_outlook.hpp"
#include "shared_study.hpp"
#include "study_report.hpp"
#include "tenex/base/units.hpp"
#include "tenex/base/words.hpp"
#include "tenex/coordinator/coordinator.hpp"
#include "tenex/coordinator/resources.hpp"
#include "tenex/coordinator/signals.hpp"
#include "tenex/evaluate/evaluate.hpp"
#include "tenex/evaluate/search.hpp"
#include "tenex/files/atomic_write.hpp"
#include "tenex/files/output_place.hpp"
#include "tenex/store/slice.hpp"
#include "tenex/store/store.hpp"

namespace tenex::cli {
namespace {

/// Number of points of the study that other slices have.
std::size_t points_elsewhere(const Slice& slice, std::size_t points) {
  std::size_t elsewhere = 0;
  for (std::size_t point = 0; point < points; ++point) elsewhere += in_slice(slice, point) ? 0 : 1;
  return elsewhere;
}

/// ", 12 pruned", or nothing: only a study with a search prunes.
std::string describe_pruned(std::size_t pruned) { return pruned == 0 ? "" : fmt::format(", {} pruned", pruned); }

/// A slice is done when its own points are; points of other slices are missing from its file.
ExitCode finish_slice(const RunReport& report, const Slice& slice, std::size_t elsewhere) {
  fmt::print("slice {}, {} of {} points: {} evaluated now in {:.1f} s, {} not ok{}; `tenex merge` joins the slices\n",
             to_string(slice), report.points - elsewhere, report.points, report.evaluated, report.seconds,
             report.failed, describe_pruned(report.pruned));
  const auto printed = print_summary(report.merge.file);
  if (printed != ExitCode::done) return printed;
  return report.failed > 0 ? ExitCode::some_failed : ExitCode::done;
}

ExitCode finish(const RunReport& report, const std::filesystem::path& out, const Slice& slice) {
  warn(report.warnings);
  warn(report.merge.warnings);
  const auto elsewhere = points_elsewhere(slice, report.points);
  if (report.interrupted) {
    const auto left = report.points - std::min(report.points, report.already_done + report.evaluated);
    std::fprintf(stderr, "interrupted after %zu of %zu points; the same command %s\n", report.points - elsewhere - left,
                 report.points - elsewhere, left > 0 ? "continues" : "merges them");
    return ExitCode::interrupted;
  }
  if (slice.count > 1) return finish_slice(report, slice, elsewhere);
  fmt::print("{} points: {} evaluated now in {:.1f} s, {} from before, {} not ok{}\n", report.points, report.evaluated,
             report.seconds, report.already_done, report.failed, describe_pruned(report.pruned));
  const auto printed = print_summary(report.merge.file);
  if (printed != ExitCode::done) return printed;
  if (report.merge.missing > 0) return say_missing(report.merge, out);
  return report.failed > 0 ? ExitCode::some_failed : ExitCode::done;
}

ExitCode run_study(const RunArguments& arguments, MpiSession* session) {
  const auto shared = share_run(arguments, session);
  if (!shared) return ExitCode::bad_input;
  RunOptions options;
  options.out = shared->out;
  options.threads = arguments.threads;
  options.memory_limit_bytes = shared->memory_limit;
  options.open = {arguments.extend, arguments.retry_failed};
  const auto slice = parse_slice(arguments.slice);
  ensure(slice.ok(), "the slice was checked with the other arguments");
  options.open.slice = *slice;
  options.quiet = arguments.quiet;
  const auto level = parse_log_level(arguments.log_level);
  ensure(level.ok(), "the log level was checked with the other arguments");
  options.log_level = *level;
  options.one_by_one = arguments.one_by_one;
  const auto time_limit = parse_time(arguments.time_limit.empty() ? "0s" : arguments.time_limit);
  ensure(time_limit.ok(), "the time limit was checked with the other arguments");
  options.time_limit_seconds = static_cast<double>(time_limit->count()) * 1e-12;
  const auto silence = parse_time(arguments.silence);
  ensure(silence.ok(), "the silence was checked with the other arguments");
  options.silence_seconds = static_cast<double>(silence->count()) * 1e-12;
  if (session != nullptr) options.on_lost_rank = [session] { session->abandon(); };
  const bool first = session == nullptr || session->rank() == 0;
  const auto report = session != nullptr ? run_with_mpi(shared->study, options) : run_alone(shared->study, options);
  if (!report) {
    if (first) complain(report.errors());
    return exit_of(report.errors());
  }
  return first ? finish(*report, arguments.out, *slice) : ExitCode::done;
}

}  // namespace

ExitCode execute(const RunArguments& arguments) {
  const bool launched = under_launcher();
  if (launched) block_run_signals();
  std::optional<MpiSession> session;
  if (launched) session.emplace();
  if (const auto mismatch = launcher_mismatch(session ? session->ranks() : 1)) {
    if (first_of_launch()) complain({*mismatch});
    return ExitCode::bad_input;
  }
  try {
    const auto code = run_study(arguments, session ? &*session : nullptr);
    return session ? session->end(code) : code;
  } catch (const std::exception& error) {
    if (!session) throw;
    // The other ranks may wait in a collective operation that this one will never enter.
    std::fprintf(stderr, "tenex: rank %d: %s; the job is aborted, the same command continues\n", session->rank(),
                 error.what());
    session->abort(static_cast<int>(ExitCode::interrupted));
  }
}

namespace {

/// An entry of the list of points.
Report cost_entry(const DesignPoint& point, const Cost& cost, bool trains) {
  Report entry;
  entry.add("key", to_string(point.key));
  for (const auto& setting : setting_columns()) {
    if (setting.training && !trains) continue;
    add_cell(entry, std::string(setting.name), setting_cell(point, setting.name));
  }
  entry.add("expected_seconds", cost.work.seconds());
  entry.add("memory_planned_bytes", static_cast<std::int64_t>(cost.bytes));
  return entry;
}

/// The counted units of work.
Report work_entry(const Work& work) {
  Report entry;
  for (const WorkPrice& price : work_prices())
    if (const double count = work.count(price.unit); count > 0) entry.add(std::string(price.name), count);
  return entry;
}

/// The seconds that a unit of work takes, for each.
std::vector<Report> price_entries() {
  std::vector<Report> entries;
  for (const WorkPrice& price : work_prices()) {
    Report entry;
    entry.add("unit", std::string(price.name));
    entry.add("part", std::string(price.part));
    entry.add("seconds", price.seconds);
    entries.push_back(std::move(entry));
  }
  return entries;
}

/// The algorithm that a point's time is counted for.
std::string algorithm_of(const DesignPoint& point) {
  if (!point.trains()) return point.algorithm;
  return fmt::format("training: {}, {}", to_string(point.training().scheme),
                     to_string(point.training().collective_time));
}

/// Number of points that will be refused, by reason.
using Refusals = std::map<std::string, std::int64_t>;

void add_refusals(Report& report, const Refusals& refusals) {
  std::int64_t points = 0;
  std::vector<Report> entries;
  for (const auto& [reason, count] : refusals) {
    Report entry;
    entry.add("reason", reason);
    entry.add("points", count);
    entries.push_back(std::move(entry));
    points += count;
  }
  report.add("infeasible_points", points);
  if (points > 0) report.add("infeasible", std::move(entries));
}

/// Number of points that train, by workload and scheme.
using TrainingCounts = std::map<std::pair<std::string, std::string>, std::int64_t>;

std::vector<Report> entries_of(const TrainingCounts& counts) {
  std::vector<Report> entries;
  for (const auto& [names, points] : counts) {
    Report entry;
    entry.add("workload", names.first);
    entry.add("scheme", names.second);
    entry.add("points", points);
    entries.push_back(std::move(entry));
  }
  return entries;
}

/// The expected cost of a round of the study's search.
struct RoundCost {
  Fidelity fidelity = Fidelity::bound;
  std::size_t points = 0;
  double seconds = 0;
};

/// The cost of a search's rounds, gathered point by point.
class RoundCosts {
 public:
  RoundCosts(const Study& study, const SearchOutlook& outlook, std::size_t memory_limit_bytes)
      : outlook_(outlook), estimator_(memory_limit_bytes) {
    for (std::size_t r = 0; r < study.search.rounds.size(); ++r)
      rounds_.push_back({study.search.rounds[r].fidelity, outlook.points(r)});
  }

  /// Adds the point; returns the expected seconds that the rounds spend on it.
  double add(std::size_t number, const DesignPoint& point) {
    double sum = 0;
    for (std::size_t r = 0; r < rounds_.size(); ++r) {
      const double seconds = outlook_.share(number, r) * estimator_(point, rounds_[r].fidelity).seconds;
      rounds_[r].seconds += seconds;
      sum += seconds;
    }
    return sum;
  }
  [[nodiscard]] double seconds() const {
    double sum = 0;
    for (const auto& round : rounds_) sum += round.seconds;
    return sum;
  }
  [[nodiscard]] std::vector<Report> entries() const {
    std::vector<Report> entries;
    for (const auto& round : rounds_) {
      Report entry;
      entry.add("round", std::string(to_string(round.fidelity)));
      entry.add("points", static_cast<std::int64_t>(round.points));
      entry.add("expected_core_seconds", round.seconds);
      entries.push_back(std::move(entry));
    }
    return entries;
  }

 private:
  const SearchOutlook& outlook_;
  EarlyEstimator estimator_;
  std::vector<RoundCost> rounds_;
};

/// What the job of a study carries with it.
JobContent job_content(const PlanArguments& arguments, const Study& study) {
  JobContent content{study.name, arguments.study.filename().string(), study.text, {}, "tenex"};
  for (const auto& [path, text] : study.machines) content.files.emplace(path, text.view());
  std::error_code error;
  if (auto program = std::filesystem::read_symlink("/proc/self/exe", error); !error)
    content.program = std::move(program);
  return content;
}

/// Writes the job to its file, or prints it if no file is named; submits it if that was asked for.
ExitCode write_sbatch(const PlanArguments& arguments, const Study& study, const StudyCost& cost) {
  const auto shape = shape_job(cost, {arguments.ranks, arguments.threads});
  const auto folder = std::filesystem::absolute(arguments.study).lexically_normal().parent_path().filename();
  const auto dir = std::filesystem::path("results") / (folder.empty() ? study.name : folder.string());
  const auto text = sbatch_text(job_content(arguments, study), dir, cost, shape);
  const bool keeps = arguments.sbatch && !arguments.sbatch->empty();
  if (!keeps && !arguments.submit) return std::fputs(text.c_str(), stdout), ExitCode::done;
  if (keeps) {
    if (const auto status = write_file_atomically(*arguments.sbatch, text); !status)
      return refuse(status.errors(), exit_of_once(status.errors()));
    fmt::print("{}: {}, {} of {}", arguments.sbatch->string(), counted(shape.nodes, "node"),
               counted(shape.nodes * shape.ranks_per_node, "rank"), counted(shape.threads, "thread"));
    fmt::print("{}\n", arguments.submit ? "" : "; submit it: sbatch " + arguments.sbatch->string());
  }
  if (!arguments.submit) return ExitCode::done;
  std::fflush(stdout);
  if (const auto status = submit_job(text); !status) return refuse(status.errors(), exit_of_once(status.errors()));
  fmt::print("the result will be {}\n", (dir / "study.h5").string());
  return ExitCode::done;
}

}  // namespace

ExitCode execute(const PlanArguments& arguments) {
  if (arguments.sbatch && !arguments.sbatch->empty())
    if (const auto place = check_output_file(*arguments.sbatch, {"--sbatch", 0, 0}); !place)
      return refuse(place.errors());
  auto study = read_study(arguments.study, vocabulary());
  if (!study) return refuse(study.errors());
  if (const auto wrong = check_study(*study); !wrong.empty()) return refuse(wrong);
  warn(study->warnings);
  const auto asked = memory_limit(arguments.memory, 0);
  if (!asked) return refuse(asked.errors());
  const auto limit = resolve_memory_limit(*asked, 1);
  Estimator estimator(limit);
  const SearchOutlook outlook(*study);
  RoundCosts rounds(*study, outlook, limit);
  std::size_t largest = 0;
  std::vector<Report> points;
  TrainingCounts trained;
  StudyCost whole;
  CostShares sweeps;
  CostShares algorithms;
  std::set<std::string> made;  // what the first of the points that share a schedule did
  Foresight foresight;
  Refusals refusals;
  for (std::size_t i = 0; i < study->points.size(); ++i) {
    const DesignPoint point = study->points[i];
    Cost counted = estimator.cost(point);
    const bool shares = !counted.shared.empty() && !made.insert(Estimator::sharing_key(point)).second;
    if (shares) counted.work += -1 * counted.shared;
    const Estimate cost = counted.estimate();
    whole.add(cost, outlook.share_in_full(i));
    const double seconds = outlook.share_in_full(i) * cost.seconds + rounds.add(i, point);
    sweeps.add(study->points.sweep_of(i), seconds);
    algorithms.add(algorithm_of(point), seconds);
    largest = std::max(largest, cost.bytes);
    if (const auto refusal = foresight(point); !refusal.empty()) ++refusals[refusal];
    if (point.trains()) ++trained[{point.training().workload.text, std::string(to_string(point.training().scheme))}];
    if (!arguments.points) continue;
    points.push_back(cost_entry(point, counted, study->trains));
    if (!arguments.json) continue;
    points.back().add("weight", counted.weight);
    points.back().add_object("work", work_entry(counted.work));
  }
  whole.add_seconds(rounds.seconds());
  if (arguments.sbatch || arguments.submit) return write_sbatch(arguments, *study, whole);
  const RunResources machine{std::max(1, arguments.ranks), resolve_threads(arguments.threads), affinity_cores()};
  Report report;
  report.add("study", study->name);
  report.add("points", static_cast<std::int64_t>(study->points.size()));
  report.add("rows_before_keep", static_cast<std::int64_t>(study->rows_before_keep));
  report.add("duplicates", static_cast<std::int64_t>(study->duplicates));
  report.add("expected_core_seconds", whole.seconds());
  report.add("expected_wall_seconds", expected_wall_seconds(whole, machine));
  report.add("threads", static_cast<std::int64_t>(machine.ranks) * machine.threads);
  report.add("cores", static_cast<std::int64_t>(machine.cores));
  report.add("largest_point_bytes", static_cast<std::int64_t>(largest));
  add_refusals(report, refusals);
  if (study->search.prunes()) {
    report.add("evaluated_in_full", static_cast<std::int64_t>(outlook.points(study->search.rounds.size())));
    report.add("search_rounds", rounds.entries());
  }
  report.add("sweeps", sweeps.entries("sweep"));
  report.add("algorithms", algorithms.entries("algorithm"));
  if (!trained.empty()) report.add("training", entries_of(trained));
  if (arguments.points && arguments.json) {
    report.add("work_prices_fitted", std::string(work_prices_fitted()));
    report.add("work_prices", price_entries());
  }
  if (arguments.points) report.add("point_list", std::move(points));
  std::fputs((arguments.json ? to_json(report) : to_text(report)).c_str(), stdout);
  return ExitCode::done;
}

}  // namespace tenex::cli
