// The collective time models that simulate or synthesize, and a bound for each.
//
//   pipeline     the textbook multi-rail algorithm, chunk by chunk with its bubbles, simulated on one group's part of
//                the network (its dimensions, with the bandwidth that its own links carry)
//   themis       the same under Themis' order of dimensions, chosen chunk by chunk
//   synthesized  an algorithm or synthesizer on the real topology, all groups of a scope at once; with contention also
//                the groups of two scopes at once on the same links
//   bound        proven lower bounds in place of times: a loop's time grows with each communication's, so a loop over
//                bounds is a bound on the iteration
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/execution/execution_cache.hpp"
#include "tenex/execution/options.hpp"
#include "tenex/topology/topology.hpp"
#include "tenex/training/training_cache.hpp"
#include "tenex/training/training_point.hpp"
#include "tenex/workload/collective_time.hpp"

namespace tenex {

/// The network of a training point once its bandwidths are known.
struct TrainingNetwork {
  const DesignPoint& point;          ///< chunks, algorithm, attempts, engine, occupancy, seed, alpha
  std::vector<Bandwidth> bandwidth;  ///< per NPU and dimension
  ExecutionOptions options;          ///< threads and memory
  TrainingCache& cache;              ///< shared by the points of a rank; never changes a time
};

/// A model that also counts its costs. Not thread-safe: one per point.
class MeasuredCollectiveTime : public CollectiveTime {
 public:
  [[nodiscard]] virtual const CollectiveEffort& effort() const = 0;
};

struct GroupNetwork;

/// The algorithm of All-Reduces over switches that add and copy.
inline constexpr std::string_view kInNetwork = "trees";
/// The same where several groups share the switches, which trees do not know.
inline constexpr std::string_view kInNetworkOfGroups = "pccl";
/// Whether the collective of a group's point is an All-Reduce, and some of its switches add and copy. O(1).
[[nodiscard]] bool reduces_in_network(const DesignPoint& group_point);

/// What the collective of one group that pipeline or themis simulates depends on, and its bound.
inline constexpr Changes kOfPipelined = kOfNetwork | kOfBoundOnNetwork | Changes::synthesis | Changes::simulation;
/// The point that pipeline (or themis) simulates for a collective of one group; the collective's bound is that of the
/// point's topology and collective. `communication` must be a collective.
[[nodiscard]] DesignPoint pipelined_point(const TrainingNetwork& network, const GroupNetwork& group,
                                          const Communication& communication, bool themis);

/// `themis`: Themis instead of the fixed order. Errors (input): chunks < 1, no alpha.
[[nodiscard]] Result<std::unique_ptr<MeasuredCollectiveTime>> make_pipeline_time(const TrainingNetwork& network,
                                                                                 bool themis);
/// `contention`: concurrent communications share the links. Errors (input): chunks < 1, no alpha.
[[nodiscard]] Result<std::unique_ptr<MeasuredCollectiveTime>> make_synthesized_time(const TrainingNetwork& network,
                                                                                    bool contention);
/// A model whose times are lower bounds on those of make_pipeline_time() and make_synthesized_time() on this network.
[[nodiscard]] Result<std::unique_ptr<CollectiveTime>> make_bound_time(const TrainingNetwork& network,
                                                                      TimingModel collective_time);

}  // namespace tenex
