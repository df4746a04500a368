// Ways that load no link more than needed: what decides the time of an All-to-All on an irregular network.
//
// Idea: every chunk first takes a shortest way, link by link the least loaded one that leads nearer. Then, destination
// by destination in a drawn order, one search under weights that grow exponentially with a link's load (multiplicative
// weights: Plotkin, Shmoys, Tardos, 1995) finds the lightest way from everywhere; chunks whose ways lead over a link
// that is loaded nearly most move there at once, where that is lighter. Ways are kept chunk by chunk: one tree for each
// destination would move whole subtrees to and fro.
//
// Where chunks have fewer sources than destinations (Scatter), sources and destinations change places.
#pragma once

#include <optional>

#include "synthesis/pccl/balanced/unicasts.hpp"

namespace tenex {

struct BalancedRoutes {
  UnicastWays ways;
  SimTime most;  ///< the time of the busiest link, without latency
};

/// Routes chunks until the busiest link is busy for no longer than `target`, or nothing is gained. Draws its random
/// numbers from a fixed seed. nullopt where a destination cannot be reached. O(ends * (vertices + links log links) +
/// links of ways) for each of a dozen passes at most; ends: sources or destinations, whichever are fewer.
[[nodiscard]] std::optional<BalancedRoutes> balance_routes(const Topology& topology, const SizedHops& hops,
                                                           const std::vector<Unicast>& unicasts, SimTime target);

}  // namespace tenex
