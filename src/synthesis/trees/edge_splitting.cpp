#include "synthesis/trees/edge_splitting.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "tenex/base/graph/max_flow.hpp"

namespace tenex {
namespace {

/// Edges that the flows of all splits may look at. The built-in machines with switches of up to 64 NPUs take up to 1.4
/// million and fat_tree(4) 17 million; fat_tree(8), with 128 NPUs, would take more than 10^10.
constexpr std::uint64_t kMostSplitVisits = 100'000'000;

/// The network with capacities, a source that has the chunks of all roots, and a sink that joins vertices on demand.
class SplitNetwork {
 public:
  SplitNetwork(const Topology& topology, const RootChunks& roots)
      : topology_(topology),
        flow_(topology.vertices() + 2),
        source_(static_cast<std::uint32_t>(topology.vertices())),
        sink_(source_ + 1),
        total_(std::accumulate(roots.begin(), roots.end(), std::int64_t{0})),
        into_(topology.vertices()),
        out_of_(topology.vertices()) {
    for (std::uint32_t v = 0; v < topology.vertices(); ++v) {
      if (v < topology.npus()) flow_.add_edge(source_, v, roots[v]);
      begins_.push_back(flow_.add_edge(source_, v, 0));
      ends_.push_back(flow_.add_edge(v, sink_, 0));
      if (v < topology.npus()) order_.push_back(v);
    }
    for (std::size_t link = 0; link < topology.links(); ++link) add({LinkId::at(link)}, 0);
  }

  struct Edge {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::vector<LinkId> links;
    std::uint32_t flow_edge = 0;
  };

  [[nodiscard]] const std::vector<Edge>& edges() const { return edges_; }
  [[nodiscard]] std::int64_t capacity(std::uint32_t edge) const { return flow_.capacity(edges_[edge].flow_edge); }
  void set_capacity(std::uint32_t edge, std::int64_t chunks) { flow_.set_capacity(edges_[edge].flow_edge, chunks); }
  [[nodiscard]] const std::vector<std::uint32_t>& into(std::uint32_t vertex) const { return into_[vertex]; }
  [[nodiscard]] const std::vector<std::uint32_t>& out_of(std::uint32_t vertex) const { return out_of_[vertex]; }

  /// Whether flows have looked at more edges than they may.
  [[nodiscard]] bool gave_up() const { return visits_ > kMostSplitVisits; }

