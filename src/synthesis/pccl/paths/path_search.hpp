// Earliest-arrival searches over the time-expanded network (the ASTRA-sim2.0 thesis, 6.4.3 and 6.4.6).
//
// Idea: a link that is busy is free again later, so the earliest arrival at a vertex is all that matters there, and a
// search over vertices is a search over the time-expanded network. For one destination the search is A*: a vertex waits
// under its arrival plus the least time from there to the destination, and the search ends when nothing that waits can
// arrive sooner. It may keep to shortest paths (hops that come nearer to the destination by their whole length), which
// are few. For many destinations it is Dijkstra's, until all are reached; what leads to none is left out.
//
// Encoding: labels are valid if they carry the number of the present search. What a search asks of links is all that
// SlotLinks and GapLinks have in common: the widths of times and distances, when a link is free, and its times.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "synthesis/pccl/paths/distances.hpp"
#include "synthesis/pccl/paths/network.hpp"
#include "synthesis/pccl/paths/open_vertices.hpp"
#include "tenex/base/bitset.hpp"

namespace tenex {

/// Which hops a search for one destination may take.
enum class PathRange : std::uint8_t {
  shortest,  ///< those on shortest paths
  any,       ///< all: the earliest arrival of all paths
};

/// Which of several paths that arrive equally soon a search for one destination takes.
enum class PathTies : std::uint8_t {
  turned,          ///< one that the search comes to first, which its `turn` and the numbers of vertices decide
  by_destination,  ///< the shortest path that the destination's number spells, if it is one of them
};

/// A hop of a found path.
template <class Time>
struct FoundHop {
  std::uint32_t link;
  Time start;
};

template <class Links>
class PathSearch {
 public:
  using Time = typename Links::Time;
  using Cell = typename Links::Cell;
  using Hop = FoundHop<Time>;

  explicit PathSearch(const PathNetwork& network) : network_(network), labels_(network.vertices()) {}

  /// A path from `source` to `destination` that arrives as early as possible, at time zero at the source. `left` is the
  /// row of distances to the destination, from which it can be reached. `turn` chooses among equals. The hops come last
  /// one first; valid until the next call.
  [[nodiscard]] std::span<const Hop> find_path(const Links& links, std::uint32_t source, std::uint32_t destination,
                                               const Cell* left, std::size_t size, PathRange range, std::uint32_t turn,
                                               PathTies ties = PathTies::turned);

  /// The same over cheapest paths alone: `sums` is the row of least sums of `prices` to the destination.
  [[nodiscard]] std::span<const Hop> find_cheapest(const Links& links, std::uint32_t source, std::uint32_t destination,
                                                   const std::uint32_t* sums, std::span<const std::uint32_t> prices,
                                                   std::size_t size, std::uint32_t turn);

  /// A tree from `source` that reaches every destination as early as possible, over `allowed` vertices (null: all), all
  /// of whose branches end at destinations. All destinations must be reachable. Each hop comes after those that lead to
  /// it.
  [[nodiscard]] std::span<const Hop> find_tree(const Links& links, std::uint32_t source,
                                               std::span<const std::uint32_t> destinations, const Bitset* allowed,
                                               std::size_t size, std::uint32_t turn);

  /// The arrival that the last find_path() found.
  [[nodiscard]] Time arrival() const { return arrival_; }

 private:
  static constexpr Time kNever = std::numeric_limits<Time>::max();

  struct Label {
    std::uint32_t search = 0;  ///< the search that the rest belongs to
    std::uint32_t link = 0;    ///< that leads here
    std::uint32_t from = 0;
    std::uint32_t use = 0;  ///< find_tree: the search in which it is a destination, or on the way to one
    Time time = 0;          ///< arrival
  };

