// Routes by arithmetic on intact products of blocks and on families that know their next links, by search elsewhere
// (equal_routes.hpp). Over a tree of switches a message climbs to the lowest switch above both positions.
//
// The link to a known neighbour is found by binary search (links_by_target.hpp).
#include "tenex/topology/routes.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "tenex/base/random.hpp"
#include "tenex/topology/family.hpp"
#include "topology/dimensions.hpp"
#include "topology/equal_routes.hpp"
#include "topology/lanes.hpp"
#include "topology/links_by_target.hpp"
#include "topology/route_table.hpp"
#include "topology/shapes/switch_tree.hpp"

namespace tenex {

namespace {

/// Chooses among the equal next links of one message (routes.hpp).
class RoutePick {
 public:
  /// `way`: null for a message of which no piece has a way.
  RoutePick(RouteChoice choice, NpuId source, NpuId destination, RouteWay* way)
      : by_destination_(choice.rule == RouteRule::per_destination || choice.rule == RouteRule::sprayed),
        way_(choice.rule == RouteRule::sprayed ? way : nullptr) {
    if (choice.rule == RouteRule::hashed)
      hash_ = mix_bits(mix_bits(std::uint64_t{source.value()} << 32 | destination.value()) + choice.draw);
  }
  /// One of `count` links. `rank()` is that of the destination.
  template <class Rank>
  [[nodiscard]] std::uint64_t operator()(std::uint64_t count, std::uint64_t divisor, const Rank& rank) const {
    if (way_ != nullptr) {
      const std::uint64_t link = *way_ % count;
      *way_ = static_cast<RouteWay>(*way_ / count);
      return link;
    }
    return (by_destination_ ? static_cast<std::uint64_t>(rank()) : hash_) / divisor % count;
  }
  [[nodiscard]] RouteWay* way() const { return way_; }

 private:
  bool by_destination_;
  RouteWay* way_;
  std::uint64_t hash_ = 0;
};

/// Next links of an intact product shape. O(dimensions + log degree) per hop.
class DimensionOrder {
 public:
  DimensionOrder(const Topology& topology, const Bundles& bundles)
      : topology_(topology), bundles_(bundles), dimensions_(placed_dimensions(topology)) {
    if (!usable()) return;
    for (const PlacedDimension& entry : dimensions_) trees_.emplace_back(entry.dimension.size, entry.dimension.levels);
    by_target_ = LinksByTarget(topology);
  }

  [[nodiscard]] bool usable() const { return !dimensions_.empty(); }

  [[nodiscard]] LinkId next_link(VertexId at, NpuId destination, const RoutePick& pick) const {
    if (!topology_.is_npu(at)) return after_switch(at, destination.index(), pick);
    const VertexId next = after_npu(at.index(), destination.index());
    return next.exists() ? link_to(at, next) : LinkId::none();
  }
  /// The number of routes, which differ in the links of bundles.
  [[nodiscard]] std::uint64_t routes(NpuId source, NpuId destination) const {
    std::uint64_t routes = 1;
    RouteWay first = 0;
    const RoutePick pick({RouteRule::sprayed}, source, destination, &first);
    for (VertexId at = vertex_of(source); at != vertex_of(destination);) {
      const LinkId link = next_link(at, destination, pick);
      routes = std::min<std::uint64_t>(routes * bundles_.width(link), kMostRoutes);
      at = topology_.target(link);
    }
    return routes;
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
  [[nodiscard]] LinkId after_switch(VertexId at, std::size_t destination, const RoutePick& pick) const {
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
      const LinkId link = link_to(at, VertexId::at(first + next));
      const std::size_t count = bundles_.width(link);
      if (count == 1) return link;
      return bundles_.numbered(link, pick(count, 1, [&] { return bundles_.rank(at, exit); }));
    }
    return LinkId::none();
  }

  [[nodiscard]] LinkId link_to(VertexId at, VertexId next) const {
    const auto links = by_target_.between(at, next);
    return links.empty() ? LinkId::none() : links.front();
  }

