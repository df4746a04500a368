// Several Hamiltonian cycles of one rate, by local search (ring_packing.hpp).
//
// A link has room for floor(capacity / rate) cycles. The search begins with covers: each is a set of cycles that
// together pass every member once. A cover is a perfect matching of the members as sources with the members as targets,
// and covers are matched one after the other on the room that is left. Then arcs are exchanged. Two arcs a->a', b->b'
// of a cover become a->b', b->a', which joins two of its cycles or divides one. The new arcs must have room, or belong
// to one other cover, which takes the old ones in return. Joining is always accepted; dividing seldom, and less often
// as time goes on (simulated annealing).
//
// Two covers also swap arcs along a closed path, which takes arcs of one forward and of the other backward, in turn:
// the load of links stays. Where no set of cycles is found and fewer will do, the covers of the most cycles are dropped
// and the others go on.
//
// On a symmetric network, each cycle may be taken in both directions. Then an exchange may also reverse a part: a->a',
// b->b' become a->b, a'->b'. The first covers are matched along Euler trails, which pass every link one way only, so no
// cover uses a link to and fro (Petersen 1891: a graph of even degree is a union of 2-factors).
//
// Encoding: ring_cover.hpp.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "algorithm/ring_cover.hpp"
#include "algorithm/ring_packing.hpp"
#include "tenex/base/random.hpp"

namespace tenex {
namespace {

/// The room of links for cycles of one rate.
class Room {
 public:
  Room(const RingNetwork& network, const EqualRings& wanted) : network_(network), both_ways_(wanted.both_ways) {
    for (const auto capacity : network.capacities())
      left_.push_back(static_cast<std::int32_t>(std::min<std::int64_t>(capacity / wanted.rate, wanted.count)));
  }
  /// How many cycles more may take the arc, one way.
  [[nodiscard]] std::int32_t of(std::uint32_t arc) const {
    auto least = INT32_MAX;
    for (const auto link : network_.links(arc)) least = std::min(least, left_[link]);
    return least;
  }
  /// Whether one cycle more may take the arc.
  [[nodiscard]] bool fits(std::uint32_t from, std::uint32_t to) {
    take(from, to, 1);
    const bool fits = all_hold(from, to) && (!both_ways_ || all_hold(to, from));
    take(from, to, -1);
    return fits;
  }
  /// Takes the arc (and the one back, if cycles go both ways) `times`, and returns by how much the overload of all
  /// links grows.
  int take(std::uint32_t from, std::uint32_t to, std::int32_t times) {
    return take_one_way(from, to, times) + (both_ways_ ? take_one_way(to, from, times) : 0);
  }

 private:
  [[nodiscard]] bool all_hold(std::uint32_t from, std::uint32_t to) const {
    return std::ranges::all_of(network_.links(network_.arc(from, to)), [&](auto link) { return left_[link] >= 0; });
  }
  int take_one_way(std::uint32_t from, std::uint32_t to, std::int32_t times) {
    int grows = 0;
    for (const auto link : network_.links(network_.arc(from, to))) {
      grows -= std::max(0, -left_[link]);
      left_[link] -= times;
      grows += std::max(0, -left_[link]);
    }
    return grows;
  }

  const RingNetwork& network_;
  bool both_ways_;
  std::vector<std::int32_t> left_;
};

/// Perfect matchings of the members as sources with the members as targets, by augmenting paths (Kuhn 1955).
class Matching {
 public:
  /// Arcs with more room are tried first; among equals the order is random.
  Matching(const RingNetwork& network, const Room& room, Random& random) : network_(network) {
    for (std::uint32_t u = 0; u < network.members(); ++u) {
      const auto arcs = network.arcs_from(u);
      auto& targets = targets_.emplace_back();
      for (const auto arc : arcs) targets.push_back(network.arcs()[arc].to);
      random.shuffle(std::span(targets));
      std::ranges::stable_sort(targets, std::greater<>(), [&](auto v) { return room.of(network.arc(u, v)); });
    }
    source_.assign(network.members(), kNobody);
    seen_.assign(network.members(), kNobody);
  }
  /// Matches as many members as possible over arcs of which `allowed(from, to)` is true. O(members * arcs).
  template <class Allowed>
  void extend(const Allowed& allowed) {
    std::vector<bool> matched(network_.members(), false);
    for (const auto source : source_)
      if (source != kNobody) matched[source] = true;
    for (std::uint32_t u = 0; u < network_.members(); ++u) {
      stamp_ = u;
      if (!matched[u]) augment(u, allowed);
    }
    std::ranges::fill(seen_, kNobody);
  }
  /// The target of each member; empty if some member has none.
  [[nodiscard]] std::vector<std::uint32_t> targets() const {
    std::vector<std::uint32_t> targets(network_.members(), kNobody);
    for (std::uint32_t v = 0; v < network_.members(); ++v) {
      if (source_[v] == kNobody) return {};
      targets[source_[v]] = v;
    }
    return targets;
  }

