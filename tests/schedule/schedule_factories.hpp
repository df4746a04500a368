// Schedules for tests: by hand, by a simple greedy, and by exchange. Slow and obvious; nothing here is shared with the
// project's own synthesizers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "support/topologies.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/base/random.hpp"
#include "tenex/collective/instance.hpp"
#include "tenex/schedule/schedule.hpp"
#include "tenex/schedule/views/views.hpp"
#include "tenex/topology/timing.hpp"

namespace tenex::test {

/// The first link from `source` to `target`.
inline LinkId link_between(const Topology& topology, std::uint32_t source, std::uint32_t target) {
  for (const LinkId link : topology.out_links(VertexId(source)))
    if (topology.target(link) == VertexId(target)) return link;
  throw InvariantError("no such link in this test's topology");
}

inline Send copy_of(std::uint32_t chunk, std::uint32_t link, SimTime start) {
  return {start, LinkId(link), ChunkId(chunk), Stage::copy};
}
inline Send sum_of(std::uint32_t chunk, std::uint32_t link, SimTime start) {
  return {start, LinkId(link), ChunkId(chunk), Stage::reduce};
}
/// The same send as a hop of a message.
inline Send hop_of(Send send, std::uint32_t message, std::uint32_t destination) {
  send.message = MessageId(message);
  send.destination = NpuId(destination);
  return send;
}

/// Greedy gather: whenever a link is free, it takes a random chunk that its source holds at that instant and its target
/// neither has nor awaits. With `flood`, all NPUs collect all chunks, needed or not. For All-Gather and Broadcast on
/// topologies of NPUs that are connected (without `flood`: whose members are connected among themselves).
inline std::vector<Send> greedy_gather(const Instance& instance, std::uint64_t seed, bool flood = false) {
  const HopTimes times(instance.topology, instance.collective.chunk_sizes(), instance.occupancy);
  Random random(seed, 0x67726565);
  std::map<std::pair<std::uint32_t, std::uint32_t>, SimTime> has;  // (vertex, chunk) -> the time from which it is
                                                                   // there, or expected
  std::vector<SimTime> free(instance.topology.links());
  std::set<SimTime> instants{SimTime::zero()};
  std::vector<Send> sends;
  const auto wants = [&](VertexId vertex, ChunkId chunk) {
    return !has.contains({vertex.value(), chunk.value()}) &&
           (flood || instance.collective.must_hold(npu_of(vertex), chunk));
  };
  for (std::uint32_t c = 0; c < instance.collective.chunks(); ++c)
    has[{instance.collective.owner(ChunkId(c)).value(), c}] = SimTime::zero();
  std::vector<std::uint32_t> links(instance.topology.links());
  for (std::uint32_t l = 0; l < links.size(); ++l) links[l] = l;
  while (!instants.empty()) {
    const SimTime now = *instants.begin();
    instants.erase(instants.begin());
    random.shuffle(std::span(links));
    for (const auto l : links) {
      const LinkId link(l);
      if (free[l] > now) continue;
      std::vector<ChunkId> candidates;
      for (std::uint32_t c = 0; c < instance.collective.chunks(); ++c) {
        const auto held = has.find({instance.topology.source(link).value(), c});
        if (held != has.end() && held->second <= now && wants(instance.topology.target(link), ChunkId(c)))
          candidates.emplace_back(c);
      }
      if (candidates.empty()) continue;
      const ChunkId chunk = candidates[random.below(static_cast<std::uint32_t>(candidates.size()))];
      const HopTime hop = times.at(instance.topology.class_of(link), instance.collective.size_class(chunk));
      sends.push_back({now, link, chunk, Stage::copy});
      has[{instance.topology.target(link).value(), chunk.value()}] = now + hop.latency;
      free[l] = now + hop.busy;
      instants.insert(now + hop.latency);
      instants.insert(now + hop.busy);
    }
  }
  return sends;
}

/// A schedule for any collective kind: greedy gathers, reversed where the collective reduces.
inline Schedule greedy_schedule(const Instance& instance, std::uint64_t seed, bool flood = false) {
  const auto gather = [&](const Topology& on, const Collective& what) {
    const Schedule schedule = make_list_schedule(greedy_gather({on, what, instance.occupancy}, seed, flood));
    return flood ? prune_waste({on, what, instance.occupancy}, schedule) : schedule;
  };
  switch (instance.collective.kind()) {
    case CollectiveKind::all_gather:
    case CollectiveKind::broadcast:
    case CollectiveKind::all_to_all:
    case CollectiveKind::gather:
    case CollectiveKind::scatter:
      return gather(instance.topology, instance.collective);
    case CollectiveKind::reduce: {
      const Collective partner = instance.collective.as(CollectiveKind::broadcast);
      return reversed({instance.topology, partner, instance.occupancy}, gather(instance.topology.reversed(), partner));
    }
    default:
      break;
  }
  const Collective partner = instance.collective.as(CollectiveKind::all_gather);
  const Schedule reduction =
      reversed({instance.topology, partner, instance.occupancy}, gather(instance.topology.reversed(), partner));
  if (instance.collective.kind() == CollectiveKind::reduce_scatter) return reduction;
  return then_gather(instance, reduction, gather(instance.topology, partner));
}

/// All-Gather around a ring in direction of increasing ids, 1 chunk per NPU: in step k, NPU i passes on chunk i - k. n
/// (n-1) sends.
inline std::vector<Send> ring_gather(const Instance& instance) {
  const auto n = static_cast<std::uint32_t>(instance.topology.npus());
  const SimTime step =
      hop_time(instance.topology.classes()[0], instance.collective.chunk_sizes()[0], instance.occupancy).latency;
  std::vector<LinkId> next;
  for (std::uint32_t npu = 0; npu < n; ++npu) next.push_back(link_between(instance.topology, npu, (npu + 1) % n));
  std::vector<Send> sends;
  for (std::uint32_t k = 0; k + 1 < n; ++k)
    for (std::uint32_t npu = 0; npu < n; ++npu)
      sends.push_back({step * k, next[npu], ChunkId((npu + n - k) % n), Stage::copy});
  return sends;
}

/// All-Reduce by recursive doubling: in round k every NPU exchanges its partial sums of all chunks with the NPU whose
/// id differs in bit k. Valid, but no in-tree: every NPU's sum becomes complete. `topology` joins all such pairs; the
/// number of NPUs is a power of two.
inline std::vector<Send> recursive_doubling(const Instance& instance) {
  const HopTimes times(instance.topology, instance.collective.chunk_sizes(), instance.occupancy);
  const HopTime hop = times.at(0, 0);
  std::vector<Send> sends;
  SimTime round;
  for (std::uint32_t bit = 1; bit < instance.topology.npus(); bit *= 2) {
    for (std::uint32_t npu = 0; npu < instance.topology.npus(); ++npu)
      for (std::uint32_t c = 0; c < instance.collective.chunks(); ++c)
        sends.push_back(
            {round + hop.busy * c, link_between(instance.topology, npu, npu ^ bit), ChunkId(c), Stage::reduce});
    round += hop.busy * (static_cast<std::int64_t>(instance.collective.chunks()) - 1) + hop.latency;
  }
  return sends;
}

/// Every NPU sends to every other through one switch (vertex n): two hops, the first leaving in shifts by destination.
/// With `as_messages` messages pass the switch in transit, otherwise it unpacks and forwards. All-Gather or
/// Reduce-Scatter, 1 chunk each.
inline std::vector<Send> direct_over_switch(const Instance& instance, bool as_messages) {
  const HopTimes times(instance.topology, instance.collective.chunk_sizes(), instance.occupancy);
  const HopTime hop = times.at(0, 0);
  const auto n = static_cast<std::uint32_t>(instance.topology.npus());
  const bool sums = reduces(instance.collective.kind());
  std::vector<Send> sends;
  std::uint32_t message = 0;
  for (std::uint32_t shift = 1; shift < n; ++shift)
    for (std::uint32_t npu = 0; npu < n; ++npu) {
      const std::uint32_t peer = (npu + shift) % n;
      const ChunkId chunk(sums ? peer : npu);
      const SimTime start = hop.busy * (shift - 1);
      Send up{start, link_between(instance.topology, npu, n), chunk, sums ? Stage::reduce : Stage::copy};
      Send down{start + hop.latency, link_between(instance.topology, n, peer), chunk, up.stage};
      sends.push_back(as_messages ? hop_of(up, message, peer) : up);
      sends.push_back(as_messages ? hop_of(down, message, peer) : down);
      ++message;
    }
  return sends;
}

/// n NPUs on one switch with the given properties; link 2i goes up from NPU i, 2i + 1 down to it.
inline Topology star(std::uint32_t n, SwitchProperties properties, SimTime alpha = support::kAlpha,
                     Bandwidth bandwidth = support::kBandwidth) {
  TopologyBuilder builder(n);
  const VertexId hub = builder.add_switch(properties);
  for (std::uint32_t npu = 0; npu < n; ++npu) builder.add_link_pair({VertexId(npu), hub, alpha, bandwidth});
  return std::move(builder).build().value();
}

}  // namespace tenex::test
