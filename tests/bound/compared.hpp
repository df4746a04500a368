// All bounds of a problem against the time of a valid schedule.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/bound/bound.hpp"
#include "tenex/bound/certificates.hpp"

namespace tenex::support {

inline const std::vector<CollectiveKind> kAllKinds{
    CollectiveKind::all_gather,  CollectiveKind::reduce_scatter, CollectiveKind::all_reduce, CollectiveKind::broadcast,
    CollectiveKind::reduce,      CollectiveKind::all_to_all,     CollectiveKind::gather,     CollectiveKind::scatter,
    CollectiveKind::all_to_allv, CollectiveKind::halo_exchange,  CollectiveKind::conditions};

/// The largest bound; empty `wrong` if all are at most `time` and all checkers agree.
struct Compared {
  SimTime largest;
  std::string wrong;
};

inline constexpr std::uint64_t kSearchWork = 1U << 20;

inline Compared compare(const BoundProblem& problem, SimTime time) {
  Compared compared;
  const auto take = [&](std::string_view name, SimTime bound) {
    compared.largest = std::max(compared.largest, bound);
    if (bound > time) compared.wrong += fmt::format(" {} {} > {}", name, bound.count(), time.count());
  };
  const auto take_certified = [&](const BoundMethod& method, const CertifiedBound& found) {
    const auto proves = method.time_of(problem, found);
    take(method.name, proves);
    if (method.check(problem, found) != proves) compared.wrong += fmt::format(" {}'s checker disagrees", method.name);
  };
  for (const auto& bound : cheap_bounds(problem)) take(bound.name, bound.time);
  const StandIn stand_in(problem);
  for (const auto& method : bound_methods()) {
    if (method.certify == nullptr || !method.concerns(problem.collective.kind())) continue;
    if (const auto found = method.certify(problem, kSearchWork)) {
      take_certified(method, *found);
      if (method.time_of(problem, *found) != found->time) compared.wrong += " a search names another time";
    }
    if (const auto found = stand_in.find(method, kSearchWork)) take_certified(method, *found);
  }
  return compared;
}

}  // namespace tenex::support
