// Predecessors by a counting sort over chunks; new starts in one pass.
#include "synthesis/pccl/paths/retime_plan.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "tenex/base/csr.hpp"
#include "tenex/schedule/list_builder.hpp"

namespace tenex {
namespace {

constexpr std::uint32_t kNoSend = std::numeric_limits<std::uint32_t>::max();

/// The sends of a plan as columns, in the order of planned starts.
struct PlanColumns {
  std::vector<LinkId> link;
  std::vector<ChunkId> chunk;

  explicit PlanColumns(const Schedule& schedule) {
    link.reserve(schedule.sends());
    chunk.reserve(schedule.sends());
    SendBuffer buffer;
    for (std::size_t segment = 0; segment < schedule.segments(); ++segment) {
      schedule.read(segment, buffer);
      link.insert(link.end(), buffer.batch.link.begin(), buffer.batch.link.end());
      chunk.insert(chunk.end(), buffer.batch.chunk.begin(), buffer.batch.chunk.end());
    }
  }
};

/// For every send the one that delivers its chunk to its source; kNoSend where the chunk starts.
std::vector<std::uint32_t> predecessors(const Instance& instance, const PlanColumns& plan) {
  const auto by_chunk = Csr<std::uint32_t>::group(
      instance.collective.chunks(), plan.link.size(), [&](std::size_t i) { return plan.chunk[i].index(); },
      [](std::size_t i) { return static_cast<std::uint32_t>(i); });
  std::vector<std::uint32_t> before(plan.link.size(), kNoSend);
  std::vector<std::uint32_t> delivered(instance.topology.vertices(), kNoSend);
  for (std::size_t chunk = 0; chunk < by_chunk.rows(); ++chunk) {
    for (const std::uint32_t send : by_chunk.row(chunk)) {
      before[send] = delivered[instance.topology.source(plan.link[send]).index()];
      delivered[instance.topology.target(plan.link[send]).index()] = send;
    }
    for (const std::uint32_t send : by_chunk.row(chunk))
      delivered[instance.topology.target(plan.link[send]).index()] = kNoSend;
  }
  return before;
}

}  // namespace

std::optional<Retimed> retime_plan(const Instance& instance, const Schedule& schedule) {
  const HopTimes times(instance.topology, instance.collective.chunk_sizes(), instance.occupancy);
  const SimTime planned_end = last_arrival(instance, schedule);
  PlanColumns plan(schedule);
  const auto hop = [&](std::size_t i) -> const HopTime& {
    return times.at(instance.topology.class_of(plan.link[i]), instance.collective.size_class(plan.chunk[i]));
  };
  std::vector<SimTime> start(plan.link.size());
  SimTime end;
  {
    const auto before = predecessors(instance, plan);
    std::vector<SimTime> free(instance.topology.links());
    for (std::size_t i = 0; i < start.size(); ++i) {
      SimTime& link_free = free[plan.link[i].index()];
      start[i] = link_free;
      if (before[i] != kNoSend) start[i] = std::max(start[i], start[before[i]] + hop(before[i]).latency);
      link_free = start[i] + hop(i).busy;
      end = std::max(end, start[i] + hop(i).latency);
    }
  }
  if (end >= planned_end) return std::nullopt;
  std::vector<std::uint32_t> order(start.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return start[a] != start[b] ? start[a] < start[b] : plan.link[a] < plan.link[b];
  });
  ListBuilder list(start.size());
  for (const std::uint32_t i : order) {
    SendBatch one;
    one.link = std::span(plan.link).subspan(i, 1);
    one.chunk = std::span(plan.chunk).subspan(i, 1);
    one.at = start[i];
    list.append(one);
  }
  return Retimed{list.finish(), end};
}

}  // namespace tenex
