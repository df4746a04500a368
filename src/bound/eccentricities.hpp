// The distances from an NPU to the farthest member of its group and from that member to it, for the bounds on latency.
//
// On an intact product shape with all NPUs in one group, NPU 0 (every coordinate 0) is an end of a farthest pair:
// distances add up over dimensions, and in each block (line, ring, fully connected, switch) the first position has an
// opposite that is farthest. NPU 0 also has the fewest ports. One search is enough there, and no search is needed where
// every NPU sees the same network (TranslationGroup). Elsewhere each NPU needs one search, for at most as many NPUs as
// a fixed amount of work allows: a maximum over fewer NPUs is a weaker bound, never a wrong one.
#pragma once

#include <cstdint>
#include <vector>

#include "bound/demand.hpp"
#include "tenex/bound/bound.hpp"

namespace tenex {

/// One NPU's eccentricity in its group for a message of the group's chunk size, each hop taking alpha + beta*m.
struct Eccentricity {
  GroupId group;
  std::uint32_t rank = 0;
  SimTime distance;  ///< SimTime::max() where no path exists
};

/// The eccentricities of each group's root (kinds that have one) or of its members, as many as the work limit allows:
/// from the NPU to the members of its group, or from these to it.
/// Groups of one are left out. Not for stored conditions. O(NPUs * links), at most about a second.
[[nodiscard]] std::vector<Eccentricity> eccentricities(const BoundProblem& problem, Direction direction);

}  // namespace tenex
