// Reading a grid schedule: by segments of time for streams in time order, by chunk for checks that follow each chunk.
//
// Index: per timetable and link, the blocks in order of start, and for each tile of slots the block that is under way
// when the tile begins. A segment is an interval of time in which about 16,000 sends start (at least one slot of the
// fastest dimension). One slot of one dimension is a row: what each link of a line carries is looked up once per kind
// of line, and all lines of the kind follow by adding their names.
#include "tenex/schedule/storage/grid_schedule.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "schedule/storage/grid_index.hpp"
#include "schedule/storage/grid_names.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/schedule/storage/storage_parts.hpp"
#include "tenex/topology/time_range.hpp"

namespace tenex {
namespace {

constexpr std::int64_t kNeverSent = std::numeric_limits<std::int64_t>::max();

/// Where a segment writes.
struct SegmentColumns {
  LinkId* link;
  ChunkId* chunk;
  SimTime* start;  ///< null: not wanted
  std::size_t size = 0;
};

class GridStorage final : public ScheduleStorage {
 public:
  explicit GridStorage(GridSchedule data) : data_(std::move(data)), names_(data_.dimensions, data_.chunks_per_pair) {
    for (std::size_t e = 0; e < dimensions(); ++e) free_.push_back(tuples_of(e));
    for (const auto& timetable : data_.timetables) index_.emplace_back(timetable);
    measure();
  }

  std::size_t segments() const override { return first_segment_.back(); }
  std::uint64_t sends() const override { return sends_; }
  std::string_view kind() const override { return "grid"; }
  StorageParts parts() const override { return {&data_}; }
  bool may_carry_messages() const override { return false; }
  bool offers_chunks() const override { return true; }

  void read(std::size_t segment, SendBuffer& buffer) const override;
  void read_chunks(ChunkId first, ChunkId last, SendBuffer& buffer) const override;

  std::size_t memory_bytes() const override {
    std::size_t bytes = sizeof(*this) + names_.memory_bytes();
    for (const auto& timetable : data_.timetables) bytes += timetable.start.size() * sizeof(std::uint32_t);
    for (const auto& index : index_) bytes += index.memory_bytes();
    return bytes;
  }

 private:
  std::size_t dimensions() const { return data_.dimensions.size(); }
  std::uint32_t timetable_of(std::size_t e, std::uint32_t residue) const {
    return data_.timetable_of[e * dimensions() + residue];
  }
  std::vector<std::uint32_t> tuples_of(std::size_t e) const {
    return free_tuples(data_.dimensions, e, data_.chunks_per_pair);
  }
  void measure();
  SimTime start_of(std::size_t phase, std::size_t e, std::uint32_t slot) const {
    return data_.phase_begin[phase] + data_.dimensions[e].slot * std::int64_t{slot};
  }

  /// What the links of a line carry in a row: the pair's and the tuple's parts of the chunk, by link.
  struct LineRow {
    std::vector<GridIndex::Cursor> at;
    std::vector<std::uint32_t> part;
    std::vector<std::uint8_t> busy;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> packed;  ///< links that are busy, and their parts
  };
  void seek(std::size_t phase, std::size_t e, std::uint32_t slot, std::vector<LineRow>& rows) const;
  std::uint32_t look_up(std::size_t phase, std::size_t e, std::uint32_t slot, std::vector<LineRow>& rows) const;
  void write_row(std::size_t phase, std::size_t e, SimTime start, std::vector<LineRow>& rows,
                 SegmentColumns& columns) const;
  void write_chunk(std::uint32_t source, std::uint32_t destination, std::uint32_t number, ChunkId chunk,
                   SegmentColumns& columns) const;

