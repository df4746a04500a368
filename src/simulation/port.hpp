// A directed link at work: when it is free, and the FIFO of the messages on it or waiting for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "tenex/base/ids.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/schedule/send.hpp"

namespace tenex {

/// A message on a link: 32 bytes, two to a cache line.
struct Flight {
  SimTime arrival;  ///< at the far end of the link that it is on
  MessageId id;     ///< where sends are recorded
  NpuId source;
  NpuId destination;
  ChunkId chunk;
  std::uint32_t size_class = 0;  ///< of MessageSizes
  Stage stage = Stage::copy;
};

/// One link in one cache line, with room for one flight; longer queues are rings that double when full. Flights are in
/// order of arrival. All operations O(1), amortized.
class alignas(64) Port {
 public:
  SimTime free;  ///< when the last message that entered leaves it; written where messages enter alone
  std::uint16_t link_class = 0;

  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] const Flight& front() const { return ring_ ? ring_[head_] : only_; }
  /// Room for one more at the end, to be filled field by field: a flight that is built elsewhere and copied whole
  /// would wait for its fields to be stored.
  [[nodiscard]] Flight& extend() {
    if (ring_ == nullptr && size_ == 0) return ++size_, only_;
    if (ring_ == nullptr || size_ > mask_) grow();
    return ring_[(head_ + size_++) & mask_];
  }
  void pop() {
    if (ring_) head_ = (head_ + 1) & mask_;
    --size_;
  }
  void prefetch() const { __builtin_prefetch(this, 1); }
  void prefetch_front() const {
    if (ring_) __builtin_prefetch(&ring_[head_]);
  }

 private:
  void grow() {
    const std::uint32_t capacity = ring_ ? 2 * (mask_ + 1) : 4;
    auto larger = std::make_unique<Flight[]>(capacity);
    for (std::uint32_t i = 0; i < size_; ++i) larger[i] = ring_ ? ring_[(head_ + i) & mask_] : only_;
    ring_ = std::move(larger);
    head_ = 0;
    mask_ = capacity - 1;
  }

  std::uint32_t head_ = 0;
  std::uint32_t size_ = 0;
  std::uint32_t mask_ = 0;
  std::unique_ptr<Flight[]> ring_;  ///< its size is a power of two
  Flight only_;                     ///< while there is no ring
};

}  // namespace tenex
