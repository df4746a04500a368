// Networks of switches by level. A level is the least number of links to an NPU; a switch whose NPUs are spread over
// the others' (a rail) stands one higher.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "pages/layout_parts.hpp"

namespace tenex {
namespace {

constexpr std::uint32_t kUnknown = std::numeric_limits<std::uint32_t>::max();

std::vector<std::uint32_t> levels_of(const Topology& topology) {
  std::vector<std::uint32_t> level(topology.vertices(), kUnknown);
  std::vector<std::size_t> queue;
  for (std::size_t i = 0; i < topology.npus(); ++i) level[i] = 0, queue.push_back(i);
  for (std::size_t head = 0; head < queue.size(); ++head)
    for (const LinkId link : topology.out_links(VertexId::at(queue[head]))) {
      const auto next = topology.target(link).index();
      if (level[next] == kUnknown) level[next] = level[queue[head]] + 1, queue.push_back(next);
    }
  for (auto& each : level)
    if (each == kUnknown) each = 1;  // a failed switch, without links
  for (std::size_t v = topology.npus(); v < topology.vertices(); ++v) {
    if (level[v] != 1) continue;
    std::size_t count = 0;
    std::size_t least = topology.npus();
    std::size_t most = 0;
    for (const LinkId link : topology.in_links(VertexId::at(v))) {
      const auto from = topology.source(link).index();
      if (from >= topology.npus()) continue;
      ++count, least = std::min(least, from), most = std::max(most, from);
    }
    if (count > 1 && most - least >= 2 * count) level[v] = 2;
  }
  // What hangs on such switches alone (a spine of rails) stands over them.
  for (const auto v : queue) {
    if (level[v] < 2) continue;
    auto lowest = kUnknown;
    for (const LinkId link : topology.in_links(VertexId::at(v)))
      lowest = std::min(lowest, level[topology.source(link).index()]);
    if (lowest != kUnknown) level[v] = std::max(level[v], lowest + 1);
  }
  return level;
}

/// The switch on which an NPU hangs: its lowest, of equal ones the first. The number of vertices: none.
std::size_t leaf_of(const Topology& topology, std::size_t npu, const std::vector<std::uint32_t>& level) {
  auto best = topology.vertices();
  for (const LinkId link : topology.out_links(VertexId::at(npu))) {
    const auto to = topology.target(link).index();
    if (to < topology.npus()) continue;
    if (best == topology.vertices() || std::pair(level[to], to) < std::pair(level[best], best)) best = to;
  }
  return best;
}

}  // namespace

std::vector<Spot> place_levels(const Topology& topology) {
  const auto level = levels_of(topology);
  std::vector<Spot> at(topology.vertices());
  std::map<std::size_t, std::vector<std::size_t>> below;  // NPUs by leaf
  for (std::size_t i = 0; i < topology.npus(); ++i) below[leaf_of(topology, i, level)].push_back(i);
  std::vector<std::vector<std::size_t>> blocks;
  for (auto& [leaf, npus] : below) blocks.push_back(std::move(npus));
  std::ranges::stable_sort(blocks, {}, [](const auto& npus) { return npus.front(); });
  double x = 0;
  for (const auto& npus : blocks) {
    const bool narrow = blocks.size() > 2 || npus.size() > 32;
    const auto wanted = narrow ? std::ceil(std::sqrt(static_cast<double>(npus.size()))) : 8.0 * 4;
    const auto columns = std::max<std::size_t>(1, static_cast<std::size_t>(wanted));
    for (std::size_t i = 0; i < npus.size(); ++i)
      at[npus[i]] = {x + static_cast<double>(i % columns), static_cast<double>(i / columns)};
    x += static_cast<double>(std::min(columns, npus.size())) + 0.6;
  }
  const double width = std::max(0.0, x - 1.6);
  const auto highest = *std::ranges::max_element(level);
  const double rise = std::max(1.4, width / (3.0 * std::max(1U, highest)));
  for (std::uint32_t each = 1; each <= highest; ++each) {
    // Over the middle of what hangs below, then spread so that none covers another.
    std::vector<std::pair<double, std::size_t>> row;
    for (std::size_t v = topology.npus(); v < topology.vertices(); ++v) {
      if (level[v] != each) continue;
      double sum = 0;
      double count = 0;
      for (const LinkId link : topology.in_links(VertexId::at(v))) {
        const auto from = topology.source(link).index();
        if (level[from] < each) sum += at[from].x, ++count;
      }
      row.emplace_back(count > 0 ? sum / count : width / 2, v);
    }
    std::ranges::stable_sort(row, {}, &std::pair<double, std::size_t>::first);
    const double y = -rise * each;
    bool apart = true;
    for (std::size_t i = 1; i < row.size(); ++i) apart = apart && row[i].first - row[i - 1].first >= 0.7;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const double even = width * (static_cast<double>(i) + 0.5) / static_cast<double>(row.size());
      at[row[i].second] = {apart ? row[i].first : even, y};
    }
  }
  return at;
}

}  // namespace tenex
