// Builds the topology and the collective of a collective point.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/execution/options.hpp"
#include "tenex/topology/plan.hpp"
#include "tenex/topology/topology.hpp"
#include "tenex/topology/transform.hpp"

namespace tenex {

struct ExecutionCache;

struct PointTopology {
  Topology topology;
  std::uint32_t unwound_degree = 0;  ///< as the point asks; 0: its switches stay, or it has none
  std::size_t failed_links = 0;      ///< of the network before unwinding
  /// What the point's synthesizer schedules in place of the topology, where plays_on_switches() and there are switches;
  /// else null.
  std::shared_ptr<const UnwoundNetwork> for_synthesis = nullptr;
};

/// Builds the topology from the shape or file, gives its switches the point's properties, removes links and what has
/// failed, unwinds switches if the point asks for it (or beside them, for its synthesizer), and turns paths over
/// cut-through switches into wires. Checks that the topology is connected if nothing has failed; else check_point()
/// does. Does not check memory.
[[nodiscard]] Result<PointTopology> build_transformed_topology(const DesignPoint& point);

/// Whether links of one dimension of the point's network may differ, since stragglers slow some down, or messages to a
/// switch have an overhead that those from it have not. O(stragglers).
[[nodiscard]] bool has_unlike_links(const DesignPoint& point, const Topology& network);

/// The same network with its switches: the point of any algorithm that uses them, with overlap. Only for topologies and
/// bounds.
[[nodiscard]] DesignPoint with_switches_kept(DesignPoint point);

/// Errors (input): faults by name, or counts of faults, that the point's topology does not have. O(links log links).
[[nodiscard]] Status check_faults(const DesignPoint& point);

/// The planned peak of memory while the point's topology is built: from the dimensions for shapes, from the length of
/// the text for machine files. O(dimensions).
[[nodiscard]] std::uint64_t planned_topology_bytes(const DesignPoint& point);
/// Whether the network of a shape's point consists of wires over its switches.
[[nodiscard]] inline bool has_wires(const DesignPoint& point) {
  return point.topology.switches.forwarding == SwitchForwarding::cut_through && point.topology.unwind == 0 &&
         count_shape(point.topology.shape).switches > 0;
}

/// The point's transformed topology, found or built. `key`: its cache_key(kOfNetwork). Errors: those of
/// build_transformed_topology().
[[nodiscard]] std::shared_ptr<const Result<PointTopology>> find_topology(const DesignPoint& point,
                                                                         const std::string& key, ExecutionCache& cache);
/// The same if building it takes no more than the limit. Errors (resource): it takes more.
[[nodiscard]] std::shared_ptr<const Result<PointTopology>> find_topology_within(const DesignPoint& point,
                                                                                std::size_t memory_limit_bytes,
                                                                                ExecutionCache& cache);

/// Builds the point's transformed topology (shape or file, links removed, switches unwound). Errors: those of
/// build_topology() and of the machine file; (resource) more than `memory_limit_bytes` while it is built.
[[nodiscard]] Result<Topology> build_point_topology(
    const DesignPoint& point, std::size_t memory_limit_bytes = ExecutionOptions{}.memory_limit_bytes);
/// Builds the point's collective on a topology of `npus`; failed NPUs are not counted out there.
[[nodiscard]] Result<Collective> build_point_collective(const DesignPoint& point, std::size_t npus);

/// What a point is prepared from.
struct PointParts {
  std::shared_ptr<const PointTopology> network;
  std::shared_ptr<const Collective> collective;
  std::uint64_t topology_bytes = 0;  ///< planned_topology_bytes(point)
};
/// The point's network, found in the cache or built, and its collective. `network_key`: its cache_key(kOfNetwork).
/// `topology_bytes`, if not null, gets the planned bytes in any case. Errors: (resource) the topology takes more than
/// the limit; those of build_transformed_topology() and of the collective. O(links + NPUs of groups).
[[nodiscard]] Result<PointParts> build_parts(const DesignPoint& point, const std::string& network_key,
                                             std::size_t memory_limit_bytes, ExecutionCache& cache,
                                             std::uint64_t* topology_bytes = nullptr);

}  // namespace tenex
