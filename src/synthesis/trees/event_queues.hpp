// Events in the order of their times, where most come in that order by themselves.
//
// Sends over links of one class take equally long, so what they cause comes in the order in which they started: a queue
// per class holds it, first in, first out. A heap orders the fronts of the queues alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "tenex/base/quantity.hpp"

namespace tenex {

template <class Item>
class EventQueues {
 public:
  explicit EventQueues(std::size_t queues) : queues_(queues) {}

  /// Times of a queue must not decrease. O(1), and O(log queues) where it was empty.
  void push(std::size_t queue, SimTime time, Item item) {
    auto& events = queues_[queue];
    if (events.empty()) fronts_.push({time, static_cast<std::uint32_t>(queue)});
    events.emplace_back(time, std::move(item));
  }
  [[nodiscard]] bool empty() const { return fronts_.empty(); }
  /// Of the next event. There must be one.
  [[nodiscard]] SimTime time() const { return fronts_.top().first; }
  /// The next event; of equal times those of lower queues first. O(log queues).
  Item pop() {
    const std::uint32_t queue = fronts_.top().second;
    fronts_.pop();
    auto& events = queues_[queue];
    Item item = std::move(events.front().second);
    events.pop_front();
    if (!events.empty()) fronts_.push({events.front().first, queue});
    return item;
  }

 private:
  using Front = std::pair<SimTime, std::uint32_t>;
  std::vector<std::deque<std::pair<SimTime, Item>>> queues_;
  std::priority_queue<Front, std::vector<Front>, std::greater<>> fronts_;
};

}  // namespace tenex
