// The checker of flow certificates. It shares no code with the search: whole-number distances from every member by an
// ordered set of vertices.
#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "bound/checked_time.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/bound/flow.hpp"

namespace tenex {

namespace {

constexpr std::uint64_t kUnreached = std::numeric_limits<std::uint64_t>::max();

std::vector<std::uint64_t> distances_from(const Topology& topology, std::span<const std::uint32_t> weights,
                                          NpuId source) {
  std::vector<std::uint64_t> distance(topology.vertices(), kUnreached);
  std::set<std::pair<std::uint64_t, std::size_t>> open{{0, source.index()}};
  distance[source.index()] = 0;
  while (!open.empty()) {
    const auto [here, vertex] = *open.begin();
    open.erase(open.begin());
    for (const auto link : topology.out_links(VertexId::at(vertex))) {
      const auto next = topology.target(link).index();
      const auto there = here + weights[link.index()];
      if (there >= distance[next]) continue;
      open.erase({distance[next], next});
      distance[next] = there;
      open.emplace(there, next);
    }
  }
  return distance;
}

/// Walks over what is carried, and adds up what each chunk weighs at least (bound/journeys.hpp has the counts). The c
/// chunks of an NPU, pair or condition follow one another and weigh the same.
class ChunkWeights {
 public:
  ChunkWeights(const BoundProblem& problem, std::span<const std::uint32_t> weights)
      : topology_(problem.topology), collective_(problem.collective), weights_(weights) {}

  /// By size; nullopt where a destination cannot be reached.
  [[nodiscard]] std::optional<std::map<Bytes, CheckedSum>> sum() {
    std::map<Bytes, CheckedSum> needed;
    for (std::size_t g = 0; g < collective_.groups().size(); ++g) {
      const auto group = GroupId::at(g);
      const auto ends = ends_of(collective_.groups()[g].members);
      const auto alike = static_cast<std::size_t>(collective_.chunks_per_npu(group));
      for (std::size_t c = 0; c < collective_.chunks_in(group); c += alike) {
        const auto chunk = ChunkId::at(collective_.first_chunk(group).index() + c);
        const auto weight = weight_of(chunk, collective_.kind(group), ends);
        if (!weight) return std::nullopt;
        needed[collective_.chunk_bytes(chunk)] += *weight * static_cast<CheckedSum>(alike);
      }
    }
    return needed;
  }

 private:
  /// The lightest links into and out of the members, added up, and the most of one member.
  struct Ends {
    CheckedSum into = 0;
    CheckedSum out = 0;
    CheckedSum most = 0;
  };

  [[nodiscard]] Ends ends_of(const std::vector<NpuId>& members) const {
    Ends ends;
    for (const auto member : members) {
      ends.into += lightest(member, true);
      ends.out += lightest(member, false);
      ends.most = std::max(ends.most, lightest(member, true) + lightest(member, false));
    }
    return ends;
  }

  std::optional<CheckedSum> weight_of(ChunkId chunk, CollectiveKind kind, const Ends& ends) {
    switch (kind) {
      case CollectiveKind::all_gather:
      case CollectiveKind::broadcast:
        return ends.into - lightest(collective_.source(chunk), true);
      case CollectiveKind::reduce_scatter:
      case CollectiveKind::reduce:
        return ends.out - lightest(collective_.destination(chunk), false);
      case CollectiveKind::all_reduce:  // all but the NPU that is complete first
        return ends.into + ends.out - ends.most;
      default:
        return of_copies(chunk);
    }
  }

  /// The farthest destination, or where there are several the links into them.
  std::optional<CheckedSum> of_copies(ChunkId chunk) {
    const auto from = collective_.source(chunk);
    if (distances_.empty() || from != searched_) distances_ = distances_from(topology_, weights_, from);
    searched_ = from;
    CheckedSum farthest = 0;
    CheckedSum into = 0;
    int destinations = 0;
    bool reached = true;
    collective_.for_each_destination(chunk, [&](NpuId npu) {
      if (npu == from) return;
      ++destinations;
      reached = reached && distances_[npu.index()] != kUnreached;
      farthest = std::max<CheckedSum>(farthest, distances_[npu.index()]);
      into += lightest(npu, true);
    });
    if (!reached) return std::nullopt;
    return destinations > 1 ? std::max(farthest, into) : farthest;
  }

  [[nodiscard]] CheckedSum lightest(NpuId npu, bool into) const {
    CheckedSum least = -1;
    for (const auto link : into ? topology_.in_links(vertex_of(npu)) : topology_.out_links(vertex_of(npu)))
      if (least < 0 || weights_[link.index()] < least) least = weights_[link.index()];
    return std::max<CheckedSum>(least, 0);
  }

  const Topology& topology_;
  const Collective& collective_;
  std::span<const std::uint32_t> weights_;
  NpuId searched_;
  std::vector<std::uint64_t> distances_;  ///< from that NPU
};

}  // namespace

SimTime check_flow(const BoundProblem& problem, std::span<const std::uint32_t> weights) {
  ensure(weights.size() == problem.topology.links(), "a certificate has one weight per link");
  const auto& collective = problem.collective;
  const auto kind = collective.kind();
  if (kind < CollectiveKind::all_to_all) return SimTime::zero();
  if (kind > CollectiveKind::all_to_all) {
    const auto needed = ChunkWeights(problem, weights).sum();
    return needed ? checked_time_of_sizes(problem, weights, *needed) : SimTime::max();
  }
  CheckedSum needed = 0;
  for (const auto& group : collective.groups())
    for (const auto from : group.members) {
      const auto distance = distances_from(problem.topology, weights, from);
      for (const auto to : group.members) {
        if (distance[to.index()] == kUnreached) return SimTime::max();
        needed += static_cast<CheckedSum>(distance[to.index()]) * collective.chunks_per_npu();
      }
    }
  Bytes size = collective.chunk_sizes().front();
  for (const auto each : collective.chunk_sizes()) size = std::min(size, each);
  return checked_time(problem, weights, size, needed);
}

}  // namespace tenex
