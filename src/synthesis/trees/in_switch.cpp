// The engine `in_switch` of `trees`: All-Reduces in switches that add and copy, as NVLink's and InfiniBand's SHARP do
// (Graham et al., "Scalable hierarchical aggregation protocol (SHArP)", COM-HPC 2016).
//
// Every chunk has a tree that spans all NPUs, with a switch as its root. A vertex sends its sum towards the root when
// those of all its children have come; the root then has the whole sum, which goes down the same tree. A link of a tree
// carries the chunk once, and no NPU has to be its root, which would cost two more alphas. NPUs may be inside a tree.
// Switches that only forward lie on its edges (ways), each of which has sends of its own.
//
// Trees grow from the root by the link of the least key: its weight, and a share of that of the path before it, which
// makes them shallow (a share of 1: shortest paths) or light (0: a least spanning tree). A link's weight grows with
// each tree that takes it, so that roots, rails and spines take turns. Of all roots the tree of the least weight is
// taken. The best of a few shares is kept. Every link takes, of the sends that are ready, the one of the lowest chunk.
//
// Encoding: a tree has, per vertex, the way from its parent (-1 at the root and outside), whose links back are the way
// up; a task is (chunk, vertex, up or down, which link of the way).
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "synthesis/compose.hpp"
#include "synthesis/trees/engines.hpp"
#include "synthesis/trees/tree_network.hpp"
#include "tenex/base/graph/least_first.hpp"
#include "tenex/schedule/timing/retime.hpp"
#include "tenex/topology/hand_over.hpp"

