// Sizes of a point, counted once for it. Plans, leases and the check of the time range read them.
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
  double sends = 0;           ///< in one pass that copies or reduces: n-1 per chunk of a group of n
  Bytes smallest_chunk;
  Bytes largest_chunk;
  double conditions = 0;  ///< that are stored, of all groups
  bool everyone = false;  ///< one group of all NPUs in their order
};

/// A program that a point may run.
struct SizedProgram : ProgramSizes {
  const Algorithm* algorithm = nullptr;
};

/// All sizes that determine the cost of a point, counted once for it.
struct PointSizes {
  TopologySizes topology;
  TopologySizes network;           ///< on which a schedule is checked and bounded: not that of unwound switches
  std::vector<LinkClass> classes;  ///< of its links, some of them perhaps more than once
  bool product = false;            ///< an intact product shape: routes and ring neighbours follow from its dimensions
  CollectiveSizes collective;
  double serialised_hops = 0;  ///< no less than the hops in a chain in which each waits for the one before: the sends
                               ///< over the busiest link and a path through all vertices
  double pair_hops = 1;        ///< mean hops of a route between two NPUs
  double neighbour_hops = 1;   ///< and between neighbours in the order of ids
  double pieces = 1;           ///< into which messages are cut at most, as far as sizes tell; 1 unless they are sprayed
  /// The programs that the point may run, or run beside its schedule, with approximate sizes: that of its textbook
  /// algorithm, or those of all that it tries. Not empty then: one of no size where none is able. Every piece of a
  /// sprayed message counts as a message.
  std::vector<SizedProgram> programs;
  ProgramSizes most;  ///< of these
};

/// Passes over the network: an All-Reduce reduces, then gathers.
[[nodiscard]] inline double passes_of(CollectiveKind kind) { return kind == CollectiveKind::all_reduce ? 2 : 1; }

/// The sizes of a point on a shape, without building it (`without` counts as one link each way per pair). O(dimensions
/// + length of the groups' text).
[[nodiscard]] PointSizes sizes_of_shape(const DesignPoint& point);
/// The sizes of a point whose algorithm sees a topology that was built; `network`: the point's own. O(groups +
/// dimensions).
[[nodiscard]] PointSizes sizes_of_built(const DesignPoint& point, const Topology& seen, const Topology& network,
                                        const Collective& collective);
/// Those of a collective alone; it is not said whether its group is everyone. O(groups).
[[nodiscard]] CollectiveSizes sizes_of_collective(const Collective& collective);

/// The most sends of a schedule that are played on the switches beside the time of a point that asks for unwound ones:
/// about ten seconds. Synthesizers that make more in less time have formulas for them, which a play has not.
inline constexpr std::uint64_t kMostPlayedSends = std::uint64_t{1} << 23;

/// The sizes by which a point decides: the largest over all textbook algorithms of as many NPUs, whatever they can do.
/// Part of the physics.
[[nodiscard]] ProgramSizes deciding_sizes(const DesignPoint& point, const PointSizes& sizes);

}  // namespace tenex
