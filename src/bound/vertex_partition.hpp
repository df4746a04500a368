// Partitions of a topology's vertices, for the strength bound.
#pragma once

#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tenex/bound/bound.hpp"

namespace tenex {

/// Disjoint sets of vertices, halving paths.
class DisjointSets {
 public:
  explicit DisjointSets(std::size_t size) : parent_(size) { std::iota(parent_.begin(), parent_.end(), 0U); }
  std::uint32_t find(std::uint32_t vertex) {
    while (parent_[vertex] != vertex) vertex = parent_[vertex] = parent_[parent_[vertex]];
    return vertex;
  }
  /// Joins two sets, given by what find() returned; returns that of the joined set.
  std::uint32_t unite(std::uint32_t a, std::uint32_t b) { return parent_[a] = b; }

 private:
  std::vector<std::uint32_t> parent_;
};

/// The sets of vertices that the links join for which `joins(LinkId)` holds. O(links).
template <class Joins>
[[nodiscard]] DisjointSets join_ends(const Topology& topology, const Joins& joins) {
  DisjointSets joined(topology.vertices());
  for (std::size_t l = 0; l < topology.links(); ++l) {
    const LinkId link = LinkId::at(l);
    if (!joins(link)) continue;
    const auto a = joined.find(topology.source(link).value());
    const auto b = joined.find(topology.target(link).value());
    if (a != b) joined.unite(a, b);
  }
  return joined;
}

/// What hangs below switches: for each level of switches but the highest, from NPUs alone (level 0) on, the sets that
/// links between vertices up to that level join. A leaf switch with its NPUs is such a set, and so is a pod of a fat
/// tree with all its switches. The level of a switch is the number of links to the nearest NPU. At most kMostLevels.
/// None without switches. O(links) per level.
[[nodiscard]] std::vector<DisjointSets> joined_below_levels(const Topology& topology);

/// Whether a vertex is a switch that neither adds nor copies.
[[nodiscard]] bool is_plain_switch(const Topology& topology, VertexId vertex);

/// A partition of the vertices, and its crossings per capacity between its parts, which single moves can raise.
class VertexPartition {
 public:
  /// The parts that the links lighter than `least` join. Plain switches are parts of their own. O(links).
  VertexPartition(const BoundProblem& problem, const std::vector<double>& weights, double least);

  /// Moves single vertices to neighbouring parts, or out of their part, as long as that raises the ratio, in at most
  /// `rounds` rounds of O(vertices^2 + links * degree), and as long as `work` (link visits) lasts. Not for topologies
  /// with plain switches.
  void improve(int rounds, std::uint64_t& work);

  [[nodiscard]] bool separates(LinkId link) const;

 private:
  [[nodiscard]] std::pair<VertexId, VertexId> ends(LinkId link) const {
    return {topology_.source(link), topology_.target(link)};
  }
  [[nodiscard]] double rate(LinkId link) const { return rate_of_class_[topology_.class_of(link)]; }
  [[nodiscard]] GroupId group_of(VertexId vertex) const {
    return topology_.is_npu(vertex) ? problem_.collective.group_of(NpuId(vertex.value())) : GroupId::none();
  }
  /// Crossings that a part with a member of the group adds.
  [[nodiscard]] double worth(GroupId group) const { return static_cast<double>(problem_.collective.chunks_in(group)); }

  void enter(VertexId vertex, std::uint32_t part);
  void leave(VertexId vertex);
  /// Crossings per capacity: a group's first part adds none.
  [[nodiscard]] double ratio() const;
  void move(VertexId vertex, std::uint32_t part);
  /// Link visits of a round.
  [[nodiscard]] std::uint64_t work_of_round() const;
  bool move_to_best(VertexId vertex);
  /// A name that no part has.
  [[nodiscard]] std::optional<std::uint32_t> find_empty() const;

  const BoundProblem& problem_;
  const Topology& topology_;
  std::vector<double> rate_of_class_;
  std::vector<std::uint32_t> part_;                              ///< per vertex: the name of its part
  std::vector<std::map<std::uint32_t, std::uint32_t>> members_;  ///< per part, by group
  double crossings_ = 0;                                         ///< chunks times parts with a member
  double between_ = 0;                                           ///< capacity of the links between parts
};

}  // namespace tenex
