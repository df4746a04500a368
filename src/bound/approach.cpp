// Approach: a distant chunk cannot start on an NPU's in-link early.
//
// Bound: the least T with sum over in-links of (floor((T - w - r) / b) + 1) >= chunks at distance r or more.
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
// The same holds for a region of s NPUs and the links into it, from which N chunks must spread over its inner links. Of
// the s N deliveries, D(T) at most come over the links from outside by T. Take any instant t. At most D(t) chunks have
// entered by then, so at most (s - 1) D(t) deliveries inside start by then. The others start later, and the inner links
// carry I(T - t) of them at most. So s N <= D(T) + (s - 1) D(t) + I(T - t), for every t. It suffices to look at
// instants just before a chunk may enter, and at the last at which a send can start. The regions are slices of
// products.
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
constexpr std::size_t kMostApproachWork = std::size_t{1} << 21;
constexpr std::size_t kMostDimensions = 4;    ///< of products whose slices are examined
constexpr std::int64_t kMostInstants = 1024;  ///< of a region, evenly: fewer are a weaker bound

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
  std::vector<HopTime> inner;  ///< of the links between two of them
};

/// Links that are alike: the first of their sends arrives at `first`, and one more each `busy`.
struct Alike {
  SimTime first;
  SimTime busy;
  std::int64_t links = 0;
};

std::vector<Alike> count_alike(std::vector<Alike> all) {
  std::sort(all.begin(), all.end(),
            [](const Alike& a, const Alike& b) { return a.first != b.first ? a.first < b.first : a.busy < b.busy; });
  std::vector<Alike> counted;
  for (const Alike& each : all) {
    if (counted.empty() || counted.back().first != each.first || counted.back().busy != each.busy)
      counted.push_back({each.first, each.busy, 0});
    ++counted.back().links;
  }
  return counted;
}

/// Sends that can have arrived by that time; `cap` is the most of one link that are of interest.
std::int64_t sends_by(const std::vector<Alike>& links, SimTime time, std::int64_t cap) {
  std::int64_t sends = 0;
  for (const Alike& each : links)
    if (time >= each.first) sends += each.links * std::min(cap, (time - each.first).count() / each.busy.count() + 1);
  return sends;
}

/// How soon a region can have a set of chunks.
class Spread {
 public:
  Spread(const Region& region, std::int64_t chunks) : npus_(region.npus), chunks_(chunks) {
    std::vector<Alike> doors;
    for (const Door& door : region.doors)
      doors.push_back({saturating_sum(door.release, door.hop.latency), door.hop.busy, 1});
    doors_ = count_alike(std::move(doors));
    std::vector<Alike> inner;
    for (const HopTime& hop : region.inner) inner.push_back({hop.latency, hop.busy, 1});
    inner_ = count_alike(std::move(inner));
    if (!inner_.empty()) find_instants();
  }

  [[nodiscard]] bool enough(SimTime time) const {
    const std::int64_t needed = chunks_ * npus_;
    const std::int64_t entering = sends_by(doors_, time, needed);
    if (npus_ == 1 || inner_.empty()) return entering >= needed;
    const auto suffices = [&](SimTime instant, std::int64_t entered) {
      const std::int64_t later = sends_by(inner_, time - instant - picoseconds(1), needed);
      return entering + (npus_ - 1) * entered + later >= needed;
    };
    const SimTime last_start = time - inner_.front().first;
    if (!suffices(last_start, last_start > SimTime::zero() ? sends_by(doors_, last_start, needed) : 0)) return false;
    for (const auto& [instant, entered] : instants_) {
      if (instant >= last_start) break;
      if (!suffices(instant, entered)) return false;
    }
    return true;
  }

  /// The least time that is enough; `low` is too short.
  [[nodiscard]] SimTime least_time(SimTime low) const {
    SimTime high = SimTime::max();
    if (!enough(high)) return high;
    while (high - low > picoseconds(1)) {
      const SimTime middle = low + (high - low) / 2;
      (enough(middle) ? high : low) = middle;
    }
    return high;
  }

