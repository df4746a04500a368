// Cuts time into tiles, and gives each lane its rows in each tile.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tenex/schedule/storage/step_table.hpp"

namespace tenex {

/// A lane's part of a tile.
struct LaneTile {
  std::int64_t first_row = 0;
  std::int64_t rows = 0;
  std::size_t visible = 0;  ///< number of tiles, from the first one, that have arrived when the first row starts
};

/// The rows that arrive after `begin` and by `end`.
struct Tile {
  std::size_t index = 0;
  SimTime begin;
  SimTime end;
  std::vector<LaneTile> lanes;
};

/// Yields one tile after another.
class TileClock {
 public:
  TileClock(const std::vector<StepLane>& lanes, std::uint32_t widest, std::uint32_t ramp)
      : lanes_(lanes), widest_(widest), ramp_(ramp), boundary_{SimTime::zero()} {
    next_.lanes.resize(lanes.size());
  }

  /// The next tile. No lane has more than `widest` rows in it. O(lanes).
  Tile next() {
    const std::int64_t width = std::clamp<std::int64_t>(next_.lanes[0].first_row / ramp_, 1, widest_);
    next_.begin = boundary_.back();
    next_.end = SimTime::max();
    for (std::size_t l = 0; l < lanes_.size(); ++l)
      next_.end = std::min(next_.end, lanes_[l].arrival(next_.lanes[l].first_row + width - 1));
    for (std::size_t l = 0; l < lanes_.size(); ++l) {
      auto& [first_row, rows, visible] = next_.lanes[l];
      rows = std::max<std::int64_t>(0, lanes_[l].rows_arrived(next_.end) - first_row);
      const SimTime start = lanes_[l].start(first_row);
      while (visible < next_.index && boundary_[visible + 1] <= start) ++visible;
    }
    const Tile tile = next_;
    boundary_.push_back(next_.end);
    for (auto& lane : next_.lanes) lane.first_row += lane.rows;
    ++next_.index;
    return tile;
  }

 private:
  const std::vector<StepLane>& lanes_;
  std::int64_t widest_;
  std::int64_t ramp_;
  std::vector<SimTime> boundary_;
  Tile next_;
};

}  // namespace tenex
