// The FIFO of one directed link: the messages on it or waiting for it, in order of arrival at its far end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tenex/base/ids.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/schedule/program.hpp"

namespace tenex {

/// A message on a link: 32 bytes, two to a cache line.
struct Flight {
  SimTime arrival;  ///< at the far end of the link that it is on
  MessageId id;
  NpuId source;
  NpuId destination;
  ChunkId chunk;
  std::uint16_t size_class = 0;  ///< of the collective's chunk sizes
  Stage stage = Stage::copy;

  [[nodiscard]] Message message() const { return {source, destination, chunk, stage}; }
};

/// A ring buffer that doubles when full. All operations O(1), amortized.
class LinkQueue {
 public:
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] const Flight& front() const { return ring_[head_]; }
  void push(const Flight& flight) {
    if (size_ == ring_.size()) grow();
    ring_[(head_ + size_) & (ring_.size() - 1)] = flight;
    ++size_;
  }
  void pop() {
    head_ = (head_ + 1) & (ring_.size() - 1);
    --size_;
  }

 private:
  void grow() {
    std::vector<Flight> larger(ring_.empty() ? 2 : 2 * ring_.size());
    for (std::size_t i = 0; i < size_; ++i) larger[i] = ring_[(head_ + i) & (ring_.size() - 1)];
    ring_ = std::move(larger);
    head_ = 0;
  }
  std::vector<Flight> ring_;  ///< its size is a power of two
  std::size_t head_ = 0;
  std::size_t size_ = 0;
};

}  // namespace tenex