 private:
  template <class Allowed>
  bool augment(std::uint32_t u, const Allowed& allowed) {
    for (const auto v : targets_[u]) {
      if (seen_[v] == stamp_ || !allowed(u, v)) continue;
      seen_[v] = stamp_;
      if (source_[v] != kNobody && !augment(source_[v], allowed)) continue;
      source_[v] = u;
      return true;
    }
    return false;
  }

  const RingNetwork& network_;
  std::vector<std::vector<std::uint32_t>> targets_;
  std::vector<std::uint32_t> source_;  ///< by target
  std::vector<std::uint32_t> seen_;    ///< by target: the last source that looked at it
  std::uint32_t stamp_ = 0;
};

/// How often each arc of one link may be taken if every link is passed one way only: along trails that use all links.
/// By arc; arcs over switches have no limit.
std::vector<std::int32_t> along_trails(const RingNetwork& network, const EqualRings& wanted) {
  const auto n = network.members();
  std::vector<std::int32_t> left(network.arcs().size(), 0);  // uses of a pair, kept at the arc from the lower rank
  std::vector<std::int32_t> along(network.arcs().size(), INT32_MAX);
  std::vector<std::int32_t> degree(n, 0);
  for (std::uint32_t a = 0; a < network.arcs().size(); ++a) {
    const auto [from, to] = network.arcs()[a];
    const auto back = network.arc(to, from);
    if (network.links(a).size() != 1 || network.links(back).size() != 1) continue;
    along[a] = 0;
    if (from > to) continue;
    const auto capacity =
        std::min(network.capacities()[network.links(a).front()], network.capacities()[network.links(back).front()]);
    left[a] = static_cast<std::int32_t>(std::min<std::int64_t>(capacity / wanted.rate, wanted.count / 2));
    degree[from] += left[a];
    degree[to] += left[a];
  }
  const auto walk = [&](std::uint32_t u) {
    for (bool moved = true; moved;) {
      moved = false;
      for (const auto arc : network.arcs_from(u)) {
        const auto v = network.arcs()[arc].to;
        const auto pair = u < v ? arc : network.arc(v, u);
        if (along[arc] == INT32_MAX || left[pair] == 0) continue;
        --left[pair];
        ++along[arc];
        --degree[u];
        --degree[v];
        u = v;
        moved = true;
        break;
      }
    }
  };
  for (std::uint32_t u = 0; u < n; ++u)
    if (degree[u] % 2 != 0) walk(u);
  for (std::uint32_t u = 0; u < n; ++u)
    while (degree[u] > 0) walk(u);
  return along;
}

/// An exchange of two arcs of a cover, by their sources and targets.
struct ArcExchange {
  std::uint32_t a, a_next, b, b_next;
  bool turns;
  /// The new arcs: from a, and the other.
  [[nodiscard]] RingNetwork::Arc first() const { return {a, turns ? b : b_next}; }
  [[nodiscard]] RingNetwork::Arc second() const {
    return turns ? RingNetwork::Arc{a_next, b_next} : RingNetwork::Arc{b, a_next};
  }
};

class CoverSearch {
 public:
  CoverSearch(const RingNetwork& network, const EqualRings& wanted)
      : network_(network),
        wanted_(wanted),
        random_(kSeed),
        room_(network, wanted),
        along_(wanted.both_ways ? along_trails(network, wanted)
                                : std::vector<std::int32_t>(network.arcs().size(), INT32_MAX)) {}

