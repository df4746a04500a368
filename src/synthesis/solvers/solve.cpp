// Clp and Cbc through their C++ interfaces.
#include "synthesis/solvers/solve.hpp"

#include <CbcEventHandler.hpp>
#include <CbcHeuristic.hpp>
#include <CbcHeuristicFPump.hpp>
#include <CbcModel.hpp>
#include <CglClique.hpp>
#include <CglKnapsackCover.hpp>
#include <CglProbing.hpp>
#include <ClpEventHandler.hpp>
#include <ClpSimplex.hpp>
#include <CoinPackedMatrix.hpp>
#include <OsiClpSolverInterface.hpp>

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>

#include "tenex/base/stopwatch.hpp"

namespace tenex {
namespace {

constexpr long kSeed = 20'231'107;
/// Seconds between the limit of a search and that of its simplex, which so never ends before the search is late.
constexpr double kGrace = 1e-3;

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

/// Whether the values are within all bounds, and whole where they have to be.
bool holds(const LinearProgram& program, const std::vector<double>& values) {
  constexpr double kTolerance = 1e-6;
  const auto within = [](double value, double least, double most) {
    return value >= least - kTolerance && value <= most + kTolerance;
  };
  for (std::size_t column = 0; column < values.size(); ++column)
    if (!within(values[column], program.lower[column], program.upper[column])) return false;
  for (const int column : program.whole_columns) {
    const double value = values[static_cast<std::size_t>(column)];
    if (std::abs(value - std::round(value)) > kTolerance) return false;
  }
  std::size_t term = 0;
  for (std::size_t row = 0; row < program.row_ends.size(); ++row) {
    double sum = 0;
    for (; term < static_cast<std::size_t>(program.row_ends[row]); ++term)
      sum += program.values[term] * values[static_cast<std::size_t>(program.columns[term])];
    if (!within(sum, program.row_lower[row], program.row_upper[row])) return false;
  }
  return true;
}

/// Tells the nodes of the whole search as they end. It takes no part in the search.
class ProgressTeller : public CbcEventHandler {
 public:
  ProgressTeller(const SolverBudget& budget, const Stopwatch& watch) : budget_(&budget), watch_(&watch) {}
  CbcAction event(CbcEvent /*what*/) override {
    if (model_->parentModel() == nullptr) budget_->tell(model_->getNodeCount(), watch_->seconds());
    return noAction;
  }
  [[nodiscard]] CbcEventHandler* clone() const override {
    return std::make_unique<ProgressTeller>(*this).release();  // Cbc owns it
  }

 private:
  const SolverBudget* budget_;
  const Stopwatch* watch_;
};

/// Tells the seconds of the simplex while it works.
class SimplexTeller : public ClpEventHandler {
 public:
  SimplexTeller(const SolverBudget& budget, const Stopwatch& watch) : budget_(&budget), watch_(&watch) {}
  int event(Event what) override {
    constexpr int kGoOn = -1;
    if (what == endOfFactorization) budget_->tell(0, watch_->seconds());
    return kGoOn;
  }
  [[nodiscard]] ClpEventHandler* clone() const override {
    return std::make_unique<SimplexTeller>(*this).release();  // Clp owns it
  }

 private:
  const SolverBudget* budget_;
  const Stopwatch* watch_;
};

/// Solves without branching, in the seconds that are left.
template <class Solver>
void solve_in_time(Solver& solver, ClpSimplex& simplex, SolverBudget& budget, const Stopwatch& watch) {
  const SimplexTeller teller(budget, watch);
  simplex.passInEventHandler(&teller);
  if (const auto seconds = left(budget)) simplex.setMaximumWallSeconds(*seconds);
  solver.initialSolve();
  const ClpEventHandler silent;
  simplex.passInEventHandler(&silent);
  simplex.setMaximumWallSeconds(-1);
}

}  // namespace

SolveResult solve_linear(const LinearProgram& program, SolverBudget& budget) {
  const std::lock_guard lock(solver_mutex());
  const Stopwatch watch;
  ClpSimplex solver;
  solver.setLogLevel(0);
  load(solver, program);
  solve_in_time(solver, solver, budget, watch);
  budget.seconds_used += watch.seconds();
  budget.iterations_used += solver.numberIterations();
  SolveResult result;
  if (solver.isProvenOptimal()) {
    result = {SolveStatus::feasible, true, {}};
    result.values.assign(solver.primalColumnSolution(), solver.primalColumnSolution() + program.column_count());
  } else if (solver.isProvenPrimalInfeasible()) {
    result.status = SolveStatus::infeasible;
  } else {
    budget.clock_ended = budget.seconds > 0;
  }
  budget.tell();
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
  const auto seconds = left(budget);
  solve_in_time(relaxation, *relaxation.getModelPtr(), budget, watch);
  budget.iterations_used += relaxation.getIterationCount();
  const bool impossible = relaxation.isProvenPrimalInfeasible();
  if (impossible || (seconds && watch.seconds() >= *seconds)) {
    ++budget.nodes_used;
    budget.seconds_used += watch.seconds();
    budget.clock_ended = !impossible;
    if (impossible) result.status = SolveStatus::infeasible;
    budget.tell();
    return result;
  }
  if (seconds) relaxation.getModelPtr()->setMaximumWallSeconds(std::max(0.0, *seconds - watch.seconds()) + kGrace);
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
  if (seconds) model.setMaximumSeconds(std::max(0.01, *seconds - watch.seconds()));
  ProgressTeller teller(budget, watch);
  model.passInEventHandler(&teller);
  model.branchAndBound();
  budget.nodes_used += std::max(1, model.getNodeCount());
  budget.seconds_used += watch.seconds();
  // A simplex that ran out of time looks like a node without a solution, so nothing that is said then is a proof.
  const bool late = seconds && watch.seconds() >= *seconds;
  budget.clock_ended = budget.clock_ended || late || (seconds && model.isSecondsLimitReached());
  if (model.bestSolution() != nullptr) {
    std::vector<double> values(model.bestSolution(), model.bestSolution() + program.column_count());
    if (!late || holds(program, values)) result = {SolveStatus::feasible, !late && model.isProvenOptimal(), values};
  } else if (model.isProvenInfeasible() && !late) {
    result.status = SolveStatus::infeasible;
  }
  budget.tell();
  return result;
}

}  // namespace tenex