namespace tenex {
namespace {

constexpr std::uint64_t kMostSends = std::uint64_t{1} << 25U;
constexpr std::uint64_t kMostEarlySends = std::uint64_t{1} << 20U;  ///< that are compared with virtual cut-through
constexpr std::size_t kMostEdges = std::size_t{1} << 20U;
constexpr std::size_t kMostRoots = 64;               ///< switches that are tried as the root of each tree
constexpr std::uint64_t kMostWeighings = 2'000'000;  ///< of links, over all trees and roots
constexpr double kGrowth = 0.25;  ///< of the logarithm of a weight, with each chunk on the slowest link
constexpr double kLeastShare = 1e-9;
constexpr double kShareOfAlpha = 0.01;  ///< of a link's weight
constexpr double kShareOfHeight = 0.1;  ///< of a tree's weight

constexpr std::array<double, 4> kPathShares = {1, 0.25, 0.05, 0};

bool is_able(const SwitchProperties& properties) { return properties.copy && properties.reduce; }

/// Whether a vertex may be in a tree.
bool may_pass(const Topology& topology, VertexId vertex) {
  return topology.is_npu(vertex) || is_able(topology.switch_properties(vertex));
}

/// Whether a switch may be on an edge. One that adds would join sums that are to stay apart there.
bool only_forwards(const Topology& topology, VertexId vertex) {
  return !topology.is_npu(vertex) && !topology.switch_properties(vertex).reduce;
}

std::vector<VertexId> able_switches(const Topology& topology) {
  std::vector<VertexId> able;
  for (std::size_t v = topology.npus(); v < topology.vertices(); ++v)
    if (is_able(topology.switch_properties(VertexId::at(v)))) able.push_back(VertexId::at(v));
  return able;
}

/// For each link the one that leads back, which may be of another class (opposite_links() has those of one): where
/// several do, those of equal rank are a pair. none(): there is none.
std::vector<LinkId> links_back(const Topology& topology) {
  std::vector<std::tuple<VertexId, VertexId, LinkId>> by_ends;
  for (std::size_t l = 0; l < topology.links(); ++l)
    by_ends.emplace_back(topology.source(LinkId::at(l)), topology.target(LinkId::at(l)), LinkId::at(l));
  std::sort(by_ends.begin(), by_ends.end());
  std::vector<LinkId> back(topology.links(), LinkId::none());
  const auto first_of = [&](VertexId from, VertexId to) {
    return std::lower_bound(by_ends.begin(), by_ends.end(), std::tuple(from, to, LinkId(0)));
  };
  for (const auto& [from, to, link] : by_ends) {
    const auto rank = std::lower_bound(by_ends.begin(), by_ends.end(), std::tuple(from, to, link)) - first_of(from, to);
    const auto begin = first_of(to, from);
    const auto other = rank < by_ends.end() - begin ? begin + rank : by_ends.end();
    if (other != by_ends.end() && std::get<0>(*other) == to && std::get<1>(*other) == from)
      back[link.index()] = std::get<2>(*other);
  }
  return back;
}

/// An edge that a tree may have: links over switches that only forward, from one vertex to another.
struct TreeEdge {
  VertexId from;
  VertexId to;
  std::vector<LinkId> down;
  std::vector<LinkId> up;  ///< the links back, in the order in which sums take them
};

/// All edges, the shortest for each first link and vertex that it leads to; nullopt: too many. O(edges * links of one).
std::optional<std::vector<TreeEdge>> edges_of(const Topology& topology) {
  const auto back = links_back(topology);
  std::vector<TreeEdge> edges;
  for (std::size_t v = 0; v < topology.vertices(); ++v) {
    const VertexId from = VertexId::at(v);
    if (!may_pass(topology, from)) continue;
    for (const LinkId first : topology.out_links(from)) {
      std::vector<std::vector<LinkId>> open;
      if (back[first.index()].exists()) open.push_back({first});
      std::vector<VertexId> seen{from};
      for (std::size_t i = 0; i < open.size(); ++i) {
        const VertexId to = topology.target(open[i].back());
        if (std::ranges::find(seen, to) != seen.end()) continue;
        seen.push_back(to);
        if (may_pass(topology, to)) {
          TreeEdge edge{from, to, open[i], {}};
          for (auto link = open[i].rbegin(); link != open[i].rend(); ++link) edge.up.push_back(back[link->index()]);
          edges.push_back(std::move(edge));
          if (edges.size() > kMostEdges) return std::nullopt;
        } else if (only_forwards(topology, to)) {
          for (const LinkId next : topology.out_links(to)) {
            if (!back[next.index()].exists()) continue;
            auto longer = open[i];
            longer.push_back(next);
            open.push_back(std::move(longer));
          }
        }
      }
    }
  }
  return edges;
}

constexpr std::int32_t kNoEdge = -1;

struct SummingTree {
  VertexId root;
  std::vector<std::int32_t> edge;    ///< by vertex: from its parent; kNoEdge
  std::vector<std::uint32_t> waits;  ///< by vertex: its children
  std::vector<VertexId> inside;      ///< its vertices but the root, parents first
  double height = 0;                 ///< the alphas of its longest path, in those times that the slowest link needs
};

/// Grows trees one after another.
class TreeGrower {
 public:
  TreeGrower(const SynthesisProblem& problem, const std::vector<TreeEdge>& edges)
      : topology_(problem.topology),
        edges_(edges),
        from_(problem.topology.vertices()),
        roots_(able_switches(topology_)) {
    for (std::size_t e = 0; e < edges.size(); ++e) from_[edges[e].from.index()].push_back(static_cast<std::int32_t>(e));
    const Bytes size = problem.collective.chunk_sizes().front();
    SimTime slowest = picoseconds(1);
    for (const LinkClass& each : topology_.classes()) slowest = std::max(slowest, serialization_time(size, each));
    for (std::size_t l = 0; l < topology_.links(); ++l) {
      const LinkClass& each = topology_.classes()[topology_.class_of(LinkId::at(l))];
      const double share =
          static_cast<double>(serialization_time(size, each).count()) / static_cast<double>(slowest.count());
      const double depth = static_cast<double>(each.alpha.count()) / static_cast<double>(slowest.count());
      share_.push_back(std::max(share, kLeastShare));
      alpha_.push_back(depth);
    }
    if (roots_.size() > kMostRoots) {  // evenly over all
      std::vector<VertexId> some;
      for (std::size_t i = 0; i < kMostRoots; ++i) some.push_back(roots_[i * roots_.size() / kMostRoots]);
      roots_ = std::move(some);
    }
  }

