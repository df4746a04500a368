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
  /// For ports first .. first + ports - 1. `reach` is how many windows ahead insertions are expected to lie at most;
  /// further ones work, but cost a heap operation.
  WindowCalendar(std::uint32_t first, std::size_t ports, std::int64_t reach);

  /// Registers a port in a window later than the one taken last. O(1), or O(log n) beyond the ring.
  void insert(std::int64_t window, std::uint32_t port) {
    if (window - window_ < slots_)
      set(static_cast<std::size_t>(window & (slots_ - 1)), port - first_);
    else
      beyond_.emplace(window, port - first_);
  }
  /// The next window with a port in it; INT64_MAX when there is none. O(windows without).
  [[nodiscard]] std::int64_t next() const;
  /// Goes to `window`, not later than next(), and yields its ports in increasing order.
  void take(std::int64_t window, std::vector<std::uint32_t>& ports);
  /// The window taken last.
  [[nodiscard]] std::int64_t window() const { return window_; }

 private:
  void set(std::size_t slot, std::uint32_t port) {
    const std::size_t word = port / 64;
    bits_[slot * words_ + word] |= std::uint64_t{1} << (port % 64);
    summary_[slot * summary_words_ + word / 64] |= std::uint64_t{1} << (word % 64);
    ++count_[slot];
    ++ports_in_ring_;
  }
  void empty_slot(std::size_t slot, std::vector<std::uint32_t>& ports);

  using Later = std::pair<std::int64_t, std::uint32_t>;
  std::uint32_t first_;
  std::size_t words_;
  std::size_t summary_words_;
  std::int64_t slots_;  ///< a power of two
  std::int64_t window_ = -1;
  std::size_t ports_in_ring_ = 0;
  std::vector<std::uint64_t> bits_;     ///< slots x words
  std::vector<std::uint64_t> summary_;  ///< slots x summary words: bit w tells whether word w has any bit set
  std::vector<std::uint32_t> count_;    ///< per slot
  std::priority_queue<Later, std::vector<Later>, std::greater<>> beyond_;
};

}  // namespace tenex
