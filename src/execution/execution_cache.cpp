// Keys of the cache, and the look-ups.
#include "tenex/execution/execution_cache.hpp"

#include <fmt/format.h>

#include <optional>

#include "tenex/base/hash.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/synthesis/synthesizer.hpp"
#include "tenex/topology/transform.hpp"

namespace tenex {

std::string topology_cache_key(const DesignPoint& point) {
  auto key = topology_structure_key(point);
  for (const auto alpha : point.topology.links.alpha) key += fmt::format(" a{}", alpha.count());
  for (const auto bandwidth : point.topology.links.bandwidth) key += fmt::format(" b{}", bandwidth.count());
  return key;
}

std::string topology_structure_key(const DesignPoint& point) {
  const auto& choice = point.topology;
  std::string key = choice.machine_file.empty()
                        ? to_string(choice.shape)
                        : "file " + choice.machine_file + ' ' + to_string(digest128(choice.machine_content));
  for (const auto& [a, b] : choice.without) key += fmt::format(" w{}-{}", a, b);
  key += ' ' + text_of_links(point);
  // The default degree of unwinding depends on the kind of algorithm, so the kind is part of the key.
  key += fmt::format(" p{} u{} s{}", choice.links.per_npu ? 1 : 0, choice.unwind,
                     find_synthesizer(point.algorithm) != nullptr ? 1 : 0);
  return key;
}

std::string bound_cache_key(const DesignPoint& point) {
  return topology_cache_key(point) + fmt::format(" {} S{} c{} r{} o{} v{} g{}", to_string(point.collective().kind),
                                                 point.collective().size.count(), point.chunks, point.collective().root,
                                                 to_string(point.occupancy), point.collective().overlap ? 1 : 0,
                                                 point.collective().groups.text());
}

std::shared_ptr<const Result<PointTopology>> find_topology(const DesignPoint& point, std::size_t memory_limit_bytes,
                                                           ExecutionCache& cache) {
  return cache.topologies.get(
      topology_cache_key(point),
      [&]() -> Result<PointTopology> {
        if (auto fits = check_topology_memory(point, memory_limit_bytes); !fits) return fits.errors();
        return build_transformed_topology(point);
      },
      [](const Result<PointTopology>& value) {
        return value ? 64 * (value->topology.links() + value->topology.vertices()) : std::size_t{256};
      });
}

std::shared_ptr<const CachedBound> find_bound(const DesignPoint& point, const Topology& topology,
                                              const Collective& collective, bool single_chunks, ExecutionCache& cache) {
  return cache.bounds.get(
      bound_cache_key(point) + (single_chunks ? "" : " several"),
      [&] {
        // On a shape, bounds assume that the links of a dimension are alike.
        const bool slowed = slows_links(point.collective().stragglers) && topology.shape();
        const auto plain = slowed ? std::optional(without_shape(topology)) : std::nullopt;
        const auto& bounded = plain ? *plain : topology;
        const auto bound =
            best_bound({bounded, collective, point.occupancy, point.collective().overlap, single_chunks});
        const auto ideal = paper_ideal(bounded, collective);
        return CachedBound{std::string(bound.name), bound.time, ideal ? ideal->count() : -1};
      },
      [](const CachedBound& value) { return sizeof(value) + value.name.size(); });
}

}  // namespace tenex
