#include "synthesis/solvers/budget.hpp"

#include <algorithm>
#include <climits>

#include "tenex/bound/bound.hpp"
#include "tenex/topology/slow_windows.hpp"

namespace tenex {

SolverBudget SolverBudget::of(std::int64_t nodes, double seconds) {
  SolverBudget budget;
  budget.nodes = nodes > 0 ? nodes : INT_MAX;
  budget.seconds = seconds;
  return budget;
}

SolverBudget SolverBudget::of(const SynthesisProblem& problem) {
  constexpr double kPicosecondsPerSecond = 1e12;
  SolverBudget budget =
      of(problem.solver.nodes, static_cast<double>(problem.solver.time_limit.count()) / kPicosecondsPerSecond);
  budget.progress = problem.solver_progress;
  return budget;
}

SolverBudget SolverBudget::share(std::int64_t parts) const {
  SolverBudget part = *this;
  part.nodes = nodes_used + std::max<std::int64_t>(1, (nodes - nodes_used) / parts);
  return part;
}

void SolverBudget::use(const SolverBudget& share) {
  const auto all_nodes = nodes;
  *this = share;
  nodes = all_nodes;
}

void SolverBudget::learn_time(SimTime time, std::int64_t epochs) {
  if (known.time == SimTime::zero() || time < known.time) {
    known.time = time;
    known.epochs = epochs;
  }
  tell();
}

void SolverBudget::learn_bound(SimTime bound) {
  known.bound = std::max(known.bound, bound);
  tell();
}

void SolverBudget::tell(std::int64_t nodes_of_search, double seconds_of_search) const {
  if (!progress) return;
  SolverMoment moment = known;
  moment.gap = known.time > SimTime::zero() ? proven_gap(known.time, known.bound) : 1;
  moment.nodes = nodes_used + nodes_of_search;
  moment.seconds = seconds_used + seconds_of_search;
  progress(moment);
}

Work within_limit(const SynthesisProblem& problem, const Work& work) {
  const double limit = SolverBudget::of(problem).seconds;
  return limit > 0 && work.weight() > limit ? limit / work.weight() * work : work;
}

double proven_gap(SimTime time, SimTime bound) {
  if (time <= bound) return 0;
  return 1 - static_cast<double>(bound.count()) / static_cast<double>(time.count());
}

SimTime quick_bound(const SynthesisProblem& problem) {
  constexpr std::uint64_t kWork = std::uint64_t{1} << 22;  // of bounds with certificates, in link visits
  const OutsideWindows outside(problem.topology);
  const BoundProblem given({outside.topology(), problem.collective, problem.occupancy}, true);
  SimTime time = best_cheap_bound(given).time;
  for (const BoundMethod& method : bound_methods()) {
    if (method.certify == nullptr || !method.concerns(problem.collective.kind())) continue;
    if (const auto certified = method.certify(given, kWork)) time = std::max(time, certified->time);
  }
  return time;
}

SolverReport report_of(const SolverBudget& budget) {
  SolverReport report;
  report.nodes = budget.nodes_used;
  report.seconds = budget.seconds_used;
  report.clock_ended = budget.clock_ended;
  return report;
}

void state_proof(SolverReport& report, SimTime time, SimTime bound) {
  report.bound = bound;
  report.optimal = time <= bound;
  report.gap = proven_gap(time, bound);
}

void tell_end(const SolverProgress& progress, const SolverReport& report, SimTime time) {
  if (progress) progress({report.epochs, time, report.bound, report.gap, report.nodes, report.seconds});
}

}  // namespace tenex