  /// Begins anew, with another share of paths.
  void begin(double path_share) {
    path_share_ = path_share;
    load_.assign(topology_.links(), 0);
    weight_ = share_;
  }

  /// Whether some tree reaches all NPUs.
  [[nodiscard]] bool reaches_all() const {
    return std::ranges::any_of(roots_, [&](VertexId root) { return from(root).has_value(); });
  }

  /// The tree of the least weight; nullopt: none reaches all NPUs.
  std::optional<SummingTree> grow() {
    std::optional<SummingTree> best;
    double least = std::numeric_limits<double>::max();
    for (const VertexId root : roots_) {
      auto tree = from(root);
      if (!tree) continue;
      double weight = kShareOfHeight * tree->height;
      for (const VertexId vertex : tree->inside) weight += cost(tree->edge[vertex.index()]);
      if (weight >= least) continue;
      least = weight;
      best = std::move(tree);
    }
    if (best) take(*best);
    return best;
  }

 private:
  /// Of an edge, down and up.
  [[nodiscard]] double cost(std::int32_t edge) const {
    double sum = 0;
    for (const auto* links : {&edges_[static_cast<std::size_t>(edge)].down, &edges_[static_cast<std::size_t>(edge)].up})
      for (const LinkId link : *links) sum += weight_[link.index()] + kShareOfAlpha * alpha_[link.index()];
    return sum;
  }

  void take(const SummingTree& tree) {
    for (const VertexId vertex : tree.inside) {
      const TreeEdge& edge = edges_[static_cast<std::size_t>(tree.edge[vertex.index()])];
      for (const auto* links : {&edge.down, &edge.up})
        for (const LinkId link : *links) load_[link.index()] += share_[link.index()];
    }
    const double most = *std::ranges::max_element(load_);
    for (std::size_t l = 0; l < load_.size(); ++l) weight_[l] = share_[l] * std::exp(kGrowth * (load_[l] - most));
  }

  struct Reached {
    double key = 0;
    double path = 0;
    VertexId vertex;
    std::int32_t edge = kNoEdge;
    bool operator<(const Reached& other) const {
      return std::tie(key, vertex, edge) < std::tie(other.key, other.vertex, other.edge);
    }
  };

  /// The tree from a root, without switches that lead to no NPU; nullopt: it does not reach all NPUs.
  [[nodiscard]] std::optional<SummingTree> from(VertexId root) const {
    std::vector<bool> placed(topology_.vertices(), false);
    std::vector<VertexId> order;
    SummingTree tree{root,
                     std::vector<std::int32_t>(topology_.vertices(), kNoEdge),
                     std::vector<std::uint32_t>(topology_.vertices(), 0),
                     {}};
    LeastFirst<Reached> open;
    open.push({0, 0, root});
    while (!open.empty()) {
      const Reached at = open.pop();
      if (placed[at.vertex.index()]) continue;
      placed[at.vertex.index()] = true;
      order.push_back(at.vertex);
      tree.edge[at.vertex.index()] = at.edge;
      for (const std::int32_t edge : from_[at.vertex.index()]) {
        const VertexId next = edges_[static_cast<std::size_t>(edge)].to;
        if (placed[next.index()]) continue;
        const double own = cost(edge);
        open.push({path_share_ * at.path + own, at.path + own, next, edge});
      }
    }
    std::vector<bool> leads(topology_.vertices(), false);  // to an NPU
    std::size_t npus = 0;
    for (auto vertex = order.rbegin(); vertex != order.rend(); ++vertex) {
      const auto v = vertex->index();
      if (topology_.is_npu(*vertex)) ++npus, leads[v] = true;
      if (!leads[v] || *vertex == root) continue;
      const VertexId parent = parent_of(tree, *vertex);
      leads[parent.index()] = true;
      ++tree.waits[parent.index()];
    }
    if (npus < topology_.npus()) return std::nullopt;
    std::vector<double> height(topology_.vertices(), 0);
    for (const VertexId vertex : order) {
      if (!leads[vertex.index()] || vertex == root) continue;
      tree.inside.push_back(vertex);
      height[vertex.index()] = height[parent_of(tree, vertex).index()];
      for (const LinkId link : edges_[static_cast<std::size_t>(tree.edge[vertex.index()])].down)
        height[vertex.index()] += alpha_[link.index()];
      tree.height = std::max(tree.height, height[vertex.index()]);
    }
    return tree;
  }

