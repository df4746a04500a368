// Chunks that have one destination each, and the ways on which they go: what balanced routing plans.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tenex/base/csr.hpp"
#include "tenex/base/ids.hpp"
#include "tenex/collective/instance.hpp"
#include "tenex/topology/timing.hpp"

namespace tenex {

/// A chunk on its way to one NPU.
struct Unicast {
  ChunkId chunk;
  VertexId from;
  VertexId to;
  std::uint32_t size = 0;  ///< Collective::size_class()
};

/// The links of every unicast, in the order in which it takes them.
struct UnicastWays {
  std::vector<std::uint64_t> first;  ///< of each unicast in `links`, and the end
  std::vector<LinkId> links;
  [[nodiscard]] std::span<const LinkId> of(std::size_t unicast) const {
    return std::span(links).subspan(first[unicast], first[unicast + 1] - first[unicast]);
  }
};

/// The times of all chunk sizes on all classes of links. O(1) to read.
class SizedHops {
 public:
  explicit SizedHops(const Instance& instance);
  [[nodiscard]] const HopTime& of(LinkId link, std::uint32_t size) const { return hops_[lane(link, size)]; }
  /// The number of a pair of class and size, below lanes().
  [[nodiscard]] std::size_t lane(LinkId link, std::uint32_t size) const {
    return topology_.class_of(link) * sizes_ + size;
  }
  [[nodiscard]] std::size_t lanes() const { return hops_.size(); }

 private:
  const Topology& topology_;
  std::size_t sizes_;
  std::vector<HopTime> hops_;
};

}  // namespace tenex
