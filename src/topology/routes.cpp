// Dimension-order routes by arithmetic on intact product shapes; breadth-first trees elsewhere. Over a tree of switches
// a message climbs to the lowest switch above both positions. Of parallel links between two switches it takes the one
// of the position to which it goes (lanes.hpp).
//
// Encoding: for the arithmetic, each vertex keeps its out-links sorted by (target, id), so the link to a known
// neighbour is found by binary search. A tree is one link per vertex toward its destination. Trees live in a fixed
// number of slots that are reused first in, first out.
#include "tenex/topology/routes.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include "topology/dimensions.hpp"
#include "topology/lanes.hpp"
#include "topology/shapes/switch_tree.hpp"

namespace tenex {

namespace {

constexpr std::size_t kCacheBytes = std::size_t{64} << 20;
constexpr std::size_t kFewestTrees = 4;
constexpr std::uint32_t kNoSlot = std::numeric_limits<std::uint32_t>::max();

/// Next links of an intact product shape. O(dimensions + log degree) per hop.
class DimensionOrder {
 public:
  DimensionOrder(const Topology& topology, const Bundles& bundles)
      : topology_(topology), bundles_(bundles), dimensions_(placed_dimensions(topology)) {
    if (!usable()) return;
    for (const PlacedDimension& entry : dimensions_) trees_.emplace_back(entry.dimension.size, entry.dimension.levels);
    std::vector<LinkId> sorted;  // by (target, id): the rows of in-links one after the other
    sorted.reserve(topology.links());
    for (std::size_t v = 0; v < topology.vertices(); ++v) {
      const auto row = topology.in_links(VertexId::at(v));
      sorted.insert(sorted.end(), row.begin(), row.end());
    }
    by_target_ = Csr<LinkId>::group(
        topology.vertices(), sorted.size(), [&](std::size_t i) { return topology.source(sorted[i]).index(); },
        [&](std::size_t i) { return sorted[i]; });
  }

  [[nodiscard]] bool usable() const { return !dimensions_.empty(); }

  [[nodiscard]] LinkId next_link(VertexId at, NpuId destination) const {
    if (!topology_.is_npu(at)) return after_switch(at, destination.index());
    const VertexId next = after_npu(at.index(), destination.index());
    return next.exists() ? link_to(at, next) : LinkId::none();
  }

 private:
  [[nodiscard]] VertexId after_npu(std::size_t at, std::size_t destination) const {
    for (std::size_t i = 0; i < dimensions_.size(); ++i) {
      const PlacedDimension& entry = dimensions_[i];
      const Dimension& dimension = entry.dimension;
      const std::uint32_t from = dimension.position(at);
      const std::uint32_t to = dimension.position(destination);
      if (from == to) continue;
      if (entry.rule->through_switch)
        return VertexId::at(entry.first_switch + dimension.line_of(at) * trees_[i].switches() +
                            trees_[i].above(0, from));
      return VertexId::at(dimension.moved(at, entry.rule->step_toward(from, to, dimension.size)));
    }
    return VertexId::none();
  }

  /// Down where the destination's position is below the switch, else up.
  [[nodiscard]] LinkId after_switch(VertexId at, std::size_t destination) const {
    for (std::size_t i = 0; i < dimensions_.size(); ++i) {
      const PlacedDimension& entry = dimensions_[i];
      if (at.index() < entry.first_switch || at.index() >= entry.first_switch + entry.switches) continue;
      const Dimension& dimension = entry.dimension;
      const SwitchTree& tree = trees_[i];
      const std::size_t line = (at.index() - entry.first_switch) / tree.switches();
      const std::size_t first = entry.first_switch + line * tree.switches();
      const auto number = static_cast<std::uint32_t>(at.index() - first);
      const std::size_t level = tree.level_of(number);
      const std::uint32_t to = dimension.position(destination);
      const VertexId exit = VertexId::at(dimension.moved(dimension.first_of_line(line), to));
      const bool below = tree.above(level, to) == number;
      if (below && level == 0) return link_to(at, exit);
      const std::uint32_t next = below ? tree.above(level - 1, to)
                                       : tree.above(level + 1, (number - tree.first(level)) * tree.npus_below(level));
      return bundles_.lane(link_to(at, VertexId::at(first + next)), exit);
    }
    return LinkId::none();
  }

  [[nodiscard]] LinkId link_to(VertexId at, VertexId next) const {
    const auto row = by_target_.row(at.index());
    const auto found = std::lower_bound(row.begin(), row.end(), next,
                                        [&](LinkId link, VertexId vertex) { return topology_.target(link) < vertex; });
    return found != row.end() && topology_.target(*found) == next ? *found : LinkId::none();
  }

