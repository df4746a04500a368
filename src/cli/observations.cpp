#include "observations.hpp"

#include <utility>
#include <vector>

namespace tenex::cli {

void add_observations(Report& report, const Topology* topology, std::int64_t links, const Observations& observed) {
  std::vector<Report> entries;
  const auto add = [&](const char* name) {
    if (!entries.empty()) report.add(name, std::exchange(entries, {}));
  };
  for (std::size_t i = 0; i < observed.loads.size(); ++i) {
    Report entry;
    entry.add("source", std::int64_t{topology->source(LinkId::at(i)).value()});
    entry.add("destination", std::int64_t{topology->target(LinkId::at(i)).value()});
    entry.add("bytes", observed.loads[i].bytes.count());
    entry.add("busy_ps", observed.loads[i].busy.count());
    entries.push_back(std::move(entry));
  }
  add("link_loads");
  for (std::size_t bin = 0; bin < observed.busy_ps.size(); ++bin) {
    const auto all = static_cast<double>(observed.bin_ps) * static_cast<double>(links);
    Report entry;
    entry.add("start_ps", observed.bin_ps * static_cast<std::int64_t>(bin));
    entry.add("busy_ps", observed.busy_ps[bin]);
    entry.add("utilization", static_cast<double>(observed.busy_ps[bin]) / all);
    entries.push_back(std::move(entry));
  }
  add("utilization");
  for (const auto& delivery : observed.arrivals) {
    Report entry;
    entry.add("time_ps", delivery.time.count());
    entry.add("npu", std::int64_t{delivery.npu.value()});
    entry.add("chunk", std::int64_t{delivery.chunk.value()});
    entries.push_back(std::move(entry));
  }
  add("arrivals");
  for (const auto time : observed.group_times_ps) {
    Report entry;
    entry.add("time_ps", time);
    entries.push_back(std::move(entry));
  }
  add("group_times");
}

}  // namespace tenex::cli
