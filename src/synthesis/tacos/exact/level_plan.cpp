// Levels, clusters and families of a step plan.
#include "synthesis/tacos/exact/level_plan.hpp"

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
void add_clusters(const CostLevels& levels, std::uint32_t level, LevelPlan& plan) {
  std::vector<std::uint32_t> number(plan.steps.npus(), kUnnamed);
  auto& cluster = plan.cluster.emplace_back(plan.steps.npus());
  auto& chunks = plan.chunks_in.emplace_back();
  for (std::size_t npu = 0; npu < plan.steps.npus(); ++npu) {
    auto& name = number[levels.cluster(level, npu)];
    if (name == kUnnamed) {
      name = static_cast<std::uint32_t>(chunks.size());
      chunks.push_back(plan.steps.chunks[npu]);
    }
    cluster[npu] = name;
  }
}

/// Groups NPUs by cluster of the highest level.
void set_families(LevelPlan& plan) {
  plan.order.resize(plan.steps.npus());
  std::iota(plan.order.begin(), plan.order.end(), 0U);
  plan.family_end.assign(plan.order.size(), 0);
  const auto family = [&](std::size_t place) {
    return plan.levels > 1 ? plan.cluster.back()[plan.order[place]] : static_cast<std::uint32_t>(plan.order[place]);
  };
  if (plan.levels > 1)
    std::stable_sort(plan.order.begin(), plan.order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return plan.cluster.back()[a] < plan.cluster.back()[b]; });
  for (std::size_t begin = 0; begin < plan.order.size();) {
    std::size_t end = begin;
    while (end < plan.order.size() && family(end) == family(begin)) ++end;
    plan.family_end[begin] = static_cast<std::uint32_t>(end);
    begin = end;
  }
}

void set_ports(const CostLevels& levels, LevelPlan& plan) {
  std::vector<std::vector<std::uint32_t>> size_of;  // per level: NPUs of each cluster
  for (std::uint32_t level = 0; level < plan.levels; ++level) {
    auto& sizes = size_of.emplace_back(plan.chunks_in[level].size(), 0U);
    for (const std::uint32_t cluster : plan.cluster[level]) ++sizes[cluster];
  }
  auto& steps = plan.steps;
  for (std::size_t npu = 0; npu < steps.npus(); ++npu) {
    const auto begin = steps.ports.begin() + steps.port_begin[npu];
    const auto end = steps.ports.begin() + steps.port_begin[npu + 1];
    std::stable_sort(begin, end, [&](const StepPort& a, const StepPort& b) {
      return levels.level(a.link.value()) < levels.level(b.link.value());
    });
    for (auto port = begin; port != end; ++port) {
      const std::uint32_t level = levels.level(port->link.value());
      const bool alone = level == 0 || size_of[level][plan.cluster[level][npu]] == 1;
      plan.port_level.push_back(static_cast<std::uint8_t>(alone ? 0 : level));
      std::uint32_t shared = 1;
      while (shared < plan.levels && plan.cluster[shared][npu] != plan.cluster[shared][port->source]) ++shared;
      plan.shared_from.push_back(static_cast<std::uint8_t>(shared));
    }
  }
}

/// The rows of the fastest lane that some NPU's in-links need together, at least.
std::int64_t least_rows(const StepPlan& steps) {
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

LevelPlan make_level_plan(const SynthesisProblem& problem) {
  LevelPlan plan;
  plan.steps = make_step_plan(problem);
  const CostLevels levels = find_levels(problem);
  plan.levels = std::max<std::uint32_t>(1, levels.levels());
  plan.cluster.emplace_back();
  plan.chunks_in.emplace_back();
  for (std::uint32_t level = 1; level < plan.levels; ++level) add_clusters(levels, level, plan);
  set_families(plan);
  set_ports(levels, plan);
  plan.least_rows = least_rows(plan.steps);
  return plan;
}

}  // namespace tenex