  Label& label(std::uint32_t vertex) {
    Label& found = labels_[vertex];
    if (found.search != search_) {
      found.search = search_;
      found.time = kNever;
    }
    return found;
  }
  void begin(std::uint32_t source) {
    ++search_;
    open_.clear();
    hops_.clear();
    label(source).time = 0;
  }
  /// Calls visit(hop) for the hops of a vertex, beginning at one that `turn` chooses.
  template <class Visit>
  void turn_through(std::span<const PathHop> hops, std::uint32_t turn, Visit&& visit) {
    const auto first = static_cast<std::size_t>((std::uint64_t{turn} * hops.size()) >> 32U);
    for (std::size_t i = first; i < hops.size(); ++i) visit(hops[i]);
    for (std::size_t i = 0; i < first; ++i) visit(hops[i]);
  }
  void trace(const Links& links, std::uint32_t vertex, std::size_t size) {
    const Label& at = labels_[vertex];
    hops_.push_back({at.link, static_cast<Time>(at.time - links.latency(at.link, size))});
  }

  void trace_path(const Links& links, std::uint32_t source, std::uint32_t destination, std::size_t size) {
    for (std::uint32_t at = destination; at != source; at = labels_[at].from) trace(links, at, size);
  }

  template <class Guide>
  Time reach(const Links& links, std::uint32_t source, std::uint32_t destination, std::size_t size, std::uint32_t turn,
             Time best, const Guide& guide);
  Time spell_path(const Links& links, std::uint32_t source, std::uint32_t destination, const Cell* left,
                  std::size_t size);

