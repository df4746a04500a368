// The least time for chunks of several sizes over the same links.
//
// Let links, each times a weight, have to deliver a_s chunks of each size s. Three counts are lower bounds, and the
// largest is taken:
// - For each s, all chunks that are no smaller count as chunks of size s: none of them takes a link for less time, nor
//   arrives earlier (capacity.hpp has the floor counts).
// - Bytes: by T a link has delivered at most floor((T - alpha) * bandwidth) bytes, whatever its sends are.
// - Where all links are of one class: the busy times of a link's sends do not overlap, and the last one ends its alpha
//   before T (`serialization`) or at T (`transfer`). So their sum is at most that.
// With one size the first count alone is as large as the others. Where several chunks may share a send, the third does
// not hold: parts of sends are rounded down.
//
// Groups that run one collective of chunks of their own (all kinds up to All-to-All) have several sizes only if they
// differ in members. They count all chunks as the smallest, and each size by itself.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bound/weighted_links.hpp"
#include "tenex/bound/bound.hpp"

namespace tenex {

/// Whether every group runs one of the collectives from All-Gather to All-to-All, the same for all.
[[nodiscard]] inline bool is_classic(const Collective& collective) {
  return collective.kind() <= CollectiveKind::all_to_all;
}

/// Chunks of one size class of the collective, perhaps weighted.
struct SizedNeed {
  std::size_t size_class = 0;
  Exact amount = 0;
};

/// The least T at which `links_of_class[k]` links of class k, for all k together, can have delivered all `needs`, each
/// size class once at most. Zero where nothing must be delivered, SimTime::max() where it never is. Exact. O(sizes *
/// (log sizes + classes)) and some bisections.
[[nodiscard]] SimTime least_time_of_sizes(const BoundProblem& problem, std::span<const std::int64_t> links_of_class,
                                          std::span<const SizedNeed> needs);

/// The same for links with weights, one per link, and needs that are weighted too. Not for classic collectives.
[[nodiscard]] SimTime time_to_carry_sizes(const BoundProblem& problem, std::span<const std::uint32_t> weights,
                                          std::span<const SizedNeed> needs);

/// needs[s] of size class s, without those of zero.
template <class Number>
[[nodiscard]] std::vector<SizedNeed> sparse_needs(const std::vector<Number>& needs) {
  std::vector<SizedNeed> sparse;
  for (std::size_t s = 0; s < needs.size(); ++s)
    if (needs[s] > 0) sparse.push_back({s, needs[s]});
  return sparse;
}

}  // namespace tenex
