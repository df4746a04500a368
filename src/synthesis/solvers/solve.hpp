// COIN-OR Clp and Cbc for synthesizers: deterministic, on one thread, with limits.
//
// Cbc runs with a fixed seed and without its parallel search. Some of its parts draw from the process's drand48, so
// one solver works at a time and seeds it first: then a result depends on the program and the node limit alone, unless
// the clock ends the search.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "synthesis/solvers/program.hpp"

namespace tenex {

/// What is left for solvers: the nodes and seconds of one result, used up search by search.
struct SolverBudget {
  std::int64_t nodes = 0;   ///< of all searches together
  double seconds = 0;       ///< wall clock; zero: no limit
  double seconds_used = 0;  ///< measured
  std::int64_t nodes_used = 0;
  bool clock_ended = false;  ///< a search ended because no seconds were left

  /// A budget of SolverChoice's limits: zero is no limit.
  [[nodiscard]] static SolverBudget of(std::int64_t nodes, double seconds);
  [[nodiscard]] bool spent() const { return clock_ended || nodes_used >= nodes; }
  /// The same with a quarter of the nodes that are left, at least one.
  [[nodiscard]] SolverBudget share() const;
  /// Takes over what a share of this budget used.
  void use(const SolverBudget& share);
};

enum class SolveStatus : std::uint8_t {
  feasible,    ///< `values` is a solution
  infeasible,  ///< proven
  unknown,     ///< a limit came first
};

struct SolveResult {
  SolveStatus status = SolveStatus::unknown;
  bool optimal = false;        ///< of a feasible program: nothing costs less
  std::vector<double> values;  ///< by column
};

/// How a search ends.
enum class SolveGoal : std::uint8_t { any_solution, least_cost };

/// Solves a program whose columns are all continuous, by Clp.
[[nodiscard]] SolveResult solve_linear(const LinearProgram& program, SolverBudget& budget);
/// Solves a program with whole columns, by Cbc: at least one node of the budget is used.
[[nodiscard]] SolveResult solve_mixed(const LinearProgram& program, SolveGoal goal, SolverBudget& budget);

}  // namespace tenex
