// Collectives and schedules for tests of bounds: random groups of any kinds, and a slow, obvious greedy for them.
#pragma once

#include <rapidcheck.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "tenex/base/random.hpp"
#include "tenex/collective/instance.hpp"
#include "tenex/schedule/schedule.hpp"

namespace tenex::support {

/// A group of conditions; its size and number of chunks are those of the request unless given.
inline ProcessGroup group_of_conditions(std::vector<NpuId> members, std::vector<Condition> conditions,
                                        std::optional<std::int64_t> chunks = std::nullopt) {
  ProcessGroup group{std::move(members)};
  group.kind = CollectiveKind::conditions;
  group.chunks = chunks;
  group.conditions = std::make_shared<const std::vector<Condition>>(std::move(conditions));
  return group;
}

/// Conditions among all NPUs, one chunk each unless said otherwise.
inline Collective of_conditions(std::size_t npus, std::vector<Condition> conditions, std::int64_t chunks = 1,
                                CollectiveKind kind = CollectiveKind::conditions) {
  std::vector<NpuId> members;
  for (std::size_t npu = 0; npu < npus; ++npu) members.push_back(NpuId::at(npu));
  CollectiveRequest request;
  request.npus = npus;
  request.kind = kind;
  request.chunks = chunks;
  request.groups.push_back(group_of_conditions(std::move(members), std::move(conditions)));
  request.groups.front().kind = kind;
  return Collective::make(std::move(request)).value();
}

/// Some of the numbers below `count`, `least` or more, in any order.
inline std::vector<std::uint32_t> random_ranks(std::uint32_t count, std::uint32_t least) {
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t rank = 0; rank < count; ++rank) ranks.push_back(rank);
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  random.shuffle(std::span(ranks));
  ranks.resize(*rc::gen::inRange(least, count + 1));
  return ranks;
}

/// Up to `most` conditions among `members` ranks, with one destination each unless `multicast`.
inline std::vector<Condition> random_conditions(std::uint32_t members, int most, bool multicast,
                                                const std::vector<std::int64_t>& sizes) {
  std::vector<Condition> conditions;
  for (int left = *rc::gen::inRange(1, most + 1); left > 0; --left) {
    auto ranks = random_ranks(members, 2);
    if (!multicast) ranks.resize(2);
    const auto source = ranks.back();
    ranks.pop_back();
    conditions.push_back({source, std::move(ranks), bytes(*rc::gen::elementOf(sizes))});
  }
  return conditions;
}

/// One to three groups of any of `kinds`, which differ in everything and may share NPUs.
inline Collective random_collective(std::uint32_t npus, const std::vector<CollectiveKind>& kinds,
                                    const std::vector<std::int64_t>& sizes, int most_groups = 3) {
  CollectiveRequest request;
  request.npus = npus;
  for (int left = *rc::gen::inRange(1, most_groups + 1); left > 0; --left) {
    ProcessGroup group;
    for (const auto rank : random_ranks(npus, 2)) group.members.emplace_back(rank);
    const auto members = static_cast<std::uint32_t>(group.members.size());
    group.kind = *rc::gen::elementOf(kinds);
    group.chunks = *rc::gen::inRange<std::int64_t>(1, 4);
    group.root = *rc::gen::inRange<std::uint32_t>(0, members);
    group.size = bytes(*rc::gen::elementOf(sizes) * *group.chunks * members);
    if (stores_conditions(*group.kind)) {
      auto sizes_in_chunks = sizes;
      for (auto& size : sizes_in_chunks) size *= *group.chunks;
      group.conditions = std::make_shared<const std::vector<Condition>>(
          random_conditions(members, 6, group.kind == CollectiveKind::conditions, sizes_in_chunks));
    }
    request.groups.push_back(std::move(group));
  }
  return Collective::make(std::move(request)).value();
}

/// Delivers chunk by chunk, in random order, each send as early as its links allow after all sends before it. A chunk
/// that is copied takes the path of earliest arrival to the nearest NPU that still needs it; a sum comes up a tree of
/// fewest hops to the chunk's owner. For strongly connected topologies whose switches copy and add, or chunks with one
/// destination.
class EarliestSends {
 public:
  EarliestSends(const Instance& instance, std::uint64_t seed)
      : instance_(instance),
        times_(instance.topology, instance.collective.chunk_sizes(), instance.occupancy),
        free_(instance.topology.links()) {
    std::vector<std::uint32_t> chunks;
    for (std::uint32_t c = 0; c < instance.collective.chunks(); ++c) chunks.push_back(c);
    Random random(seed, 0x616e79);
    random.shuffle(std::span(chunks));
    for (const auto chunk : chunks) deliver(ChunkId(chunk));
  }
  [[nodiscard]] Schedule schedule() const { return make_list_schedule(sends_); }

