// The positions of a product shape's dimensions among the vertices and links of its topology.
#include "topology/dimensions.hpp"

namespace tenex {

std::vector<PlacedDimension> placed_dimensions(const Topology& topology) {
  std::vector<PlacedDimension> placed;
  if (!topology.shape() || !topology.shape()->is_product()) return placed;
  std::size_t next_switch = topology.npus();
  for (std::size_t i = 0; i < topology.shape()->dimensions(); ++i) {
    PlacedDimension entry;
    entry.dimension = dimension_of(*topology.shape(), i);
    entry.rule = topology.shape()->blocks[i].rule;
    entry.first_switch = next_switch;
    entry.switches = static_cast<std::size_t>(count_switches(*entry.rule, entry.dimension));
    next_switch += entry.switches;
    placed.push_back(entry);
  }
  return placed;
}

std::optional<std::vector<SimTime>> uniform_alphas(const Topology& topology) {
  const auto dimensions = placed_dimensions(topology);
  if (dimensions.empty()) return std::nullopt;
  std::vector<SimTime> alphas;
  std::size_t next = 0;  // a shape's links are ordered by dimension
  for (const auto& [dimension, rule, first_switch, switches] : dimensions) {
    const std::size_t end = next + static_cast<std::size_t>(rule->count_links(dimension));
    alphas.push_back(next < end ? topology.alpha(LinkId::at(next)) : SimTime::zero());
    if (!topology.homogeneous())
      for (; next < end; ++next)
        if (topology.alpha(LinkId::at(next)) != alphas.back()) return std::nullopt;
    next = end;
  }
  return alphas;
}

}  // namespace tenex
