#include "synthesis/phase_order.hpp"

#include <algorithm>
#include <unordered_map>

namespace tenex {
namespace {

std::uint64_t chunk_at(VertexId vertex, ChunkId chunk) {
  return (std::uint64_t{vertex.value()} << 32U) | chunk.value();
}

}  // namespace

Dependencies find_dependencies(const Topology& topology, std::span<const Send> sends) {
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> sums;
  std::unordered_map<std::uint64_t, std::uint32_t> copies;
  for (std::uint32_t i = 0; i < sends.size(); ++i) {
    const std::uint64_t at = chunk_at(topology.target(sends[i].link), sends[i].chunk);
    if (sends[i].stage == Stage::reduce)
      sums[at].push_back(i);
    else
      copies.emplace(at, i);
  }
  Dependencies found{std::vector<std::vector<std::uint32_t>>(sends.size()),
                     std::vector<std::uint32_t>(sends.size(), 0)};
  const auto wait = [&](std::uint32_t later, std::uint32_t earlier) {
    found.waiting[earlier].push_back(later);
    ++found.waits_for[later];
  };
  for (std::uint32_t i = 0; i < sends.size(); ++i) {
    const std::uint64_t at = chunk_at(topology.source(sends[i].link), sends[i].chunk);
    const auto copy = copies.find(at);
    if (sends[i].stage == Stage::copy && copy != copies.end()) {
      wait(i, copy->second);
    } else if (const auto sum = sums.find(at); sum != sums.end()) {
      for (const std::uint32_t earlier : sum->second) wait(i, earlier);
    }
  }
  return found;
}

std::vector<HopTime> hop_times_of(const Instance& instance, std::span<const Send> sends) {
  const HopTimes times(instance.topology, instance.collective.chunk_sizes(), instance.occupancy);
  std::vector<HopTime> hops;
  hops.reserve(sends.size());
  for (const Send& send : sends)
    hops.push_back(times.at(instance.topology.class_of(send.link), instance.collective.size_class(send.chunk)));
  return hops;
}

std::vector<SimTime> sums_complete(const Instance& instance, std::span<const Send> sends,
                                   std::span<const HopTime> hops) {
  std::vector<SimTime> complete(instance.collective.chunks());
  for (std::size_t i = 0; i < sends.size(); ++i) {
    if (sends[i].stage != Stage::reduce) continue;
    SimTime& last = complete[sends[i].chunk.index()];
    last = std::max(last, sends[i].start + hops[i].latency);
  }
  return complete;
}

}  // namespace tenex
