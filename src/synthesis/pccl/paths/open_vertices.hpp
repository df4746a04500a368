// The open vertices of a search: what waits to be looked at, the earliest first.
//
// Encoding: a binary heap of integers: time, rank among equal times, vertex.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <vector>

namespace tenex {

/// Links: SlotLinks or GapLinks, which give the widths of a key.
template <class Links>
class OpenVertices {
 public:
  using Time = typename Links::Time;
  using Cell = typename Links::Cell;

  struct Entry {
    Time time;
    std::uint32_t vertex;
  };

  [[nodiscard]] bool empty() const { return keys_.empty(); }
  void clear() { keys_.clear(); }
  void push(Time time, Cell rank, std::uint32_t vertex) {
    keys_.push_back(Key{static_cast<std::make_unsigned_t<Time>>(time)} << (2 * Links::kHalf) |
                    Key{rank} << Links::kHalf | vertex);
    std::push_heap(keys_.begin(), keys_.end(), std::greater<>());
  }
  Entry pop() {
    std::pop_heap(keys_.begin(), keys_.end(), std::greater<>());
    const Key least = keys_.back();
    keys_.pop_back();
    return {static_cast<Time>(least >> (2 * Links::kHalf)),
            static_cast<std::uint32_t>(least & ((Key{1} << Links::kHalf) - 1))};
  }

 private:
  using Key = typename Links::Key;
  std::vector<Key> keys_;
};

}  // namespace tenex
