// A slow, obvious greedy for networks with switches of any kind, and a check of the physical links that it uses.
//
// Chunks come in random order. Each goes over the path of earliest arrival, as if nothing else were on the way, to the
// nearest vertex that still needs it; then each send of the path starts at the first time at which all its physical
// links are free for it. Two sends share a link where they are one signal (topology/wires.hpp). Sums are copies on the
// reversed network, with copying and adding exchanged, reversed in time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "tenex/base/random.hpp"
#include "tenex/collective/instance.hpp"
#include "tenex/schedule/schedule.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex::support {

/// What a send does to a physical link.
struct LinkUse {
  LinkId link;
  SimTime from;
  SimTime until;
};

/// The physical links of a network, with or without wires.
class PhysicalUses {
 public:
  PhysicalUses(const Topology& topology, Occupancy occupancy) : topology_(topology), occupancy_(occupancy) {}

  [[nodiscard]] SimTime serialization(LinkId link, Bytes size) const {
    return serialization_time(size, topology_.classes()[topology_.class_of(link)]);
  }
  [[nodiscard]] std::vector<WireSpan> spans(LinkId link) const {
    if (topology_.wires() == nullptr) return {{link, SimTime::zero()}};
    const auto path = topology_.wires()->spans(link);
    return {path.begin(), path.end()};
  }
  [[nodiscard]] std::vector<LinkUse> of(LinkId link, SimTime start, Bytes size) const {
    std::vector<LinkUse> uses;
    for (const WireSpan& span : spans(link)) {
      const SimTime own =
          occupancy_ == Occupancy::transfer ? physical_network(topology_).alpha(span.link) : SimTime::zero();
      uses.push_back({span.link, start + span.offset, start + span.offset + serialization(link, size) + own});
    }
    return uses;
  }

  /// Whether two sends of one chunk that start together are one signal on a physical link of both, by copying.
  [[nodiscard]] bool is_copied(LinkId a, LinkId b, LinkId on, bool turned) const {
    const auto first = spans(a);
    const auto second = spans(b);
    for (std::size_t i = 0; i < std::min(first.size(), second.size()) && first[i] == second[i]; ++i) {
      const bool parts = i + 1 == first.size() || i + 1 == second.size() || !(first[i + 1] == second[i + 1]);
      if (!parts) continue;
      if (i + 1 == first.size() || i + 1 == second.size()) return false;
      const auto& network = physical_network(topology_);
      const auto& properties = network.switch_properties(network.target(first[i].link));
      bool shared = false;
      for (std::size_t j = 0; j <= i; ++j) shared = shared || first[j].link == on;
      return shared && (turned ? properties.reduce : properties.copy);
    }
    return false;
  }

 private:
  const Topology& topology_;
  Occupancy occupancy_;
};

/// Copies chunks from where they start, over links some times of which are taken.
class CopyingGreedy {
 public:
  /// `turned`: this is the reversed network of sums, so switches copy here where they add there.
  CopyingGreedy(const Instance& instance, bool turned)
      : instance_(instance), turned_(turned), uses_(instance.topology, instance.occupancy) {}

  struct Taken {
    SimTime from;
    SimTime until;
    std::optional<std::size_t> send;  ///< of this greedy
  };

  void take(const LinkUse& use, std::optional<std::size_t> send = std::nullopt) {
    taken_[use.link].push_back({use.from, use.until, send});
  }

  /// Delivers a chunk that `start` has from a time on.
  void deliver(ChunkId chunk, NpuId start, SimTime from, std::set<VertexId> missing) {
    missing.erase(vertex_of(start));
    std::map<VertexId, SimTime> has{{vertex_of(start), from}};
    while (!missing.empty()) {
      std::map<VertexId, LinkId> last;
      const VertexId nearest = search(chunk, has, missing, last);
      std::vector<LinkId> path;
      for (auto at = nearest; path.empty() || !has.contains(at); at = instance_.topology.source(last.at(at)))
        path.push_back(last.at(at));
      SimTime time = has.at(instance_.topology.source(path.back()));
      for (auto link = path.rbegin(); link != path.rend(); ++link) {
        time = send(chunk, *link, time);
        const VertexId target = instance_.topology.target(*link);
        missing.erase(target);
        if (keeps(target)) has.emplace(target, time);
      }
    }
  }

  [[nodiscard]] const std::vector<Send>& sends() const { return sends_; }
  [[nodiscard]] SimTime arrival(const Send& send) const { return send.start + latency(send.link, size(send.chunk)); }

 private:
  [[nodiscard]] Bytes size(ChunkId chunk) const { return instance_.collective.chunk_bytes(chunk); }
  [[nodiscard]] SimTime latency(LinkId link, Bytes bytes) const {
    return instance_.topology.alpha(link) + uses_.serialization(link, bytes);
  }
  /// Whether a chunk can be sent on from a vertex more than once.
  [[nodiscard]] bool keeps(VertexId vertex) const {
    if (instance_.topology.is_npu(vertex)) return true;
    const auto& properties = instance_.topology.switch_properties(vertex);
    return turned_ ? properties.reduce : properties.copy;
  }