  const Topology& topology_;
  const Bundles& bundles_;
  std::vector<PlacedDimension> dimensions_;
  std::vector<SwitchTree> trees_;  // by dimension; of one switch, or meaningless, where there are no levels
  LinksByTarget by_target_;
};

/// Whether several links lead from one switch to one NPU. O(links).
bool has_parallel_last_links(const Topology& topology) {
  std::vector<VertexId> hubs;
  for (std::size_t npu = 0; npu < topology.npus(); ++npu) {
    hubs.clear();
    for (const LinkId link : topology.in_links(VertexId::at(npu)))
      if (!topology.is_npu(topology.source(link))) hubs.push_back(topology.source(link));
    std::sort(hubs.begin(), hubs.end());
    if (std::adjacent_find(hubs.begin(), hubs.end()) != hubs.end()) return true;
  }
  return false;
}

/// Next links along routes with the fewest links.
class FewestLinks {
 public:
  FewestLinks(const Topology& topology, bool sprayed) : topology_(topology), search_(topology, sprayed) {
    if (topology.shape() && !topology.shape()->is_product() && topology.shape()->family->next_links != nullptr)
      family_ = topology.shape()->family;
  }

  LinkId next_link(VertexId at, NpuId source, NpuId destination, const RoutePick& pick) {
    if (family_ != nullptr) return by_arithmetic(at, destination, pick);
    const EqualRoutes routes = search_.next(at, destination);
    if (routes.links.empty()) return LinkId::none();
    if (pick.way() != nullptr) return on_its_way(routes, destination, pick);
    const LinkId alone = routes.links.front();
    if (const auto chosen = choose(routes, at, source, destination, pick); chosen > 0)
      return search_.next(at, destination).links[chosen];
    return alone;
  }
  /// One of parallel links.
  LinkId one_of(std::span<const LinkId> links, VertexId at, NpuId source, NpuId destination, const RoutePick& pick) {
    return links[choose({.links = links}, at, source, destination, pick)];
  }
  /// The number of routes. O(hops) on families, else as EqualRouteSearch::routes().
  [[nodiscard]] std::uint64_t routes(NpuId source, NpuId destination) {
    if (family_ == nullptr) return search_.routes(vertex_of(source), destination);
    std::uint64_t routes = 1;
    for (VertexId at = vertex_of(source); at != vertex_of(destination);) {
      const EqualLinks equal = family_->next_links(topology_.shape()->arguments, at.index(), destination.index());
      routes *= equal.count;
      at = topology_.target(outward(at, equal.first));
    }
    return routes;
  }
  [[nodiscard]] bool ends_differ() const { return family_ == nullptr && has_parallel_last_links(topology_); }

 private:
  /// The number of the link that a message takes. Searches, so that links of a search are valid no more.
  [[nodiscard]] std::uint64_t choose(const EqualRoutes& routes, VertexId at, NpuId source, NpuId destination,
                                     const RoutePick& pick) {
    const std::size_t count = routes.links.size();
    const LinkId first = routes.links.front();
    if (count == 1 || topology_.wires() != nullptr || joins_npus(first)) return 0;
    if (topology_.is_npu(at) || topology_.target(first) == vertex_of(destination)) {
      const std::size_t leaves_from = topology_.is_npu(at) ? at.index() : source.index();
      return pick(count, 1, [&] { return leaves_from + destination.index(); });
    }
    const std::uint64_t divisor = routes.parted ? search_.divisor(at) : 1;
    const bool over_npu = routes.over_npu;
    return pick(count, divisor, [&] { return rank(at, over_npu ? exit(at, destination) : vertex_of(destination)); });
  }

  /// All NPUs of these families are attached to one fabric, so ranks are ids.
  [[nodiscard]] LinkId by_arithmetic(VertexId at, NpuId destination, const RoutePick& pick) const {
    const EqualLinks equal = family_->next_links(topology_.shape()->arguments, at.index(), destination.index());
    std::size_t link = equal.first;
    if (equal.count > 1) link += 2 * pick(equal.count, equal.divisor, [&] { return destination.index(); });
    return outward(at, link);
  }
  /// In a reversed topology the other link of the pair leads out.
  [[nodiscard]] LinkId outward(VertexId at, std::size_t link) const {
    return LinkId::at(topology_.source(LinkId::at(link)) == at ? link : link ^ 1U);
  }

  [[nodiscard]] bool joins_npus(LinkId link) const {
    return topology_.is_npu(topology_.source(link)) && topology_.is_npu(topology_.target(link));
  }

  /// The link of a piece. Where links lead to different numbers of routes, the first ones have the lowest ways.
  [[nodiscard]] LinkId on_its_way(const EqualRoutes& routes, NpuId destination, const RoutePick& pick) {
    const auto beyond = [&](LinkId link) { return search_.routes(topology_.target(link), destination); };
    const std::uint64_t first = beyond(routes.links.front());
    if (std::ranges::all_of(routes.links, [&](LinkId link) { return beyond(link) == first; }))
      return routes.links[pick(routes.links.size(), 1, [] { return 0; })];
    for (const LinkId link : routes.links) {
      const std::uint64_t ways = beyond(link);
      if (*pick.way() < ways || link == routes.links.back()) return link;
      *pick.way() = static_cast<RouteWay>(*pick.way() - ways);
    }
    return LinkId::none();
  }

