// Counts what each link by itself can have delivered, and nothing faster.
#include "bound/checked_time.hpp"

#include <vector>

namespace tenex {

namespace {

/// What one link can have delivered by a time: chunks, or bytes where sends may carry several chunks.
CheckedSum delivered(const BoundProblem& problem, const LinkClass& link, Bytes size, CheckedSum time) {
  if (!problem.single_chunks)
    return time <= link.alpha.count()
               ? 0
               : (time - link.alpha.count()) * link.effective_bandwidth().count() / 1'000'000'000'000;
  const auto hop = hop_time(link, size, problem.occupancy);
  return time < hop.latency.count() ? 0 : (time - hop.latency.count()) / hop.busy.count() + 1;
}

}  // namespace

SimTime checked_time(const BoundProblem& problem, std::span<const std::uint32_t> weights, Bytes size,
                     CheckedSum needed) {
  if (needed == 0) return SimTime::zero();
  if (!problem.single_chunks) needed *= size.count();
  std::vector<CheckedSum> weight_of(problem.topology.classes().size(), 0);
  for (std::size_t l = 0; l < weights.size(); ++l) weight_of[problem.topology.class_of(LinkId::at(l))] += weights[l];
  const auto carried = [&](CheckedSum time) {
    CheckedSum sum = 0;
    for (std::size_t k = 0; k < weight_of.size(); ++k)
      if (weight_of[k] > 0) sum += weight_of[k] * delivered(problem, problem.topology.classes()[k], size, time);
    return sum;
  };
  CheckedSum low = 0;
  CheckedSum high = SimTime::max().count();
  if (carried(high) < needed) return SimTime::max();
  while (high - low > 1) {
    const CheckedSum middle = (low + high) / 2;
    (carried(middle) < needed ? low : high) = middle;
  }
  return picoseconds(static_cast<std::int64_t>(high));
}

}  // namespace tenex
