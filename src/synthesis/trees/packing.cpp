#include "synthesis/trees/packing.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <tuple>

#include "tenex/base/diagnostic.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {
namespace {

/// How much faster a weight grows than the load, as a power of e per chunk on the fastest link.
constexpr double kWeightGrowth = 2.0;

class Packer {
 public:
  Packer(const Instance& instance, const PairedLinks& links, const PackingOptions& options)
      : topology_(instance.topology), links_(links), options_(options), load_(topology_.links()) {
    fastest_ = SimTime::max();
    for (const HopTime& hop : links.hop) fastest_ = std::min(fastest_, hop.busy);
  }

  /// A minimum spanning tree grown from `root`, which is then moved to its middle.
  SpanningTree grow(NpuId root) {
    const std::size_t npus = topology_.npus();
    SpanningTree tree{root, std::vector<LinkId>(npus, LinkId::none()), std::vector<LinkId>(npus, LinkId::none()), {}};
    std::vector<std::uint32_t> depth(npus);
    std::vector<bool> reached(npus);
    using Entry = std::tuple<double, std::uint32_t, std::uint32_t, LinkId>;  // weight, depth, load of its end, link
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> frontier;
    const auto reach = [&](NpuId npu) {
      reached[npu.index()] = true;
      tree.order.push_back(npu);
      for (const LinkId link : topology_.out_links(vertex_of(npu))) {
        const NpuId to = npu_of(topology_.target(link));
        if (reached[to.index()]) continue;
        const std::uint32_t hops = depth[npu.index()] + 1;
        frontier.emplace(weight(link) + options_.depth_weight * hops, hops, spread(link), link);
      }
    };
    reach(root);
    while (!frontier.empty()) {
      const LinkId link = std::get<LinkId>(frontier.top());
      frontier.pop();
      const NpuId to = npu_of(topology_.target(link));
      if (reached[to.index()]) continue;
      depth[to.index()] = depth[topology_.source(link).index()] + 1;
      tree.down[to.index()] = link;
      tree.up[to.index()] = links_.opposite[link.index()];
      ++load_[link.index()];
      ++load_[links_.opposite[link.index()].index()];
      reach(to);
    }
    ensure(tree.order.size() == npus, "the network is connected");
    ++trees_;
    return tree;
  }

 private:
  /// The logarithm of the weight: the order of links is all that matters.
  [[nodiscard]] double weight(LinkId link) const {
    const double slowness =
        static_cast<double>(links_.hop[link.index()].busy.count()) / static_cast<double>(fastest_.count());
    return kWeightGrowth * load_[link.index()] * slowness + std::log(slowness);
  }
  /// Equal links in another order for every tree.
  [[nodiscard]] std::uint32_t spread(LinkId link) const {
    const std::uint32_t pair = std::min(link.value(), links_.opposite[link.index()].value());
    return (pair * 2'654'435'761U) ^ (trees_ * 2'246'822'519U);
  }

  const Topology& topology_;
  const PairedLinks& links_;
  const PackingOptions& options_;
  std::vector<std::uint32_t> load_;
  SimTime fastest_;
  std::uint32_t trees_ = 0;
};

/// The farthest NPU from `from` along a tree, and the way there.
std::vector<NpuId> longest_way(const Topology& topology, const PairedLinks& links, const SpanningTree& tree,
                               NpuId from) {
  std::vector<std::vector<NpuId>> next(topology.npus());
  for (std::size_t npu = 0; npu < topology.npus(); ++npu) {
    if (!tree.up[npu].exists()) continue;
    const NpuId parent = npu_of(topology.target(tree.up[npu]));
    next[npu].push_back(parent);
    next[parent.index()].push_back(NpuId::at(npu));
  }
  std::vector<NpuId> before(topology.npus(), NpuId::none());
  std::vector<SimTime> time(topology.npus());
  std::vector<NpuId> open = {from};
  NpuId farthest = from;
  while (!open.empty()) {
    const NpuId npu = open.back();
    open.pop_back();
    if (time[npu.index()] > time[farthest.index()]) farthest = npu;
    for (const NpuId other : next[npu.index()]) {
      if (other == before[npu.index()]) continue;
      before[other.index()] = npu;
      const LinkId link = tree.up[other.index()].exists() && npu_of(topology.target(tree.up[other.index()])) == npu
                              ? tree.up[other.index()]
                              : tree.up[npu.index()];
      time[other.index()] = time[npu.index()] + links.hop[link.index()].latency;
      open.push_back(other);
    }
  }
  std::vector<NpuId> way = {farthest};
  while (before[way.back().index()].exists()) way.push_back(before[way.back().index()]);
  return way;
}

/// Makes `root` the root.
void root_at(const Topology& topology, SpanningTree& tree, NpuId root) {
  LinkId up = LinkId::none();
  LinkId down = LinkId::none();
  for (NpuId npu = root; npu.exists();) {
    const LinkId old_up = tree.up[npu.index()];
    const LinkId old_down = tree.down[npu.index()];
    tree.up[npu.index()] = up;
    tree.down[npu.index()] = down;
    up = old_down;  // of the old parent: the same pair, the other way
    down = old_up;
    npu = old_up.exists() ? npu_of(topology.target(old_up)) : NpuId::none();
  }
  tree.root = root;
  std::vector<std::vector<NpuId>> children(topology.npus());
  for (std::size_t npu = 0; npu < topology.npus(); ++npu)
    if (tree.up[npu].exists()) children[topology.target(tree.up[npu]).index()].push_back(NpuId::at(npu));
  tree.order = {root};
  for (std::size_t i = 0; i < tree.order.size(); ++i)
    for (const NpuId child : children[tree.order[i].index()]) tree.order.push_back(child);
}

}  // namespace

std::vector<SpanningTree> pack_trees(const Instance& instance, const PairedLinks& links,
                                     const PackingOptions& options) {
  const Topology& topology = instance.topology;
  Packer packer(instance, links, options);
  std::vector<SpanningTree> trees;
  NpuId root = NpuId(0);
  for (std::uint32_t number = 0; number < options.trees; ++number) {
    SpanningTree tree = packer.grow(root);
    const auto end = longest_way(topology, links, tree, tree.root).front();
    const auto way = longest_way(topology, links, tree, end);
    root = way[way.size() / 2];
    root_at(topology, tree, root);
    trees.push_back(std::move(tree));
  }
  return trees;
}

SimTime packing_period(const PairedLinks& links, const std::vector<SpanningTree>& trees) {
  std::vector<std::int64_t> load(links.hop.size());
  for (const SpanningTree& tree : trees)
    for (std::size_t npu = 0; npu < tree.up.size(); ++npu)
      if (tree.up[npu].exists()) {
        ++load[tree.up[npu].index()];
        ++load[tree.down[npu].index()];
      }
  SimTime period;
  for (std::size_t link = 0; link < load.size(); ++link) period = std::max(period, links.hop[link].busy * load[link]);
  return period;
}

}  // namespace tenex
