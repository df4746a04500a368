// synthesize and simulate: one point in the study's words.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <utility>

#include "commands.hpp"
#include "observations.hpp"
#include "report.hpp"
#include "study_report.hpp"
#include "tenex/algorithm/algorithm.hpp"
#include "tenex/coordinator/progress.hpp"
#include "tenex/design/point_collective.hpp"
#include "tenex/evaluate/evaluate.hpp"
#include "tenex/evaluate/kept_schedule.hpp"
#include "tenex/execution/algorithm_table.hpp"
#include "tenex/execution/build.hpp"
#include "tenex/execution/sizes.hpp"
#include "tenex/files/output_place.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex::cli {

bool names(const PointArguments& arguments, std::string_view key) {
  return std::ranges::any_of(arguments.settings, [&](const auto& setting) { return setting.first == key; });
}

namespace {

using Command = PointArguments::Command;

/// The algorithm where none is named. Bounds need none, but a point does: one that leaves every collective a choice.
std::string_view algorithm_for(const PointArguments& arguments) {
  if (arguments.command == Command::synthesize) return kDefaultSynthesizer;
  if (arguments.command == Command::bound) return kBestOfAll;
  auto kind = CollectiveKind::all_reduce;
  for (const auto& [key, text] : arguments.settings)
    if (key == "collective")
      if (const auto read = parse_collective_kind(text)) kind = *read;  // the point tells of a wrong word
  return default_algorithm(kind).name;
}

Result<DesignPoint> point_of(const PointArguments& arguments) {
  auto settings = arguments.settings;
  if (!names(arguments, "algorithm")) settings.emplace_back("algorithm", std::string(algorithm_for(arguments)));
  if (arguments.command == Command::bound && !names(arguments, "chunks")) settings.emplace_back("chunks", "1");
  auto point = point_of_words(settings);
  if (!point) return point;
  if (arguments.command == Command::bound && point->chunks == kAutomaticChunks)
    return input_error({"--chunks", 0, 0}, "no number of chunks", "bounds depend on it", "give a number");
  if (point->family == AlgorithmFamily::any) return point;
  const bool synthesizer = find_synthesizer(point->algorithm) != nullptr;
  if (arguments.command == Command::synthesize && !synthesizer)
    return input_error({"--algorithm", 0, 0}, "'" + point->algorithm + "' is a textbook algorithm",
                       "`synthesize` makes schedules by search", "use `tenex simulate` with the same options");
  if (arguments.command == Command::simulate && synthesizer)
    return input_error({"--algorithm", 0, 0}, "'" + point->algorithm + "' is a synthesizer",
                       "`simulate` runs textbook algorithms", "use `tenex synthesize` with the same options");
  return point;
}

Report point_report(const DesignPoint& point, const Evaluation& row) {
  Report settings;
  add_settings(settings, point, {"topology", "collective", "algorithm", "occupancy", "size"});
  if (!point.topology.faults.empty()) add_settings(settings, point, {"faults"});
  settings.add_count("chunks", row.chosen_chunks > 0 ? row.chosen_chunks : point.chunks);
  return report_of_row(point, row, std::move(settings));
}

/// A lower bound on the sends of any schedule of the point: each NPU receives every chunk that it must hold and lacks,
/// or sends its share of it. 0 where messages carry several chunks.
std::uint64_t least_sends(const DesignPoint& point) {
  if (!sends_single_chunks(point)) return 0;
  const auto collective = build_point_collective(with_any_chunks(point), point.topology.npus());
  if (!collective) return 0;  // evaluation reports the error
  double sends = 0;
  for (std::size_t g = 0; g < collective->groups().size(); ++g) {
    const auto sizes = group_sizes(*collective, GroupId::at(g));
    sends += passes_of(sizes.kind) * sizes.deliveries;
  }
  return static_cast<std::uint64_t>(sends);
}

/// Shows the gap of a working solver each second.
SolverProgress solver_progress(const PointArguments& arguments) {
  if (!arguments.progress && isatty(STDERR_FILENO) == 0) return {};
  return once_in(1, [](const SolverMoment& moment) { fmt::print(stderr, "{}\n", solver_line(moment)); });
}

/// Writes the schedule if asked for, and reports as what, and its size on disk.
ExitCode write_out(const PointArguments& arguments, const DesignPoint& point, EvaluationOutput& output,
                   Report& report) {
  if (arguments.out.empty()) return ExitCode::done;
  const auto sends = output.schedule.sends();
  if (!output.topology || !output.collective || sends == 0) {
    const bool times = point.collective().backend == Backend::congestion_unaware;
    complain({input_error({"--out", 0, 0}, "there is no timed stream to write",
                          times                 ? "the congestion-unaware backend only computes times"
                          : arguments.time_only ? "only the time was asked for"
                                                : "it was too long to be kept",
                          times                 ? "use --backend congestion_aware"
                          : arguments.time_only ? "leave out --time-only"
                                                : "raise --memory, or write a smaller point")});
    return ExitCode::bad_input;
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto as = arguments.keep_as == "list"     ? KeepAs::list
                  : arguments.keep_as == "recipe" ? KeepAs::recipe
                                                  : KeepAs::by_size;
  const auto written = keep_schedule(arguments.out, point, output, {as, arguments.threads});
  if (!written) return refuse(written.errors(), exit_of_once(written.errors()));
  report.add("file_content", std::string(*written == KeepAs::list ? "list" : "recipe"));
  std::error_code error;
  const auto size = static_cast<double>(std::filesystem::file_size(arguments.out, error));
  if (error) return ExitCode::done;
  report.add("file_bytes", static_cast<std::int64_t>(size));
  report.add("file_bytes_per_send", size / static_cast<double>(sends));
  report.add("file_seconds", std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  return ExitCode::done;
}

/// Where nobody named an algorithm and the result is not near its bound: says which one is shown, and what compares
/// all.
void tell_of_more(const PointArguments& arguments, const DesignPoint& point, const Evaluation& row, std::size_t limit) {
  constexpr double kNear = 0.98;
  if (names(arguments, "algorithm") || row.bound_ps <= 0 || row.efficiency >= kNear) return;
  const bool synthesizes = arguments.command == Command::synthesize;
  const std::string_view all = synthesizes ? kBestOfAll : kAutoAlgorithm;
  auto settings = arguments.settings;
  settings.emplace_back("algorithm", std::string(all));
  const auto compared = make_point(settings, vocabulary());
  if (!compared) return;  // an option that only the shown one reads
  const double seconds = Estimator(limit)(*compared).seconds;
  warn(fmt::format("no algorithm was named, so this is {}; \"--algorithm {}\" compares all of them{} (expected: {})",
                   point.algorithm, all, synthesizes && !names(arguments, "chunks") ? ", and numbers of chunks" : "",
                   seconds < 1 ? "a second" : fmt::format("{:.0f} s", seconds)));
}

}  // namespace

ExitCode exit_of(PointStatus status) {
  if (status == PointStatus::ok) return ExitCode::done;
  return status == PointStatus::failed ? ExitCode::some_failed : ExitCode::bad_input;
}

ExitCode execute(const PointArguments& arguments) {
  const auto limit = memory_limit(arguments.memory, EvaluateOptions{}.memory_limit_bytes);
  if (!limit) return refuse(limit.errors());
  const auto point = point_of(arguments);
  if (!point) return refuse(point.errors());
  if (arguments.command == Command::bound) return print_bounds(*point, arguments);

  if (!arguments.out.empty()) {
    const auto least = arguments.keep_as == "recipe" ? 0 : least_sends(*point);
    const auto place = check_schedule_output(arguments.out, least, {"--out", 0, 0});
    if (!place) return refuse(place.errors());
  }
  Cache cache;
  EvaluateOptions options;
  options.threads = arguments.threads;
  options.memory_limit_bytes = *limit;
  const auto& watched = arguments.observe;
  options.link_loads = watched.observes("link_bytes");
  options.group_times = watched.observes("group_times");
  options.arrivals = watched.observes("arrivals");
  options.utilization_bins = watched.observes("utilization") ? watched.bins : 0;
  options.keep_schedule = !arguments.out.empty() || options.link_loads;
  options.time_only = arguments.time_only;
  options.alone = true;
  options.solver_progress = solver_progress(arguments);
  auto output = evaluate(*point, cache, options);
  const auto exit = exit_of(output.row.status);
  if (exit != ExitCode::done && !arguments.json) {
    complain({input_error({}, output.row.reason)});
    return exit;
  }
  auto report = point_report(*point, output.row);
  const auto& row = output.row;
  add_observations(report, output.topology ? &*output.topology : nullptr, row.total_links,
                   {row.link_loads, row.utilization_bin_ps, row.utilization_ps, row.arrivals, row.group_times_ps});
  const auto written = exit == ExitCode::done ? write_out(arguments, *point, output, report) : exit;
  if (exit == ExitCode::done && !arguments.json) tell_of_more(arguments, *point, row, *limit);
  std::fputs((arguments.json ? to_json(report) : to_text(report)).c_str(), stdout);
  return written;
}

}  // namespace tenex::cli
