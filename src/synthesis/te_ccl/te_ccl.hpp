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

/// Errors (unsupported): chunks of several sizes, rates (lp) where chunks are copied, rounds (a_star) over switches
/// with limited buffers; (input) NPUs that cannot be reached.
[[nodiscard]] Result<Synthesis> synthesize_te_ccl(const SynthesisProblem& problem);
[[nodiscard]] std::size_t te_ccl_bytes(const SynthesisProblem& problem);
[[nodiscard]] double te_ccl_seconds(const SynthesisProblem& problem);

}  // namespace tenex
