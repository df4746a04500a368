// Reading a step table by time and by link.
//
// Encoding of segments: the distinct starts of all lanes' rows in increasing order, cut where the links that can send
// since the last cut number sends_per_segment() or more. Within one start, links are walked in order and each looks up
// its one slot. A send reads two bytes of a list, so neighbouring rows share cache lines.
#include "tenex/schedule/storage/step_table.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>

#include "schedule/storage/port_index.hpp"
#include "schedule/storage/row_grid.hpp"
#include "tenex/schedule/storage/storage_parts.hpp"

namespace tenex {

std::int64_t StepLane::first_row_from(SimTime time) const {
  if (time <= SimTime::zero()) return 0;
  const std::int64_t row = ceil_div(time.count(), period.count());
  if (row < early_rows) return row;
  const SimTime shifted = time - late;
  return std::max(early_rows, shifted <= SimTime::zero() ? 0 : ceil_div(shifted.count(), period.count()));
}

namespace {

constexpr std::uint32_t kNoPort = std::numeric_limits<std::uint32_t>::max();

template <class T>
std::size_t bytes_of_arrays(const std::vector<RawArray<T>>& arrays) {
  std::size_t total = arrays.capacity() * sizeof(RawArray<T>);
  for (const auto& array : arrays) total += array.bytes();
  return total;
}

template <class Slot>
class StepStorage final : public ScheduleStorage {
 public:
  StepStorage(StepTable<Slot> table, std::size_t links, std::int64_t tile_rows)
      : table_(std::move(table)), index_(table_), port_of_(links, kNoPort), npu_of_port_(table_.ports()) {
    for (std::size_t npu = 0; npu < table_.npus(); ++npu) {
      for (std::size_t port = table_.port_begin[npu]; port < table_.port_begin[npu + 1]; ++port) {
        port_of_[table_.port_link[port].index()] = static_cast<std::uint32_t>(port);
        npu_of_port_[port] = static_cast<std::uint32_t>(npu);
      }
      if (table_.tiles() > 0) sends_ += table_.lengths[table_.tiles()][npu] - table_.own[npu];
    }
    cut_segments();
    cut_tiles(tile_rows);
  }

  const StepTable<Slot>& table() const { return table_; }

  std::size_t segments() const override { return segment_start_.empty() ? 0 : segment_start_.size() - 1; }
  std::uint64_t sends() const override { return sends_; }
  std::string_view kind() const override { return "step_table"; }
  StorageParts parts() const override { return {&table_}; }
  std::size_t tiles() const override { return tile_start_.empty() ? 0 : tile_start_.size() - 1; }

  void read(std::size_t segment, SendBuffer& buffer) const override {
    if (table_.lanes.size() == 1) return read_lane(segment, buffer);
    buffer.link.clear();
    buffer.chunk.clear();
    buffer.start.clear();
    std::vector<std::int64_t> next;
    for (const StepLane& lane : table_.lanes) next.push_back(lane.first_row_from(segment_start_[segment]));
    for (;;) {
      const SimTime start = earliest(next);
      if (start >= segment_start_[segment + 1]) break;
      read_start(start, next, buffer);
      for (std::size_t l = 0; l < next.size(); ++l) next[l] += table_.lanes[l].start(next[l]) == start ? 1 : 0;
    }
    buffer.batch = {};
    buffer.batch.link = buffer.link;
    buffer.batch.chunk = buffer.chunk;
    buffer.batch.start = buffer.start;
  }

  void read_link(std::size_t tile, LinkId link, SendBuffer& buffer) const override {
    const std::uint32_t port = port_of_[link.index()];
    const std::size_t count = port == kNoPort ? 0 : read_port(tile, port, buffer);
    buffer.link.assign(count, link);
    buffer.batch = {};
    buffer.batch.link = buffer.link;
    buffer.batch.chunk = std::span(buffer.chunk).first(count);
    buffer.batch.start = std::span(buffer.start).first(count);
  }

  /// With one lane, whose late rows start a number of rows later.
  SimTime row_time() const override {
    if (table_.lanes.size() != 1) return SimTime::zero();
    const StepLane& lane = table_.lanes.front();
    const bool fits = (lane.late % lane.period == SimTime::zero() || lane.early_rows >= rows_of(0)) &&
                      lane.start(rows_of(0)) / lane.period < kMostSendRows;
    return fits ? lane.period : SimTime::zero();
  }

