// The sends of a plan, and their re-timing.
//
// Idea of the re-timing: links keep their order and every send starts as soon as its link is free and its chunk has
// arrived (schedule/timing/player.hpp). In a schedule's re-timing, deliveries are looked up by vertex and chunk, in a
// table that for an All-to-All is far larger than the plan. Here nothing is delivered twice, so every send has one
// predecessor, the send that delivers its chunk to its source. It is found chunk by chunk, and one pass in the order of
// planned starts gives the new starts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "synthesis/pccl/paths/network.hpp"
#include "tenex/base/csr.hpp"
#include "tenex/schedule/schedule.hpp"
#include "tenex/schedule/timing/player.hpp"

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

/// For every send the one that delivers its chunk to its source; the largest number where the chunk starts. At a switch
/// that does not copy, the sends of a chunk take its deliveries in their order. `hops` are in the order of starts;
/// latency(hop) in the unit of starts. O(sends log sends + chunks).
template <class Time, class Latency>
[[nodiscard]] std::vector<std::uint32_t> predecessors(const PathNetwork& network, std::size_t chunks,
                                                      const std::vector<PlannedHop<Time>>& hops, Latency&& latency) {
  constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  const auto by_chunk = Csr<std::uint32_t>::group(
      chunks, hops.size(), [&](std::size_t i) { return hops[i].chunk; },
      [](std::size_t i) { return static_cast<std::uint32_t>(i); });
  std::vector<std::uint32_t> before(hops.size(), none);
  std::vector<std::uint32_t> delivered(network.vertices(), none);  ///< or the place in `queue` of the next delivery
  std::vector<std::uint32_t> queue;
  for (std::size_t chunk = 0; chunk < by_chunk.rows(); ++chunk) {
    queue.clear();
    for (const std::uint32_t i : by_chunk.row(chunk))
      if (!network.branches(network.target(hops[i].link))) queue.push_back(i);
    std::sort(queue.begin(), queue.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::tuple(network.target(hops[a].link), hops[a].start + latency(hops[a]), a) <
             std::tuple(network.target(hops[b].link), hops[b].start + latency(hops[b]), b);
    });
    for (std::uint32_t place = static_cast<std::uint32_t>(queue.size()); place-- > 0;)
      delivered[network.target(hops[queue[place]].link)] = place;
    for (const std::uint32_t i : by_chunk.row(chunk)) {
      const std::uint32_t source = network.source(hops[i].link);
      const std::uint32_t target = network.target(hops[i].link);
      before[i] = network.branches(source) ? delivered[source] : queue[delivered[source]++];
      if (network.branches(target)) delivered[target] = i;
    }
    for (const std::uint32_t i : by_chunk.row(chunk)) delivered[network.target(hops[i].link)] = none;
  }
  return before;
}

/// The order of sends on physical links, where links are wires. A wire takes its links at different times, so of two
/// sends the one that starts later may be the first on a link.
template <class Time>
class WireOrder {
 public:
  template <class Latency>
  WireOrder(const PathNetwork& network, const std::vector<PlannedHop<Time>>& hops, Latency&& latency)
      : network_(network), serialization_(hops.size()), begin_(hops.size() + 1, 0) {
    std::vector<std::uint64_t> order;
    std::vector<std::uint32_t> hop_of;
    for (std::size_t i = 0; i < hops.size(); ++i) {
      serialization_[i] = static_cast<Time>(latency(hops[i]) - network.alpha(hops[i].link));
      begin_[i + 1] = begin_[i] + network.uses(hops[i].link).size();
      hop_of.resize(begin_[i + 1], static_cast<std::uint32_t>(i));
    }
    const auto use_of = [&](std::uint64_t at) { return network.uses(hops[hop_of[at]].link)[at - begin_[hop_of[at]]]; };
    order.resize(hop_of.size());
    std::iota(order.begin(), order.end(), std::uint64_t{0});
    std::sort(order.begin(), order.end(), [&](std::uint64_t a, std::uint64_t b) {
      const auto key = [&](std::uint64_t at) {
        return std::pair(use_of(at).link, hops[hop_of[at]].start + static_cast<Time>(use_of(at).offset));
      };
      return key(a) < key(b);
    });
    before_.assign(order.size(), kNone);
    for (std::size_t i = 1; i < order.size(); ++i) {
      const auto earlier = use_of(order[i - 1]);
      const auto later = use_of(order[i]);
      if (earlier.link != later.link) continue;
      const std::uint32_t hop = hop_of[order[i - 1]];
      before_[order[i]] = {hop, static_cast<Time>(earlier.offset + serialization_[hop] + earlier.extra - later.offset)};
    }
  }

