// The topology and the collective of a point, found in the cache or built, and the topology's memory.
#include "tenex/execution/build.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tenex/design/point_collective.hpp"
#include "tenex/execution/algorithm_table.hpp"
#include "tenex/execution/execution_cache.hpp"
#include "tenex/execution/prepared_point.hpp"
#include "tenex/files/input_files.hpp"
#include "tenex/synthesis/synthesizer.hpp"
#include "tenex/topology/faults.hpp"
#include "tenex/topology/slow_windows.hpp"
#include "tenex/topology/transform.hpp"
#include "tenex/topology/wires.hpp"

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

/// Whether a point's abilities are said of each switch. Those of a product follow each other dimension by dimension.
std::vector<bool> able_switches(const Topology& topology, const SwitchChoice& choice) {
  if (choice.able_dimensions.empty()) return std::vector<bool>(topology.switches(), true);
  std::vector<bool> able;
  const Shape& shape = *topology.shape();
  for (std::size_t d = 0; d < shape.dimensions(); ++d) {
    const Block& block = shape.blocks[d];
    const std::size_t lines = shape.npus() / block.size;
    able.insert(able.end(), count_shape(Shape{{block}}).switches * lines, choice.able_dimensions[d]);
  }
  ensure(able.size() == topology.switches(), "a product has the switches of its dimensions");
  return able;
}

/// The topology whose switches have the properties that the point gives them.
Topology with_choice(Topology topology, const SwitchChoice& choice) {
  if (topology.switches() == 0 || choice == SwitchChoice{}) return topology;
  const auto able = able_switches(topology, choice);
  std::vector<SwitchProperties> switches;
  for (std::size_t i = 0; i < topology.switches(); ++i) {
    SwitchProperties properties = topology.switch_properties(VertexId::at(topology.npus() + i));
    if (able[i] && choice.copy != SwitchAbility::as_built) properties.copy = choice.copy == SwitchAbility::yes;
    if (able[i] && choice.reduce != SwitchAbility::as_built) properties.reduce = choice.reduce == SwitchAbility::yes;
    properties.forwarding = forwarding_of(choice.forwarding).value_or(properties.forwarding);
    properties.buffer = choice.buffer.chunks.value_or(properties.buffer);
    switches.push_back(properties);
  }
  return topology.with_switches(std::move(switches));
}

/// The network before slow links, faults and unwinding.
Result<Topology> build_reduced(const TopologyChoice& choice) {
  auto base = build_base(choice);
  if (!base) return base;
  return remove_pairs(with_choice(*std::move(base), choice.switches), choice);
}

/// Elements are named in the network as it was built.
Result<NetworkFaults> resolved_faults(const TopologyChoice& choice) {
  if (std::ranges::none_of(choice.faults, &NetworkFault::is_named)) return choice.faults;
  const auto base = build_base(choice);
  if (!base) return base.errors();
  return resolve_elements(*base, choice.faults);
}

/// Errors (unsupported): the point would make links out of links whose bandwidth varies.
Status check_no_passing(const DesignPoint& point, const Topology& topology) {
  const char* const why = "a send over several links at once would be slow in the windows of each";
  if (topology.switches() > 0 && unwinding_degree(point) > 0)
    return unsupported_error({}, "bandwidth that varies where switches are unwound", why,
                             "set unwind = 0 with an algorithm that keeps switches, or remove the windows");
  if (any_cuts_through(topology))
    return unsupported_error({}, "bandwidth that varies around a switch that cuts through", why,
                             "set forwarding = \"store_and_forward\", or remove the windows");
  return success();
}

/// The network whose NPUs take a time for each message. Errors (unsupported): a send may take several links at once.
Result<Topology> with_point_overhead(const Topology& topology, SimTime overhead) {
  if (any_cuts_through(topology))
    return unsupported_error({}, "an overhead around a switch that cuts through",
                             "a send takes several links at once there",
                             "set forwarding = \"virtual_cut_through\" or \"store_and_forward\"");
  return with_overhead(topology, overhead);
}

/// The network that the point's synthesizer schedules in place of one with switches. Errors (unsupported): it leaves a
/// link no bandwidth.
Result<std::shared_ptr<const UnwoundNetwork>> unwound_for_synthesis(const DesignPoint& point,
                                                                    const Topology& topology) {
  if (topology.switches() == 0 || !plays_on_switches(point)) return std::shared_ptr<const UnwoundNetwork>();
  auto unwound = unwind_with_origins(topology, unwinding_degree(point), slowdowns_of(point.collective().stragglers));
  if (unwound) return std::shared_ptr<const UnwoundNetwork>(std::make_shared<UnwoundNetwork>(*std::move(unwound)));
  auto errors = unwound.errors();
  for (Diagnostic& error : errors) error.fault = Fault::unsupported;  // the point's own network is sound
  return errors;
}

}  // namespace

bool has_unlike_links(const DesignPoint& point, const Topology& network) {
  return slows_links(point.collective().stragglers) ||
         (point.topology.overhead > SimTime::zero() && network.switches() > 0);
}

DesignPoint with_switches_kept(DesignPoint point) {
  point.algorithm.clear();
  point.topology.unwind = 0;
  point.collective().overlap = true;
  return point;
}

