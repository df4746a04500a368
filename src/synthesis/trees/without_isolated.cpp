#include "synthesis/trees/without_isolated.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "tenex/topology/distance.hpp"
#include "tenex/topology/transform.hpp"

namespace tenex {

namespace {

/// The vertices that stay, by their new ids: all switches, and the NPUs with links.
std::vector<VertexId> vertices_with_links(const Topology& topology) {
  std::vector<VertexId> kept;
  for (std::size_t v = 0; v < topology.vertices(); ++v)
    if (v >= topology.npus() || !is_isolated(topology, VertexId::at(v))) kept.push_back(VertexId::at(v));
  return kept;
}

/// The collective of one group whose members have other names.
Collective renamed(const Collective& collective, std::size_t npus, const std::vector<VertexId>& name) {
  auto groups = collective.groups();
  for (NpuId& member : groups.front().members) member = NpuId(name[member.index()].value());
  return Collective::make({collective.kind(), npus, std::move(groups), collective.chunks_per_npu(), collective.size(),
                           collective.root()})
      .value();
}

}  // namespace

WithoutIsolated::WithoutIsolated(const SynthesisProblem& given) : given_(given) {
  const Topology& topology = given.topology;
  const Collective& collective = given.collective;
  const bool plain = topology.wires() == nullptr && !topology.varies() && !stores_conditions(collective.kind());
  if (!plain || collective.groups().size() != 1) return;
  if (collective.groups().front().members.size() == topology.npus()) return;
  const auto kept = vertices_with_links(topology);
  if (kept.size() == topology.vertices()) return;
  std::vector<VertexId> name(topology.vertices(), VertexId::none());
  for (std::size_t v = 0; v < kept.size(); ++v) name[kept[v].index()] = VertexId::at(v);
  const auto has_name = [&](NpuId npu) { return name[npu.index()].exists(); };
  if (!std::ranges::all_of(collective.groups().front().members, has_name)) return;
  auto without = keep_vertices(topology, kept);
  auto of_rest = renamed(collective, without.npus(), name);
  auto smaller = std::make_unique<Smaller>(std::move(without), std::move(of_rest), given);
  smaller->problem.memory_limit_bytes = given.memory_limit_bytes;
  smaller->problem.solver_progress = given.solver_progress;
  for (const StartDelay& delay : given.start_delays)
    if (has_name(delay.npu))
      smaller->problem.start_delays.push_back({NpuId(name[delay.npu.index()].value()), delay.time});
  kept_ = kept;
  smaller_ = std::move(smaller);
}

}  // namespace tenex
