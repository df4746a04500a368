// A directed link during a simulation: when it is free, and the FIFO of the messages on it or waiting for it.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tenex/base/ids.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/schedule/send.hpp"
#include "tenex/schedule/storage/raw_array.hpp"

namespace tenex {

/// A message on a link: 32 bytes, two per cache line.
struct Flight {
  SimTime arrival;  ///< at the far end of the link that it is on
  MessageId id;     ///< only if sends are recorded; of a piece a PieceId
  NpuId source;
  NpuId destination;
  ChunkId chunk;
  std::uint32_t size_class = 0;  ///< index into MessageSizes
  Stage stage = Stage::copy;
};

/// Memory for the queues of many ports, cut from few large blocks, so that they share large pages. A queue that a port
/// has outgrown is reused for another port. All memory is freed together at the end. One per thread.
class FlightRings {
 public:
  /// Room for 2^bits flights, unset. O(1).
  [[nodiscard]] Flight* take(int bits) {
    auto& idle = idle_[static_cast<std::size_t>(bits)];
    if (!idle.empty()) {
      auto* const ring = idle.back();
      idle.pop_back();
      return ring;
    }
    const auto bytes = sizeof(Flight) << bits;
    if (bytes > left_) add_block(bytes);
    left_ -= bytes;
    auto* const ring = next_;
    next_ += bytes;
    return reinterpret_cast<Flight*>(ring);  // bytes in which flights may be created
  }
  void give_back(Flight* ring, int bits) { idle_[static_cast<std::size_t>(bits)].push_back(ring); }

 private:
  void add_block(std::size_t least);

  static constexpr std::size_t line = 64;
  std::array<std::vector<Flight*>, 33> idle_;  ///< by bits
  std::vector<RawArray<std::byte>> blocks_;
  std::byte* next_ = nullptr;
  std::size_t left_ = 0;
};

/// One link in one cache line, with room for one flight. Longer queues are rings that double when full. Flights are in
/// order of arrival. All operations are O(1), amortized.
class alignas(64) Port {
 public:
  SimTime free;     ///< when the last message that entered leaves it; written only where messages enter
  VertexId vertex;  ///< at which it delivers
  std::uint16_t link_class = 0;

  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] const Flight& front() const { return ring_ != nullptr ? ring_[head_] : only_; }
  /// Makes room for one more flight at the end, to be filled field by field.
  [[nodiscard]] Flight& extend(FlightRings& rings) {
    if (ring_ == nullptr && size_ == 0) return ++size_, only_;
    if (ring_ == nullptr || size_ >> bits_ != 0) grow(rings);
    return ring_[place(size_++)];
  }
  void pop() {
    if (ring_ != nullptr) head_ = place(1);
    --size_;
  }
  void prefetch() const { __builtin_prefetch(this, 1); }
  /// Prefetches the flight that is taken next, and the one behind it, which is registered then.
  void prefetch_front() const {
    if (ring_ == nullptr) return;
    __builtin_prefetch(&ring_[head_]);
    if (size_ > 1) __builtin_prefetch(&ring_[place(1)]);
  }
  /// Prefetches the position where the next flight will be written.
  void prefetch_back() const {
    if (ring_ != nullptr) __builtin_prefetch(&ring_[place(size_)], 1);
  }

 private:
  void grow(FlightRings& rings);
  /// The position in the ring `behind` places behind the head.
  [[nodiscard]] std::uint32_t place(std::uint32_t behind) const {
    return (head_ + behind) & ((std::uint32_t{1} << bits_) - 1);
  }

  std::uint8_t bits_ = 0;  ///< the ring's size is 2^bits_
  std::uint32_t head_ = 0;
  std::uint32_t size_ = 0;
  Flight* ring_ = nullptr;
  Flight only_;  ///< used while there is no ring
};

}  // namespace tenex
