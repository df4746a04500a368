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

bool enough(std::span<const LinkBundle> bundles, std::int64_t time, std::int64_t chunks) {
  std::int64_t missing = chunks;
  for (const auto& bundle : bundles) {
    const std::int64_t each = delivered_by(bundle, time, missing);
    if (each == 0) continue;
    if (bundle.links >= ceil_div(missing, each)) return true;
    missing -= each * bundle.links;
  }
  return false;
}

}  // namespace

std::vector<LinkBundle> bundles_of(const Topology& topology, std::span<const std::int64_t> links_of_class, Bytes size,
                                   Occupancy occupancy) {
  std::vector<LinkBundle> bundles;
  for (std::size_t k = 0; k < links_of_class.size(); ++k)
    if (links_of_class[k] > 0) bundles.push_back({links_of_class[k], hop_time(topology.classes()[k], size, occupancy)});
  return bundles;
}

SimTime least_time(std::span<const LinkBundle> bundles, std::int64_t chunks) {
  if (chunks <= 0 || enough(bundles, 0, chunks)) return SimTime::zero();
  std::int64_t low = 0;  // not enough
  std::int64_t high = SimTime::max().count();
  if (!enough(bundles, high, chunks)) return SimTime::max();
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (enough(bundles, middle, chunks) ? high : low) = middle;
  }
  return picoseconds(high);
}

}  // namespace tenex
