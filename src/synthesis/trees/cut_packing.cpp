#include "synthesis/trees/cut_packing.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "synthesis/trees/out_trees.hpp"

namespace tenex {
namespace {

/// How much longer than the least the time is in which links carry all chunks, as one part in so many; 0: no longer.
constexpr std::array<std::int64_t, 9> kExtraTimeShares = {0, 512, 128, 32, 16, 8, 4, 2, 1};

/// How long links over switches are to be idle, as multiples of the least.
constexpr std::array<std::int64_t, 2> kIdleCutTimes = {4, 2};

std::vector<LinkIdleTimes> rooms_of(const TreeNetwork& network) {
  std::vector<LinkIdleTimes> rooms;
  const auto idle = idle_times(network);
  const auto [least, most] = std::minmax_element(idle.begin(), idle.end());
  for (const std::int64_t times : kIdleCutTimes) {
    if (*least == *most) break;
    LinkIdleTimes& room = rooms.emplace_back();
    for (const SimTime each : idle) room.push_back(each * times);
  }
  return rooms;
}

/// The chunks of each owner.
RootChunks roots_of(const SynthesisProblem& problem) {
  const Collective& collective = problem.collective;
  RootChunks roots(problem.topology.npus());
  for (std::size_t npu = 0; npu < roots.size(); ++npu)
    roots[npu] = static_cast<std::int64_t>(collective.owned_by(NpuId::at(npu)).count);
  return roots;
}

/// Deals each root's chunks to its trees in turn, in proportion to the trees' numbers.
std::vector<DealtChunk> deal_chunks(const SynthesisProblem& problem, const std::vector<OutTrees>& packed) {
  std::vector<std::vector<std::tuple<double, std::uint32_t>>> turns(problem.topology.npus());
  for (std::uint32_t t = 0; t < packed.size(); ++t)
    for (std::int64_t i = 0; i < packed[t].chunks; ++i)
      turns[packed[t].tree.root.index()].emplace_back(
          (static_cast<double>(i) + 0.5) / static_cast<double>(packed[t].chunks), t);
  std::vector<DealtChunk> deal;
  for (std::size_t npu = 0; npu < turns.size(); ++npu) {
    std::sort(turns[npu].begin(), turns[npu].end());
    const std::size_t first = problem.collective.owned_by(NpuId::at(npu)).first;
    for (std::uint32_t i = 0; i < turns[npu].size(); ++i)
      deal.push_back({ChunkId::at(first + i), std::get<1>(turns[npu][i]), i});
  }
  return deal;
}

}  // namespace

Work cut_packing_work(const Topology& topology) {
  const auto npus = static_cast<double>(topology.npus());
  return {WorkUnit::cut_packing_visit, npus * npus * static_cast<double>(topology.links())};
}

CutPacking::CutPacking(const SynthesisProblem& problem, TreeNetwork& network, bool leaves_room)
    : problem_(problem), network_(network), roots_(roots_of(problem)) {
  if (leaves_room) rooms_ = rooms_of(network);
  rooms_.emplace_back();
  least_ = least_rate_time(network, roots_, rooms_.front());
}

std::optional<DealtTrees> CutPacking::next() {
  while (!gave_up_ && tried_ < kExtraTimeShares.size()) {
    const LinkIdleTimes& room = rooms_[room_];
    const std::int64_t share = kExtraTimeShares[tried_];
    const SimTime time = share == 0 ? least_ : least_ + SimTime::of(ceil_div(least_.count(), share));
    if (room_ + 1 == rooms_.size())
      ++tried_;
    else
      least_ = least_rate_time(network_, roots_, rooms_[++room_]);
    const auto split = split_switches(network_, roots_, room, time);
    gave_up_ = split.gave_up;
    if (gave_up_) break;
    if (!split.edges) continue;
    auto packed = pack_out_trees(network_, *split.edges, roots_);
    if (!packed) continue;
    DealtTrees dealt{{}, deal_chunks(problem_, *packed)};
    for (OutTrees& each : *packed) dealt.trees.push_back(std::move(each.tree));
    return dealt;
  }
  return std::nullopt;
}

}  // namespace tenex
