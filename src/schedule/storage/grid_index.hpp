// The blocks of a timetable link by link, in order of start: what a link carries at a slot.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tenex/schedule/storage/grid_schedule.hpp"

namespace tenex {

/// The slots of a phase that a dimension may use. Its timetables exist. O(D * side^3).
[[nodiscard]] std::uint64_t grid_slots(const GridSchedule& data, std::size_t dimension);

/// The index of one timetable, which it refers to. Links of a line: up from position 0 .. size-2, then down from 1 ..
/// size-1.
class GridIndex {
 public:
  /// A block on a link.
  struct Block {
    std::uint32_t start;
    std::uint16_t a;
    std::uint16_t b;
  };
  /// A place among a link's blocks.
  struct Cursor {
    const Block* begin = nullptr;
    const Block* end = nullptr;
    const Block* next = nullptr;  ///< no block before it starts after the slot
  };

  explicit GridIndex(const LineTimetable& timetable)
      : size_(timetable.size), start_(timetable.start.data()), rows_(timetable_rows(timetable.size)) {
    first_.assign(2 * (size_ - 1) + 1, 0);
    for_each_hop([&](std::uint32_t link, const Block&) { ++first_[link + 1]; });
    for (std::size_t link = 1; link < first_.size(); ++link) first_[link] += first_[link - 1];
    blocks_.resize(first_.back());
    auto at = first_;
    for_each_hop([&](std::uint32_t link, const Block& block) { blocks_[at[link]++] = block; });
    std::uint32_t last = 0;
    for (std::size_t link = 0; link + 1 < first_.size(); ++link) {
      const auto begin = blocks_.begin() + static_cast<std::ptrdiff_t>(first_[link]);
      const auto end = blocks_.begin() + static_cast<std::ptrdiff_t>(first_[link + 1]);
      std::sort(begin, end, [](const Block& x, const Block& y) { return x.start < y.start; });
      if (begin != end) last = std::max(last, end[-1].start);
    }
    // As many tiles as blocks, about.
    const std::size_t per_link = std::max<std::size_t>(1, blocks_.size() / (first_.size() - 1));
    tile_slots_ = static_cast<std::uint32_t>(last / per_link) + 1;
    tiles_ = last / tile_slots_ + 1;
    tile_first_.resize(tiles_ * (first_.size() - 1));
    for (std::size_t link = 0; link + 1 < first_.size(); ++link) {
      std::size_t block = first_[link];
      for (std::size_t tile = 0; tile < tiles_; ++tile) {
        while (block < first_[link + 1] && blocks_[block].start <= tile * tile_slots_) ++block;
        tile_first_[link * tiles_ + tile] = static_cast<std::uint32_t>(block - first_[link]);
      }
    }
  }

  /// The blocks of a link from a slot on.
  [[nodiscard]] Cursor find(std::uint32_t link, std::uint32_t slot) const {
    const Block* const begin = blocks_.data() + first_[link];
    const std::size_t tile = std::min<std::size_t>(slot / tile_slots_, tiles_ - 1);
    return {begin, blocks_.data() + first_[link + 1], begin + tile_first_[link * tiles_ + tile]};
  }
  /// The starts of a pair's hops, from a on.
  [[nodiscard]] const std::uint32_t* hops(std::uint32_t a, std::uint32_t b) const {
    if (a < b) return start_ + rows_[a] + std::size_t{b - a - 1} * (b - a) / 2;
    return start_ + one_way_hops(size_) + rows_[size_ - 1 - a] + std::size_t{a - b - 1} * (a - b) / 2;
  }
  [[nodiscard]] std::size_t memory_bytes() const {
    return blocks_.size() * sizeof(Block) + tile_first_.size() * sizeof(std::uint32_t) +
           (first_.size() + rows_.size()) * sizeof(std::size_t);
  }

 private:
  template <class Visit>
  void for_each_hop(Visit&& visit) const {
    for (std::uint32_t a = 0; a < size_; ++a)
      for (std::uint32_t b = 0; b < size_; ++b) {
        if (a == b) continue;
        const std::uint32_t* const start = hops(a, b);
        const std::uint32_t count = a < b ? b - a : a - b;
        for (std::uint32_t hop = 0; hop < count; ++hop)
          visit(a < b ? a + hop : size_ - 2 + a - hop,
                Block{start[hop], static_cast<std::uint16_t>(a), static_cast<std::uint16_t>(b)});
      }
  }

  std::uint32_t size_;
  const std::uint32_t* start_;  ///< the timetable's
  std::vector<std::size_t> rows_;
  std::vector<std::size_t> first_;  ///< per link, then the end
  std::vector<Block> blocks_;
  std::uint32_t tile_slots_ = 1;
  std::size_t tiles_ = 1;
  std::vector<std::uint32_t> tile_first_;  ///< by link and tile
};

}  // namespace tenex
