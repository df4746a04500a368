// The free gaps of links whose sends take unequally long: exact times, any interval.
//
// Encoding: per physical link its gaps (free_gaps.hpp), each at least as long as the link's shortest send. A send over
// a wire takes a gap on each physical link of its path, as much later than its start as the path says; it starts where
// all of them are free.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "synthesis/free_gaps.hpp"
#include "synthesis/pccl/paths/network.hpp"
#include "synthesis/pccl/paths/planned_hop.hpp"
#include "tenex/base/bitset.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/schedule/schedule.hpp"

namespace tenex {

class GapLinks {
 public:
  using Time = FreeGaps::Time;                  ///< picoseconds
  using Cell = std::uint32_t;                   ///< distances: network.unit()
  __extension__ using Key = unsigned __int128;  ///< of open vertices: a time, a distance and a vertex
  static constexpr unsigned kHalf = 32;         ///< bits of a Key for the distance, and for the vertex

  GapLinks(const PathNetwork& network, const Collective& collective)
      : network_(&network),
        collective_(&collective),
        gaps_(network.physical_links()),
        load_(network.physical_links(), 0) {}

  [[nodiscard]] Cell weight(std::uint32_t link, std::size_t size) const { return network_->weight(link, size); }
  [[nodiscard]] Time least(Cell distance) const { return static_cast<Time>(distance) * network_->unit().count(); }
  [[nodiscard]] Time latency(std::uint32_t link, std::size_t size) const {
    return network_->hop(link, size).latency.count();
  }

  [[nodiscard]] Time busy(std::uint32_t link, std::size_t size) const { return network_->hop(link, size).busy.count(); }

  /// The earliest start at `time` or later of a send that the link has time for. O(log gaps + gaps that are too short),
  /// for each physical link of a wire, and again where they fit at different times.
  [[nodiscard]] Time free_from(std::uint32_t link, Time time, std::size_t size) const {
    if (quantum_ == 0) return free_exactly(link, time, size);
    for (;;) {
      const Time start = (time + quantum_ - 1) / quantum_ * quantum_;
      time = free_exactly(link, start, size);
      if (time == start) return start;
    }
  }
  /// From here on sends start at multiples of a time alone; 0: at any time. Where most sends take this time, gaps then
  /// keep lengths that sends fill, and are not cut into pieces by small differences of latencies.
  void start_at_multiples_of(Time quantum) { quantum_ = quantum; }
  /// Starts all sends as soon as their order on links allows. Not where buffers are limited or signals shared.
  void close_gaps();
  /// The latest such start at `time` or sooner; negative if there is none. Costs as free_from().
  [[nodiscard]] Time free_until(std::uint32_t link, Time time, std::size_t size) const {
    if (!network_->wired()) return gaps_[link].last(time, busy(link, size));
    const Time serialization = network_->serialization(link, size);
    for (Time before = -1; before != time && time >= 0;) {
      before = time;
      for (const PhysicalUse& use : network_->uses(link))
        if (time >= 0) time = gaps_[use.link].last(time + use.offset, serialization + use.extra) - use.offset;
    }
    return time;
  }

  /// Takes the time of a send that starts then, but for that of the first `shared` physical links of a wire.
  void take(std::uint32_t link, Time start, std::size_t size, std::uint32_t chunk, std::size_t shared = 0);
  /// How many physical links a send over a wire would share with one of the same chunk over `signal`, both from `start`
  /// on, as one signal that parts at a switch which copies; 0 if it cannot, or if its own links are taken then.
  [[nodiscard]] std::size_t shares(std::uint32_t signal, std::uint32_t link, Time start, std::size_t size) const;
  /// From here on undo_trial() takes back all that is taken.
  void begin_trial();
  /// O(what was taken since begin_trial() * gaps of its links).
  void undo_trial();
  /// Takes out all sends of the chunks whose bit is set. O(sends log sends).
  void drop(const Bitset& chunks);
  /// All sends, sorted by (start, link). O(sends log sends).
  [[nodiscard]] std::vector<PlannedHop<Time>> hops() const;
  /// Replaces all sends. O(links + sends log sends).
  void assign(const std::vector<PlannedHop<Time>>& hops);

  [[nodiscard]] std::uint64_t sends() const { return hops_.size(); }
  /// The time for which the link, or the physical links of a wire together, are busy.
  [[nodiscard]] Time load(std::uint32_t link) const {
    if (!network_->wired()) return load_[link];
    Time total = 0;
    for (const PhysicalUse& use : network_->uses(link)) total += load_[use.link];
    return total;
  }

  /// The last arrival. O(sends).
  [[nodiscard]] Time end() const;
  [[nodiscard]] static SimTime time_of(Time time) { return picoseconds(time); }
  [[nodiscard]] Schedule finish() &&;

 private:
  /// Picoseconds of one physical link.
  struct Interval {
    std::uint32_t link;
    Time begin;
    Time end;
  };

  [[nodiscard]] Time free_exactly(std::uint32_t link, Time time, std::size_t size) const {
    if (!network_->wired()) return gaps_[link].first(time, busy(link, size));
    const Time serialization = network_->serialization(link, size);
    for (Time before = -1; before != time;) {
      before = time;
      for (const PhysicalUse& use : network_->uses(link))
        time = gaps_[use.link].first(time + use.offset, serialization + use.extra) - use.offset;
    }
    return time;
  }
  void cut(const Interval& interval);
  void rebuild();
  /// Calls visit(Interval) for what a send takes.
  template <class Visit>
  void for_each_interval(std::uint32_t link, Time start, std::size_t size, Visit&& visit) const {
    if (!network_->wired()) return visit(Interval{link, start, start + busy(link, size)});
    const Time serialization = network_->serialization(link, size);
    for (const PhysicalUse& use : network_->uses(link))
      visit(Interval{use.link, start + use.offset, start + use.offset + serialization + use.extra});
  }

  const PathNetwork* network_;
  const Collective* collective_;
  std::vector<FreeGaps> gaps_;
  std::vector<Time> load_;
  std::vector<PlannedHop<Time>> hops_;
  Time quantum_ = 0;
  /// A physical link before the trial took it.
  struct Before {
    std::uint32_t link;
    FreeGaps gaps;
    Time load;
  };
  bool trial_ = false;
  std::vector<Before> undo_;
  std::size_t hops_before_ = 0;
};

}  // namespace tenex
