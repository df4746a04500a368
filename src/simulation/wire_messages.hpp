// Messages at wires: the queue of those that wait for a physical link, or that arrive over it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simulation/large_pages.hpp"
#include "tenex/base/ids.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/schedule/send.hpp"

namespace tenex {

/// A message that waits for a wire, or is on it: 32 bytes, two per cache line.
class WireMessage {
 public:
  SimTime time;  ///< of its arrival, once it is on a wire
  LinkId wire;   ///< none: the start of an NPU
  MessageId id;  ///< only if sends are recorded; of a piece a PieceId
  NpuId source;
  NpuId destination;
  ChunkId chunk;

  void set(Stage stage, std::uint32_t size_class) {
    stage_and_size_ = size_class << 1 | (stage == Stage::reduce ? 1U : 0U);
  }
  [[nodiscard]] Stage stage() const { return (stage_and_size_ & 1) != 0 ? Stage::reduce : Stage::copy; }
  /// Index into MessageSizes.
  [[nodiscard]] std::uint32_t size_class() const { return stage_and_size_ >> 1; }

 private:
  std::uint32_t stage_and_size_ = 0;
};

/// First in, first out. A ring that doubles when full. All operations are O(1), amortized.
class WireQueue {
 public:
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] const WireMessage& front() const { return ring_[head_]; }
  void push(const WireMessage& message) {
    if (size_ == ring_.size()) grow();
    ring_[place(size_++)] = message;
  }
  void pop() {
    head_ = place(1);
    --size_;
  }
  /// Prefetches the message that is taken next, and the one behind it.
  void prefetch() const {
    if (size_ > 0) __builtin_prefetch(&ring_[head_]);
    if (size_ > 1) __builtin_prefetch(&ring_[place(1)]);
  }

 private:
  /// The position `behind` places behind the head.
  [[nodiscard]] std::size_t place(std::size_t behind) const { return (head_ + behind) & (ring_.size() - 1); }
  void grow() {
    LargeVector<WireMessage> larger(ring_.empty() ? 2 : 2 * ring_.size());
    for (std::size_t i = 0; i < size_; ++i) larger[i] = ring_[place(i)];
    ring_.swap(larger);
    head_ = 0;
  }

  LargeVector<WireMessage> ring_;
  std::size_t head_ = 0;
  std::size_t size_ = 0;
};

}  // namespace tenex