  const PathNetwork& network_;
  std::vector<Label> labels_;
  OpenVertices<Links> open_;
  std::vector<Hop> hops_;
  std::vector<Hop> spelled_;
  std::vector<PathHop> nearer_;
  std::vector<std::uint32_t> order_;
  std::uint32_t search_ = 0;
  Time arrival_ = 0;
};

/// Fills spelled_ with a shortest path: at each vertex the digits of the destination's number, to the base of how many
/// links lead nearer, choose one of these. In a fat tree the sends of a step in which every NPU's destination is as far
/// on in the order of NPUs never meet on such paths (destination-modulo routing). Returns the arrival.
template <class Links>
auto PathSearch<Links>::spell_path(const Links& links, std::uint32_t source, std::uint32_t destination,
                                   const Cell* left, std::size_t size) -> Time {
  spelled_.clear();
  Time time = 0;
  std::uint32_t digits = destination;
  for (std::uint32_t at = source; at != destination;) {
    nearer_.clear();
    for (const PathHop& hop : network_.out(at))
      if (left[hop.vertex] != kUnreached<Cell> && left[hop.vertex] + links.weight(hop.link, size) == left[at])
        nearer_.push_back(hop);
    const auto choices = static_cast<std::uint32_t>(nearer_.size());
    const PathHop chosen = nearer_[digits % choices];
    digits /= choices;
    const Time start = links.free_from(chosen.link, time, size);
    spelled_.push_back({chosen.link, start});
    time = start + links.latency(chosen.link, size);
    at = chosen.vertex;
  }
  std::reverse(spelled_.begin(), spelled_.end());
  return time;
}

/// Finds the earliest arrival before `best` and the labels that lead to it; returns `best` where there is none.
/// guide.leads(at, hop): whether a hop may be taken; guide.rest(vertex): the least time from there to the destination;
/// guide.rank(vertex): its place among those with equal sums.
template <class Links>
template <class Guide>
auto PathSearch<Links>::reach(const Links& links, std::uint32_t source, std::uint32_t destination, std::size_t size,
                              std::uint32_t turn, Time best, const Guide& guide) -> Time {
  begin(source);
  open_.push(guide.rest(source), guide.rank(source), source);
  while (!open_.empty()) {
    const auto [bound, at] = open_.pop();
    if (bound >= best) break;
    const Time time = labels_[at].time;
    if (time + guide.rest(at) != bound) continue;  // reached sooner since
    turn_through(network_.out(at), turn, [&, at = at](const PathHop& hop) {
      if (!guide.leads(at, hop)) return;
      const Time rest = guide.rest(hop.vertex);
      const Time latency = links.latency(hop.link, size);
      const Time soonest = time + latency;
      Label& next = label(hop.vertex);
      if (next.time <= soonest || soonest + rest >= best) return;
      const Time arrival = links.free_from(hop.link, time, size) + latency;
      if (next.time <= arrival || arrival + rest >= best) return;
      next.time = arrival;
      next.link = hop.link;
      next.from = at;
      if (hop.vertex == destination)
        best = arrival;
      else
        open_.push(arrival + rest, guide.rank(hop.vertex), hop.vertex);
    });
  }
  return best;
}

template <class Links>
auto PathSearch<Links>::find_path(const Links& links, std::uint32_t source, std::uint32_t destination, const Cell* left,
                                  std::size_t size, PathRange range, std::uint32_t turn, PathTies ties)
    -> std::span<const Hop> {
  struct Nearer {
    const Links& links;
    const Cell* left;
    std::size_t size;
    bool shortest;
    [[nodiscard]] Cell rank(std::uint32_t vertex) const { return left[vertex]; }
    [[nodiscard]] Time rest(std::uint32_t vertex) const { return links.least(left[vertex]); }
    [[nodiscard]] bool leads(std::uint32_t at, const PathHop& hop) const {
      const Cell there = left[hop.vertex];
      return there != kUnreached<Cell> && (!shortest || there + links.weight(hop.link, size) == left[at]);
    }
  };
  const bool spells = ties == PathTies::by_destination;
  const Time spelled = spells ? spell_path(links, source, destination, left, size) : kNever;
  const Nearer guide{links, left, size, range == PathRange::shortest};
  arrival_ = reach(links, source, destination, size, turn, spelled, guide);
  if (spells && arrival_ == spelled) return spelled_;
  trace_path(links, source, destination, size);
  return hops_;
}

template <class Links>
auto PathSearch<Links>::find_cheapest(const Links& links, std::uint32_t source, std::uint32_t destination,
                                      const std::uint32_t* sums, std::span<const std::uint32_t> prices,
                                      std::size_t size, std::uint32_t turn) -> std::span<const Hop> {
  struct Cheaper {
    const std::uint32_t* sums;
    std::span<const std::uint32_t> prices;
    [[nodiscard]] static Cell rank(std::uint32_t /*vertex*/) { return 0; }
    [[nodiscard]] static Time rest(std::uint32_t /*vertex*/) { return 0; }
    [[nodiscard]] bool leads(std::uint32_t at, const PathHop& hop) const {
      return sums[hop.vertex] != kUnreached<std::uint32_t> && sums[hop.vertex] + prices[hop.link] == sums[at];
    }
  };
  arrival_ = reach(links, source, destination, size, turn, kNever, Cheaper{sums, prices});
  trace_path(links, source, destination, size);
  return hops_;
}

template <class Links>
auto PathSearch<Links>::find_tree(const Links& links, std::uint32_t source, std::span<const std::uint32_t> destinations,
                                  const Bitset* allowed, std::size_t size, std::uint32_t turn) -> std::span<const Hop> {
  begin(source);
  for (const std::uint32_t destination : destinations) label(destination).use = search_;
  label(source).use = search_;
  order_.clear();
  open_.push(0, 0, source);
  std::size_t missing = destinations.size();
  while (missing > 0) {
    const auto [time, at] = open_.pop();
    if (labels_[at].time != time) continue;
    if (at != source) {
      order_.push_back(at);
      if (labels_[at].use == search_) --missing;
    }
    turn_through(network_.out(at), turn, [&, time = time, at = at](const PathHop& hop) {
      if (allowed != nullptr && !allowed->test(hop.vertex)) return;
      const Time latency = links.latency(hop.link, size);
      Label& next = label(hop.vertex);
      if (next.time < time + latency) return;
      const Time arrival = links.free_from(hop.link, time, size) + latency;
      if (next.time < arrival) return;
      const bool later = next.time == arrival;
      if (later && (hop.vertex == source || links.load(hop.link) >= links.load(next.link))) return;
      next.time = arrival;
      next.link = hop.link;
      next.from = at;
      if (!later) open_.push(arrival, static_cast<Cell>((hop.vertex * 0x9E3779B1U + turn) >> 16U), hop.vertex);
    });
  }
  for (auto at = order_.rbegin(); at != order_.rend(); ++at)
    if (labels_[*at].use == search_) labels_[labels_[*at].from].use = search_;
  for (const std::uint32_t at : order_)
    if (labels_[at].use == search_) trace(links, at, size);
  return hops_;
}

}  // namespace tenex