  [[nodiscard]] std::size_t rank(VertexId at, VertexId npu) {
    if (!fabrics_) fabrics_.emplace(topology_);
    return fabrics_->rank(at, npu);
  }

  /// The first NPU on the way.
  [[nodiscard]] VertexId exit(VertexId at, NpuId destination) {
    do {
      at = topology_.target(search_.next(at, destination).links.front());
    } while (!topology_.is_npu(at));
    return at;
  }

  const Topology& topology_;
  const FamilyRule* family_ = nullptr;
  EqualRouteSearch search_;
  std::optional<Fabrics> fabrics_;
};

}  // namespace

std::string to_string(const RouteChoice& choice) {
  switch (choice.rule) {
    case RouteRule::single:
      return "single";
    case RouteRule::hashed:
      return fmt::format("hashed draw {}", choice.draw);
    case RouteRule::sprayed:
      return "sprayed";
    default:
      return "per_destination";
  }
}

class Router::Impl {
 public:
  Impl(const Topology& topology, RouteChoice choice)
      : topology_(topology),
        choice_(choice),
        given_(choice.rule == RouteRule::per_destination ? topology.route_table().get() : nullptr),
        bundles_(topology),
        by_dimension_(topology, bundles_),
        by_search_(topology, choice.rule == RouteRule::sprayed) {}

  LinkId next_link(VertexId at, NpuId source, NpuId destination, RouteWay* way) {
    if (at == vertex_of(destination)) return LinkId::none();
    const RoutePick pick(choice_, source, destination, way);
    if (given_ != nullptr)
      if (const auto links = given_->next(at, source, destination); !links.empty())
        return by_search_.one_of(links, at, source, destination, pick);
    return by_dimension_.usable() ? by_dimension_.next_link(at, destination, pick)
                                  : by_search_.next_link(at, source, destination, pick);
  }
  std::uint32_t equal_routes(NpuId source, NpuId destination) {
    if (choice_.rule != RouteRule::sprayed) return 1;
    const std::uint64_t routes =
        by_dimension_.usable() ? by_dimension_.routes(source, destination) : by_search_.routes(source, destination);
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(routes, kMostRoutes));
  }
  [[nodiscard]] bool depends_on_source() const {
    if (choice_.rule == RouteRule::hashed || (given_ != nullptr && given_->has_pairs())) return true;
    return choice_.rule != RouteRule::single && !by_dimension_.usable() && by_search_.ends_differ();
  }
  [[nodiscard]] const Topology& topology() const { return topology_; }

 private:
  const Topology& topology_;
  RouteChoice choice_;
  const RouteTable* given_;  // null: none are given, or the rule leaves them aside
  Bundles bundles_;
  DimensionOrder by_dimension_;
  FewestLinks by_search_;
};

Router::Router(const Topology& topology, RouteChoice choice) : impl_(std::make_unique<Impl>(topology, choice)) {}
Router::~Router() = default;
Router::Router(Router&&) noexcept = default;
Router& Router::operator=(Router&&) noexcept = default;

LinkId Router::next_link(VertexId at, NpuId source, NpuId destination) {
  return impl_->next_link(at, source, destination, nullptr);
}
LinkId Router::next_link(VertexId at, NpuId source, NpuId destination, RouteWay& way) {
  return impl_->next_link(at, source, destination, &way);
}
std::uint32_t Router::equal_routes(NpuId source, NpuId destination) { return impl_->equal_routes(source, destination); }
bool Router::depends_on_source() const { return impl_->depends_on_source(); }

namespace {

/// `next` gives the link that follows at a vertex.
template <class Next>
std::vector<LinkId> follow(const Topology& topology, NpuId source, NpuId destination, const Next& next) {
  std::vector<LinkId> links;
  for (VertexId at = vertex_of(source); at != vertex_of(destination);) {
    const LinkId link = next(at);
    if (!link.exists()) return {};
    links.push_back(link);
    at = topology.target(link);
  }
  return links;
}

}  // namespace

std::vector<LinkId> Router::route(NpuId source, NpuId destination) {
  return follow(impl_->topology(), source, destination,
                [&](VertexId at) { return next_link(at, source, destination); });
}

std::vector<LinkId> Router::route(NpuId source, NpuId destination, RouteWay way) {
  return follow(impl_->topology(), source, destination,
                [&](VertexId at) { return next_link(at, source, destination, way); });
}

}  // namespace tenex
