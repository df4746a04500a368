// Tiles of shapes, grown blocks, and the joining of small ones.
#include "synthesis/tacos/coarse/partition.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

namespace tenex {
namespace {

constexpr std::uint32_t kFree = std::numeric_limits<std::uint32_t>::max();

BlockPartition from_labels(std::vector<std::uint32_t> labels, std::size_t blocks,
                           const std::vector<std::uint32_t>& group_of) {
  std::vector<std::uint32_t> renamed(blocks, kFree);
  BlockPartition partition;
  std::vector<std::uint32_t> order(labels.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return group_of[a] < group_of[b]; });
  for (const std::uint32_t npu : order) {
    auto& name = renamed[labels[npu]];
    if (name == kFree) {
      name = static_cast<std::uint32_t>(partition.members.size());
      partition.members.emplace_back();
    }
    partition.members[name].push_back(npu);
    labels[npu] = name;
  }
  partition.block_of = std::move(labels);
  return partition;
}

/// Extents of a tile: the shortest side grows until the tile holds `size` NPUs (or until growing once more would
/// overshoot by more than stopping falls short).
std::vector<std::uint32_t> tile_extents(const Shape& shape, std::size_t size) {
  std::vector<std::uint32_t> extents(shape.dimensions(), 1);
  std::size_t volume = 1;
  while (volume < size) {
    std::size_t grow = extents.size();
    for (std::size_t d = 0; d < extents.size(); ++d)
      if (extents[d] < shape.blocks[d].size && (grow == extents.size() || extents[d] < extents[grow])) grow = d;
    if (grow == extents.size()) break;
    const std::size_t next = volume / extents[grow] * (extents[grow] + 1);
    if (next > size && next - size > size - volume) break;
    ++extents[grow];
    volume = next;
  }
  return extents;
}

BlockPartition tile(const Shape& shape, const std::vector<std::uint32_t>& group_of, std::size_t size) {
  const auto extents = tile_extents(shape, size);
  std::vector<std::uint32_t> parts(extents.size());
  std::size_t blocks = 1;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    parts[d] = (shape.blocks[d].size + extents[d] - 1) / extents[d];
    blocks *= parts[d];
  }
  std::vector<std::uint32_t> labels(shape.npus());
  for (std::size_t npu = 0; npu < labels.size(); ++npu) {
    std::size_t rest = npu, label = 0, step = 1;
    for (std::size_t d = 0; d < extents.size(); ++d) {
      const std::size_t coordinate = rest % shape.blocks[d].size;
      rest /= shape.blocks[d].size;
      // Parts of nearly equal length: coordinate x of N belongs to part floor(x * parts / N).
      label += step * (coordinate * parts[d] / shape.blocks[d].size);
      step *= parts[d];
    }
    labels[npu] = static_cast<std::uint32_t>(label);
  }
  return from_labels(std::move(labels), blocks, group_of);
}

/// Neighbours of the same group over links that exist both ways.
std::vector<std::vector<std::uint32_t>> mutual_neighbours(const Topology& topology,
                                                          const std::vector<std::uint32_t>& group_of) {
  std::vector<std::vector<std::uint32_t>> neighbours(topology.npus());
  for (std::size_t npu = 0; npu < topology.npus(); ++npu) {
    std::vector<std::uint32_t> in, out;
    for (const LinkId link : topology.in_links(VertexId::at(npu))) in.push_back(topology.source(link).value());
    for (const LinkId link : topology.out_links(VertexId::at(npu))) out.push_back(topology.target(link).value());
    std::sort(in.begin(), in.end());
    std::sort(out.begin(), out.end());
    std::set_intersection(in.begin(), in.end(), out.begin(), out.end(), std::back_inserter(neighbours[npu]));
    auto& row = neighbours[npu];
    row.erase(std::unique(row.begin(), row.end()), row.end());
    std::erase_if(row, [&](std::uint32_t other) { return group_of[other] != group_of[npu]; });
  }
  return neighbours;
}

class BlobGrower {
 public:
  BlobGrower(std::vector<std::vector<std::uint32_t>> neighbours, std::size_t size)
      : neighbours_(std::move(neighbours)),
        size_(size),
        label_(neighbours_.size(), kFree),
        links_in_(label_.size(), 0),
        distance_(label_.size(), 0) {}

  BlockPartition grow(const std::vector<std::uint32_t>& group_of) {
    for (std::uint32_t npu = 0; npu < label_.size(); ++npu)
      if (label_[npu] == kFree) grow_from(npu);
    join_crumbs();
    return from_labels(std::move(label_), blocks_.size(), group_of);
  }

 private:
  void grow_from(std::uint32_t seed) {
    const auto name = static_cast<std::uint32_t>(blocks_.size());
    auto& block = blocks_.emplace_back();
    std::vector<std::uint32_t> frontier;
    distance_[seed] = 0;
    const auto add = [&](std::uint32_t npu) {
      label_[npu] = name;
      block.push_back(npu);
      for (const auto next : neighbours_[npu]) {
        if (label_[next] != kFree) continue;
        if (links_in_[next]++ == 0) {
          frontier.push_back(next);
          distance_[next] = distance_[npu] + 1;
        }
      }
    };
    add(seed);
    while (block.size() < size_ && !frontier.empty()) {
      const auto better = [&](std::uint32_t a, std::uint32_t b) {
        return std::tuple(~links_in_[a], distance_[a], a) < std::tuple(~links_in_[b], distance_[b], b);
      };
      const auto best = std::min_element(frontier.begin(), frontier.end(), better);
      const auto npu = *best;
      *best = frontier.back();
      frontier.pop_back();
      add(npu);
    }
    for (const auto npu : frontier) links_in_[npu] = 0;
    for (const auto npu : block) links_in_[npu] = 0;
  }

  /// Blocks under half the size join the smallest block beside them.
  void join_crumbs() {
    std::vector<std::uint32_t> order(blocks_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return blocks_[a].size() < blocks_[b].size(); });
    for (const auto crumb : order) {
      if (blocks_[crumb].empty() || 2 * blocks_[crumb].size() >= size_) continue;
      std::uint32_t host = kFree;
      for (const auto npu : blocks_[crumb])
        for (const auto next : neighbours_[npu]) {
          const auto other = label_[next];
          if (other == crumb) continue;
          if (host == kFree || std::pair(blocks_[other].size(), other) < std::pair(blocks_[host].size(), host))
            host = other;
        }
      if (host == kFree) continue;
      for (const auto npu : blocks_[crumb]) label_[npu] = host;
      blocks_[host].insert(blocks_[host].end(), blocks_[crumb].begin(), blocks_[crumb].end());
      blocks_[crumb].clear();
    }
  }

  std::vector<std::vector<std::uint32_t>> neighbours_;
  std::size_t size_;
  std::vector<std::uint32_t> label_;
  std::vector<std::uint32_t> links_in_;
  std::vector<std::uint32_t> distance_;
  std::vector<std::vector<std::uint32_t>> blocks_;
};

}  // namespace

BlockPartition partition_blocks(const Topology& topology, const std::vector<std::uint32_t>& group_of,
                                std::size_t size) {
  const auto& shape = topology.shape();
  const bool one_group = std::ranges::all_of(group_of, [&](auto group) { return group == group_of[0]; });
  if (one_group && shape && shape->is_product()) return tile(*shape, group_of, size);
  return BlobGrower(mutual_neighbours(topology, group_of), std::max<std::size_t>(1, size)).grow(group_of);
}

}  // namespace tenex
