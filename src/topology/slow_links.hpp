// What stragglers added to the latencies of links, for transformations that merge links.
#pragma once

#include <vector>

#include "tenex/topology/transform.hpp"

namespace tenex {

/// What slow_links() with these slowdowns added to the alpha of each link, by link; empty where it added nothing. Links
/// may have been removed from the topology since. O(links).
[[nodiscard]] std::vector<SimTime> added_alphas(const Topology& slowed, const std::vector<Slowdown>& slowdowns);

}  // namespace tenex