 private:
  /// Instants just before an arrival over a door, until all chunks may have entered.
  void find_instants() {
    SimTime all = picoseconds(1);  // up to twice as long as all take to enter
    while (sends_by(doors_, all, chunks_) < chunks_) {
      if (all > SimTime::max() / 2) return;
      all += all;
    }
    const SimTime apart = all / kMostInstants;
    SimTime instant = SimTime::zero() - apart;
    for (std::int64_t entered = 0; entered < chunks_; entered = sends_by(doors_, instant, chunks_)) {
      const SimTime next = first_after(instant + apart);
      instants_.emplace_back(next - picoseconds(1), sends_by(doors_, next - picoseconds(1), chunks_));
      instant = next;
    }
  }

  /// The first arrival over a door after an instant.
  [[nodiscard]] SimTime first_after(SimTime instant) const {
    SimTime first = SimTime::max();
    for (const Alike& door : doors_) {
      const std::int64_t before = instant < door.first ? 0 : (instant - door.first) / door.busy + 1;
      if (door.first < SimTime::max()) first = std::min(first, door.first + door.busy * before);
    }
    return first;
  }

  std::int64_t npus_;
  std::int64_t chunks_;
  std::vector<Alike> doors_;
  std::vector<Alike> inner_;
  std::vector<std::pair<SimTime, std::int64_t>> instants_;  ///< with the sends that have entered by then
};

/// Whether chunks leave the NPU whose links are counted.
bool leaves(CollectiveKind kind) { return kind == CollectiveKind::reduce_scatter || kind == CollectiveKind::scatter; }

/// One group's All-Gather or Gather, or its Reduce-Scatter or Scatter on the reversed topology.
class Approach {
 public:
  Approach(const BoundProblem& problem, GroupId group)
      : problem_(problem),
        direction_(leaves(problem.collective.kind()) ? Direction::outward : Direction::inward),
        size_(problem.collective.chunk_bytes(problem.collective.first_chunk(group))),
        members_(problem.collective.groups()[group.index()].members) {
    if (direction_ == Direction::inward) against_ = problem.topology.reversed();
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
      for (const LinkId link : links_of(topology, vertex_of(npu), direction_)) {
        const VertexId source = far_end(topology, link, direction_);
        const HopTime hop = problem_.hop(topology.class_of(link), size_);
        if (region.inside[source.index()])
          region.inner.push_back(hop);
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
      distance.push_back(
          arrival_times(direction_ == Direction::outward ? problem_.topology : against_, door.source, size_));
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
      if (as_far) continue;
      const Spread spread(region, chunks);
      if (!spread.enough(bound)) bound = spread.least_time(bound);
    }
    return bound;
  }

 private:
  const BoundProblem& problem_;
  Direction direction_;
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
  if (!problem.follows_chunks()) return std::nullopt;
  const bool comes = kind == CollectiveKind::all_gather || kind == CollectiveKind::gather;
  if (!comes && !leaves(kind)) return std::nullopt;
  if (problem.topology.switches() > 0) return std::nullopt;
  std::optional<SimTime> bound;
  std::size_t work = 0;
  for (std::size_t g = 0; g < collective.groups().size(); ++g) {
    const auto& members = collective.groups()[g].members;
    if (members.size() < 2 || work + problem.topology.links() > kMostApproachWork) continue;
    const Approach approach(problem, GroupId::at(g));
    for (const NpuId npu : slowest_first(problem, approach, members)) {
      auto region = approach.region_of({npu});
      work += approach.work(region);
      if (work > kMostApproachWork) break;
      bound = approach.raise(std::move(region), bound.value_or(SimTime::zero()));
    }
    std::size_t work_of_slices = 0;
    for (const auto& slice : slices_of(problem)) {
      auto region = approach.region_of(slice);
      work_of_slices += approach.work(region);
      if (work_of_slices > kMostApproachWork) break;
      bound = approach.raise(std::move(region), bound.value_or(SimTime::zero()));
    }
  }
  return bound;
}

}  // namespace tenex
