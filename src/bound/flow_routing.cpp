// Loads are those of the larger of the counts of journeys.hpp: a subgradient of what weights prove.
#include "bound/flow_routing.hpp"

#include <algorithm>
#include <limits>
#include <span>

#include "bound/sized_needs.hpp"

namespace tenex {

namespace {

/// The least weight of some links; infinite where there is none.
double lightest_of(std::span<const LinkId> links, const std::vector<double>& weights) {
  double least = std::numeric_limits<double>::infinity();
  for (const auto link : links) least = std::min(least, weights[link.index()]);
  return least;
}

/// Spreads an amount over the links that are about as light as the lightest.
void spread(std::span<const LinkId> links, double amount, const std::vector<double>& weights,
            std::vector<double>& load) {
  constexpr double kAsLight = 1 + 1e-9;
  const double most = lightest_of(links, weights) * kAsLight;
  const auto is_light = [&](LinkId link) { return weights[link.index()] <= most; };
  const auto count = std::ranges::count_if(links, is_light);
  for (const auto link : links)
    if (is_light(link)) load[link.index()] += amount / static_cast<double>(count);
}

}  // namespace

FlowRouting::FlowRouting(const BoundProblem& problem)
    : topology_(problem.topology),
      collective_(problem.collective),
      starts_(journey_starts(problem.collective)),
      ends_(problem.topology.npus()) {
  for (const auto size : collective_.chunk_sizes()) largest_ = std::max(largest_, static_cast<double>(size.count()));
  for (std::size_t g = 0; g < collective_.groups().size(); ++g) add_ends(GroupId::at(g));
}

double FlowRouting::amount_of(GroupId group) const {
  if (is_classic(collective_)) return 1;
  return static_cast<double>(collective_.chunks_per_npu(group)) *
         static_cast<double>(collective_.chunk_sizes()[collective_.size_class(group)].count()) / largest_;
}

void FlowRouting::add_ends(GroupId group) {
  const auto kind = collective_.kind(group);
  const auto& members = collective_.groups()[group.index()].members;
  const double each = amount_of(group);
  const auto count = static_cast<double>(members.size());
  for (std::size_t rank = 0; rank < members.size(); ++rank) {
    auto& [in, out] = ends_[members[rank].index()];
    const bool root = rank == collective_.root(group);
    if (kind == CollectiveKind::all_gather) in += each * (count - 1);
    if (kind == CollectiveKind::reduce_scatter) out += each * (count - 1);
    if (kind == CollectiveKind::broadcast && !root) in += each;
    if (kind == CollectiveKind::reduce && !root) out += each;
    if (kind == CollectiveKind::all_reduce) {  // about: which NPU does not count depends on the weights
      in += each * (count - 1);
      out += each * (count - 1);
    }
  }
}

void FlowRouting::send_over_ends(NpuId npu, NpuEnds amounts, const std::vector<double>& weights,
                                 std::vector<double>& load) const {
  const auto vertex = vertex_of(npu);
  if (amounts.in > 0) spread(topology_.in_links(vertex), amounts.in, weights, load);
  if (amounts.out > 0) spread(topology_.out_links(vertex), amounts.out, weights, load);
}

void FlowRouting::add_conditions(const JourneyStart& start, LightestPaths& paths, const std::vector<double>& weights,
                                 std::vector<double>& load) const {
  const auto& members = collective_.groups()[start.group.index()].members;
  const auto conditions = conditions_of(collective_, start);
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    const auto chunk = chunk_of_condition(collective_, start.group, start.first_condition + i);
    const double amount = static_cast<double>(collective_.chunks_per_npu(start.group)) *
                          static_cast<double>(collective_.chunk_bytes(chunk).count()) / largest_;
    NpuId farthest = members[conditions[i].destinations.front()];
    double ends = 0;
    for (const auto rank : conditions[i].destinations) {
      const NpuId npu = members[rank];
      if (paths.distance(vertex_of(npu)) > paths.distance(vertex_of(farthest))) farthest = npu;
      ends += lightest_of(topology_.in_links(vertex_of(npu)), weights);
    }
    if (conditions[i].destinations.size() == 1 || paths.distance(vertex_of(farthest)) >= ends) {
      paths.add_amount(farthest, amount);
      continue;
    }
    for (const auto rank : conditions[i].destinations) send_over_ends(members[rank], {amount, 0}, weights, load);
  }
}

std::vector<double> FlowRouting::loads(LightestPaths& paths, const std::vector<double>& weights) const {
  std::vector<double> load(topology_.links(), 0);
  for (const auto& start : starts_) {
    paths.search(vertex_of(start.from), weights);
    paths.clear_amounts();
    if (start.conditions == 0) {
      const double amount = amount_of(start.group);
      for (const NpuId to : start.to) paths.add_amount(to, amount);
    } else {
      add_conditions(start, paths, weights, load);
    }
    paths.send_amounts(weights, load);
  }
  for (std::size_t npu = 0; npu < ends_.size(); ++npu) send_over_ends(NpuId::at(npu), ends_[npu], weights, load);
  return load;
}

}  // namespace tenex
