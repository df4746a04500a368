// What a partition of the vertices makes cross between its parts, for the bounds on partitions.
#pragma once

#include <span>
#include <vector>

#include "bound/sized_needs.hpp"
#include "bound/weighted_links.hpp"

namespace tenex {

/// Crossings of each chunk per part with a member, but one: both ways in an All-Reduce, one way where the chunk comes
/// to all members or from all. None of chunks with other destinations.
[[nodiscard]] inline int crossings(CollectiveKind kind) {
  if (kind == CollectiveKind::all_reduce) return 2;
  const bool all_members =
      kind == CollectiveKind::all_gather || kind == CollectiveKind::reduce_scatter || owned_by_root(kind);
  return all_members ? 1 : 0;
}

[[nodiscard]] inline bool has_all_reduce(const Collective& collective) {
  for (std::size_t g = 0; g < collective.groups().size(); ++g)
    if (collective.kind(GroupId::at(g)) == CollectiveKind::all_reduce) return true;
  return false;
}

/// The least T at which weighted links can have delivered `needed` weighted chunks of each size class. Zero where none
/// is needed, SimTime::max() where they never are. Exact.
[[nodiscard]] inline SimTime time_of_crossings(const BoundProblem& problem, std::span<const std::uint32_t> weights,
                                               const std::vector<Exact>& needed) {
  if (!is_classic(problem.collective)) return time_to_carry_sizes(problem, weights, sparse_needs(needed));
  Exact all = 0;
  for (const Exact each : needed) all += each;
  return time_to_carry(problem, weights, all);
}

}  // namespace tenex