  /// The earliest start of a send after those before it on its links.
  [[nodiscard]] Time earliest(const std::vector<PlannedHop<Time>>& hops, std::size_t i) const {
    Time start = 0;
    for (std::uint64_t at = begin_[i]; at < begin_[i + 1]; ++at)
      if (before_[at].hop != kNone.hop) start = std::max(start, hops[before_[at].hop].start + before_[at].distance);
    return start;
  }

 private:
  struct Before {
    std::uint32_t hop;
    Time distance;  ///< from its start
  };
  static constexpr Before kNone{std::numeric_limits<std::uint32_t>::max(), 0};

  const PathNetwork& network_;
  std::vector<Time> serialization_;
  std::vector<std::uint64_t> begin_;  ///< by send, into before_
  std::vector<Before> before_;        ///< by use
};

/// retime_hops() where links are wires: rounds over all sends until nothing moves, from zero on, so that the result is
/// the least solution. Few rounds, since sends that start sooner mostly come first on links.
template <class Time, class Latency>
Time retime_wires(const PathNetwork& network, std::size_t chunks, std::vector<PlannedHop<Time>>& hops,
                  Latency&& latency) {
  const auto before = predecessors(network, chunks, hops, latency);
  const WireOrder<Time> order(network, hops, latency);
  for (auto& hop : hops) hop.start = 0;
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t i = 0; i < hops.size(); ++i) {
      Time start = order.earliest(hops, i);
      if (before[i] < hops.size()) start = std::max(start, hops[before[i]].start + latency(hops[before[i]]));
      moved = moved || start > hops[i].start;
      hops[i].start = std::max(hops[i].start, start);
    }
  }
  Time end = 0;
  for (const auto& hop : hops) end = std::max(end, hop.start + latency(hop));
  std::sort(hops.begin(), hops.end());
  return end;
}

/// Starts every send of a valid plan as soon as possible; returns the last arrival. `hops` are sorted and are sorted
/// again. busy(hop) and latency(hop) give the send's times in the unit of `start`. Fewer than 2^32 sends. Not where
/// buffers are limited: what arrives sooner would wait longer. O(sends log sends + chunks) time, some 30 bytes per
/// send.
template <class Time, class Busy, class Latency>
Time retime_hops(const PathNetwork& network, std::size_t chunks, std::vector<PlannedHop<Time>>& hops, Busy&& busy,
                 Latency&& latency) {
  if (network.wired()) return retime_wires(network, chunks, hops, latency);
  const auto before = predecessors(network, chunks, hops, latency);
  SendPlayer<Time> player(network.links(), hops.size() + 1);  // a place per send, and one for what is there at first
  player.begin_held(0, hops.size() + 1);
  Time end = 0;
  for (std::size_t i = 0; i < hops.size(); ++i) {
    const auto times = player.send(hops[i].link, before[i] < i ? before[i] : hops.size(), i, busy(hops[i]),
                                   latency(hops[i]), Stage::copy);
    hops[i].start = times.start;
    end = std::max(end, times.arrival);
  }
  std::sort(hops.begin(), hops.end());
  return end;
}

}  // namespace tenex
