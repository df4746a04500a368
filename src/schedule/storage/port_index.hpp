// For step tables: a second copy of the counts of sends per tile and port, NPU by NPU instead of tile by tile.
//
// A reader of links goes through all tiles of one NPU and needs one byte per tile and port; stored tile by tile, each
// would be in a cache line of its own. With all counts of an NPU in a row, the position of a tile's first send is a
// running sum, which is stored for every kTilesPerMark-th tile.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tenex/schedule/storage/raw_array.hpp"
#include "tenex/schedule/storage/step_table.hpp"

namespace tenex {

/// Walks one port from a tile to the next.
class PortCursor {
 public:
  /// `stride`: bytes from tile to tile. `small`: it is 4 or 8, and an NPU's counts of a tile add up to less than 256.
  PortCursor(const std::uint8_t* counts, std::size_t stride, bool small, std::size_t port, std::size_t slot)
      : counts_(counts), stride_(stride), small_(small), port_(port), slot_(slot) {
    look();
  }
  /// Sends over the port in the current tile.
  [[nodiscard]] std::size_t count() const { return count_; }
  /// Position of the first of them in the table's lists.
  [[nodiscard]] std::size_t slot() const { return slot_ + before_; }
  /// Position of the NPU's first send of the tile.
  [[nodiscard]] std::size_t first_slot() const { return slot_; }
  void next_tile() {
    slot_ += total_;
    counts_ += stride_;
    look();
  }

