// Sizes of a point from its settings alone. Plans, leases and the check of the time range use them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tenex/algorithm/algorithm.hpp"
#include "tenex/base/diagnostic.hpp"
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
  bool everyone = false;  ///< one group of all NPUs in their order
};

/// All sizes that determine the cost of a point.
struct PointSizes {
  TopologySizes topology;
  std::vector<LinkClass> classes;  ///< of its links, some of them perhaps more than once
  bool product = false;            ///< an intact product shape: routes and ring neighbours follow from its dimensions
  CollectiveSizes collective;
};

/// Passes over the network: an All-Reduce reduces, then gathers.
[[nodiscard]] inline double passes_of(CollectiveKind kind) { return kind == CollectiveKind::all_reduce ? 2 : 1; }

/// Whether the point's synthesizer sends over links between NPUs only and the point keeps its switches (a machine file
/// counts as if it had some): the synthesizer then schedules the network with its switches unwound to degree 1, and its
/// schedule is played on the switches.
[[nodiscard]] bool plays_on_switches(const DesignPoint& point);
/// The degree to which switches, if any, are unwound in the network that the point's algorithm sees; 0 if they stay.
[[nodiscard]] std::uint32_t unwinding_degree(const DesignPoint& point);

/// The sizes of a point on a shape, without building it (`without` counts as one link each way per pair). O(dimensions
/// + length of the groups' text).
[[nodiscard]] PointSizes sizes_of_shape(const DesignPoint& point);
/// The sizes of a built topology and collective. O(groups).
[[nodiscard]] PointSizes sizes_of_built(const Topology& topology, const Collective& collective);

/// The planned peak of memory while the point's topology is built: from the dimensions for shapes, from the length of
/// the text for machine files. O(dimensions).
[[nodiscard]] std::uint64_t planned_topology_bytes(const DesignPoint& point);
/// Errors (resource): more bytes than the limit; the message says that `who` ("the topology") needs more.
[[nodiscard]] Status check_memory(std::uint64_t bytes, std::size_t limit_bytes, std::string_view who);

/// An upper bound on the hops in a chain in which each waits for the one before: the sends over the busiest link and a
/// path through all vertices.
[[nodiscard]] double serialised_hops(const DesignPoint& point, const PointSizes& sizes);

/// Whether the point asks for the best of all textbook algorithms.
[[nodiscard]] inline bool tries_all(const DesignPoint& point) { return point.family == AlgorithmFamily::any_textbook; }
/// Whether the point runs a textbook algorithm, or the best of them.
[[nodiscard]] bool is_program(const DesignPoint& point);
/// Whether every message or send of the point's algorithm is known to carry one chunk; false for the best of all.
[[nodiscard]] bool sends_single_chunks(const DesignPoint& point);
/// Whether the point's textbook algorithm, or one of those it tries on so many NPUs, has a trait.
[[nodiscard]] bool may_run(const DesignPoint& point, std::uint64_t npus, bool Algorithm::*trait);

/// The most sends of a schedule that are played on the switches beside the time of a point that asks for unwound ones:
/// about ten seconds. Synthesizers that make more in less time have formulas for them, which a play has not.
inline constexpr std::uint64_t kMostPlayedSends = std::uint64_t{1} << 23;

/// Mean hops of a route between two NPUs.
[[nodiscard]] double mean_route_hops(const DesignPoint& point, const PointSizes& sizes);

/// Into how many pieces the point's messages are cut at most, as far as sizes tell; 1 unless they are sprayed.
/// O(dimensions).
[[nodiscard]] double most_pieces(const DesignPoint& point);

/// A program that a point may run.
struct SizedProgram : ProgramSizes {
  const Algorithm* algorithm = nullptr;
};
/// The programs that the point may run, with approximate sizes: that of its textbook algorithm, or those of all that it
/// tries. Not empty: one of no size where none is able. Every piece of a sprayed message counts as a message.
[[nodiscard]] std::vector<SizedProgram> sizes_of_programs(const DesignPoint& point, const PointSizes& sizes);
/// The largest of these.
[[nodiscard]] ProgramSizes most_of(const std::vector<SizedProgram>& programs);
/// The sizes by which a point decides: the largest over all textbook algorithms of as many NPUs, whatever they can do.
/// Part of the physics.
[[nodiscard]] ProgramSizes deciding_sizes(const DesignPoint& point, const PointSizes& sizes);

}  // namespace tenex
