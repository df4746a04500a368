// The participants of a copying collective: the members of each process group, and the bystanders that must relay for
// them.
//
// Idea: the members of a group need no help if each of them is reached over members alone. If not ("0,2; 1,3" on a
// line), bystanders on shortest paths join as relays until each is reached. A relay wants every chunk of the group, and
// useless deliveries are pruned after the synthesis.
#pragma once

#include <cstdint>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/ids.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// The vertices that handle one group's chunks.
struct Participants {
  std::vector<VertexId> vertices;  ///< the members in rank order, then the relays in increasing id
  std::size_t members = 0;         ///< how many of them are members
};

/// The participants of every group. Expects: an All-Gather (every member must reach every other one) or a Broadcast
/// (the root must reach every member). Relays are few but not always fewest: a search from one member, in which
/// entering a bystander costs one, goes forward and, for All-Gather, backward. Errors (input): a switch in the
/// topology; a member that no path reaches. O(groups * links) at worst; a group's search ends when all members are
/// found.
[[nodiscard]] Result<std::vector<Participants>> find_participants(const Topology& topology,
                                                                  const Collective& collective);

/// Whether some group needs relays.
[[nodiscard]] bool any_relays(const std::vector<Participants>& participants);

}  // namespace tenex
