// Internal to cli: what `--observe` prints of a point or of a replayed schedule.
#pragma once

#include <cstdint>
#include <span>

#include "report.hpp"
#include "tenex/simulation/simulator.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex::cli {

/// What was recorded; empty: it was not asked for.
struct Observations {
  std::span<const LinkLoad> loads = {};  ///< one per link
  std::int64_t bin_ps = 0;               ///< width of a bin of `busy_ps`
  std::span<const std::int64_t> busy_ps = {};
  std::span<const Delivery> arrivals = {};
  std::span<const std::int64_t> group_times_ps = {};
};

/// Adds them as lists of the report. `topology`: of the loads, null without them. `links`: whose busy times are summed
/// in each bin.
void add_observations(Report& report, const Topology* topology, std::int64_t links, const Observations& observed);

}  // namespace tenex::cli