Result<PointTopology> build_transformed_topology(const DesignPoint& point) {
  auto reduced = build_reduced(point.topology);
  if (!reduced) return reduced.errors();
  if (slows_links(point.collective().stragglers)) {
    reduced = slow_links(*reduced, slowdowns_of(point.collective().stragglers));
    if (!reduced) return reduced.errors();
  }
  if (point.topology.overhead > SimTime::zero()) {
    reduced = with_point_overhead(*reduced, point.topology.overhead);
    if (!reduced) return reduced.errors();
  }
  // Programs follow the shape's routes, so they keep the shape. Synthesizers would assume that the links of a dimension
  // are alike.
  if (has_unlike_links(point, *reduced) && find_synthesizer(point.algorithm) != nullptr)
    reduced = reduced->without_shape();
  if (const auto windows = windows_of(point.collective().stragglers); !windows.empty()) {
    if (auto plain = check_no_passing(point, *reduced); !plain) return plain.errors();
    reduced = with_slow_windows(*reduced, windows);
    if (!reduced) return reduced.errors();
  }
  // Slow links came first: a straggler may name a link that is drawn to fail.
  std::size_t failed_links = 0;
  if (!point.topology.faults.empty()) {
    const auto faults = resolved_faults(point.topology);
    if (!faults) return faults.errors();
    auto faulty = with_faults(*reduced, *faults, point.seed);
    if (!faulty) return faulty.errors();
    failed_links = faulty->failed_links;
    reduced = std::move(faulty->topology);
  }
  const auto degree = reduced->switches() > 0 ? point.topology.unwind : 0;
  if (degree > 0) {
    reduced = unwind_switches(*reduced, degree, slowdowns_of(point.collective().stragglers));
    if (!reduced) return reduced.errors();
  }
  if (const auto gap = find_disconnected_pair(*reduced); gap && point.topology.faults.empty()) {
    return input_error({},
                       "the topology is disconnected: no path leads from vertex " + std::to_string(gap->first.value()) +
                           " to vertex " + std::to_string(gap->second.value()),
                       "every NPU must reach every other", "remove fewer links");
  }
  auto for_synthesis = unwound_for_synthesis(point, *reduced);
  if (!for_synthesis) return for_synthesis.errors();
  auto wired = wires_of(*reduced);
  if (!wired) return wired.errors();
  return PointTopology{*std::move(wired), degree, failed_links, *std::move(for_synthesis)};
}

Status check_faults(const DesignPoint& point) {
  const auto reduced = build_reduced(point.topology);
  if (!reduced) return reduced.errors();
  const auto faults = resolved_faults(point.topology);
  if (!faults) return faults.errors();
  Diagnostics errors;
  for (const NetworkFault& fault : *faults)
    if (auto error = refuse_fault(*reduced, fault)) errors.push_back(*std::move(error));
  return errors.empty() ? success() : Status(std::move(errors));
}

std::uint64_t planned_topology_bytes(const DesignPoint& point) {
  const auto& choice = point.topology;
  if (choice.machine_file.empty()) {
    const bool plain =
        choice.without.empty() && choice.faults.empty() && (point.trains() || point.collective().stragglers.empty());
    const auto copies = plain ? 1 : 2;
    auto links = static_cast<std::uint64_t>(copies) * topology_bytes(choice.shape, choice.unwind);
    if (plays_on_switches(point)) links += topology_bytes(choice.shape, unwinding_degree(point));
    return has_wires(point) ? links + wire_bytes(choice.shape.npus(), count_wires(choice.shape)) : links;
  }
  // Syntax tree, checked links and topology: a link takes 8 characters at least.
  constexpr std::uint64_t kBytesPerCharacter = 64;
  return choice.machine_content.view().size() * kBytesPerCharacter + topology_bytes({choice.machine_npus, 0, 0});
}

std::shared_ptr<const Result<PointTopology>> find_topology(const DesignPoint& point, const std::string& key,
                                                           ExecutionCache& cache) {
  return cache.topologies.get(
      key, [&] { return build_transformed_topology(point); },
      [](const Result<PointTopology>& value) {
        const auto bytes_of = [](const Topology& topology) { return 64 * (topology.links() + topology.vertices()); };
        if (!value) return std::size_t{256};
        return bytes_of(value->topology) + (value->for_synthesis ? bytes_of(value->for_synthesis->topology) : 0);
      });
}

std::shared_ptr<const Result<PointTopology>> find_topology_within(const DesignPoint& point,
                                                                  std::size_t memory_limit_bytes,
                                                                  ExecutionCache& cache) {
  const auto fits = check_memory(planned_topology_bytes(point), memory_limit_bytes, "the topology");
  if (!fits) return std::make_shared<const Result<PointTopology>>(fits.errors());
  return find_topology(point, cache_key(point, kOfNetwork), cache);
}

Result<Topology> build_point_topology(const DesignPoint& point, std::size_t memory_limit_bytes) {
  if (auto fits = check_memory(planned_topology_bytes(point), memory_limit_bytes, "the topology"); !fits)
    return fits.errors();
  auto built = build_transformed_topology(point);
  if (!built) return built.errors();
  return std::move(built->topology);
}

Result<Collective> build_point_collective(const DesignPoint& point, std::size_t npus) {
  auto request = collective_request(point, npus);
  if (!request) return request.errors();
  return Collective::make(*std::move(request));
}

Result<PointParts> build_parts(const DesignPoint& point, const std::string& network_key, std::size_t memory_limit_bytes,
                               ExecutionCache& cache, std::uint64_t* topology_bytes) {
  const auto bytes = planned_topology_bytes(point);
  if (topology_bytes != nullptr) *topology_bytes = bytes;
  if (auto fits = check_memory(bytes, memory_limit_bytes, "the topology"); !fits) return fits.errors();
  const auto network = find_topology(point, network_key, cache);
  if (!*network) return network->errors();
  auto collective = build_point_collective(point, (*network)->topology.npus());
  if (!collective) return collective.errors();
  return PointParts{{network, &**network}, std::make_shared<const Collective>(*std::move(collective)), bytes};
}

}  // namespace tenex
