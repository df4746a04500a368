// Orders of dimensions.
#include "synthesis/tacos/event_driven/dimension_levels.hpp"

#include <algorithm>
#include <utility>

#include "tenex/topology/block.hpp"
#include "tenex/topology/timing.hpp"

namespace tenex {

namespace {

/// Far more than the factor between two levels of CostLevels.
constexpr unsigned kBitsPerLevel = 2;
constexpr std::size_t kMostDimensions = 6;

struct SpannedDimension {
  std::uint32_t size = 1;
  std::uint32_t stride = 1;
  std::int64_t farthest_hops = 1;
  std::int64_t latency = 0;  ///< of its first link
};

/// The dimensions of several NPUs; empty where the topology is no product of blocks.
std::vector<SpannedDimension> dimensions_of(const Topology& topology) {
  const auto& unwound = topology.unwound_shape();
  const Shape* shape = topology.shape() ? &*topology.shape() : nullptr;
  if (unwound) shape = &unwound->shape;
  std::vector<SpannedDimension> dimensions;
  if (shape == nullptr || !shape->is_product() || !topology.direct()) return dimensions;
  std::uint32_t stride = 1;
  for (const Block& block : shape->blocks) {
    if (block.size > 1) {
      std::int64_t hops = block.rule->diameter_hops(block);
      if (unwound && block.rule->through_switch) {
        const std::int64_t degree = std::min(unwound->degree, block.size - 1);
        hops = (block.size - 2 + degree) / degree;
      }
      dimensions.push_back({block.size, stride, hops});
    }
    stride *= block.size;
  }
  return dimensions;
}

/// The dimension along which a link leads: the only one in which its ends differ.
std::size_t dimension_of(const Topology& topology, LinkId link, const std::vector<SpannedDimension>& dimensions) {
  const std::uint32_t from = topology.source(link).value();
  const std::uint32_t to = topology.target(link).value();
  for (std::size_t i = 0; i + 1 < dimensions.size(); ++i)
    if (from / dimensions[i].stride % dimensions[i].size != to / dimensions[i].stride % dimensions[i].size) return i;
  return dimensions.size() - 1;
}

/// The rank of each dimension among the distinct keys.
template <class Key>
std::vector<std::uint32_t> ranks_by(const std::vector<SpannedDimension>& dimensions, const Key& key) {
  std::vector<std::uint32_t> ranks;
  for (const auto& one : dimensions) {
    std::vector<decltype(key(one))> less;
    for (const auto& other : dimensions)
      if (key(other) < key(one)) less.push_back(key(other));
    std::sort(less.begin(), less.end());
    less.erase(std::unique(less.begin(), less.end()), less.end());
    ranks.push_back(static_cast<std::uint32_t>(less.size()));
  }
  return ranks;
}

/// One dimension above all others, in turn from the longest.
void add_single_ones(const std::vector<SpannedDimension>& dimensions, std::vector<std::vector<std::uint32_t>>& orders) {
  const auto longest = ranks_by(dimensions, [](const SpannedDimension& each) { return -each.farthest_hops; });
  for (std::uint32_t rank = 0; rank < dimensions.size(); ++rank)
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
      if (longest[i] != rank) continue;
      orders.emplace_back(dimensions.size(), 0);
      orders.back()[i] = 1;
    }
}

}  // namespace

std::vector<std::vector<std::int64_t>> dimension_levels(const SynthesisProblem& problem) {
  const Topology& topology = problem.topology;
  auto dimensions = dimensions_of(topology);
  if (dimensions.size() < 2 || dimensions.size() > kMostDimensions) return {};
  std::vector<std::size_t> along(topology.links());
  for (std::size_t link = topology.links(); link-- > 0;) {
    along[link] = dimension_of(topology, LinkId::at(link), dimensions);
    dimensions[along[link]].latency = hop_time(topology.classes()[topology.class_of(LinkId::at(link))],
                                               problem.collective.chunk_sizes()[0], problem.occupancy)
                                          .latency.count();
  }
  std::vector<std::vector<std::uint32_t>> orders;
  orders.push_back(ranks_by(dimensions, [](const SpannedDimension& each) { return each.farthest_hops; }));
  orders.push_back(
      ranks_by(dimensions, [](const SpannedDimension& each) { return std::pair(each.latency, each.farthest_hops); }));
  orders.push_back(
      ranks_by(dimensions, [](const SpannedDimension& each) { return each.latency * each.farthest_hops; }));
  add_single_ones(dimensions, orders);
  std::vector<std::vector<std::int64_t>> levels;
  for (const auto& order : orders) {
    if (*std::max_element(order.begin(), order.end()) == 0) continue;
    std::vector<std::int64_t> costs;
    for (const std::size_t dimension : along) costs.push_back(std::int64_t{1} << (kBitsPerLevel * order[dimension]));
    if (std::find(levels.begin(), levels.end(), costs) == levels.end()) levels.push_back(std::move(costs));
  }
  return levels;
}

}  // namespace tenex
