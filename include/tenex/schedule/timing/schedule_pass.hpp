// One pass over a schedule in its order: when each of its sends can start instead.
//
// Idea: where each NPU sends its partial sum of a chunk once, after all that it adds to it, and receives no final value
// twice, a chunk at an NPU has one time at a time: when its sum so far is there; then, once the sum has left, when the
// final value is. A send starts when its link is free and what it takes is there; what it brings is entered at once,
// because nothing looks at it before the given schedule lets it arrive.
//
// Encoding: times in units of the greatest common divisor of all hop times, NPU by NPU; the two largest values say that
// there is nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "tenex/collective/instance.hpp"
#include "tenex/schedule/send.hpp"
#include "tenex/schedule/storage/raw_array.hpp"
#include "tenex/schedule/timing/player.hpp"
#include "tenex/topology/timing.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// The pass; sizeof(Tick) bytes per NPU and chunk. `Tick` is an unsigned integer. For topologies without switches and
/// schedules without messages.
template <class Tick>
class SchedulePass {
 public:
  /// `unit` divides all times: time_unit(), or what divides planned starts too. Call begin() for every NPU first.
  SchedulePass(const Instance& instance, std::int64_t unit)
      : topology_(instance.topology),
        collective_(instance.collective),
        chunks_(instance.collective.chunks()),
        sizes_(instance.collective.chunk_sizes().size()),
        there_(instance.topology.npus() * chunks_),
        free_(instance.topology.links(), 0) {
    for (const auto& link_class : instance.topology.classes())
      for (const Bytes size : instance.collective.chunk_sizes()) {
        const HopTime hop = hop_time(link_class, size, instance.occupancy);
        const auto ticks = [&](SimTime time) {
          return static_cast<Tick>(std::min<std::uint64_t>(static_cast<std::uint64_t>(time.count() / unit), kSent));
        };
        hops_.push_back({ticks(hop.busy), ticks(hop.latency)});
      }
  }

  /// Enters what an NPU has at first: its contributions to sums, and what it starts with. O(chunks).
  void begin(NpuId npu) {
    Tick* const own = there_.data() + npu.index() * chunks_;
    std::fill_n(own, chunks_, kNothing);
    for (const auto& member : collective_.memberships(npu)) {
      const auto [first, count] = collective_.held_by(member);
      std::fill_n(own + first, count, Tick{0});
    }
  }

  /// Fetches what send() will look at. Inline always: GCC 12 drops calls of a function that only prefetches.
  [[gnu::always_inline]] void prefetch(LinkId link, ChunkId chunk) const {
    __builtin_prefetch(entry(topology_.source(link), chunk));
    __builtin_prefetch(entry(topology_.target(link), chunk), 1);
  }

  struct Times {
    bool sound = false;  ///< else the given schedule is not of the kind, or a time does not fit
    Tick start = 0;
    Tick arrival = 0;
  };
  /// When the schedule's next send starts, not before `earliest`. `size_class` is the chunk's. O(1).
  [[nodiscard]] Times send(LinkId link, ChunkId chunk, std::size_t size_class, Stage stage, std::uint64_t earliest) {
    const auto [busy, latency] = hops_[topology_.class_of(link) * sizes_ + size_class];
    Tick& from = *entry(topology_.source(link), chunk);
    const Tick ready = from;
    if (ready >= kSent) return {};
    if (stage == Stage::reduce) from = kSent;
    Tick& free = free_[link.index()];
    const std::uint64_t start = std::max<std::uint64_t>(std::max(free, ready), earliest);
    const std::uint64_t arrival = start + latency;
    if (arrival >= kSent) return {};
    free = static_cast<Tick>(start + busy);  // no later than the arrival
    Tick& to = *entry(topology_.target(link), chunk);
    Times times{true, static_cast<Tick>(start), static_cast<Tick>(arrival)};
    if (stage == Stage::copy) {
      times.sound = std::exchange(to, times.arrival) >= kSent;
    } else {
      times.sound = to != kSent;
      to = to == kNothing ? times.arrival : std::max(to, times.arrival);
    }
    return times;
  }

 private:
  static constexpr Tick kNothing = std::numeric_limits<Tick>::max();  ///< no part of a sum, no value
  static constexpr Tick kSent = kNothing - 1;                         ///< the sum has left

  struct Hop {
    Tick busy;
    Tick latency;  ///< kSent where it does not fit
  };

  Tick* entry(VertexId vertex, ChunkId chunk) { return there_.data() + vertex.index() * chunks_ + chunk.index(); }
  const Tick* entry(VertexId vertex, ChunkId chunk) const {
    return there_.data() + vertex.index() * chunks_ + chunk.index();
  }

  const Topology& topology_;
  const Collective& collective_;
  std::size_t chunks_;
  std::size_t sizes_;
  RawArray<Tick> there_;    ///< NPU by NPU, chunk by chunk
  std::vector<Tick> free_;  ///< per link
  std::vector<Hop> hops_;   ///< per class and size
};

}  // namespace tenex
