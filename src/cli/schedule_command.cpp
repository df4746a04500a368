// verify and simulate --schedule: checks or replays the contents of a schedule file, or plays them on switches.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "commands.hpp"
#include "observations.hpp"
#include "report.hpp"
#include "tenex/evaluate/evaluate.hpp"
#include "tenex/evaluate/kept_schedule.hpp"
#include "tenex/execution/build.hpp"
#include "tenex/execution/execution_cache.hpp"
#include "tenex/files/schedule_file.hpp"
#include "tenex/schedule/verifier/symmetric_verifier.hpp"
#include "tenex/schedule/verifier/verifier.hpp"
#include "tenex/simulation/simulator.hpp"
#include "tenex/simulation/switched_replay.hpp"
#include "tenex/synthesis/synthesizer.hpp"
#include "tenex/topology/slow_windows.hpp"
#include "tenex/topology/transform.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex::cli {
namespace {

Report::Value outcome_value(Verification outcome) {
  if (outcome == Verification::skipped) return std::string("skipped");
  return outcome == Verification::valid;
}

Report schedule_report(const ScheduleFile& file) {
  Report report;
  report.add("algorithm", file.algorithm);
  report.add("collective", std::string(to_string(file.collective.kind())));
  report.add("occupancy", std::string(to_string(file.occupancy)));
  report.add("npus", static_cast<std::int64_t>(file.topology.npus()));
  report.add("links", static_cast<std::int64_t>(file.topology.links()));
  report.add("chunks", file.collective.chunks_per_npu());
  report.add("total_chunks", static_cast<std::int64_t>(file.collective.chunks()));
  report.add("sends", static_cast<std::int64_t>(file.schedule.sends()));
  report.add("storage", std::string(file.schedule.storage_kind()));
  if (!file.start_delays.empty()) report.add("late_npus", static_cast<std::int64_t>(file.start_delays.size()));
  return report;
}

/// Adds what the file holds, and whether a recipe's schedule is the one that it means.
void describe_recipe(const OpenedSchedule& opened, Report& report) {
  report.add("content", std::string(opened.recipe ? "recipe" : "list"));
  if (!opened.recipe) return;
  report.add("recipe_version", opened.recipe->version);
  report.add("recipe_time_ps", opened.recipe->time.count());
  report.add("as_recorded", opened.as_recorded());
}

void print_schedule(const Report& report, bool json) {
  std::fputs((json ? to_json(report) : to_text(report)).c_str(), stdout);
}

/// The point of a network: what it lacks of a collective and an algorithm does not matter.
Result<DesignPoint> network_point(std::vector<std::pair<std::string, std::string>> settings) {
  const auto names = [&](std::string_view key) {
    return std::ranges::any_of(settings, [&](const auto& setting) { return setting.first == key; });
  };
  if (!names("topology"))
    return input_error({"--on-switches", 0, 0}, "no network is named", "the file has the unwound one only",
                       "describe the network with its switches: --topology, --alpha, --bandwidth");
  using Word = std::pair<std::string, std::string>;
  for (const Word& word : {Word("algorithm", kDefaultSynthesizer), Word("collective", "all_gather"),
                           Word("size", "1TiB"), Word("unwind", "1")})
    if (!names(word.first)) settings.push_back(word);
  return point_of_words(settings);
}

/// The network with switches, and its unwound links, which must be those of the file.
struct NamedNetwork {
  Topology network;
  UnwoundNetwork unwound;
};

Result<NamedNetwork> named_network(const ReplayArguments& arguments, const Topology& unwound, std::size_t limit) {
  const auto point = network_point(arguments.network);
  if (!point) return point.errors();
  auto network = build_point_topology(with_switches_kept(*point), limit);
  if (!network) return network.errors();
  const auto& physical = network->wires() != nullptr ? network->wires()->network() : *network;
  auto made =
      unwind_with_origins(physical, std::max(1U, point->topology.unwind), slowdowns_of(point->collective().stragglers));
  if (!made) return made.errors();
  bool same = made->topology.npus() == unwound.npus() && made->topology.links() == unwound.links();
  for (std::size_t l = 0; same && l < unwound.links(); ++l)
    same = made->topology.link(LinkId::at(l)) == unwound.link(LinkId::at(l));
  if (!same)
    return input_error(
        {"--topology", 0, 0}, "the schedule is not for this network, unwound",
        fmt::format("it has {} links where the schedule has {}, or others", made->topology.links(), unwound.links()),
        "name the topology, its links and the degree (--unwind) with which it was synthesized");
  return NamedNetwork{*std::move(network), *std::move(made)};
}

/// Plays the file's schedule on the switches of the named network, verifies it there and reports its time and bound.
ExitCode play_file(const ReplayArguments& arguments, ScheduleFile file) {
  const auto limit = memory_limit(arguments.memory, VerifyOptions{}.memory_limit_bytes);
  if (!limit) return refuse(limit.errors());
  auto named = named_network(arguments, file.topology, *limit);
  if (!named) return refuse(named.errors());
  SimulationOptions options;
  options.occupancy = file.occupancy;
  options.record_sends = true;
  options.start_delays = file.start_delays;
  const auto planned = last_arrival({file.topology, file.collective, file.occupancy}, file.schedule);
  auto played = play_on_switches(named->network, named->unwound, file.collective, file.schedule, options,
                                 {.memory_limit_bytes = *limit});
  if (!played) return refuse(played.errors(), ExitCode::some_failed);
  ScheduleFile result{std::move(named->network),
                      std::move(file.collective),
                      file.occupancy,
                      played->sends,
                      std::move(file.algorithm),
                      {}};
  const Instance instance{result.topology, result.collective, result.occupancy};
  VerifyOptions checking;
  checking.memory_limit_bytes = *limit;
  checking.threads = arguments.threads;
  const auto verdict = verify_by_size(instance, result.schedule, checking);
  const bool single_chunks = result.schedule.payloads() == nullptr;
  ExecutionCache cache(0);
  const auto bound = bound_of_schedule({instance, true, single_chunks}, cache);
  auto report = schedule_report(result);
  report.add("planned_time_ps", planned.count());
  report.add("switched_time_ps", played->finish.count());
  report.add("switched_bound_ps", bound.time.count());
  report.add("bound_name", bound.name);
  report.add("verified", outcome_value(verdict.outcome));
  if (!arguments.out.empty())
    if (const auto written = write_schedule_file(arguments.out, result, {.threads = arguments.threads}); !written)
      return refuse(written.errors());
  print_schedule(report, arguments.json);
  return verdict.outcome == Verification::invalid ? ExitCode::some_failed : ExitCode::done;
}

}  // namespace

