// All that bounds claim of a problem, and the names of all that makes schedules for it.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/algorithm/algorithm.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/bound/certificates.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex::support {

/// The names of all algorithms and synthesizers.
inline std::vector<std::string> makers() {
  std::vector<std::string> names{std::string(kAutoAlgorithm)};
  for (const auto& algorithm : algorithms()) names.emplace_back(algorithm.name);
  for (const auto& synthesizer : synthesizers()) names.emplace_back(synthesizer.name);
  return names;
}

/// A bound and its time.
struct Claim {
  std::string_view name;
  SimTime time;
};

struct Claims {
  std::vector<Claim> all;
  std::string refuted;  ///< where a checker disagrees
};

/// The times of all methods that apply. Those with a certificate search for it, and take that of the problem's stand-in
/// as well, as rows do. `work_limit`: link visits of each search.
inline Claims claims_of(const BoundProblem& problem, std::uint64_t work_limit) {
  Claims claims;
  const auto claim = [&](const BoundMethod& method, const CertifiedBound& certified, SimTime time) {
    claims.all.push_back({method.name, time});
    const auto checked = method.check(problem, certified);
    if (checked != time)
      claims.refuted = fmt::format("{} says {} ps, its checker {} ps", method.name, time.count(), checked.count());
  };
  for (const auto& method : bound_methods()) {
    if (method.compute != nullptr) {
      if (const auto time = method.compute(problem)) claims.all.push_back({method.name, *time});
      continue;
    }
    if (!method.concerns(problem.collective.kind())) continue;
    if (const auto found = method.certify(problem, work_limit)) claim(method, *found, found->time);
    if (const auto found = StandIn(problem).find(method, work_limit))
      claim(method, *found, method.time_of(problem, *found));
  }
  return claims;
}

}  // namespace tenex::support