  [[nodiscard]] VertexId parent_of(const SummingTree& tree, VertexId vertex) const {
    return edges_[static_cast<std::size_t>(tree.edge[vertex.index()])].from;
  }

  const Topology& topology_;
  const std::vector<TreeEdge>& edges_;
  std::vector<std::vector<std::int32_t>> from_;  ///< by vertex: its edges
  std::vector<VertexId> roots_;
  double path_share_ = 1;
  std::vector<double> share_;   ///< by link: of the slowest link's time for a chunk
  std::vector<double> load_;    ///< by link: the shares of all trees that take it
  std::vector<double> weight_;  ///< by link: share_ and its growth, less than 1
  std::vector<double> alpha_;   ///< by link, in times that the slowest link needs for a chunk
};

/// Plays the trees of all chunks, as if every switch stored what it sends on.
class TreesInSwitches {
 public:
  TreesInSwitches(const SynthesisProblem& problem, const std::vector<TreeEdge>& edges,
                  const std::vector<SummingTree>& trees)
      : topology_(problem.topology),
        edges_(edges),
        trees_(trees),
        chunks_(problem.collective.chunks()),
        hops_(problem.topology, problem.collective.chunk_sizes(), problem.occupancy),
        waits_(chunks_ * topology_.vertices()),
        ready_(topology_.links()),
        busy_(topology_.links(), false) {
    for (const SummingTree& tree : trees) {
      auto& children = children_.emplace_back(topology_.vertices());
      for (const VertexId vertex : tree.inside) children[edge_of(tree, vertex).from.index()].push_back(vertex);
    }
  }

  Synthesis play() && {
    for (std::uint64_t chunk = 0; chunk < chunks_; ++chunk) {
      const SummingTree& tree = tree_of(chunk);
      std::ranges::copy(tree.waits, waits_.begin() + static_cast<std::ptrdiff_t>(chunk * topology_.vertices()));
      for (const VertexId vertex : tree.inside)
        if (tree.waits[vertex.index()] == 0) offer({chunk, Stage::reduce, vertex}, SimTime::zero());
    }
    while (!events_.empty()) {
      const Event event = events_.pop();
      if (event.frees) {
        const LinkId link = link_of(event.send);
        busy_[link.index()] = false;
        start_next(link, event.time);
      } else {
        arrive(event.send, event.time);
      }
    }
    Synthesis made;
    made.schedule = make_list_schedule(std::move(sends_));
    made.time = finish_;
    made.engine = "in_switch";
    made.overlap_method = "trees";
    return made;
  }

