// The strength bound of an All-Reduce, with or without overlap.
//
// Bound: T >= 2 (p-1) S / (bandwidth of the links between parts), for any partition of which p parts have a member; in
// general T >= 2 S MST(w) / sum(w * bandwidth). The partition into single NPUs is the cut-set bound of Sun and Zhou,
// "On the Computation Rate of All-Reduce" (arXiv 2602.22482).
//
// Claim. Partition the vertices, and let p parts have a member. Per chunk at least 2(p-1) sends cross between parts.
// Proof. Take the first moment at which some part with a member holds all contributions to the chunk. Until then each
// of the p-1 other parts with a member has sent a crossing, since its contributions are in that sum. Each of them also
// receives a crossing at that moment or later, since it has no complete sum before. A send that arrives at that moment
// or later has influenced nobody before it, so the two kinds of crossings differ. Switches that add or copy do so
// inside their part.
//
// A weighted sum of partitions is a weight w >= 0 per link. Join the vertices in order of weight: a partition for every
// weight at which something joins. Then the crossings, weighted, are at least 2 * MST per chunk, MST being the sum of
// the weights at which two parts with members join. A switch that neither adds nor copies only passes chunks on: it
// stands outside all parts, and a way through it weighs the sum of its links (of both directions, the lighter one).
// So sum over links of w * (chunks that the link can have delivered by T) >= 2 * sum over groups of chunks * MST.
// It is exact for many chunks where every link has an opposite of its bandwidth and every vertex is a member (Tutte,
// "On the problem of decomposing a graph into n connected factors", 1961; Nash-Williams, "Edge-disjoint spanning trees
// of finite graphs", 1961): the name is that of the packing number. The weights alone are the certificate.
//
// Groups that run other collectives beside an All-Reduce count too: a chunk of an All-Gather or Broadcast comes into
// each of the other parts with a member, one of a Reduce-Scatter or Reduce out of each: p-1 crossings per chunk.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "tenex/bound/bound.hpp"

namespace tenex {

/// Ways through plain switches are listed if they are at most so many, and as many of the work limit's link visits per
/// way are left. Otherwise the lightest are found for each weighing.
inline constexpr std::size_t kMostWays = std::size_t{1} << 21;
inline constexpr std::size_t kVisitsPerWay = 16;
/// The checker searches from every vertex. Where ways are not listed, its visits, each as long as so many of the
/// search, must fit into the work limit.
inline constexpr std::size_t kVisitsPerCheck = 8;

/// The best partition, by a closed form (product shapes) or by flows (other topologies of NPUs, all members of one
/// group) within half of the limit. Elsewhere the largest bound of the weights that are tried: of single classes of
/// links, of all links, by multiplicative weights (Arora, Hazan and Kale, "The multiplicative weights update method",
/// Theory of Computing 8, 2012) on spanning trees, and of the partitions at their steps. Weights are integers of at
/// most 2^20, and the time is exact. `work_limit`: link visits, some 20 ns each. nullopt where no
/// group runs an All-Reduce, and where the checker would take too long. Ensures: check_strength() gives its time.
/// Deterministic. O(work_limit).
[[nodiscard]] std::optional<CertifiedBound> strength_bound(const BoundProblem& problem, std::uint64_t work_limit);

/// The time that weights prove. Expects: one weight per link. Ensures: check_strength() gives the same time. O(groups *
/// links log links + links of the lightest ways).
[[nodiscard]] SimTime strength_time(const BoundProblem& problem, std::span<const std::uint32_t> weights);

/// The time that weights prove, one per link, computed without code of the search. Throws InvariantError unless there
/// is one weight per link. O(links log links), through plain switches O(ways).
[[nodiscard]] SimTime check_strength(const BoundProblem& problem, std::span<const std::uint32_t> weights);

}  // namespace tenex