  const Topology& topology_;
  const Bundles& bundles_;
  std::vector<PlacedDimension> dimensions_;
  std::vector<SwitchTree> trees_;  // by dimension; of one switch, or meaningless, where there are no levels
  Csr<LinkId> by_target_;
};

/// Next links along routes with the fewest hops, from a cached tree per destination.
class ShortestPaths {
 public:
  ShortestPaths(const Topology& topology, const Bundles& bundles)
      : topology_(topology),
        bundles_(bundles),
        capacity_(std::max(kFewestTrees, kCacheBytes / (topology.vertices() * sizeof(LinkId)))) {}

  LinkId next_link(VertexId at, NpuId destination) {
    if (slot_of_.empty()) slot_of_.assign(topology_.npus(), kNoSlot);
    std::uint32_t& slot = slot_of_[destination.index()];
    if (slot == kNoSlot) {
      slot = claim_slot(destination);
      build_tree(vertex_of(destination), trees_[slot]);
    }
    return trees_[slot][at.index()];
  }

 private:
  /// A new slot as long as there is one, else the slot that was filled first.
  std::uint32_t claim_slot(NpuId destination) {
    if (trees_.size() < capacity_) {
      trees_.emplace_back();
      tenants_.push_back(destination);
      return static_cast<std::uint32_t>(trees_.size() - 1);
    }
    const std::size_t slot = oldest_;
    oldest_ = (oldest_ + 1) % trees_.size();
    slot_of_[tenants_[slot].index()] = kNoSlot;
    tenants_[slot] = destination;
    return static_cast<std::uint32_t>(slot);
  }

  void build_tree(VertexId root, std::vector<LinkId>& tree) {
    constexpr std::uint32_t unreached = std::numeric_limits<std::uint32_t>::max();
    tree.assign(topology_.vertices(), LinkId::none());
    hops_.assign(topology_.vertices(), unreached);
    queue_.assign(1, root);
    hops_[root.index()] = 0;
    for (std::size_t head = 0; head < queue_.size(); ++head) {
      const VertexId at = queue_[head];
      const std::uint32_t next = hops_[at.index()] + 1;
      for (const LinkId link : topology_.in_links(at)) {
        const VertexId from = topology_.source(link);
        if (hops_[from.index()] == unreached) {
          hops_[from.index()] = next;
          queue_.push_back(from);
        }
        // Each link on a shortest path is visited here once; none() compares greater than any id.
        if (hops_[from.index()] == next) tree[from.index()] = std::min(tree[from.index()], link);
      }
    }
    if (!bundles_.empty()) spread(tree);
  }

  /// Gives each message its link of every bundle. The queue holds all vertices, the nearest first.
  void spread(std::vector<LinkId>& tree) {
    exit_.assign(topology_.vertices(), VertexId::none());  // the first NPU on the way from there
    for (const VertexId at : std::span(queue_).subspan(1)) {
      LinkId& link = tree[at.index()];
      const VertexId next = topology_.target(link);
      exit_[at.index()] = topology_.is_npu(next) ? next : exit_[next.index()];
      link = bundles_.lane(link, exit_[at.index()]);
    }
  }

  const Topology& topology_;
  const Bundles& bundles_;
  std::size_t capacity_;
  std::vector<std::uint32_t> slot_of_;  // by NPU
  std::vector<NpuId> tenants_;          // by slot
  std::vector<std::vector<LinkId>> trees_;
  std::size_t oldest_ = 0;
  std::vector<std::uint32_t> hops_;  // scratch
  std::vector<VertexId> queue_;      // scratch
  std::vector<VertexId> exit_;       // scratch
};

}  // namespace

class Router::Impl {
 public:
  explicit Impl(const Topology& topology)
      : topology_(topology), bundles_(topology), by_dimension_(topology, bundles_), by_search_(topology, bundles_) {}

  LinkId next_link(VertexId at, NpuId destination) {
    if (at == vertex_of(destination)) return LinkId::none();
    return by_dimension_.usable() ? by_dimension_.next_link(at, destination) : by_search_.next_link(at, destination);
  }
  [[nodiscard]] const Topology& topology() const { return topology_; }

 private:
  const Topology& topology_;
  Bundles bundles_;
  DimensionOrder by_dimension_;
  ShortestPaths by_search_;
};

Router::Router(const Topology& topology) : impl_(std::make_unique<Impl>(topology)) {}
Router::~Router() = default;
Router::Router(Router&&) noexcept = default;
Router& Router::operator=(Router&&) noexcept = default;

LinkId Router::next_link(VertexId at, NpuId destination) { return impl_->next_link(at, destination); }

std::vector<LinkId> Router::route(NpuId source, NpuId destination) {
  std::vector<LinkId> links;
  VertexId at = vertex_of(source);
  while (at != vertex_of(destination)) {
    const LinkId link = impl_->next_link(at, destination);
    if (!link.exists()) return {};
    links.push_back(link);
    at = impl_->topology().target(link);
  }
  return links;
}

}  // namespace tenex
