// A few rows of a schedule, laid out as a table of rows by links, which orders sends by (start, link) without
// comparing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "tenex/base/ids.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/schedule/send.hpp"

namespace tenex {

/// How many sends a segment of a schedule of `sends` sends should have: enough of them that a storage which visits
/// every NPU for each segment does so seldom, and few where the schedule is small.
[[nodiscard]] constexpr std::uint64_t sends_per_segment(std::uint64_t sends) {
  return std::clamp<std::uint64_t>(sends / 64, 16'384, 131'072);
}

/// The table. 4 bytes per row and link.
class RowGrid {
 public:
  RowGrid(std::size_t rows, std::size_t links) : rows_(rows), links_(links), chunk_(rows * links, kNone) {}

  /// Puts a send into a row, counted from the first. A second one there replaces the first.
  void put(std::size_t row, LinkId link, ChunkId chunk) { chunk_[row * links_ + link.index()] = chunk.value(); }

  /// Makes the sends the buffer's batch; start(row) tells when a row starts. O(rows * links).
  template <class Start>
  void show(SendBuffer& buffer, Start&& start) const {
    const auto size = chunk_.size() - static_cast<std::size_t>(std::count(chunk_.begin(), chunk_.end(), kNone));
    buffer.link.resize(size);
    buffer.chunk.resize(size);
    buffer.start.resize(rows_ == 1 ? 0 : size);
    std::size_t at = 0;
    for (std::size_t row = 0; row < rows_; ++row) {
      const std::uint32_t* const cell = chunk_.data() + row * links_;
      const std::size_t first = at;
      for (std::size_t link = 0; link < links_; ++link) {
        if (cell[link] == kNone) continue;
        buffer.link[at] = LinkId::at(link);
        buffer.chunk[at++] = ChunkId(cell[link]);
      }
      if (rows_ > 1)
        std::fill(buffer.start.begin() + static_cast<std::ptrdiff_t>(first),
                  buffer.start.begin() + static_cast<std::ptrdiff_t>(at), start(row));
    }
    buffer.batch = {};
    buffer.batch.link = buffer.link;
    buffer.batch.chunk = buffer.chunk;
    buffer.batch.start = buffer.start;
    buffer.batch.at = start(0);
  }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  std::size_t rows_;
  std::size_t links_;
  std::vector<std::uint32_t> chunk_;
};

}  // namespace tenex
