#include "synthesis/tacos/exact/bands.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "tenex/base/csr.hpp"

namespace tenex {
namespace {

constexpr std::uint32_t kUnseen = std::numeric_limits<std::uint32_t>::max();

/// Neighbours of every NPU, over links either way.
Csr<std::uint32_t> neighbours_of(const StepSetup& setup) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  pairs.reserve(2 * setup.ports.size());
  for (std::uint32_t npu = 0; npu < setup.npus(); ++npu)
    for (std::size_t p = setup.port_begin[npu]; p < setup.port_begin[npu + 1]; ++p) {
      pairs.emplace_back(npu, setup.ports[p].source);
      pairs.emplace_back(setup.ports[p].source, npu);
    }
  return Csr<std::uint32_t>::group(
      setup.npus(), pairs.size(), [&](std::size_t i) { return pairs[i].first; },
      [&](std::size_t i) { return pairs[i].second; });
}

/// Searches one component breadth first and sets its depths. Returns the NPUs reached, nearest first.
std::vector<std::uint32_t> search(const Csr<std::uint32_t>& neighbours, std::uint32_t start,
                                  std::vector<std::uint32_t>& depth) {
  std::vector<std::uint32_t> reached{start};
  depth[start] = 0;
  for (std::size_t i = 0; i < reached.size(); ++i)
    for (const std::uint32_t next : neighbours.row(reached[i])) {
      if (depth[next] != kUnseen) continue;
      depth[next] = depth[reached[i]] + 1;
      reached.push_back(next);
    }
  return reached;
}

}  // namespace

Bands find_bands(const StepSetup& setup, std::size_t width) {
  const auto neighbours = neighbours_of(setup);
  std::vector<std::uint32_t> depth(setup.npus(), kUnseen);
  std::uint32_t deepest = 0;
  for (std::uint32_t npu = 0; npu < setup.npus(); ++npu) {
    if (depth[npu] != kUnseen) continue;
    const auto reached = search(neighbours, npu, depth);
    for (const std::uint32_t other : reached) depth[other] = kUnseen;
    const auto again = search(neighbours, reached.back(), depth);  // from an NPU at the rim: more and narrower bands
    deepest = std::max(deepest, depth[again.back()]);
  }
  const std::size_t hops_per_band = std::max<std::size_t>(1, width);
  const std::size_t bands = deepest / hops_per_band + 1;
  const auto rows = Csr<std::uint32_t>::group(
      bands, setup.npus(), [&](std::size_t npu) { return depth[npu] / hops_per_band; },
      [](std::size_t npu) { return static_cast<std::uint32_t>(npu); });
  Bands result;
  result.depth = deepest + std::size_t{1};
  result.begin.push_back(0);
  for (std::size_t band = 0; band < bands; ++band) {
    result.npus.insert(result.npus.end(), rows.row(band).begin(), rows.row(band).end());
    result.begin.push_back(result.npus.size());
  }
  return result;
}

}  // namespace tenex
