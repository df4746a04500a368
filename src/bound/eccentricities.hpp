// How far the farthest members of a group are from an NPU, and to it: what the bounds on latency start from.
//
// On an intact product shape with all NPUs in one group, NPU 0 (every coordinate 0) is an end of a farthest pair,
// because distances add up over dimensions and in each block (line, ring, fully connected, switch) the first position
// has an opposite that is farthest; it also has the fewest ports. One search is enough there, and none where every NPU
// sees the same network (TranslationGroup). Elsewhere it is one
// search per NPU, over at most as many NPUs as a fixed amount of work allows: a maximum over fewer NPUs is a weaker
// bound, never a wrong one.
#pragma once

#include <cstdint>
#include <vector>

#include "tenex/bound/bound.hpp"

namespace tenex {

enum class Direction : std::uint8_t {
  outward,  ///< from the NPU to the members of its group
  inward,   ///< from the members to the NPU
};

/// One NPU's eccentricity in its group for a message of the group's chunk size, each hop taking alpha + beta*m.
struct Eccentricity {
  GroupId group;
  std::uint32_t rank = 0;
  SimTime distance;  ///< SimTime::max() where no path leads
};

/// The eccentricities of each group's root (Broadcast, Reduce) or of all its members, as far as the work goes. Groups
/// of one are left out. O(NPUs * links), at most about a second.
[[nodiscard]] std::vector<Eccentricity> eccentricities(const BoundProblem& problem, Direction direction);

}  // namespace tenex
