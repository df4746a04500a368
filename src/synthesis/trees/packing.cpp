#include "synthesis/trees/packing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/graph/least_first.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {
namespace {

/// From root to root where trees cannot be moved to their middles: spreads roots over the NPUs.
constexpr std::uint64_t kRootStep = 2'654'435'761;

/// log(e^a + e^b).
double sum_of_logarithms(double a, double b) {
  return std::max(a, b) + std::log1p(std::exp(std::min(a, b) - std::max(a, b)));
}

class Packer {
 public:
  Packer(TreeNetwork& network, const PackingOptions& options)
      : network_(network),
        topology_(network.topology()),
        options_(options),
        load_(topology_.links()),
        up_load_(topology_.links()),
        passed_(topology_.vertices()),
        is_leaf_(topology_.npus()) {
    for (const NpuId leaf : options.leaves) is_leaf_[leaf.index()] = true;
    SimTime fastest = SimTime::max();
    for (std::size_t link = 0; link < topology_.links(); ++link)
      fastest = std::min(fastest, network.hop(LinkId::at(link)).busy);
    for (std::size_t link = 0; link < topology_.links(); ++link)
      slowness_.push_back(static_cast<double>(network.hop(LinkId::at(link)).busy.count()) /
                          static_cast<double>(fastest.count()));
    if (options.span == SimTime::zero()) return;
    const auto idle = idle_times(network);
    for (std::size_t link = 0; link < topology_.links(); ++link)
      slowness_[link] *=
          1 + options.idle_times * static_cast<double>(idle[link].count()) / static_cast<double>(options.span.count());
  }

  /// A tree grown from `root`. Where links have opposites, it is a minimum spanning tree.
  SpanningTree grow(NpuId root) {
    SpanningTree tree;
    tree.root = root;
    tree.down_order = grow(root, false, tree.down);
    if (!network_.symmetric()) {
      tree.up_order = grow(root, true, tree.up);
    } else {
      tree.up_order = tree.down_order;
      for (const WayId way : tree.down) {
        tree.up.push_back(way.exists() ? network_.opposite_way(way) : way);
        if (way.exists() && !options_.by_direction) count(tree.up.back(), false);
      }
    }
    ++trees_;
    return tree;
  }

 private:
  /// A link at the end of the lightest known way to its outer vertex.
  struct Entry {
    double key;  ///< what the way weighs, and the depth
    std::uint32_t hops;
    std::uint32_t spread;  ///< the order of equals
    LinkId link;
    double weight;
    bool operator<(const Entry& other) const {
      return std::tie(key, hops, spread, link) < std::tie(other.key, other.hops, other.spread, other.link);
    }
  };
  /// How a switch was reached, during a growth.
  struct Passed {
    double key = std::numeric_limits<double>::infinity();
    LinkId link;
  };
  struct Growth {
    bool up = false;
    std::vector<std::uint32_t> depth;
    std::vector<bool> reached;
    LeastFirst<Entry> frontier{};
  };

  [[nodiscard]] VertexId outer(const Growth& growth, LinkId link) const {
    return growth.up ? topology_.source(link) : topology_.target(link);
  }
  [[nodiscard]] VertexId inner(const Growth& growth, LinkId link) const {
    return growth.up ? topology_.target(link) : topology_.source(link);
  }

  /// Opens the links on from a vertex; `before`: the way to a switch.
  void open(Growth& growth, VertexId vertex, std::uint32_t hops, const Entry* before) {
    for (const LinkId link : growth.up ? topology_.in_links(vertex) : topology_.out_links(vertex)) {
      const VertexId next = outer(growth, link);
      if (topology_.is_npu(next) && growth.reached[next.index()]) continue;
      const double weight =
          before == nullptr ? weight_of(growth, link) : sum_of_logarithms(before->weight, weight_of(growth, link));
      const double key = weight + options_.depth_weight * hops;
      if (!topology_.is_npu(next) && key >= passed_[next.index()].key) continue;
      growth.frontier.push({key, hops, spread(link), link, weight});
    }
  }

  /// The way that ends with `last` at its outer end.
  [[nodiscard]] WayId way_to(const Growth& growth, LinkId last) {
    way_.assign(1, last);
    while (!topology_.is_npu(inner(growth, way_.back())))
      way_.push_back(passed_[inner(growth, way_.back()).index()].link);
    if (!growth.up) std::reverse(way_.begin(), way_.end());
    return network_.way_over(way_);
  }

  /// Fills `towards` with the way between each NPU and its parent: to the parent if `up`. Returns the NPUs from the
  /// root outwards.
  std::vector<NpuId> grow(NpuId root, bool up, std::vector<WayId>& towards) {
    const std::size_t npus = topology_.npus();
    towards.assign(npus, WayId::none());
    std::fill(passed_.begin(), passed_.end(), Passed{});
    Growth growth{up, std::vector<std::uint32_t>(npus), std::vector<bool>(npus)};
    std::vector<NpuId> order = {root};
    growth.reached[root.index()] = true;
    open(growth, vertex_of(root), 1, nullptr);
    while (!growth.frontier.empty()) {
      const Entry entry = growth.frontier.pop();
      const VertexId vertex = outer(growth, entry.link);
      if (!topology_.is_npu(vertex)) {
        if (entry.key >= passed_[vertex.index()].key) continue;
        passed_[vertex.index()] = {entry.key, entry.link};
        open(growth, vertex, entry.hops, &entry);
        continue;
      }
      if (growth.reached[vertex.index()]) continue;
      if (order.size() == 1 && is_leaf_[root.index()] && is_leaf_[vertex.index()]) continue;  // leads nowhere
      growth.reached[vertex.index()] = true;
      growth.depth[vertex.index()] = entry.hops;
      towards[vertex.index()] = way_to(growth, entry.link);
      count(towards[vertex.index()], up);
      order.push_back(npu_of(vertex));
      if (order.size() == 2 && is_leaf_[root.index()]) {  // its only way
        growth.frontier.clear();
        std::fill(passed_.begin(), passed_.end(), Passed{});
      }
      if (!is_leaf_[vertex.index()]) open(growth, vertex, entry.hops + 1, nullptr);
    }
    ensure(order.size() == npus, "the network is connected");
    return order;
  }

