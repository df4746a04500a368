// Searches from the NPUs whose eccentricity can be the largest.
#include "bound/eccentricities.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

#include "bound/demand.hpp"
#include "bound/methods.hpp"
#include "tenex/topology/distance.hpp"
#include "tenex/topology/timing.hpp"
#include "tenex/topology/translation.hpp"

namespace tenex {

namespace {

constexpr std::size_t kMostEccentricityWork = std::size_t{1} << 26;  ///< link visits: below a second

bool one_search_is_enough(const BoundProblem& problem) {
  const auto& shape = problem.topology.shape();
  return shape && shape->is_product() && problem.collective.groups().size() == 1 &&
         problem.collective.groups()[0].members.size() == problem.topology.npus();
}

/// Distances add up over dimensions; every NPU sees the same distances.
SimTime farthest_by_dimension(const Topology& topology, const TranslationGroup& group, Bytes size) {
  SimTime farthest;
  for (const auto& dimension : group.dimensions()) {
    const auto& link_class = topology.classes()[group.directions()[dimension.first_direction].link_class];
    const SimTime hop = hop_time(link_class, size, Occupancy::serialization).latency;
    for (std::uint32_t i = 0; i < dimension.farthest_hops; ++i) farthest = saturating_sum(farthest, hop);
  }
  return farthest;
}

SimTime farthest_member(const Topology& searched, NpuId from, const ProcessGroup& group, Bytes size) {
  const auto arrival = arrival_times(searched, vertex_of(from), size);
  SimTime farthest = SimTime::zero();
  for (const NpuId member : group.members) farthest = std::max(farthest, arrival[vertex_of(member).index()]);
  return farthest;
}

/// All conditions of one source with chunks of one size or more.
struct ConditionSource {
  Bytes size;
  GroupId group;
  std::uint32_t rank = 0;
};

/// The sources of all stored conditions, with each of their sizes; the largest size first.
std::vector<ConditionSource> condition_sources(const Collective& collective) {
  std::vector<ConditionSource> sources;
  for (std::size_t g = 0; g < collective.groups().size(); ++g) {
    const auto group = GroupId::at(g);
    const auto conditions = collective.conditions(group);
    for (std::size_t q = 0; q < conditions.size(); ++q)
      sources.push_back(
          {collective.chunk_bytes(chunk_of_condition(collective, group, q)), group, conditions[q].source});
  }
  const auto key = [](const ConditionSource& each) {
    return std::tuple(-each.size.count(), each.group.value(), each.rank);
  };
  std::ranges::sort(sources, {}, key);
  const auto same = [&](const ConditionSource& a, const ConditionSource& b) { return key(a) == key(b); };
  sources.erase(std::unique(sources.begin(), sources.end(), same), sources.end());
  return sources;
}

/// How far a source's conditions go.
struct ConditionReach {
  SimTime own;  ///< those with chunks of the searched size or more
  SimTime any;  ///< all of them, if their chunks had this size
};

ConditionReach farthest_destination(const BoundProblem& problem, const Topology& searched,
                                    const ConditionSource& source) {
  const auto& collective = problem.collective;
  const auto& members = collective.groups()[source.group.index()].members;
  const auto conditions = collective.conditions(source.group);
  const auto own = conditions_from(collective, {source.group, source.rank});
  const auto arrival = arrival_times(searched, vertex_of(members[source.rank]), source.size);
  ConditionReach farthest;
  for (std::size_t q = own.first; q < own.end; ++q)
    for (const auto rank : conditions[q].destinations) {
      const SimTime time = arrival[vertex_of(members[rank]).index()];
      farthest.any = std::max(farthest.any, time);
      if (collective.chunk_bytes(chunk_of_condition(collective, source.group, q)) >= source.size)
        farthest.own = std::max(farthest.own, time);
    }
  return farthest;
}

/// Smaller chunks of a source do not go farther than if they had the size that was searched before: such searches are
/// left out where nothing can be gained.
SimTime farthest_condition(const BoundProblem& problem) {
  auto searches_left =
      std::max<std::size_t>(1, kMostEccentricityWork / std::max<std::size_t>(1, problem.topology.links()));
  SimTime farthest = SimTime::zero();
  Topology other;
  const Topology& searched = problem.searched(other);
  std::map<std::pair<GroupId, std::uint32_t>, SimTime> most;  // of the smaller chunks of a source
  for (const auto& source : condition_sources(problem.collective)) {
    const auto known = most.find({source.group, source.rank});
    if (known != most.end() && known->second <= farthest) continue;
    if (searches_left-- == 0) break;
    const auto found = farthest_destination(problem, searched, source);
    most[{source.group, source.rank}] = found.any;
    farthest = std::max(farthest, found.own);
  }
  return farthest;
}

}  // namespace

std::vector<Eccentricity> eccentricities(const BoundProblem& problem, Direction direction) {
  const auto& collective = problem.collective;
  const bool rooted = has_root(collective.kind());
  const bool once = !rooted && one_search_is_enough(problem);
  if (once)
    if (const auto translations = TranslationGroup::of(problem.topology))
      return {{GroupId(0), collective.rank_of(NpuId(0)),
               farthest_by_dimension(problem.topology, *translations, collective.chunk_bytes(ChunkId(0)))}};
  Topology other;
  const Topology& network = problem.searched(other);
  const Topology turned = direction == Direction::inward ? network.reversed() : Topology();
  const Topology& searched = direction == Direction::inward ? turned : network;
  std::size_t searches_left =
      std::max<std::size_t>(1, kMostEccentricityWork / std::max<std::size_t>(1, searched.links()));
  std::vector<Eccentricity> found;
  for (std::size_t g = 0; g < collective.groups().size(); ++g) {
    const auto& group = collective.groups()[g];
    if (group.members.size() < 2) continue;
    const Bytes size = collective.chunk_bytes(collective.first_chunk(GroupId::at(g)));
    std::uint32_t first = 0;
    if (rooted) first = collective.root();
    if (once) first = collective.rank_of(NpuId(0));
    const auto last = rooted || once ? first + 1 : static_cast<std::uint32_t>(group.members.size());
    for (std::uint32_t rank = first; rank < last && searches_left > 0; ++rank, --searches_left)
      found.push_back({GroupId::at(g), rank, farthest_member(searched, group.members[rank], group, size)});
  }
  return found;
}

// Eccentricity: some chunk or contribution must travel between the two NPUs of a group that are farthest apart.
//
// A message of a chunk's size takes alpha + beta*m per hop from holder to holder, whatever other traffic there is; over
// switches with virtual cut-through what hand_over.hpp allows (arrival_times()). So no time is below the largest
// distance of a pair that has to communicate: any two members (All-Gather, Reduce-Scatter, All-Reduce, All-to-All),
// root to member (Broadcast, Scatter), member to root (Reduce, Gather), source to destination (stored conditions). An
// All-Reduce counts one distance only: a contribution that has travelled the farthest distance may complete a sum on
// arrival.

std::optional<SimTime> eccentricity_bound(const BoundProblem& problem) {
  const auto kind = problem.collective.kind();
  if (stores_conditions(kind)) return farthest_condition(problem);
  const bool inward = kind == CollectiveKind::reduce || kind == CollectiveKind::gather;
  SimTime bound = SimTime::zero();
  for (const auto& each : eccentricities(problem, inward ? Direction::inward : Direction::outward))
    bound = std::max(bound, each.distance);
  return bound;
}

}  // namespace tenex
