// The program leaves out sends that come too late for the shortest routes to be beaten.
#include "synthesis/taccl/routing.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "tenex/base/graph/shortest_paths.hpp"
#include "tenex/topology/timing.hpp"

namespace tenex::taccl {
namespace {

/// Routes must be better by this share to count: less is lost in the solver's rounding.
constexpr double kLeastGain = 1e-6;
constexpr double kChosen = 0.5;
constexpr int kNoColumn = -1;

HopTime routed_hop(const Instance& instance, LinkId link, ChunkId chunk) {
  return hop_time(instance.topology.classes()[instance.topology.class_of(link)], instance.collective.chunk_bytes(chunk),
                  instance.occupancy);
}

bool takes(const Instance& instance, VertexId vertex, ChunkId chunk) {
  return instance.topology.is_npu(vertex) && instance.collective.must_hold(NpuId::at(vertex.index()), chunk);
}

/// Shortest paths of a chunk from its source.
struct Paths {
  using Cost = std::pair<SimTime, SimTime>;  ///< arrival, what the links carry
  std::vector<Cost> best;                    ///< by vertex
  std::vector<LinkId> last;                  ///< the link of the path's end, by vertex

  /// SimTime::max(): never.
  [[nodiscard]] SimTime arrival(std::size_t vertex) const { return best[vertex].first; }
};

/// Of paths that take equally long, those whose links carry less in all.
Paths shortest_paths(const Instance& instance, ChunkId chunk, const std::vector<SimTime>& load) {
  const Topology& topology = instance.topology;
  Paths paths{std::vector(topology.vertices(), Paths::Cost(SimTime::max(), SimTime::max())),
              std::vector(topology.vertices(), LinkId::none())};
  BestPaths<Paths::Cost> search(paths.best);
  search.reach(vertex_of(instance.collective.source(chunk)).value(), {SimTime::zero(), SimTime::zero()});
  while (const auto at = search.next())
    for (const LinkId link : topology.out_links(VertexId(at->vertex))) {
      const VertexId target = topology.target(link);
      const Paths::Cost cost(at->cost.first + routed_hop(instance, link, chunk).latency,
                             at->cost.second + load[link.index()]);
      if (search.reach(target.value(), cost)) paths.last[target.index()] = link;
    }
  return paths;
}

/// The links that lead to takers, from the source on, where `last` is the link into each vertex.
std::vector<LinkId> tree_of(const Instance& instance, ChunkId chunk, const std::vector<LinkId>& last) {
  const Topology& topology = instance.topology;
  std::vector<bool> known(topology.vertices());
  known[vertex_of(instance.collective.source(chunk)).index()] = true;
  std::vector<LinkId> tree;
  std::vector<LinkId> way;
  for (std::size_t npu = 0; npu < topology.npus(); ++npu) {
    if (!takes(instance, VertexId::at(npu), chunk)) continue;
    way.clear();
    for (std::size_t at = npu; !known[at]; at = topology.source(last[at]).index()) {
      way.push_back(last[at]);
      known[at] = true;
    }
    tree.insert(tree.end(), way.rbegin(), way.rend());
  }
  return tree;
}

/// The program of one problem, and what its columns mean.
class RoutingProgram {
 public:
  RoutingProgram(const Instance& instance, SimTime most)
      : instance_(instance), unit_(static_cast<double>(most.count())) {
    const std::vector<SimTime> no_load(instance.topology.links());
    time_ = program_.add_column(0, 1 - kLeastGain, 1);
    link_terms_.resize(instance.topology.links());
    for (std::size_t c = 0; c < instance.collective.chunks(); ++c)
      add_chunk(ChunkId::at(c), shortest_paths(instance, ChunkId::at(c), no_load));
    for (auto& terms : link_terms_) {
      if (terms.empty()) continue;
      terms.emplace_back(time_, -1.0);
      program_.add_row(terms, -LinearProgram::kUnbounded, 0);
    }
  }
  [[nodiscard]] const LinearProgram& program() const { return program_; }
  /// Whether a shortest path takes `most`, so that no program is needed.
  [[nodiscard]] bool too_late() const { return too_late_; }

  [[nodiscard]] Routes routes(const std::vector<double>& values) const {
    Routes routes;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      std::vector<LinkId> last(instance_.topology.vertices(), LinkId::none());
      for (std::size_t link = 0; link < columns_[c].size(); ++link) {
        const int column = columns_[c][link];
        if (column != kNoColumn && values[static_cast<std::size_t>(column)] > kChosen)
          last[instance_.topology.target(LinkId::at(link)).index()] = LinkId::at(link);
      }
      routes.push_back(tree_of(instance_, ChunkId::at(c), last));
    }
    return routes;
  }

 private:
  using Terms = std::vector<LinearProgram::Term>;

  [[nodiscard]] double scaled(SimTime time) const { return static_cast<double>(time.count()) / unit_; }

