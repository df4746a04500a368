// Minimum cuts of a topology: the set of vertices that has most to send per capacity of its leaving links.
#pragma once

#include <cstdint>
#include <vector>

#include "tenex/base/ids.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// One flag per vertex: inside.
using VertexSet = std::vector<bool>;

/// The input of a search.
struct CutSearch {
  const Topology& topology;
  bool backward = false;               ///< links lead from target to source
  std::vector<std::int64_t> capacity;  ///< per link class
  std::vector<NpuId> members;          ///< two or more
};

/// What a search found: every set that was better than the one before, the best last. `ended`: no set is better.
struct FoundCuts {
  std::vector<VertexSet> sets;
  bool ended = true;
};

/// Maximizes (members inside) / (capacity that leaves) over the sets that lack a member. `work` counts link visits down
/// to zero, where the search ends.
[[nodiscard]] FoundCuts densest_cuts(const CutSearch& search, std::uint64_t& work);

/// Maximizes (weights inside) / (capacity that leaves) over the sets that lack `target`: all that the others must send
/// to it. `weight`: per member, the target's counts as zero; positive, and at most 2^20 together.
[[nodiscard]] FoundCuts densest_cuts_toward(const CutSearch& search, NpuId target,
                                            const std::vector<std::int64_t>& weight, std::uint64_t& work);

/// Minimizes the capacity that leaves over the sets that have `root` and lack another member.
[[nodiscard]] FoundCuts least_cuts(const CutSearch& search, NpuId root, std::uint64_t& work);

}  // namespace tenex
