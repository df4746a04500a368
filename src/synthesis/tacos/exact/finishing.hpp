// The last tile of an NPU, and the end of a table.
//
// If an NPU may get the last chunks that it lacks within a tile, its in-links share them so that the last one arrives
// early. All in-links may send what arrives by a horizon: the earliest time by which together they have rows for all
// missing chunks. If a source has no more chunks, the other in-links get a later horizon.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "synthesis/tacos/exact/step_setup.hpp"
#include "synthesis/tacos/exact/tile_clock.hpp"
#include "tenex/schedule/storage/step_table.hpp"

namespace tenex {

/// The in-links of one NPU in the tile in which it may be finished. Each thread has one and reuses it.
template <class Slot>
class FinishingTile {
 public:
  explicit FinishingTile(const StepSetup& setup) : lanes_(setup.lanes) {
    std::size_t most = 0;
    for (std::size_t npu = 0; npu < setup.npus(); ++npu)
      most = std::max<std::size_t>(most, setup.port_begin[npu + 1] - setup.port_begin[npu]);
    ports_.resize(most);
  }

  /// Returns how many of `left` chunks remain when all in-links have sent what they can. In-link i of `ports` is on
  /// lane lane_of(i); bring(i, want, out) writes up to `want` chunks to `out` and returns their number.
  template <class LaneOf, class Bring>
  std::uint32_t gather(const Tile& tile, std::size_t ports, std::uint32_t left, const LaneOf& lane_of,
                       const Bring& bring) {
    begin(ports, lane_of);
    for (bool asked = true; left > 0 && asked;) {  // each pass uses up rows or exhausts a source
      asked = false;
      const SimTime horizon = horizon_of(tile, left);
      for (std::size_t i = 0; i < used_ && left > 0; ++i) {
        auto& [brought, lane, dry] = ports_[i];
        const auto room = static_cast<std::uint32_t>(rows_by(tile, lane, horizon));
        const auto had = static_cast<std::uint32_t>(brought.size());
        if (dry || room <= had) continue;
        asked = true;
        const std::uint32_t want = std::min(room - had, left);
        brought.resize(had + want);
        const std::uint32_t count = bring(i, want, brought.data() + had);
        brought.resize(had + count);
        dry = count < want;
        left -= count;
      }
    }
    return left;
  }

  /// Appends the chunks to `list`, in-link by in-link, and each one's number to `counts`. Returns the last arrival.
  SimTime write(const Tile& tile, Slot* list, std::uint8_t* counts) const {
    SimTime last;
    for (std::size_t i = 0; i < used_; ++i) {
      const auto& [brought, lane, dry] = ports_[i];
      list = std::copy(brought.begin(), brought.end(), list);
      counts[i] = static_cast<std::uint8_t>(brought.size());
      if (brought.empty()) continue;
      const auto row = tile.lanes[lane].first_row + static_cast<std::int64_t>(brought.size()) - 1;
      last = std::max(last, lanes_[lane].arrival(row));
    }
    return last;
  }

 private:
  struct Port {
    std::vector<Slot> brought;
    std::size_t lane = 0;
    bool dry = false;  ///< its source has no more chunks
  };

  template <class LaneOf>
  void begin(std::size_t ports, const LaneOf& lane_of) {
    used_ = ports;
    for (std::size_t i = 0; i < ports; ++i) {
      ports_[i].brought.clear();
      ports_[i].lane = lane_of(i);
      ports_[i].dry = false;
    }
  }

  /// The lane's rows of the tile that arrive by `time`.
  [[nodiscard]] std::int64_t rows_by(const Tile& tile, std::size_t lane, SimTime time) const {
    const auto& part = tile.lanes[lane];
    return std::clamp<std::int64_t>(lanes_[lane].rows_arrived(time) - part.first_row, 0, part.rows);
  }

  /// The earliest time by which the ports that are not dry have rows for all that is left, or the tile's end.
  [[nodiscard]] SimTime horizon_of(const Tile& tile, std::uint32_t left) const {
    const auto enough = [&](SimTime time) {
      std::int64_t room = 0;
      for (std::size_t i = 0; i < used_; ++i)
        if (!ports_[i].dry)
          room += std::max<std::int64_t>(
              0, rows_by(tile, ports_[i].lane, time) - static_cast<std::int64_t>(ports_[i].brought.size()));
      return room >= left;
    };
    SimTime low = tile.begin;
    SimTime high = tile.end;
    while (high - low > picoseconds(1)) {
      const SimTime middle = low + (high - low) / 2;
      (enough(middle) ? high : low) = middle;
    }
    return high;
  }

  const std::vector<StepLane>& lanes_;
  std::vector<Port> ports_;
  std::size_t used_ = 0;
};

/// Ends a table with the tile `last`, the last one with a send; later tiles are dropped.
template <class Slot>
void end_table(StepTable<Slot>& table, const Tile& last) {
  table.counts.resize(last.index + 1);
  table.lengths.resize(last.index + 2);
  for (std::size_t lane = 0; lane < table.lanes.size(); ++lane) {
    table.lane_rows[lane].resize(last.index + 1);
    table.lane_rows[lane].push_back(last.lanes[lane].first_row + last.lanes[lane].rows);
  }
}

}  // namespace tenex
