// Ports: what carries one send of a symmetric schedule at a time.
//
// Seen from one NPU, each direction of a ring or a fully connected block is a link of its own. Over a switch that cuts
// through (TranslationDimension::one_port) all directions leave by one physical link and arrive by one. A send that
// starts at t keeps the up-link busy from t on and the down-link from t + the up-link's alpha on, each for the
// serialization, and under `transfer` for its own alpha more. All sends of the dimension are alike, so two of them
// share neither link if their starts are apart by the longer of the two durations: one reservation stands for both.
#pragma once

#include <cstdint>
#include <vector>

#include "tenex/collective/instance.hpp"
#include "tenex/topology/timing.hpp"
#include "tenex/topology/translation.hpp"

namespace tenex {

/// Directions of a translation group that carry one send at a time together.
struct OrbitPort {
  std::uint32_t first_direction = 0;  ///< they are consecutive
  std::uint32_t directions = 1;
  HopTime hop;  ///< `busy`: until the next send may start
};

/// All ports of an NPU.
struct OrbitPorts {
  std::vector<OrbitPort> all;          ///< in the order of their directions
  std::vector<std::uint32_t> port_of;  ///< by direction
  [[nodiscard]] std::size_t size() const { return all.size(); }
  [[nodiscard]] const HopTime& hop(std::uint32_t direction) const { return all[port_of[direction]].hop; }
};

/// The ports of a topology's group for chunks of the collective's first size: one per direction, or per dimension where
/// TranslationDimension::one_port. O(directions).
[[nodiscard]] OrbitPorts orbit_ports(const Instance& instance, const TranslationGroup& group);

}  // namespace tenex
