#include "synthesis/pccl/balanced/balanced_routes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/graph/least_first.hpp"
#include "tenex/base/random.hpp"
#include "tenex/schedule/storage/raw_array.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {
namespace {

/// How much faster a weight grows than the load, as a power of e, in the passes that follow each other.
constexpr double kFirstGrowth = 20;
constexpr double kGrowthPerPass = 1.3;
constexpr double kMostGrowth = 100;
constexpr int kMostPasses = 12;
/// More passes follow while each gains a hundredth: where amounts differ much, the most load falls by a step with each.
constexpr int kMostPassesThatGain = 60;
/// Passes without a gain of a thousandth after which no other follows.
constexpr int kVainPasses = 3;
constexpr double kLeastWeight = 0.001;  ///< of a link that carries nothing
/// Chunks move that lead over a link of this share of the most load, to ways of at most this share of the weight.
constexpr double kLoaded = 0.85;
constexpr double kLighter = 0.95;

/// A network on which chunks go from the end of which there are more to the one of which there are fewer.
class Sight {
 public:
  Sight(const Topology& topology, bool reversed) : topology_(topology), reversed_(reversed) {}
  [[nodiscard]] std::span<const LinkId> in_links(VertexId vertex) const {
    return reversed_ ? topology_.out_links(vertex) : topology_.in_links(vertex);
  }
  [[nodiscard]] std::span<const LinkId> out_links(VertexId vertex) const {
    return reversed_ ? topology_.in_links(vertex) : topology_.out_links(vertex);
  }
  [[nodiscard]] VertexId source(LinkId link) const {
    return reversed_ ? topology_.target(link) : topology_.source(link);
  }
  [[nodiscard]] VertexId target(LinkId link) const {
    return reversed_ ? topology_.source(link) : topology_.target(link);
  }
  [[nodiscard]] VertexId from(const Unicast& one) const { return reversed_ ? one.to : one.from; }
  [[nodiscard]] VertexId to(const Unicast& one) const { return reversed_ ? one.from : one.to; }
  [[nodiscard]] bool reversed() const { return reversed_; }

 private:
  const Topology& topology_;
  bool reversed_;
};

/// The chunks of one destination and their ways, one after the other.
struct Bundle {
  VertexId to;
  std::vector<std::uint32_t> unicasts;
  std::vector<std::uint32_t> first;  ///< of each in `links`, and the end
  std::vector<LinkId> links;
};

class WayBalancer {
 public:
  WayBalancer(const Topology& topology, const SizedHops& hops, const std::vector<Unicast>& unicasts)
      : topology_(topology),
        hops_(hops),
        unicasts_(unicasts),
        sight_(topology, fewer_sources()),
        load_(topology.links()),
        weight_(topology.links()),
        known_(topology.vertices()),
        distance_(topology.vertices()),
        next_(topology.vertices()) {
    bundle_up();
  }

  std::optional<BalancedRoutes> run(SimTime target) {
    target_ = target;
    std::vector<std::uint32_t> order(bundles_.size());
    std::iota(order.begin(), order.end(), 0U);
    random_.shuffle(std::span(order));
    for (const auto each : order)
      if (!route_first(bundles_[each])) return std::nullopt;
    SimTime best = most();
    auto best_bundles = bundles_;
    growth_ = kFirstGrowth;
    int vain = 0;
    bool gains = true;
    for (int pass = 0; pass < (gains ? kMostPassesThatGain : kMostPasses) && best > target_ && vain < kVainPasses;
         ++pass) {
      weigh_all();
      random_.shuffle(std::span(order));
      for (const auto each : order) reroute(bundles_[each]);
      const SimTime now = most();
      vain = now > best - best / 1000 ? vain + 1 : 0;
      gains = now <= best - best / 100;
      if (now < best) {
        best = now;
        best_bundles = bundles_;
      }
      growth_ = std::min(growth_ * kGrowthPerPass, kMostGrowth);
    }
    bundles_ = std::move(best_bundles);
    most_ = best;
    return finish();
  }

 private:
  [[nodiscard]] bool fewer_sources() const {
    std::vector<bool> from(topology_.vertices());
    std::vector<bool> to(topology_.vertices());
    for (const Unicast& one : unicasts_) {
      from[one.from.index()] = true;
      to[one.to.index()] = true;
    }
    return std::count(from.begin(), from.end(), true) < std::count(to.begin(), to.end(), true);
  }
  void bundle_up() {
    std::vector<std::uint32_t> bundle_of(topology_.vertices(), std::numeric_limits<std::uint32_t>::max());
    for (std::uint32_t i = 0; i < unicasts_.size(); ++i) {
      auto& bundle = bundle_of[sight_.to(unicasts_[i]).index()];
      if (bundle == std::numeric_limits<std::uint32_t>::max()) {
        bundle = static_cast<std::uint32_t>(bundles_.size());
        bundles_.push_back({sight_.to(unicasts_[i]), {}, {}, {}});
      }
      bundles_[bundle].unicasts.push_back(i);
    }
  }
  [[nodiscard]] SimTime busy(LinkId link, const Unicast& one) const { return hops_.of(link, one.size).busy; }
  [[nodiscard]] SimTime most() const { return load_.empty() ? SimTime() : std::ranges::max(load_); }

