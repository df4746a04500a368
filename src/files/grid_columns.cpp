// The timetables of grid schedules. The names of links and chunks follow from the sizes of the dimensions.
#include <cstdint>
#include <utility>
#include <vector>

#include "files/storage_columns.hpp"
#include "tenex/schedule/storage/grid_schedule.hpp"

namespace tenex {
namespace {

/// Whether the schedule is one of the topology's NPUs and links.
bool is_of(const Topology& topology, const GridSchedule& data) {
  std::uint64_t npus = 1;
  for (const auto& dimension : data.dimensions) npus *= dimension.size;
  return npus == topology.npus() && grid_links(data.dimensions) == topology.links();
}

}  // namespace

bool write_grid(const StorageTarget& target, const std::string& group, const GridSchedule& data) {
  if (!is_of(target.topology, data)) return false;
  auto& file = target.file;
  file.set_attribute(group, "chunks_per_pair", std::int64_t{data.chunks_per_pair});
  ColumnPen<std::uint32_t> size(file, group + "/size");
  ColumnPen<std::int64_t> slot(file, group + "/slot_ps");
  for (const auto& dimension : data.dimensions) {
    size.put(dimension.size);
    slot.put(dimension.slot.count());
  }
  size.finish();
  slot.finish();
  ColumnPen<std::int64_t> begin(file, group + "/phase_begin_ps");
  for (const SimTime time : data.phase_begin) begin.put(time.count());
  begin.finish();
  ColumnPen<std::uint32_t> timetable(file, group + "/timetable");
  timetable.put(std::span<const std::uint32_t>(data.timetable_of));
  timetable.finish();
  ColumnPen<std::uint32_t> positions(file, group + "/positions");
  ColumnPen<std::uint32_t> start(file, group + "/start");
  for (const auto& own : data.timetables) {
    positions.put(own.size);
    start.put(std::span<const std::uint32_t>(own.start));
  }
  positions.finish();
  start.finish();
  return true;
}

Result<StoredSchedule> read_grid(const StorageSource& source, const std::string& group) {
  ColumnFacts facts(source.file, group);
  std::int64_t chunks = 0;
  std::vector<std::uint32_t> size, timetable, positions, start;
  std::vector<std::int64_t> slot, begin;
  facts.integer("chunks_per_pair", chunks);
  facts.column("size", size);
  facts.column("slot_ps", slot);
  facts.column("phase_begin_ps", begin);
  facts.column("timetable", timetable);
  facts.column("positions", positions);
  facts.column("start", start);
  if (!facts.errors().empty()) return facts.errors();
  const std::uint64_t npus = source.topology.npus();
  if (chunks < 1 || npus * npus > source.collective.chunks() ||
      static_cast<std::uint64_t>(chunks) != source.collective.chunks() / (npus * npus) ||
      source.collective.chunks() % (npus * npus) != 0)
    return source.damaged(group, fmt::format("{} chunks per pair", chunks));
  if (size.size() != slot.size()) return source.damaged(group, "the columns of the dimensions differ in length");
  GridSchedule data;
  data.chunks_per_pair = static_cast<std::uint32_t>(chunks);
  for (std::size_t e = 0; e < size.size(); ++e) data.dimensions.push_back({size[e], SimTime::of(slot[e])});
  for (const auto time : begin) data.phase_begin.push_back(SimTime::of(time));
  data.timetable_of = std::move(timetable);
  std::size_t next = 0;
  for (const auto own : positions) {
    if (own < 2 || own > npus || 2 * one_way_hops(own) > start.size() - next)
      return source.damaged(group, "a timetable is too short");
    const auto first = start.begin() + static_cast<std::ptrdiff_t>(next);
    next += 2 * one_way_hops(own);
    data.timetables.push_back({own, {first, start.begin() + static_cast<std::ptrdiff_t>(next)}});
  }
  if (next != start.size()) return source.damaged(group, "its timetables differ in length");
  if (const auto problem = grid_problem(data); !problem.empty()) return source.damaged(group, problem);
  if (!is_of(source.topology, data)) return source.damaged(group, "it is of another topology");
  StoredSchedule stored;
  stored.schedule = make_grid_schedule(std::move(data));
  SendBuffer buffer;
  for (std::size_t segment = stored.schedule.segments(); segment-- > 0 && buffer.batch.size() == 0;) {
    stored.schedule.read(segment, buffer);
    if (buffer.batch.size() > 0) stored.last_start = buffer.batch.start_of(buffer.batch.size() - 1);
  }
  stored.sends_of_busiest = source.collective.chunks();
  return stored;
}

}  // namespace tenex