  void read_rows(LinkId link, RowBuffer& buffer) const override {
    const std::uint32_t port = port_of_[link.index()];
    if (port != kNoPort && table_.tiles() > 0) list_port(port, buffer);
  }

  std::size_t memory_bytes() const override {
    std::size_t total = sizeof(*this) + bytes_of(table_.lanes) + bytes_of(table_.list_begin) + bytes_of(table_.own) +
                        bytes_of(table_.first_chunk) + bytes_of(table_.port_begin) + bytes_of(table_.port_link) +
                        bytes_of(table_.port_lane) + table_.lists.bytes() + index_.bytes() +
                        bytes_of_arrays(table_.lengths) + bytes_of_arrays(table_.counts) + bytes_of(port_of_) +
                        bytes_of(npu_of_port_) + bytes_of(segment_start_) + bytes_of(tile_start_) +
                        bytes_of(table_.lane_rows);
    for (const auto& rows : table_.lane_rows) total += bytes_of(rows);
    return total;
  }

 private:
  /// A lane's row: its tile and its position in the tile.
  struct RowPosition {
    std::size_t tile = 0;
    std::int64_t position = -1;  ///< negative: the lane has no row at this start
  };

  [[nodiscard]] std::size_t tile_of(std::size_t lane, std::int64_t row) const {
    const auto& rows = table_.lane_rows[lane];
    return static_cast<std::size_t>(std::upper_bound(rows.begin(), rows.end(), row) - rows.begin()) - 1;
  }
  [[nodiscard]] std::int64_t rows_of(std::size_t lane) const { return table_.lane_rows[lane].back(); }
  [[nodiscard]] SimTime earliest(const std::vector<std::int64_t>& next) const {
    SimTime start = SimTime::max();
    for (std::size_t l = 0; l < next.size(); ++l)
      if (next[l] < rows_of(l)) start = std::min(start, table_.lanes[l].start(next[l]));
    return start;
  }

  void cut_segments() {
    if (sends_ == 0) return;
    std::vector<std::size_t> width(table_.lanes.size(), 0);
    for (const std::uint8_t lane : table_.port_lane) ++width[lane];
    std::vector<std::int64_t> next(table_.lanes.size(), 0);
    const std::size_t wanted = sends_per_segment(sends_);
    std::size_t since_cut = wanted;
    for (SimTime start = earliest(next); start < SimTime::max(); start = earliest(next)) {
      if (since_cut >= wanted) {
        segment_start_.push_back(start);
        since_cut = 0;
      }
      for (std::size_t l = 0; l < next.size(); ++l) {
        if (next[l] >= rows_of(l) || table_.lanes[l].start(next[l]) != start) continue;
        ++next[l];
        since_cut += width[l];
      }
    }
    segment_start_.push_back(SimTime::max());
  }

  /// Tiles for readers: some hundred rows of the first lane, so that a tile is worth a call.
  void cut_tiles(std::int64_t tile_rows) {
    if (table_.tiles() == 0) return;
    std::int64_t cut = 0;
    tile_start_.push_back(SimTime::zero());
    for (const std::int64_t row : table_.lane_rows[0]) {
      if (row - cut < tile_rows || row == rows_of(0)) continue;
      tile_start_.push_back(table_.lanes[0].start(row));
      cut = row;
    }
    tile_start_.push_back(SimTime::max());
  }

  /// Reads a segment where all links are of one lane: NPU by NPU, because its sends of a few rows lie together.
  void read_lane(std::size_t segment, SendBuffer& buffer) const {
    const StepLane& lane = table_.lanes.front();
    const auto& rows = table_.lane_rows.front();
    const std::int64_t begin = lane.first_row_from(segment_start_[segment]);
    const bool last = segment_start_[segment + 1] == SimTime::max();
    const std::int64_t end = last ? rows.back() : lane.first_row_from(segment_start_[segment + 1]);
    RowGrid grid(static_cast<std::size_t>(end - begin), port_of_.size());
    for (std::size_t tile = tile_of(0, begin); tile < table_.tiles() && rows[tile] < end; ++tile) {
      const auto from = static_cast<std::size_t>(std::max<std::int64_t>(0, begin - rows[tile]));
      const auto until = static_cast<std::size_t>(end - rows[tile]);
      for (std::size_t npu = 0; npu < table_.npus(); ++npu) {
        std::size_t slot = table_.list_begin[npu] + table_.lengths[tile][npu];
        for (std::size_t port = table_.port_begin[npu]; port < table_.port_begin[npu + 1]; ++port) {
          const std::size_t count = table_.counts[tile][port];
          for (std::size_t i = from; i < std::min(count, until); ++i)
            grid.put(static_cast<std::size_t>(rows[tile] - begin) + i, table_.port_link[port],
                     ChunkId(table_.first_chunk[npu] + table_.lists[slot + i]));
          slot += count;
        }
      }
    }
    grid.show(buffer, [&](std::size_t row) { return lane.start(begin + static_cast<std::int64_t>(row)); });
  }

