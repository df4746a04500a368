#include "synthesis/trees/capped_trees.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/random.hpp"
#include "tenex/topology/distance.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {
namespace {

constexpr std::size_t kMostRoots = 64;
constexpr std::size_t kMostSearches = 32;  ///< for the middle of the network
/// A slack is enough if the busiest link is busy for at most this share longer than with trees of any depth, or for one
/// chunk.
constexpr std::int64_t kTolerancePerMille = 5;
/// Buckets of a tree on the fastest link, where links differ in speed.
constexpr double kPlacesPerTree = 4;
constexpr std::uint32_t kAnyDepth = std::numeric_limits<std::uint16_t>::max();

std::uint32_t eccentricity(const TreeRoot& root) { return std::ranges::max(root.hops); }

/// A lower bound on how far each NPU's farthest is, and the least that any NPU was found to have.
struct Farthest {
  std::vector<std::uint32_t> hops;  ///< of each NPU
  std::uint32_t radius = kNoHops;
};

/// Searches from the farthest of the NPU that seems to be most central raise the bounds, until that NPU's is met.
Farthest farthest_at_least(const Topology& topology) {
  Farthest farthest{std::vector<std::uint32_t>(topology.npus()), kNoHops};
  for (std::size_t i = 0; i < kMostSearches; ++i) {
    const auto central = static_cast<std::size_t>(std::ranges::min_element(farthest.hops) - farthest.hops.begin());
    const auto hops = hops_from(topology, VertexId::at(central));
    const auto rim = static_cast<std::size_t>(std::ranges::max_element(hops) - hops.begin());
    farthest.radius = std::min(farthest.radius, hops[rim]);
    if (hops[rim] == farthest.hops[central]) break;
    const auto from_rim = hops_from(topology, VertexId::at(rim));
    for (std::size_t npu = 0; npu < from_rim.size(); ++npu)
      farthest.hops[npu] = std::max(farthest.hops[npu], from_rim[npu]);
  }
  return farthest;
}

}  // namespace

std::uint32_t radius(const Topology& topology) { return farthest_at_least(topology).radius; }

std::vector<TreeRoot> central_roots(const Topology& topology) {
  const auto farthest = farthest_at_least(topology).hops;
  std::vector<NpuId> order;
  for (std::size_t npu = 0; npu < topology.npus(); ++npu) order.push_back(NpuId::at(npu));
  Random(0).shuffle(std::span(order));
  std::ranges::stable_sort(order, {}, [&](NpuId npu) { return farthest[npu.index()]; });
  order.resize(std::min(order.size(), kMostRoots));
  std::vector<TreeRoot> roots;
  for (const NpuId npu : order) roots.push_back({npu, hops_from(topology, vertex_of(npu))});
  const std::uint32_t least = eccentricity(*std::ranges::min_element(roots, {}, eccentricity));
  std::erase_if(roots, [&](const TreeRoot& root) { return eccentricity(root) > least + 1; });
  return roots;
}

CappedTrees::CappedTrees(const TreeNetwork& network, const std::vector<TreeRoot>& roots, std::uint32_t slack)
    : network_(network), topology_(network.topology()), roots_(roots), slack_(slack), load_(topology_.links()) {
  SimTime fastest = SimTime::max();
  SimTime slowest;
  for (std::size_t link = 0; link < topology_.links(); ++link) {
    fastest = std::min(fastest, network.hop(LinkId::at(link)).busy);
    slowest = std::max(slowest, network.hop(LinkId::at(link)).busy);
  }
  const double places = fastest == slowest ? 1 : kPlacesPerTree;
  for (std::size_t link = 0; link < topology_.links(); ++link)
    places_.push_back(places * static_cast<double>(network.hop(LinkId::at(link)).busy.count()) /
                      static_cast<double>(std::max<std::int64_t>(1, fastest.count())));
}

