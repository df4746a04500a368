// Best paths from some vertices to all others, over any graph.
//
// Dijkstra, "A note on two problems in connexion with graphs" (Numerische Mathematik 1, 1959), with a binary heap in
// which entries that were improved since are passed over. It finds the best paths wherever a way on never makes a path
// better: sums of numbers that are not negative, the narrowest link of a path, tuples of such.
//
// The caller walks the graph, so that vertices, links and what may be taken are its own:
//
//   std::vector<SimTime> arrival(vertices, SimTime::max());
//   BestPaths<SimTime> paths(arrival);
//   paths.reach(source, SimTime::zero());
//   while (const auto at = paths.next())
//     for (link : out_links(at->vertex)) paths.reach(target(link), at->cost + time(link));
//
// Ties: vertices are settled by cost, of equal ones by number, and a path replaces only what is worse. So whatever a
// caller notes where reach() says true is the same on every run.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "tenex/base/graph/least_first.hpp"

namespace tenex {

/// One search, or one after another. Costs are better where they are less, or as Better says. Memory: O(links).
template <class Cost, class Better = std::less<>>
class BestPaths {
 public:
  struct Settled {
    std::uint32_t vertex;
    Cost cost;
  };

  /// `known`: per vertex the cost of the best path so far, at first the worst of all.
  explicit BestPaths(std::span<Cost> known = {}, Better better = {}) : known_(known), better_(std::move(better)) {}

  /// Begins anew, with other costs.
  void begin(std::span<Cost> known) {
    known_ = known;
    open_.clear();
  }

  /// A path to a vertex: a source at its own cost, or a way on from the vertex that next() gave. False where one that
  /// is as good is known. O(1), and O(log links) where it is true.
  bool reach(std::uint32_t vertex, Cost cost) {
    if (!better_(cost, known_[vertex])) return false;
    known_[vertex] = cost;
    open_.push(Entry::of(vertex, cost));
    return true;
  }

  /// The next vertex in order of cost, to which no better path leads; nullopt where there is none. O(log links).
  std::optional<Settled> next() {
    while (!open_.empty()) {
      const Entry entry = open_.pop();
      const Settled settled = entry.settled();
      if (better_(known_[settled.vertex], settled.cost)) continue;
      return settled;
    }
    return std::nullopt;
  }

 private:
  static constexpr bool kPacked =
      std::is_unsigned_v<Cost> && sizeof(Cost) <= sizeof(std::uint32_t) && std::is_same_v<Better, std::less<>>;
  /// Cost and vertex in one number.
  struct Packed {
    std::uint64_t both;
    static Packed of(std::uint32_t vertex, Cost cost) { return {std::uint64_t{cost} << 32U | vertex}; }
    [[nodiscard]] Settled settled() const { return {static_cast<std::uint32_t>(both), static_cast<Cost>(both >> 32U)}; }
  };
  struct Pair {
    Cost cost;
    std::uint32_t vertex;
    static Pair of(std::uint32_t vertex, Cost cost) { return {cost, vertex}; }
    [[nodiscard]] Settled settled() const { return {vertex, cost}; }
  };
  using Entry = std::conditional_t<kPacked, Packed, Pair>;
  struct Earlier {
    [[no_unique_address]] Better better;
    bool operator()(const Packed& a, const Packed& b) const { return a.both < b.both; }
    bool operator()(const Pair& a, const Pair& b) const {
      return better(a.cost, b.cost) || (a.vertex < b.vertex && !better(b.cost, a.cost));
    }
  };

  std::span<Cost> known_;
  [[no_unique_address]] Better better_;
  LeastFirst<Entry, Earlier> open_{Earlier{better_}};
};

}  // namespace tenex
