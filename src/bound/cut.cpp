// The sets that the cut bound tries, and the time of each.
#include "tenex/bound/cut.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "bound/condition_cuts.hpp"
#include "bound/densest_cut.hpp"
#include "bound/leaving.hpp"
#include "bound/sized_needs.hpp"
#include "bound/sweep_cuts.hpp"
#include "bound/vertex_partition.hpp"
#include "bound/weighted_links.hpp"
#include "tenex/base/contract.hpp"

namespace tenex {

namespace {

/// The time that a set proves.
SimTime time_of_cut(const BoundProblem& problem, const VertexSet& set) {
  const auto& topology = problem.topology;
  std::vector<std::int64_t> links(topology.classes().size(), 0);
  for (std::size_t l = 0; l < topology.links(); ++l) {
    const auto link = LinkId::at(l);
    if (set[topology.source(link).index()] && !set[topology.target(link).index()]) ++links[topology.class_of(link)];
  }
  return least_time_of_sizes(problem, links, sparse_needs(chunks_that_leave(problem.collective, set)));
}

/// What a look at a set visits.
std::uint64_t visits_of_set(const BoundProblem& problem) {
  return problem.topology.links() + condition_visits(problem.collective);
}

/// Keeps the best of the sets that it is given.
class BestSet {
 public:
  explicit BestSet(const BoundProblem& problem) : problem_(problem) {}

  void try_set(const VertexSet& set) {
    const auto time = time_of_cut(problem_, set);
    if (time <= time_) return;
    time_ = time;
    set_ = set;
  }
  void try_both_sides(VertexSet set) {
    try_set(set);
    set.flip();
    try_set(set);
  }
  [[nodiscard]] std::optional<CertifiedBound> bound(bool densest) const {
    if (time_ == SimTime::zero()) return std::nullopt;
    CertifiedBound bound{time_, {}, {}, densest};
    for (std::size_t v = 0; v < set_.size(); ++v)
      if (set_[v]) bound.inside.push_back(VertexId::at(v));
    return bound;
  }

 private:
  const BoundProblem& problem_;
  SimTime time_;
  VertexSet set_;
};

/// Puts every switch on the side where less capacity crosses, one after another, twice: switches may be joined.
void place_switches(const Topology& topology, VertexSet& set) {
  for (int round = 0; round < 2; ++round)
    for (std::size_t v = topology.npus(); v < topology.vertices(); ++v) {
      double if_inside = 0;
      double if_outside = 0;
      for (const auto link : topology.out_links(VertexId::at(v)))
        if (!set[topology.target(link).index()]) if_inside += static_cast<double>(topology.bandwidth(link).count());
      for (const auto link : topology.in_links(VertexId::at(v)))
        if (set[topology.source(link).index()]) if_outside += static_cast<double>(topology.bandwidth(link).count());
      set[v] = if_inside < if_outside;
    }
}

/// NPUs by their position in one dimension: at it, or up to it.
struct Plane {
  std::size_t stride = 1;
  std::size_t size = 1;
  std::size_t position = 0;
  bool up_to = false;

