// Sizes of messages. A message's size follows from its source's process group and from the number of its chunks, so
// there are few sizes. Engines look them up by a small number, the size class.
#pragma once

#include <cstdint>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/schedule/program.hpp"
#include "tenex/topology/timing.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// The sizes of a program's messages, and their hop times on every link class. O(1) per call.
class MessageSizes {
 public:
  MessageSizes(const Topology& topology, const Collective& collective, const Program& program, Occupancy occupancy);

  /// The number of sizes; size classes are 0 .. size()-1.
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  /// The size class of a message of `source` with this many chunks. A program must send only the numbers of chunks that
  /// it states, and only from members of process groups.
  [[nodiscard]] std::uint32_t of(NpuId source, std::uint32_t chunks) const {
    if (chunks == only_chunks_) return 0;
    if (one_group_size_ && chunks < place_.size() && place_[chunks] != unknown) return place_[chunks];
    return look_up(source, chunks);
  }
  [[nodiscard]] std::uint32_t of(const Message& message) const {
    if (message.chunks == only_chunks_) return 0;
    if (message.chunks != 1 || one_group_size_) return of(message.source, message.chunks);
    return look_up(collective_.size_class(message.chunk), 1);
  }
  [[nodiscard]] Bytes bytes(std::uint32_t size_class) const { return bytes_[size_class]; }
  [[nodiscard]] std::uint32_t chunks(std::uint32_t size_class) const { return chunks_of_[size_class]; }
  [[nodiscard]] const HopTime& hop(std::uint16_t link_class, std::uint32_t size_class) const {
    return uniform_ ? first_ : hops_.at(link_class, size_class);
  }
  /// Whether all messages take equally long over all links.
  [[nodiscard]] bool uniform() const { return uniform_; }
  /// The least and the greatest hop time of any message over any link.
  [[nodiscard]] SimTime least_latency() const { return least_; }
  [[nodiscard]] SimTime greatest_latency() const { return greatest_; }

 private:
  [[nodiscard]] std::uint32_t look_up(NpuId source, std::uint32_t chunks) const;
  [[nodiscard]] std::uint32_t look_up(std::size_t chunk_size, std::uint32_t chunks) const;

  static constexpr std::uint32_t unknown = UINT32_MAX;
  static constexpr std::uint32_t most_places = 1U << 16;

  const Collective& collective_;
  std::vector<std::uint32_t> chunks_;     ///< in increasing order
  std::vector<Bytes> bytes_;              ///< the collective's chunk sizes x chunks_
  std::vector<std::uint32_t> chunks_of_;  ///< by size class
  HopTimes hops_;
  std::uint32_t only_chunks_ = 0;     ///< carried by every message if there is one size; otherwise 0
  bool one_group_size_;               ///< all chunks are equally large
  std::vector<std::uint32_t> place_;  ///< position in chunks_, by number of chunks, if that is not too large
  bool uniform_;  ///< one link class and one size: no look-up, which would wait for the link's class
  HopTime first_;
  SimTime least_ = SimTime::max();
  SimTime greatest_;
};

}  // namespace tenex
