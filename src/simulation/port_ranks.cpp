#include "simulation/port_ranks.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace tenex {
namespace {

/// (dimension, step) as one number; links that are not a step between NPUs come last.
std::uint64_t step_of(const Shape& shape, std::size_t npus, VertexId source, VertexId target) {
  if (source.index() >= npus || target.index() >= npus) return ~std::uint64_t{0};
  std::uint32_t from = source.value();
  std::uint32_t to = target.value();
  for (std::uint64_t d = 0; d < shape.blocks.size(); ++d) {
    const auto size = shape.blocks[d].size;
    const auto a = from % size;
    const auto b = to % size;
    if (a != b) return (d << 32) + (b + size - a) % size;
    from /= size;
    to /= size;
  }
  return ~std::uint64_t{0};
}

}  // namespace

std::uint64_t port_order(const Topology& topology, LinkId link) {
  if (!topology.shape() || !topology.shape()->is_product()) return 0;
  return step_of(*topology.shape(), topology.npus(), topology.source(link), topology.target(link));
}

std::vector<LinkId> links_by_port(const Topology& topology) {
  std::vector<LinkId> links;
  links.reserve(topology.links());
  const auto& shape = topology.shape();
  const bool by_step = shape && shape->is_product();
  std::vector<std::pair<std::uint64_t, LinkId>> ports;
  for (std::size_t v = 0; v < topology.vertices(); ++v) {
    const auto row = topology.in_links(VertexId::at(v));
    if (!by_step || v >= topology.npus()) {
      links.insert(links.end(), row.begin(), row.end());
      continue;
    }
    ports.clear();
    for (const auto link : row)
      ports.emplace_back(step_of(*shape, topology.npus(), topology.source(link), VertexId::at(v)), link);
    std::sort(ports.begin(), ports.end());
    for (const auto& port : ports) links.push_back(port.second);
  }
  return links;
}

}  // namespace tenex
