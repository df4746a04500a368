// Groups with different collectives side by side, some of which reduce.
//
// Idea: what copies is planned on the topology, all groups together. What reduces is planned as what would copy the
// other way, all groups together, on the reversed topology, and reversed in time (the ASTRA-sim2.0 thesis, section
// 6.4.5). Both plans then begin at time zero; an All-Reduce's gather begins when its group's sums are complete. Where
// sends of both plans meet on a link, they take turns in the order of their planned starts, and all sends are re-timed.
#pragma once

#include "synthesis/compose.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {

/// Synthesizes groups of any kinds with a gatherer that plans any collective that copies. Errors: the gatherer's.
[[nodiscard]] Result<Synthesis> compose_side_by_side(const SynthesisProblem& problem, Gatherer gather,
                                                     std::string_view engine);

}  // namespace tenex
