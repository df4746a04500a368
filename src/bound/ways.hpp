// Ways between vertices through plain switches, and spanning trees of them, for the strength bound.
//
// Where ways are too many to be listed (switches behind switches), those that a lightest spanning tree may need are
// found anew for each weighing: for every link and every plain switch one way, from the vertex that is nearest to it to
// the vertex that it is nearest to. Proof that these suffice. Part the vertices into A and B, and let a lightest way
// across lead from a in A to b in B. Let u be the first plain switch on it whose nearest vertex before lies in B. If
// there is none, let u be b; b is nearest to itself. The link into u comes from where the nearest vertex before lies in
// A. If the nearest vertex behind u lies in B, the way of that link leads across and weighs no more. Otherwise the way
// of the switch u does, from B to A. (The idea, for Steiner trees of graphs without directions: Mehlhorn, "A faster
// approximation algorithm for the Steiner problem in graphs", Information Processing Letters 27, 1988.)
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bound/vertex_partition.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/bound/strength.hpp"

namespace tenex {

/// A way from one vertex to another over links, through plain switches only.
struct Way {
  std::uint32_t from;
  std::uint32_t to;
  std::uint32_t begin;  ///< its links, in Ways::links
  std::uint32_t end;
};

struct Ways {
  std::vector<Way> ways;
  std::vector<LinkId> links;
};

/// All ways between vertices that are no plain switches; none visits a switch twice. nullopt if they are more than
/// `most`.
[[nodiscard]] std::optional<Ways> find_ways(const Topology& topology, std::size_t most);

/// Ways that hold a lightest spanning tree. O(links log links + links of the ways).
[[nodiscard]] Ways lightest_ways(const Topology& topology, const std::vector<double>& weights);

/// Weighs ways, and joins vertices over the lightest of them.
class WayForest {
 public:
  WayForest(const BoundProblem& problem, Ways ways)
      : problem_(problem),
        is_listed_(true),
        ways_(std::move(ways)),
        order_(ways_.ways.size()),
        weight_(ways_.ways.size()) {}
  /// Finds the ways anew for each weighing.
  explicit WayForest(const BoundProblem& problem) : problem_(problem), is_listed_(false) {}

  /// Link visits of one call of join().
  [[nodiscard]] std::uint64_t work() const {
    if (!is_listed_) {
      constexpr std::uint64_t kVisitsPerLink = 8;  // two searches, the way of the link, and sorting it
      const auto links = problem_.topology.links() + 1;
      return kVisitsPerLink * links * std::bit_width(links) * problem_.collective.groups().size();
    }
    const auto count = order_.size() + 1;
    return (ways_.links.size() + count * std::bit_width(count)) * problem_.collective.groups().size();
  }

  /// Calls visit(group, way, weight, counts) for every way that joins two parts, for each group; it counts if both have
  /// members of the group.
  template <class Weights, class Visit>
  void join(const Weights& weight_of_link, Visit&& visit) {
    if (!is_listed_) find_lightest(std::vector<double>(weight_of_link.begin(), weight_of_link.end()));
    for (std::size_t i = 0; i < order_.size(); ++i) {
      weight_[i] = 0;
      for (auto l = ways_.ways[i].begin; l < ways_.ways[i].end; ++l)
        weight_[i] += static_cast<double>(weight_of_link[ways_.links[l].index()]);
    }
    std::iota(order_.begin(), order_.end(), 0U);
    std::ranges::sort(order_, [&](std::uint32_t a, std::uint32_t b) {
      return weight_[a] != weight_[b] ? weight_[a] < weight_[b] : a < b;
    });
    for (std::size_t g = 0; g < problem_.collective.groups().size(); ++g) {
      DisjointSets parts(problem_.topology.vertices());
      std::vector<bool> has_member(problem_.topology.vertices());
      for (const auto member : problem_.collective.groups()[g].members) has_member[member.index()] = true;
      for (const auto i : order_) {
        const auto a = parts.find(ways_.ways[i].from);
        const auto b = parts.find(ways_.ways[i].to);
        if (a == b) continue;
        visit(g, ways_.ways[i], weight_[i], has_member[a] && has_member[b]);
        const bool either = has_member[a] || has_member[b];
        has_member[parts.unite(a, b)] = either;
      }
    }
  }

  [[nodiscard]] std::span<const LinkId> links_of(const Way& way) const {
    return std::span(ways_.links).subspan(way.begin, way.end - way.begin);
  }

 private:
  void find_lightest(const std::vector<double>& weight_of_link) {
    ways_ = lightest_ways(problem_.topology, weight_of_link);
    order_.resize(ways_.ways.size());
    weight_.resize(ways_.ways.size());
  }

  const BoundProblem& problem_;
  bool is_listed_;
  Ways ways_;
  std::vector<std::uint32_t> order_;
  std::vector<double> weight_;
};

/// A tree without the ways that lead to no member of the group.
[[nodiscard]] std::vector<Way> without_dead_ends(const BoundProblem& problem, GroupId group, std::span<const Way> tree);

}  // namespace tenex