  GridSchedule data_;
  GridNames names_;
  std::vector<std::vector<std::uint32_t>> free_;  ///< free_tuples() per dimension
  std::vector<GridIndex> index_;                  ///< per timetable
  std::vector<std::uint32_t> slots_;              ///< per dimension: after these, nothing starts in a phase
  SimTime width_ = SimTime::of(1);                ///< of a segment
  std::vector<std::size_t> first_segment_;        ///< per phase, then the end
  std::size_t row_sends_ = 0;                     ///< the most sends of a segment
  std::uint64_t sends_ = 0;
};

void GridStorage::measure() {
  const std::size_t classes = dimensions();
  double sends_per_time = 0;
  SimTime fastest = SimTime::max();
  for (std::size_t e = 0; e < classes; ++e) {
    slots_.push_back(static_cast<std::uint32_t>(grid_slots(data_, e)));
    const auto& d = names_.dimension(e);
    const SimTime slot = data_.dimensions[e].slot;
    sends_per_time += 2.0 * (d.size - 1) * d.lines / static_cast<double>(slot.count());
    fastest = std::min(fastest, slot);
    // Hops of all pairs of positions, between any source and destination that agree in them.
    sends_ += 2 * one_way_hops(d.size) * d.lines * d.lines * data_.chunks_per_pair;
  }
  const double slots = kSegmentSends / (sends_per_time * static_cast<double>(fastest.count()));
  width_ = fastest * std::clamp<std::int64_t>(static_cast<std::int64_t>(slots), 1, kLongestTime / fastest);
  first_segment_.push_back(0);
  for (std::size_t phase = 0; phase < classes; ++phase) {
    SimTime last;
    for (std::size_t e = 0; e < classes; ++e)
      if (slots_[e] > 0) last = std::max(last, data_.dimensions[e].slot * std::int64_t{slots_[e] - 1});
    first_segment_.push_back(first_segment_.back() + static_cast<std::size_t>(last / width_) + 1);
  }
  for (std::size_t e = 0; e < classes; ++e) {
    const auto rows = static_cast<std::size_t>(ceil_div(width_.count(), data_.dimensions[e].slot.count()));
    row_sends_ += rows * 2 * (names_.dimension(e).size - 1) * names_.dimension(e).lines;
  }
}

void GridStorage::seek(std::size_t phase, std::size_t e, std::uint32_t slot, std::vector<LineRow>& rows) const {
  rows.resize(dimensions());
  const std::uint32_t links = 2 * (names_.dimension(e).size - 1);
  for (std::uint32_t type = 0; type < dimensions(); ++type) {
    auto& row = rows[type];
    const auto& index = index_[timetable_of(e, names_.residue(phase, e, type))];
    row.at.resize(links);
    row.part.resize(links);
    row.busy.resize(links);
    row.packed.resize(links);
    for (std::uint32_t link = 0; link < links; ++link) row.at[link] = index.find(link, slot);
  }
}

/// Returns the next slot in which a link may be busy.
std::uint32_t GridStorage::look_up(std::size_t phase, std::size_t e, std::uint32_t slot,
                                   std::vector<LineRow>& rows) const {
  std::uint32_t next = slots_[e];
  const auto& tuple = names_.passage(phase, e).tuple;
  const std::uint32_t links = 2 * (names_.dimension(e).size - 1);
  for (std::uint32_t type = 0; type < dimensions(); ++type) {
    const std::uint32_t residue = names_.residue(phase, e, type);
    auto& row = rows[type];
    for (std::uint32_t link = 0; link < links; ++link) {
      auto& at = row.at[link];
      while (at.next < at.end && at.next->start <= slot) ++at.next;
      if (at.next < at.end) next = std::min(next, at.next->start);
      row.busy[link] = 0;
      if (at.next == at.begin) continue;
      const auto& block = at.next[-1];
      const auto& parts = tuple[names_.block_residue(residue, block.a, block.b)];
      const std::uint32_t place = slot - block.start;
      if (place >= parts.size()) continue;
      row.busy[link] = 1;
      row.part[link] = names_.pair(e, block.a, block.b) + parts[place];
      next = slot + 1;
    }
  }
  return next;
}

/// Writes one slot of a dimension in order of links: NPU by NPU, up before down.
void GridStorage::write_row(std::size_t phase, std::size_t e, SimTime start, std::vector<LineRow>& rows,
                            SegmentColumns& columns) const {
  const auto& d = names_.dimension(e);
  const auto& line_part = names_.passage(phase, e).line;
  const auto& types = names_.line_types(e);
  const std::uint32_t ups = d.size - 1;
  const std::size_t begin = columns.size;
  LinkId* link_out = columns.link + begin;
  ChunkId* chunk_out = columns.chunk + begin;
  if (d.stride == 1) {  // a line's links are consecutive
    for (auto& row : rows) {
      row.packed.clear();
      for (std::uint32_t position = 0; position < d.size; ++position) {
        if (position < ups && row.busy[position])
          row.packed.emplace_back(names_.link_up(d, 0, 0, position), row.part[position]);
        if (position > 0 && row.busy[ups + position - 1])
          row.packed.emplace_back(names_.link_down(d, 0, 0, position), row.part[ups + position - 1]);
      }
    }
    for (std::uint32_t line = 0; line < d.lines; ++line) {
      const auto& packed = rows[types[line]].packed;
      const std::uint32_t links_before = line * 2 * ups;
      const std::uint32_t own = line_part[line];
      for (std::size_t i = 0; i < packed.size(); ++i) {
        link_out[i] = LinkId(packed[i].first + links_before);
        chunk_out[i] = ChunkId(packed[i].second + own);
      }
      link_out += packed.size();
      chunk_out += packed.size();
    }
  } else {
    std::uint32_t link = d.first_link;
    for (std::uint32_t first = 0; first < d.lines; first += d.stride)
      for (std::uint32_t position = 0; position < d.size; ++position)
        for (std::uint32_t line = first; line < first + d.stride; ++line) {
          const auto& row = rows[types[line]];
          const std::uint32_t own = line_part[line];
          if (position < ups) {
            *link_out = LinkId(link++);
            *chunk_out = ChunkId(row.part[position] + own);
            link_out += row.busy[position];
            chunk_out += row.busy[position];
          }
          if (position > 0) {
            *link_out = LinkId(link++);
            *chunk_out = ChunkId(row.part[ups + position - 1] + own);
            link_out += row.busy[ups + position - 1];
            chunk_out += row.busy[ups + position - 1];
          }
        }
  }
  columns.size = static_cast<std::size_t>(link_out - columns.link);
  if (columns.start != nullptr) std::fill(columns.start + begin, columns.start + columns.size, start);
}

void GridStorage::read(std::size_t segment, SendBuffer& buffer) const {
  const std::size_t classes = dimensions();
  std::size_t phase = 0;
  while (first_segment_[phase + 1] <= segment) ++phase;
  const SimTime begin = width_ * static_cast<std::int64_t>(segment - first_segment_[phase]);
  const SimTime end = begin + width_;
  // One more than may be written: idle links are written over.
  if (buffer.link.size() <= row_sends_) buffer.link.resize(row_sends_ + 1);
  if (buffer.chunk.size() <= row_sends_) buffer.chunk.resize(row_sends_ + 1);
  std::vector<std::uint32_t> slot(classes);
  std::vector<std::vector<LineRow>> rows(classes);
  std::size_t starts = 0;
  const auto next = [&](std::size_t e) {
    const SimTime at = data_.dimensions[e].slot * std::int64_t{slot[e]};
    return slot[e] < slots_[e] && at < end ? at.count() : kNeverSent;
  };
  SimTime first = end;
  SimTime last = begin;
  for (std::size_t e = 0; e < classes; ++e) {
    const SimTime period = data_.dimensions[e].slot;
    slot[e] = static_cast<std::uint32_t>(
        std::min<std::int64_t>(ceil_div(begin.count(), period.count()), std::int64_t{slots_[e]}));
    if (next(e) == kNeverSent) continue;
    seek(phase, e, slot[e], rows[e]);
    const SimTime own = SimTime::of(next(e));
    first = std::min(first, own);
    last = std::max(last, own + period * ((end - own - SimTime::of(1)) / period));
    ++starts;
  }
  const bool uniform = starts == 0 || first == last;
  if (!uniform && buffer.start.size() <= row_sends_) buffer.start.resize(row_sends_ + 1);
  SegmentColumns columns{buffer.link.data(), buffer.chunk.data(), uniform ? nullptr : buffer.start.data()};
  while (true) {
    std::int64_t now = kNeverSent;
    for (std::size_t e = 0; e < classes; ++e) now = std::min(now, next(e));
    if (now == kNeverSent) break;
    for (std::size_t e = 0; e < classes; ++e) {
      if (next(e) != now) continue;
      const std::uint32_t following = look_up(phase, e, slot[e], rows[e]);
      write_row(phase, e, start_of(phase, e, slot[e]), rows[e], columns);
      slot[e] = following;
    }
  }
  buffer.batch = {};
  buffer.batch.link = std::span(buffer.link).first(columns.size);
  buffer.batch.chunk = std::span(buffer.chunk).first(columns.size);
  if (uniform)
    buffer.batch.at = data_.phase_begin[phase] + first;
  else
    buffer.batch.start = std::span(buffer.start).first(columns.size);
}

/// Writes a chunk's sends, from its source to its destination.
void GridStorage::write_chunk(std::uint32_t source, std::uint32_t destination, std::uint32_t number, ChunkId chunk,
                              SegmentColumns& columns) const {
  const std::size_t classes = dimensions();
  const std::uint32_t chunk_class = names_.class_of(source, destination, number);
  for (std::size_t phase = 0; phase < classes; ++phase) {
    const std::size_t e = chunk_class + phase < classes ? chunk_class + phase : chunk_class + phase - classes;
    const auto way = names_.way(source, destination, number, e, phase);
    if (way.a == way.b) continue;
    const auto& d = names_.dimension(e);
    const std::uint32_t* const start = index_[timetable_of(e, way.residue)].hops(way.a, way.b);
    const SimTime begin = start_of(phase, e, way.rank);
    const SimTime slot = data_.dimensions[e].slot;
    const bool up = way.a < way.b;
    const std::uint32_t hops = up ? way.b - way.a : way.a - way.b;
    LinkId* const link = columns.link + columns.size;
    SimTime* const time = columns.start + columns.size;
    std::fill_n(columns.chunk + columns.size, hops, chunk);
    for (std::uint32_t hop = 0; hop < hops; ++hop) time[hop] = begin + slot * std::int64_t{start[hop]};
    // All links but the one at the line's end are equally far apart.
    const std::uint32_t first =
        up ? names_.link_up(d, way.high, way.low, way.a) : names_.link_down(d, way.high, way.low, way.a);
    const std::uint32_t second = hops == 1 ? 0
                                 : up      ? names_.link_up(d, way.high, way.low, way.a + 1)
                                           : names_.link_down(d, way.high, way.low, way.a - 1);
    const std::uint32_t step = up ? 2 * d.stride : 0 - 2 * d.stride;
    link[0] = LinkId(first);
    for (std::uint32_t hop = 1; hop < hops; ++hop) link[hop] = LinkId(second + (hop - 1) * step);
    columns.size += hops;
  }
}

void GridStorage::read_chunks(ChunkId first, ChunkId last, SendBuffer& buffer) const {
  const std::uint32_t per_pair = data_.chunks_per_pair;
  const std::uint32_t npus = names_.npus();
  std::size_t most = 0;  // sends of a chunk
  for (const auto& dimension : data_.dimensions) most += dimension.size - 1;
  most *= last.value() - first.value();
  if (buffer.link.size() < most) buffer.link.resize(most);
  if (buffer.chunk.size() < most) buffer.chunk.resize(most);
  if (buffer.start.size() < most) buffer.start.resize(most);
  SegmentColumns columns{buffer.link.data(), buffer.chunk.data(), buffer.start.data()};
  std::uint32_t number = first.value() % per_pair;
  std::uint32_t destination = first.value() / per_pair % npus;
  std::uint32_t source = first.value() / per_pair / npus;
  for (std::uint32_t chunk = first.value(); chunk < last.value(); ++chunk) {
    if (source != destination) write_chunk(source, destination, number, ChunkId(chunk), columns);
    if (++number < per_pair) continue;
    number = 0;
    if (++destination < npus) continue;
    destination = 0;
    ++source;
  }
  buffer.batch = {};
  buffer.batch.link = std::span(buffer.link).first(columns.size);
  buffer.batch.chunk = std::span(buffer.chunk).first(columns.size);
  buffer.batch.start = std::span(buffer.start).first(columns.size);
}

}  // namespace

Schedule make_grid_schedule(GridSchedule data) {
  const std::string problem = grid_problem(data);
  ensure(problem.empty(), problem.c_str());
  return Schedule(std::make_shared<const GridStorage>(std::move(data)));
}

}  // namespace tenex
