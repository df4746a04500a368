// The calendar of the window engine: which ports have an arrival in which window of time.
//
// Encoding: a ring of slots, one per window ahead. A slot is a chain of small bundles of ports, taken from a pool, so
// that an insertion writes where the last one into that window wrote. Taking a window sets the bits of its ports in one
// bitmap and reads them back, which yields the ports in increasing order. Only the head of a port's FIFO is registered,
// so a port is in at most one slot. Windows beyond the ring (links that differ a hundred-thousandfold in speed) wait in
// a heap.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "simulation/large_pages.hpp"
#include "tenex/base/graph/least_first.hpp"

namespace tenex {

class WindowCalendar {
 public:
  /// For ports first .. first + ports - 1. Insertions are expected to lie at most `reach` windows ahead; further ones
  /// work, but cost a heap operation.
  WindowCalendar(std::uint32_t first, std::size_t ports, std::int64_t reach);

  /// Registers a port in a window no earlier than the one taken last. O(1), or O(log n) beyond the ring.
  [[gnu::always_inline]] void insert(std::int64_t window, std::uint32_t port) {
    if (window - window_ < slots_)
      add(ring_[static_cast<std::size_t>(window & (slots_ - 1))], port - first_);
    else
      beyond_.push({window, port - first_});
  }
  /// The next window with a port in it; INT64_MAX if there is none. O(windows without a port).
  [[nodiscard]] std::int64_t next() const;
  /// Goes to `window`, not later than next() (again, where ports were registered in it since), and yields its ports in
  /// increasing order. O(ports there + ports / 4096).
  void take(std::int64_t window, std::vector<std::uint32_t>& ports);
  /// The window taken last.
  [[nodiscard]] std::int64_t window() const { return window_; }

 private:
  static constexpr std::size_t bundle_ports = 31;
  struct Bundle {
    std::uint32_t before;  ///< the bundle that was filled before this one
    std::array<std::uint32_t, bundle_ports> ports;
  };
  struct Slot {
    std::uint32_t bundle = 0;  ///< the bundle that is being filled
    std::uint32_t used = 0;    ///< ports in that bundle
    std::uint32_t count = 0;   ///< ports in all bundles
  };

  void add(Slot& slot, std::uint32_t port) {
    if (slot.used == bundle_ports || slot.count == 0) begin_bundle(slot);
    bundles_[slot.bundle].ports[slot.used++] = port;
    ++slot.count;
    ++ports_in_ring_;
  }
  void begin_bundle(Slot& slot);
  void empty(Slot& slot);
  void mark(std::uint32_t port) {
    bits_[port / 64] |= std::uint64_t{1} << (port % 64);
    summary_[port / 4096] |= std::uint64_t{1} << (port / 64 % 64);
  }
  void read_marks(std::vector<std::uint32_t>& ports);

  using Later = std::pair<std::int64_t, std::uint32_t>;
  std::uint32_t first_;
  std::int64_t slots_;  ///< a power of two
  std::int64_t window_ = -1;
  std::size_t ports_in_ring_ = 0;
  std::vector<Slot> ring_;
  LargeVector<Bundle> bundles_;
  std::vector<std::uint32_t> idle_;     ///< free bundles; the one used last is taken first
  std::vector<std::uint64_t> bits_;     ///< by port; all clear between calls
  std::vector<std::uint64_t> summary_;  ///< bit w tells whether word w of the bitmap has any bit set
  LeastFirst<Later> beyond_;
};

}  // namespace tenex
