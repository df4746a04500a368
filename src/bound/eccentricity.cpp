// Eccentricity: some chunk or contribution must travel between the two NPUs of a group that are farthest apart.
//
// A message of a chunk's size takes alpha + beta*m per hop, store-and-forward, whatever other traffic there is. So no
// time is below the largest distance of a pair that has to communicate: any two members (All-Gather, Reduce-Scatter,
// All-Reduce), root to member (Broadcast), member to root (Reduce). An All-Reduce counts one distance only: a
// contribution that has travelled the farthest distance may complete a sum on arrival.
#include <algorithm>

#include "bound/eccentricities.hpp"
#include "bound/methods.hpp"

namespace tenex {

std::optional<SimTime> eccentricity_bound(const BoundProblem& problem) {
  const bool inward = problem.collective.kind() == CollectiveKind::reduce;
  SimTime bound = SimTime::zero();
  for (const auto& each : eccentricities(problem, inward ? Direction::inward : Direction::outward))
    bound = std::max(bound, each.distance);
  return bound;
}

}  // namespace tenex
