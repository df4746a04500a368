// Results that training points share: workloads mapped to shapes, splits of bandwidth, the times of collectives.
#pragma once

#include <cstddef>
#include <memory>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/shared_cache.hpp"
#include "tenex/workload/workload_model.hpp"

namespace tenex {

struct BandwidthSplit;
struct CostModelFile;
struct ExecutionCache;
struct Iteration;
struct JointTimes;
struct TrainingSetup;
struct VerifiedCollective;

/// Memory-bounded and thread-safe. It never changes a result. `execution` must outlive it.
struct TrainingCache {
  TrainingCache(std::size_t limit_bytes, ExecutionCache& shared)
      : execution(shared),
        models(limit_bytes / 64),
        cost_models(limit_bytes / 64),
        iterations(limit_bytes / 32),
        setups(limit_bytes / 8),
        splits(limit_bytes / 32),
        pipelined(limit_bytes / 32),
        collectives(limit_bytes / 2),
        joint_times(limit_bytes / 64) {}

  ExecutionCache& execution;
  SharedCache<Result<WorkloadModel>> models;
  SharedCache<Result<CostModelFile>> cost_models;
  SharedCache<Result<std::shared_ptr<const Iteration>>> iterations;
  SharedCache<Result<TrainingSetup>> setups;
  SharedCache<Result<BandwidthSplit>> splits;
  SharedCache<Result<VerifiedCollective>> pipelined;    ///< collectives of one group on its own part of the network
  SharedCache<Result<VerifiedCollective>> collectives;  ///< collectives of all groups of a scope on the real topology
  SharedCache<Result<JointTimes>> joint_times;          ///< two concurrent streams of collectives on the same links
};

}  // namespace tenex
