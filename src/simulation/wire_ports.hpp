// The ports over which vertices are reached where links are wires (topology/wires.hpp): one for each physical link that
// ends paths, as it delivers in the order in which it was reserved, and one before these for an NPU that starts late.
#pragma once

#include <cstdint>
#include <vector>

#include "tenex/base/ids.hpp"
#include "tenex/simulation/simulator.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// Ports are numbered by vertex. O(physical links) memory.
struct WirePorts {
  /// O(wires).
  WirePorts(const Topology& topology, const std::vector<StartDelay>& delays);

  std::vector<VertexId> vertex_of;      ///< by port
  std::vector<std::uint32_t> start_of;  ///< by NPU: the port of its own start; empty if none starts late
  std::vector<std::uint32_t> last_of;   ///< by physical link: the port of the paths that it ends

 private:
  void add(std::uint32_t& port, VertexId vertex);
};

}  // namespace tenex