  void add_chunk(ChunkId chunk, const Paths& paths) {
    const Topology& topology = instance_.topology;
    auto& columns = columns_.emplace_back(topology.links(), kNoColumn);
    const VertexId source = vertex_of(instance_.collective.source(chunk));
    std::vector<Terms> in(topology.vertices());
    for (std::size_t i = 0; i < topology.links(); ++i) {
      const LinkId link = LinkId::at(i);
      const HopTime hop = routed_hop(instance_, link, chunk);
      const SimTime start = paths.arrival(topology.source(link).index());
      if (topology.target(link) == source || start == SimTime::max() || scaled(start + hop.latency) >= 1) continue;
      columns[i] = program_.add_column(0, 1, 0, true);
      link_terms_[i].emplace_back(columns[i], scaled(hop.busy));
      in[topology.target(link).index()].emplace_back(columns[i], 1.0);
    }
    std::vector<int> times(topology.vertices(), kNoColumn);
    for (std::size_t v = 0; v < topology.vertices(); ++v) {
      const bool must = takes(instance_, VertexId::at(v), chunk);
      if (VertexId::at(v) == source) continue;
      if (in[v].empty()) {
        too_late_ = too_late_ || must;
        continue;
      }
      program_.add_row(in[v], must ? 1 : 0, 1);
      times[v] = program_.add_column(scaled(paths.arrival(v)), 1);
      if (!must) continue;
      const std::array<LinearProgram::Term, 2> before{{{times[v], 1.0}, {time_, -1.0}}};
      program_.add_row(before, -LinearProgram::kUnbounded, 0);
    }
    add_arrivals(chunk, source, times, in);
  }

  /// A chunk leaves a vertex where it has arrived, and takes its latency.
  void add_arrivals(ChunkId chunk, VertexId source, const std::vector<int>& times, const std::vector<Terms>& in) {
    const Topology& topology = instance_.topology;
    for (std::size_t i = 0; i < topology.links(); ++i) {
      const int column = columns_.back()[i];
      if (column == kNoColumn) continue;
      const VertexId from = topology.source(LinkId::at(i));
      const double latency = scaled(routed_hop(instance_, LinkId::at(i), chunk).latency);
      const int arrival = times[topology.target(LinkId::at(i)).index()];
      if (from == source) {
        const std::array<LinearProgram::Term, 2> later{{{arrival, 1.0}, {column, -latency}}};
        program_.add_row(later, 0, LinearProgram::kUnbounded);
        continue;
      }
      // t[v] >= t[u] + latency where x = 1; without it, t[u] <= 1 says nothing.
      const std::array<LinearProgram::Term, 3> later{
          {{arrival, 1.0}, {times[from.index()], -1.0}, {column, -1 - latency}}};
      program_.add_row(later, -1, LinearProgram::kUnbounded);
      if (takes(instance_, from, chunk)) continue;
      Terms held = in[from.index()];
      held.emplace_back(column, -1.0);
      program_.add_row(held, 0, LinearProgram::kUnbounded);
    }
  }

  const Instance& instance_;
  double unit_;
  LinearProgram program_;
  int time_ = 0;
  bool too_late_ = false;
  std::vector<std::vector<int>> columns_;  ///< by chunk and link
  std::vector<Terms> link_terms_;          ///< how long a link is busy
};

}  // namespace

SimTime relaxed_time(const Instance& instance, const Routes& routes) {
  std::vector<SimTime> busy(instance.topology.links());
  std::vector<SimTime> arrival(instance.topology.vertices());
  SimTime time;
  for (std::size_t c = 0; c < routes.size(); ++c) {
    arrival[vertex_of(instance.collective.source(ChunkId::at(c))).index()] = SimTime::zero();
    for (const LinkId link : routes[c]) {
      const HopTime hop = routed_hop(instance, link, ChunkId::at(c));
      SimTime& at = arrival[instance.topology.target(link).index()];
      at = arrival[instance.topology.source(link).index()] + hop.latency;
      busy[link.index()] = busy[link.index()] + hop.busy;
      time = std::max({time, at, busy[link.index()]});
    }
  }
  return time;
}

std::optional<std::pair<NpuId, NpuId>> unreachable_npus(const Instance& instance) {
  const std::vector<SimTime> no_load(instance.topology.links());
  for (std::size_t c = 0; c < instance.collective.chunks(); ++c) {
    const ChunkId chunk = ChunkId::at(c);
    const Paths paths = shortest_paths(instance, chunk, no_load);
    for (std::size_t npu = 0; npu < instance.topology.npus(); ++npu)
      if (takes(instance, VertexId::at(npu), chunk) && paths.arrival(npu) == SimTime::max())
        return std::pair(instance.collective.source(chunk), NpuId::at(npu));
  }
  return std::nullopt;
}

Routes shortest_routes(const Instance& instance) {
  std::vector<SimTime> load(instance.topology.links());
  Routes routes;
  for (std::size_t c = 0; c < instance.collective.chunks(); ++c) {
    const ChunkId chunk = ChunkId::at(c);
    routes.push_back(tree_of(instance, chunk, shortest_paths(instance, chunk, load).last));
    for (const LinkId link : routes.back())
      load[link.index()] = load[link.index()] + routed_hop(instance, link, chunk).busy;
  }
  return routes;
}

std::size_t most_columns(const Instance& instance) {
  return instance.collective.chunks() * (instance.topology.links() + instance.topology.vertices());
}

Routing best_routing(const Instance& instance, SolverBudget& budget) {
  Routing best{.routes = shortest_routes(instance), .time = {}, .optimal = true, .by_solver = false};
  best.time = relaxed_time(instance, best.routes);
  if (best.time == SimTime::zero()) return best;
  const RoutingProgram program(instance, best.time);
  if (program.too_late()) return best;
  const SolveResult result = solve_mixed(program.program(), SolveGoal::least_cost, budget);
  best.optimal = result.status == SolveStatus::infeasible || result.optimal;
  if (result.status != SolveStatus::feasible) return best;
  Routes routes = program.routes(result.values);
  const SimTime time = relaxed_time(instance, routes);
  if (time >= best.time) return best;
  best.routes = std::move(routes);
  best.time = time;
  best.by_solver = true;
  return best;
}

}  // namespace tenex::taccl
