// Levels, clusters and families of a step setup.
#include "synthesis/tacos/exact/level_setup.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "synthesis/relays.hpp"
#include "synthesis/tacos/event_driven/cost_levels.hpp"
#include "tenex/base/diagnostic.hpp"

namespace tenex {
namespace {

constexpr std::uint32_t kUnnamed = std::numeric_limits<std::uint32_t>::max();

CostLevels find_levels(const SynthesisProblem& problem) {
  const auto& topology = problem.topology;
  std::vector<std::int64_t> of_class;
  for (const auto& link_class : topology.classes())
    of_class.push_back(hop_time(link_class, problem.collective.chunk_sizes()[0], problem.occupancy).latency.count());
  std::vector<std::int64_t> cost;
  cost.reserve(topology.links());
  for (std::size_t link = 0; link < topology.links(); ++link)
    cost.push_back(of_class[topology.class_of(LinkId::at(link))]);
  auto participants = find_participants(topology, problem.collective);
  ensure(static_cast<bool>(participants), "a refused gather is planned");
  return {topology, cost, *participants};
}

/// Numbers a level's clusters in order of NPUs.
void add_clusters(const CostLevels& levels, std::uint32_t level, LevelSetup& setup) {
  std::vector<std::uint32_t> number(setup.steps.npus(), kUnnamed);
  auto& cluster = setup.cluster.emplace_back(setup.steps.npus());
  auto& chunks = setup.chunks_in.emplace_back();
  for (std::size_t npu = 0; npu < setup.steps.npus(); ++npu) {
    auto& name = number[levels.cluster(level, npu)];
    if (name == kUnnamed) {
      name = static_cast<std::uint32_t>(chunks.size());
      chunks.push_back(setup.steps.chunks[npu]);
    }
    cluster[npu] = name;
  }
}

/// Groups NPUs by cluster of the highest level.
void set_families(LevelSetup& setup) {
  setup.order.resize(setup.steps.npus());
  std::iota(setup.order.begin(), setup.order.end(), 0U);
  setup.family_end.assign(setup.order.size(), 0);
  const auto family = [&](std::size_t place) {
    return setup.levels > 1 ? setup.cluster.back()[setup.order[place]] : static_cast<std::uint32_t>(setup.order[place]);
  };
  if (setup.levels > 1)
    std::stable_sort(setup.order.begin(), setup.order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return setup.cluster.back()[a] < setup.cluster.back()[b];
    });
  for (std::size_t begin = 0; begin < setup.order.size();) {
    std::size_t end = begin;
    while (end < setup.order.size() && family(end) == family(begin)) ++end;
    setup.family_end[begin] = static_cast<std::uint32_t>(end);
    begin = end;
  }
}

void set_ports(const CostLevels& levels, LevelSetup& setup) {
  std::vector<std::vector<std::uint32_t>> size_of;  // per level: NPUs of each cluster
  for (std::uint32_t level = 0; level < setup.levels; ++level) {
    auto& sizes = size_of.emplace_back(setup.chunks_in[level].size(), 0U);
    for (const std::uint32_t cluster : setup.cluster[level]) ++sizes[cluster];
  }
  auto& steps = setup.steps;
  for (std::size_t npu = 0; npu < steps.npus(); ++npu) {
    const auto begin = steps.ports.begin() + steps.port_begin[npu];
    const auto end = steps.ports.begin() + steps.port_begin[npu + 1];
    std::stable_sort(begin, end, [&](const StepPort& a, const StepPort& b) {
      return levels.level(a.link.value()) < levels.level(b.link.value());
    });
    for (auto port = begin; port != end; ++port) {
      const std::uint32_t level = levels.level(port->link.value());
      const bool alone = level == 0 || size_of[level][setup.cluster[level][npu]] == 1;
      port->level = static_cast<std::uint8_t>(alone ? 0 : level);
      port->shared_from = 1;
      while (port->shared_from < setup.levels &&
             setup.cluster[port->shared_from][npu] != setup.cluster[port->shared_from][port->source])
        ++port->shared_from;
    }
  }
}

/// The rows of the fastest lane that some NPU's in-links need together, at least.
std::int64_t least_rows(const StepSetup& steps) {
  double most = 0;
  for (std::size_t npu = 0; npu < steps.npus(); ++npu) {
    double rate = 0;
    for (std::size_t p = steps.port_begin[npu]; p < steps.port_begin[npu + 1]; ++p)
      rate += static_cast<double>(steps.lanes[0].period.count()) /
              static_cast<double>(steps.lanes[steps.ports[p].lane].period.count());
    if (rate > 0) most = std::max(most, (steps.chunks[npu] - steps.own[npu]) / rate);
  }
  return static_cast<std::int64_t>(most) + 1;
}

}  // namespace

LevelSetup make_level_setup(const SynthesisProblem& problem) {
  LevelSetup setup;
  setup.steps = make_step_setup(problem);
  const CostLevels levels = find_levels(problem);
  setup.levels = std::max<std::uint32_t>(1, levels.levels());
  setup.cluster.emplace_back();
  setup.chunks_in.emplace_back();
  for (std::uint32_t level = 1; level < setup.levels; ++level) add_clusters(levels, level, setup);
  set_families(setup);
  set_ports(levels, setup);
  setup.steps.least_rows = least_rows(setup.steps);
  return setup;
}

}  // namespace tenex
