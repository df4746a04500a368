// The links from one vertex to another, found by binary search.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tenex/base/ids.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// The out-links of every vertex, sorted by (target, id). Keeps no reference to the topology. O(links) memory.
class LinksByTarget {
 public:
  LinksByTarget() = default;
  /// O(links).
  explicit LinksByTarget(const Topology& topology);

  /// The parallel links from one vertex to another, in order of id. O(log degree).
  [[nodiscard]] std::span<const LinkId> between(VertexId from, VertexId to) const;

 private:
  std::vector<std::size_t> begin_;  // by vertex, then the end
  std::vector<LinkId> links_;
  std::vector<VertexId> targets_;  // of links_
};

}  // namespace tenex
