// The calendar of the window engine: which ports have an arrival in which window of time.
//
// Encoding: a ring of slots, one per window ahead; a slot is a bitmap over ports with a summary bit per word, so taking
// a window yields its ports in increasing order without sorting. Only the head of a port's FIFO is registered, so a
// port is in at most one slot. Windows beyond the ring (links that differ a thousandfold in speed) wait in a heap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace tenex {

class WindowCalendar {
 public:
  /// `reach` is how many windows ahead insertions are expected to lie at most; further ones work, but cost a heap
  /// operation.
  WindowCalendar(std::size_t ports, std::int64_t reach);

  /// Registers a port in a window later than the one taken last. O(1), or O(log n) beyond the ring.
  void insert(std::int64_t window, std::uint32_t port);
  /// Goes to the next window with a port in it and yields its ports in increasing order. False when there is none.
  [[nodiscard]] bool take_next(std::vector<std::uint32_t>& ports);
  /// The window taken last.
  [[nodiscard]] std::int64_t window() const { return window_; }

 private:
  void set(std::size_t slot, std::uint32_t port);
  void empty_slot(std::size_t slot, std::vector<std::uint32_t>& ports);

  using Later = std::pair<std::int64_t, std::uint32_t>;
  std::size_t words_;
  std::size_t summary_words_;
  std::int64_t slots_;
  std::int64_t window_ = -1;
  std::size_t ports_in_ring_ = 0;
  std::vector<std::uint64_t> bits_;     ///< slots x words
  std::vector<std::uint64_t> summary_;  ///< slots x summary words: bit w tells whether word w has any bit set
  std::vector<std::uint32_t> count_;    ///< per slot
  std::priority_queue<Later, std::vector<Later>, std::greater<>> beyond_;
};

}  // namespace tenex
