// Random schedules in which each chunk walks to its one destination, on any graph without switches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "support/topologies.hpp"
#include "tenex/base/random.hpp"
#include "tenex/collective/instance.hpp"
#include "tenex/schedule/schedule.hpp"
#include "tenex/schedule/storage/storage_parts.hpp"
#include "tenex/topology/timing.hpp"

namespace tenex::test {

/// A connected graph: a random tree of link pairs and some more links, of up to three classes.
inline Topology random_walkable_graph(std::uint32_t npus, std::uint32_t more_links, Random& random) {
  const auto link_class = [&] { return 1 + static_cast<std::int64_t>(random.below(3)); };
  TopologyBuilder builder(npus);
  for (std::uint32_t npu = 1; npu < npus; ++npu)
    builder.add_link_pair({VertexId(random.below(npu)), VertexId(npu), nanoseconds(100 * link_class()),
                           gigabytes_per_second(link_class())});
  for (std::uint32_t i = 0; i < more_links; ++i) {
    const std::uint32_t from = random.below(npus);
    const std::uint32_t to = random.below(npus);
    if (from != to) builder.add_link({VertexId(from), VertexId(to), nanoseconds(100), gigabytes_per_second(1)});
  }
  return std::move(builder).build().value();
}

/// The links of a random walk that passes no vertex twice.
inline std::vector<LinkId> random_walk(const Topology& topology, VertexId from, VertexId to, Random& random) {
  std::vector<LinkId> walk;
  std::vector<bool> seen(topology.vertices(), false);
  std::vector<VertexId> path{from};
  seen[from.index()] = true;
  while (path.back() != to) {  // depth first; what was left is not visited again
    std::vector<LinkId> onward;
    for (const LinkId link : topology.out_links(path.back()))
      if (!seen[topology.target(link).index()]) onward.push_back(link);
    if (onward.empty()) {
      path.pop_back();
      walk.pop_back();
      continue;
    }
    const LinkId link = onward[random.below(static_cast<std::uint32_t>(onward.size()))];
    walk.push_back(link);
    path.push_back(topology.target(link));
    seen[path.back().index()] = true;
  }
  return walk;
}

/// A valid schedule: chunks in random order, each send as early as its chunk and the sends before it on the link allow.
inline std::vector<Send> random_walks(const Instance& instance, Random& random) {
  const auto& [topology, collective, occupancy] = instance;
  const HopTimes times(topology, collective.chunk_sizes(), occupancy);
  std::vector<std::uint32_t> order(collective.chunks());
  for (std::uint32_t c = 0; c < order.size(); ++c) order[c] = c;
  random.shuffle(std::span(order));
  std::vector<SimTime> free(topology.links());
  std::vector<Send> sends;
  for (const std::uint32_t c : order) {
    const ChunkId chunk(c);
    SimTime from;
    for (const LinkId link :
         random_walk(topology, vertex_of(collective.source(chunk)), vertex_of(collective.destination(chunk)), random)) {
      const HopTime hop = times.at(topology.class_of(link), collective.size_class(chunk));
      const SimTime start = std::max(from, free[link.index()]);
      sends.push_back({start, link, chunk, Stage::copy});
      free[link.index()] = start + hop.busy;
      from = start + hop.latency;
    }
  }
  return sends;
}

/// A list whose sends can also be read chunk by chunk.
class ChunkMajorStorage final : public ScheduleStorage {
 public:
  ChunkMajorStorage(std::vector<Send> in_time, std::vector<Send> by_chunk)
      : list_(make_list_schedule(std::move(in_time))), by_chunk_(std::move(by_chunk)) {
    std::stable_sort(by_chunk_.begin(), by_chunk_.end(), [](const Send& a, const Send& b) {
      return std::pair(a.chunk, a.start) < std::pair(b.chunk, b.start);
    });
  }
  std::size_t segments() const override { return list_.segments(); }
  std::uint64_t sends() const override { return list_.sends(); }
  void read(std::size_t segment, SendBuffer& buffer) const override { list_.read(segment, buffer); }
  bool offers_chunks() const override { return true; }
  void read_chunks(ChunkId first, ChunkId last, SendBuffer& buffer) const override {
    buffer.link.clear();
    buffer.chunk.clear();
    buffer.start.clear();
    for (const Send& send : by_chunk_) {
      if (send.chunk < first || !(send.chunk < last)) continue;
      buffer.link.push_back(send.link);
      buffer.chunk.push_back(send.chunk);
      buffer.start.push_back(send.start);
    }
    buffer.batch = {};
    buffer.batch.link = buffer.link;
    buffer.batch.chunk = buffer.chunk;
    buffer.batch.start = buffer.start;
  }
  std::size_t memory_bytes() const override { return list_.memory_bytes(); }
  std::string_view kind() const override { return "chunk-major"; }
  StorageParts parts() const override { return {}; }

 private:
  Schedule list_;
  std::vector<Send> by_chunk_;
};

inline Schedule chunk_major(const std::vector<Send>& in_time, const std::vector<Send>& by_chunk) {
  return Schedule(std::make_shared<const ChunkMajorStorage>(in_time, by_chunk));
}

/// A list that is always replayed: it claims payloads, and has none.
class ReplayedStorage final : public ScheduleStorage {
 public:
  explicit ReplayedStorage(std::vector<Send> sends) : list_(make_list_schedule(std::move(sends))) {}
  std::size_t segments() const override { return list_.segments(); }
  std::uint64_t sends() const override { return list_.sends(); }
  void read(std::size_t segment, SendBuffer& buffer) const override { list_.read(segment, buffer); }
  const Payloads* payloads() const override { return &none_; }
  std::size_t memory_bytes() const override { return list_.memory_bytes(); }
  std::string_view kind() const override { return "replayed"; }
  StorageParts parts() const override { return {}; }

 private:
  Schedule list_;
  Payloads none_;
};

inline Schedule replayed(const std::vector<Send>& sends) {
  return Schedule(std::make_shared<const ReplayedStorage>(sends));
}

}  // namespace tenex::test
