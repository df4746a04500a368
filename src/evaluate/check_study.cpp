// Errors of a study that show only when topologies are built. Each distinct topology is checked once, before any work.
// A topology is not built if its text alone decides, or if it is too large.
#include <map>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "evaluate/cache.hpp"
#include "tenex/evaluate/evaluate.hpp"
#include "tenex/execution/build.hpp"
#include "tenex/execution/sizes.hpp"

namespace tenex {
namespace {

constexpr std::size_t most_diagnostics = 20;
constexpr std::size_t most_bytes = std::size_t{1} << 30;

/// Whether the topology follows from its text: a shape with all its links is connected by construction.
bool follows_from_text(const DesignPoint& point) {
  return point.topology.machine_file.empty() && point.topology.without.empty();
}

/// The NPUs of a point's topology; 0 if it is too large to check here, so that its row reports the error.
Result<std::size_t> check_topology(const DesignPoint& point) {
  if (follows_from_text(point)) {
    auto errors = check_shape(point.topology.shape, point.topology.links, unwinding_degree(point));
    // Too many vertices to address is a matter of size, like too little memory: the row reports it.
    std::erase_if(errors, [](const Diagnostic& error) { return error.fault == Fault::resource; });
    return errors.empty() ? Result<std::size_t>(point.topology.shape.npus()) : Result<std::size_t>(std::move(errors));
  }
  if (!check_topology_memory(point, most_bytes)) return std::size_t{0};
  try {
    const auto built = build_transformed_topology(point);
    if (!built) return built.errors();
    return built->topology.npus();
  } catch (const std::bad_alloc&) {
    return std::size_t{0};
  }
}

// Gives errors without a place the topology's text as their place.
Diagnostics with_topology(Diagnostics errors, const DesignPoint& point) {
  for (auto& error : errors)
    if (error.place.file.empty()) error.place.file = text_setting(point, "topology");
  return errors;
}

}  // namespace

Diagnostics check_study(const Study& study) {
  Diagnostics all;
  // NPUs of each topology checked so far; 0 if it could not be built.
  std::map<std::string, std::size_t> npus_of;
  for (const auto& point : study.points) {
    if (all.size() >= most_diagnostics) break;
    // Training points were checked with their text (Vocabulary::check_training), as they are mapped to shapes only.
    if (point.trains()) continue;
    const auto [entry, fresh] = npus_of.try_emplace(topology_cache_key(point), 0);
    if (fresh) {
      const auto npus = check_topology(point);
      if (npus)
        entry->second = *npus;
      else
        append(all, with_topology(npus.errors(), point));
    }
    // The text gives a shape's number of NPUs, so its groups and sizes were checked then. A machine file gives it only
    // now.
    if (point.topology.machine_file.empty() || entry->second == 0) continue;
    if (const auto collective = build_point_collective(point, entry->second); !collective)
      append(all, with_topology(collective.errors(), point));
  }
  return all;
}

}  // namespace tenex
