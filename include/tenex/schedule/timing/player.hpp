// The player of a given order: every send as soon as its link is free and its source holds what it sends.
//
// Idea: sends are played in the order of their planned starts, in which links keep their sends. A chunk at a vertex has
// one time at a time: when what its next send takes is there. It is the arrival of the final value, or while partial
// sums come, that of the last of them. A send starts at the latest of: its link is free, that time, its own earliest
// start. What it brings is entered at once: in the planned order nothing looks at it before it has arrived. So one pass
// gives the earliest starts, none later than planned, where each vertex sends a chunk's partial sum once, after all
// that it adds to it, and receives the final value once. The pass sees where a schedule is not of this kind, and says
// so. (retime.cpp has the rules for all other schedules.)
//
// Encoding: ports carry one send at a time (links, or directions that a switch joins), places hold one chunk each (a
// vertex and a chunk, or an orbit's item). The two largest times say that a place has nothing yet, or nothing more.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "tenex/collective/instance.hpp"
#include "tenex/schedule/schedule.hpp"
#include "tenex/schedule/storage/raw_array.hpp"
#include "tenex/topology/timing.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// Plays sends one by one. `Tick` is an integer; its unit is the caller's. sizeof(Tick) bytes per port and place.
template <class Tick>
class SendPlayer {
 public:
  SendPlayer(std::size_t ports, std::size_t places) : free_(ports, 0), there_(places) {}

  /// What places have before the first send. Every place is to be set once. O(count).
  void begin_empty(std::size_t first, std::size_t count) { std::fill_n(there_.data() + first, count, kNothing); }
  /// The final value, or the vertex's own contribution to a sum.
  void begin_held(std::size_t first, std::size_t count) { std::fill_n(there_.data() + first, count, Tick{0}); }

  /// Fetches what send() will look at. Inline always: GCC 12 drops calls of a function that only prefetches.
  [[gnu::always_inline]] void prefetch(std::size_t from, std::size_t to) const {
    __builtin_prefetch(there_.data() + from);
    __builtin_prefetch(there_.data() + to, 1);
  }

  struct Times {
    bool sound = false;  ///< else the schedule is not of the kind that one pass plays, or a time does not fit
    Tick start = 0;
    Tick arrival = 0;
  };
  /// The next send in planned order: over `port` from one place to another, not before `earliest`. `busy` is no longer
  /// than `latency`. O(1).
  [[nodiscard]] Times send(std::size_t port, std::size_t from, std::size_t to, Tick busy, Tick latency, Stage stage,
                           Tick earliest = 0) {
    const Tick ready = take(from, stage);
    if (!is_time(ready)) return {};
    Tick& free = free_[port];
    const Tick start = std::max({free, ready, earliest});
    if (start >= kGone - latency) return {};
    const Tick arrival = start + latency;
    free = start + busy;
    return {deliver(to, stage, arrival), start, arrival};
  }

  // The two ends of a send() that goes over more than a port.

  /// When what the place sends is there; no is_time() where the schedule is not of the kind. O(1).
  [[nodiscard]] Tick take(std::size_t from, Stage stage) {
    const Tick ready = there_[from];
    if (stage == Stage::reduce) there_[from] = kGone;
    return ready;
  }
  [[nodiscard]] static bool is_time(Tick there) { return there < kGone; }
  /// Enters what arrives; false where the schedule is not of the kind. O(1).
  [[nodiscard]] bool deliver(std::size_t to, Stage stage, Tick arrival) {
    Tick& target = there_[to];
    if (stage == Stage::copy) return std::exchange(target, arrival) >= kGone;
    const bool sound = target != kGone;
    target = target == kNothing ? arrival : std::max(target, arrival);
    return sound;
  }

 private:
  static constexpr Tick kNothing = std::numeric_limits<Tick>::max();  ///< no part of a sum, no value
  static constexpr Tick kGone = kNothing - 1;                         ///< the sum has left

  std::vector<Tick> free_;
  RawArray<Tick> there_;
};

