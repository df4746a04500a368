// Views of a topology for assertions.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tenex/topology/topology.hpp"

namespace tenex::support {

/// The targets of a vertex's out-links in link order.
inline std::vector<std::uint32_t> out_neighbours(const Topology& topology, std::uint32_t vertex) {
  std::vector<std::uint32_t> targets;
  for (const LinkId link : topology.out_links(VertexId(vertex))) targets.push_back(topology.target(link).value());
  return targets;
}

/// The sources of a vertex's in-links in link order.
inline std::vector<std::uint32_t> in_neighbours(const Topology& topology, std::uint32_t vertex) {
  std::vector<std::uint32_t> sources;
  for (const LinkId link : topology.in_links(VertexId(vertex))) sources.push_back(topology.source(link).value());
  return sources;
}

/// Every link as (source, target) in link order.
inline std::vector<std::pair<std::uint32_t, std::uint32_t>> link_ends(const Topology& topology) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ends;
  for (std::size_t i = 0; i < topology.links(); ++i) {
    ends.emplace_back(topology.source(LinkId::at(i)).value(), topology.target(LinkId::at(i)).value());
  }
  return ends;
}

/// Every link by value, in link order.
inline std::vector<Link> all_links(const Topology& topology) {
  std::vector<Link> links;
  for (std::size_t i = 0; i < topology.links(); ++i) links.push_back(topology.link(LinkId::at(i)));
  return links;
}

/// The same vertices and links without a shape.
inline Topology without_shape(const Topology& topology) {
  TopologyBuilder builder(topology.npus());
  for (std::size_t i = 0; i < topology.switches(); ++i) builder.add_switch();
  for (const Link& link : all_links(topology)) builder.add_link(link);
  return std::move(builder).build().value();
}

}  // namespace tenex::support
