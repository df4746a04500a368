// The cut bound: what must leave a set of vertices needs its time on the links that leave the set.
//
// Bound: the least T with sum over the links that leave a set of count(T) >= sends that must leave it.
//
// Proof. Take any set of vertices. Per chunk at least one send must cross from inside to outside:
// - All-Gather: every chunk of a member inside, if a member is outside: nobody outside has it.
// - Reduce-Scatter: every chunk of a member outside, if a member is inside: the sum needs that member's contribution.
// - Broadcast: every chunk, if the root is inside and a member outside; Reduce: the root outside and a member inside.
// - All-Reduce: every chunk, if there are members on both sides: the outside needs the contributions from inside.
// - All-to-All: every chunk of a member inside for a member outside.
// - Gather: every chunk of a member inside, if the root is outside; Scatter: every chunk for a member outside, if the
//   root is inside.
// - Stored conditions: every chunk whose source is inside and some destination outside.
// The counts of process groups add up, whatever each of them runs. Switches that copy or add do so on one side of the
// set, so the counts hold for them too. The time is that of capacity.hpp's floor counts on the leaving links
// (sized_needs.hpp for chunks of several sizes). The set alone is the certificate.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "tenex/base/ids.hpp"
#include "tenex/bound/bound.hpp"

namespace tenex {

/// The largest bound of the sets that are tried: for All-Gather, Reduce-Scatter, Broadcast, Reduce, Gather, Scatter and
/// both directions of All-Reduce the densest set of each group, found by Newton's method on minimum cuts; for stored
/// conditions the densest sets by what single NPUs get or send; for all collectives boxes (what links without switches,
/// or faster links, join), the planes and halves of each dimension of an intact product shape, the weakest NPU, and
/// each switch with its NPUs; for All-to-Alls, stored conditions and mixed groups what lies nearer to one far vertex
/// than to another; and where switches are joined, what hangs below those of each level (a leaf with its NPUs, a pod).
/// `work_limit`: link visits after which the search ends with what it has (some 10 ns each); as many for the other
/// sets, and as many for what hangs below switches. nullopt where nothing must be sent. Ensures: check_cut() gives its
/// time. Deterministic. Expected O(members * links into a neighbourhood) after one maximum flow.
[[nodiscard]] std::optional<CertifiedBound> cut_bound(const BoundProblem& problem, std::uint64_t work_limit);

/// The time that a set proves; zero where it proves nothing. Expects: vertices that exist. Ensures: check_cut() gives
/// the same time. O(links + members + destinations of conditions).
[[nodiscard]] SimTime cut_time(const BoundProblem& problem, std::span<const VertexId> inside);

/// The time that a certificate proves, computed without code of the search; zero where the set proves nothing. Throws
/// InvariantError for a vertex that does not exist. O(links + members + destinations of conditions).
[[nodiscard]] SimTime check_cut(const BoundProblem& problem, std::span<const VertexId> inside);

}  // namespace tenex