 private:
  /// What is to go up from a vertex, or down to it.
  struct Ready {
    std::uint64_t chunk = 0;
    Stage stage = Stage::reduce;
    VertexId vertex;
    std::uint32_t hop = 0;  ///< over the edge
    bool operator<(const Ready& other) const {
      const auto key = [](const Ready& each) {
        return std::tuple(each.chunk, each.stage == Stage::copy, each.vertex, each.hop);
      };
      return key(*this) < key(other);
    }
  };
  struct Event {
    SimTime time;
    bool frees = false;  ///< the link; arrivals of an instant come first
    Ready send;
    bool operator<(const Event& other) const {
      if (time != other.time) return time < other.time;
      return frees != other.frees ? other.frees : send < other.send;
    }
  };

  [[nodiscard]] const SummingTree& tree_of(std::uint64_t chunk) const { return trees_[chunk % trees_.size()]; }
  [[nodiscard]] const TreeEdge& edge_of(const SummingTree& tree, VertexId vertex) const {
    return edges_[static_cast<std::size_t>(tree.edge[vertex.index()])];
  }
  [[nodiscard]] const std::vector<LinkId>& links_of(const Ready& send) const {
    const TreeEdge& edge = edge_of(tree_of(send.chunk), send.vertex);
    return send.stage == Stage::reduce ? edge.up : edge.down;
  }
  [[nodiscard]] LinkId link_of(const Ready& send) const { return links_of(send)[send.hop]; }

  void offer(const Ready& send, SimTime now) {
    const LinkId link = link_of(send);
    ready_[link.index()].push(send);
    if (!busy_[link.index()]) start_next(link, now);
  }

  void start_next(LinkId link, SimTime now) {
    auto& queue = ready_[link.index()];
    if (queue.empty()) return;
    const Ready send = queue.pop();
    const HopTime& hop = hops_.at(topology_.class_of(link), 0);
    sends_.push_back({now, link, ChunkId(static_cast<std::uint32_t>(send.chunk)), send.stage});
    busy_[link.index()] = true;
    events_.push({saturating_sum(now, hop.busy), true, send});
    events_.push({saturating_sum(now, hop.latency), false, send});
  }

  void arrive(const Ready& send, SimTime now) {
    if (send.hop + 1 < links_of(send).size()) return offer({send.chunk, send.stage, send.vertex, send.hop + 1}, now);
    if (send.stage == Stage::copy) {
      if (topology_.is_npu(send.vertex)) finish_ = std::max(finish_, now);
      return send_down(send.chunk, send.vertex, now);
    }
    const SummingTree& tree = tree_of(send.chunk);
    const VertexId here = edge_of(tree, send.vertex).from;
    if (--waits_[send.chunk * topology_.vertices() + here.index()] > 0) return;
    if (here == tree.root) return send_down(send.chunk, here, now);
    offer({send.chunk, Stage::reduce, here}, now);
  }

  void send_down(std::uint64_t chunk, VertexId from, SimTime now) {
    for (const VertexId child : children_[chunk % trees_.size()][from.index()]) offer({chunk, Stage::copy, child}, now);
  }

