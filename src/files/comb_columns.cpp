// The data of comb schedules. Their tables follow from it.
#include <cstdint>
#include <utility>
#include <vector>

#include "files/storage_columns.hpp"
#include "tenex/schedule/storage/comb_schedule.hpp"
#include "tenex/schedule/storage/grid_schedule.hpp"

namespace tenex {
namespace {

/// Whether the schedule is one of the topology's NPUs and links.
bool is_of(const Topology& topology, const CombSchedule& data) {
  std::uint64_t npus = 1;
  std::vector<LineDimension> dimensions;
  for (const auto size : data.sizes) {
    npus *= size;
    dimensions.push_back({size, data.slot});
  }
  return npus == topology.npus() && grid_links(dimensions) == topology.links();
}

}  // namespace

bool write_combs(const StorageTarget& target, const std::string& group, const CombSchedule& data) {
  if (!is_of(target.topology, data)) return false;
  auto& file = target.file;
  file.set_attribute(group, "slot_ps", data.slot.count());
  file.set_attribute(group, "lag_ps", data.lag.count());
  ColumnPen<std::uint32_t> size(file, group + "/size");
  size.put(std::span<const std::uint32_t>(data.sizes));
  size.finish();
  ColumnPen<std::uint32_t> rounds(file, group + "/rounds");
  rounds.put(std::span<const std::uint32_t>(data.rounds));
  rounds.finish();
  return true;
}

Result<StoredSchedule> read_combs(const StorageSource& source, const std::string& group) {
  ColumnFacts facts(source.file, group);
  std::int64_t slot = 0;
  std::int64_t lag = 0;
  CombSchedule data;
  facts.integer("slot_ps", slot);
  facts.integer("lag_ps", lag);
  facts.column("size", data.sizes);
  facts.column("rounds", data.rounds);
  if (!facts.errors().empty()) return facts.errors();
  data.slot = SimTime::of(slot);
  data.lag = SimTime::of(lag);
  data.chunks = source.collective.chunks();
  if (const auto problem = comb_problem(data); !problem.empty()) return source.damaged(group, problem);
  if (!is_of(source.topology, data)) return source.damaged(group, "it is of another topology");
  StoredSchedule stored;
  stored.last_start = comb_time(data) - data.lag;
  stored.schedule = make_comb_schedule(std::move(data));
  stored.sends_of_busiest = 2 * source.collective.chunks();
  return stored;
}

}  // namespace tenex
