#include "tenex/topology/hand_over.hpp"

#include "tenex/topology/timing.hpp"

namespace tenex {
namespace {

/// beta*m of a link as far as a lead goes: none where the bandwidth varies.
SimTime steady_serialization(Bytes size, const LinkClass& link) {
  return link.windows == 0 ? serialization_time(size, link) : SimTime::zero();
}

}  // namespace

bool any_passes_on_early(const Topology& topology) {
  for (std::size_t v = topology.npus(); v < topology.vertices(); ++v)
    if (passes_on_early(topology, VertexId::at(v))) return true;
  return false;
}

Topology with_early_switches_as(const Topology& topology, Forwarding forwarding) {
  std::vector<SwitchProperties> switches;
  for (std::size_t v = topology.npus(); v < topology.vertices(); ++v) {
    switches.push_back(topology.switch_properties(VertexId::at(v)));
    if (switches.back().forwarding == Forwarding::virtual_cut_through) switches.back().forwarding = forwarding;
  }
  return topology.with_switches(std::move(switches));
}

SimTime hand_over_lead(const Topology& topology, LinkId in, LinkId out, Bytes size) {
  const auto of = [&](LinkId link) { return steady_serialization(size, topology.classes()[topology.class_of(link)]); };
  return std::min(of(in), of(out));
}

HandOvers::HandOvers(const Topology& topology, const std::vector<Bytes>& sizes)
    : topology_(&topology), columns_(sizes.size()) {
  if (!any_passes_on_early(topology)) return;
  for (const LinkClass& link : topology.classes())
    for (const Bytes size : sizes) serialization_.push_back(steady_serialization(size, link));
}

}  // namespace tenex
