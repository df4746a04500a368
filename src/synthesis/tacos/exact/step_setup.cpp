#include "synthesis/tacos/exact/step_setup.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "synthesis/relays.hpp"

namespace tenex {
namespace {

constexpr std::size_t kMostLanes = 64;
constexpr std::int64_t kMostStepsUnderWay = 1024;  ///< if arrivals are further behind their starts, tiles are useless
constexpr std::size_t kMostPortsPerNpu = 4096;

/// A link class and a chunk size class.
using LaneKey = std::pair<std::uint16_t, std::size_t>;

struct KeyedLane {
  LaneKey key;
  StepLane lane;
};

/// All pairs of a class and a size, the shortest period first.
std::vector<KeyedLane> lanes_of(const SynthesisProblem& problem) {
  const auto& sizes = problem.collective.chunk_sizes();
  std::vector<KeyedLane> lanes;
  for (std::size_t link_class = 0; link_class < problem.topology.classes().size(); ++link_class)
    for (std::size_t size = 0; size < sizes.size(); ++size) {
      const HopTime hop = hop_time(problem.topology.classes()[link_class], sizes[size], problem.occupancy);
      lanes.push_back({{static_cast<std::uint16_t>(link_class), size}, {hop.busy, hop.latency, 0, SimTime()}});
    }
  std::stable_sort(lanes.begin(), lanes.end(), [](const auto& a, const auto& b) {
    return std::tie(a.lane.period, a.lane.latency) < std::tie(b.lane.period, b.lane.latency);
  });
  SimTime first_arrival = SimTime::max();
  for (const auto& [key, lane] : lanes) first_arrival = std::min(first_arrival, lane.latency);
  for (auto& [key, lane] : lanes) {
    const SimTime own = lane.period * problem.collective.chunks_per_npu();
    lane.early_rows = problem.collective.chunks_per_npu();
    lane.late = std::max(SimTime::zero(), first_arrival - own);
  }
  return lanes;
}

}  // namespace

std::string step_refusal(const SynthesisProblem& problem) {
  if (problem.collective.kind() != CollectiveKind::all_gather)
    return "it makes only All-Gathers and collectives composed of them";
  if (!problem.topology.direct()) return "the topology has switches; unwind them";
  const std::size_t pairs = problem.topology.classes().size() * problem.collective.chunk_sizes().size();
  if (pairs > kMostLanes)
    return fmt::format("there are {} pairs of a link class and a chunk size, and a grid of steps takes at most {}",
                       pairs, kMostLanes);
  const auto lanes = lanes_of(problem);
  for (const auto& [key, lane] : lanes)
    if (saturating_sum(lane.latency, lane.late) / lanes.front().lane.period >= kMostStepsUnderWay)
      return fmt::format("a hop takes longer than {} of the shortest steps", kMostStepsUnderWay);
  for (std::size_t npu = 0; npu < problem.topology.npus(); ++npu)
    if (problem.topology.in_links(VertexId::at(npu)).size() > kMostPortsPerNpu)
      return fmt::format("NPU {} has more than {} in-links", npu, kMostPortsPerNpu);
  const auto participants = find_participants(problem.topology, problem.collective);
  if (!participants) return to_string(participants.errors());
  if (any_relays(*participants))
    return "some process group is not connected by itself and needs NPUs outside it as relays";
  return {};
}

StepSetup make_step_setup(const SynthesisProblem& problem) {
  StepSetup setup;
  std::map<LaneKey, std::uint8_t> lane_of;
  for (const auto& [key, lane] : lanes_of(problem)) {
    lane_of[key] = static_cast<std::uint8_t>(setup.lanes.size());
    setup.lanes.push_back(lane);
  }
  setup.port_begin.push_back(0);
  for (std::size_t npu = 0; npu < problem.topology.npus(); ++npu) {
    const GroupId group = problem.collective.group_of(NpuId::at(npu));
    const std::size_t first_port = setup.ports.size();
    setup.first_chunk.push_back(group.exists() ? problem.collective.first_chunk(group).value() : 0);
    setup.chunks.push_back(group.exists() ? static_cast<std::uint32_t>(problem.collective.chunks_in(group)) : 0);
    setup.own.push_back(group.exists() ? static_cast<std::uint32_t>(problem.collective.chunks_per_npu()) : 0);
    setup.rank.push_back(group.exists() ? problem.collective.rank_of(NpuId::at(npu)) : 0);
    if (group.exists())
      for (const LinkId link : problem.topology.in_links(VertexId::at(npu))) {
        const VertexId source = problem.topology.source(link);
        if (problem.collective.group_of(npu_of(source)) != group) continue;
        const std::size_t size = problem.collective.size_class(problem.collective.first_chunk(group));
        setup.ports.push_back({link, source.value(), lane_of.at({problem.topology.class_of(link), size}), 0, 1});
      }
    const auto ports = static_cast<std::int64_t>(setup.ports.size() - first_port);
    const std::int64_t needed = setup.chunks.back() - setup.own.back();
    if (ports > 0) setup.least_rows = std::max(setup.least_rows, ceil_div(needed, ports));
    setup.deliveries += static_cast<std::uint64_t>(needed);
    setup.widest_group = std::max(setup.widest_group, setup.chunks.back());
    setup.port_begin.push_back(static_cast<std::uint32_t>(setup.ports.size()));
  }
  return setup;
}

}  // namespace tenex
