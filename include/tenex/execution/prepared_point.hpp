// A collective point, prepared once: all that its checks, plan, run, bound and row ask of it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/collective/instance.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/execution/build.hpp"
#include "tenex/execution/sizes.hpp"
#include "tenex/synthesis/synthesizer.hpp"
#include "tenex/topology/timing.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

struct ExecutionCache;

/// A collective on the network of a point. `point` must outlive it.
struct PreparedPoint {
  const DesignPoint& point;
  const Synthesizer* synthesizer;  ///< null: a textbook algorithm, or the best of them
  std::shared_ptr<const PointTopology> network;
  std::shared_ptr<const Collective> collective;
  std::vector<StartDelay> start_delays;
  PointSizes sizes = {};             ///< of the network that the algorithm sees, counted here once
  std::uint64_t topology_bytes = 0;  ///< planned_topology_bytes(point)
  std::string network_key = {};      ///< cache_key(point, kOfNetwork)

  [[nodiscard]] const Topology& topology() const { return network->topology; }
  /// What the synthesizer schedules in place of the topology; null where it schedules that.
  [[nodiscard]] const UnwoundNetwork* unwound() const {
    return synthesizer != nullptr && !synthesizer->reads.switches ? network->for_synthesis.get() : nullptr;
  }
  [[nodiscard]] const Topology& topology_of_algorithm() const { return unwound() ? unwound()->topology : topology(); }
  [[nodiscard]] Instance instance() const { return {topology(), *collective, point.occupancy}; }
  /// What the synthesizer is asked, in one thread; it refers to the topology that it sees and to the collective.
  [[nodiscard]] SynthesisProblem problem(std::size_t memory_limit_bytes) const;
};

/// The point with its network, found in the cache or built, its collective, and its sizes. `topology_bytes`, if not
/// null, gets planned_topology_bytes(point) in any case. Errors: those of build_parts(). O(links + NPUs of groups).
[[nodiscard]] Result<PreparedPoint> prepare(const DesignPoint& point, std::size_t memory_limit_bytes,
                                            ExecutionCache& cache, std::uint64_t* topology_bytes = nullptr);
/// The point with another collective on its topology: of other groups, or with its own on another network.
[[nodiscard]] PreparedPoint prepare_with(const DesignPoint& point, std::shared_ptr<const PointTopology> network,
                                         std::shared_ptr<const Collective> collective);

/// The NPUs that the point lets start late.
[[nodiscard]] std::vector<StartDelay> start_delays_of(const DesignPoint& point);

/// Errors (resource): more bytes than the limit; the message says that `who` ("the topology") needs more.
[[nodiscard]] Status check_memory(std::uint64_t bytes, std::size_t limit_bytes, std::string_view who);
/// Whether the point may run. To be asked before anything is synthesized, simulated or bounded. Errors, in this order:
/// - (unsupported) a textbook algorithm on a topology with a switch whose buffer is limited: its messages would need
///   flow control, which is not simulated (the congestion-unaware backend needs none), or a play on such switches;
/// - (input) faults cut a member of a group off from another one;
/// - (input) some schedule of the collective may take longer than kLongestTime.
/// O(switches + classes * chunk sizes), and O(groups * links) with faults.
[[nodiscard]] Status check_point(const PreparedPoint& prepared);
/// Parts of check_point(): whether faults leave every group together, and whether all times fit.
[[nodiscard]] Status check_reach(const PreparedPoint& prepared);
[[nodiscard]] Status check_time_range(const PreparedPoint& prepared);
/// What the point's run will refuse, from its network, groups and algorithm alone: the first two of check_point(), an
/// All-Reduce without overlap by an algorithm without halves, and what a textbook algorithm does not support.
[[nodiscard]] Status check_support(const PreparedPoint& prepared);

}  // namespace tenex
