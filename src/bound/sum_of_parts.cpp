// Sum of parts: an All-Reduce whose gather begins when the whole reduction has finished takes both times.
//
// Bound: T >= bound of the Reduce-Scatter + bound of the All-Gather. Proof. Without overlap no send of the gather
// starts before the last sum is complete.
//
// Holds only without overlap. With overlap a chunk's gather may begin when its own sum is complete: on a 3-NPU line
// with 4 chunks per NPU the sum says 16 steps, and 13 suffice.
#include "bound/methods.hpp"

namespace tenex {

std::optional<SimTime> sum_of_parts_bound(const BoundProblem& problem) {
  if (problem.collective.kind() != CollectiveKind::all_reduce || problem.overlap) return std::nullopt;
  const Collective reduction = problem.collective.as(CollectiveKind::reduce_scatter);
  const Collective gather = problem.collective.as(CollectiveKind::all_gather);
  BoundProblem part = problem;
  part.start_delays = {};
  const SimTime reducing = best_cheap_bound(part.with(reduction)).time;
  const SimTime gathering = best_cheap_bound(part.with(gather)).time;
  if (reducing > SimTime::max() - gathering) return SimTime::max();
  return reducing + gathering;
}

}  // namespace tenex
