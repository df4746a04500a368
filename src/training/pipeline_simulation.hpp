// A pipeline simulated task by task, with messages between its stages on real links.
//
// Every NPU does its stage's tasks in the order of the schedule (pipeline_tasks()), each as soon as the one before it
// has ended and what it needs has arrived. A task that another stage waits for sends a message when it ends; the NPU
// computes on. A message takes the route of its two NPUs, link by link, stored and forwarded; a link serves one message
// at a time, first come, first served. The groups of a pipeline lie in equal and disjoint copies of the dimensions that
// they span (dimension_network.hpp), so all groups of one copy are simulated together: they share its links.
#pragma once

#include <cstdint>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/workload/parallelization.hpp"
#include "tenex/workload/pipeline_schedule.hpp"
#include "training/collective_models.hpp"

namespace tenex {

/// What stages send each other after each task of a (virtual) stage.
struct StageMessages {
  Bytes forward;
  Bytes backward;
};

/// The lengths of an iteration: the longest span of a stage from its first to its last task.
struct PipelineRun {
  SimTime time;
  SimTime without_backward;  ///< if messages of backward passes took no time
  SimTime without_messages;  ///< if no message took time: pipeline_time_by_tasks()
};

/// Simulates the pipeline of a mapping. Errors (resource): more tasks than fit the memory limit, with the bytes. Errors
/// of the topology. O(tasks * hops * log).
[[nodiscard]] Result<PipelineRun> simulate_pipeline(const TrainingNetwork& network, const Mapping& mapping,
                                                    const Pipelining& pipelining, std::int64_t microbatches,
                                                    const StageTimes& times, const StageMessages& messages);

}  // namespace tenex