  std::vector<Ring> run() {
    for (std::uint32_t k = 0; k < wanted_.count / (wanted_.both_ways ? 2 : 1); ++k)
      if (!match_cover()) return {};
    anneal(first_exchanges(network_, static_cast<std::uint32_t>(covers_.size())), kHeat);
    while (wanted_.fewer && !done() && covers_.size() > 1) {
      drop_covers();
      anneal(first_exchanges(network_, static_cast<std::uint32_t>(covers_.size())) / 4, kHeat / 2);
    }
    return rings();
  }

 private:
  static constexpr std::uint64_t kSeed = 1;
  static constexpr std::uint32_t kThirdArcs = 8;  ///< tried per exchange
  static constexpr double kHeat = 0.3;
  static constexpr double kLeastHeat = 0.05;
  static constexpr std::uint32_t kExchangesPerSwap = 8;
  static constexpr std::size_t kLongestTrail = 64;
  static constexpr int kRedraws = 2;

  static constexpr int kOverloadCost = 2;  ///< of one cycle too many on a link, in cycles to be joined

  /// Adds a cover on the room that is left; then on links without room, if need be. False if there is no cover at all.
  bool match_cover() {
    Matching matching(network_, room_, random_);
    matching.extend([&](auto u, auto v) { return along_[network_.arc(u, v)] > 0 && room_.fits(u, v); });
    matching.extend([&](auto u, auto v) { return room_.fits(u, v); });
    matching.extend([](auto, auto) { return true; });
    auto next = matching.targets();
    if (next.empty()) return false;
    for (std::uint32_t u = 0; u < next.size(); ++u) --along_[network_.arc(u, next[u])];
    covers_.emplace_back(std::move(next));
    overload_ += load(covers_.back(), 1);
    cycles_ += covers_.back().cycles();
    return true;
  }

  /// Takes all arcs of a cover `times`, and returns by how much the overload grows.
  int load(const Cover& cover, std::int32_t times) {
    int grows = 0;
    for (std::uint32_t u = 0; u < network_.members(); ++u) grows += room_.take(u, cover.next(u), times);
    return grows;
  }

  /// Exchanges arcs while it grows colder, until all covers are cycles that fit.
  void anneal(std::uint64_t steps, double hottest) {
    for (std::uint64_t step = 0; step < steps && !done(); ++step) {
      const double heat = hottest * static_cast<double>(steps - step) / static_cast<double>(steps);
      try_exchange(std::max(heat, kLeastHeat));
    }
  }

  /// Drops the covers of the most cycles: one, or more if the search is far from its end.
  void drop_covers() {
    const auto excess = static_cast<std::size_t>(cycles_) - covers_.size();
    const auto drops = excess > covers_.size() ? 1 + covers_.size() / 8 : 1;
    for (std::size_t i = 0; i < drops; ++i) {
      const auto worst = std::ranges::max_element(covers_, {}, &Cover::cycles);
      cycles_ -= worst->cycles();
      overload_ += load(*worst, -1);
      covers_.erase(worst);
    }
  }

  [[nodiscard]] bool done() const { return overload_ == 0 && cycles_ == static_cast<int>(covers_.size()); }

  /// A random cover; those of several cycles are more likely once all links hold.
  std::uint32_t draw_cover() {
    const auto covers = static_cast<std::uint32_t>(covers_.size());
    auto f = random_.below(covers);
    for (int draw = 0; draw < kRedraws && overload_ == 0 && covers_[f].cycles() == 1; ++draw) f = random_.below(covers);
    return f;
  }

  void try_exchange(double heat) {
    const auto f = draw_cover();
    if (covers_.size() > 1 && random_.below(kExchangesPerSwap) == 0) return try_swap(f, heat);
    auto& cover = covers_[f];
    const auto a = random_.below(network_.members());
    const auto arcs = network_.arcs_from(a);
    const auto goal = network_.arcs()[arcs[random_.below(static_cast<std::uint32_t>(arcs.size()))]].to;
    const bool turns = wanted_.both_ways && random_.below(2) == 0;
    const auto b = turns ? goal : cover.before(goal);
    const ArcExchange exchange{a, cover.next(a), b, cover.next(b), turns};
    if (a == b || b == exchange.a_next || a == exchange.b_next) return;
    if (network_.arc(exchange.second().from, exchange.second().to) == RingNetwork::kNoArc) {
      if (!turns) try_three(f, exchange, heat);
      return;
    }
    const int joined = cover.change(a, b, turns);
    const int overload = change_of_overload(exchange);
    if (overload <= 0) {
      if (accepts(joined + kOverloadCost * overload, heat)) apply(exchange, cover, joined, overload);
    } else if (!trade(exchange, f, joined, heat) && accepts(joined + kOverloadCost * overload, heat)) {
      apply(exchange, cover, joined, overload);
    }
  }

