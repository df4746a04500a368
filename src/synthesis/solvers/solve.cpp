// Clp and Cbc through their C++ interfaces.
#include "synthesis/solvers/solve.hpp"

#include <CbcHeuristic.hpp>
#include <CbcHeuristicFPump.hpp>
#include <CbcModel.hpp>
#include <CglClique.hpp>
#include <CglKnapsackCover.hpp>
#include <CglProbing.hpp>
#include <ClpSimplex.hpp>
#include <CoinPackedMatrix.hpp>
#include <OsiClpSolverInterface.hpp>

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <mutex>
#include <optional>

#include "tenex/base/stopwatch.hpp"

namespace tenex {
namespace {

constexpr long kSeed = 20'231'107;

/// One solver at a time: the solvers share the process's drand48.
std::mutex& solver_mutex() {
  static std::mutex mutex;
  return mutex;
}

CoinPackedMatrix matrix_of(const LinearProgram& program) {
  CoinPackedMatrix matrix(false, 0, 0);
  matrix.setDimensions(0, program.column_count());
  std::vector<CoinBigIndex> starts{0};
  starts.insert(starts.end(), program.row_ends.begin(), program.row_ends.end());
  matrix.appendRows(program.row_count(), starts.data(), program.columns.data(), program.values.data());
  return matrix;
}

/// Bounds as the solvers write them.
std::vector<double> finite(std::vector<double> bounds) {
  for (double& bound : bounds)
    if (std::isinf(bound)) bound = bound > 0 ? COIN_DBL_MAX : -COIN_DBL_MAX;
  return bounds;
}

template <class Solver>
void load(Solver& solver, const LinearProgram& program) {
  const auto lower = finite(program.lower);
  const auto upper = finite(program.upper);
  const auto row_lower = finite(program.row_lower);
  const auto row_upper = finite(program.row_upper);
  solver.loadProblem(matrix_of(program), lower.data(), upper.data(), program.cost.data(), row_lower.data(),
                     row_upper.data());
}

/// Seconds that are left; nullopt where there is no limit.
std::optional<double> left(const SolverBudget& budget) {
  if (budget.seconds <= 0) return std::nullopt;
  return std::max(0.0, budget.seconds - budget.seconds_used);
}

void add_cuts_and_heuristics(CbcModel& model, CglProbing& probing, CglKnapsackCover& knapsacks, CglClique& cliques,
                             CbcRounding& rounding, CbcHeuristicFPump& pump) {
  constexpr int kAtRootAlone = -99;
  constexpr int kPumpPasses = 20;
  probing.setUsingObjective(0);
  probing.setMaxPass(1);
  probing.setMaxProbe(10);
  probing.setMaxLook(10);
  cliques.setStarCliqueReport(false);
  cliques.setRowCliqueReport(false);
  model.addCutGenerator(&probing, kAtRootAlone, "probing");
  model.addCutGenerator(&knapsacks, kAtRootAlone, "knapsacks");
  model.addCutGenerator(&cliques, kAtRootAlone, "cliques");
  model.addHeuristic(&rounding, "rounding");
  pump.setMaximumPasses(kPumpPasses);
  model.addHeuristic(&pump, "pump");
}

}  // namespace

SolverBudget SolverBudget::of(std::int64_t nodes, double seconds) {
  SolverBudget budget;
  budget.nodes = nodes > 0 ? nodes : INT_MAX;
  budget.seconds = seconds;
  return budget;
}

SolverBudget SolverBudget::share() const {
  constexpr std::int64_t kShare = 4;
  SolverBudget part = *this;
  part.nodes = nodes_used + std::max<std::int64_t>(1, (nodes - nodes_used) / kShare);
  return part;
}

void SolverBudget::use(const SolverBudget& share) {
  nodes_used = share.nodes_used;
  seconds_used = share.seconds_used;
  clock_ended = share.clock_ended;
}

SolveResult solve_linear(const LinearProgram& program, SolverBudget& budget) {
  const std::lock_guard lock(solver_mutex());
  const Stopwatch watch;
  ClpSimplex solver;
  solver.setLogLevel(0);
  load(solver, program);
  if (const auto seconds = left(budget)) solver.setMaximumWallSeconds(*seconds);
  solver.initialSolve();
  budget.seconds_used += watch.seconds();
  SolveResult result;
  if (solver.isProvenOptimal()) {
    result = {SolveStatus::feasible, true, {}};
    result.values.assign(solver.primalColumnSolution(), solver.primalColumnSolution() + program.column_count());
  } else if (solver.isProvenPrimalInfeasible()) {
    result.status = SolveStatus::infeasible;
  } else {
    budget.clock_ended = budget.seconds > 0;
  }
  return result;
}

SolveResult solve_mixed(const LinearProgram& program, SolveGoal goal, SolverBudget& budget) {
  const std::lock_guard lock(solver_mutex());
  const Stopwatch watch;
  srand48(kSeed);
  OsiClpSolverInterface relaxation;
  relaxation.messageHandler()->setLogLevel(0);
  load(relaxation, program);
  relaxation.setInteger(program.whole_columns.data(), static_cast<int>(program.whole_columns.size()));
  SolveResult result;
  relaxation.initialSolve();
  if (relaxation.isProvenPrimalInfeasible()) {
    ++budget.nodes_used;
    budget.seconds_used += watch.seconds();
    result.status = SolveStatus::infeasible;
    return result;
  }
  CbcModel model(relaxation);
  model.setLogLevel(0);
  model.solver()->messageHandler()->setLogLevel(0);
  model.setRandomSeed(static_cast<int>(kSeed));
  CglProbing probing;
  CglKnapsackCover knapsacks;
  CglClique cliques;
  CbcRounding rounding(model);
  CbcHeuristicFPump pump(model);
  add_cuts_and_heuristics(model, probing, knapsacks, cliques, rounding, pump);
  const auto nodes = std::max<std::int64_t>(1, budget.nodes - budget.nodes_used);
  model.setMaximumNodes(static_cast<int>(std::min<std::int64_t>(nodes, INT_MAX)));
  if (goal == SolveGoal::any_solution) model.setMaximumSolutions(1);
  model.setUseElapsedTime(true);
  const auto seconds = left(budget);
  if (seconds) model.setMaximumSeconds(std::max(0.01, *seconds - watch.seconds()));
  model.branchAndBound();
  budget.nodes_used += std::max(1, model.getNodeCount());
  budget.seconds_used += watch.seconds();
  if (seconds && model.isSecondsLimitReached()) budget.clock_ended = true;
  if (model.bestSolution() != nullptr) {
    result = {SolveStatus::feasible, model.isProvenOptimal(), {}};
    result.values.assign(model.bestSolution(), model.bestSolution() + program.column_count());
  } else if (model.isProvenInfeasible()) {
    result.status = SolveStatus::infeasible;
  }
  return result;
}

}  // namespace tenex
