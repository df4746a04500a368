// The physical links that one NPU's sends use, for the orbit check (tenex/schedule/verifier/symmetric_verifier.hpp).
//
// Where links are physical, a direction uses one link of its own. Where they are wires (tenex/topology/wires.hpp), the
// check must see that translations map physical links to physical links. Each one has a role: it belongs to a direction
// and leaves an NPU, or to a dimension and leads from an NPU to a switch or from a switch to an NPU. The wire of a
// source, a target and a direction must take exactly the links that have these roles there, roles and links must be
// one to one, and links of one role must be alike.
//
// Derived from the wires and the network below them alone; shares no code with synthesizers.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tenex/collective/instance.hpp"
#include "tenex/topology/translation.hpp"

namespace tenex {

/// A physical link that a send takes, named by its role.
struct RoleUse {
  std::uint32_t role = 0;
  SimTime offset;  ///< from the start of the send until the link becomes busy; the same for all sends of the role
  SimTime busy;
};

struct OrbitLinks {
  std::uint32_t roles = 0;
  std::vector<RoleUse> uses;         ///< direction by direction, in the order of the path
  std::vector<std::uint32_t> first;  ///< by direction, then the end
};

/// The links of every direction; nullopt where translations do not map wires to wires. The links of the topology must
/// be those of the group (sources, targets and classes). O(links + physical links) time and memory.
[[nodiscard]] std::optional<OrbitLinks> orbit_links(const Instance& instance, const TranslationGroup& group);

}  // namespace tenex
