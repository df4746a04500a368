// Distances through a topology whose links weigh zero or one, for the flow bound: 64 sources at a time.
//
// Vertices that links without weight join in both directions are one part. A breadth-first search over the parts keeps
// a word per part, in which each bit is a source: a link costs one operation for all sources that pass it at the same
// distance (the idea of bit-parallel searches: Then et al., "The more the merrier: efficient multi-source graph
// traversal", VLDB 2014).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bound/weighted_links.hpp"
#include "tenex/base/csr.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// Distances from one vertex after another; memory O(64 * vertices + links).
class ZeroOnePaths {
 public:
  /// `sources`: those that search() will be asked for, in this order. nullopt where a link weighs more than one, or
  /// none and no link without weight leads back. O(links log links).
  static std::optional<ZeroOnePaths> of(const Topology& topology, const LinkWeights& weights,
                                        std::span<const VertexId> sources);

  /// The next source. Every 64th call searches, for as many sources: O(64 * vertices + links * the lesser of 64 and the
  /// hops of the longest path).
  void search(VertexId source);

  /// Infinite where there is no path.
  [[nodiscard]] double distance(VertexId vertex) const {
    const auto hops = hops_[part_of_[vertex.index()] * kLanes + lane_];
    return hops == kUnreached ? std::numeric_limits<double>::infinity() : hops;
  }

 private:
  static constexpr std::size_t kLanes = 64;
  static constexpr std::uint32_t kUnreached = std::numeric_limits<std::uint32_t>::max();

  ZeroOnePaths(std::vector<std::uint32_t> part_of, Csr<std::uint32_t> next, std::span<const VertexId> sources);

  void search_batch(std::span<const VertexId> sources);

  std::vector<std::uint32_t> part_of_;
  Csr<std::uint32_t> next_;  ///< parts that links of weight one lead to, by part
  std::vector<VertexId> sources_;
  std::size_t asked_ = 0;  ///< calls of search()
  std::size_t lane_ = 0;
  std::vector<std::uint32_t> hops_;    ///< by part and lane
  std::vector<std::uint64_t> seen_;    ///< by part: the lanes that have reached it
  std::vector<std::uint64_t> fresh_;   ///< by part: those that reach it after as many hops as are searched now
  std::vector<std::uint64_t> coming_;  ///< by part: those that reach it one hop later
};

}  // namespace tenex
