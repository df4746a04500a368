// Slow twins of the rules for buffers and wires, and random graphs of switches to try them on.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "synthesis/synthesis_support.hpp"
#include "tenex/base/random.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex::support {

/// A send with its times.
struct Passed {
  Send send;
  SimTime arrival;
  SimTime serialization;
};

inline std::vector<Passed> passed_sends(const Instance& instance, const Schedule& schedule) {
  std::vector<Passed> all;
  for (const Send& send : list_sends(schedule)) {
    const LinkClass& link = instance.topology.classes()[instance.topology.class_of(send.link)];
    const HopTime hop = hop_time(link, instance.collective.chunk_bytes(send.chunk), instance.occupancy);
    all.push_back({send, send.start + hop.latency, hop.latency - link.alpha});
  }
  return all;
}

/// How many chunks wait at a switch at the end of an instant.
inline std::int64_t waiting_at(const Instance& instance, const std::vector<Passed>& sends, VertexId at, SimTime time) {
  struct Thing {
    std::int64_t came = 0;
    std::int64_t left = 0;
    bool leaves_later = false;
  };
  std::map<std::pair<Stage, ChunkId>, Thing> things;
  for (const auto& [send, arrival, serialization] : sends) {
    Thing& thing = things[{send.stage, send.chunk}];
    if (instance.topology.target(send.link) == at && arrival <= time) ++thing.came;
    if (instance.topology.source(send.link) != at) continue;
    if (send.start <= time) ++thing.left;
    if (send.start > time) thing.leaves_later = true;
  }
  std::int64_t waiting = 0;
  const SwitchProperties& properties = instance.topology.switch_properties(at);
  for (const auto& [what, thing] : things) {
    const bool is_one = what.first == Stage::reduce ? properties.reduce : properties.copy;
    waiting += is_one ? (thing.came > 0 && thing.leaves_later ? 1 : 0) : thing.came - thing.left;
  }
  return waiting;
}

inline void expect_buffers_kept(const Instance& instance, const Schedule& schedule) {
  const auto sends = passed_sends(instance, schedule);
  for (std::size_t v = instance.topology.npus(); v < instance.topology.vertices(); ++v) {
    const std::uint32_t buffer = instance.topology.switch_properties(VertexId::at(v)).buffer;
    if (buffer == kUnlimitedBuffer) continue;
    for (const Passed& each : sends) {
      ASSERT_LE(waiting_at(instance, sends, VertexId::at(v), each.arrival), buffer);
      ASSERT_LE(waiting_at(instance, sends, VertexId::at(v), each.send.start), buffer);
    }
  }
}

/// A send on a physical link.
struct TakenLink {
  LinkId link;
  SimTime begin;
  SimTime end;
  Send send;
  std::size_t span = 0;  ///< of the send's wire
};

/// Whether two copies are one signal up to here: of one chunk from one source at one time over the same links, which
/// part at a switch that copies. Partial sums are the same with time and direction reversed.
inline bool is_one_signal(const Wires& wires, const TakenLink& a, const TakenLink& b) {
  if (a.send.chunk != b.send.chunk || a.send.stage != b.send.stage || a.begin != b.begin || a.end != b.end)
    return false;
  auto first = wires.spans(a.send.link);
  auto second = wires.spans(b.send.link);
  const bool sums = a.send.stage == Stage::reduce;
  const auto at = [&](std::span<const WireSpan> path, std::size_t i) {
    return path[sums ? path.size() - 1 - i : i].link;
  };
  const std::size_t here = sums ? first.size() - 1 - a.span : a.span;
  const std::size_t there = sums ? second.size() - 1 - b.span : b.span;
  std::size_t same = 0;
  while (same < first.size() && same < second.size() && at(first, same) == at(second, same)) ++same;
  if (here != there || here >= same || same == first.size() || same == second.size()) return false;
  const LinkId last = at(first, same - 1);
  const VertexId fork = sums ? wires.network().source(last) : wires.network().target(last);
  const SwitchProperties& properties = wires.network().switch_properties(fork);
  return sums ? properties.reduce : properties.copy;
}

inline void expect_physical_links_apart(const Instance& instance, const Schedule& schedule) {
  const Wires* wires = instance.topology.wires();
  if (wires == nullptr) return;
  std::vector<TakenLink> taken;
  for (const auto& [send, arrival, serialization] : passed_sends(instance, schedule)) {
    const auto spans = wires->spans(send.link);
    for (std::size_t i = 0; i < spans.size(); ++i) {
      const bool transfer = instance.occupancy == Occupancy::transfer;
      const SimTime extra = transfer ? wires->network().alpha(spans[i].link) : SimTime::zero();
      const SimTime begin = send.start + spans[i].offset;
      taken.push_back({spans[i].link, begin, begin + serialization + extra, send, i});
    }
  }
  for (std::size_t i = 0; i < taken.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const bool meet =
          taken[i].link == taken[j].link && taken[i].begin < taken[j].end && taken[j].begin < taken[i].end;
      ASSERT_TRUE(!meet || is_one_signal(*wires, taken[i], taken[j])) << "link " << taken[i].link.value();
    }
}

/// A random strongly connected graph of NPUs and switches. `limited`: some have small buffers; `cutting`: some cut
/// through; `adding`: all copy and reduce.
inline Topology random_switches(std::uint64_t seed, bool limited, bool cutting, bool adding = false) {
  Random random(seed, 0x73776974);
  const std::uint32_t npus = 2 + random.below(4);
  const std::uint32_t switches = 1 + random.below(4);
  TopologyBuilder builder(npus);
  for (std::uint32_t i = 0; i < switches; ++i) {
    SwitchProperties properties{.copy = random.below(2) == 0, .reduce = random.below(2) == 0};
    if (adding) properties.copy = properties.reduce = true;
    if (cutting && random.below(2) == 0) {
      properties.forwarding = Forwarding::cut_through;
    } else if (limited && random.below(4) != 0) {
      properties.buffer = random.below(3);
    }
    builder.add_switch(properties);
  }
  const bool alike = random.below(2) == 0;
  const auto join = [&](std::uint32_t from, std::uint32_t to) {
    const SimTime alpha = alike ? kAlpha : nanoseconds(random.below(4) * 300);
    const Bandwidth bandwidth = gigabytes_per_second(alike ? 50 : 25 << random.below(3));
    builder.add_link({VertexId(from), VertexId(to), alpha, bandwidth});
  };
  std::vector<std::uint32_t> cycle(npus + switches);
  std::iota(cycle.begin(), cycle.end(), 0U);
  random.shuffle(std::span(cycle));
  for (std::uint32_t i = 0; i < cycle.size(); ++i) join(cycle[i], cycle[(i + 1) % cycle.size()]);
  for (std::uint32_t extra = random.below(3 * npus); extra > 0; --extra) {
    const std::uint32_t from = random.below(npus + switches);
    join(from, (from + 1 + random.below(npus + switches - 1)) % (npus + switches));
  }
  return std::move(builder).build().value();
}

}  // namespace tenex::support
