// From a design point's words to its topology and collective.
#include "build.hpp"

#include <utility>
#include <vector>

#include "tenex/algorithm/algorithm.hpp"
#include "tenex/evaluate/evaluate.hpp"
#include "tenex/files/machine_file.hpp"
#include "tenex/synthesis/synthesizer.hpp"
#include "tenex/topology/transform.hpp"

namespace tenex {
namespace {

Result<Topology> build_base(const TopologyChoice& choice) {
  if (choice.machine_file.empty()) return build_topology(choice.shape, choice.links);
  auto machine = parse_machine(choice.machine_content, choice.machine_file);
  if (!machine) return machine.errors();
  return std::move(machine->topology);
}

Result<Topology> remove_pairs(Topology topology, const TopologyChoice& choice) {
  if (choice.without.empty()) return topology;
  std::vector<std::pair<VertexId, VertexId>> pairs;
  for (const auto& [a, b] : choice.without) pairs.emplace_back(VertexId(a), VertexId(b));
  return remove_links(topology, pairs);
}

}  // namespace

std::uint32_t unwinding_degree(const DesignPoint& point, const Topology& topology) {
  if (topology.switches() == 0) return 0;
  if (point.topology.unwind > 0) return point.topology.unwind;
  // A synthesizer schedules NPU-to-NPU links only (001, IV-G); degree 1 suits bandwidth-critical collectives.
  return find_synthesizer(point.algorithm) != nullptr ? 1 : 0;
}

Result<PointTopology> build_transformed_topology(const DesignPoint& point) {
  auto base = build_base(point.topology);
  if (!base) return base.errors();
  auto reduced = remove_pairs(*std::move(base), point.topology);
  if (!reduced) return reduced.errors();
  const auto degree = unwinding_degree(point, *reduced);
  if (degree > 0) {
    reduced = unwind_switches(*reduced, degree);
    if (!reduced) return reduced.errors();
  }
  if (const auto gap = find_disconnected_pair(*reduced)) {
    return input_error({}, "the topology is disconnected: no path leads from vertex " +
                               std::to_string(gap->first.value()) + " to vertex " +
                               std::to_string(gap->second.value()),
                       "every NPU must reach every other", "remove fewer links");
  }
  return PointTopology{*std::move(reduced), degree};
}

Result<Topology> build_point_topology(const DesignPoint& point) {
  auto built = build_transformed_topology(point);
  if (!built) return built.errors();
  return std::move(built->topology);
}

Result<Collective> build_point_collective(const DesignPoint& point, std::size_t npus) {
  auto groups = parse_groups(point.groups, npus, {"groups", 0, 0});
  if (!groups) return groups.errors();
  return Collective::make({point.collective, npus, *std::move(groups), point.chunks, point.size, point.root});
}

Vocabulary vocabulary() {
  Vocabulary words;
  for (const auto& algorithm : algorithms()) {
    words.algorithms.emplace_back(algorithm.name);
    words.collectives.emplace(algorithm.name, algorithm.collectives);
  }
  for (const auto& synthesizer : synthesizers()) words.synthesizers.emplace_back(synthesizer.name);
  words.engines.clear();
  for (const auto choice : {EngineChoice::automatic, EngineChoice::event_driven, EngineChoice::exact,
                            EngineChoice::coarse, EngineChoice::symmetric})
    words.engines.emplace_back(to_string(choice));
  words.inspect_machine = [](std::string_view content, const std::string& file) -> Result<MachineFacts> {
    const auto machine = parse_machine(content, file);
    if (!machine) return machine.errors();
    return MachineFacts{machine->topology.npus(), machine->topology.switches()};
  };
  return words;
}

}  // namespace tenex
