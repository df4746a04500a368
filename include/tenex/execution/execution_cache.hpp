// Results that collective points share: topologies, bounds, and schedules that differ in pace alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "tenex/algorithm/algorithm.hpp"
#include "tenex/base/shared_cache.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/execution/build.hpp"
#include "tenex/execution/prepared_point.hpp"
#include "tenex/execution/shared_schedules.hpp"

namespace tenex {

/// A lower bound and the papers' ideal time. Both depend on topology, collective, occupancy, overlap, `single_chunks`,
/// start delays and the work of the search alone.
struct CachedBound {
  std::string name;
  SimTime time;
  std::int64_t paper_ideal_ps = -1;
  bool holds_for_all = true;  ///< BoundProblem::holds_for_all()
  std::string left_out = {};  ///< names of bounds with certificates whose search was cut short, with spaces between
};

/// Memory-bounded and thread-safe. It never changes a result.
struct ExecutionCache {
  /// A study of a million cheap points has as many bounds, each quick to compute, so they get little of a rank's
  /// memory.
  static constexpr std::size_t kMostForBounds = std::size_t{32} << 20;
  static constexpr std::size_t kMostForCertificates = std::size_t{256} << 20;
  static constexpr std::size_t kMostForParts = std::size_t{64} << 20;

  explicit ExecutionCache(std::size_t limit_bytes)
      : topologies(limit_bytes),
        bounds(std::min(limit_bytes / 16, kMostForBounds)),
        certificates(std::min(limit_bytes / 16, kMostForCertificates)),
        program_parts(std::min(limit_bytes / 16, kMostForParts)),
        schedules(limit_bytes / 4) {}
  SharedCache<Result<PointTopology>> topologies;
  SharedCache<CachedBound> bounds;
  SharedCache<std::optional<CertifiedBound>> certificates;
  ProgramParts program_parts;
  SharedSchedules schedules;
};

/// The key of all that depends on a point by what its settings change alone: equal for points that agree in all
/// settings that change something of `changes`. With Changes::network it also tells apart what else makes networks: the
/// draws of faults, and whether a synthesizer keeps switches. The one way to make keys of points. O(length).
[[nodiscard]] std::string cache_key(const DesignPoint& point, Changes changes);
/// What a topology depends on.
inline constexpr Changes kOfNetwork = Changes::network | Changes::latency | Changes::bandwidth;
/// What a schedule depends on at any pace, its collective apart.
inline constexpr Changes kOfSchedule = Changes::network | Changes::synthesis | Changes::draws;
/// What a bound depends on beside its network.
inline constexpr Changes kOfBoundOnNetwork = Changes::collective | Changes::chunks | Changes::size | Changes::bound;

/// The topology as bounds may read it, where it is not the point's own: they assume that the links of a shape's
/// dimension are alike, so a shape whose links the point slows down is forgotten. Windows only make links slower, so
/// bounds hold without them. O(links) if so.
[[nodiscard]] std::optional<Topology> topology_for_bounds(const DesignPoint& point, const Topology& topology);

/// The best cheap bound of the point, and the papers' ideal time. `single_chunks`: every send carries one chunk. The
/// collective is the point's own.
[[nodiscard]] std::shared_ptr<const CachedBound> find_cheap_bound(const PreparedPoint& prepared, bool single_chunks,
                                                                  ExecutionCache& cache);
/// Raises a bound to the best that certificates prove, each searched within `work` link visits, or found. Nothing where
/// these are less than two for each link.
void raise_by_certificates(CachedBound& bound, const BoundProblem& problem, std::uint64_t work, ExecutionCache& cache);
/// The best of all bounds, cheap ones and those with certificates, each searched within `work` (PointPlan::bound_work).
/// Certificates are shared by points that differ in size, chunks or pace alone. They are not searched where the best
/// cheap bound reaches `time`, that of a schedule, as no bound is above it.
[[nodiscard]] std::shared_ptr<const CachedBound> find_bound(const PreparedPoint& prepared, bool single_chunks,
                                                            SimTime time, std::uint64_t work, ExecutionCache& cache);
/// The best of all bounds of a schedule that stands alone, as find_bound() has it for a row whose schedule is read send
/// by send.
[[nodiscard]] CachedBound bound_of_schedule(const BoundProblem& problem, ExecutionCache& cache);

}  // namespace tenex