  /// Where b->a' is no arc, a third one may help: a->a', b->b', c->c' become a->b', b->c', c->a'.
  void try_three(std::uint32_t f, const ArcExchange& e, double heat) {
    auto& cover = covers_[f];
    const auto arcs = network_.arcs_from(e.b);
    const auto degree = static_cast<std::uint32_t>(arcs.size());
    const auto start = random_.below(degree);
    for (std::uint32_t i = 0; i < std::min(degree, kThirdArcs); ++i) {
      const auto c_next = network_.arcs()[arcs[(start + i) % degree]].to;
      const auto c = cover.before(c_next);
      if (c == e.a || c == e.b || network_.arc(c, e.a_next) == RingNetwork::kNoArc) continue;
      const auto take = [&](std::int32_t times) {
        return room_.take(e.a, e.a_next, -times) + room_.take(e.b, e.b_next, -times) + room_.take(c, c_next, -times) +
               room_.take(e.a, e.b_next, times) + room_.take(e.b, c_next, times) + room_.take(c, e.a_next, times);
      };
      const int overload = take(1);
      if (overload > 1) {  // too much for any joining
        take(-1);
        continue;
      }
      const int before = cover.cycles();
      cover.exchange(e.a, e.b, false);
      cover.exchange(e.b, c, false);
      const int joined = cover.cycles() - before;
      if (accepts(joined + kOverloadCost * overload, heat)) {
        cycles_ += joined;
        overload_ += overload;
        return;
      }
      cover.exchange(e.b, c, false);
      cover.exchange(e.a, e.b, false);
      take(-1);
    }
  }

  /// Swaps arcs with another cover along a path that leaves a member by an arc of one, and goes back by the arc of the
  /// other into the same target, until it returns. The load of links stays.
  void try_swap(std::uint32_t f, double heat) {
    const auto g = (f + 1 + random_.below(static_cast<std::uint32_t>(covers_.size()) - 1)) %
                   static_cast<std::uint32_t>(covers_.size());
    if (!(wanted_.both_ways ? find_trail(f, g) : find_sources(f, g))) return;
    one_ = covers_[f];
    other_ = covers_[g];
    if (wanted_.both_ways)
      one_.swap_trail(other_, path_);
    else
      one_.swap_arcs(other_, path_);
    const int joined = one_.cycles() + other_.cycles() - covers_[f].cycles() - covers_[g].cycles();
    if (!accepts(joined, heat)) return;
    cycles_ += joined;
    std::swap(covers_[f], one_);
    std::swap(covers_[g], other_);
  }
  /// The sources of a path of arcs, in `path_`. False if all members are on it, or the arcs are the same.
  bool find_sources(std::uint32_t f, std::uint32_t g) {
    path_.clear();
    const auto first = random_.below(network_.members());
    auto u = first;
    do {
      path_.push_back(u);
      u = covers_[g].before(covers_[f].next(u));
    } while (u != first);
    return path_.size() > 1 && path_.size() < network_.members();
  }
  /// The members on a closed trail, in `path_`, which takes any of the two neighbours. False if it becomes long.
  bool find_trail(std::uint32_t f, std::uint32_t g) {
    path_.clear();
    ++trails_;
    used_.resize(2 * std::size_t{network_.members()}, 0);
    const auto first = random_.below(network_.members());
    auto u = first;
    do {
      if (path_.size() >= kLongestTrail) return false;
      for (const auto side : {f, g}) {
        path_.push_back(u);
        // A pair of neighbours is known by the member from which its arc leaves.
        const auto& cover = covers_[side];
        const std::size_t offset = side == f ? 0 : network_.members();
        const bool forward = random_.below(2) == 0;
        auto source = forward ? u : cover.before(u);
        if (used_[offset + source] == trails_) source = forward ? cover.before(u) : u;
        used_[offset + source] = trails_;
        u = source == u ? cover.next(u) : source;
      }
    } while (u != first);
    return path_.size() > 2;
  }

