// Best paths against Bellman and Ford's: every link, as often as there are vertices.
#include "tenex/base/graph/shortest_paths.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

namespace tenex {
namespace {

struct Arc {
  std::uint32_t from;
  std::uint32_t to;
  std::uint32_t length;
};

struct Graph {
  std::uint32_t vertices;
  std::vector<Arc> arcs;
};

Graph random_graph() {
  Graph graph{*rc::gen::inRange<std::uint32_t>(1, 9), {}};
  const auto vertex = [&] { return *rc::gen::inRange<std::uint32_t>(0, graph.vertices); };
  for (int arcs = *rc::gen::inRange(0, 30); arcs > 0; --arcs)
    graph.arcs.push_back({vertex(), vertex(), *rc::gen::inRange<std::uint32_t>(0, 5)});
  return graph;
}

/// Searches a graph from `sources`; `on(cost, arc)` is the cost of a way on. Returns the vertices as they are settled.
template <class Cost, class Better, class On>
std::vector<std::uint32_t> search(BestPaths<Cost, Better>& paths, const Graph& graph,
                                  const std::vector<std::pair<std::uint32_t, Cost>>& sources, On on) {
  std::vector<std::uint32_t> settled;
  for (const auto& [vertex, cost] : sources) paths.reach(vertex, cost);
  while (const auto at = paths.next()) {
    settled.push_back(at->vertex);
    for (const Arc& arc : graph.arcs)
      if (arc.from == at->vertex) paths.reach(arc.to, on(at->cost, arc));
  }
  return settled;
}

/// The same costs, one arc after another until nothing changes.
template <class Cost, class Better, class On>
std::vector<Cost> relaxed(const Graph& graph, Cost worst, const std::vector<std::pair<std::uint32_t, Cost>>& sources,
                          Better better, On on) {
  std::vector<Cost> known(graph.vertices, worst);
  for (const auto& [vertex, cost] : sources)
    if (better(cost, known[vertex])) known[vertex] = cost;
  for (std::uint32_t round = 0; round < graph.vertices; ++round)
    for (const Arc& arc : graph.arcs)
      if (known[arc.from] != worst && better(on(known[arc.from], arc), known[arc.to]))
        known[arc.to] = on(known[arc.from], arc);
  return known;
}

// 0 -> 1 takes 2, 0 -> 2 -> 1 too, and 0 -> 2 -> 3 takes 1 + 1: of 1 and 3, which are equally far, 1 is settled first,
// and its first path stays.
TEST(BestPaths, SettlesEqualsByNumberAndKeepsTheFirstOfEqualPaths) {
  std::vector<std::uint32_t> known(5, 99);
  BestPaths<std::uint32_t> paths(known);
  EXPECT_TRUE(paths.reach(0, 0));
  EXPECT_FALSE(paths.reach(0, 0));
  EXPECT_EQ(paths.next()->vertex, 0U);
  EXPECT_TRUE(paths.reach(3, 3));
  EXPECT_TRUE(paths.reach(1, 2));
  EXPECT_TRUE(paths.reach(2, 1));
  EXPECT_EQ(paths.next()->vertex, 2U);
  EXPECT_FALSE(paths.reach(1, 2));
  EXPECT_TRUE(paths.reach(3, 2));
  const auto first = paths.next();
  EXPECT_EQ(std::pair(first->vertex, first->cost), std::pair(1U, 2U));
  EXPECT_EQ(paths.next()->vertex, 3U);
  EXPECT_FALSE(paths.next());  // the older path to 3 is passed over
  EXPECT_EQ(known, (std::vector<std::uint32_t>{0, 2, 1, 2, 99}));
}

RC_GTEST_PROP(BestPaths, AreThoseOfBellmanAndFord, ()) {
  const auto graph = random_graph();
  const auto sum = [](std::uint32_t cost, const Arc& arc) { return cost + arc.length; };
  std::vector<std::pair<std::uint32_t, std::uint32_t>> sources;
  for (int count = *rc::gen::inRange(1, 4); count > 0; --count)
    sources.emplace_back(*rc::gen::inRange<std::uint32_t>(0, graph.vertices), *rc::gen::inRange<std::uint32_t>(0, 4));
  constexpr std::uint32_t worst = 1000;
  const auto expected = relaxed(graph, worst, sources, std::less<>(), sum);
  std::vector<std::uint32_t> known(graph.vertices, worst);
  BestPaths<std::uint32_t> paths(known);
  const auto settled = search(paths, graph, sources, sum);
  RC_ASSERT(known == expected);
  std::vector<std::uint32_t> order;
  for (std::uint32_t v = 0; v < graph.vertices; ++v)
    if (expected[v] != worst) order.push_back(v);
  RC_ASSERT(settled.size() == order.size());
  for (std::size_t i = 1; i < settled.size(); ++i) RC_ASSERT(expected[settled[i - 1]] <= expected[settled[i]]);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t v) { return expected[v]; });
  const bool any_zero = std::ranges::any_of(graph.arcs, [](const Arc& arc) { return arc.length == 0; });
  RC_ASSERT(any_zero || settled == order);  // what costs nothing comes after the vertex that leads to it
  known.assign(graph.vertices, worst);
  paths.begin(known);
  RC_ASSERT(search(paths, graph, sources, sum) == settled);
}

RC_GTEST_PROP(BestPaths, MayBeTheWidestOnesOrCompareByTwoSums, ()) {
  const auto graph = random_graph();
  const auto source = *rc::gen::inRange<std::uint32_t>(0, graph.vertices);
  const auto narrowest = [](int width, const Arc& arc) { return std::min(width, static_cast<int>(arc.length)); };
  std::vector<int> width(graph.vertices, -1);
  BestPaths<int, std::greater<>> widest(width);
  const std::vector<std::pair<std::uint32_t, int>> wide{{source, 9}};
  (void)search(widest, graph, wide, narrowest);
  RC_ASSERT(width == relaxed(graph, -1, wide, std::greater<>(), narrowest));

  using Two = std::pair<std::uint32_t, std::uint32_t>;  ///< length, arcs
  const auto both = [](const Two& cost, const Arc& arc) { return Two(cost.first + arc.length, cost.second + 1); };
  const Two worst(1000, 1000);
  std::vector<Two> cost(graph.vertices, worst);
  BestPaths<Two> least(cost);
  const std::vector<std::pair<std::uint32_t, Two>> from{{source, Two(0, 0)}};
  (void)search(least, graph, from, both);
  RC_ASSERT(cost == relaxed(graph, worst, from, std::less<>(), both));
}

RC_GTEST_PROP(LeastFirst, SortsWhatItHolds, ()) {
  LeastFirst<std::pair<int, int>> heap;
  std::vector<std::pair<int, int>> held;
  for (int step = 0; step < 60; ++step) {
    if (*rc::gen::inRange(0, 3) > 0) {
      held.emplace_back(*rc::gen::inRange(0, 10), step);
      heap.push(held.back());
    } else if (!held.empty()) {
      const auto least = std::ranges::min_element(held);
      RC_ASSERT(heap.top() == *least);
      RC_ASSERT(heap.pop() == *least);
      held.erase(least);
    }
    RC_ASSERT(heap.empty() == held.empty());
  }
}

}  // namespace
}  // namespace tenex
