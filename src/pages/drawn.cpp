#include "pages/drawn.hpp"

#include <map>

#include "tenex/topology/wires.hpp"

namespace tenex {

const Topology& drawn_network(const Topology& topology) {
  return topology.wires() != nullptr && topology.switches() == 0 ? topology.wires()->network() : topology;
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> failed_links(const Topology& drawn, const Topology* intact) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> failed;
  if (intact == nullptr || intact->vertices() != drawn.vertices()) return failed;
  const auto ends_of = [](const Topology& topology, std::size_t l) {
    return std::pair(topology.source(LinkId::at(l)).value(), topology.target(LinkId::at(l)).value());
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> left;
  for (std::size_t l = 0; l < drawn.links(); ++l) ++left[ends_of(drawn, l)];
  for (std::size_t l = 0; l < intact->links(); ++l)
    if (const auto ends = ends_of(*intact, l); --left[ends] < 0) failed.push_back(ends);
  return failed;
}

}  // namespace tenex
