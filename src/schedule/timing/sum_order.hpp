// What a plan with partial sums keeps apart at a vertex, beside what its sends wait for.
//
// A partial sum that a send did not carry comes after that send has left (else the send would carry more than planned),
// a final value does not overtake a partial sum, and separate sums in a switch's queue keep their order, in and out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tenex/collective/instance.hpp"
#include "tenex/schedule/send.hpp"

namespace tenex {

/// The events of partial sums, vertex by vertex and chunk by chunk, in planned order; none where there are no sums.
class SumOrder {
 public:
  /// `arrivals`: planned. `takes`: whether a send takes from its source, and is no later hop of a message.
  /// O(sends log sends); 32 bytes per event.
  SumOrder(const Topology& topology, const std::vector<Send>& sends, const std::vector<SimTime>& arrivals,
           const std::vector<bool>& takes);

  /// Calls raise(send, least start) for every send, for the given starts. latency(send) is that of its hop. O(events).
  template <class Latency, class Raise>
  void check(const std::vector<SimTime>& start, Latency&& latency, Raise&& raise) const {
    Story story;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      const Event& event = events_[i];
      if (i == 0 || event.place != events_[i - 1].place) story = {};
      const SimTime now = start[event.send];
      if (event.kind == EventKind::sum_leaves) {
        raise(event.send, story.leave(event, now));
      } else {
        const SimTime hop = latency(event.send);
        raise(event.send, story.arrive(event, now + hop) - hop);
      }
    }
  }

 private:
  /// Of one time, in this order.
  enum class EventKind : std::uint8_t { sum_comes, value_comes, sum_leaves };
  struct Event {
    std::uint64_t place = 0;  ///< a vertex and a chunk
    SimTime planned;
    std::uint32_t send = 0;
    EventKind kind = EventKind::sum_comes;
    bool queued = false;  ///< at a switch that keeps sums apart
  };

  /// What has happened at a place, in new times. Nothing has at first: so it was at -1.
  class Story {
   public:
    /// Each returns the earliest time that the order allows.
    SimTime arrive(const Event& event, SimTime now) {
      if (event.kind == EventKind::value_comes) return summed_;
      if (event.queued) return next_of(in_, event, now);
      summed_ = std::max(summed_, now);
      return last_left_ + SimTime::of(1);
    }
    SimTime leave(const Event& event, SimTime now) {
      if (event.queued) return next_of(out_, event, now);
      last_left_ = std::max(last_left_, now);
      return SimTime::zero();
    }

   private:
    struct QueueEnd {
      SimTime planned = SimTime::of(-1);
      SimTime now = SimTime::of(-1);
    };
    static SimTime next_of(QueueEnd& last, const Event& event, SimTime now) {
      const SimTime least = event.planned > last.planned ? last.now + SimTime::of(1) : last.now;
      last = {event.planned, std::max(now, least)};
      return least;
    }

    SimTime summed_;
    SimTime last_left_ = SimTime::of(-1);
    QueueEnd in_;
    QueueEnd out_;
  };

  std::vector<Event> events_;
};

}  // namespace tenex
