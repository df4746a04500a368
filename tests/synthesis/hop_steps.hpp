// Random graphs whose hops all take one time, and the least steps of their All-Gathers by brute force.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "support/topologies.hpp"
#include "tenex/base/hash.hpp"
#include "tenex/base/random.hpp"

namespace tenex::support {

inline constexpr SimTime kBusy = nanoseconds(20'000);  ///< 1 MB at 50 GB/s

/// Whether each NPU's in-links can bring it these chunks at once: chunk i over a link of its own from a holder.
inline bool can_receive(const std::vector<std::uint32_t>& holders_of_links, std::uint32_t chunks) {
  std::vector<std::uint32_t> wanted;
  for (std::uint32_t bit = 1; bit != 0 && bit <= chunks; bit <<= 1U)
    if (chunks & bit) wanted.push_back(bit);
  std::vector<std::size_t> order(holders_of_links.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  if (wanted.size() > order.size()) return false;
  do {
    bool all = true;
    for (std::size_t i = 0; i < wanted.size(); ++i) all &= (holders_of_links[order[i]] & wanted[i]) != 0;
    if (all) return true;
  } while (std::next_permutation(order.begin(), order.end()));
  return false;
}

/// What each NPU holds: bit i is the chunk of NPU i.
using Holdings = std::vector<std::uint32_t>;

/// Each NPU with its own chunk.
inline Holdings own_chunks(std::size_t npus) {
  Holdings first(npus);
  for (std::size_t npu = 0; npu < npus; ++npu) first[npu] = 1U << npu;
  return first;
}

/// The holdings after one step in which every link may take a chunk. An NPU that takes all it can of one kind of choice
/// is as good as one that takes less, so only largest receipts are followed.
inline std::vector<Holdings> holdings_after(const Topology& topology, const Holdings& state) {
  const std::size_t npus = topology.npus();
  const std::uint32_t full = (1U << npus) - 1;
  std::vector<Holdings> partial{Holdings()};
  for (std::size_t npu = 0; npu < npus; ++npu) {
    std::vector<std::uint32_t> holders;
    for (const LinkId link : topology.in_links(VertexId::at(npu)))
      holders.push_back(state[topology.source(link).index()]);
    std::vector<std::uint32_t> receipts;
    for (std::uint32_t chunks = full; chunks <= full; --chunks)
      if ((chunks & state[npu]) == 0 && can_receive(holders, chunks) &&
          std::ranges::none_of(receipts, [&](std::uint32_t more) { return (more & chunks) == chunks; }))
        receipts.push_back(chunks);
    std::vector<Holdings> longer;
    for (const Holdings& before : partial)
      for (const std::uint32_t chunks : receipts) {
        longer.push_back(before);
        longer.back().push_back(state[npu] | chunks);
      }
    partial = std::move(longer);
  }
  return partial;
}

/// The least steps of an All-Gather with one chunk per NPU where every hop takes one step: all reachable holdings, step
/// by step.
inline int steps_by_brute_force(const Topology& topology) {
  const std::uint32_t full = (1U << topology.npus()) - 1;
  std::set<Holdings> states{own_chunks(topology.npus())};
  for (int step = 0;; ++step) {
    std::set<Holdings> next;
    for (const Holdings& state : states) {
      if (std::ranges::all_of(state, [&](std::uint32_t held) { return held == full; })) return step;
      const auto after = holdings_after(topology, state);
      next.insert(after.begin(), after.end());
    }
    states = std::move(next);
  }
}

/// A random strongly connected graph: a ring one way, and some further links. All hops take kBusy.
inline Topology random_graph(std::uint32_t npus, std::uint32_t further, std::uint64_t seed) {
  Random random(seed, digest64("te_ccl_test", 0));
  TopologyBuilder builder(npus);
  std::set<std::pair<std::uint32_t, std::uint32_t>> taken;
  const auto add = [&](std::uint32_t from, std::uint32_t to) {
    if (from != to && taken.emplace(from, to).second)
      builder.add_link({VertexId(from), VertexId(to), SimTime::zero(), kBandwidth});
  };
  for (std::uint32_t npu = 0; npu < npus; ++npu) add(npu, (npu + 1) % npus);
  for (std::uint32_t i = 0; i < further; ++i) add(random.below(npus), random.below(npus));
  return std::move(builder).build().value();
}

}  // namespace tenex::support
