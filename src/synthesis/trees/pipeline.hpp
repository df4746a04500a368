// Trees as a periodic schedule: when each link carries which tree's sums and copies (modulo scheduling).
//
// Every period starts all trees with new chunks, so a send takes its link at the same time of every period. Sends are
// placed in the order in which they become ready, each at the first time that is free in all periods. Sends of a link
// stand on a raster of the time that a chunk keeps it busy, so that a link that is full has no gaps.
#pragma once

#include <cstdint>
#include <vector>

#include "synthesis/trees/packing.hpp"
#include "tenex/schedule/storage/periodic_schedule.hpp"

namespace tenex {

struct Pipeline {
  PeriodicSchedule schedule;
  SimTime time;            ///< the last arrival
  SimTime rate_time = {};  ///< as in Synthesis; for the caller to fill in
};

/// The All-Reduce of `chunks` chunks over `trees`, in periods of `period` (at least packing_period()). O(S log S) for S
/// sends of a period, and the search for free times.
[[nodiscard]] Pipeline pipeline_all_reduce(const TreeNetwork& network, const std::vector<SpanningTree>& trees,
                                           SimTime period, std::uint64_t chunks);

}  // namespace tenex
