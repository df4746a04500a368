#include "tenex/schedule/timing/orbit_ports.hpp"

#include <algorithm>

#include "tenex/topology/wires.hpp"

namespace tenex {

namespace {

/// The hop of a direction's links. A wire is busy as long as the physical link that a send occupies the longest.
HopTime port_hop(const Instance& instance, const TranslationGroup& group, std::uint32_t direction) {
  const LinkClass& link_class = instance.topology.classes()[group.directions()[direction].link_class];
  const HopTime hop = hop_time(link_class, instance.collective.chunk_sizes()[0], instance.occupancy);
  const Wires* wires = instance.topology.wires();
  if (wires == nullptr || instance.occupancy == Occupancy::serialization) return hop;
  SimTime longest;
  for (const WireSpan& span : wires->spans(group.link({NpuId(0), direction})))
    longest = std::max(longest, wires->network().alpha(span.link));
  return {hop.latency - link_class.alpha + longest, hop.latency};
}

}  // namespace

OrbitPorts orbit_ports(const Instance& instance, const TranslationGroup& group) {
  OrbitPorts ports;
  for (const auto& dimension : group.dimensions()) {
    const std::uint32_t together = dimension.one_port ? dimension.directions : 1;
    const std::uint32_t end = dimension.first_direction + dimension.directions;
    for (std::uint32_t first = dimension.first_direction; first < end; first += together) {
      ports.port_of.insert(ports.port_of.end(), together, static_cast<std::uint32_t>(ports.all.size()));
      ports.all.push_back({first, together, port_hop(instance, group, first)});
    }
  }
  return ports;
}

}  // namespace tenex
