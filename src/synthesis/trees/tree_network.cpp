#include "synthesis/trees/tree_network.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "synthesis/compose.hpp"
#include "tenex/base/contract.hpp"
#include "tenex/topology/hand_over.hpp"
#include "tenex/topology/transform.hpp"

namespace tenex {

bool is_one_group_of_all(const SynthesisProblem& problem) {
  const auto& groups = problem.collective.groups();
  return groups.size() == 1 && groups.front().members.size() == problem.topology.npus();
}

TreeNetwork::TreeNetwork(const Instance& instance)
    : topology_(instance.topology), opposite_(opposite_links(topology_).value_or(std::vector<LinkId>())) {
  TENEX_EXPECTS(instance.collective.chunk_sizes().size() == 1, "chunks of one size");
  for (const LinkClass& each : topology_.classes())
    hops_.push_back(hop_time(each, instance.collective.chunk_sizes().front(), instance.occupancy));
  first_.resize(topology_.links() + 1);
  std::iota(first_.begin(), first_.end(), 0U);
  for (std::size_t link = 0; link < topology_.links(); ++link) links_.push_back(LinkId::at(link));
}

WayId TreeNetwork::way_over(std::span<const LinkId> links) {
  if (links.size() == 1) return WayId(links.front().value());
  const auto [found, is_new] =
      longer_.try_emplace(std::vector<LinkId>(links.begin(), links.end()), WayId::at(first_.size() - 1));
  if (is_new) {
    links_.insert(links_.end(), links.begin(), links.end());
    first_.push_back(static_cast<std::uint32_t>(links_.size()));
  }
  return found->second;
}

WayId TreeNetwork::opposite_way(WayId way) {
  std::vector<LinkId> back;
  for (const LinkId link : links(way)) back.push_back(opposite(link));
  std::reverse(back.begin(), back.end());
  return way_over(back);
}

SimTime TreeNetwork::latency(WayId way) const {
  SimTime time;
  for (const LinkId link : links(way)) time += hop(link).latency;
  return time;
}

std::vector<SimTime> idle_times(const TreeNetwork& network) {
  const Topology& topology = network.topology();
  std::vector<SimTime> from_npu(topology.vertices());
  std::fill(from_npu.begin() + static_cast<std::ptrdiff_t>(topology.npus()), from_npu.end(), SimTime::max());
  std::vector<SimTime> to_npu = from_npu;
  const auto lower = [](SimTime& time, SimTime before, SimTime latency) {
    if (before == SimTime::max() || before + latency >= time) return false;
    time = before + latency;
    return true;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < topology.links(); ++i) {
      const LinkId link = LinkId::at(i);
      const std::size_t source = topology.source(link).index();
      const std::size_t target = topology.target(link).index();
      const SimTime latency = network.hop(link).latency;
      changed = lower(from_npu[target], from_npu[source], latency) || changed;
      changed = lower(to_npu[source], to_npu[target], latency) || changed;
    }
  }
  std::vector<SimTime> idle;
  for (std::size_t i = 0; i < topology.links(); ++i) {
    const SimTime before = from_npu[topology.source(LinkId::at(i)).index()];
    const SimTime after = to_npu[topology.target(LinkId::at(i)).index()];
    idle.push_back(saturating_sum(before, after));
  }
  return idle;
}

std::optional<std::string> tree_network_unsuitable(const SynthesisProblem& problem) {
  const Topology& topology = problem.topology;
  const Collective& collective = problem.collective;
  if (!is_one_group_of_all(problem)) return "it needs one group of all NPUs";
  if (collective.chunk_sizes().size() != 1) return "it needs chunks of one size";
  if (topology.wires() != nullptr) return "it does not send over switches that cut through";
  for (std::size_t v = topology.npus(); v < topology.vertices(); ++v) {
    const SwitchProperties& properties = topology.switch_properties(VertexId::at(v));
    // A switch that reduces sends on all that it has, so each partial sum would need a way of its own. One that copies
    // may be sent a chunk as often as it shall send it on; under virtual cut-through it has the first one sooner.
    if (properties.reduce && reduces(collective.kind())) return "its sums do not pass switches that reduce";
    if (properties.copy && passes_on_early(topology, VertexId::at(v)))
      return "it does not use copies of virtual cut-through";
    if (properties.buffer != kUnlimitedBuffer) return "it does not keep to the buffers of switches";
  }
  return std::nullopt;
}

std::optional<std::pair<NpuId, NpuId>> find_unreachable_npus(const SynthesisProblem& problem) {
  const Topology& topology = problem.topology;
  const Collective& collective = problem.collective;
  const CollectiveKind kind = collective.kind();
  if (!is_one_group_of_all(problem)) return std::nullopt;
  const NpuId hub = owned_by_root(kind) ? collective.groups().front().members[collective.root()] : NpuId(0);
  for (const bool backward : {false, true}) {
    if (kind == (backward ? CollectiveKind::broadcast : CollectiveKind::reduce)) continue;
    std::vector<bool> reached(topology.vertices());
    std::vector<VertexId> open = {vertex_of(hub)};
    reached[hub.index()] = true;
    while (!open.empty()) {
      const VertexId vertex = open.back();
      open.pop_back();
      for (const LinkId link : backward ? topology.in_links(vertex) : topology.out_links(vertex)) {
        const VertexId next = backward ? topology.source(link) : topology.target(link);
        if (reached[next.index()]) continue;
        reached[next.index()] = true;
        open.push_back(next);
      }
    }
    for (std::size_t npu = 0; npu < topology.npus(); ++npu)
      if (!reached[npu]) return backward ? std::pair(NpuId::at(npu), hub) : std::pair(hub, NpuId::at(npu));
  }
  return std::nullopt;
}

}  // namespace tenex
