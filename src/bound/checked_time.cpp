// Counts what each link by itself can have delivered, and nothing faster.
#include "bound/checked_time.hpp"

namespace tenex {

namespace {

/// What all links, weighted, can have delivered by a time: chunks, or bytes where sends may carry several chunks.
CheckedSum carried(const BoundProblem& problem, std::span<const std::uint32_t> weights, Bytes size, CheckedSum time) {
  CheckedSum sum = 0;
  for (std::size_t l = 0; l < weights.size(); ++l) {
    const auto& link = problem.topology.classes()[problem.topology.class_of(LinkId::at(l))];
    if (problem.single_chunks) {
      const auto hop = hop_time(link, size, problem.occupancy);
      if (time >= hop.latency.count()) sum += weights[l] * ((time - hop.latency.count()) / hop.busy.count() + 1);
    } else if (time > link.alpha.count()) {
      sum += weights[l] * ((time - link.alpha.count()) * link.effective_bandwidth().count() / 1'000'000'000'000);
    }
  }
  return sum;
}

}  // namespace

SimTime checked_time(const BoundProblem& problem, std::span<const std::uint32_t> weights, Bytes size,
                     CheckedSum needed) {
  if (needed == 0) return SimTime::zero();
  if (!problem.single_chunks) needed *= size.count();
  CheckedSum low = 0;
  CheckedSum high = SimTime::max().count() / 2;
  if (carried(problem, weights, size, high) < needed) return SimTime::max();
  while (high - low > 1) {
    const CheckedSum middle = (low + high) / 2;
    (carried(problem, weights, size, middle) < needed ? low : high) = middle;
  }
  return picoseconds(static_cast<std::int64_t>(high));
}

}  // namespace tenex
