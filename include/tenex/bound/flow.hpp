// The flow bound of All-to-Alls, stored conditions and mixed groups: weighted distances.
//
// Bound: the least T with sum over links of w * count(T) >= sum over chunks of the weight of their lightest path.
//
// Claim. For any weights w >= 0 of the links, sum over links of w * (chunks that the link can have delivered by T) is
// at least the sum over all chunks of the least weight of a path from the chunk's source to its destination. Proof. A
// chunk arrives over a path of sends, which weighs at least as much as the lightest path; a send of the chunk serves no
// other chunk. That switches copy does not help a chunk with one destination. A chunk with several has one of them
// farthest, and each is reached over one of its in-links; bound/journeys.hpp has these counts, and those of the
// collectives that gather or reduce, which may run beside others. With the best weights this is, for
// many chunks, the time of the best flow that carries all chunks at once (duality of the maximum concurrent flow:
// Shahrokhi and Matula, "The maximum concurrent flow problem", Journal of the ACM 37, 1990). Weights of one per link
// give volume times distance, weights on the links of a cut give the cut. The weights alone are the certificate.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "tenex/bound/bound.hpp"

namespace tenex {

/// The largest bound of the weights that are tried: one for all links, for each class of links, for each dimension of
/// an intact product, and those of multiplicative weights on flows along lightest paths (Garg and Koenemann, "Faster
/// and simpler algorithms for multicommodity flow and other fractional packing problems", SIAM J. Comput. 37, 2007),
/// rounded to integers of at most 2^20 before they are evaluated, so that the time is exact. `work_limit`: link visits,
/// some 20 ns each. nullopt where all groups run one collective from All-Gather to Reduce, and where one search from
/// every NPU that sends takes more than the limit. Ensures: check_flow() gives its time.
/// Deterministic.
[[nodiscard]] std::optional<CertifiedBound> flow_bound(const BoundProblem& problem, std::uint64_t work_limit);

/// The time that weights prove. Expects: one weight per link. Ensures: check_flow() gives the same time. O(members that
/// send * links * log links).
[[nodiscard]] SimTime flow_time(const BoundProblem& problem, std::span<const std::uint32_t> weights);

/// The time that weights prove, one per link, computed without code of the search. Throws InvariantError unless there
/// is one weight per link. O(members that send * links * log links).
[[nodiscard]] SimTime check_flow(const BoundProblem& problem, std::span<const std::uint32_t> weights);

}  // namespace tenex
