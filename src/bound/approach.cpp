// Approach: a distant chunk cannot start on an NPU's in-link early.
//
// An NPU v needs the chunks of all others over its in-links. A chunk that starts at distance d from the source of a
// link (store-and-forward, each hop alpha + beta*m) cannot start on that link before d. So for any set of chunks, a
// link of latency w and busy time b has delivered by T at most floor((T - w - r) / b) + 1 of them, where r is the least
// distance of any of them to the link's source. The bound is the least T at which all in-links together can have
// delivered the whole set. The sets examined are, for each distance, the chunks that are at least so far from v. The
// nearest set gives ejection's bound, with alpha; the farthest set gives eccentricity's. The sets between bind where
// in-links wait for distant chunks after the near ones have arrived. Applies to All-Gather, to the root of a Gather
// and, with every link reversed, to Reduce-Scatter and the root of a Scatter. Switches may change the time of a hop, so
// topologies with switches are left to the other bounds.
//
// One search per in-link of an NPU. NPUs with the slowest links come first, as many as a fixed amount of work allows: a
// maximum over fewer NPUs is a weaker bound, never a wrong one.
#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "bound/methods.hpp"
#include "tenex/topology/distance.hpp"
#include "tenex/topology/timing.hpp"
#include "tenex/topology/translation.hpp"

namespace tenex {

namespace {

/// Link visits, of NPUs and again of slices: a tenth of a second each.
constexpr std::size_t kWorkLimit = std::size_t{1} << 21;
constexpr std::size_t kMostDimensions = 4;  ///< of products whose slices are examined

/// A link into the region, and the earliest time at which a chunk of the set can be at its source.
struct Door {
  HopTime hop;
  VertexId source;
  SimTime release;
};

/// NPUs that all need what comes from elsewhere.
struct Region {
  std::vector<bool> inside;  ///< per vertex
  std::int64_t npus = 1;
  std::vector<Door> doors;
  SimTime inner_hop = SimTime::max();  ///< the fastest send between two of them
};

/// Sends of the set that can have arrived by that time.
std::int64_t brought(const Region& region, SimTime time, std::int64_t cap) {
  std::int64_t sends = 0;
  for (const Door& door : region.doors) {
    const SimTime first = saturating_sum(door.release, door.hop.latency);
    if (time >= first) sends += std::min(cap, (time - first).count() / door.hop.busy.count() + 1);
  }
  return sends;
}

bool enough(const Region& region, SimTime time, std::int64_t chunks) {
  const std::int64_t all = brought(region, time, chunks * region.npus);
  if (region.npus == 1) return all >= chunks;
  const std::int64_t early =
      time > region.inner_hop ? brought(region, time - region.inner_hop, chunks * region.npus) : 0;
  return early + (all - early) / region.npus >= chunks;
}

/// The least time that is enough; `low` is too short.
SimTime least_time(const Region& region, SimTime low, std::int64_t chunks) {
  SimTime high = SimTime::max();
  if (!enough(region, high, chunks)) return high;
  while (high - low > picoseconds(1)) {
    const SimTime middle = low + (high - low) / 2;
    (enough(region, middle, chunks) ? high : low) = middle;
  }
  return high;
}

/// Whether chunks leave the NPU whose links are counted.
bool leaves(CollectiveKind kind) { return kind == CollectiveKind::reduce_scatter || kind == CollectiveKind::scatter; }

/// One group's All-Gather or Gather, or its Reduce-Scatter or Scatter on the reversed topology.
class Approach {
 public:
  Approach(const BoundProblem& problem, GroupId group)
      : problem_(problem),
        turned_(leaves(problem.collective.kind())),
        size_(problem.collective.chunk_bytes(problem.collective.first_chunk(group))),
        members_(problem.collective.groups()[group.index()].members) {
    if (!turned_) against_ = problem.topology.reversed();
  }

  /// Chunks per picosecond that can enter an NPU.
  [[nodiscard]] double rate(NpuId npu) const {
    double rate = 0;
    for (const auto& door : region_of({npu}).doors) rate += 1 / static_cast<double>(door.hop.busy.count());
    return rate;
  }

  /// The NPUs with the links into them.
  [[nodiscard]] Region region_of(const std::vector<NpuId>& npus) const {
    const Topology& topology = problem_.topology;
    Region region;
    region.inside.resize(topology.vertices());
    region.npus = static_cast<std::int64_t>(npus.size());
    for (const NpuId npu : npus) region.inside[npu.index()] = true;
    for (const NpuId npu : npus)
      for (const LinkId link : turned_ ? topology.out_links(vertex_of(npu)) : topology.in_links(vertex_of(npu))) {
        const VertexId source = turned_ ? topology.target(link) : topology.source(link);
        const HopTime hop = problem_.hop(topology.class_of(link), size_);
        if (region.inside[source.index()])
          region.inner_hop = std::min(region.inner_hop, hop.latency);
        else
          region.doors.push_back({hop, source, SimTime::zero()});
      }
    return region;
  }

  [[nodiscard]] std::size_t work(const Region& region) const {
    return region.doors.size() * problem_.topology.links() + 1;
  }