  VertexId search(ChunkId chunk, const std::map<VertexId, SimTime>& has, const std::set<VertexId>& missing,
                  std::map<VertexId, LinkId>& last) const {
    auto arrival = has;
    std::set<std::pair<SimTime, VertexId>> open;
    for (const auto& [vertex, time] : has) open.emplace(time, vertex);
    while (true) {
      const auto [time, vertex] = *open.begin();
      open.erase(open.begin());
      if (missing.contains(vertex)) return vertex;
      for (const auto link : instance_.topology.out_links(vertex)) {
        const auto next = instance_.topology.target(link);
        const auto there = time + latency(link, size(chunk));
        const auto [known, fresh] = arrival.try_emplace(next, there);
        if (has.contains(next) || (!fresh && known->second <= there)) continue;
        open.erase({known->second, next});
        known->second = there;
        last[next] = link;
        open.emplace(there, next);
      }
    }
  }

  SimTime send(ChunkId chunk, LinkId link, SimTime ready) {
    SimTime start = free_from(chunk, link, ready);
    for (const Send& other : sends_)  // perhaps as a part of an earlier signal
      if (other.chunk == chunk && other.start >= ready && other.start < start &&
          instance_.topology.source(other.link) == instance_.topology.source(link) &&
          free_from(chunk, link, other.start) == other.start)
        start = other.start;
    sends_.push_back({start, link, chunk, Stage::copy});
    for (const LinkUse& use : uses_.of(link, start, size(chunk))) take(use, sends_.size() - 1);
    return arrival(sends_.back());
  }

  /// The first time from `ready` on at which the send fits.
  [[nodiscard]] SimTime free_from(ChunkId chunk, LinkId link, SimTime ready) const {
    SimTime start = ready;
    for (bool moved = true; moved;) {
      moved = false;
      for (const LinkUse& use : uses_.of(link, start, size(chunk))) {
        const auto taken = taken_.find(use.link);
        if (taken == taken_.end()) continue;
        for (const Taken& other : taken->second) {
          if (other.until <= use.from || other.from >= use.until || is_one_signal(chunk, link, start, use.link, other))
            continue;
          start += other.until - use.from;
          moved = true;
          break;
        }
        if (moved) break;
      }
    }
    return start;
  }

  [[nodiscard]] bool is_one_signal(ChunkId chunk, LinkId link, SimTime start, LinkId on, const Taken& other) const {
    if (!other.send) return false;
    const Send& before = sends_[*other.send];
    return before.chunk == chunk && before.start == start && before.link != link &&
           instance_.topology.source(before.link) == instance_.topology.source(link) &&
           uses_.serialization(before.link, size(chunk)) == uses_.serialization(link, size(chunk)) &&
           uses_.is_copied(before.link, link, on, turned_);
  }

  Instance instance_;
  bool turned_;
  PhysicalUses uses_;
  std::vector<Send> sends_;
  std::map<LinkId, std::vector<Taken>> taken_;
};

/// Sums first, then copies.
inline Schedule greedy_over_switches(const Instance& instance, std::uint64_t seed) {
  const auto& collective = instance.collective;
  std::vector<std::uint32_t> order;
  for (std::uint32_t c = 0; c < collective.chunks(); ++c) order.push_back(c);
  Random random(seed, 0x77697265);
  random.shuffle(std::span(order));
  const auto is_sum = [&](std::uint32_t c) { return reduces(collective.kind(collective.group_of(ChunkId(c)))); };

  const Topology reversed = instance.topology.reversed();
  CopyingGreedy sums({reversed, collective, instance.occupancy}, true);
  for (const auto c : order) {
    if (!is_sum(c)) continue;
    std::set<VertexId> members;
    for (const NpuId member : collective.groups()[collective.group_of(ChunkId(c)).index()].members)
      members.insert(vertex_of(member));
    sums.deliver(ChunkId(c), collective.owner(ChunkId(c)), SimTime::zero(), members);
  }
  SimTime end;
  for (const Send& send : sums.sends()) end = std::max(end, sums.arrival(send));
  std::vector<Send> sends;
  std::map<ChunkId, SimTime> complete;
  CopyingGreedy copies(instance, false);
  const PhysicalUses uses(instance.topology, instance.occupancy);
  for (const Send& send : sums.sends()) {
    sends.push_back({end - sums.arrival(send), send.link, send.chunk, Stage::reduce});
    for (const LinkUse& use : uses.of(send.link, sends.back().start, collective.chunk_bytes(send.chunk)))
      copies.take(use);
    complete[send.chunk] = std::max(complete[send.chunk], copies.arrival(sends.back()));
  }
  for (const auto c : order) {
    const ChunkId chunk(c);
    std::set<VertexId> missing;
    collective.for_each_destination(chunk, [&](NpuId npu) { missing.insert(vertex_of(npu)); });
    copies.deliver(chunk, is_sum(c) ? collective.owner(chunk) : collective.source(chunk), complete[chunk], missing);
  }
  sends.insert(sends.end(), copies.sends().begin(), copies.sends().end());
  return make_list_schedule(std::move(sends));
}

}  // namespace tenex::support
