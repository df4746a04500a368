// The topology of a shape before it is built: its sizes, the memory that building it takes, and whether it can be
// built.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/topology/shape.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// Sizes of a topology that may not exist yet.
struct TopologySizes {
  std::uint64_t npus = 0;
  std::uint64_t switches = 0;
  std::uint64_t links = 0;  ///< directed
  [[nodiscard]] std::uint64_t vertices() const { return npus + switches; }
  bool operator==(const TopologySizes&) const = default;
};

/// The sizes of a shape. `unwind` = 0 keeps its switches; otherwise they are unwound to that degree. O(dimensions).
[[nodiscard]] TopologySizes sizes_of(const Shape& shape, std::uint32_t unwind = 0);

/// Bytes of a topology of these sizes at the peak of its construction: the builder's list of links, the frozen columns
/// and both CSR indices. O(1).
[[nodiscard]] std::uint64_t topology_bytes(const TopologySizes& sizes);
/// The same for a shape; includes the topology before unwinding where it is unwound. O(dimensions).
[[nodiscard]] std::uint64_t topology_bytes(const Shape& shape, std::uint32_t unwind = 0);

/// The link class of each dimension or level after unwinding of switches: `bandwidth` is divided as build_topology()
/// and unwind_switches() divide it, or more where switches are joined with each other. Empty where check_shape()
/// reports an error. O(dimensions).
[[nodiscard]] std::vector<LinkClass> link_classes(const Shape& shape, const ShapeLinks& links,
                                                  std::uint32_t unwind = 0);

/// The errors that build_topology(), and unwind_switches() after it, would report; empty where they succeed. Bandwidths
/// so small that they might round to zero are refused where switches are joined. O(dimensions).
[[nodiscard]] Diagnostics check_shape(const Shape& shape, const ShapeLinks& links, std::uint32_t unwind = 0);

}  // namespace tenex
