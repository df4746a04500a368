// Links on paths over cut-through switches, each as a link by itself, for bounds that count what links deliver.
//
// A send over such a path starts on each link after the alphas before it, keeps each link busy for D, the serialization
// time of the slowest link, and arrives after all alphas and D. Take one link. No send enters it before the least
// alphas from a holder (an NPU, or a switch that stores and forwards) to it, nor arrives before the least alphas from
// it to a holder; and D is no less than that of the path through it whose slowest link is fastest. So the link has
// delivered no more than one link with these alphas and that bandwidth would have between two holders: 1 + floor((T -
// alphas - D) / D) chunks by T under `serialization`. Under `transfer` each send keeps it busy for the link's own alpha
// longer. That holds whether switches copy or add: a send shared by several paths takes the link once.
#pragma once

#include <memory>
#include <vector>

#include "tenex/topology/topology.hpp"

namespace tenex {

/// A network's links, and what `transfer` needs besides.
struct PassingLinks {
  Topology topology;               ///< vertices, links and shape of the network; other classes of links
  std::vector<SimTime> own_alpha;  ///< per class: the least alpha of one of its links in the network
};

/// Null where no switch cuts through. A slowed link counts with its effective bandwidth. O(links log vertices).
[[nodiscard]] std::shared_ptr<const PassingLinks> passing_links(const Topology& network);

}  // namespace tenex
