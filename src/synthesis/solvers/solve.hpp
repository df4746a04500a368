// COIN-OR Clp and Cbc for synthesizers: deterministic, on one thread, with limits.
//
// Cbc runs with a fixed seed and without its parallel search. Some of its parts draw from the process's drand48, so
// one solver works at a time and seeds it first: then a result depends on the program and the node limit alone, unless
// the clock ends the search.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "synthesis/solvers/budget.hpp"
#include "synthesis/solvers/program.hpp"

namespace tenex {

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
