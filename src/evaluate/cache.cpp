#include "cache.hpp"

#include <fmt/format.h>

#include "tenex/base/hash.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {

Cache::Cache(std::size_t limit_bytes) : impl_(std::make_unique<Impl>(limit_bytes)) {}
Cache::~Cache() = default;
Cache::Cache(Cache&&) noexcept = default;
Cache& Cache::operator=(Cache&&) noexcept = default;
CacheCounts Cache::counts() const { return impl_->schedules.counts(); }

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
  // The default degree depends on the kind of algorithm, so it is part of what tells topologies apart.
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

}  // namespace tenex
