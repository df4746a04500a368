// Builds the topology and the collective of a collective point.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/execution/options.hpp"
#include "tenex/topology/timing.hpp"
#include "tenex/topology/topology.hpp"
#include "tenex/topology/transform.hpp"

namespace tenex {

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

/// The same network with its switches: the point of any algorithm that uses them, with overlap. Only for topologies and
/// bounds.
[[nodiscard]] DesignPoint with_switches_kept(DesignPoint point);

/// Errors (input): faults by name, or counts of faults, that the point's topology does not have. O(links log links).
[[nodiscard]] Status check_faults(const DesignPoint& point);

/// The topology as bounds may read it, where it is not the point's own: they assume that the links of a shape's
/// dimension are alike, so a shape whose links the point slows down is forgotten. Windows only make links slower, so
/// bounds hold without them. O(links) if so.
[[nodiscard]] std::optional<Topology> topology_for_bounds(const DesignPoint& point, const Topology& topology);

/// The NPUs that the point lets start late.
[[nodiscard]] std::vector<StartDelay> start_delays_of(const DesignPoint& point);

/// Builds the point's transformed topology (shape or file, links removed, switches unwound). Errors: those of
/// build_topology() and of the machine file; (resource) more than `memory_limit_bytes` while it is built.
[[nodiscard]] Result<Topology> build_point_topology(
    const DesignPoint& point, std::size_t memory_limit_bytes = ExecutionOptions{}.memory_limit_bytes);
/// Builds the point's collective on a topology of `npus`; failed NPUs are not counted out there.
[[nodiscard]] Result<Collective> build_point_collective(const DesignPoint& point, std::size_t npus);

}  // namespace tenex
