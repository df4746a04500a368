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
constexpr double kBucketsPerTree = 4;
constexpr std::uint16_t kNotJoined = std::numeric_limits<std::uint16_t>::max();
constexpr std::uint32_t kAnyDepth = kNotJoined;

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
    : network_(network), topology_(network.topology()), roots_(roots), slack_(slack) {
  SimTime fastest = SimTime::max();
  SimTime slowest;
  std::vector<Place> place_of(topology_.links());
  for (std::uint32_t npu = 0; npu < topology_.npus(); ++npu) {
    first_.push_back(static_cast<Place>(links_.size()));
    for (const LinkId link : topology_.out_links(VertexId(npu))) {
      place_of[link.index()] = static_cast<Place>(links_.size());
      links_.push_back(link);
      from_.push_back(npu);
      outlets_.push_back({topology_.target(link).value(), 0});
      fastest = std::min(fastest, network.hop(link).busy);
      slowest = std::max(slowest, network.hop(link).busy);
    }
  }
  first_.push_back(static_cast<Place>(links_.size()));
  for (const LinkId link : links_) opposite_.push_back(place_of[network.opposite(link).index()]);
  if (fastest == slowest) return;
  for (const LinkId link : links_)
    steps_.push_back(kBucketsPerTree * static_cast<double>(network.hop(link).busy.count()) /
                     static_cast<double>(std::max<std::int64_t>(1, fastest.count())));
}

void CappedTrees::grow(CappedTree& tree) {
  const TreeRoot& root = roots_[trees_++ % roots_.size()];
  tree.root = root.npu;
  tree.above.assign(topology_.npus(), LinkId::none());
  tree.depth.assign(topology_.npus(), kNotJoined);
  tree.order.clear();
  for (auto& bucket : buckets_) bucket.clear();
  lowest_ = buckets_.size();
  join(tree, root.npu.value(), kNoPlace, 0);
  while (tree.order.size() < topology_.npus()) {
    const Place place = take();
    const std::uint32_t to = outlets_[place].to;
    if (tree.depth[to] != kNotJoined) continue;
    const std::size_t depth = std::size_t{tree.depth[from_[place]]} + 1;
    if (depth <= std::size_t{root.hops[to]} + slack_) join(tree, to, place, depth);
  }
}

void CappedTrees::join(CappedTree& tree, std::uint32_t npu, Place from_parent, std::size_t depth) {
  if (from_parent != kNoPlace) {
    ++outlets_[from_parent].load;
    ++outlets_[opposite_[from_parent]].load;
    tree.above[npu] = links_[from_parent];
  }
  tree.depth[npu] = static_cast<std::uint16_t>(std::min<std::size_t>(depth, kNotJoined - 1));
  tree.order.emplace_back(npu);
  for (Place place = first_[npu]; place < first_[npu + 1]; ++place) {
    const auto [to, load] = outlets_[place];
    if (tree.depth[to] != kNotJoined) continue;
    const auto bucket = steps_.empty() ? std::size_t{load} + 1 : static_cast<std::size_t>((load + 1) * steps_[place]);
    if (bucket >= buckets_.size()) buckets_.resize(bucket + 1);
    buckets_[bucket].push_back(place);
    lowest_ = std::min(lowest_, bucket);
  }
}

/// A drawn link of the first bucket that has any.
CappedTrees::Place CappedTrees::take() {
  while (buckets_[lowest_].empty()) {
    ++lowest_;
    ensure(lowest_ < buckets_.size(), "all NPUs reach each other");
  }
  auto& bucket = buckets_[lowest_];
  const auto drawn = (mix_bits(++draws_) >> 32U) * bucket.size() >> 32U;
  std::swap(bucket[drawn], bucket.back());
  const Place place = bucket.back();
  bucket.pop_back();
  return place;
}

SimTime CappedTrees::rate_time() const {
  SimTime most;
  for (Place place = 0; place < links_.size(); ++place)
    most = std::max(most, network_.hop(links_[place]).busy * std::int64_t{outlets_[place].load});
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
