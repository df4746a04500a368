// Symmetric schedules for tests: a slow and obvious gather in lockstep, and its expansion send by send.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "support/topologies.hpp"
#include "tenex/collective/instance.hpp"
#include "tenex/schedule/storage/symmetric_schedule.hpp"
#include "tenex/topology/timing.hpp"

namespace tenex::test {

inline SimTime longest_hop(const Instance& instance) {
  SimTime longest;
  for (const auto& link_class : instance.topology.classes())
    longest = std::max(longest, hop_time(link_class, instance.collective.chunk_sizes()[0], instance.occupancy).latency);
  return longest;
}

/// All-Gather orbits: in every step of the longest hop, each direction takes the first item that its source held when
/// the step began and its receiver does not have.
inline std::vector<OrbitSend> gather_orbits(const Instance& instance) {
  const TranslationGroup group = TranslationGroup::of(instance.topology, LinkPorts::shared).value();
  const SimTime step = longest_hop(instance);
  const auto chunks = static_cast<std::uint32_t>(instance.collective.chunks_per_npu());
  std::vector<std::pair<NpuId, std::uint32_t>> held;
  std::set<std::pair<NpuId, std::uint32_t>> claimed;
  for (std::uint32_t k = 0; k < chunks; ++k) {
    held.emplace_back(NpuId(0), k);
    claimed.insert(held.back());
  }
  std::vector<OrbitSend> orbits;
  for (SimTime now; held.size() < group.npus() * chunks; now += step) {
    const auto at_start = held;
    for (std::uint32_t direction = 0; direction < group.directions().size(); ++direction)
      for (const auto& [offset, number] : at_start) {
        const NpuId target = group.neighbour(offset, direction);
        if (!claimed.insert({target, number}).second) continue;
        held.emplace_back(target, number);
        orbits.push_back({now, direction, target, number, Stage::copy});
        break;
      }
  }
  return orbits;
}

/// The least number of hops to each offset, breadth first.
inline std::vector<std::uint32_t> hops_to_offsets(const TranslationGroup& group) {
  std::vector<std::uint32_t> hops(group.npus(), 0);
  std::vector<NpuId> reached{NpuId(0)};
  for (std::size_t head = 0; head < reached.size(); ++head)
    for (std::uint32_t direction = 0; direction < group.directions().size(); ++direction) {
      const NpuId next = group.neighbour(reached[head], direction);
      if (next == NpuId(0) || hops[next.index()] > 0) continue;
      hops[next.index()] = hops[reached[head].index()] + 1;
      reached.push_back(next);
    }
  return hops;
}

/// All-to-All orbits: in every step of the longest hop, each direction takes the first chunk that has not moved in this
/// step and that it brings closer.
inline std::vector<OrbitSend> exchange_orbits(const Instance& instance) {
  const TranslationGroup group = TranslationGroup::of(instance.topology, LinkPorts::shared).value();
  const auto hops = hops_to_offsets(group);
  const SimTime step = longest_hop(instance);
  const auto each = static_cast<std::uint32_t>(instance.collective.chunks_per_npu());
  const OrbitChunks chunks = orbit_chunks(instance.collective);
  std::vector<NpuId> at(group.npus() * each, NpuId(0));
  const auto left = [&](std::size_t number, NpuId place) {
    return hops[group.subtract(NpuId::at(number / each), place).index()];
  };
  std::vector<OrbitSend> orbits;
  SimTime now;
  for (bool moving = true; moving; now += step) {
    moving = false;
    std::set<std::size_t> moved;
    for (std::uint32_t direction = 0; direction < group.directions().size(); ++direction)
      for (std::size_t number = 0; number < at.size(); ++number) {
        const NpuId target = group.neighbour(at[number], direction);
        if (!chunks.has(static_cast<std::uint32_t>(number))) continue;
        if (left(number, target) >= left(number, at[number]) || !moved.insert(number).second) continue;
        orbits.push_back({now, direction, target, static_cast<std::uint32_t>(number), Stage::copy});
        at[number] = target;
        moving = true;
        break;
      }
  }
  return orbits;
}

inline Schedule symmetric(const Topology& topology, const Collective& collective, std::vector<OrbitSend> orbits) {
  return make_symmetric_schedule(TranslationGroup::of(topology, LinkPorts::shared).value(), orbit_chunks(collective),
                                 std::move(orbits));
}

/// Every orbit's send to every receiver, written down one by one; sorted by the list storage.
inline Schedule expand(const Topology& topology, const Collective& collective, const std::vector<OrbitSend>& orbits) {
  const TranslationGroup group = TranslationGroup::of(topology, LinkPorts::shared).value();
  const auto chunks = static_cast<std::uint32_t>(collective.chunks_per_npu());
  const bool pairs = collective.kind() == CollectiveKind::all_to_all;
  std::vector<Send> sends;
  for (const auto& orbit : orbits)
    for (std::size_t receiver = 0; receiver < group.npus(); ++receiver) {
      const NpuId to = NpuId::at(receiver);
      const NpuId source = group.subtract(to, group.directions()[orbit.direction].offset);
      const NpuId owner = group.subtract(to, orbit.offset);
      std::size_t chunk = collective.first_chunk(collective.group_of(owner)).index();
      if (pairs) {
        const std::size_t members = collective.groups()[collective.group_of(owner).index()].members.size();
        const NpuId destination = group.add(owner, NpuId(orbit.number / chunks));
        chunk += (collective.rank_of(owner) * members + collective.rank_of(destination)) * chunks;
      } else {
        chunk += collective.rank_of(owner) * chunks;
      }
      sends.push_back({orbit.start, group.link({source, orbit.direction}), ChunkId::at(chunk + orbit.number % chunks),
                       orbit.stage});
    }
  return make_list_schedule(std::move(sends));
}

}  // namespace tenex::test