 private:
  void look() {
    if (!small_)
      look_at_bytes();
    else if (stride_ == 4)
      look_at_word<std::uint32_t>(0x0101'0101U);
    else
      look_at_word<std::uint64_t>(0x0101'0101'0101'0101U);
  }
  /// Multiplying by ones adds up the bytes: byte p of the product is the sum of bytes 0 .. p.
  template <class Word>
  void look_at_word(Word ones) {
    Word word;
    std::memcpy(&word, counts_, sizeof(word));
    const Word sums = word * ones;
    count_ = (word >> (8 * port_)) & 0xFFU;
    before_ = ((sums >> (8 * port_)) & 0xFFU) - count_;
    total_ = sums >> (8 * (sizeof(word) - 1));
  }
  void look_at_bytes() {
    before_ = total_ = 0;
    for (std::size_t p = 0; p < port_; ++p) before_ += counts_[p];
    for (std::size_t p = 0; p < stride_; ++p) total_ += counts_[p];
    count_ = counts_[port_];
  }

  const std::uint8_t* counts_;
  std::size_t stride_;
  bool small_;
  std::size_t port_;
  std::size_t slot_;
  std::size_t count_ = 0;
  std::size_t before_ = 0;
  std::size_t total_ = 0;
};

/// A byte per tile and port (4 or 8 per tile and NPU, with few ports), and 4 bytes per NPU and kTilesPerMark tiles.
class PortIndex {
 public:
  PortIndex() = default;
  template <class Slot>
  explicit PortIndex(const StepTable<Slot>& table)
      : tiles_(table.tiles()),
        marks_per_npu_((tiles_ + kTilesPerMark - 1) / kTilesPerMark),
        stride_(common_stride(table)),
        counts_((tiles_ + 1) * (stride_ == 0 ? table.ports() : stride_ * table.npus())),
        marks_(marks_per_npu_ * table.npus()) {
    for (std::size_t first = 0; first < table.npus(); first += kNpusAtOnce)
      turn(table, first, std::min(first + kNpusAtOnce, table.npus()));
    for (std::size_t npu = 0; npu < table.npus(); ++npu) mark(table, npu);
  }

  [[nodiscard]] std::size_t bytes() const { return counts_.bytes() + marks_.bytes(); }

  /// A cursor at the tile's sends over a port. O(kTilesPerMark).
  template <class Slot>
  [[nodiscard]] PortCursor at(const StepTable<Slot>& table, std::size_t npu, std::size_t port, std::size_t tile) const {
    const std::size_t marked = tile / kTilesPerMark;
    PortCursor cursor(row(table, npu) + marked * kTilesPerMark * stride(table, npu), stride(table, npu), stride_ != 0,
                      port - table.port_begin[npu], table.list_begin[npu] + marks_[npu * marks_per_npu_ + marked]);
    for (std::size_t t = marked * kTilesPerMark; t < tile; ++t) cursor.next_tile();
    return cursor;
  }

 private:
  static constexpr std::size_t kTilesPerMark = 32;
  static constexpr std::size_t kNpusAtOnce = 256;  ///< their rows under construction fit in the cache

  /// 4 or 8 if no NPU has more ports than that and tiles have few rows; otherwise 0, and every NPU takes as many bytes
  /// as it has ports.
  template <class Slot>
  static std::size_t common_stride(const StepTable<Slot>& table) {
    std::size_t widest = 0;
    for (std::size_t npu = 0; npu < table.npus(); ++npu)
      widest = std::max<std::size_t>(widest, table.port_begin[npu + 1] - table.port_begin[npu]);
    std::int64_t most = 0;
    for (const auto& rows : table.lane_rows)
      for (std::size_t tile = 0; tile + 1 < rows.size(); ++tile) most = std::max(most, rows[tile + 1] - rows[tile]);
    if (widest > 8 || most * static_cast<std::int64_t>(widest) > 255) return 0;
    return widest <= 4 ? 4 : 8;
  }

  template <class Slot>
  [[nodiscard]] std::size_t stride(const StepTable<Slot>& table, std::size_t npu) const {
    return stride_ != 0 ? stride_ : table.port_begin[npu + 1] - table.port_begin[npu];
  }
  /// Position of an NPU's counts. There is one tile more than needed, because a cursor may look past the end.
  template <class Slot>
  [[nodiscard]] const std::uint8_t* row(const StepTable<Slot>& table, std::size_t npu) const {
    return counts_.data() + (stride_ != 0 ? stride_ * npu : table.port_begin[npu]) * (tiles_ + 1);
  }

  template <class Slot>
  void turn(const StepTable<Slot>& table, std::size_t first, std::size_t last) {
    for (std::size_t tile = 0; tile <= tiles_; ++tile)
      for (std::size_t npu = first; npu < last; ++npu) {
        const std::size_t begin = table.port_begin[npu];
        const std::size_t ports = table.port_begin[npu + 1] - begin;
        const std::size_t width = stride(table, npu);
        std::uint8_t* const out = counts_.data() + (row(table, npu) - counts_.data()) + tile * width;
        std::fill_n(out, width, std::uint8_t{0});
        if (tile == tiles_) continue;
        const std::uint8_t* const counts = table.counts[tile].data() + begin;
        for (std::size_t p = 0; p < ports; ++p) out[p] = counts[p];
      }
  }

  template <class Slot>
  void mark(const StepTable<Slot>& table, std::size_t npu) {
    if (stride(table, npu) == 0) return;  // no ports
    PortCursor cursor(row(table, npu), stride(table, npu), stride_ != 0, 0, table.own[npu]);
    for (std::size_t tile = 0; tile < tiles_; ++tile, cursor.next_tile())
      if (tile % kTilesPerMark == 0)
        marks_[npu * marks_per_npu_ + tile / kTilesPerMark] = static_cast<std::uint32_t>(cursor.first_slot());
  }

  std::size_t tiles_ = 0;
  std::size_t marks_per_npu_ = 0;
  std::size_t stride_ = 0;         ///< the same for all NPUs; 0: each NPU's number of ports
  RawArray<std::uint8_t> counts_;  ///< by NPU, tile, port
  RawArray<std::uint32_t> marks_;  ///< by NPU, for every kTilesPerMark-th tile: the length of its list when the tile
                                   ///< begins
};

}  // namespace tenex
