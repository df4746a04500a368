// The topology and the collective of a point, and the checks of its memory and of its range of time.
#include "tenex/execution/build.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tenex/base/units.hpp"
#include "tenex/design/point_collective.hpp"
#include "tenex/execution/sizes.hpp"
#include "tenex/files/input_files.hpp"
#include "tenex/synthesis/synthesizer.hpp"
#include "tenex/topology/time_range.hpp"
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

std::vector<Slowdown> slowdowns_of(const Stragglers& stragglers) {
  using Kind = Straggler::Kind;
  std::vector<Slowdown> slowdowns;
  for (const auto& each : stragglers) {
    const VertexId first(each.first);
    const VertexId second(each.second);
    if (each.kind == Kind::npu) slowdowns.push_back({first, std::nullopt, each.thousandths});
    if (each.kind == Kind::link || each.kind == Kind::one_way) slowdowns.push_back({first, second, each.thousandths});
    if (each.kind == Kind::link) slowdowns.push_back({second, first, each.thousandths});
  }
  return slowdowns;
}

}  // namespace

std::uint32_t unwinding_degree(const DesignPoint& point, const Topology& topology) {
  return topology.switches() == 0 ? 0 : unwinding_degree(point);
}

Result<PointTopology> build_transformed_topology(const DesignPoint& point) {
  auto base = build_base(point.topology);
  if (!base) return base.errors();
  auto reduced = remove_pairs(*std::move(base), point.topology);
  if (!reduced) return reduced.errors();
  if (slows_links(point.collective().stragglers)) {
    reduced = slow_links(*reduced, slowdowns_of(point.collective().stragglers));
    if (!reduced) return reduced.errors();
    // Programs follow the shape's routes, so they keep the shape. Synthesizers would assume that the links of a
    // dimension are alike.
    if (find_synthesizer(point.algorithm) != nullptr) reduced = without_shape(*reduced);
  }
  const auto degree = unwinding_degree(point, *reduced);
  if (degree > 0) {
    reduced = unwind_switches(*reduced, degree);
    if (!reduced) return reduced.errors();
  }
  if (const auto gap = find_disconnected_pair(*reduced)) {
    return input_error({},
                       "the topology is disconnected: no path leads from vertex " + std::to_string(gap->first.value()) +
                           " to vertex " + std::to_string(gap->second.value()),
                       "every NPU must reach every other", "remove fewer links");
  }
  return PointTopology{*std::move(reduced), degree};
}

std::optional<Topology> topology_for_bounds(const DesignPoint& point, const Topology& topology) {
  if (!slows_links(point.collective().stragglers) || !topology.shape()) return std::nullopt;
  return without_shape(topology);
}

std::vector<StartDelay> start_delays_of(const DesignPoint& point) {
  std::vector<StartDelay> delays;
  for (const auto& straggler : point.collective().stragglers)
    if (straggler.kind == Straggler::Kind::delay) delays.push_back({NpuId(straggler.first), straggler.delay});
  return delays;
}

Status check_topology_memory(const DesignPoint& point, std::size_t limit_bytes) {
  const auto needed = planned_topology_bytes(point);
  if (needed <= limit_bytes) return success();
  return resource_error(fmt::format("the topology needs {} bytes", needed),
                        fmt::format("the limit is {} bytes", limit_bytes),
                        "raise the limit or run it on a larger host");
}

Status check_time_range(const DesignPoint& point, const Topology& topology, const Collective& collective) {
  const auto hop = slowest_hop(topology, collective.chunk_sizes());
  const auto hops = serialised_hops(point, sizes_of_built(topology, collective));
  if (fits_time_range(hop, hops)) return success();
  const auto slowest = std::ranges::min(topology.classes(), {}, &LinkClass::effective_bandwidth);
  const auto latest = std::ranges::max(topology.classes(), {}, &LinkClass::alpha);
  const double days = static_cast<double>(hop.count()) * hops / 86'400e12;
  return input_error(
      {},
      fmt::format("a size of {} may take {:.0f} days of simulated time with links of {} and {} alpha",
                  to_string(point.collective().size), days, to_string(slowest.effective_bandwidth()),
                  to_string(latest.alpha)),
      fmt::format("{:.0f} hops of up to {} may follow one another, and times of up to 26 days are computed", hops,
                  to_rounded(hop)),
      "use a smaller size, faster links or a smaller alpha");
}

Result<Topology> build_point_topology(const DesignPoint& point, std::size_t memory_limit_bytes) {
  if (auto fits = check_topology_memory(point, memory_limit_bytes); !fits) return fits.errors();
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
