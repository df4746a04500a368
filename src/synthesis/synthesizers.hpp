// The synthesizers behind the names of the registry (registry.cpp): how each is made, what it takes, and the words of
// the column `engine` that its own file does not define. `pccl` and `trees` are tables of engines and have their own
// headers.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {

// TACOS: the fast, event-driven synthesizer (Won et al., "TACOS: Topology-Aware Collective Algorithm Synthesizer for
// Distributed Machine Learning", MICRO 2024, arXiv:2304.05301).

/// Registry entry `tacos`.
[[nodiscard]] Result<Synthesis> synthesize_tacos(const SynthesisProblem& problem);
[[nodiscard]] std::size_t tacos_bytes(const SynthesisProblem& problem);
[[nodiscard]] Work tacos_work(const SynthesisProblem& problem);
/// Whether NPUs are shared among threads, as the engines for links that are alike do; the event-driven one shares only
/// attempts.
[[nodiscard]] bool tacos_uses_threads(const SynthesisProblem& problem);

// The reference TACOS: Algorithms 1 and 2 as the paper means them, written simply and slowly, to test the fast one.

/// Registry entry `tacos_reference`. O(events * unsatisfied * in-degree).
[[nodiscard]] Result<Synthesis> synthesize_tacos_reference(const SynthesisProblem& problem);
[[nodiscard]] std::size_t tacos_reference_bytes(const SynthesisProblem& problem);
[[nodiscard]] Work tacos_reference_work(const SynthesisProblem& problem);

// taccl: TACCL's three stages without sketches (Shah et al., "TACCL: Guiding Collective Algorithm Synthesis using
// Communication Sketches", NSDI 2023), as TACOS compares itself with (TACOS, section V-A, footnote 7).
//
// Routes come from a mixed-integer program in which links have no order (routing.hpp). Then every link takes, of the
// chunks that are there, the one with the longest way to go, of equals the one with the shortest way behind it
// (section 5.2). The third stage gives sends their times. In TACCL it also joins sends that follow each other, which
// pay one alpha then; here a send has one chunk, and the earliest times of given orders are the best ones.
//
// Left out: sketches and symmetries, which make the program smaller, and switches as hyper-edges.

/// The words of the column `engine`: routes of the solver, or the shortest routes, which it did not beat.
namespace taccl_maker {
inline constexpr std::string_view milp = "milp";
inline constexpr std::string_view shortest = "shortest";
inline constexpr std::array all{milp, shortest};
}  // namespace taccl_maker

/// Errors (input): switches, NPUs that cannot be reached; (unsupported) a program that is too large.
[[nodiscard]] Result<Synthesis> synthesize_taccl(const SynthesisProblem& problem);
[[nodiscard]] std::size_t taccl_bytes(const SynthesisProblem& problem);
[[nodiscard]] Work taccl_work(const SynthesisProblem& problem);

// te_ccl: collectives as multi-commodity flows over epochs, by open solvers (TE-CCL, arXiv:2305.13479).

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

// sccl: k-synchronous collectives by satisfiability (SCCL, Cai et al., "Synthesizing Optimal Collective Algorithms",
// PPoPP 2021), for small homogeneous machines.

/// The word of the column `engine`.
namespace sccl_maker {
inline constexpr std::string_view smt = "smt";
inline constexpr std::array all{smt};
}  // namespace sccl_maker

/// The schedule of least cost among those in synchronous steps, each of one or more rounds. It is proven to be so
/// unless a limit of SolverChoice came first; then it is the best that was found. Errors (unsupported): links of
/// several latencies, or of bandwidths that are no multiples of the least; chunks of several sizes; a machine that is
/// too large; (input) switches, NPUs that cannot be reached.
[[nodiscard]] Result<Synthesis> synthesize_sccl(const SynthesisProblem& problem);
[[nodiscard]] std::size_t sccl_bytes(const SynthesisProblem& problem);
[[nodiscard]] Work sccl_work(const SynthesisProblem& problem);

}  // namespace tenex
