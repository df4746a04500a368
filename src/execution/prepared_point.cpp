// The preparation of a point, and the one place that decides whether it may run.
#include "tenex/execution/prepared_point.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tenex/algorithm/algorithm.hpp"
#include "tenex/base/units.hpp"
#include "tenex/execution/algorithm_table.hpp"
#include "tenex/execution/execution_cache.hpp"
#include "tenex/simulation/simulator.hpp"
#include "tenex/topology/faults.hpp"
#include "tenex/topology/time_range.hpp"

namespace tenex {
namespace {

Status check_flow_control(const PreparedPoint& prepared) {
  const bool simulated =
      is_program(prepared.point) && prepared.point.collective().backend != Backend::congestion_unaware;
  return simulated || prepared.unwound() != nullptr ? check_buffers(prepared.topology()) : success();
}

PreparedPoint assemble(const DesignPoint& point, PointParts built, std::string key) {
  const auto* synthesizer = find_synthesizer(point.algorithm);
  PreparedPoint prepared{
      point, synthesizer, std::move(built.network), std::move(built.collective), start_delays_of(point), {}};
  prepared.sizes = sizes_of_built(point, prepared.topology_of_algorithm(), prepared.topology(), *prepared.collective);
  prepared.topology_bytes = built.topology_bytes;
  prepared.network_key = std::move(key);
  return prepared;
}

}  // namespace

SynthesisProblem PreparedPoint::problem(std::size_t memory_limit_bytes) const {
  SynthesisProblem asked{{topology_of_algorithm(), *collective, point.occupancy}, point};
  asked.memory_limit_bytes = memory_limit_bytes;
  asked.start_delays = start_delays;
  return asked;
}

std::vector<StartDelay> start_delays_of(const DesignPoint& point) {
  std::vector<StartDelay> delays;
  for (const auto& straggler : point.collective().stragglers)
    if (straggler.kind == Straggler::Kind::delay) delays.push_back({NpuId(straggler.first), straggler.delay});
  return delays;
}

Result<PreparedPoint> prepare(const DesignPoint& point, std::size_t memory_limit_bytes, ExecutionCache& cache,
                              std::uint64_t* topology_bytes) {
  auto key = cache_key(point, kOfNetwork);
  auto built = build_parts(point, key, memory_limit_bytes, cache, topology_bytes);
  if (!built) return built.errors();
  return assemble(point, *std::move(built), std::move(key));
}

PreparedPoint prepare_with(const DesignPoint& point, std::shared_ptr<const PointTopology> network,
                           std::shared_ptr<const Collective> collective) {
  return assemble(point, {std::move(network), std::move(collective), planned_topology_bytes(point)},
                  cache_key(point, kOfNetwork));
}

Status check_memory(std::uint64_t bytes, std::size_t limit_bytes, std::string_view who) {
  if (bytes <= limit_bytes) return success();
  return resource_error(fmt::format("{} needs {} bytes", who, bytes), fmt::format("the limit is {} bytes", limit_bytes),
                        "raise the limit or run it on a larger host");
}

Status check_reach(const PreparedPoint& prepared) {
  if (prepared.point.topology.faults.empty()) return success();
  for (const ProcessGroup& group : prepared.collective->groups()) {
    const auto cut = find_cut_between(prepared.topology(), group.members);
    if (!cut) continue;
    return input_error({}, fmt::format("the faults leave no path from {} to {}", few_of(cut->from), few_of(cut->to)),
                       fmt::format("{} directed links failed, and every NPU of a group must reach every other",
                                   prepared.network->failed_links),
                       "fewer faults, or another draw, may leave one");
  }
  return success();
}

Status check_time_range(const PreparedPoint& prepared) {
  const auto& topology = prepared.topology_of_algorithm();
  const auto hop = slowest_hop(topology, prepared.collective->chunk_sizes());
  const auto hops = prepared.sizes.serialised_hops;
  if (fits_time_range(hop, hops)) return success();
  const auto slowest = std::ranges::min(topology.classes(), {}, &LinkClass::effective_bandwidth);
  const auto latest = std::ranges::max(topology.classes(), {}, &LinkClass::alpha);
  const double days = static_cast<double>(hop.count()) * hops / 86'400e12;
  return input_error(
      {},
      fmt::format("a size of {} may take {:.0f} days of simulated time with links of {} and {} alpha",
                  to_string(prepared.point.collective().size), days, to_string(slowest.effective_bandwidth()),
                  to_string(latest.alpha)),
      fmt::format("{:.0f} hops of up to {} may follow one another, and times of up to 26 days are computed", hops,
                  to_rounded(hop)),
      "use a smaller size, faster links or a smaller alpha");
}

namespace {

/// What a run and a plan refuse alike: first what the row says first.
Status check_network(const PreparedPoint& prepared) {
  if (auto flows = check_flow_control(prepared); !flows) return flows;
  return check_reach(prepared);
}

}  // namespace

Status check_point(const PreparedPoint& prepared) {
  auto network = check_network(prepared);
  return network ? check_time_range(prepared) : network;
}

Status check_support(const PreparedPoint& prepared) {
  const auto& point = prepared.point;
  const auto& runs = point.collective();
  if (auto network = check_network(prepared); !network) return network;
  if (runs.kind == CollectiveKind::all_reduce && !runs.overlap && !point.reads.phases)
    return no_halves(point.algorithm);
  const auto* algorithm = find_algorithm(point.algorithm);
  return algorithm == nullptr ? success() : check_fits(*algorithm, prepared.topology(), *prepared.collective);
}

}  // namespace tenex
