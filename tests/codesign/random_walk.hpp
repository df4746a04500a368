// Random feasible splits, which must not be better than an optimizer's answer.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "tenex/base/random.hpp"
#include "tenex/codesign/constraint.hpp"

namespace tenex::support {

/// Constraint sets as studies write them, all inside a total of 1000 GB/s.
inline const std::vector<std::vector<std::string>> kSets{
    {"total = 1000GB/s"},
    {"total <= 1000GB/s", "B1 >= B2 >= B3", "25GB/s <= B3 <= 150GB/s"},
    {"total = 1000GB/s", "cost <= 40MUSD"},
    {"total = 1000GB/s", "B1 + B2 = 500GB/s", "B4 >= 50GB/s"},
    {"total = 1000GB/s", "B1 >= 2*B2", "B3 <= 1.5*B4 + 10GB/s"},
    {"total <= 1000GB/s", "B1 >= B2", "B2 >= B1", "B4 <= 50GB/s", "B1 >= 10GB/s"},
};

/// A point inside each of kSets[0..4] (the last one is flat), found by hand.
inline const std::vector<std::vector<double>> kInside{{2.5e11, 2.5e11, 2.5e11, 2.5e11},
                                                      {3e11, 2e11, 1e11, 1e11},
                                                      {6e11, 2e11, 1.2e11, 0.8e11},
                                                      {3e11, 2e11, 3e11, 2e11},
                                                      {5e11, 2e11, 1e11, 2e11}};

/// Random points of a set (hit and run). Each is a random point on the line through the last one in a random direction
/// that keeps the equalities. `visit` is called with each, in B/s.
template <class Visit>
void walk(const std::vector<LinearConstraint>& rows, std::vector<double> point, int steps, Random& random,
          const Visit& visit) {
  const std::size_t n = point.size();
  std::vector<std::vector<double>> normals;  // orthonormal basis of the equalities' normals
  for (const auto& row : rows) {
    if (row.relation != Relation::equal) continue;
    std::vector<double> normal(row.coefficients.begin(), row.coefficients.end());
    for (const auto& known : normals) {
      double along = 0;
      for (std::size_t i = 0; i < n; ++i) along += known[i] * normal[i];
      for (std::size_t i = 0; i < n; ++i) normal[i] -= along * known[i];
    }
    double length = 0;
    for (const double part : normal) length += part * part;
    for (double& part : normal) part /= std::sqrt(length);
    normals.push_back(normal);
  }
  for (int step = 0; step < steps; ++step) {
    std::vector<double> direction(n);
    for (auto& part : direction) part = random.unit() + random.unit() + random.unit() - 1.5;
    for (const auto& normal : normals) {
      double along = 0;
      for (std::size_t i = 0; i < n; ++i) along += normal[i] * direction[i];
      for (std::size_t i = 0; i < n; ++i) direction[i] -= along * normal[i];
    }
    double back = -1e30;
    double forth = 1e30;
    const auto limit = [&](double slack, double rise) {
      if (rise > 0) forth = std::min(forth, slack / rise);
      if (rise < 0) back = std::max(back, slack / rise);
    };
    for (const auto& row : rows) {
      if (row.relation == Relation::equal) continue;
      double slack = static_cast<double>(row.bound);
      double rise = 0;
      for (std::size_t i = 0; i < n; ++i) {
        slack -= static_cast<double>(row.coefficients[i]) * point[i];
        rise += static_cast<double>(row.coefficients[i]) * direction[i];
      }
      limit(slack, rise);
    }
    for (std::size_t i = 0; i < n; ++i) limit(point[i] - 1, -direction[i]);
    const double length = back + (forth - back) * random.unit();
    for (std::size_t i = 0; i < n; ++i) point[i] += 0.999 * length * direction[i];
    visit(point);
  }
}

}  // namespace tenex::support
