// Slower links, as a study's `stragglers` asks.
#include <algorithm>

#include <fmt/core.h>

#include "tenex/base/diagnostic.hpp"
#include "tenex/topology/transform.hpp"
#include "tenex/topology/wires.hpp"
#include "topology/missing_link.hpp"

namespace tenex {

namespace {

/// Raises the factors of a slowdown's links and returns the number of those links.
std::size_t mark(const Topology& topology, const Slowdown& slowdown, std::vector<std::int64_t>& factors) {
  std::size_t found = 0;
  const auto raise = [&](LinkId link) {
    auto& factor = factors[link.index()];
    factor = std::max(factor, slowdown.thousandths);
    ++found;
  };
  for (const LinkId link : topology.out_links(slowdown.source))
    if (!slowdown.target || topology.target(link) == *slowdown.target) raise(link);
  if (!slowdown.target)
    for (const LinkId link : topology.in_links(slowdown.source)) raise(link);
  return found;
}

/// The vertices and the slowed links, without a shape.
TopologyBuilder copied(const Topology& topology, const std::vector<std::int64_t>& factors) {
  TopologyBuilder builder(topology.npus());
  for (std::size_t v = topology.npus(); v < topology.vertices(); ++v)
    builder.add_switch(topology.switch_properties(VertexId::at(v)));
  builder.reserve_links(topology.links());
  for (std::size_t i = 0; i < topology.links(); ++i) {
    auto link = topology.link(LinkId::at(i));
    link.slowdown = std::max(link.slowdown, factors[i]);
    builder.add_link(link);
  }
  return builder;
}

}  // namespace

Result<Topology> slow_links(const Topology& topology, const std::vector<Slowdown>& slowdowns) {
  ensure(topology.wires() == nullptr, "links are slowed down before wires are made");
  std::vector<std::int64_t> factors(topology.links(), kNoSlowdown);
  Diagnostics errors;
  for (const auto& slowdown : slowdowns) {
    const VertexId far = slowdown.target.value_or(slowdown.source);
    const VertexId beyond = slowdown.source.index() >= topology.vertices() ? slowdown.source : far;
    if (beyond.index() >= topology.vertices())
      errors.push_back(missing_vertex(topology, beyond));
    else if (mark(topology, slowdown, factors) == 0)
      errors.push_back(input_error({}, fmt::format("no link leads from {} to {}", slowdown.source.value(), far.value()),
                                   "only existing links are slowed down"));
  }
  if (!errors.empty()) return errors;
  auto builder = copied(topology, factors);
  if (topology.shape()) builder.declare_shape(*topology.shape());
  return std::move(builder).build();
}

}  // namespace tenex
