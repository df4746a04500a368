// Entry: what must enter a set of vertices comes from afar, and goes on to the farthest member inside.
//
// Bound: T >= r + d + the least time in which the links that enter a set can deliver all chunks that must enter it from
// members at least r away from these links, for members at least d away from them inside.
//
// Proof. Take any set X of vertices, a member u outside and a member w inside. Where w needs the contribution of u to a
// chunk (or u's own chunk), follow it back from w to u: sends of that chunk, each of which carries it and starts no
// sooner than it came to where the send leaves. The last of them that enters X starts r(u) or later, the least alphas
// of a way from u to a link that enters X; and what it brings has the least alphas d(w) of a way from such a link to w
// before it, once it has arrived. So it lies within a window of T - r(u) - d(w). Every chunk has such a send, and each
// counts once:
// - All-Reduce: all chunks, with the farthest u and the farthest w.
// - All-Gather: each chunk of a member outside, with the farthest w; Reduce-Scatter: each of one inside, with the
//   farthest u. Broadcast and Scatter have the root outside, Reduce and Gather inside.
// - All-to-All: the chunks of a member outside for all inside, with the nearest w.
// What links deliver in a window is what they deliver from time zero on in as long a time (capacity.hpp). Of chunks
// with several r and d, all that are no nearer than some of these count. A chunk that several groups need counts for
// each of them: they are chunks of their own. Where chunks are stored and forwarded one by one, a hop takes the time of
// a chunk beside its alpha. Links beside switches that pass on early still take their alphas one after another, and the
// last byte comes to the end of a way no sooner than all its alphas after it has crossed. Networks whose switches cut
// through have no such bound: a link stands for whole paths there.
//
// Example: two NPUs with two links of 1 us and 63 GB/s to a switch, six others behind it as far away. All-Gather of 1
// MB per NPU: their 6 MB enter within T - 1 us, so T >= 1 + 1 + 6 MB / 126 GB/s. `cut` says 1 us less.
//
// Sets: boxes of NPUs that faster links join, what hangs below switches, each switch with its NPUs, single NPUs, and
// what is left beside each. The first of each kind on products of dimensions, where all are alike.
#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "bound/demand.hpp"
#include "bound/densest_cut.hpp"
#include "bound/methods.hpp"
#include "bound/sized_needs.hpp"
#include "bound/vertex_partition.hpp"
#include "bound/weighted_links.hpp"
#include "tenex/base/graph/shortest_paths.hpp"
#include "tenex/topology/hand_over.hpp"

namespace tenex {

namespace {

constexpr std::uint64_t kMostVisits = std::uint64_t{1} << 21;  ///< of links: some 20 ms; a set is looked at whole
constexpr std::size_t kMostRates = 4;                          ///< from which on links join boxes
constexpr std::size_t kMostDistances = 8;                      ///< of each kind, from the farthest on

/// Chunks that must enter, how far they come and how far they go on.
struct Entering {
  SimTime before;
  SimTime after;
  std::size_t size_class = 0;
  Exact chunks = 0;
};

/// Where a set's members are.
struct EntryWays {
  std::vector<SimTime> before;         ///< by vertex: the least time to a link that enters
  std::vector<SimTime> after;          ///< by vertex: the least time from one
  std::vector<std::int64_t> entering;  ///< links that enter, by class
};

class Entries {
 public:
  explicit Entries(const BoundProblem& problem) : problem_(problem), topology_(problem.topology) {
    const auto& sizes = problem.collective.chunk_sizes();
    const Bytes smallest = *std::ranges::min_element(sizes);
    const bool in_turn = problem.follows_chunks() && !any_passes_on_early(problem.network);
    for (std::size_t k = 0; k < topology_.classes().size(); ++k)
      hop_.push_back(in_turn ? problem.hop(k, smallest).latency : topology_.classes()[k].alpha);
  }

  [[nodiscard]] std::optional<SimTime> most() const { return most_; }
  [[nodiscard]] bool ended() const { return visits_ >= kMostVisits; }

  void try_both_sides(VertexSet set) {
    try_set(set);
    set.flip();
    try_set(set);
  }

 private:
  void try_set(const VertexSet& inside) {
    if (ended()) return;
    visits_ += 4 * topology_.links() + topology_.vertices();
    const EntryWays ways = ways_of(inside);
    std::vector<Entering> all;
    for (std::size_t g = 0; g < problem_.collective.groups().size(); ++g) add_group(GroupId::at(g), inside, ways, all);
    if (all.empty()) return;
    for (const SimTime before : farthest(all, &Entering::before))
      for (const SimTime after : farthest(all, &Entering::after)) try_window(all, ways, before, after);
  }

  /// The largest of these times, the farthest first.
  static std::vector<SimTime> farthest(const std::vector<Entering>& all, SimTime Entering::*time) {
    std::set<SimTime, std::greater<>> different;
    for (const Entering& each : all) different.insert(each.*time);
    std::vector<SimTime> first(different.begin(), different.end());
    if (first.size() > kMostDistances) first.resize(kMostDistances);
    return first;
  }

  void try_window(const std::vector<Entering>& all, const EntryWays& ways, SimTime before, SimTime after) {
    std::vector<Exact> needs(problem_.collective.chunk_sizes().size(), 0);
    for (const Entering& each : all)
      if (each.before >= before && each.after >= after) needs[each.size_class] += each.chunks;
    const SimTime crossing = least_time_of_sizes(problem_, ways.entering, sparse_needs(needs));
    if (crossing == SimTime::zero() || crossing == SimTime::max()) return;
    most_ = std::max(most_.value_or(SimTime::zero()), saturating_sum(saturating_sum(before, after), crossing));
  }

