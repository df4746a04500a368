// The sends of one period of periodic schedules.
#include <cstdint>
#include <utility>
#include <vector>

#include "files/storage_columns.hpp"
#include "tenex/schedule/storage/periodic_schedule.hpp"

namespace tenex {

void write_periods(const StorageTarget& target, const std::string& group, const PeriodicSchedule& data) {
  auto& file = target.file;
  file.set_attribute(group, "period_ps", data.period.count());
  file.set_attribute(group, "trees", std::int64_t{data.trees});
  ColumnPen<std::int64_t> start(file, group + "/start_ps");
  ColumnPen<std::uint32_t> link(file, group + "/link");
  ColumnPen<std::uint32_t> tree(file, group + "/tree");
  ColumnPen<std::uint8_t> stage(file, group + "/stage");
  for (const Send& send : data.sends) {
    start.put(send.start.count());
    link.put(send.link.value());
    tree.put(send.chunk.value());
    stage.put(static_cast<std::uint8_t>(send.stage));
  }
  start.finish();
  link.finish();
  tree.finish();
  stage.finish();
}

Result<StoredSchedule> read_periods(const StorageSource& source, const std::string& group) {
  ColumnFacts facts(source.file, group);
  std::int64_t period = 0;
  std::int64_t trees = 0;
  std::vector<std::int64_t> start;
  std::vector<std::uint32_t> link, tree;
  std::vector<std::uint8_t> stage;
  facts.integer("period_ps", period);
  facts.integer("trees", trees);
  facts.column("start_ps", start);
  facts.column("link", link);
  facts.column("tree", tree);
  facts.column("stage", stage);
  if (!facts.errors().empty()) return facts.errors();
  if (link.size() != start.size() || tree.size() != start.size() || stage.size() != start.size())
    return source.damaged(group, "its columns differ in length");
  const std::uint64_t chunks = source.collective.chunks();
  if (trees < 1 || static_cast<std::uint64_t>(trees) > chunks)
    return source.damaged(group, fmt::format("{} trees for {} chunks", trees, chunks));
  PeriodicSchedule data;
  data.period = SimTime::of(period);
  data.trees = static_cast<std::uint32_t>(trees);
  data.chunks = chunks;
  for (std::size_t i = 0; i < start.size(); ++i) {
    if (stage[i] > static_cast<std::uint8_t>(Stage::copy)) return source.damaged(group, "a stage is unfit");
    data.sends.push_back({SimTime::of(start[i]), LinkId(link[i]), ChunkId(tree[i]), static_cast<Stage>(stage[i])});
  }
  const std::size_t links = source.topology.links();
  if (const auto problem = periodic_problem(data, links); !problem.empty()) return source.damaged(group, problem);
  StoredSchedule stored;
  stored.last_start = periodic_last_start(data);
  stored.schedule = make_periodic_schedule(std::move(data), links);
  stored.sends_of_busiest = stored.schedule.sends();
  return stored;
}

}  // namespace tenex
