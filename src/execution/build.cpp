// The topology and the collective of a point, and the check of the topology's memory.
#include "tenex/execution/build.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tenex/design/point_collective.hpp"
#include "tenex/execution/sizes.hpp"
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

/// The topology whose switches have the properties that the point gives them.
Topology with_choice(Topology topology, const SwitchChoice& choice) {
  if (topology.switches() == 0 || choice == SwitchChoice{}) return topology;
  std::vector<SwitchProperties> switches;
  for (std::size_t i = 0; i < topology.switches(); ++i) {
    SwitchProperties properties = topology.switch_properties(VertexId::at(topology.npus() + i));
    if (choice.copy != SwitchAbility::as_built) properties.copy = choice.copy == SwitchAbility::yes;
    if (choice.reduce != SwitchAbility::as_built) properties.reduce = choice.reduce == SwitchAbility::yes;
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
  for (std::size_t v = topology.npus(); v < topology.vertices(); ++v)
    if (topology.switch_properties(VertexId::at(v)).forwarding == Forwarding::cut_through)
      return unsupported_error({}, "bandwidth that varies around a switch that cuts through", why,
                               "set forwarding = \"store_and_forward\", or remove the windows");
  return success();
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
    // Programs follow the shape's routes, so they keep the shape. Synthesizers would assume that the links of a
    // dimension are alike.
    if (find_synthesizer(point.algorithm) != nullptr) reduced = reduced->without_shape();
  }
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

std::optional<Topology> topology_for_bounds(const DesignPoint& point, const Topology& topology) {
  const Topology& network = physical_network(topology);
  const bool unlike = slows_links(point.collective().stragglers) && network.shape();
  if (network.varies()) return unlike ? network.without_windows().without_shape() : network.without_windows();
  return unlike ? std::optional(network.without_shape()) : std::nullopt;
}

std::vector<StartDelay> start_delays_of(const DesignPoint& point) {
  std::vector<StartDelay> delays;
  for (const auto& straggler : point.collective().stragglers)
    if (straggler.kind == Straggler::Kind::delay) delays.push_back({NpuId(straggler.first), straggler.delay});
  return delays;
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

}  // namespace tenex