  void read_start(SimTime start, const std::vector<std::int64_t>& next, SendBuffer& buffer) const {
    std::array<RowPosition, 256> places;
    for (std::size_t l = 0; l < next.size(); ++l) {
      if (next[l] >= rows_of(l) || table_.lanes[l].start(next[l]) != start) continue;
      places[l].tile = tile_of(l, next[l]);
      places[l].position = next[l] - table_.lane_rows[l][places[l].tile];
    }
    for (std::size_t link = 0; link < port_of_.size(); ++link) {
      const std::uint32_t port = port_of_[link];
      if (port == kNoPort) continue;
      const auto& [tile, position] = places[table_.port_lane[port]];
      if (position < 0 || position >= table_.counts[tile][port]) continue;
      const std::size_t npu = npu_of_port_[port];
      const std::size_t slot = table_.slots_of(tile, npu, port) + static_cast<std::size_t>(position);
      buffer.link.push_back(LinkId::at(link));
      buffer.chunk.push_back(ChunkId(table_.first_chunk[npu] + table_.lists[slot]));
      buffer.start.push_back(start);
    }
  }

  /// Reads a tile's sends over a port and returns their number. The buffer's columns may be longer.
  std::size_t read_port(std::size_t tile, std::uint32_t port, SendBuffer& buffer) const {
    const std::size_t lane = table_.port_lane[port];
    const auto& grid = table_.lanes[lane];
    const auto& rows = table_.lane_rows[lane];
    std::int64_t row = std::min(grid.first_row_from(tile_start_[tile]), rows.back());
    const bool last = tile + 1 == tiles();
    const std::int64_t end = last ? rows.back() : std::min(grid.first_row_from(tile_start_[tile + 1]), rows.back());
    if (row >= end) return 0;
    const std::size_t room = static_cast<std::size_t>(end - row) + kSpread;
    if (buffer.chunk.size() < room) buffer.chunk.resize(room);
    if (buffer.start.size() < room) buffer.start.resize(room);
    const std::size_t npu = npu_of_port_[port];
    const Spread spread(table_, npu, grid);
    // With several lanes the rows may lie in several tiles of the table, which are intervals of arrival time.
    std::size_t from = tile_of(lane, row);
    PortCursor cursor = index_.at(table_, npu, port, from);
    std::size_t count = 0;
    for (; row < end; ++from, cursor.next_tile()) {
      const std::int64_t used = std::min(end, rows[from] + static_cast<std::int64_t>(cursor.count()));
      if (row < used) {
        const std::size_t slot = cursor.slot() + static_cast<std::size_t>(row - rows[from]);
        spread.write(slot, row, static_cast<std::size_t>(used - row), buffer.chunk.data() + count,
                     buffer.start.data() + count);
        count += static_cast<std::size_t>(used - row);
      }
      row = std::max(row, rows[from + 1]);
    }
    return count;
  }

