// The "Ideal" of TACOS (arXiv:2304.05301, section V-A): bytes that every NPU must move over the least NPU bandwidth,
// plus the latency diameter. It is a metric and no bound: it ignores multi-port effects and floors, so real times may
// be above it and, on irregular topologies, below it.
#include <algorithm>
#include <cstdint>

#include "tenex/bound/bound.hpp"
#include "tenex/topology/distance.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex {

namespace {

constexpr std::uint64_t kMostDiameterWork = std::uint64_t{1}
                                            << 26;  ///< link visits in search of the diameter: about a second

std::int64_t port_bandwidth(const Topology& topology, std::span<const LinkId> links) {
  std::int64_t sum = 0;
  for (const LinkId link : links) sum += topology.bandwidth(link).count();
  return sum;
}

std::int64_t npu_bandwidth(const Topology& topology, NpuId npu) {
  return std::min(port_bandwidth(topology, topology.out_links(vertex_of(npu))),
                  port_bandwidth(topology, topology.in_links(vertex_of(npu))));
}

/// ceil(size * factor (n-1) / n) in 128 bits.
Bytes moved_bytes(Bytes size, std::int64_t factor, std::int64_t n) {
  __extension__ using Wide = __int128;
  const Wide scaled = static_cast<Wide>(size.count()) * factor * (n - 1);
  return Bytes::of(static_cast<std::int64_t>((scaled + n - 1) / n));
}

}  // namespace

std::optional<SimTime> paper_ideal(const Topology& given, const Collective& collective) {
  const Topology& topology = physical_network(given);
  const auto kind = collective.kind();
  if (kind != CollectiveKind::all_gather && kind != CollectiveKind::reduce_scatter &&
      kind != CollectiveKind::all_reduce)
    return std::nullopt;
  const std::int64_t factor = kind == CollectiveKind::all_reduce ? 2 : 1;
  const auto diameter = latency_diameter_within(topology, kMostDiameterWork);
  if (!diameter || *diameter == SimTime::max()) return std::nullopt;  // an NPU reaches another one no more
  SimTime slowest = SimTime::zero();
  for (const auto& group : collective.groups()) {
    std::int64_t least = Bandwidth::max().count();
    for (const NpuId member : group.members) least = std::min(least, npu_bandwidth(topology, member));
    if (least <= 0) return std::nullopt;  // an NPU without links
    const Bytes moved = moved_bytes(collective.size(), factor, static_cast<std::int64_t>(group.members.size()));
    slowest = std::max(slowest, serialization_time(moved, Bandwidth::of(least)));
  }
  return saturating_sum(slowest, *diameter);
}

}  // namespace tenex