  const Topology& topology_;
  const std::vector<TreeEdge>& edges_;
  const std::vector<SummingTree>& trees_;
  std::uint64_t chunks_;
  HopTimes hops_;
  std::vector<std::vector<std::vector<VertexId>>> children_;  ///< by tree and vertex
  std::vector<std::uint32_t> waits_;                          ///< by chunk and vertex: sums to come
  std::vector<LeastFirst<Ready>> ready_;                      ///< by link
  std::vector<bool> busy_;
  LeastFirst<Event> events_;
  std::vector<Send> sends_;
  SimTime finish_;
};

std::uint64_t trees_of(const SynthesisProblem& problem) {
  const std::uint64_t roots = std::clamp<std::uint64_t>(problem.topology.switches(), 1, kMostRoots);
  const std::uint64_t links = std::max<std::uint64_t>(1, problem.topology.links());
  return std::clamp<std::uint64_t>(kMostWeighings / (roots * links), 1, problem.collective.chunks());
}

/// Where all switches add and copy, a send for each vertex up and down; else two on an edge over one that forwards.
std::uint64_t most_sends(const SynthesisProblem& problem) {
  const Topology& topology = problem.topology;
  const bool all = able_switches(topology).size() == topology.switches();
  return (all ? 2 : 4) * problem.collective.chunks() * (topology.vertices() - 1);
}

}  // namespace

std::optional<std::string> in_switch_unsuitable(const SynthesisProblem& problem) {
  const Topology& topology = problem.topology;
  if (problem.collective.kind() != CollectiveKind::all_reduce) return "it makes All-Reduces";
  if (!is_one_group_of_all(problem)) return "it needs one group of all NPUs";
  if (problem.collective.chunk_sizes().size() != 1) return "it needs chunks of one size";
  if (topology.wires() != nullptr) return "it does not send over switches that cut through";
  if (topology.varies()) return "it needs bandwidths that do not vary";
  if (!problem.start_delays.empty()) return "its trees know no late NPUs";
  const auto able = able_switches(topology);
  if (able.empty()) return "it needs switches that add and copy";
  for (std::size_t v = topology.npus(); v < topology.vertices(); ++v)
    if (topology.switch_properties(VertexId::at(v)).buffer != kUnlimitedBuffer)
      return "it does not keep to the buffers of switches";
  if (most_sends(problem) > kMostSends) return "it takes up to 2^25 sends";
  const auto edges = edges_of(topology);
  if (!edges) return "it takes up to 2^20 ways over switches that only forward";
  TreeGrower grower(problem, *edges);
  grower.begin(1);
  if (!grower.reaches_all()) return "its trees do not reach all NPUs";
  return std::nullopt;
}

Result<Synthesis> synthesize_in_switch(const SynthesisProblem& problem) {
  if (auto reason = in_switch_unsuitable(problem))
    return input_error({}, "the engine `in_switch` cannot make this schedule", *std::move(reason),
                       "leave the engine to `auto`");
  const auto edges = edges_of(problem.topology);
  TreeGrower grower(problem, *edges);
  const bool early = any_passes_on_early(problem.topology);
  std::optional<Synthesis> best;
  for (const double share : kPathShares) {
    grower.begin(share);
    std::vector<SummingTree> trees;
    for (std::uint64_t t = 0; t < trees_of(problem); ++t) trees.push_back(*grower.grow());
    auto made = TreesInSwitches(problem, *edges, trees).play();
    if (early && made.schedule.sends() <= kMostEarlySends) {
      made.schedule = retime_early(problem, made.schedule, {}, true);
      made.time = last_arrival(problem, made.schedule);
    }
    if (!best || made.time < best->time) best = std::move(made);
  }
  return *std::move(best);
}

std::size_t in_switch_bytes(const SynthesisProblem& problem) {
  constexpr std::size_t kBytesPerSend = 110;  // ready, two events, itself, its schedule (measured: 97)
  constexpr std::size_t kBytesPerPlace = 64;  // of a vertex in a tree, with its children's list
  const std::size_t vertices = problem.topology.vertices();
  const std::uint64_t sends = most_sends(problem);
  const bool early = any_passes_on_early(problem.topology) && sends <= kMostEarlySends;
  return sends * kBytesPerSend + (early ? retime_early_bytes(sends) : 0) +
         (trees_of(problem) + 1) * vertices * kBytesPerPlace +
         problem.collective.chunks() * vertices * sizeof(std::uint32_t) + problem.topology.links() * 96;
}

Work in_switch_work(const SynthesisProblem& problem) {
  const auto roots = static_cast<double>(std::min(able_switches(problem.topology).size(), kMostRoots));
  const double weighings = kPathShares.size() * static_cast<double>(trees_of(problem)) * roots *
                           static_cast<double>(problem.topology.links());
  return Work(WorkUnit::weighed_link, weighings) +
         Work(WorkUnit::played_send, kPathShares.size() * static_cast<double>(most_sends(problem)));
}

}  // namespace tenex
