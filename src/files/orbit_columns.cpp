// The orbits of symmetric schedules. The translations that move them follow from the topology, the meaning of chunk
// numbers from the collective.
#include <algorithm>
#include <vector>

#include "files/storage_columns.hpp"
#include "tenex/schedule/storage/symmetric_schedule.hpp"
#include "tenex/topology/time_range.hpp"

namespace tenex {
namespace {

constexpr std::int64_t kMostChunksEach = 0xFFFF'FFFF;  ///< ids have 32 bits

bool same(const TranslationGroup& a, const TranslationGroup& b) {
  return a.npus() == b.npus() && std::ranges::equal(a.directions(), b.directions(), {}, &TranslationDirection::offset,
                                                    &TranslationDirection::offset);
}

}  // namespace

bool write_orbits(const StorageTarget& target, const std::string& group, const SymmetricStorage& storage) {
  const auto moves = TranslationGroup::of(target.topology, LinkPorts::shared);
  if (!moves || !same(*moves, storage.group())) return false;
  auto& file = target.file;
  file.set_attribute(group, "chunks_per_npu", std::int64_t{storage.chunks().each});
  ColumnPen<std::int64_t> start(file, group + "/start_ps");
  ColumnPen<std::uint32_t> direction(file, group + "/direction");
  ColumnPen<std::uint32_t> offset(file, group + "/offset");
  ColumnPen<std::uint32_t> number(file, group + "/number");
  ColumnPen<std::int8_t> stage(file, group + "/stage");
  for (const OrbitSend& orbit : storage.orbits()) {
    start.put(orbit.start.count());
    direction.put(orbit.direction);
    offset.put(orbit.offset.value());
    number.put(orbit.number);
    stage.put(static_cast<std::int8_t>(orbit.stage));
  }
  start.finish();
  direction.finish();
  offset.finish();
  number.finish();
  stage.finish();
  return true;
}

Result<StoredSchedule> read_orbits(const StorageSource& source, const std::string& group) {
  auto moves = TranslationGroup::of(source.topology, LinkPorts::shared);
  if (!moves) return source.damaged(group, "it is symmetric, and the topology is not");
  const auto rows = source.file.rows(group + "/start_ps");
  if (!rows) return rows.errors();
  const auto each = source.file.integer_attribute(group, "chunks_per_npu");
  if (!each) return each.errors();
  OrbitChunks chunks(static_cast<std::uint32_t>(std::clamp<std::int64_t>(*each, 0, kMostChunksEach)));
  if (source.collective.kind() == CollectiveKind::all_to_all) {
    if (!moves_with_translations(source.collective, *moves))
      return source.damaged(group, "it is symmetric, and the collective is not");
    chunks = orbit_chunks(source.collective);
  }
  const bool whole = chunks.of_pairs || source.collective.chunks() == chunks.each * std::uint64_t{moves->npus()};
  if (chunks.each != *each || *each == 0 || !whole)
    return source.damaged(group, fmt::format("{} chunks per NPU", *each));
  ColumnCursor<std::int64_t> start(source.file, group + "/start_ps", *rows);
  ColumnCursor<std::uint32_t> direction(source.file, group + "/direction", *rows);
  ColumnCursor<std::uint32_t> offset(source.file, group + "/offset", *rows);
  ColumnCursor<std::uint32_t> number(source.file, group + "/number", *rows);
  ColumnCursor<std::int8_t> stage(source.file, group + "/stage", *rows);
  StoredSchedule stored;
  std::vector<OrbitSend> orbits;
  orbits.reserve(*rows);
  std::vector<std::uint64_t> sends(moves->directions().size(), 0);
  for (std::size_t i = 0; i < *rows; ++i) {
    std::int64_t time = 0;
    std::uint32_t way = 0, from = 0, which = 0;
    std::int8_t what = 0;
    if (auto status = start.take({&time, 1}); !status) return status.errors();
    if (auto status = direction.take({&way, 1}); !status) return status.errors();
    if (auto status = offset.take({&from, 1}); !status) return status.errors();
    if (auto status = number.take({&which, 1}); !status) return status.errors();
    if (auto status = stage.take({&what, 1}); !status) return status.errors();
    if (way >= sends.size() || from >= moves->npus() || which >= chunks.numbers(moves->npus()) || !chunks.has(which) ||
        what < 0 || what > 1 || time < -kLongestTime.count() || time > kLongestTime.count())
      return source.damaged(group, fmt::format("orbit {} is not one of its group", i));
    orbits.push_back({SimTime::of(time), way, NpuId(from), which, static_cast<Stage>(what)});
    stored.first_start = i == 0 ? orbits[i].start : std::min(stored.first_start, orbits[i].start);
    stored.last_start = i == 0 ? orbits[i].start : std::max(stored.last_start, orbits[i].start);
    stored.sends_of_busiest = std::max(stored.sends_of_busiest, ++sends[way]);
  }
  stored.schedule = make_symmetric_schedule(*std::move(moves), chunks, std::move(orbits));
  return stored;
}

}  // namespace tenex