  /// Searches backward from the destination until all sources are reached; by hops, or by weights.
  void search(const Bundle& bundle, bool by_weight) {
    ++search_;
    wanted_ = 0;
    if (sources_.size() < topology_.vertices()) sources_.resize(topology_.vertices());
    for (const auto i : bundle.unicasts) {
      auto& mark = sources_[sight_.from(unicasts_[i]).index()];
      if (mark != search_) ++wanted_;
      mark = search_;
    }
    const auto reach = [&](VertexId vertex, double distance, LinkId link) {
      known_[vertex.index()] = search_;
      distance_[vertex.index()] = distance;
      next_[vertex.index()] = link;
    };
    reach(bundle.to, 0, LinkId::none());
    if (by_weight)
      search_by_weight(bundle, reach);
    else
      search_by_hops(bundle, reach);
  }
  void search_by_hops(const Bundle& bundle, const auto& reach) {
    open_.assign(1, bundle.to);
    double last = std::numeric_limits<double>::infinity();
    for (std::size_t head = 0; head < open_.size(); ++head) {
      const VertexId vertex = open_[head];
      const double distance = distance_[vertex.index()];
      if (distance > last) return;
      if (sources_[vertex.index()] == search_ && --wanted_ == 0) last = distance;
      if (distance == last) continue;
      for (const LinkId link : sight_.in_links(vertex)) {
        const VertexId before = sight_.source(link);
        if (known_[before.index()] == search_) continue;
        reach(before, distance + 1, link);
        open_.push_back(before);
      }
    }
  }
  void search_by_weight(const Bundle& bundle, const auto& reach) {
    heap_.clear();
    heap_.push({0, bundle.to});
    while (!heap_.empty()) {
      const auto [distance, vertex] = heap_.pop();
      if (distance > distance_[vertex.index()]) continue;
      if (sources_[vertex.index()] == search_ && --wanted_ == 0) return;
      for (const LinkId link : sight_.in_links(vertex)) {
        const VertexId before = sight_.source(link);
        const double further = distance + weight_[link.index()];
        if (known_[before.index()] == search_ && distance_[before.index()] <= further) continue;
        reach(before, further, link);
        heap_.push({further, before});
      }
    }
  }

  /// Shortest ways, link by link the least loaded one that leads nearer.
  /// False where one cannot be reached.
  bool route_first(Bundle& bundle) {
    search(bundle, false);
    if (wanted_ > 0) return false;
    random_.shuffle(std::span(bundle.unicasts));
    bundle.first.push_back(0);
    for (const auto i : bundle.unicasts) {
      const Unicast& one = unicasts_[i];
      for (VertexId at = sight_.from(one); at != bundle.to;) {
        LinkId best;
        for (const LinkId link : sight_.out_links(at)) {
          const VertexId next = sight_.target(link);
          const bool nearer = known_[next.index()] == search_ && distance_[next.index()] == distance_[at.index()] - 1;
          if (nearer &&
              (!best.exists() || load_[link.index()] + busy(link, one) < load_[best.index()] + busy(best, one)))
            best = link;
        }
        load_[best.index()] += busy(best, one);
        bundle.links.push_back(best);
        at = sight_.target(best);
      }
      bundle.first.push_back(static_cast<std::uint32_t>(bundle.links.size()));
    }
    return true;
  }

