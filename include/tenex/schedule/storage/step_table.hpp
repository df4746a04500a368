// Step table: the storage of schedules whose links send in steps. 2 bytes per send.
//
// Idea: links that take equally long per send form a lane, and a lane's sends start at the rows of a fixed grid, so a
// send needs no start time: its position gives it. Every NPU has one list: its own chunks, then those that its in-links
// deliver. Time is cut into tiles of rows. A list holds a tile's arrivals together, port (in-link) by port, and a port
// that delivers k chunks in a tile delivers them in the tile's first k rows. So no slot is ever empty, a list is
// exactly as long as the NPU's postcondition, and an NPU's in-links read contiguous memory.
//
// Encoding: a tile belongs to an interval of *arrival* time, the same for all lanes; per lane it is a range of rows.
// Per tile: the length of every NPU's list when the tile begins (a slot) and how many sends each port has in it (1
// byte). Chunks are numbered within their process group; a slot has 16 bits where a group has fewer than 65,536.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tenex/base/ids.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/schedule/schedule.hpp"
#include "tenex/schedule/storage/raw_array.hpp"

namespace tenex {

/// The rows of links that take equally long per send. Row r starts at r * period; rows from `early_rows` on start
/// `late` later (before that row, NPUs have nothing but their own chunks, and nothing else can have arrived).
struct StepLane {
  SimTime period;   ///< from row to row: how long a send keeps its link busy
  SimTime latency;  ///< from a row's start to its arrival
  std::int64_t early_rows = 0;
  SimTime late;

  [[nodiscard]] SimTime start(std::int64_t row) const { return row * period + (row >= early_rows ? late : SimTime()); }
  [[nodiscard]] SimTime arrival(std::int64_t row) const { return start(row) + latency; }
  /// The first row that starts at `time` or later. O(1).
  [[nodiscard]] std::int64_t first_row_from(SimTime time) const;
  /// How many rows have arrived by `time` (inclusive). O(1).
  [[nodiscard]] std::int64_t rows_arrived(SimTime time) const {
    return first_row_from(time - latency + picoseconds(1));
  }
};

/// The table, plain data. `Slot` is std::uint16_t or std::uint32_t. A port is an in-link that the schedule may use;
/// ports are numbered NPU by NPU.
template <class Slot>
struct StepTable {
  std::vector<StepLane> lanes;
  // Per NPU (the vectors of begins have one entry more).
  std::vector<std::size_t> list_begin;     ///< into `lists`
  std::vector<std::uint32_t> own;          ///< entries at the head of the list that were not sent: the NPU's own chunks
  std::vector<std::uint32_t> first_chunk;  ///< the chunk that a list's zero stands for
  std::vector<std::uint32_t> port_begin;   ///< into the ports
  // Per port.
  std::vector<LinkId> port_link;
  std::vector<std::uint8_t> port_lane;
  RawArray<Slot> lists;
  // Per tile. `lane_rows[lane]` and `lengths` have one entry more.
  std::vector<std::vector<std::int64_t>> lane_rows;  ///< the lane's first row that belongs to the tile
  std::vector<RawArray<Slot>> lengths;               ///< per NPU: the length of its list when the tile begins
  std::vector<RawArray<std::uint8_t>> counts;        ///< per port

  [[nodiscard]] std::size_t npus() const { return own.size(); }
  [[nodiscard]] std::size_t ports() const { return port_link.size(); }
  [[nodiscard]] std::size_t tiles() const { return counts.size(); }
  /// The position in `lists` of the tile's first send over a port. O(ports of the NPU).
  [[nodiscard]] std::size_t slots_of(std::size_t tile, std::size_t npu, std::size_t port) const {
    std::size_t slot = list_begin[npu] + lengths[tile][npu];
    for (std::size_t earlier = port_begin[npu]; earlier < port; ++earlier) slot += counts[tile][earlier];
    return slot;
  }
};

/// Makes a schedule of `table`; `links` is the topology's number of links. Segments are whole rows. Its tiles() begin
/// at tiles of the table, at the rows of the first lane, each `tile_rows` rows or more after the one before: the
/// table's own tiles hold only a few rows, too few for one call each. Keeps a second copy of the counts, NPU by NPU,
/// for reading links. O(tiles * ports) time.
template <class Slot>
[[nodiscard]] Schedule make_step_schedule(StepTable<Slot> table, std::size_t links, std::int64_t tile_rows = 512);

extern template Schedule make_step_schedule(StepTable<std::uint16_t> table, std::size_t links, std::int64_t tile_rows);
extern template Schedule make_step_schedule(StepTable<std::uint32_t> table, std::size_t links, std::int64_t tile_rows);

}  // namespace tenex