  [[nodiscard]] EntryWays ways_of(const VertexSet& inside) const {
    EntryWays ways{std::vector<SimTime>(topology_.vertices(), SimTime::max()),
                   std::vector<SimTime>(topology_.vertices(), SimTime::max()),
                   std::vector<std::int64_t>(topology_.classes().size(), 0)};
    BestPaths<SimTime> to(ways.before);
    BestPaths<SimTime> from(ways.after);
    for (std::size_t l = 0; l < topology_.links(); ++l) {
      const LinkId link = LinkId::at(l);
      if (inside[topology_.source(link).index()] || !inside[topology_.target(link).index()]) continue;
      ++ways.entering[topology_.class_of(link)];
      to.reach(topology_.source(link).value(), SimTime::zero());
      from.reach(topology_.target(link).value(), SimTime::zero());
    }
    while (const auto at = to.next())
      for (const LinkId link : topology_.in_links(VertexId(at->vertex)))
        to.reach(topology_.source(link).value(), saturating_sum(at->cost, hop_[topology_.class_of(link)]));
    while (const auto at = from.next())
      for (const LinkId link : topology_.out_links(VertexId(at->vertex)))
        from.reach(topology_.target(link).value(), saturating_sum(at->cost, hop_[topology_.class_of(link)]));
    return ways;
  }

  void add_group(GroupId group, const VertexSet& inside, const EntryWays& ways, std::vector<Entering>& all) const {
    const Collective& collective = problem_.collective;
    const auto kind = collective.kind(group);
    if (stores_conditions(kind)) return;
    const auto& members = collective.groups()[group.index()].members;
    std::vector<SimTime> before;  // of those outside
    std::vector<SimTime> after;   // of those inside
    for (const NpuId member : members)
      if (inside[member.index()])
        after.push_back(ways.after[member.index()]);
      else
        before.push_back(ways.before[member.index()]);
    if (before.empty() || after.empty()) return;
    const SimTime far_before = std::ranges::max(before);
    const SimTime far_after = std::ranges::max(after);
    if (far_before == SimTime::max() || far_after == SimTime::max()) return;  // there is no way
    const NpuId root = members[collective.root(group)];
    const bool root_inside = inside[root.index()];
    const auto chunks = static_cast<Exact>(collective.chunks_per_npu(group));
    const auto add = [&](SimTime from, SimTime to, Exact number) {
      all.push_back({from, to, collective.size_class(group), number});
    };
    switch (kind) {
      case CollectiveKind::all_reduce:
        return add(far_before, far_after, static_cast<Exact>(collective.chunks_in(group)));
      case CollectiveKind::all_gather:
        for (const SimTime each : before) add(each, far_after, chunks);
        return;
      case CollectiveKind::reduce_scatter:
        for (const SimTime each : after) add(far_before, each, chunks);
        return;
      case CollectiveKind::broadcast:
        if (!root_inside) add(ways.before[root.index()], far_after, chunks);
        return;
      case CollectiveKind::reduce:
        if (root_inside) add(far_before, ways.after[root.index()], chunks);
        return;
      case CollectiveKind::scatter:
        for (const SimTime each : after)
          if (!root_inside) add(ways.before[root.index()], each, chunks);
        return;
      case CollectiveKind::gather:
        for (const SimTime each : before)
          if (root_inside) add(each, ways.after[root.index()], chunks);
        return;
      case CollectiveKind::all_to_all:
        for (const SimTime each : before) add(each, std::ranges::min(after), chunks * static_cast<Exact>(after.size()));
        return;
      default:
        return;
    }
  }

  const BoundProblem& problem_;
  const Topology& topology_;
  std::vector<SimTime> hop_;  ///< by class
  std::optional<SimTime> most_;
  std::uint64_t visits_ = 0;
};

/// Calls `take` with the sets of a partition that have an NPU; with the first of them where all are alike.
template <class Take>
void for_each_part(const Topology& topology, DisjointSets joined, bool alike, const Take& take) {
  std::vector<bool> told(topology.vertices());
  for (std::uint32_t npu = 0; npu < topology.npus(); ++npu) {
    const std::uint32_t part = joined.find(npu);
    if (told[part]) continue;
    told[part] = true;
    VertexSet set(topology.vertices());
    for (std::uint32_t v = 0; v < topology.vertices(); ++v) set[v] = joined.find(v) == part;
    take(std::move(set));
    if (alike) return;
  }
}

}  // namespace

std::optional<SimTime> entry_bound(const BoundProblem& problem) {
  const auto& topology = problem.topology;
  if (problem.passing != nullptr) return std::nullopt;  // switches cut through
  Entries entries(problem);
  const bool alike = topology.shape() && topology.shape()->is_product();
  const auto take = [&](VertexSet set) {
    if (!entries.ended()) entries.try_both_sides(std::move(set));
  };
  const auto rate_of_class = rates(problem);
  std::set<double, std::greater<>> speeds(rate_of_class.begin(), rate_of_class.end());
  std::size_t rates_tried = 0;
  for (const double joining : speeds) {
    if (++rates_tried > kMostRates) break;
    for_each_part(topology,
                  join_ends(topology, [&](LinkId link) { return rate_of_class[topology.class_of(link)] >= joining; }),
                  alike, take);
  }
  for (auto& joined : joined_below_levels(topology)) for_each_part(topology, std::move(joined), alike, take);
  for (std::size_t v = topology.npus(); v < topology.vertices() && !entries.ended(); ++v) {
    VertexSet set(topology.vertices());
    set[v] = true;
    for (const LinkId link : topology.in_links(VertexId::at(v)))
      if (topology.is_npu(topology.source(link))) set[topology.source(link).index()] = true;
    take(std::move(set));
  }
  for_each_part(topology, DisjointSets(topology.vertices()), alike, take);
  return entries.most();
}

}  // namespace tenex
