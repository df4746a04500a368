// The members of a process group as vertices of a directed graph, for algorithms that lay Hamiltonian cycles over it.
//
// An arc joins two members where the route between them passes over switches alone. Messages take routes, so an arc has
// one path, and of parallel links the one that routes take counts. Links carry several arcs (an NPU's link to a switch
// carries all arcs of that NPU over it), so capacities belong to links.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tenex/base/hash.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/topology/routes.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// The arcs between the members of a group, by rank, and the capacities of their links. Two networks are equal if the
/// same cycles fit them in the same way.
class RingNetwork {
 public:
  static constexpr std::uint32_t kNoArc = UINT32_MAX;
  static constexpr std::size_t kMostSpeeds = 8;
  struct Arc {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    bool operator==(const Arc&) const = default;
  };

  explicit RingNetwork(std::uint32_t members) : members_(members), arc_(std::size_t{members} * members, kNoArc) {}

  /// Adds the arc from one rank to another over links, which are numbers of this network. O(links).
  void add_arc(Arc arc, std::span<const std::uint32_t> links);
  /// Adds a link with its capacity in B/s; returns its number.
  std::uint32_t add_link(std::int64_t capacity);

  [[nodiscard]] std::uint32_t members() const { return members_; }
  [[nodiscard]] std::span<const Arc> arcs() const { return arcs_; }
  /// The arc from one rank to another; kNoArc where there is none.
  [[nodiscard]] std::uint32_t arc(std::uint32_t from, std::uint32_t to) const {
    return arc_[std::size_t{from} * members_ + to];
  }
  /// The links of an arc, by number.
  [[nodiscard]] std::span<const std::uint32_t> links(std::uint32_t arc) const {
    return std::span(links_of_).subspan(first_link_[arc], first_link_[arc + 1] - first_link_[arc]);
  }
  /// By link, in B/s.
  [[nodiscard]] std::span<const std::int64_t> capacities() const { return capacity_; }
  /// The arcs that leave a rank. O(1).
  [[nodiscard]] std::span<const std::uint32_t> arcs_from(std::uint32_t rank) const { return from_[rank]; }

  /// Sets of links, of each of which every Hamiltonian cycle takes at least one: those out of a member and into it, and
  /// those out of and into a part that faster arcs join than those around it. At most kMostSpeeds of the distinct
  /// capacities are looked at. O(arcs * links per arc) for each.
  [[nodiscard]] std::vector<std::vector<std::uint32_t>> cuts() const;
  /// Whether every arc has an arc back, and all links have links of the same capacity back.
  [[nodiscard]] bool symmetric() const;

  bool operator==(const RingNetwork&) const = default;
  /// Of all that it has: equal networks have equal digests. O(links + arcs * links per arc).
  [[nodiscard]] Digest digest() const;

 private:
  /// Numbers the parts that arcs of at least a speed join, by member; returns how many there are.
  std::uint32_t join_parts(const std::vector<std::int64_t>& speed, std::int64_t least,
                           std::vector<std::uint32_t>& part_of) const;

  std::uint32_t members_;
  std::vector<std::uint32_t> arc_;  ///< by from * members + to
  std::vector<Arc> arcs_;
  std::vector<std::uint32_t> links_of_;
  std::vector<std::size_t> first_link_{0};
  std::vector<std::vector<std::uint32_t>> from_ = std::vector<std::vector<std::uint32_t>>(members_);
  std::vector<std::int64_t> capacity_;
};

/// The network of each group. Groups whose arcs take the same link get equal parts of its bandwidth. O(members^2 * hops
/// over switches), and a breadth-first tree per member where the topology is no intact shape.
[[nodiscard]] std::vector<RingNetwork> ring_networks(const Topology& topology, const Collective& collective,
                                                     RouteChoice routes = {});

}  // namespace tenex