  /// Whether all chunks reach every NPU. NPUs that once were not reached are tried first.
  [[nodiscard]] bool suffices() {
    for (std::size_t i = 0; i < order_.size(); ++i) {
      if (flow(order_[i], total_) >= total_) continue;
      std::rotate(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(i),
                  order_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      return false;
    }
    return true;
  }

  /// Turns `chunks` of two edges that meet into one edge.
  void split(std::uint32_t first, std::uint32_t second, std::int64_t chunks) {
    set_capacity(first, capacity(first) - chunks);
    set_capacity(second, capacity(second) - chunks);
    auto links = edges_[first].links;
    links.insert(links.end(), edges_[second].links.begin(), edges_[second].links.end());
    const auto found = by_links_.find(links);
    const std::uint32_t joined = found != by_links_.end() ? found->second : add(std::move(links), 0);
    set_capacity(joined, capacity(joined) + chunks);
  }

  /// How many chunks of two edges, from u to a switch and on to t, can be split off, at most `most`. Splitting lowers
  /// what leaves the sets with the switch and without u and t, and those with u and t and without the switch.
  [[nodiscard]] std::int64_t most_to_split(std::uint32_t first, std::uint32_t second, std::int64_t most) {
    const std::uint32_t u = edges_[first].from;
    const std::uint32_t hub = edges_[first].to;
    const std::uint32_t t = edges_[second].to;
    const auto is_npu = [&](std::uint32_t vertex) { return vertex < topology_.npus(); };
    set_ends(begins_, {hub}, kAnyFlow);
    set_ends(ends_, {u, t}, kAnyFlow);
    most = is_npu(u) || is_npu(t) ? least_excess(most) : least_excess_without_each(most, {});
    set_ends(begins_, {hub}, 0);
    set_ends(ends_, {u, t}, 0);
    set_ends(begins_, {u, t}, kAnyFlow);
    set_ends(ends_, {hub}, kAnyFlow);
    most = least_excess_without_each(most, {u, t});
    set_ends(begins_, {u, t}, 0);
    set_ends(ends_, {hub}, 0);
    return most;
  }

 private:
  [[nodiscard]] std::int64_t flow(std::uint32_t sink, std::int64_t enough) {
    visits_ += edges_.size();
    return flow_.flow(source_, sink, enough);
  }
  std::uint32_t add(std::vector<LinkId> links, std::int64_t chunks) {
    const auto number = static_cast<std::uint32_t>(edges_.size());
    const std::uint32_t from = topology_.source(links.front()).value();
    const std::uint32_t to = topology_.target(links.back()).value();
    by_links_.emplace(links, number);
    edges_.push_back({from, to, std::move(links), flow_.add_edge(from, to, chunks)});
    into_[to].push_back(number);
    out_of_[from].push_back(number);
    return number;
  }
  void set_ends(const std::vector<std::uint32_t>& of, std::initializer_list<std::uint32_t> vertices,
                std::int64_t capacity) {
    for (const std::uint32_t vertex : vertices) flow_.set_capacity(of[vertex], capacity);
  }
  [[nodiscard]] std::int64_t least_excess(std::int64_t most) {
    return most == 0 ? 0 : std::min(most, flow(sink_, total_ + most) - total_);
  }
  /// The same where one NPU after another, but for `inside`, is on the sink's side.
  [[nodiscard]] std::int64_t least_excess_without_each(std::int64_t most, std::initializer_list<std::uint32_t> inside) {
    for (std::size_t i = 0; i < order_.size() && most > 0; ++i) {
      const std::uint32_t npu = order_[i];
      if (std::find(inside.begin(), inside.end(), npu) != inside.end()) continue;
      flow_.set_capacity(ends_[npu], kAnyFlow);
      const std::int64_t left = least_excess(most);
      flow_.set_capacity(ends_[npu], 0);
      if (left < most)  // it is likely to be the tightest again
        std::rotate(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(i),
                    order_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      most = left;
    }
    return most;
  }

  const Topology& topology_;
  FlowNetwork flow_;
  std::uint32_t source_;
  std::uint32_t sink_;
  std::int64_t total_;
  std::vector<Edge> edges_;
  std::vector<std::vector<std::uint32_t>> into_;
  std::vector<std::vector<std::uint32_t>> out_of_;
  std::map<std::vector<LinkId>, std::uint32_t> by_links_;
  std::vector<std::uint32_t> begins_;  ///< per vertex: the edge from the source, zero but during a search
  std::vector<std::uint32_t> ends_;    ///< per vertex: the edge to the sink
  std::vector<std::uint32_t> order_;   ///< of NPUs in checks
  std::uint64_t visits_ = 0;           ///< of edges by flows, each counted as if it looked at all
};

void set_capacities(SplitNetwork& split, const TreeNetwork& network, const LinkIdleTimes& room, SimTime time) {
  for (std::uint32_t link = 0; link < network.topology().links(); ++link) {
    const SimTime left = room.empty() ? time : std::max(SimTime::zero(), time - room[link]);
    split.set_capacity(link, left / network.hop(LinkId(link)).busy);
  }
}

/// Splits every pair of a switch's edges in proportion to both, all at once; takes it back where that keeps too little.
void split_evenly(SplitNetwork& split, std::uint32_t hub) {
  const auto into = split.into(hub);
  const auto out_of = split.out_of(hub);
  std::vector<std::int64_t> before;
  for (std::uint32_t edge = 0; edge < split.edges().size(); ++edge) before.push_back(split.capacity(edge));
  std::int64_t out_in_all = 0;
  for (const std::uint32_t second : out_of) out_in_all += before[second];
  for (const std::uint32_t first : into) {
    std::int64_t others = out_in_all;  // out of the switch, but for the way back
    for (const std::uint32_t second : out_of)
      if (split.edges()[second].to == split.edges()[first].from) others -= before[second];
    for (const std::uint32_t second : out_of) {
      if (split.edges()[second].to == split.edges()[first].from || others == 0) continue;
      __extension__ using Wide = __int128;
      const auto share = static_cast<std::int64_t>(static_cast<Wide>(before[first]) * before[second] / others);
      const std::int64_t chunks = std::min({share, split.capacity(first), split.capacity(second)});
      if (chunks > 0) split.split(first, second, chunks);
    }
  }
  if (split.suffices()) return;
  for (std::uint32_t edge = 0; edge < split.edges().size(); ++edge)
    split.set_capacity(edge, edge < before.size() ? before[edge] : 0);
}

/// Splits pair by pair, as much as can be, and drops the rest.
void split_pairs(SplitNetwork& split, std::uint32_t hub) {
  const auto into = split.into(hub);
  const auto out_of = split.out_of(hub);
  for (std::size_t i = 0; i < into.size(); ++i)
    for (std::size_t j = 0; j < out_of.size(); ++j) {
      const std::uint32_t first = into[i];
      const std::uint32_t second = out_of[(i + 1 + j) % out_of.size()];
      if (split.edges()[first].from == split.edges()[second].to) continue;
      const std::int64_t most = std::min(split.capacity(first), split.capacity(second));
      if (most == 0) continue;
      if (split.gave_up()) return;
      const std::int64_t chunks = split.most_to_split(first, second, most);
      if (chunks > 0) split.split(first, second, chunks);
    }
  for (const auto* edges : {&into, &out_of})
    for (const std::uint32_t edge : *edges) split.set_capacity(edge, 0);
}

}  // namespace

SimTime least_rate_time(const TreeNetwork& network, const RootChunks& roots, const LinkIdleTimes& room) {
  SplitNetwork split(network.topology(), roots);
  const auto suffices_in = [&](SimTime time) {
    set_capacities(split, network, room, time);
    return split.suffices();
  };
  SimTime enough = SimTime::zero();
  for (std::size_t link = 0; link < network.topology().links(); ++link)
    enough = std::max(enough, network.hop(LinkId::at(link)).busy);
  SimTime too_little = SimTime::zero();
  while (!suffices_in(enough)) {
    too_little = enough;
    enough = enough * 2;
  }
  while (enough - too_little > picoseconds(1)) {
    const SimTime middle = too_little + (enough - too_little) / 2;
    (suffices_in(middle) ? enough : too_little) = middle;
  }
  return enough;
}

SwitchSplit split_switches(TreeNetwork& network, const RootChunks& roots, const LinkIdleTimes& room, SimTime time) {
  const Topology& topology = network.topology();
  SplitNetwork split(topology, roots);
  set_capacities(split, network, room, time);
  for (auto hub = static_cast<std::uint32_t>(topology.npus()); hub < topology.vertices(); ++hub) {
    split_evenly(split, hub);
    split_pairs(split, hub);
    if (split.gave_up()) return {.edges = std::nullopt, .gave_up = true};
  }
  if (!split.suffices()) return {};
  std::vector<CapacityEdge> edges;
  for (std::uint32_t edge = 0; edge < split.edges().size(); ++edge)
    if (split.capacity(edge) > 0) edges.push_back({network.way_over(split.edges()[edge].links), split.capacity(edge)});
  return {.edges = std::move(edges), .gave_up = false};
}

}  // namespace tenex