Result<OpenedSchedule> load_schedule(const std::filesystem::path& path, const std::string& memory, int threads,
                                     Parts parts) {
  const auto limit = memory_limit(memory, 0);
  if (!limit) return limit.errors();
  auto opened = open_schedule(path, {threads, *limit});
  if (opened && parts == Parts::refused && !opened->file.part.empty())
    return input_error({path.string(), 0, 0}, "this is a part of a schedule, which alone is not valid",
                       "it has the sends " + opened->file.part, "use the whole schedule");
  return opened;
}

ExitCode execute(const VerifyArguments& arguments) {
  if (!arguments.reader.empty()) return verify_tuner(arguments);
  if (arguments.file.extension() == ".csv")
    return refuse({input_error({arguments.file.string(), 0, 0}, "a table of a tuner, and nobody who reads it",
                               "NCCL and RCCL read the same line differently", "give --for nccl or --for rccl")});
  if (is_foreign_schedule_file(arguments.file))
    return judge_foreign(
        {arguments.file, arguments.settings, true, {}, arguments.threads, arguments.memory, arguments.json});
  if (!arguments.settings.empty())
    return refuse({input_error({"--" + arguments.settings.front().first, 0, 0}, "a schedule file has its own point",
                               "its topology, collective and sends are in the file", "leave out the option")});
  const auto limit = memory_limit(arguments.memory, VerifyOptions{}.memory_limit_bytes);
  if (!limit) return refuse(limit.errors());
  const auto opened = load_schedule(arguments.file, arguments.memory, arguments.threads, Parts::refused);
  if (!opened) return refuse(opened.errors());
  const ScheduleFile* file = &opened->file;
  VerifyOptions options;
  options.memory_limit_bytes = *limit;
  options.threads = arguments.threads;
  options.start_delays = file->start_delays;
  const auto verdict = verify_by_size({file->topology, file->collective, file->occupancy}, file->schedule, options);
  const OutsideWindows outside(file->topology);
  const bool single_chunks = file->schedule.payloads() == nullptr;
  ExecutionCache cache(0);
  const auto bound = bound_of_schedule(
      {{outside.topology(), file->collective, file->occupancy}, true, single_chunks, file->start_delays}, cache);
  auto report = schedule_report(*file);
  describe_recipe(*opened, report);
  report.add("verified", outcome_value(verdict.outcome));
  report.add("reduction_check", verdict.reduction_check);
  // As in rows: for more sends the hash would take longer than the check. A recipe's is known.
  const bool hashed = file->schedule.sends() <= kMostReplayedSends;
  const auto hash = !hashed ? 0 : opened->recipe ? opened->hash : schedule_hash(file->schedule);
  report.add("schedule_hash", hashed ? fmt::format("{:016x}", hash) : std::string());
  report.add("violations", static_cast<std::int64_t>(verdict.violations));
  report.add("waste", static_cast<std::int64_t>(verdict.waste));
  report.add("collective_time_ps", verdict.collective_time.count());
  report.add("bound_ps", bound.time.count());
  report.add("bound_name", bound.name);
  if (verdict.collective_time > SimTime::zero())
    report.add("efficiency",
               static_cast<double>(bound.time.count()) / static_cast<double>(verdict.collective_time.count()));
  std::vector<Report> findings;
  for (const auto& finding : verdict.findings) {
    Report entry;
    entry.add("violation", std::string(to_string(finding.violation)));
    entry.add("message", finding.message);
    findings.push_back(std::move(entry));
  }
  if (!findings.empty()) report.add("findings", std::move(findings));
  print_schedule(report, arguments.json);
  if (!opened->as_recorded()) complain({changed_schedule(arguments.file.string(), *opened)});
  const bool sound = verdict.outcome != Verification::invalid && opened->as_recorded();
  return sound ? ExitCode::done : ExitCode::some_failed;
}

