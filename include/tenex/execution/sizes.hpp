// How large a point is, from its words alone: what plans, leases and the range of time go by.
#pragma once

#include <cstdint>
#include <vector>

#include "tenex/algorithm/algorithm.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/topology/plan.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// The collective in numbers.
struct CollectiveSizes {
  std::uint64_t members = 0;  ///< of all groups
  std::uint64_t chunks = 0;   ///< of all groups
  double sends = 0;           ///< of one copying or reducing pass: n-1 per chunk of a group of n
  Bytes smallest_chunk;
  Bytes largest_chunk;
  bool everyone = false;  ///< one group of all NPUs in their order
};

/// Everything that the cost of a point follows from.
struct PointSizes {
  TopologySizes topology;
  std::vector<LinkClass> classes;  ///< of its links, some of them perhaps more than once
  bool product = false;            ///< an intact product shape: routes and ring neighbours follow from its dimensions
  CollectiveSizes collective;
};

/// Passes over the network: an All-Reduce reduces, then gathers.
[[nodiscard]] inline double passes_of(CollectiveKind kind) { return kind == CollectiveKind::all_reduce ? 2 : 1; }

/// The degree to which a point's switches are unwound where it has any; 0 where they stay.
[[nodiscard]] std::uint32_t unwinding_degree(const DesignPoint& point);

/// The point is a shape: its sizes without building it (`without` counts as one link each way per pair).
/// O(dimensions + length of the groups' text).
[[nodiscard]] PointSizes sizes_of_shape(const DesignPoint& point);
/// The sizes of what has been built. O(groups).
[[nodiscard]] PointSizes sizes_of_built(const Topology& topology, const Collective& collective);

/// Bytes at the peak of making the point's topology, before it is made: by dimensions for shapes, by the length of the
/// text for machine files. O(dimensions).
[[nodiscard]] std::uint64_t planned_topology_bytes(const DesignPoint& point);

/// More hops than can follow one another in the point, one waiting for the other: what may pass over the busiest link,
/// and a path through all vertices.
[[nodiscard]] double serialised_hops(const DesignPoint& point, const PointSizes& sizes);

/// The point asks for the best of all textbook algorithms.
[[nodiscard]] inline bool tries_all(const DesignPoint& point) { return point.algorithm == kBestAlgorithm; }
/// The point is for a textbook algorithm, or for the best of them.
[[nodiscard]] bool is_program(const DesignPoint& point);
/// Whether every message or send of the point's algorithm carries one chunk; nothing is known of the best of all.
[[nodiscard]] bool sends_single_chunks(const DesignPoint& point);
/// Whether the point's textbook algorithm, or one of those it tries on so many NPUs, has a trait.
[[nodiscard]] bool may_run(const DesignPoint& point, std::uint64_t npus, bool Algorithm::*trait);

/// What the point's textbook algorithm sends, about; where it tries all, the most that one of them does.
[[nodiscard]] ProgramSizes sizes_of_program(const DesignPoint& point, const PointSizes& sizes);

}  // namespace tenex