  [[nodiscard]] bool has(std::size_t npu) const {
    const auto at = npu / stride % size;
    return up_to ? at <= position : at == position;
  }
  /// How far from the middle, where most crosses, or from the end, where links are fewest.
  [[nodiscard]] std::size_t rank() const {
    const auto twice = 2 * (position + 1);
    return !up_to ? position : twice > size ? twice - size : size - twice;
  }
};

/// Sets of NPUs by their position in one dimension: each alone, and all up to each; the most promising first.
void try_planes(const BoundProblem& problem, BestSet& best, std::uint64_t& work) {
  const auto& topology = problem.topology;
  const auto& shape = topology.shape();
  if (!shape || !shape->is_product()) return;
  std::vector<Plane> planes;
  std::size_t stride = 1;
  for (const auto& block : shape->blocks) {
    for (std::size_t position = 0; position + 1 < block.size; ++position)
      for (const bool up_to : {true, false}) planes.push_back({stride, block.size, position, up_to});
    stride *= block.size;
  }
  std::ranges::stable_sort(planes, {}, &Plane::rank);
  for (const Plane& plane : planes) {
    work -= std::min<std::uint64_t>(work, 2 * visits_of_set(problem));
    VertexSet set(topology.vertices());
    for (std::size_t npu = 0; npu < topology.npus(); ++npu) set[npu] = plane.has(npu);
    place_switches(topology, set);
    best.try_both_sides(std::move(set));
    if (work == 0) return;  // the first is always tried
  }
}

/// The sets of two vertices or more that have an NPU, in order of their first one.
std::vector<std::uint32_t> sets_with_npus(const Topology& topology, DisjointSets& joined) {
  std::vector<std::uint32_t> untold(topology.vertices(), 0);  // vertices of a set
  for (std::uint32_t v = 0; v < topology.vertices(); ++v) ++untold[joined.find(v)];
  std::vector<std::uint32_t> sets;
  for (std::uint32_t npu = 0; npu < topology.npus(); ++npu)
    if (std::exchange(untold[joined.find(npu)], 0) > 1) sets.push_back(joined.find(npu));
  return sets;
}

/// The same order, but one set of each kind first: those with as many NPUs and leaving links are often alike.
void put_kinds_first(const Topology& topology, DisjointSets& joined, std::vector<std::uint32_t>& sets) {
  std::vector<std::size_t> place(topology.vertices(), sets.size());
  for (std::size_t i = 0; i < sets.size(); ++i) place[sets[i]] = i;
  // NPUs, then links that leave by class; the last one is of sets without NPUs
  std::vector<std::vector<std::size_t>> kind(sets.size() + 1, std::vector<std::size_t>(topology.classes().size() + 1));
  for (std::uint32_t npu = 0; npu < topology.npus(); ++npu) ++kind[place[joined.find(npu)]][0];
  for (std::size_t l = 0; l < topology.links(); ++l) {
    const auto from = joined.find(topology.source(LinkId::at(l)).value());
    if (from != joined.find(topology.target(LinkId::at(l)).value()))
      ++kind[place[from]][1 + topology.class_of(LinkId::at(l))];
  }
  std::map<std::vector<std::size_t>, std::size_t> seen;
  std::vector<std::size_t> alike_before;
  for (std::size_t i = 0; i < sets.size(); ++i) alike_before.push_back(seen[kind[i]]++);
  std::ranges::stable_sort(sets, {}, [&](std::uint32_t set) { return alike_before[place[set]]; });
}

/// The same order, but the sets first that conditions load most: bytes that must leave or enter a set, over the rate
/// of the links that do.
void put_loaded_first(const BoundProblem& problem, DisjointSets& joined, std::vector<std::uint32_t>& sets) {
  const auto& topology = problem.topology;
  struct Crossing {
    double bytes = 0;
    double rate = 0;
  };
  std::vector<Crossing> out(topology.vertices());
  std::vector<Crossing> in(topology.vertices());
  const auto rate_of_class = rates(problem);
  for (std::size_t l = 0; l < topology.links(); ++l) {
    const auto link = LinkId::at(l);
    const auto from = joined.find(topology.source(link).value());
    const auto to = joined.find(topology.target(link).value());
    if (from == to) continue;
    out[from].rate += rate_of_class[topology.class_of(link)];
    in[to].rate += rate_of_class[topology.class_of(link)];
  }
  const auto& collective = problem.collective;
  for (std::size_t g = 0; g < collective.groups().size(); ++g) {
    const auto& members = collective.groups()[g].members;
    for (const Condition& condition : collective.conditions(GroupId::at(g)))
      for (const auto rank : condition.destinations) {
        const auto from = joined.find(members[condition.source].value());
        const auto to = joined.find(members[rank].value());
        if (from == to) continue;
        out[from].bytes += static_cast<double>(condition.size.count());
        in[to].bytes += static_cast<double>(condition.size.count());
      }
  }
  const auto time = [](const Crossing& crossing) { return crossing.bytes / std::max(crossing.rate, 1e-30); };
  std::ranges::stable_sort(sets, std::ranges::greater(),
                           [&](std::uint32_t set) { return std::max(time(out[set]), time(in[set])); });
}

bool has_conditions(const Collective& collective) {
  for (std::size_t g = 0; g < collective.groups().size(); ++g)
    if (!collective.conditions(GroupId::at(g)).empty()) return true;
  return false;
}

/// Tries the sets with an NPU, each as it is and with switches placed anew. Of conditions the set that they load most
/// is always tried.
void try_joined(const BoundProblem& problem, DisjointSets joined, BestSet& best, std::uint64_t& work,
                bool kinds_first = false) {
  const auto& topology = problem.topology;
  const auto of_set = 4 * visits_of_set(problem);
  if (work < 2 * topology.links()) return;
  work -= 2 * topology.links();
  auto sets = sets_with_npus(topology, joined);
  const bool loaded_first = has_conditions(problem.collective);
  if (loaded_first)
    put_loaded_first(problem, joined, sets);
  else if (kinds_first)
    put_kinds_first(topology, joined, sets);
  for (const auto joined_set : sets) {
    if (work < of_set && !(loaded_first && joined_set == sets.front())) return;
    work -= std::min(work, of_set);
    VertexSet set(topology.vertices());
    for (std::uint32_t v = 0; v < topology.vertices(); ++v) set[v] = joined.find(v) == joined_set;
    best.try_both_sides(set);
    place_switches(topology, set);
    best.try_both_sides(std::move(set));
  }
}

/// Boxes: what links without switches join, and what links above a speed join, for each speed.
void try_boxes(const BoundProblem& problem, BestSet& best, std::uint64_t& work) {
  const auto& topology = problem.topology;
  if (topology.switches() > 0)
    try_joined(problem,
               join_ends(topology,
                         [&](LinkId link) {
                           return topology.is_npu(topology.source(link)) && topology.is_npu(topology.target(link));
                         }),
               best, work);
  const auto of_class = rates(problem);
  auto speeds = of_class;
  std::ranges::sort(speeds);
  speeds.erase(std::unique(speeds.begin(), speeds.end()), speeds.end());
  speeds.pop_back();
  for (const double speed : speeds)
    try_joined(problem, join_ends(topology, [&](LinkId link) { return of_class[topology.class_of(link)] > speed; }),
               best, work);
}

/// What hangs below switches of each level. The first level is NPUs alone, which links without switches join: boxes.
void try_below_switches(const BoundProblem& problem, BestSet& best, std::uint64_t work) {
  auto levels = joined_below_levels(problem.topology);
  for (std::size_t level = 1; level < levels.size(); ++level) {
    std::uint64_t share = work / (levels.size() - 1);
    try_joined(problem, std::move(levels[level]), best, share, true);
  }
}

/// The NPUs of each switch, and the weakest NPUs of each group.
void try_neighbourhoods(const BoundProblem& problem, BestSet& best, std::uint64_t& work) {
  const auto& topology = problem.topology;
  const auto of_set = 2 * visits_of_set(problem);
  for (std::size_t v = topology.npus(); v < topology.vertices() && work >= of_set; ++v) {
    work -= of_set;
    VertexSet set(topology.vertices());
    set[v] = true;
    for (const auto link : topology.in_links(VertexId::at(v))) set[topology.source(link).index()] = true;
    place_switches(topology, set);
    best.try_both_sides(std::move(set));
  }
  const auto rate = [&](std::span<const LinkId> links) {
    double sum = 0;
    for (const auto link : links) sum += static_cast<double>(topology.bandwidth(link).count());
    return sum;
  };
  for (const auto& group : problem.collective.groups())
    for (const bool in : {false, true}) {
      if (work < of_set) return;
      work -= of_set;
      const auto weakest = std::ranges::min(group.members, {}, [&](NpuId npu) {
        return rate(in ? topology.in_links(vertex_of(npu)) : topology.out_links(vertex_of(npu)));
      });
      VertexSet set(topology.vertices());
      set[weakest.index()] = true;
      best.try_both_sides(std::move(set));
    }
}

/// Searches one group's densest set. Returns whether the search ended.
bool search_group(const BoundProblem& problem, GroupId group, BestSet& best, std::uint64_t& work) {
  const auto& collective = problem.collective;
  const auto kind = collective.kind(group);
  const auto& members = collective.groups()[group.index()].members;
  if (members.size() < 2) return true;
  const auto of_set = 2 * visits_of_set(problem) + problem.topology.vertices();
  if (work <= of_set) return work = 0, false;  // what each search visits at least
  work -= of_set;
  if (stores_conditions(kind)) {
    for (const auto& set : condition_cuts(problem, group, work)) best.try_set(set);
    return false;
  }
  CutSearch search{problem.topology, false, whole_capacities(problem), members};
  bool ended = true;
  const auto take = [&](const FoundCuts& found) {
    for (auto set : found.sets) {
      if (search.backward) set.flip();
      best.try_set(set);
      work -= std::min<std::uint64_t>(work, of_set);
    }
    ended = ended && found.ended;
  };
  search.backward =
      kind == CollectiveKind::reduce_scatter || kind == CollectiveKind::reduce || kind == CollectiveKind::scatter;
  if (kind == CollectiveKind::all_reduce) {
    take(least_cuts(search, members.front(), work));
    search.backward = true;
    if (work > of_set) take(least_cuts(search, members.front(), work));
  } else if (owned_by_root(kind)) {
    take(least_cuts(search, members[collective.root(group)], work));
  } else if (has_root(kind)) {
    take(densest_cuts_toward(search, members[collective.root(group)], std::vector<std::int64_t>(members.size(), 1),
                             work));
  } else {
    take(densest_cuts(search, work));
  }
  return ended;
}

/// Whether NPUs exchange chunks of their own, each with an NPU or some: halves of the network are natural sets.
bool exchanges(CollectiveKind kind) {
  return kind == CollectiveKind::all_to_all || stores_conditions(kind) || kind == CollectiveKind::mixed;
}

}  // namespace

SimTime cut_time(const BoundProblem& problem, std::span<const VertexId> inside) {
  VertexSet set(problem.topology.vertices());
  TENEX_EXPECTS(std::ranges::all_of(inside, [&](VertexId vertex) { return vertex.index() < set.size(); }),
                "vertices that exist");
  for (const auto vertex : inside) set[vertex.index()] = true;
  const SimTime time = time_of_cut(problem, set);
  TENEX_ENSURES(check_cut(problem, inside) == time, "the time that the checker gives");
  return time;
}

std::optional<CertifiedBound> cut_bound(const BoundProblem& problem, std::uint64_t work_limit) {
  const auto& collective = problem.collective;
  BestSet best(problem);
  std::uint64_t work = work_limit;
  bool ended = true;
  for (std::size_t g = 0; g < collective.groups().size() && work > 0; ++g)
    ended = search_group(problem, GroupId::at(g), best, work) && ended;
  work = work_limit;
  try_boxes(problem, best, work);
  if (exchanges(collective.kind()))
    for (auto& set : sweep_cuts(problem, work)) best.try_both_sides(std::move(set));
  try_planes(problem, best, work);
  try_neighbourhoods(problem, best, work);
  try_below_switches(problem, best, work_limit);
  auto bound = best.bound(ended && collective.groups().size() == 1 && !exchanges(collective.kind()));
  TENEX_ENSURES(!bound || check_cut(problem, bound->inside) == bound->time, "a time that the checker gives");
  return bound;
}

}  // namespace tenex
