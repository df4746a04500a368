#include "simulation/wire_ports.hpp"

#include "simulation/port_ranks.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex {
namespace {
constexpr std::uint32_t no_wire_port = UINT32_MAX;
}  // namespace

WirePorts::WirePorts(const Topology& topology, const std::vector<StartDelay>& delays) {
  std::vector<bool> late(topology.vertices(), false);
  for (const auto& delay : delays) late[delay.npu.index()] = delay.time > SimTime::zero();
  if (!delays.empty()) start_of.assign(topology.npus(), no_wire_port);
  last_of.assign(topology.wires()->network().links(), no_wire_port);
  for (std::size_t v = 0; v < topology.vertices(); ++v) {
    const auto vertex = VertexId::at(v);
    if (late[v]) add(start_of[v], vertex);
    for (const auto wire : topology.in_links(vertex)) {
      auto& port = last_of[topology.wires()->spans(wire).back().link.index()];
      if (port == no_wire_port) add(port, vertex);
    }
  }
}

void WirePorts::add(std::uint32_t& port, VertexId vertex) {
  port = static_cast<std::uint32_t>(vertex_of.size());
  vertex_of.push_back(vertex);
}

}  // namespace tenex
