// A level is the links whose ends are as far from the nearest NPU.
#include "execution/link_imbalance.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "tenex/schedule/run_metrics.hpp"
#include "tenex/topology/distance.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex {

namespace {

/// By physical link.
std::vector<Bytes> physical_bytes(const Topology& topology, const std::vector<LinkLoad>& loads) {
  std::vector<Bytes> bytes(physical_network(topology).links());
  for (std::size_t l = 0; l < loads.size(); ++l)
    if (topology.wires() == nullptr)
      bytes[l] = loads[l].bytes;
    else
      for (const WireSpan& span : topology.wires()->spans(LinkId::at(l))) bytes[span.link.index()] += loads[l].bytes;
  return bytes;
}

struct Level {
  double bytes = 0;
  double links = 0;
  Bytes most;
};

}  // namespace

bool has_link_levels(const Topology& topology) {
  const Topology& network = physical_network(topology);
  if (network.switches() < 2) return false;
  for (std::size_t l = 0; l < network.links(); ++l)
    if (!network.is_npu(network.source(LinkId::at(l))) && !network.is_npu(network.target(LinkId::at(l)))) return true;
  return false;
}

double link_imbalance(const Topology& topology, const std::vector<LinkLoad>& loads) {
  const Topology& network = physical_network(topology);
  const auto distance = links_to_nearest_npu(network);
  const auto bytes = physical_bytes(topology, loads);
  std::map<std::pair<std::uint32_t, std::uint32_t>, Level> levels;
  Bytes most;
  for (std::size_t l = 0; l < bytes.size(); ++l) {
    const LinkId link = LinkId::at(l);
    Level& level = levels[{distance[network.source(link).index()], distance[network.target(link).index()]}];
    level.bytes += static_cast<double>(bytes[l].count());
    level.links += 1;
    level.most = std::max(level.most, bytes[l]);
    most = std::max(most, bytes[l]);
  }
  if (most == Bytes::zero()) return kAbsentReal;
  double largest = 0;
  for (const auto& [ends, level] : levels)
    if (level.most == most) largest = std::max(largest, static_cast<double>(most.count()) * level.links / level.bytes);
  return largest;
}

}  // namespace tenex
