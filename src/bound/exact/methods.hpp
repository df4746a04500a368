// Bounds whose weights are optimal, by COIN-OR Clp. Only `tenex bound --exact` uses them, so that no row depends on an
// optional library. Compiled only where Clp is found (TENEX_CLP).
#pragma once

#include <optional>

#include "tenex/bound/bound.hpp"

namespace tenex {

/// Rows * iterations of the simplex method, some 1 us each: minutes.
inline constexpr double kExactWork = 1e8;

/// The largest flow bound (tenex/bound/flow.hpp): for very many chunks, the time of the best flow that carries all
/// chunks at once (Shahrokhi and Matula, "The maximum concurrent flow problem", Journal of the ACM 37, 1990). The
/// weights are optimal to 1e-9 before they are rounded to integers of at most 2^20, one per link; the time is what the
/// rounded weights prove. SimTime::max() where a member cannot reach another.
///
/// nullopt for other collectives, without links, where the solver fails, and where members * links is above 2^20 (up to
/// 32 times as many doubles are kept). After kExactWork the time is what the best weights so far prove; random networks
/// of several hundred NPUs may come to that. From one round to some hundred; a round takes a search from every member,
/// O(members * links log links), and a warm start of a program whose rows are the links and the members, symmetric ones
/// being one. Deterministic.
[[nodiscard]] std::optional<CertifiedBound> exact_flow_bound(const BoundProblem& problem);

/// The largest strength bound (tenex/bound/strength.hpp) where one group has all NPUs as its members and all switches
/// are plain, to the same precision. nullopt for other problems, where the solver fails, and where plain switches give
/// more than 2^18 ways between NPUs. Deterministic.
[[nodiscard]] std::optional<CertifiedBound> exact_strength_bound(const BoundProblem& problem);

}  // namespace tenex
