// Relay: an NPU can only pass on chunks that have reached it.
//
// Bound: the least T with sum over in-links of min(count(T), own + count(T - w)) >= chunks that the NPU needs.
//
// An NPU's in-links deliver the chunks of others. Nothing arrives at a neighbour s before w, the least latency of s's
// in-links. Until then a link from s can only carry chunks that s has from the start: its own, of which at most c are
// useful. So by T a link delivers at most min(count(T), own + count(T - w)) useful chunks, where count is the floor
// count of capacity.hpp. The bound is the least T at which all in-links together deliver the demand. It is tighter than
// ejection where alpha lets sends overlap (`serialization`): the second send of a link cannot start as soon as the
// first has left the link, but only when a new chunk has arrived. Applies to All-Gather and, with every link reversed,
// to Reduce-Scatter. A switch with virtual cut-through passes on what has not arrived whole. There w is, for the link
// over which it does, the least that its rule allows from the start of a send over one of s's in-links
// (tenex/topology/hand_over.hpp); turned around in time the rule stays.
//
// Encoding: NPUs with equal in-links share one search; all NPUs of a shape with a translation group share one.
#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <vector>

#include "bound/demand.hpp"
#include "bound/methods.hpp"
#include "tenex/topology/hand_over.hpp"
#include "tenex/topology/timing.hpp"
#include "tenex/topology/translation.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex {

namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

/// A link into an NPU: latency, busy time, the number of chunks that its source starts with, and the earliest arrival
/// there.
struct InLink {
  std::int64_t latency = 0;
  std::int64_t busy = 1;
  std::int64_t own = 0;
  std::int64_t relays_from = 0;
  auto operator<=>(const InLink&) const = default;
};

std::int64_t count(const InLink& link, std::int64_t time, std::int64_t cap) {
  return time < link.latency ? 0 : std::min(cap, (time - link.latency) / link.busy + 1);
}

bool links_suffice(const std::vector<InLink>& links, std::int64_t time, std::int64_t demand) {
  std::int64_t missing = demand;
  for (const auto& link : links) {
    const std::int64_t relayed = link.relays_from > time ? 0 : count(link, time - link.relays_from, missing);
    missing -= std::min(count(link, time, missing), std::min(missing, link.own) + relayed);
    if (missing <= 0) return true;
  }
  return false;
}

SimTime least_time(const std::vector<InLink>& links, std::int64_t demand) {
  std::int64_t low = 0;  // not enough: every hop takes time
  std::int64_t high = kNever;
  if (!links_suffice(links, high, demand)) return SimTime::max();
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (links_suffice(links, middle, demand) ? high : low) = middle;
  }
  return picoseconds(high);
}

Direction direction_of(const BoundProblem& problem) {
  return problem.collective.kind() == CollectiveKind::reduce_scatter ? Direction::outward : Direction::inward;
}

/// In-links in the direction in which chunks spread; out-links for Reduce-Scatter, a gather on the reversed topology.
class Spreading {
 public:
  Spreading(const BoundProblem& problem, GroupId group)
      : problem_(problem),
        group_(group),
        direction_(direction_of(problem)),
        size_(problem.collective.chunk_bytes(problem.collective.first_chunk(group))) {
    for (std::size_t k = 0; k < problem.topology.classes().size(); ++k) hops_.push_back(problem.hop(k, size_));
    for (const LinkClass& link : problem.topology.classes()) serialization_.push_back(serialization_time(size_, link));
    // Computed once per vertex, not once per out-link: a switch has as many in-links as out-links.
    const Topology& topology = problem.topology;
    first_arrival_.assign(topology.vertices(), kNever);
    early_.resize(any_passes_on_early(topology) ? topology.vertices() : 0);
    for (std::size_t v = 0; v < first_arrival_.size(); ++v) {
      const VertexId vertex = VertexId::at(v);
      // What passes a cut-through switch need not arrive there first: the alphas to it are part of the link's latency.
      if (cuts_through(topology, vertex)) first_arrival_[v] = 0;
      for (const LinkId link : links_of(topology, vertex, direction_)) {
        const std::uint16_t link_class = topology.class_of(link);
        first_arrival_[v] = std::min(first_arrival_[v], hops_[link_class].latency.count());
        if (passes_on_early(topology, vertex) && std::ranges::find(early_[v], link_class) == early_[v].end())
          early_[v].push_back(link_class);
      }
    }
  }

  [[nodiscard]] std::vector<InLink> into(NpuId npu) const {
    std::vector<InLink> links;
    for (const LinkId link : links_of(problem_.topology, vertex_of(npu), direction_)) {
      const VertexId source = far_end(problem_.topology, link, direction_);
      const HopTime& hop = hops_[problem_.topology.class_of(link)];
      links.push_back({hop.latency.count(), hop.busy.count(), own_chunks(source), relays_from(source, link)});
    }
    std::sort(links.begin(), links.end());
    return links;
  }

 private:
  /// The chunks of this group that the vertex has from the start.
  [[nodiscard]] std::int64_t own_chunks(VertexId vertex) const {
    if (!problem_.topology.is_npu(vertex) || problem_.collective.group_of(npu_of(vertex)) != group_) return 0;
    return problem_.collective.chunks_per_npu();
  }
  /// From when on the vertex can pass on, over the link, what it did not have from the start.
  [[nodiscard]] std::int64_t relays_from(VertexId vertex, LinkId link) const {
    if (!passes_on_early(problem_.topology, vertex)) return first_arrival_[vertex.index()];
    const SimTime own = serialization_[problem_.topology.class_of(link)];
    std::int64_t first = kNever;
    for (const std::uint16_t before : early_[vertex.index()])
      first = std::min(first, (hops_[before].latency - std::min(serialization_[before], own)).count());
    return first;
  }

  const BoundProblem& problem_;
  GroupId group_;
  Direction direction_;
  Bytes size_;
  std::vector<HopTime> hops_;                      ///< per class
  std::vector<SimTime> serialization_;             ///< per class
  std::vector<std::int64_t> first_arrival_;        ///< per vertex
  std::vector<std::vector<std::uint16_t>> early_;  ///< per switch with virtual cut-through: classes of links into it
};

}  // namespace

std::optional<SimTime> relay_bound(const BoundProblem& problem) {
  const auto& collective = problem.collective;
  const auto kind = collective.kind();
  if (!problem.follows_chunks()) return std::nullopt;
  if (kind != CollectiveKind::all_gather && kind != CollectiveKind::reduce_scatter) return std::nullopt;
  SimTime bound = SimTime::zero();
  for (std::size_t g = 0; g < collective.groups().size(); ++g) {
    const auto& members = collective.groups()[g].members;
    if (members.size() < 2) continue;
    const bool alike = members.size() == collective.npus() && TranslationGroup::of(problem.topology).has_value();
    const Spreading spreading(problem, GroupId::at(g));
    const NpuDemand demand = npu_demand(collective, GroupId::at(g), 0);
    const std::int64_t chunks = demand.in(direction_of(problem));
    std::set<std::vector<InLink>> seen;
    for (std::size_t rank = 0; rank < (alike ? 1 : members.size()); ++rank) {
      auto links = spreading.into(members[rank]);
      if (seen.contains(links)) continue;
      bound = std::max(bound, least_time(links, chunks));
      seen.insert(std::move(links));
    }
  }
  return bound;
}

}  // namespace tenex
