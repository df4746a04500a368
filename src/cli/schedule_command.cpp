// verify and simulate --schedule: checks or replays the contents of a schedule file.
#include <cstdint>
#include <cstdio>
#include <utility>

#include <fmt/format.h>

#include "commands.hpp"
#include "report.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/files/schedule_file.hpp"
#include "tenex/schedule/symmetric_verifier.hpp"
#include "tenex/schedule/verifier.hpp"
#include "tenex/simulation/simulator.hpp"

namespace tenex::cli {
namespace {

Report::Value outcome_value(Verification outcome) {
  if (outcome == Verification::skipped) return std::string("skipped");
  return outcome == Verification::valid;
}

Report describe(const ScheduleFile& file) {
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
  return report;
}

void print(const Report& report, bool json) { std::fputs((json ? to_json(report) : to_text(report)).c_str(), stdout); }

}  // namespace

ExitCode execute(const VerifyArguments& arguments) {
  const auto limit = memory_limit(arguments.memory, VerifyOptions{}.memory_limit_bytes);
  if (!limit) return complain(limit.errors()), ExitCode::bad_input;
  const auto file = read_schedule_file(arguments.file, {arguments.threads});
  if (!file) return complain(file.errors()), ExitCode::bad_input;
  VerifyOptions options;
  options.memory_limit_bytes = *limit;
  options.threads = arguments.threads;
  const auto verdict = verify_by_size({file->topology, file->collective, file->occupancy}, file->schedule, options);
  const auto bound = best_cheap_bound({file->topology, file->collective, file->occupancy, true});

  auto report = describe(*file);
  report.add("verified", outcome_value(verdict.outcome));
  report.add("reduction_check", verdict.reduction_check);
  // As in rows: for more sends the hash would take longer than the check.
  report.add("schedule_hash", file->schedule.sends() > kMostReplayedSends
                                  ? std::string()
                                  : fmt::format("{:016x}", schedule_hash(file->schedule)));
  report.add("violations", static_cast<std::int64_t>(verdict.violations));
  report.add("waste", static_cast<std::int64_t>(verdict.waste));
  report.add("collective_time_ps", verdict.collective_time.count());
  report.add("bound_ps", bound.time.count());
  report.add("bound_name", std::string(bound.name));
  std::vector<Report> findings;
  for (const auto& finding : verdict.findings) {
    Report entry;
    entry.add("violation", std::string(to_string(finding.violation)));
    entry.add("message", finding.message);
    findings.push_back(std::move(entry));
  }
  if (!findings.empty()) report.add("findings", std::move(findings));
  print(report, arguments.json);
  return verdict.outcome == Verification::invalid ? ExitCode::some_failed : ExitCode::done;
}

ExitCode execute(const ReplayArguments& arguments) {
  if (arguments.other_options) {
    complain({input_error({"--schedule", 0, 0}, "a schedule file has its own point",
                          "its topology, collective and sends are in the file", "leave out the other options")});
    return ExitCode::bad_input;
  }
  const auto file = read_schedule_file(arguments.file);
  if (!file) return complain(file.errors()), ExitCode::bad_input;
  SimulationOptions options;
  options.occupancy = file->occupancy;
  const auto mode = arguments.mode == "timed" ? Replay::timed : Replay::as_soon_as_possible;
  const auto simulation = replay(file->topology, file->collective, file->schedule, mode, options);
  if (!simulation) return complain(simulation.errors()), ExitCode::some_failed;
  auto report = describe(*file);
  report.add("replay", arguments.mode);
  report.add("planned_time_ps",
             last_arrival({file->topology, file->collective, file->occupancy}, file->schedule).count());
  report.add("finish_ps", simulation->finish.count());
  print(report, arguments.json);
  return ExitCode::done;
}

}  // namespace tenex::cli
