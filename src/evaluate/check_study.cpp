// What only shows when topologies are built: refused before any work, each distinct topology once.
#include <map>
#include <string>
#include <utility>

#include "build.hpp"
#include "cache.hpp"
#include "tenex/evaluate/evaluate.hpp"

namespace tenex {
namespace {

constexpr std::size_t most_diagnostics = 20;

// Errors of a topology that have no place of their own get the words that made it.
Diagnostics with_topology(Diagnostics errors, const DesignPoint& point) {
  for (auto& error : errors)
    if (error.place.file.empty()) error.place.file = text_setting(point, "topology");
  return errors;
}

}  // namespace

Diagnostics check_study(const Study& study) {
  Diagnostics all;
  // NPUs of each topology built so far; 0 where it could not be.
  std::map<std::string, std::size_t> npus_of;
  for (const auto& point : study.points) {
    if (all.size() >= most_diagnostics) break;
    const auto [entry, fresh] = npus_of.try_emplace(topology_cache_key(point), 0);
    if (fresh) {
      const auto built = build_transformed_topology(point);
      if (built) entry->second = built->topology.npus();
      else append(all, with_topology(built.errors(), point));
    }
    // Shapes know their NPUs from the text, so groups and sizes were checked with it; machine files only now.
    if (point.topology.machine_file.empty() || entry->second == 0) continue;
    if (const auto collective = build_point_collective(point, entry->second); !collective)
      append(all, with_topology(collective.errors(), point));
  }
  return all;
}

}  // namespace tenex
