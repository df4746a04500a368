// A condition with one destination is an amount from the one to the other; amounts of a pair add up.
#include "bound/condition_cuts.hpp"

#include <algorithm>
#include <map>

#include "bound/demand.hpp"
#include "bound/leaving.hpp"
#include "bound/weighted_links.hpp"

namespace tenex {

namespace {

constexpr double kMostWeight = 1U << 19;  ///< together, before each is rounded up

/// All that one NPU must get from others, or send to others, in bytes.
struct OneSide {
  NpuId npu;
  bool gets = true;
  std::map<NpuId, double> bytes;  ///< by the other NPU
  double urgency = 0;             ///< bytes per capacity of the NPU's links
};

double capacity_at(const CutSearch& search, NpuId npu, bool into) {
  double sum = 0;
  for (const auto link : into ? search.topology.in_links(vertex_of(npu)) : search.topology.out_links(vertex_of(npu)))
    sum += static_cast<double>(search.capacity[search.topology.class_of(link)]);
  return sum;
}

/// Of all NPUs of the group, by urgency.
std::vector<OneSide> sides_of(const BoundProblem& problem, GroupId group, const CutSearch& search) {
  const auto& collective = problem.collective;
  const auto& members = collective.groups()[group.index()].members;
  std::vector<OneSide> sides;
  for (const bool gets : {true, false})
    for (const NpuId member : members) sides.push_back({member, gets, {}, 0});
  const auto conditions = collective.conditions(group);
  for (std::size_t q = 0; q < conditions.size(); ++q) {
    const auto bytes = static_cast<double>(collective.chunk_bytes(chunk_of_condition(collective, group, q)).count());
    for (const auto rank : conditions[q].destinations) {
      sides[rank].bytes[members[conditions[q].source]] += bytes;
      if (conditions[q].destinations.size() == 1)
        sides[members.size() + conditions[q].source].bytes[members[rank]] += bytes;
    }
  }
  std::erase_if(sides, [](const OneSide& side) { return side.bytes.empty(); });
  for (auto& side : sides) {
    double bytes = 0;
    for (const auto& [npu, from_it] : side.bytes) bytes += from_it;
    side.urgency = bytes / std::max(capacity_at(search, side.npu, side.gets), 1e-9);
  }
  std::ranges::stable_sort(sides, std::ranges::greater{}, &OneSide::urgency);
  return sides;
}

/// Bytes as whole weights that keep about their ratio.
std::vector<std::int64_t> whole_weights(const std::map<NpuId, double>& bytes) {
  double all = 0;
  for (const auto& [npu, amount] : bytes) all += amount;
  double smallest = all;
  for (const auto& [npu, amount] : bytes) smallest = std::min(smallest, amount);
  // Multiples of the smallest stay exact where that fits.
  const double scale = std::min(1 / smallest, kMostWeight / all);
  std::vector<std::int64_t> weights;
  for (const auto& [npu, amount] : bytes)
    weights.push_back(std::max<std::int64_t>(1, static_cast<std::int64_t>(amount * scale + 0.5)));
  return weights;
}

}  // namespace

std::vector<VertexSet> condition_cuts(const BoundProblem& problem, GroupId group, std::uint64_t& work) {
  const auto& collective = problem.collective;
  const auto& members = collective.groups()[group.index()].members;
  const auto of_set = 2 * problem.topology.links() + problem.topology.vertices() + 2 * condition_visits(collective);
  constexpr std::uint64_t kVisitsPerCondition = 8;  // to add up and to sort
  const auto of_sides = kVisitsPerCondition * condition_visits(collective);
  std::vector<VertexSet> sets;
  if (work <= of_sides) return sets;
  work -= of_sides;
  CutSearch search{problem.topology, false, whole_capacities(problem), {}};
  const auto take = [&](FoundCuts found) {
    for (auto& set : found.sets) {
      if (search.backward) set.flip();
      sets.push_back(std::move(set));
      work -= std::min<std::uint64_t>(work, of_set);
    }
  };
  for (const auto& side : sides_of(problem, group, search)) {
    if (work <= of_set) return sets;
    search.backward = !side.gets;
    search.members.clear();
    for (const auto& [npu, bytes] : side.bytes) search.members.push_back(npu);
    take(densest_cuts_toward(search, side.npu, whole_weights(side.bytes), work));
  }
  search.backward = false;
  for (const Condition& condition : collective.conditions(group)) {
    if (condition.destinations.size() < 2) continue;
    if (work <= of_set) return sets;
    search.members.assign(1, members[condition.source]);
    for (const auto rank : condition.destinations) search.members.push_back(members[rank]);
    take(least_cuts(search, members[condition.source], work));
  }
  return sets;
}

}  // namespace tenex
