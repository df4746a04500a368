#include "synthesis/trees/packing.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <tuple>

#include "synthesis/compose.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {
namespace {

/// How much faster a weight grows than the load, as a power of e per chunk on the fastest link.
constexpr double kWeightGrowth = 2.0;
/// From root to root where trees cannot be moved to their middles: spreads roots over the NPUs.
constexpr std::uint64_t kRootStep = 2'654'435'761;

class Packer {
 public:
  Packer(const Instance& instance, const TreeLinks& links, const PackingOptions& options)
      : topology_(instance.topology), links_(links), options_(options), load_(topology_.links()) {
    fastest_ = SimTime::max();
    for (const HopTime& hop : links.hop) fastest_ = std::min(fastest_, hop.busy);
  }

  /// A tree grown from `root`. Where links have opposites, it is a minimum spanning tree.
  SpanningTree grow(NpuId root) {
    SpanningTree tree;
    tree.root = root;
    tree.down_order = grow(root, false, tree.down);
    if (links_.opposite.empty()) {
      tree.up_order = grow(root, true, tree.up);
    } else {
      tree.up_order = tree.down_order;
      for (const LinkId link : tree.down) {
        tree.up.push_back(link.exists() ? links_.opposite[link.index()] : link);
        if (link.exists()) ++load_[tree.up.back().index()];
      }
    }
    ++trees_;
    return tree;
  }

 private:
  /// Fills `towards` with the link between each NPU and its parent: to the parent if `up`. Returns the NPUs from the
  /// root outwards.
  std::vector<NpuId> grow(NpuId root, bool up, std::vector<LinkId>& towards) {
    const std::size_t npus = topology_.npus();
    towards.assign(npus, LinkId::none());
    std::vector<NpuId> order;
    std::vector<std::uint32_t> depth(npus);
    std::vector<bool> reached(npus);
    using Entry = std::tuple<double, std::uint32_t, std::uint32_t, LinkId>;  // weight, depth, order of equals, link
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> frontier;
    const auto outer = [&](LinkId link) { return npu_of(up ? topology_.source(link) : topology_.target(link)); };
    const auto reach = [&](NpuId npu) {
      reached[npu.index()] = true;
      order.push_back(npu);
      const auto links = up ? topology_.in_links(vertex_of(npu)) : topology_.out_links(vertex_of(npu));
      for (const LinkId link : links) {
        if (reached[outer(link).index()]) continue;
        const std::uint32_t hops = depth[npu.index()] + 1;
        frontier.emplace(weight(link) + options_.depth_weight * hops, hops, spread(link), link);
      }
    };
    reach(root);
    while (!frontier.empty()) {
      const LinkId link = std::get<LinkId>(frontier.top());
      const std::uint32_t hops = std::get<1>(frontier.top());
      frontier.pop();
      const NpuId npu = outer(link);
      if (reached[npu.index()]) continue;
      depth[npu.index()] = hops;
      towards[npu.index()] = link;
      ++load_[link.index()];
      reach(npu);
    }
    ensure(order.size() == npus, "the network is connected");
    return order;
  }

  /// The logarithm of the weight: the order of links is all that matters.
  [[nodiscard]] double weight(LinkId link) const {
    const double slowness =
        static_cast<double>(links_.hop[link.index()].busy.count()) / static_cast<double>(fastest_.count());
    return kWeightGrowth * load_[link.index()] * slowness + std::log(slowness);
  }
  /// Equal links in another order for every tree.
  [[nodiscard]] std::uint32_t spread(LinkId link) const {
    const std::uint32_t pair =
        links_.opposite.empty() ? link.value() : std::min(link.value(), links_.opposite[link.index()].value());
    return (pair * 2'654'435'761U) ^ (trees_ * 2'246'822'519U);
  }

  const Topology& topology_;
  const TreeLinks& links_;
  const PackingOptions& options_;
  std::vector<std::uint32_t> load_;
  SimTime fastest_;
  std::uint32_t trees_ = 0;
};

/// The farthest NPU from `from` along a tree, and the way there.
std::vector<NpuId> longest_way(const Topology& topology, const TreeLinks& links, const SpanningTree& tree, NpuId from) {
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
  tree.up_order = {root};
  for (std::size_t i = 0; i < tree.up_order.size(); ++i)
    for (const NpuId child : children[tree.up_order[i].index()]) tree.up_order.push_back(child);
  tree.down_order = tree.up_order;
}

}  // namespace

std::optional<std::string> packing_unsuitable(const SynthesisProblem& problem) {
  const auto& collective = problem.collective;
  if (collective.kind() != CollectiveKind::all_reduce) return "it makes only All-Reduces";
  if (collective.groups().size() != 1 || collective.groups().front().members.size() != problem.topology.npus())
    return "it needs one group of all NPUs";
  if (collective.chunk_sizes().size() != 1) return "it needs chunks of one size";
  if (!problem.topology.direct()) return "it does not send over switches";
  return std::nullopt;
}

TreeLinks tree_links(const SynthesisProblem& problem) {
  const auto& topology = problem.topology;
  TreeLinks links{opposite_links(topology).value_or(std::vector<LinkId>()), {}};
  for (std::size_t link = 0; link < topology.links(); ++link)
    links.hop.push_back(hop_time(topology.classes()[topology.class_of(LinkId::at(link))],
                                 problem.collective.chunk_sizes().front(), problem.occupancy));
  return links;
}

std::vector<SpanningTree> pack_trees(const Instance& instance, const TreeLinks& links, const PackingOptions& options) {
  const Topology& topology = instance.topology;
  Packer packer(instance, links, options);
  std::vector<SpanningTree> trees;
  NpuId root = NpuId(0);
  for (std::uint32_t number = 0; number < options.trees; ++number) {
    if (links.opposite.empty()) {
      trees.push_back(packer.grow(NpuId(static_cast<std::uint32_t>(number * kRootStep % topology.npus()))));
      continue;
    }
    SpanningTree tree = packer.grow(root);
    const auto end = longest_way(topology, links, tree, tree.root).front();
    const auto way = longest_way(topology, links, tree, end);
    root = way[way.size() / 2];
    root_at(topology, tree, root);
    trees.push_back(std::move(tree));
  }
  return trees;
}

SimTime packing_period(const TreeLinks& links, const std::vector<SpanningTree>& trees) {
  std::vector<std::int64_t> load(links.hop.size());
  for (const SpanningTree& tree : trees)
    for (std::size_t npu = 0; npu < tree.up.size(); ++npu)
      for (const LinkId link : {tree.up[npu], tree.down[npu]})
        if (link.exists()) ++load[link.index()];
  SimTime period;
  for (std::size_t link = 0; link < load.size(); ++link) period = std::max(period, links.hop[link].busy * load[link]);
  return period;
}

}  // namespace tenex
