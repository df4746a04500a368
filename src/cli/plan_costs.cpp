#include "plan_costs.hpp"

#include <algorithm>
#include <utility>

namespace tenex::cli {

void CostShares::add(const std::string& name, double seconds) {
  auto& part = parts_[name];
  ++part.points;
  part.seconds += seconds;
}

std::vector<Report> CostShares::entries(const char* what) const {
  std::vector<std::pair<std::string, Part>> order(parts_.begin(), parts_.end());
  std::ranges::sort(order, [](const auto& a, const auto& b) {
    return a.second.seconds != b.second.seconds ? a.second.seconds > b.second.seconds : a.first < b.first;
  });
  double all = 0;
  for (const auto& [name, part] : order) all += part.seconds;
  std::vector<Report> entries;
  for (const auto& [name, part] : order) {
    Report entry;
    entry.add(what, name);
    entry.add("points", part.points);
    entry.add("expected_core_seconds", part.seconds);
    entry.add("share", all > 0 ? part.seconds / all : 0.0);
    entries.push_back(std::move(entry));
  }
  return entries;
}

double expected_wall_seconds(const StudyCost& cost, const RunResources& machine) {
  const int cores = std::max(1, machine.cores);
  const int threads = std::clamp(machine.threads, 1, cores);
  const int in_use = std::min(cores, std::max(1, machine.ranks) * threads);
  return std::max(cost.seconds() / in_use, cost.longest(threads));
}

}  // namespace tenex::cli
