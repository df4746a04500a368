// Sizes of messages. A message's size follows from its source's process group and from the number of its chunks, so
// there are few sizes. Engines look them up by a small number, the size class. Where messages are cut (pieces.hpp), the
// sizes of pieces are size classes, too: after those of whole messages, for every number of pieces those of the smaller
// and of the larger piece of each of them.
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
  MessageSizes(const Topology& topology, const Collective& collective, const Program& program, Occupancy occupancy,
               bool cut = false);

  /// The number of sizes; size classes are 0 .. size()-1.
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  /// The size class of piece `index` of so many, where messages are cut. `whole`: that of the message.
  [[nodiscard]] std::uint32_t of_piece(std::uint32_t whole, std::uint32_t pieces, std::uint32_t index) const {
    if (pieces == 1) return whole;
    const bool larger = index < static_cast<std::uint64_t>(bytes_[whole].count()) % pieces;
    return whole_sizes() * (2 * pieces - 3 + (larger ? 1 : 0)) + whole;
  }
  /// Of how many pieces one of this size class is; 1: it is a whole message.
  [[nodiscard]] std::uint32_t pieces(std::uint32_t size_class) const { return (size_class / whole_sizes() + 3) / 2; }
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
  /// By size class.
  [[nodiscard]] const std::vector<Bytes>& all() const { return bytes_; }
  /// Of the whole message.
  [[nodiscard]] std::uint32_t chunks(std::uint32_t size_class) const {
    return chunks_of_[size_class < whole_sizes() ? size_class : size_class % whole_sizes()];
  }
  [[nodiscard]] const HopTime& hop(std::uint16_t link_class, std::uint32_t size_class) const {
    return uniform_ ? first_ : hops_.at(link_class, size_class);
  }
  /// Whether all messages take equally long over all links.
  [[nodiscard]] bool uniform() const { return uniform_; }
  /// The least and the greatest hop time of any message over any link.
  [[nodiscard]] SimTime least_latency() const { return least_; }
  [[nodiscard]] SimTime greatest_latency() const { return greatest_; }

 private:
  [[nodiscard]] std::uint32_t whole_sizes() const { return static_cast<std::uint32_t>(chunks_of_.size()); }
  [[nodiscard]] std::uint32_t look_up(NpuId source, std::uint32_t chunks) const;
  [[nodiscard]] std::uint32_t look_up(std::size_t chunk_size, std::uint32_t chunks) const;

  static constexpr std::uint32_t unknown = UINT32_MAX;
  static constexpr std::uint32_t most_places = 1U << 16;

  const Collective& collective_;
  std::vector<std::uint32_t> chunks_;     ///< in increasing order
  std::vector<Bytes> bytes_;              ///< the collective's chunk sizes x chunks_, then those of pieces
  std::vector<std::uint32_t> chunks_of_;  ///< by size class of a whole message
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