  [[nodiscard]] bool accepts(int cost, double heat) { return cost <= 0 || random_.unit() < std::exp(-cost / heat); }
  /// Takes the new arcs and leaves the old ones, `times` (-1: the reverse).
  int move_load(const ArcExchange& e, std::int32_t times) {
    return room_.take(e.a, e.a_next, -times) + room_.take(e.b, e.b_next, -times) +
           room_.take(e.first().from, e.first().to, times) + room_.take(e.second().from, e.second().to, times);
  }
  [[nodiscard]] int change_of_overload(const ArcExchange& e) {
    const int change = move_load(e, 1);
    move_load(e, -1);
    return change;
  }
  void apply(const ArcExchange& e, Cover& cover, int joined, int overload) {
    move_load(e, 1);
    cover.exchange(e.a, e.b, e.turns);
    cycles_ += joined;
    overload_ += overload;
  }

  /// The source of an arc in a cover, which may have it either way if cycles go both ways; kNobody if it has not.
  [[nodiscard]] std::uint32_t source_in(const Cover& cover, RingNetwork::Arc arc) const {
    if (cover.next(arc.from) == arc.to) return arc.from;
    return wanted_.both_ways && cover.next(arc.to) == arc.from ? arc.to : kNobody;
  }

  /// Makes the exchange with another cover that has both new arcs: it takes the old ones. Returns whether there is one.
  bool trade(const ArcExchange& e, std::uint32_t f, int joined, double heat) {
    const auto covers = static_cast<std::uint32_t>(covers_.size());
    for (std::uint32_t i = 1; i < covers; ++i) {
      auto& other = covers_[(f + i) % covers];
      const auto p = source_in(other, e.first());
      const auto r = source_in(other, e.second());
      if (p == kNobody || r == kNobody || p == r) continue;
      const auto old = p == e.a ? e.a_next : e.turns ? e.b_next : e.b;  // the end to which p has an old arc
      const bool turns = old == r;
      const int change = other.change(p, r, turns);
      if (accepts(joined + change, heat)) {
        covers_[f].exchange(e.a, e.b, e.turns);
        other.exchange(p, r, turns);
        cycles_ += joined + change;
      }
      return true;
    }
    return false;
  }

  /// The covers of one cycle, as many as fit together.
  [[nodiscard]] std::vector<Ring> rings() const {
    Room room(network_, wanted_);
    std::vector<Ring> rings;
    for (const auto& cover : covers_) {
      if (cover.cycles() != 1) continue;
      auto order = cover.order();
      const auto lay = [&](std::int32_t times) {
        int overload = 0;
        for (const auto u : order) overload += room.take(u, cover.next(u), times);
        return overload;
      };
      if (lay(1) > 0) {
        lay(-1);
        continue;
      }
      rings.push_back({order, wanted_.rate});
      if (!wanted_.both_ways) continue;
      std::ranges::reverse(order);
      rings.push_back({std::move(order), wanted_.rate});
    }
    return rings;
  }

  const RingNetwork& network_;
  EqualRings wanted_;
  Random random_;
  Room room_;
  std::vector<std::int32_t> along_;  ///< by arc: how often first covers may take it before others are tried
  std::vector<Cover> covers_;
  int cycles_ = 0;    ///< of all covers
  int overload_ = 0;  ///< of all links
  // For swaps of arcs between two covers.
  Cover one_{{}};
  Cover other_{{}};
  std::vector<std::uint32_t> path_;
  std::vector<std::uint64_t> used_;  ///< by cover and source: the last trail that took the arc
  std::uint64_t trails_ = 0;
};

}  // namespace

std::uint64_t first_exchanges(const RingNetwork& network, std::uint32_t cycles) {
  constexpr std::uint32_t kPerMember = 600;
  constexpr std::uint32_t kMost = 80'000;
  return std::uint64_t{cycles} * std::min(kPerMember * network.members(), kMost);
}

std::vector<Ring> find_equal_rings(const RingNetwork& network, const EqualRings& wanted) {
  return CoverSearch(network, wanted).run();
}

}  // namespace tenex