  /// The larger of `bound` and the bound of a region.
  [[nodiscard]] SimTime raise(Region region, SimTime bound) const {
    auto& doors = region.doors;
    std::vector<std::vector<SimTime>> distance;  // per door, per vertex
    for (const auto& door : doors)
      distance.push_back(arrival_times(turned_ ? problem_.topology : against_, door.source, size_));
    std::vector<SimTime> to_region;
    std::vector<std::uint32_t> others;
    for (std::uint32_t rank = 0; rank < members_.size(); ++rank) {
      const std::size_t vertex = vertex_of(members_[rank]).index();
      SimTime least = SimTime::max();
      for (std::size_t d = 0; d < doors.size(); ++d)
        least = std::min(least, saturating_sum(distance[d][vertex], doors[d].hop.latency));
      to_region.push_back(least);
      if (!region.inside[vertex]) others.push_back(rank);
    }
    std::sort(others.begin(), others.end(),
              [&](std::uint32_t a, std::uint32_t b) { return to_region[a] > to_region[b]; });
    for (auto& door : doors) door.release = SimTime::max();
    std::int64_t chunks = 0;
    for (std::size_t i = 0; i < others.size(); ++i) {
      const std::size_t vertex = vertex_of(members_[others[i]]).index();
      for (std::size_t d = 0; d < doors.size(); ++d) doors[d].release = std::min(doors[d].release, distance[d][vertex]);
      chunks += problem_.collective.chunks_per_npu();
      const bool as_far = i + 1 < others.size() && to_region[others[i + 1]] == to_region[others[i]];
      if (!as_far && !enough(region, bound, chunks)) bound = least_time(region, bound, chunks);
    }
    return bound;
  }

 private:
  const BoundProblem& problem_;
  bool turned_;
  Bytes size_;
  const std::vector<NpuId>& members_;
  Topology against_;  ///< the reversed topology, where searches need it
};

/// NPUs by increasing bandwidth into them; one NPU where every NPU sees the same network; the root where there is one.
std::vector<NpuId> slowest_first(const BoundProblem& problem, const Approach& approach,
                                 const std::vector<NpuId>& members) {
  if (has_root(problem.collective.kind())) return {members[problem.collective.root()]};
  if (members.size() == problem.collective.npus() && TranslationGroup::of(problem.topology)) return {members[0]};
  std::vector<std::pair<double, NpuId>> order;
  for (const NpuId npu : members) order.emplace_back(approach.rate(npu), npu);
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<NpuId> npus;
  for (const auto& [rate, npu] : order) npus.push_back(npu);
  return npus;
}

/// Slices of a product at the first positions, by their sizes; the smallest have one free dimension, the largest one
/// fixed one. Empty where the collective is not that of all NPUs, or has a root.
std::vector<std::vector<NpuId>> slices_of(const BoundProblem& problem) {
  const Topology& topology = problem.topology;
  const auto& unwound = topology.unwound_shape();
  const Shape* shape = topology.shape() ? &*topology.shape() : nullptr;
  if (unwound) shape = &unwound->shape;
  const auto& groups = problem.collective.groups();
  std::vector<std::vector<NpuId>> slices;
  if (has_root(problem.collective.kind()) || groups.size() != 1 || groups[0].members.size() != topology.npus() ||
      shape == nullptr || !shape->is_product() || shape->npus() != topology.npus() ||
      shape->dimensions() > kMostDimensions)
    return slices;
  for (std::uint32_t free = 1; free + 1 < 1U << shape->dimensions(); ++free) {
    std::vector<NpuId> slice;
    for (std::size_t npu = 0; npu < topology.npus(); ++npu) {
      const auto at = coordinates_of(*shape, NpuId::at(npu));
      bool inside = true;
      for (std::size_t i = 0; i < at.size(); ++i) inside = inside && ((free >> i & 1U) != 0 || at[i] == 0);
      if (inside) slice.push_back(NpuId::at(npu));
    }
    if (slice.size() > 1 && slice.size() < topology.npus()) slices.push_back(std::move(slice));
  }
  std::stable_sort(slices.begin(), slices.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
  return slices;
}

}  // namespace

std::optional<SimTime> approach_bound(const BoundProblem& problem) {
  const auto& collective = problem.collective;
  const auto kind = collective.kind();
  if (!problem.single_chunks) return std::nullopt;  // one send may carry several chunks over the in-link
  const bool comes = kind == CollectiveKind::all_gather || kind == CollectiveKind::gather;
  if (!comes && !leaves(kind)) return std::nullopt;
  if (problem.topology.switches() > 0) return std::nullopt;
  std::optional<SimTime> bound;
  std::size_t work = 0;
  for (std::size_t g = 0; g < collective.groups().size(); ++g) {
    const auto& members = collective.groups()[g].members;
    if (members.size() < 2 || work + problem.topology.links() > kWorkLimit) continue;
    const Approach approach(problem, GroupId::at(g));
    for (const NpuId npu : slowest_first(problem, approach, members)) {
      auto region = approach.region_of({npu});
      work += approach.work(region);
      if (work > kWorkLimit) break;
      bound = approach.raise(std::move(region), bound.value_or(SimTime::zero()));
    }
    std::size_t work_of_slices = 0;
    for (const auto& slice : slices_of(problem)) {
      auto region = approach.region_of(slice);
      work_of_slices += approach.work(region);
      if (work_of_slices > kWorkLimit) break;
      bound = approach.raise(std::move(region), bound.value_or(SimTime::zero()));
    }
  }
  return bound;
}

}  // namespace tenex
