// te_ccl: collectives as multi-commodity flows over epochs, by open solvers (TE-CCL, arXiv:2305.13479).
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {

/// The words of the column `engine`.
namespace te_ccl_maker {
inline constexpr std::string_view lp = "lp";
inline constexpr std::string_view milp = "milp";
inline constexpr std::string_view a_star = "a_star";
/// No solver found a better schedule than the other synthesizers, or none was needed: their best one meets the bound.
inline constexpr std::string_view incumbent = "incumbent";
inline constexpr std::array all{lp, milp, a_star, incumbent};
}  // namespace te_ccl_maker

/// Priorities of process groups (SolverChoice::priorities; TE-CCL, section 5, "Use in multi-tenant clusters"): K is
/// found first, whatever the formulation. Then, of the plans of whole chunks in K epochs, one with the least sum of
/// weight * finish epoch is taken, if its schedule is better than the fastest known one by that sum in picoseconds and
/// needs no more epochs. So no priority lets the last group end in a later epoch. Half of the solver's nodes are left
/// for it; Synthesis::left_out says where they did not suffice.
/// Errors (unsupported): chunks of several sizes, rates (lp) where chunks are copied, rounds (a_star) over switches
/// with limited buffers, sums among groups that differ or share NPUs, priorities of groups that form sums; (input) NPUs
/// that cannot be reached, another number of priorities than of groups.
[[nodiscard]] Result<Synthesis> synthesize_te_ccl(const SynthesisProblem& problem);
[[nodiscard]] std::size_t te_ccl_bytes(const SynthesisProblem& problem);
[[nodiscard]] Work te_ccl_work(const SynthesisProblem& problem);

}  // namespace tenex