/// The greatest common divisor, in picoseconds, of all times that a send may take. O(classes * sizes).
[[nodiscard]] inline std::int64_t time_unit(const Instance& instance) {
  std::int64_t unit = 0;
  for (const auto& link_class : instance.topology.classes())
    for (const Bytes size : instance.collective.chunk_sizes()) {
      const HopTime hop = hop_time(link_class, size, instance.occupancy);
      unit = std::gcd(std::gcd(unit, hop.busy.count()), hop.latency.count());
    }
  return unit;
}

/// Plays a schedule segment by segment: ports are links, places are chunks at NPUs. For topologies without switches and
/// constant bandwidths, and schedules without messages. sizeof(Tick) bytes per link and per NPU and chunk.
template <class Tick>
class SchedulePlayer {
 public:
  /// `unit`, of a tick in picoseconds, divides all hop times: time_unit(), or what divides planned starts too.
  SchedulePlayer(const Instance& instance, std::int64_t unit)
      : topology_(instance.topology),
        collective_(instance.collective),
        unit_(unit),
        chunks_(instance.collective.chunks()),
        sizes_(instance.collective.chunk_sizes().size()),
        player_(instance.topology.links(), instance.topology.npus() * chunks_) {
    for (const auto& link_class : topology_.classes())
      for (const Bytes size : collective_.chunk_sizes()) {
        const HopTime hop = hop_time(link_class, size, instance.occupancy);
        hops_.push_back({ticks(hop.busy), ticks(hop.latency)});
      }
    for (std::size_t npu = 0; npu < topology_.npus(); ++npu) {
      player_.begin_empty(npu * chunks_, chunks_);
      for (const auto& member : collective_.memberships(NpuId::at(npu))) {
        const auto [first, count] = collective_.held_by(member);
        player_.begin_held(npu * chunks_ + first, count);
      }
    }
  }

  /// Plays the next sends in planned order; `timed`: none before its planned start. Calls visit(i, size_class, times)
  /// for each. False where a send is of no such link or chunk, or the schedule is not of the kind that one pass plays.
  template <class Visit>
  [[nodiscard]] bool play(const SendBatch& batch, bool timed, Visit&& visit) {
    constexpr std::size_t kAhead = 16;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      if (!exists(batch, i)) return false;
      if (i + kAhead < batch.size() && exists(batch, i + kAhead))
        player_.prefetch(from(batch, i + kAhead), to(batch, i + kAhead));
      const auto size_class = collective_.size_class(batch.chunk[i]);
      const Hop& hop = hops_[topology_.class_of(batch.link[i]) * sizes_ + size_class];
      const auto times = player_.send(batch.link[i].index(), from(batch, i), to(batch, i), hop.busy, hop.latency,
                                      batch.stage_of(i), timed ? ticks(batch.start_of(i)) : 0);
      if (!times.sound) return false;
      visit(i, size_class, times);
    }
    return true;
  }

 private:
  struct Hop {
    Tick busy;
    Tick latency;
  };

  /// Times that do not fit become one that no place may have.
  [[nodiscard]] Tick ticks(SimTime time) const {
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<Tick>::max() - 1);
    return static_cast<Tick>(
        std::min(kMost, static_cast<std::uint64_t>(std::max(SimTime::zero(), time).count() / unit_)));
  }
  [[nodiscard]] bool exists(const SendBatch& batch, std::size_t i) const {
    return batch.link[i].index() < topology_.links() && batch.chunk[i].index() < chunks_;
  }
  [[nodiscard]] std::size_t from(const SendBatch& batch, std::size_t i) const {
    return topology_.source(batch.link[i]).index() * chunks_ + batch.chunk[i].index();
  }
  [[nodiscard]] std::size_t to(const SendBatch& batch, std::size_t i) const {
    return topology_.target(batch.link[i]).index() * chunks_ + batch.chunk[i].index();
  }

  const Topology& topology_;
  const Collective& collective_;
  std::int64_t unit_;
  std::size_t chunks_;
  std::size_t sizes_;
  SendPlayer<Tick> player_;
  std::vector<Hop> hops_;  ///< per class and size
};

}  // namespace tenex