void CappedTrees::grow(CappedTree& tree) {
  const TreeRoot& root = roots_[trees_++ % roots_.size()];
  tree.root = root.npu;
  tree.above.assign(topology_.npus(), LinkId::none());
  tree.depth.assign(topology_.npus(), std::numeric_limits<std::uint16_t>::max());
  tree.order.clear();
  for (auto& bucket : buckets_) bucket.clear();
  lowest_ = buckets_.size();
  join(tree, root.npu, LinkId::none(), 0);
  while (tree.order.size() < topology_.npus()) {
    const LinkId link = take();
    const NpuId to = npu_of(topology_.target(link));
    if (tree.above[to.index()].exists() || to == root.npu) continue;
    const std::size_t depth = std::size_t{tree.depth[npu_of(topology_.source(link)).index()]} + 1;
    if (depth <= std::size_t{root.hops[to.index()]} + slack_) join(tree, to, link, depth);
  }
}

void CappedTrees::join(CappedTree& tree, NpuId npu, LinkId from_parent, std::size_t depth) {
  if (from_parent.exists()) {
    ++load_[from_parent.index()];
    ++load_[network_.opposite(from_parent).index()];
  }
  tree.above[npu.index()] = from_parent;
  tree.depth[npu.index()] = static_cast<std::uint16_t>(std::min<std::size_t>(depth, kAnyDepth));
  tree.order.push_back(npu);
  for (const LinkId link : topology_.out_links(vertex_of(npu))) {
    if (tree.depth[npu_of(topology_.target(link)).index()] != std::numeric_limits<std::uint16_t>::max()) continue;
    const auto place = static_cast<std::size_t>((load_[link.index()] + 1) * places_[link.index()]);
    if (place >= buckets_.size()) buckets_.resize(place + 1);
    buckets_[place].push_back(link);
    lowest_ = std::min(lowest_, place);
  }
}

/// A drawn link of the first bucket that has any.
LinkId CappedTrees::take() {
  while (buckets_[lowest_].empty()) {
    ++lowest_;
    ensure(lowest_ < buckets_.size(), "all NPUs reach each other");
  }
  auto& bucket = buckets_[lowest_];
  const auto drawn = (mix_bits(++draws_) >> 32U) * bucket.size() >> 32U;
  std::swap(bucket[drawn], bucket.back());
  const LinkId link = bucket.back();
  bucket.pop_back();
  return link;
}

SimTime CappedTrees::rate_time() const {
  SimTime most;
  for (std::size_t link = 0; link < load_.size(); ++link)
    most = std::max(most, network_.hop(LinkId::at(link)).busy * std::int64_t{load_[link]});
  return most;
}

SimTime rate_of(const TreeNetwork& network, const std::vector<TreeRoot>& roots, std::uint32_t trees,
                std::uint32_t slack) {
  CappedTrees packing(network, roots, slack);
  CappedTree tree;
  for (std::uint32_t i = 0; i < trees; ++i) packing.grow(tree);
  return packing.rate_time();
}

std::uint32_t enough_slack(const TreeNetwork& network, const std::vector<TreeRoot>& roots, std::uint32_t trees) {
  const SimTime any = rate_of(network, roots, trees, kAnyDepth);
  SimTime slowest;
  for (std::size_t link = 0; link < network.topology().links(); ++link)
    slowest = std::max(slowest, network.hop(LinkId::at(link)).busy);
  const SimTime enough = any + std::max(slowest, SimTime::of(any.count() / 1000 * kTolerancePerMille));
  const auto suffices = [&](std::uint32_t slack) { return rate_of(network, roots, trees, slack) <= enough; };
  std::uint32_t slack = std::max<std::uint32_t>(1, eccentricity(roots.front()) / 3);
  if (!suffices(slack)) {
    do slack *= 2;
    while (slack < network.topology().npus() && !suffices(slack));
    return slack;
  }
  while (slack > 1 && suffices(slack / 2)) slack /= 2;
  return slack;
}

}  // namespace tenex
