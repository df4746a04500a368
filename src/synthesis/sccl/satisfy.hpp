// Plans in steps as a problem of satisfiability, for Z3.
//
// have[c, n, s]: NPU n has chunk c after step s. send[c, l, s]: link l carries it in step s. more[s, j]: step s has
// more than j rounds. Sends need the chunk, a chunk comes by a send, an NPU takes it once, and a link carries no more
// chunks than its share of the step's rounds. These are the constraints of SCCL (section 4.2), with a variable for each
// time in place of one that is a time, which the finite-domain solver wants. Variables that distances rule out do not
// exist.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "synthesis/sccl/stepped.hpp"
#include "synthesis/solvers/solve.hpp"

namespace tenex::sccl {

/// A node of the budget, in conflicts of Z3.
inline constexpr std::int64_t kConflictsPerNode = 1000;

/// The variables of a plan with that many steps, at most.
[[nodiscard]] std::size_t variables(const SynthesisProblem& problem, std::uint32_t steps);

struct Satisfied {
  SolveStatus status = SolveStatus::unknown;
  SteppedPlan plan;  ///< where `status` is feasible
};

/// Whether there is a plan of so many steps and rounds, steps <= rounds. The answer depends on the problem and the
/// budget's nodes alone, unless the clock ends the search.
[[nodiscard]] Satisfied satisfy(const SteppedProblem& problem, std::uint32_t steps, std::uint32_t rounds,
                                SolverBudget& budget);

}  // namespace tenex::sccl
