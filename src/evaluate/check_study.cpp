// What only shows when topologies are built: refused before any work, each distinct topology once. Nothing is built
// that the text alone decides, and nothing that is too large for it.
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

/// A shape with all its links is what its text says, and connected.
bool follows_from_text(const DesignPoint& point) {
  return point.topology.machine_file.empty() && point.topology.without.empty();
}

/// The NPUs of a point's topology; 0 where its row will tell.
Result<std::size_t> check_topology(const DesignPoint& point) {
  if (follows_from_text(point)) {
    auto errors = check_shape(point.topology.shape, point.topology.links, unwinding_degree(point));
    // What cannot be addressed is a matter of size, as is what does not fit in memory.
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
    // Points that train were checked with their text (Vocabulary::check_training): they are laid over shapes alone.
    if (point.trains()) continue;
    const auto [entry, fresh] = npus_of.try_emplace(topology_cache_key(point), 0);
    if (fresh) {
      const auto npus = check_topology(point);
      if (npus)
        entry->second = *npus;
      else
        append(all, with_topology(npus.errors(), point));
    }
    // Shapes know their NPUs from the text, so groups and sizes were checked with it; machine files only now.
    if (point.topology.machine_file.empty() || entry->second == 0) continue;
    if (const auto collective = build_point_collective(point, entry->second); !collective)
      append(all, with_topology(collective.errors(), point));
  }
  return all;
}

}  // namespace tenex
