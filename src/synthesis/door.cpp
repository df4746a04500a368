// The door of all synthesizers: what they expect of a problem, and what they ensure of a synthesis.
#include <algorithm>
#include <optional>
#include <vector>

#include "tenex/base/contract.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/schedule/storage/symmetric_schedule.hpp"
#include "tenex/schedule/views/views.hpp"
#include "tenex/synthesis/synthesizer.hpp"
#include "tenex/topology/slow_windows.hpp"

namespace tenex {
namespace {

/// Schedules of more sends (symmetric ones: orbits) are not read for contracts, and their bounds not asked for: that
/// could take as long as making them.
constexpr std::uint64_t kMostSendsToCheck = std::uint64_t{1} << 15;

bool is_one_of(const std::vector<CollectiveKind>& kinds, CollectiveKind kind) {
  return std::ranges::find(kinds, kind) != kinds.end();
}

/// The last arrival; nullopt where it is not found quickly. (One segment of a schedule that reverses as a view is
/// read.)
std::optional<SimTime> quick_end(const Instance& instance, const Schedule& schedule) {
  if (const SymmetricStorage* const symmetric = symmetric_storage(schedule))
    return symmetric->orbits().size() <= kMostSendsToCheck ? std::optional(last_arrival_symmetric(instance, schedule))
                                                           : std::nullopt;
  if (schedule.sends() > kMostSendsToCheck && !reverses_as_view(instance)) return std::nullopt;
  return last_arrival(instance, schedule);
}

/// Whether a synthesis takes the times that it states.
bool ends_when_it_says(const SynthesisProblem& problem, const Synthesis& made) {
  if (quick_end(problem, made.schedule).value_or(made.time) != made.time) return false;
  if (made.time_without_overlap == SimTime::zero()) return made.without_overlap.sends() == 0;
  if (problem.collective.kind() != CollectiveKind::all_reduce) return made.time_without_overlap == made.time;
  if (made.time > made.time_without_overlap) return false;
  return quick_end(problem, made.without_overlap).value_or(made.time_without_overlap) == made.time_without_overlap;
}

/// Whether what solvers proved agrees with the time.
bool is_proof_of(const SolverReport& report, SimTime time) {
  return report.bound <= time && report.optimal == (report.bound == time) && report.gap >= 0 && report.gap <= 1;
}

/// Whether the cheap bounds let a schedule end at this time.
bool bounds_allow(const SynthesisProblem& problem, const Synthesis& made) {
  if (made.schedule.sends() > kMostSendsToCheck) return true;
  const OutsideWindows outside(problem.topology);
  return made.time >=
         best_cheap_bound(
             {{outside.topology(), problem.collective, problem.occupancy}, true, true, problem.start_delays})
             .time;
}

/// Whether late NPUs send nothing before their times.
bool are_late_enough(const SynthesisProblem& problem, const Schedule& schedule) {
  if (problem.start_delays.empty() || schedule.sends() > kMostSendsToCheck) return true;
  std::vector<SimTime> start_of(problem.topology.vertices());
  for (const auto& [npu, time] : problem.start_delays) start_of[npu.index()] = time;
  SendBuffer buffer;
  for (std::size_t segment = 0; segment < schedule.segments(); ++segment) {
    schedule.read(segment, buffer);
    for (std::size_t i = 0; i < buffer.batch.size(); ++i)
      if (buffer.batch.start_of(i) < start_of[problem.topology.source(buffer.batch.link[i]).index()]) return false;
  }
  return true;
}

}  // namespace

Result<Synthesis> Synthesizer::synthesize(const SynthesisProblem& problem) const {
  const CollectiveKind kind = problem.collective.kind();
  TENEX_EXPECTS(problem.collective.npus() == problem.topology.npus(), "a collective of the topology's NPUs");
  TENEX_EXPECTS(problem.threads >= 1, "at least one thread");
  TENEX_EXPECTS(collectives.empty() || is_one_of(collectives, kind), "a collective that the entry names");
  TENEX_EXPECTS(problem.start_delays.empty() || is_one_of(delays, kind), "NPUs that start late only for `delays`");
  TENEX_EXPECTS(!problem.topology.varies() || !varying.empty(), "bandwidth that varies only where the entry knows it");
  auto made = make(problem);
  if (!made) return made;
  TENEX_ENSURES(ends_when_it_says(problem, *made), "times that agree with the schedule and each other");
  TENEX_ENSURES(!made->solver || is_proof_of(*made->solver, made->time), "proofs that agree with the time");
  TENEX_ENSURES(bounds_allow(problem, *made), "no time below the bound");
  TENEX_ENSURES(are_late_enough(problem, made->schedule), "no send of a late NPU before its time");
  return made;
}

}  // namespace tenex