  [[nodiscard]] std::vector<std::uint32_t>& loads(bool up) { return up && options_.by_direction ? up_load_ : load_; }
  void count(WayId way, bool up) {
    for (const LinkId link : network_.links(way)) ++loads(up)[link.index()];
  }

  /// The logarithm of the weight: on direct links only their order matters.
  [[nodiscard]] double weight_of(const Growth& growth, LinkId link) {
    const double slowness = slowness_[link.index()];
    return options_.growth * loads(growth.up)[link.index()] * slowness + std::log(slowness);
  }
  /// Equal links in another order for every tree.
  [[nodiscard]] std::uint32_t spread(LinkId link) const {
    const std::uint32_t pair =
        network_.symmetric() ? std::min(link.value(), network_.opposite(link).value()) : link.value();
    return (pair * 2'654'435'761U) ^ (trees_ * 2'246'822'519U);
  }

  TreeNetwork& network_;
  const Topology& topology_;
  const PackingOptions& options_;
  std::vector<std::uint32_t> load_;
  std::vector<std::uint32_t> up_load_;  ///< of sums, where directions are weighed apart
  std::vector<Passed> passed_;          ///< per vertex; of switches
  std::vector<bool> is_leaf_;
  std::vector<LinkId> way_;
  std::vector<double> slowness_;  ///< per link: the time of a chunk there, in those on the fastest link
  std::uint32_t trees_ = 0;
};

/// The farthest NPU from `from` along a tree, and the way there.
std::vector<NpuId> longest_way(const TreeNetwork& network, const SpanningTree& tree, NpuId from) {
  const std::size_t npus = tree.up.size();
  std::vector<std::vector<NpuId>> next(npus);
  for (std::size_t npu = 0; npu < npus; ++npu) {
    if (!tree.up[npu].exists()) continue;
    const NpuId parent = network.target(tree.up[npu]);
    next[npu].push_back(parent);
    next[parent.index()].push_back(NpuId::at(npu));
  }
  std::vector<NpuId> before(npus, NpuId::none());
  std::vector<SimTime> time(npus);
  std::vector<NpuId> open = {from};
  NpuId farthest = from;
  while (!open.empty()) {
    const NpuId npu = open.back();
    open.pop_back();
    if (time[npu.index()] > time[farthest.index()]) farthest = npu;
    for (const NpuId other : next[npu.index()]) {
      if (other == before[npu.index()]) continue;
      before[other.index()] = npu;
      const WayId up = tree.up[other.index()];
      const WayId way = up.exists() && network.target(up) == npu ? up : tree.up[npu.index()];
      time[other.index()] = time[npu.index()] + network.latency(way);
      open.push_back(other);
    }
  }
  std::vector<NpuId> way = {farthest};
  while (before[way.back().index()].exists()) way.push_back(before[way.back().index()]);
  return way;
}

/// Makes `root` the root.
void root_at(const TreeNetwork& network, SpanningTree& tree, NpuId root) {
  WayId up = WayId::none();
  WayId down = WayId::none();
  for (NpuId npu = root; npu.exists();) {
    const WayId old_up = tree.up[npu.index()];
    const WayId old_down = tree.down[npu.index()];
    tree.up[npu.index()] = up;
    tree.down[npu.index()] = down;
    up = old_down;  // of the old parent: the same pair, the other way
    down = old_up;
    npu = old_up.exists() ? network.target(old_up) : NpuId::none();
  }
  tree.root = root;
  std::vector<std::vector<NpuId>> children(tree.up.size());
  for (std::size_t npu = 0; npu < tree.up.size(); ++npu)
    if (tree.up[npu].exists()) children[network.target(tree.up[npu]).index()].push_back(NpuId::at(npu));
  tree.up_order = {root};
  for (std::size_t i = 0; i < tree.up_order.size(); ++i)
    for (const NpuId child : children[tree.up_order[i].index()]) tree.up_order.push_back(child);
  tree.down_order = tree.up_order;
}

}  // namespace

bool has_idle_links(const TreeNetwork& network) { return network.topology().vertices() > network.topology().npus(); }

std::optional<std::string> packing_unsuitable(const SynthesisProblem& problem) {
  if (problem.collective.kind() != CollectiveKind::all_reduce) return "it makes only All-Reduces";
  return tree_network_unsuitable(problem);
}

std::vector<SpanningTree> pack_trees(TreeNetwork& network, const PackingOptions& options) {
  Packer packer(network, options);
  std::vector<SpanningTree> trees;
  NpuId root = NpuId(0);
  for (std::uint32_t number = 0; number < options.trees; ++number) {
    if (options.root.exists()) {
      trees.push_back(packer.grow(options.root));
      continue;
    }
    if (!network.symmetric()) {
      trees.push_back(packer.grow(NpuId(static_cast<std::uint32_t>(number * kRootStep % network.topology().npus()))));
      continue;
    }
    SpanningTree tree = packer.grow(root);
    const auto end = longest_way(network, tree, tree.root).front();
    const auto way = longest_way(network, tree, end);
    root = way[way.size() / 2];
    root_at(network, tree, root);
    trees.push_back(std::move(tree));
  }
  return trees;
}

}  // namespace tenex
