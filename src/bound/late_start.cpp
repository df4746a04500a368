// Late start: an NPU that starts late sends nothing before that, so its data begins to travel then.
//
// (1) The farthest NPU that needs something from a late one gets it no earlier than the delay and the time of the way.
// (2) Let all members in a set of NPUs start at d or later. What must leave the set (cut.hpp) comes from these members:
// their own chunks, or sums with their contributions. So none of it crosses before d, and the links that leave the set
// need their time from d on. The sets are each late NPU alone, and all NPUs that are at least as late as one of them.
// That a late NPU passes nothing on before its start is not used.
#include <algorithm>
#include <vector>

#include "bound/methods.hpp"
#include "tenex/bound/cut.hpp"
#include "tenex/topology/distance.hpp"

namespace tenex {

namespace {

constexpr std::size_t kMostExamined = 64;                ///< late NPUs, the latest first
constexpr std::size_t kLateWork = std::size_t{1} << 18;  ///< link visits: some milliseconds

/// The farthest time that a message of one chunk takes from the NPU to members that need something from it.
SimTime farthest_need(const BoundProblem& problem, NpuId npu) {
  const auto& collective = problem.collective;
  const auto group = collective.group_of(npu);
  if (!group.exists()) return SimTime::zero();
  const auto& members = collective.groups()[group.index()].members;
  const auto root = members[has_root(collective.kind()) ? collective.root() : 0];
  if (collective.kind() == CollectiveKind::broadcast && root != npu) return SimTime::zero();
  const auto arrivals =
      arrival_times(problem.topology, vertex_of(npu), collective.chunk_sizes()[collective.size_class(group)]);
  if (collective.kind() == CollectiveKind::reduce) return arrivals[root.index()];
  SimTime farthest;
  for (const auto member : members) farthest = std::max(farthest, arrivals[member.index()]);
  return farthest;
}

}  // namespace

std::optional<SimTime> late_start_bound(const BoundProblem& problem) {
  std::vector<StartDelay> late(problem.start_delays.begin(), problem.start_delays.end());
  if (late.empty()) return std::nullopt;
  std::ranges::stable_sort(late, std::ranges::greater{}, &StartDelay::time);
  const auto most = std::clamp<std::size_t>(kLateWork / (1 + problem.topology.links()), 1, kMostExamined);
  if (late.size() > most) late.resize(most);
  SimTime bound;
  const auto raise = [&](SimTime delay, SimTime from_then) {  // a time of zero says that nothing must be sent
    if (from_then > SimTime::zero()) bound = std::max(bound, saturating_sum(delay, from_then));
  };
  std::vector<VertexId> as_late;
  for (const StartDelay& each : late) {
    raise(each.time, farthest_need(problem, each.npu));
    raise(each.time, cut_time(problem, std::vector{vertex_of(each.npu)}));
    as_late.push_back(vertex_of(each.npu));
    raise(each.time, cut_time(problem, as_late));
  }
  return bound;
}

}  // namespace tenex