  /// Appends all sends over a port of the only lane. Runs go on from tile to tile where a link is busy throughout.
  void list_port(std::uint32_t port, RowBuffer& buffer) const {
    const StepLane& lane = table_.lanes.front();
    const std::int64_t* const rows = table_.lane_rows.front().data();
    const std::int64_t late_rows = lane.early_rows < rows_of(0) ? lane.late / lane.period : 0;
    const std::size_t npu = npu_of_port_[port];
    const std::uint32_t first = table_.first_chunk[npu];
    ChunkId* const list = buffer.room(static_cast<std::size_t>(rows_of(0)) + kSpread);
    std::size_t size = 0;
    std::size_t begin = 0;  // of the run that may go on
    std::int64_t next = 0;  // the row with which it does
    const auto end_run = [&] {
      if (size == begin) return;
      const auto count = static_cast<std::uint32_t>(size - begin);
      buffer.runs.push_back({buffer.listed, count, static_cast<std::int32_t>(next - count), 1, Stage::copy, true});
      buffer.listed += count;
      begin = size;
    };
    PortCursor cursor = index_.at(table_, npu, port, 0);
    const auto append = [&](std::size_t slot, std::int64_t row, std::size_t count) {
      if (row != next) {
        end_run();
        next = row;
      }
      spread(first, slot, count, list + size);
      size += count;
      next += static_cast<std::int64_t>(count);
    };
    std::size_t tile = 0;
    for (; tile < table_.tiles() && rows[tile + 1] <= lane.early_rows; ++tile, cursor.next_tile())
      if (cursor.count() > 0) append(cursor.slot(), rows[tile], cursor.count());
    if (tile < table_.tiles() && rows[tile] < lane.early_rows) {
      const auto early = std::min(cursor.count(), static_cast<std::size_t>(lane.early_rows - rows[tile]));
      append(cursor.slot(), rows[tile], early);
      if (early < cursor.count()) append(cursor.slot() + early, lane.early_rows + late_rows, cursor.count() - early);
      ++tile;
      cursor.next_tile();
    }
    for (; tile < table_.tiles(); ++tile, cursor.next_tile())
      if (cursor.count() > 0) append(cursor.slot(), rows[tile] + late_rows, cursor.count());
    end_run();
  }

  /// Writes slots as chunks: kSpread of them without a branch where there are no more, the entries beyond the count
  /// being overwritten by the next call.
  void spread(std::uint32_t first, std::size_t slot, std::size_t count, ChunkId* chunk) const {
    const Slot* const slots = table_.lists.data() + slot;
    if (count <= kSpread && slot + kSpread <= table_.lists.size()) {
      std::array<Slot, kSpread> own;  // GCC 12 reads it with one instruction, and the list slot by slot
      std::copy_n(slots, kSpread, own.begin());
      for (std::size_t i = 0; i < kSpread; ++i) chunk[i] = ChunkId(first + own[i]);
    } else {
      for (std::size_t i = 0; i < count; ++i) chunk[i] = ChunkId(first + slots[i]);
    }
  }

  static constexpr std::size_t kSpread = 8;

  /// Writes slots as chunks with their starts. Up to kSpread of them are written without a branch; the entries beyond
  /// the count are overwritten by the next call.
  class Spread {
   public:
    Spread(const StepTable<Slot>& table, std::size_t npu, const StepLane& lane)
        : lists_(table.lists.data()), slots_(table.lists.size()), first_(table.first_chunk[npu]), lane_(lane) {
      for (std::size_t i = 0; i < kSpread; ++i) ramp_[i] = lane.period * static_cast<std::int64_t>(i);
    }
    void write(std::size_t slot, std::int64_t row, std::size_t count, ChunkId* chunk, SimTime* start) const {
      const auto last = row + static_cast<std::int64_t>(count) - 1;
      if (count > kSpread || slot + kSpread > slots_ || (row < lane_.early_rows && last >= lane_.early_rows)) {
        for (std::size_t i = 0; i < count; ++i) {
          chunk[i] = ChunkId(first_ + lists_[slot + i]);
          start[i] = lane_.start(row + static_cast<std::int64_t>(i));
        }
        return;
      }
      const Slot* const slots = lists_ + slot;
      const SimTime begin = lane_.start(row);
      for (std::size_t i = 0; i < kSpread; ++i) chunk[i] = ChunkId(first_ + slots[i]);
      for (std::size_t i = 0; i < kSpread; ++i) start[i] = begin + ramp_[i];
    }

   private:
    const Slot* lists_;
    std::size_t slots_;
    std::uint32_t first_;
    const StepLane& lane_;
    std::array<SimTime, kSpread> ramp_;
  };

  StepTable<Slot> table_;
  PortIndex index_;
  std::vector<std::uint32_t> port_of_;  ///< per link
  std::vector<std::uint32_t> npu_of_port_;
  std::vector<SimTime> segment_start_;  ///< of each segment, then the end
  std::vector<SimTime> tile_start_;     ///< of each tile, then the end
  std::uint64_t sends_ = 0;
};

}  // namespace

template <class Slot>
Schedule make_step_schedule(StepTable<Slot> table, std::size_t links, std::int64_t tile_rows) {
  return Schedule(std::make_shared<const StepStorage<Slot>>(std::move(table), links, tile_rows));
}

template Schedule make_step_schedule(StepTable<std::uint16_t> table, std::size_t links, std::int64_t tile_rows);
template Schedule make_step_schedule(StepTable<std::uint32_t> table, std::size_t links, std::int64_t tile_rows);

}  // namespace tenex
