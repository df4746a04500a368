// The sends of a plan, and their re-timing.
//
// Idea of the re-timing: as in schedule/retime.hpp, links keep their order and every send starts as soon as its link is
// free and its chunk has arrived. There, deliveries are looked up by vertex and chunk, in a table that for an
// All-to-All is far larger than the plan. Here nothing is delivered twice, so every send has one predecessor, the send
// that delivers its chunk to its source. It is found chunk by chunk, and one pass in the order of planned starts gives
// the new starts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "synthesis/pccl/paths/network.hpp"
#include "tenex/base/csr.hpp"
#include "tenex/schedule/schedule.hpp"

namespace tenex {

/// A send; `start` counts slots or picoseconds.
template <class Time>
struct PlannedHop {
  Time start;
  std::uint32_t link;
  std::uint32_t chunk;

  /// By (start, link).
  friend bool operator<(const PlannedHop& a, const PlannedHop& b) {
    return a.start != b.start ? a.start < b.start : a.link < b.link;
  }
};

/// The schedule of sends in picoseconds, sorted by (start, link). O(sends).
[[nodiscard]] Schedule schedule_of(std::vector<PlannedHop<std::int64_t>> hops);

/// For every send the one that delivers its chunk to its source; the largest number where the chunk starts. `hops` are
/// in the order of starts. O(sends + chunks).
template <class Time>
[[nodiscard]] std::vector<std::uint32_t> predecessors(const PathNetwork& network, std::size_t chunks,
                                                      const std::vector<PlannedHop<Time>>& hops) {
  constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  const auto by_chunk = Csr<std::uint32_t>::group(
      chunks, hops.size(), [&](std::size_t i) { return hops[i].chunk; },
      [](std::size_t i) { return static_cast<std::uint32_t>(i); });
  std::vector<std::uint32_t> before(hops.size(), none);
  std::vector<std::uint32_t> delivered(network.vertices(), none);
  for (std::size_t chunk = 0; chunk < by_chunk.rows(); ++chunk) {
    for (const std::uint32_t i : by_chunk.row(chunk)) {
      before[i] = delivered[network.source(hops[i].link)];
      delivered[network.target(hops[i].link)] = i;
    }
    for (const std::uint32_t i : by_chunk.row(chunk)) delivered[network.target(hops[i].link)] = none;
  }
  return before;
}

/// Starts every send of a valid plan as soon as possible; returns the last arrival. `hops` are sorted and are sorted
/// again. busy(hop) and latency(hop) give the send's times in the unit of `start`. Fewer than 2^32 sends. O(sends log
/// sends + chunks) time, some 30 bytes per send.
template <class Time, class Busy, class Latency>
Time retime_hops(const PathNetwork& network, std::size_t chunks, std::vector<PlannedHop<Time>>& hops, Busy&& busy,
                 Latency&& latency) {
  const auto before = predecessors(network, chunks, hops);
  std::vector<Time> free(network.links(), 0);
  Time end = 0;
  for (std::size_t i = 0; i < hops.size(); ++i) {
    Time& link_free = free[hops[i].link];
    Time start = link_free;
    if (before[i] < i) start = std::max(start, hops[before[i]].start + latency(hops[before[i]]));
    hops[i].start = start;
    link_free = start + busy(hops[i]);
    end = std::max(end, start + latency(hops[i]));
  }
  std::sort(hops.begin(), hops.end());
  return end;
}

}  // namespace tenex