  void weigh(LinkId link) {
    weight_[link.index()] =
        kLeastWeight + std::exp(growth_ * (static_cast<double>(load_[link.index()].count()) * per_most_ - 1));
  }
  void weigh_all() {
    most_ = std::max(most(), SimTime::of(1));
    per_most_ = 1 / static_cast<double>(most_.count());
    for (std::size_t link = 0; link < topology_.links(); ++link) weigh(LinkId::at(link));
  }
  void put(LinkId link, SimTime busy) {
    load_[link.index()] += busy;
    weigh(link);
  }
  /// Moves chunks of one destination that lead over much loaded links to lighter ways.
  void reroute(Bundle& bundle) {
    if (!any_loaded(bundle)) return;
    search(bundle, true);
    new_links_.clear();
    new_first_.assign(1, 0);
    for (std::size_t k = 0; k < bundle.unicasts.size(); ++k) {
      const Unicast& one = unicasts_[bundle.unicasts[k]];
      const auto old = std::span(bundle.links).subspan(bundle.first[k], bundle.first[k + 1] - bundle.first[k]);
      if (!move(one, bundle.to, old)) new_links_.insert(new_links_.end(), old.begin(), old.end());
      new_first_.push_back(static_cast<std::uint32_t>(new_links_.size()));
    }
    bundle.links.assign(new_links_.begin(), new_links_.end());
    bundle.first = new_first_;
  }
  [[nodiscard]] bool is_loaded(LinkId link) const {
    return static_cast<double>(load_[link.index()].count()) > kLoaded * static_cast<double>(most_.count());
  }
  [[nodiscard]] bool any_loaded(const Bundle& bundle) const {
    return std::ranges::any_of(bundle.links, [&](LinkId link) { return is_loaded(link); });
  }
  /// Appends the lightest way to new_links_ and moves the chunk there, if that is worth it.
  bool move(const Unicast& one, VertexId to, std::span<const LinkId> old) {
    if (std::ranges::none_of(old, [&](LinkId link) { return is_loaded(link); })) return false;
    double before = 0;
    for (const LinkId link : old) before += weight_[link.index()];
    const std::size_t begin = new_links_.size();
    double after = 0;
    for (VertexId at = sight_.from(one); at != to; at = sight_.target(new_links_.back())) {
      new_links_.push_back(next_[at.index()]);
      after += weight_[new_links_.back().index()];
    }
    if (after >= kLighter * before) {
      new_links_.resize(begin);
      return false;
    }
    for (const LinkId link : old) put(link, SimTime::zero() - busy(link, one));
    for (auto i = begin; i < new_links_.size(); ++i) put(new_links_[i], busy(new_links_[i], one));
    return true;
  }

  BalancedRoutes finish() {
    BalancedRoutes made;
    made.most = most_;
    auto& [first, links] = made.ways;
    first.resize(unicasts_.size() + 1);
    for (const Bundle& bundle : bundles_)
      for (std::size_t k = 0; k < bundle.unicasts.size(); ++k)
        first[bundle.unicasts[k] + 1] = bundle.first[k + 1] - bundle.first[k];
    std::partial_sum(first.begin(), first.end(), first.begin());
    reserve_in_large_pages(links, first.back());
    links.resize(first.back());
    for (Bundle& bundle : bundles_) {
      for (std::size_t k = 0; k < bundle.unicasts.size(); ++k) {
        const auto way = std::span(bundle.links).subspan(bundle.first[k], bundle.first[k + 1] - bundle.first[k]);
        const auto to = links.begin() + static_cast<std::ptrdiff_t>(first[bundle.unicasts[k]]);
        if (sight_.reversed())
          std::ranges::reverse_copy(way, to);
        else
          std::ranges::copy(way, to);
      }
      bundle = {};
    }
    return made;
  }

  const Topology& topology_;
  const SizedHops& hops_;
  const std::vector<Unicast>& unicasts_;
  Sight sight_;
  Random random_{0};
  std::vector<Bundle> bundles_;
  std::vector<SimTime> load_;
  std::vector<double> weight_;
  double growth_ = 0;
  double per_most_ = 0;
  SimTime most_;  ///< at the beginning of a pass, and of the best routes at last
  SimTime target_;
  // Of a search; what it has not reached is of an earlier one.
  std::uint32_t search_ = 0;
  std::size_t wanted_ = 0;  ///< sources not yet reached
  std::vector<std::uint32_t> sources_;
  std::vector<std::uint32_t> known_;
  std::vector<double> distance_;
  std::vector<LinkId> next_;  ///< of each vertex, towards the destination
  std::vector<VertexId> open_;
  LeastFirst<std::pair<double, VertexId>> heap_;
  std::vector<LinkId> new_links_;
  std::vector<std::uint32_t> new_first_;
};

}  // namespace

SizedHops::SizedHops(const Instance& instance)
    : topology_(instance.topology), sizes_(instance.collective.chunk_sizes().size()) {
  for (const LinkClass& each : topology_.classes())
    for (const Bytes size : instance.collective.chunk_sizes())
      hops_.push_back(hop_time(each, size, instance.occupancy));
}

std::optional<BalancedRoutes> balance_routes(const Topology& topology, const SizedHops& hops,
                                             const std::vector<Unicast>& unicasts, SimTime target) {
  return WayBalancer(topology, hops, unicasts).run(target);
}

}  // namespace tenex
