// Bandwidth splits to be found: LIBRA's prices, and iteration times with random terms.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "tenex/base/random.hpp"
#include "tenex/codesign/optimizer.hpp"

namespace tenex::benchmarks {

inline constexpr std::size_t kDimensions = 4;
inline constexpr std::size_t kModels = 64;

/// LIBRA's lowest prices on RI(4)_FC(8)_RI(4)_SW(32).
inline CostRates libra_rates() {
  return {{dollars(2 * 4096), dollars(4 * 4096), dollars(4 * 4096), Money::of(57'400'000LL * 4096)}};
}

inline TimeTerm random_term(Random& random) {
  TimeTerm term{1 + 100 * random.unit(), {}};
  for (std::size_t i = 0; i < kDimensions; ++i)
    term.volumes.push_back(random.unit() < 0.3 ? 0.0 : 1e6 * std::exp(10 * random.unit()));
  return term;
}

/// Each overlap runs one term concurrently with a computation and another term, like a layer's backward pass.
inline std::vector<TimeModel> random_models(int overlaps) {
  Random random(1);
  std::vector<TimeModel> models;
  for (std::size_t m = 0; m < kModels; ++m) {
    TimeModel model{kDimensions, random.unit() * 0.1, {}};
    for (int k = 0; k < 3; ++k) model.terms.push_back(random_term(random));
    for (int l = 0; l < overlaps; ++l) {
      const TimeSum inputs{0, {random_term(random)}};
      const TimeSum weights{random.unit() * 0.1, {random_term(random)}};
      model.overlaps.push_back({1 + 10 * random.unit(), inputs, weights});
    }
    models.push_back(model);
  }
  return models;
}

}  // namespace tenex::benchmarks
