// Late start: an NPU that starts late sends nothing before that, so its data begins to travel then.
//
// Bound: T >= delay + the least time of what has to follow.
//
// (1) The farthest NPU that needs something from a late one gets it no earlier than the delay and the time of the way.
// (2) Let all members in a set of NPUs start at d or later. What must leave the set (cut.hpp) comes from these members:
// their own chunks, or sums with their contributions. So none of it crosses before d, and the links that leave the set
// need their time from d on. The sets are each late NPU alone, and all NPUs that are at least as late as one of them.
// (3) All-Reduce: in a group, every member needs every sum with the late member's contribution. Follow that
// contribution in a valid schedule: the sends that carry it start at its NPU at d or later, and each follows one that
// brought it. As it is counted once, it comes to every member of every sum along one way at least. These sends alone
// are a Broadcast of the group's chunks from that NPU, which begins at d: they use no link more than the schedule does,
// and wait for no send but each other. So d and any bound of that Broadcast is a bound. That a late NPU passes nothing
// on before its start is not used.
#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "bound/demand.hpp"
#include "bound/methods.hpp"
#include "tenex/bound/cut.hpp"
#include "tenex/topology/distance.hpp"

namespace tenex {

namespace {

constexpr std::size_t kMostExamined = 64;                ///< late NPUs, the latest first
constexpr std::size_t kMostBroadcasts = 4;               ///< late NPUs whose All-Reduces are looked at as Broadcasts
constexpr std::size_t kLateWork = std::size_t{1} << 18;  ///< link visits: some milliseconds

SimTime farthest_of(const std::vector<SimTime>& arrivals, std::span<const NpuId> npus) {
  SimTime farthest;
  for (const auto npu : npus) farthest = std::max(farthest, arrivals[npu.index()]);
  return farthest;
}

/// The farthest time to the destinations of the conditions of one source, which is `npu`, searched for the largest and
/// the smallest of their chunks.
SimTime farthest_of_conditions(const BoundProblem& problem, const Topology& searched,
                               const Collective::Membership& member, NpuId npu) {
  const auto& collective = problem.collective;
  const auto conditions = collective.conditions(member.group);
  const auto& members = collective.groups()[member.group.index()].members;
  const auto [first, end] = conditions_from(collective, member);
  const auto size_of = [&](std::size_t index) {
    return collective.chunk_bytes(chunk_of_condition(collective, member.group, index));
  };
  if (first == end) return SimTime::zero();
  auto [least, most] = std::pair(size_of(first), size_of(first));
  for (std::size_t q = first; q < end; ++q) {
    least = std::min(least, size_of(q));
    most = std::max(most, size_of(q));
  }
  SimTime farthest;
  for (const Bytes size : {least, most}) {
    const auto arrivals = arrival_times(searched, vertex_of(npu), size);
    for (std::size_t q = first; q < end; ++q) {
      if (size_of(q) < size) continue;
      for (const auto rank : conditions[q].destinations) farthest = std::max(farthest, arrivals[members[rank].index()]);
    }
    if (least == most) break;
  }
  return farthest;
}

/// The farthest time that a message of one chunk takes from the NPU to members that need something from it.
SimTime farthest_need(const BoundProblem& problem, const Topology& searched, NpuId npu) {
  const auto& collective = problem.collective;
  SimTime farthest;
  for (const auto& member : collective.memberships(npu)) {
    const auto kind = collective.kind(member.group);
    if (stores_conditions(kind)) {
      farthest = std::max(farthest, farthest_of_conditions(problem, searched, member, npu));
      continue;
    }
    const bool root = member.rank == collective.root(member.group);
    if ((kind == CollectiveKind::broadcast || kind == CollectiveKind::scatter) && !root) continue;
    const auto arrivals =
        arrival_times(searched, vertex_of(npu), collective.chunk_sizes()[collective.size_class(member.group)]);
    std::span<const NpuId> needing = collective.groups()[member.group.index()].members;
    if (kind == CollectiveKind::reduce || kind == CollectiveKind::gather)
      needing = needing.subspan(collective.root(member.group), 1);
    farthest = std::max(farthest, farthest_of(arrivals, needing));
  }
  return farthest;
}

/// The largest bound of Broadcasts from the NPU of what its All-Reduces come to; `work` link visits are for cuts.
SimTime broadcast_of_sums(const BoundProblem& problem, NpuId npu, std::uint64_t work) {
  const auto& collective = problem.collective;
  SimTime bound;
  for (const auto& member : collective.memberships(npu)) {
    if (collective.kind(member.group) != CollectiveKind::all_reduce) continue;
    CollectiveRequest request;
    request.kind = CollectiveKind::broadcast;
    request.npus = collective.npus();
    request.groups.emplace_back().members = collective.groups()[member.group.index()].members;
    request.chunks = static_cast<std::int64_t>(collective.chunks_in(member.group));
    request.size = collective.chunk_bytes(collective.first_chunk(member.group)) * request.chunks;
    request.root = member.rank;
    const auto broadcast = Collective::make(std::move(request));
    if (!broadcast) continue;
    BoundProblem alone = problem;
    alone.start_delays = {};
    const BoundProblem sums = alone.with(*broadcast);
    bound = std::max(bound, best_cheap_bound(sums).time);
    if (const auto cut = cut_bound(sums, work)) bound = std::max(bound, cut->time);
  }
  return bound;
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
  const std::size_t broadcasts = std::min(kMostBroadcasts, late.size());
  Topology other;
  const Topology& searched = problem.searched(other);
  for (const StartDelay& each : late) {
    raise(each.time, farthest_need(problem, searched, each.npu));
    raise(each.time, cut_time(problem, std::vector{vertex_of(each.npu)}));
    if (as_late.size() <= broadcasts) raise(each.time, broadcast_of_sums(problem, each.npu, kLateWork / broadcasts));
    as_late.push_back(vertex_of(each.npu));
    raise(each.time, cut_time(problem, as_late));
  }
  return bound;
}

}  // namespace tenex
