// Ways between vertices through plain switches, and spanning trees of them, for the strength bound.
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

/// Weighs ways, and joins vertices over the lightest of them.
class WayForest {
 public:
  WayForest(const BoundProblem& problem, Ways ways)
      : problem_(problem), ways_(std::move(ways)), order_(ways_.ways.size()), weight_(ways_.ways.size()) {}

  /// Link visits of one call of join().
  [[nodiscard]] std::uint64_t work() const {
    const auto count = order_.size() + 1;
    return (ways_.links.size() + count * std::bit_width(count)) * problem_.collective.groups().size();
  }

  /// Calls visit(group, way, weight, counts) for every way that joins two parts, for each group; it counts if both have
  /// members of the group.
  template <class Weights, class Visit>
  void join(const Weights& weight_of_link, Visit&& visit) {
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
  const BoundProblem& problem_;
  Ways ways_;
  std::vector<std::uint32_t> order_;
  std::vector<double> weight_;
};

/// A tree without the ways that lead to no member of the group.
[[nodiscard]] std::vector<Way> without_dead_ends(const BoundProblem& problem, GroupId group, std::span<const Way> tree);

}  // namespace tenex
