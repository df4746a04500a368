// Regions and models for the tests of this module.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "tenex/base/random.hpp"
#include "tenex/codesign/optimizer.hpp"

namespace tenex::support {

/// The rates of RI(4)_FC(8)_RI(4)_SW(32) at LIBRA's lowest prices: 2, 4, 4 and 7.8 + 18.0 + 31.6 = 57.4 dollars per
/// GB/s and NPU, 4,096 NPUs.
inline CostRates libra_4d_rates() {
  return {{dollars(2 * 4096), dollars(4 * 4096), dollars(4 * 4096), Money::of(57'400'000LL * 4096)}};
}

/// The rows of one text for a network.
inline Result<std::vector<LinearConstraint>> rows_of_text(std::string_view text, std::size_t dimensions,
                                                          const CostRates* rates, const Place& place) {
  const auto constraint = parse_constraint(text, place);
  if (!constraint) return constraint.errors();
  return rows_of(*constraint, dimensions, rates);
}

inline std::vector<LinearConstraint> constraints(std::size_t dimensions, const std::vector<std::string>& texts,
                                                 const CostRates* rates = nullptr) {
  std::vector<LinearConstraint> rows;
  for (const auto& text : texts) {
    auto parsed = rows_of_text(text, dimensions, rates, {"study.toml", 1, 1});
    EXPECT_TRUE(parsed.ok()) << to_string(parsed.errors());
    if (parsed.ok()) rows.insert(rows.end(), parsed->begin(), parsed->end());
  }
  return rows;
}

inline BandwidthRegion region(std::size_t dimensions, const std::vector<std::string>& texts,
                              const CostRates* rates = nullptr) {
  auto made = make_region(dimensions, constraints(dimensions, texts, rates));
  EXPECT_TRUE(made.ok()) << to_string(made.errors());
  return std::move(made).value();
}

/// Terms whose volumes span four decades; some are zero.
inline TimeModel random_model(Random& random, std::size_t dimensions, int terms) {
  TimeModel model{dimensions, random.unit() * 0.1, {}};
  for (int k = 0; k < terms; ++k) {
    TimeTerm term{1 + 100 * random.unit(), {}};
    for (std::size_t i = 0; i < dimensions; ++i)
      term.volumes.push_back(random.unit() < 0.3 ? 0.0 : 1e6 * std::exp(9.2 * random.unit()));
    model.terms.push_back(term);
  }
  return model;
}

/// Terms and overlaps; a side may have no terms but a constant, or no constant.
inline TimeModel random_overlap_model(Random& random, std::size_t dimensions, int terms, int overlaps) {
  TimeModel model = random_model(random, dimensions, terms);
  const auto side = [&](int least) {
    const int count = least + static_cast<int>(3 * random.unit());
    const double constant = random.unit() < 0.4 ? 0.0 : 0.3 * random.unit() * random.unit();
    return TimeSum{constant, random_model(random, dimensions, count).terms};
  };
  for (int l = 0; l < overlaps; ++l) {
    auto first = side(0);
    model.overlaps.push_back({1 + 10 * random.unit(), std::move(first), side(1)});
  }
  return model;
}

inline double gigabytes(Bandwidth bandwidth) { return static_cast<double>(bandwidth.count()) * 1e-9; }

/// The split; a refusal is a failure of the test.
inline BandwidthSplit split(SplitScheme scheme, const TimeModel& model, const BandwidthRegion& set,
                            const CostRates* rates = nullptr) {
  const auto made = split_bandwidth(scheme, model, set, rates);
  EXPECT_TRUE(made.ok()) << to_string(made.errors());
  return made.ok() ? *made : BandwidthSplit{};
}

}  // namespace tenex::support
