// Pairs of NPUs with links both ways, and spanning trees over them (link_graph.hpp).
#include "algorithm/link_graph.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "algorithm/seats.hpp"
#include "tenex/base/graph/least_first.hpp"

namespace tenex {
namespace {

/// The first link from one NPU to another; none() where there is none.
LinkId first_link(const Topology& topology, VertexId from, VertexId to) {
  for (const auto link : topology.out_links(from))
    if (topology.target(link) == to) return link;
  return LinkId::none();
}

bool joins_all(const LinkGraph& graph) {
  std::vector<bool> seen(graph.pairs_of.size(), false);
  std::vector<std::uint32_t> reached{0};
  seen[0] = true;
  for (std::size_t i = 0; i < reached.size(); ++i)
    for (const auto p : graph.pairs_of[reached[i]]) {
      const auto other = graph.pairs[p].a ^ graph.pairs[p].b ^ reached[i];
      if (seen[other]) continue;
      seen[other] = true;
      reached.push_back(other);
    }
  return reached.size() == graph.pairs_of.size();
}

}  // namespace

Result<LinkGraph> link_graph(std::string_view algorithm, const Topology& topology) {
  if (!topology.direct())
    return input_error({}, fmt::format("algorithm \"{}\" on a topology with switches", algorithm),
                       "its trees run over links between NPUs", "unwind the switches, or choose another algorithm");
  LinkGraph graph;
  graph.pairs_of.resize(topology.npus());
  for (std::uint32_t a = 0; a < topology.npus(); ++a)
    for (const auto link : topology.out_links(VertexId(a))) {
      const auto b = topology.target(link);
      if (b.value() < a || first_link(topology, VertexId(a), b) != link) continue;
      const auto back = first_link(topology, b, VertexId(a));
      if (!back.exists()) continue;
      const auto bandwidth = std::min(topology.bandwidth(link), topology.bandwidth(back));
      graph.pairs.push_back({a, b.value(), bandwidth, 0});
    }
  for (std::uint32_t p = 0; p < graph.pairs.size(); ++p) {
    graph.pairs_of[graph.pairs[p].a].push_back(p);
    graph.pairs_of[graph.pairs[p].b].push_back(p);
  }
  if (!joins_all(graph))
    return input_error({},
                       fmt::format("algorithm \"{}\" on {} NPUs that are not all joined by links both ways", algorithm,
                                   topology.npus()),
                       "its trees carry sums one way and results the other", "add the links back");
  return graph;
}

Status check_everyone(std::string_view algorithm, const Collective& collective) {
  if (Seats(collective).everyone()) return success();
  return input_error({},
                     fmt::format("algorithm \"{}\" for {} process groups on {} NPUs", algorithm,
                                 collective.groups().size(), collective.npus()),
                     "its trees span the topology: it is defined for one group of all NPUs in order of id",
                     "set groups to \"all\", or choose another algorithm");
}

Tree grow_tree(LinkGraph& graph, std::uint32_t root, PairCost cost) {
  struct Candidate {
    std::uint64_t cost;
    std::uint32_t depth;
    std::uint64_t found;
    std::uint32_t pair;
    std::uint32_t parent;
    [[nodiscard]] bool operator<(const Candidate& other) const {
      return std::tie(cost, depth, found) < std::tie(other.cost, other.depth, other.found);
    }
  };
  LeastFirst<Candidate> queue;
  std::vector<bool> in_tree(graph.pairs_of.size(), false);
  std::uint64_t found = 0;
  Tree tree{root, {}};
  const auto add = [&](std::uint32_t npu, std::uint32_t depth) {
    in_tree[npu] = true;
    for (const auto p : graph.pairs_of[npu]) queue.push({cost(graph.pairs[p], depth + 1), depth + 1, found++, p, npu});
  };
  add(root, 0);
  while (!queue.empty()) {
    const auto next = queue.pop();
    auto& pair = graph.pairs[next.pair];
    const auto child = pair.a ^ pair.b ^ next.parent;
    if (in_tree[child]) continue;
    ++pair.load;
    tree.edges.push_back({next.parent, child});
    add(child, next.depth);
  }
  return tree;
}

}  // namespace tenex
