// The registry entry `sccl`.
//
// A plan of S steps and R rounds costs S * (latency - busy) + R * busy: alpha for each step and beta for each round
// where links are free again before a chunk arrives (SCCL, section 3). Pairs (S, R) below the cost of a greedy plan are
// asked for in the order of their costs. The first that is satisfied is the best; a pair that is refuted refutes all
// that have fewer steps and rounds, because rounds can be spread over more steps, and both can be added. Reductions are
// gathers backwards, and an All-Reduce is a reduction and a gather (compose.hpp), as in SCCL.
#include "synthesis/synthesizers.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "synthesis/compose.hpp"
#include "synthesis/sccl/satisfy.hpp"
#include "synthesis/sccl/stepped.hpp"

namespace tenex {
namespace {

using sccl::SteppedPlan;
using sccl::SteppedProblem;

constexpr std::size_t kMostVariables = std::size_t{1} << 19U;
constexpr std::size_t kBytesPerVariable = 2000;

struct Pair {
  std::uint32_t steps = 0;
  std::uint32_t rounds = 0;
  SimTime cost;
};

/// The pairs that cost less than `limit`, in the order in which they are asked for.
std::vector<Pair> pairs_below(const SteppedProblem& problem, SimTime limit) {
  std::vector<Pair> pairs;
  const auto least_rounds = problem.least_rounds();
  for (auto steps = problem.least_steps();; ++steps) {
    auto rounds = std::max(steps, least_rounds);
    if (problem.cost(steps, rounds) >= limit) break;
    for (; problem.cost(steps, rounds) < limit; ++rounds)
      pairs.push_back({.steps = steps, .rounds = rounds, .cost = problem.cost(steps, rounds)});
  }
  std::ranges::sort(pairs, {}, [](const Pair& pair) { return std::tuple(pair.cost, -std::int64_t{pair.steps}); });
  return pairs;
}

SteppedPlan best_plan(const SteppedProblem& problem, SolverBudget& budget) {
  SteppedPlan known = sccl::greedy_plan(problem);
  const auto steps = static_cast<std::uint32_t>(known.rounds.size());
  std::vector<Pair> refuted;
  for (const Pair& pair : pairs_below(problem, problem.cost(steps, steps))) {
    if (budget.spent()) break;
    const auto refutes = [&](const Pair& other) { return other.steps >= pair.steps && other.rounds >= pair.rounds; };
    if (std::ranges::any_of(refuted, refutes)) continue;
    auto answer = sccl::satisfy(problem, pair.steps, pair.rounds, budget);
    if (answer.status == SolveStatus::feasible) return std::move(answer.plan);
    if (answer.status == SolveStatus::infeasible) refuted.push_back(pair);
  }
  return known;
}

Result<Gathered> gather_by_sccl(const SynthesisProblem& problem) {
  const auto stepped = SteppedProblem::of(problem);
  if (!stepped) return stepped.errors();
  const auto steps = std::max(stepped->least_steps(), stepped->least_rounds());
  if (const auto count = sccl::variables(problem, steps); count > kMostVariables)
    return unsupported_error({}, fmt::format("{} variables are too many for sccl", count),
                             fmt::format("it takes up to {}: chunks times links times steps", kMostVariables),
                             "choose fewer chunks, or another algorithm");
  auto budget = SolverBudget::of(problem);
  auto gathered = without_waste(problem, stepped->schedule(best_plan(*stepped, budget)));
  gathered.solver = report_of(budget);
  return gathered;
}

double all_variables(const SynthesisProblem& problem) {
  const double npus = static_cast<double>(problem.topology.npus());
  const double steps = 2 + sends_of_one_pass(problem.collective) / static_cast<double>(problem.topology.links() + 1);
  return static_cast<double>(problem.collective.chunks()) *
         (static_cast<double>(problem.topology.links()) * steps + npus * (steps + 1));
}

}  // namespace

Result<Synthesis> synthesize_sccl(const SynthesisProblem& problem) {
  auto made = compose(problem, gather_by_sccl, sccl_maker::smt);
  if (!made) return made;
  // Bounds hold for all schedules, and the search was for the best one in synchronous steps alone.
  const SimTime bound = quick_bound(problem);
  auto& report = made->solver.emplace(made->solver.value_or(SolverReport()));
  state_proof(report, made->time, bound);
  tell_end(problem.solver_progress, report, made->time);
  return made;
}

std::size_t sccl_bytes(const SynthesisProblem& problem) {
  const double variables = std::min(all_variables(problem), static_cast<double>(kMostVariables));
  return static_cast<std::size_t>(variables * kBytesPerVariable + 280 * sends_of_one_pass(problem.collective));
}

Work sccl_work(const SynthesisProblem& problem) {
  const double variables = std::min(all_variables(problem), static_cast<double>(kMostVariables));
  return within_limit(problem, {WorkUnit::sccl_variable, variables});
}

}  // namespace tenex
