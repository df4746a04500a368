// What collective points share: topologies, bounds, and schedules that differ in pace alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "tenex/base/shared_cache.hpp"
#include "tenex/execution/build.hpp"
#include "tenex/execution/shared_schedules.hpp"

namespace tenex {

/// A bound and the metric beside it. Both depend on topology, collective and occupancy alone.
struct CachedBound {
  std::string name;
  SimTime time;
  std::int64_t paper_ideal_ps = -1;
};

/// Memory-bounded and thread-safe. It never changes a result.
struct ExecutionCache {
  /// Studies of a million cheap points have as many bounds, each quickly found: they should not fill a rank.
  static constexpr std::size_t kMostForBounds = std::size_t{32} << 20;

  explicit ExecutionCache(std::size_t limit_bytes)
      : topologies(limit_bytes), bounds(std::min(limit_bytes / 16, kMostForBounds)), schedules(limit_bytes / 4) {}
  SharedCache<Result<PointTopology>> topologies;
  SharedCache<CachedBound> bounds;
  SharedSchedules schedules;
};

/// The text that tells topologies apart: everything that build_transformed_topology() reads.
[[nodiscard]] std::string topology_cache_key(const DesignPoint& point);
/// The text that tells transformed topologies apart whose links are all alike, however long these take: everything but
/// alpha and bandwidth.
[[nodiscard]] std::string topology_structure_key(const DesignPoint& point);
/// The text that tells bounds apart.
[[nodiscard]] std::string bound_cache_key(const DesignPoint& point);

/// The point's transformed topology, found or built. Errors: those of check_topology_memory() and of
/// build_transformed_topology().
[[nodiscard]] std::shared_ptr<const Result<PointTopology>> find_topology(const DesignPoint& point,
                                                                         std::size_t memory_limit_bytes,
                                                                         ExecutionCache& cache);
/// The best lower bound of the point, and the paper's ideal time. `single_chunks`: every send carries one chunk.
[[nodiscard]] std::shared_ptr<const CachedBound> find_bound(const DesignPoint& point, const Topology& topology,
                                                            const Collective& collective, bool single_chunks,
                                                            ExecutionCache& cache);

}  // namespace tenex