 private:
  void deliver(ChunkId chunk) {
    const auto& collective = instance_.collective;
    const auto group = collective.group_of(chunk);
    const auto start = reduces(collective.kind(group)) ? collective.owner(chunk) : collective.source(chunk);
    const auto from = reduces(collective.kind(group)) ? add_up(chunk, start, collective.groups()[group.index()].members)
                                                      : SimTime::zero();
    std::set<VertexId> missing;
    collective.for_each_destination(chunk, [&](NpuId npu) { missing.insert(vertex_of(npu)); });
    missing.erase(vertex_of(start));
    std::map<VertexId, SimTime> has{{vertex_of(start), from}};
    while (!missing.empty()) copy_to_nearest(chunk, has, missing);
  }

  SimTime send(ChunkId chunk, LinkId link, SimTime from, Stage stage) {
    const auto hop = times_.at(instance_.topology.class_of(link), instance_.collective.size_class(chunk));
    const auto start = std::max(from, free_[link.index()]);
    sends_.push_back({start, link, chunk, stage});
    free_[link.index()] = start + hop.busy;
    return start + hop.latency;
  }

  void copy_to_nearest(ChunkId chunk, std::map<VertexId, SimTime>& has, std::set<VertexId>& missing) {
    const auto& topology = instance_.topology;
    std::map<VertexId, LinkId> last;
    auto arrival = has;
    std::set<std::pair<SimTime, VertexId>> open;
    for (const auto& [vertex, time] : has) open.emplace(time, vertex);
    VertexId nearest;
    while (true) {
      const auto [time, vertex] = *open.begin();
      open.erase(open.begin());
      nearest = vertex;
      if (missing.contains(vertex)) break;
      for (const auto link : topology.out_links(vertex)) {
        const auto hop = times_.at(topology.class_of(link), instance_.collective.size_class(chunk));
        const auto there = std::max(time, free_[link.index()]) + hop.latency;
        const auto [known, fresh] = arrival.try_emplace(topology.target(link), there);
        if (!fresh && known->second <= there) continue;
        open.erase({known->second, topology.target(link)});
        known->second = there;
        last[topology.target(link)] = link;
        open.emplace(there, topology.target(link));
      }
    }
    std::vector<LinkId> path;
    for (auto at = nearest; !has.contains(at); at = topology.source(last.at(at))) path.push_back(last.at(at));
    for (auto link = path.rbegin(); link != path.rend(); ++link) {
      const auto target = topology.target(*link);
      has[target] = send(chunk, *link, has.at(topology.source(*link)), Stage::copy);
      missing.erase(target);
    }
  }

  /// The time from which the root has the sum.
  SimTime add_up(ChunkId chunk, NpuId root, const std::vector<NpuId>& members) {
    const auto& topology = instance_.topology;
    std::vector<VertexId> order{vertex_of(root)};
    std::map<VertexId, LinkId> up{{order.front(), LinkId::none()}};
    for (std::size_t head = 0; head < order.size(); ++head)
      for (const auto link : topology.in_links(order[head]))
        if (up.try_emplace(topology.source(link), link).second) order.push_back(topology.source(link));
    std::set<VertexId> sends;
    for (const auto member : members) sends.insert(vertex_of(member));
    std::map<VertexId, SimTime> ready;
    for (std::size_t i = order.size(); i-- > 1;) {
      if (!sends.contains(order[i])) continue;
      const auto link = up.at(order[i]);
      const auto arrival = send(chunk, link, ready[order[i]], Stage::reduce);
      auto& next = ready[topology.target(link)];
      next = std::max(next, arrival);
      sends.insert(topology.target(link));
    }
    return ready[order.front()];
  }

  Instance instance_;
  HopTimes times_;
  std::vector<SimTime> free_;
  std::vector<Send> sends_;
};

}  // namespace tenex::support
