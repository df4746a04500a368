// What is left for the solvers of a result, what their searches know, and the report of it.
#pragma once

#include <cstdint>

#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {

/// The nodes and seconds of one result, used up search by search, and the moment that its progress is told.
struct SolverBudget {
  std::int64_t nodes = 0;   ///< of all searches together
  double seconds = 0;       ///< wall clock; zero: no limit
  double seconds_used = 0;  ///< measured
  std::int64_t nodes_used = 0;
  std::int64_t iterations_used = 0;  ///< of the simplex, before any branching
  bool clock_ended = false;          ///< a search ended because no seconds were left
  SolverProgress progress = {};      ///< may be empty
  SolverMoment known = {};           ///< nodes and seconds: of ended searches

  /// A budget of SolverChoice's limits: zero is no limit.
  [[nodiscard]] static SolverBudget of(std::int64_t nodes, double seconds);
  /// The budget of a problem, whose progress it tells.
  [[nodiscard]] static SolverBudget of(const SynthesisProblem& problem);
  [[nodiscard]] bool spent() const { return clock_ended || nodes_used >= nodes; }
  /// The same with one of so many parts of the nodes that are left, at least one node.
  [[nodiscard]] SolverBudget share(std::int64_t parts = 4) const;
  /// Takes over what a share of this budget used.
  void use(const SolverBudget& share);

  /// Some schedule takes no longer than `time`; `epochs` of its plan, or -1. A longer time than the known one changes
  /// nothing.
  void learn_time(SimTime time, std::int64_t epochs);
  /// No schedule takes less than `bound`.
  void learn_bound(SimTime bound);
  /// Tells what is known, with the nodes and seconds of a search that has not ended.
  void tell(std::int64_t nodes_of_search = 0, double seconds_of_search = 0) const;
};

/// The part of the expected work of solvers that fits into the problem's limit of time.
[[nodiscard]] Work within_limit(const SynthesisProblem& problem, const Work& work);
/// (time - bound) / time, or 0 where the bound is reached.
[[nodiscard]] double proven_gap(SimTime time, SimTime bound);
/// The largest bound that is found in milliseconds: no schedule ends sooner. Where bandwidth varies, outside all
/// windows.
[[nodiscard]] SimTime quick_bound(const SynthesisProblem& problem);
/// What the budget's solvers took.
[[nodiscard]] SolverReport report_of(const SolverBudget& budget);
/// States in a report what a bound proves of a schedule's time.
void state_proof(SolverReport& report, SimTime time, SimTime bound);
/// Tells a moment that states what the report does: the last one of a result.
void tell_end(const SolverProgress& progress, const SolverReport& report, SimTime time);

}  // namespace tenex
