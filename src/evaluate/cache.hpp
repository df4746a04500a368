// Internal to evaluate: what points share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "build.hpp"
#include "shared_cache.hpp"
#include "shared_schedules.hpp"
#include "tenex/evaluate/evaluate.hpp"
#include "training/training_setup.hpp"

namespace tenex {

struct VerifiedCollective;
struct JointTimes;

/// The bound and the metric beside it, which only depend on topology, collective and occupancy.
struct CachedBound {
  std::string name;
  SimTime time;
  std::int64_t paper_ideal_ps = -1;
};

class Cache::Impl {
 public:
  /// Studies of a million cheap points have as many bounds, each quickly found: they should not fill a rank.
  static constexpr std::size_t kMostForBounds = std::size_t{32} << 20;

  explicit Impl(std::size_t limit_bytes)
      : topologies(limit_bytes),
        bounds(std::min(limit_bytes / 16, kMostForBounds)),
        training(limit_bytes / 4),
        collectives(limit_bytes / 2),
        joint_times(limit_bytes / 64),
        schedules(limit_bytes / 4) {}
  SharedCache<Result<PointTopology>> topologies;
  SharedCache<CachedBound> bounds;
  TrainingCache training;
  SharedCache<Result<VerifiedCollective>> collectives;  ///< of training, by everything that they follow from
  SharedCache<Result<JointTimes>> joint_times;          ///< of two streams of them on the same links
  SharedSchedules schedules;                            ///< of synthesizers, for points that differ in pace alone
};

/// What tells topologies apart: everything that build_transformed_topology() reads.
[[nodiscard]] std::string topology_cache_key(const DesignPoint& point);
/// What tells transformed topologies apart whose links are all alike, however long these take: everything but alpha and
/// bandwidth.
[[nodiscard]] std::string topology_structure_key(const DesignPoint& point);
/// What tells bounds apart.
[[nodiscard]] std::string bound_cache_key(const DesignPoint& point);

}  // namespace tenex
