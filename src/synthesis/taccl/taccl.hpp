// taccl: TACCL's three stages without sketches (Shah et al., "TACCL: Guiding Collective Algorithm Synthesis using
// Communication Sketches", NSDI 2023), as TACOS compares itself with (TACOS, section V-A, footnote 7).
//
// Routes come from a mixed-integer program in which links have no order (routing.hpp). Then every link takes, of the
// chunks that are there, the one with the longest way to go, of equals the one with the shortest way behind it
// (section 5.2). The third stage gives sends their times. In TACCL it also joins sends that follow each other, which
// pay one alpha then; here a send has one chunk, and the earliest times of given orders are the best ones.
//
// Left out: sketches and symmetries, which make the program smaller, and switches as hyper-edges.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {

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

}  // namespace tenex
