// The weights of links that prove most, by linear programming: for bounds whose weights are linear in routings.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tenex {

/// What has to be routed. For weights of links it finds the lightest routing.
class LightestRouting {
 public:
  virtual ~LightestRouting() = default;
  /// Parts that are routed by themselves, such as what one member sends.
  [[nodiscard]] virtual std::size_t sources() const = 0;
  /// Finds the lightest routing, and adds what each source puts on each link to loads[source * links + link]. Returns
  /// its weight: the sum of weight * load. Infinite where there is none.
  virtual double route(const std::vector<double>& weights, std::span<double> loads) = 0;
};

/// The weights w, one per link, that make the weight of the lightest routing largest, the sum of w * capacity being
/// one: to 1e-9, or as good as `work` allows (rows * iterations of the simplex method, some 1 us each). Empty where the
/// solver fails. A routing that treats symmetric links alike makes the program small. Deterministic.
[[nodiscard]] std::vector<double> best_weights(const std::vector<double>& capacities, LightestRouting& lightest,
                                               double work);

}  // namespace tenex
