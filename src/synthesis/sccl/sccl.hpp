// sccl: k-synchronous collectives by satisfiability (SCCL, Cai et al., "Synthesizing Optimal Collective Algorithms",
// PPoPP 2021), for small homogeneous machines.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {

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