namespace {

/// Adds what was recorded of a replay.
void add_replayed(Report& report, const ScheduleFile& file, const Simulation& simulation) {
  const auto& busy = simulation.utilization.busy_ps;
  const std::vector<std::int64_t> busy_ps(busy.begin(), busy.end());
  std::vector<std::int64_t> groups;
  if (simulation.sends.sends() > 0)
    groups = group_times({file.topology, file.collective, file.occupancy}, simulation.sends);
  add_observations(report, &file.topology, static_cast<std::int64_t>(file.topology.links()),
                   {simulation.links, simulation.utilization.bin.count(), busy_ps, simulation.arrivals, groups});
}

}  // namespace

ExitCode execute(const ReplayArguments& arguments) {
  if (!arguments.on_switches && is_foreign_schedule_file(arguments.file))
    return judge_foreign(
        {arguments.file, arguments.network, false, arguments.out, arguments.threads, arguments.memory, arguments.json});
  if (arguments.other_options) {
    complain({input_error({"--schedule", 0, 0}, "a schedule file has its own point",
                          "its topology, collective and sends are in the file", "leave out the other options")});
    return ExitCode::bad_input;
  }
  auto opened = load_schedule(arguments.file, arguments.memory, arguments.threads, Parts::refused);
  if (!opened) return refuse(opened.errors());
  if (!opened->as_recorded())
    return refuse({changed_schedule(arguments.file.string(), *opened)}, ExitCode::some_failed);
  ScheduleFile* file = &opened->file;
  if (arguments.on_switches) return play_file(arguments, std::move(*file));
  SimulationOptions options;
  options.occupancy = file->occupancy;
  const auto mode = arguments.mode == "timed" ? Replay::timed : Replay::as_soon_as_possible;
  // Planned times keep to them already.
  if (mode == Replay::as_soon_as_possible) options.start_delays = file->start_delays;
  const auto& watched = arguments.observe;
  options.record_links = watched.observes("link_bytes");
  options.record_arrivals = watched.observes("arrivals");
  options.record_sends = watched.observes("group_times");
  options.utilization_bins = watched.observes("utilization") ? watched.bins : 0;
  const auto simulation = replay(file->topology, file->collective, file->schedule, mode, options);
  if (!simulation) return refuse(simulation.errors(), ExitCode::some_failed);
  auto report = schedule_report(*file);
  report.add("replay", arguments.mode);
  report.add("planned_time_ps",
             last_arrival({file->topology, file->collective, file->occupancy}, file->schedule).count());
  report.add("collective_time_ps", simulation->finish.count());
  add_replayed(report, *file, *simulation);
  print_schedule(report, arguments.json);
  return ExitCode::done;
}

}  // namespace tenex::cli
