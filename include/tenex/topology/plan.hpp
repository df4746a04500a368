// What a shape's topology will be before it is built: its size, the memory that building it takes, and whether it can
// be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/topology/shape.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// Sizes of a topology that need not exist yet.
struct TopologySizes {
  std::uint64_t npus = 0;
  std::uint64_t switches = 0;
  std::uint64_t links = 0;  ///< directed
  [[nodiscard]] std::uint64_t vertices() const { return npus + switches; }
  bool operator==(const TopologySizes&) const = default;
};

/// The sizes of a shape whose switches stay (`unwind` = 0) or are unwound to a degree. O(dimensions).
[[nodiscard]] TopologySizes sizes_of(const Shape& shape, std::uint32_t unwind = 0);

/// Bytes of a topology of these sizes at the peak of its making: the builder's list of links, the frozen columns and
/// both CSR indices. O(1).
[[nodiscard]] std::uint64_t topology_bytes(const TopologySizes& sizes);
/// The same for a shape, with the topology before unwinding where it is unwound. O(dimensions).
[[nodiscard]] std::uint64_t topology_bytes(const Shape& shape, std::uint32_t unwind = 0);

/// The link class of each dimension, unwound where it is a switch (`bandwidth` divided as build_topology() and
/// unwind_switches() do); empty where check_shape() has something to say. O(dimensions).
[[nodiscard]] std::vector<LinkClass> link_classes(const Shape& shape, const ShapeLinks& links,
                                                  std::uint32_t unwind = 0);

/// What build_topology(), and unwind_switches() after it, would refuse; empty where they succeed. O(dimensions).
[[nodiscard]] Diagnostics check_shape(const Shape& shape, const ShapeLinks& links, std::uint32_t unwind = 0);

}  // namespace tenex
