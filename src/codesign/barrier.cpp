// The barrier method: moves from centre to centre until the proven bound is close enough.
#include "codesign/barrier.hpp"

#include <limits>

#include "codesign/central_path.hpp"

namespace tenex::codesign {
namespace {

constexpr double kShrink = 0.05;         ///< of the barrier parameter from one centre to the next
constexpr double kWellCentred = 1e-9;    ///< squared Newton decrement of a centre whose multipliers prove a bound
constexpr int kMostPolishingSteps = 8;   ///< to reach such a centre; rounding may prevent it
constexpr double kLeastBarrier = 1e-15;  ///< relative to the objective

}  // namespace

ConvexAnswer solve_convex(const ConvexProblem& problem, std::span<const double> start, double gap, double constant) {
  CentralPath path(problem, start);
  ConvexAnswer best{{start.begin(), start.end()}, path.value(), -std::numeric_limits<double>::infinity(), 0};
  const double fixed = constant / path.unit();
  const auto barriers = static_cast<double>(path.barriers());
  bool first = true;
  for (double barrier = 1 / barriers; barrier > kLeastBarrier * (best.value + fixed); barrier *= kShrink) {
    const bool moved = path.centre(barrier, kCentred);
    const double value = path.value();
    if (first || value < best.value) {
      best.value = value;
      best.x = path.point();
      first = false;
    }
    // On the path the gap is barrier * barriers. As long as it is far above the target, the bound is not worth a step.
    const double target = gap * (best.value + fixed);
    if (barrier * barriers > 2 * target && moved) continue;
    path.centre(barrier, kWellCentred,
                kMostPolishingSteps);  // multipliers are first-order accurate: the nearer the centre, the better
    best.lower = std::max(best.lower, path.lower_bound());
    if (best.value - best.lower <= target || !moved) break;
  }
  best.steps = path.steps();
  best.value *= path.unit();
  best.lower *= path.unit();
  return best;
}

}  // namespace tenex::codesign
