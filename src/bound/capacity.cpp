// The floor-count search. Counts are capped at the demand, so no sum overflows.
#include "bound/capacity.hpp"

#include <algorithm>

namespace tenex {

namespace {

std::int64_t delivered_by(const LinkBundle& bundle, std::int64_t time, std::int64_t cap) {
  const std::int64_t latency = bundle.hop.latency.count();
  if (time < latency) return 0;
  return std::min(cap, (time - latency) / bundle.hop.busy.count() + 1);
}

bool bundles_suffice(std::span<const LinkBundle> bundles, std::int64_t time, std::int64_t chunks) {
  std::int64_t missing = chunks;
  for (const auto& bundle : bundles) {
    const std::int64_t each = delivered_by(bundle, time, missing);
    if (each == 0) continue;
    if (bundle.links >= ceil_div(missing, each)) return true;
    missing -= each * bundle.links;
  }
  return false;
}

/// The same where sends may carry several chunks.
bool enough_shared(const BoundProblem& problem, std::span<const std::int64_t> links_of_class, Bytes size,
                   std::int64_t time, std::int64_t chunks) {
  std::int64_t missing = chunks;
  for (std::size_t k = 0; k < links_of_class.size(); ++k) {
    if (links_of_class[k] == 0) continue;
    const std::int64_t each = std::min(missing, problem.delivered(k, size, picoseconds(time)));
    if (each == 0) continue;
    if (links_of_class[k] >= ceil_div(missing, each)) return true;
    missing -= each * links_of_class[k];
  }
  return false;
}

/// The least T in (0, SimTime::max()] for which `holds`, which is monotone: false, then true. SimTime::max() where it
/// never holds.
template <class Holds>
SimTime least_that(const Holds& holds) {
  std::int64_t low = 0;  // does not hold
  std::int64_t high = SimTime::max().count();
  if (!holds(high)) return SimTime::max();
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (holds(middle) ? high : low) = middle;
  }
  return picoseconds(high);
}

}  // namespace

std::vector<LinkBundle> bundles_of(const BoundProblem& problem, std::span<const std::int64_t> links_of_class,
                                   Bytes size) {
  std::vector<LinkBundle> bundles;
  for (std::size_t k = 0; k < links_of_class.size(); ++k)
    if (links_of_class[k] > 0) bundles.push_back({links_of_class[k], problem.hop(k, size)});
  return bundles;
}

SimTime least_time(std::span<const LinkBundle> bundles, std::int64_t chunks) {
  if (chunks <= 0 || bundles_suffice(bundles, 0, chunks)) return SimTime::zero();
  return least_that([&](std::int64_t time) { return bundles_suffice(bundles, time, chunks); });
}

SimTime least_time(const BoundProblem& problem, std::span<const std::int64_t> links_of_class, Bytes size,
                   std::int64_t chunks) {
  if (problem.single_chunks) return least_time(bundles_of(problem, links_of_class, size), chunks);
  if (chunks <= 0) return SimTime::zero();
  const std::int64_t amount = problem.divisible ? chunks * size.count() : chunks;
  return least_that([&](std::int64_t time) { return enough_shared(problem, links_of_class, size, time, amount); });
}

}  // namespace tenex
