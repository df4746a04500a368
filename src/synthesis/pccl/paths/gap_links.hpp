// The free gaps of links whose sends take unequally long: exact times, any interval.
//
// Encoding: per link its gaps, sorted and disjoint, each at least as long as the link's shortest send: shorter ones can
// hold nothing and are dropped. The last gap has no end.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "synthesis/pccl/paths/network.hpp"
#include "synthesis/pccl/paths/planned_hop.hpp"
#include "tenex/base/bitset.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/schedule/schedule.hpp"

namespace tenex {

class GapLinks {
 public:
  using Time = std::int64_t;                    ///< picoseconds
  using Cell = std::uint32_t;                   ///< distances: network.unit()
  __extension__ using Key = unsigned __int128;  ///< of open vertices: a time, a distance and a vertex
  static constexpr unsigned kHalf = 32;         ///< bits of a Key for the distance, and for the vertex

  GapLinks(const PathNetwork& network, const Collective& collective)
      : network_(&network),
        collective_(&collective),
        gaps_(network.links(), std::vector<Gap>{{0, kNoEnd}}),
        load_(network.links(), 0) {}

  [[nodiscard]] Cell weight(std::uint32_t link, std::size_t size) const { return network_->weight(link, size); }
  [[nodiscard]] Time least(Cell distance) const { return static_cast<Time>(distance) * network_->unit().count(); }
  [[nodiscard]] Time latency(std::uint32_t link, std::size_t size) const {
    return network_->hop(link, size).latency.count();
  }

  [[nodiscard]] Time busy(std::uint32_t link, std::size_t size) const { return network_->hop(link, size).busy.count(); }

  /// The earliest start at `time` or later of a send that the link has time for. O(log gaps + gaps that are too short).
  [[nodiscard]] Time free_from(std::uint32_t link, Time time, std::size_t size) const {
    const Time busy = this->busy(link, size);
    const auto& gaps = gaps_[link];
    auto gap = std::upper_bound(gaps.begin(), gaps.end(), time, [](Time t, const Gap& g) { return t < g.end; });
    while (std::max(time, gap->begin) + busy > gap->end) ++gap;
    return std::max(time, gap->begin);
  }

  void take(std::uint32_t link, Time start, std::size_t size, std::uint32_t chunk);
  /// Takes out all sends of the chunks whose bit is set. O(sends log sends).
  void drop(const Bitset& chunks);
  /// All sends, sorted by (start, link). O(sends log sends).
  [[nodiscard]] std::vector<PlannedHop<Time>> hops() const;
  /// Replaces all sends. O(links + sends log sends).
  void assign(const std::vector<PlannedHop<Time>>& hops);

  [[nodiscard]] std::uint64_t sends() const { return hops_.size(); }
  /// The time for which the link is busy.
  [[nodiscard]] Time load(std::uint32_t link) const { return load_[link]; }

  /// The last arrival. O(sends).
  [[nodiscard]] Time end() const;
  [[nodiscard]] static SimTime time_of(Time time) { return picoseconds(time); }
  [[nodiscard]] Schedule finish() &&;

 private:
  static constexpr Time kNoEnd = std::numeric_limits<Time>::max();
  struct Gap {
    Time begin;
    Time end;
  };

  void rebuild();

  [[nodiscard]] Time busy_of(const PlannedHop<Time>& hop) const {
    return busy(hop.link, collective_->size_class(ChunkId(hop.chunk)));
  }

  const PathNetwork* network_;
  const Collective* collective_;
  std::vector<std::vector<Gap>> gaps_;
  std::vector<Time> load_;
  std::vector<PlannedHop<Time>> hops_;
};

}  // namespace tenex
