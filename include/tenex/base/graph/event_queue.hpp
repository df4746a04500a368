// Events in order of time, for a simulation that never goes back.
//
// EventQueue: any events, which may be moved to an earlier time and withdrawn. Idea: a radix heap (Ahuja, Mehlhorn,
// Orlin and Tarjan, "Faster algorithms for the shortest path problem", Journal of the ACM 37, 1990). An event lies in
// the bucket of the highest bit in which its time differs from the present. When time advances, the events of the first
// bucket move to lower ones; all others stay. The buckets are lists through a fixed table of events, so the queue takes
// the same memory at all times.
//
// EventLanes: events of which most come in order by themselves. Links are first in, first out, and sends over links of
// one class take equally long, so what they cause comes in the order in which they started: a queue per link or class
// holds it. A heap orders the fronts of the queues alone. Events of one time come lane by lane, in a lane as they came.
//
// Events with an order of their own (themis, congestion_unaware, merge_phases) wait in a LeastFirst.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <utility>
#include <vector>

#include "tenex/base/graph/least_first.hpp"
#include "tenex/base/quantity.hpp"

namespace tenex {

/// Events 0, 1, ...: each is in the queue once or not at all. Times are not negative.
class EventQueue {
 public:
  using Event = std::uint32_t;
  static constexpr Event kNone = std::numeric_limits<Event>::max();
  /// Bytes per event.
  static constexpr std::size_t kBytes = sizeof(SimTime) + 2 * sizeof(Event);

  explicit EventQueue(std::size_t events) : entries_(events) { first_.fill(kNone); }

  [[nodiscard]] SimTime now() const { return SimTime::of(static_cast<SimTime::Rep>(now_)); }

  /// Puts an event that is not in the queue at a time that has not passed. O(1).
  void put(Event event, SimTime time) {
    auto& entry = entries_[event];
    entry.time = static_cast<std::uint64_t>(time.count());
    insert(event, entry);
  }

  /// As put(), or moves the event there from a later time. O(1).
  void put_earlier(Event event, SimTime time) {
    auto& entry = entries_[event];
    if (entry.previous != kAbsent) {
      if (entry.time <= static_cast<std::uint64_t>(time.count())) return;
      remove(event);
    }
    put(event, time);
  }

  /// Takes the event out, if it is in the queue. O(1).
  void remove(Event event) {
    auto& entry = entries_[event];
    if (entry.previous == kAbsent) return;
    const auto bucket = bucket_of(entry.time);
    if (entry.next != kNone) entries_[entry.next].previous = entry.previous;
    if (entry.previous != kNone)
      entries_[entry.previous].next = entry.next;
    else if (first_[bucket] = entry.next; entry.next == kNone)
      filled_ &= ~(std::uint64_t{1} << bucket);
    entry.previous = kAbsent;
  }

  /// Goes on to the time of the earliest event; false where there is none. To be called once pop() has given all events
  /// of the present. O(log time) per event over its life.
  bool advance() {
    if (filled_ == 0) return false;
    const auto bucket = static_cast<std::size_t>(std::countr_zero(filled_));
    const auto moved = std::exchange(first_[bucket], kNone);
    filled_ &= filled_ - 1;
    now_ = std::numeric_limits<std::uint64_t>::max();
    for (auto event = moved; event != kNone; event = entries_[event].next) now_ = std::min(now_, entries_[event].time);
    for (auto event = moved; event != kNone;) {
      auto& entry = entries_[event];
      const auto next = entry.next;
      insert(event, entry);
      event = next;
    }
    return true;
  }

  /// An event of the present, taken out; kNone where there is none left. O(1).
  [[nodiscard]] Event pop() {
    const auto event = first_[0];
    if (event != kNone) remove(event);
    return event;
  }

 private:
  static constexpr Event kAbsent = kNone - 1;  ///< `previous` of an event that is not in the queue
  struct Entry {
    std::uint64_t time = 0;
    Event next = kNone;
    Event previous = kAbsent;
  };

  [[nodiscard]] std::size_t bucket_of(std::uint64_t time) const {
    return static_cast<std::size_t>(std::bit_width(time ^ now_));
  }
  void insert(Event event, Entry& entry) {
    const auto bucket = bucket_of(entry.time);
    entry.previous = kNone;
    entry.next = std::exchange(first_[bucket], event);
    if (entry.next != kNone) entries_[entry.next].previous = event;
    filled_ |= std::uint64_t{1} << bucket;
  }

  std::uint64_t now_ = 0;
  std::uint64_t filled_ = 0;       ///< a bit per bucket
  std::array<Event, 64> first_{};  ///< of each bucket
  std::vector<Entry> entries_;
};

/// Items at times that do not decrease within a lane. Memory: O(lanes + items waiting).
template <class Item>
class EventLanes {
 public:
  explicit EventLanes(std::size_t lanes) : lanes_(lanes) {}

  /// Times of a lane must not decrease. O(1), and O(log lanes) where it was empty.
  void push(std::size_t lane, SimTime time, Item item) {
    auto& events = lanes_[lane];
    if (events.empty()) fronts_.push({time, static_cast<std::uint32_t>(lane)});
    events.emplace_back(time, std::move(item));
  }
  [[nodiscard]] bool empty() const { return fronts_.empty(); }
  /// Of the next event. There must be one.
  [[nodiscard]] SimTime time() const { return fronts_.top().time; }
  /// The lane of the next event. There must be one.
  [[nodiscard]] std::size_t lane() const { return fronts_.top().lane; }
  /// The item that so many others of its lane precede; nullptr where there is none. O(1).
  [[nodiscard]] const Item* ahead(std::size_t lane, std::size_t others) const {
    const auto& events = lanes_[lane];
    return others < events.size() ? &events[others].second : nullptr;
  }
  /// The next event; of equal times those of lower lanes first. O(log lanes).
  Item pop() {
    const std::uint32_t lane = fronts_.pop().lane;
    auto& events = lanes_[lane];
    Item item = std::move(events.front().second);
    events.pop_front();
    if (!events.empty()) fronts_.push({events.front().first, lane});
    return item;
  }

 private:
  struct Front {
    SimTime time;
    std::uint32_t lane;
    bool operator<(const Front& other) const { return time < other.time || (time == other.time && lane < other.lane); }
  };
  std::vector<std::deque<std::pair<SimTime, Item>>> lanes_;
  LeastFirst<Front> fronts_;
};

}  // namespace tenex
