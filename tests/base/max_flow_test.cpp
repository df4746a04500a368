// Maximum flows against minimum cuts, cut by cut, and against flows found one path at a time.
#include "tenex/base/graph/max_flow.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <numeric>
#include <vector>

namespace tenex {
namespace {

// 0 -> 1 -> 3 carries 2, 0 -> 2 -> 3 carries 3, and 1 -> 2 lets one more through: 4 arrive, and 2 are enough if asked.
TEST(FlowNetwork, CountsFlows) {
  FlowNetwork flow(4);
  flow.add_edge(0, 1, 3);
  const auto last = flow.add_edge(1, 3, 1);
  flow.add_edge(0, 2, 2);
  flow.add_edge(2, 3, 4);
  flow.add_edge(1, 2, 1);
  EXPECT_EQ(flow.flow(0, 3, kAnyFlow), 4);
  EXPECT_EQ(flow.flow(0, 3, 2), 2);
  flow.set_capacity(last, 0);
  EXPECT_EQ(flow.flow(0, 3, kAnyFlow), 3);
}

// 0 -> 1 -> 2 -> 3 with 5, 2 and 2: {0, 1} and {0, 1, 2} are minimum cuts. With 9 in the middle only the latter is.
TEST(FlowNetwork, TellsTheSmallestMinimumCut) {
  FlowNetwork flow(4);
  flow.add_edge(0, 1, 5);
  const auto middle = flow.add_edge(1, 2, 2);
  flow.add_edge(2, 3, 2);
  std::uint64_t work = 1000;
  ASSERT_TRUE(flow.find_cut(0, 3, work));
  EXPECT_TRUE(flow.is_met(1));
  EXPECT_FALSE(flow.is_met(2));
  flow.set_capacity(middle, 9);
  ASSERT_TRUE(flow.find_cut(0, 3, work));
  EXPECT_TRUE(flow.is_met(2));
  EXPECT_FALSE(flow.is_met(3));
  work = 6;  // arcs of a single round
  EXPECT_FALSE(flow.find_cut(0, 3, work));
  EXPECT_EQ(work, 0U);
}

using Edge = std::array<std::int64_t, 3>;  ///< from, to, capacity

std::int64_t across(const std::vector<Edge>& edges, std::uint32_t side) {
  std::int64_t sum = 0;
  for (const auto& [from, to, capacity] : edges)
    if ((side >> from & 1U) != 0 && (side >> to & 1U) == 0) sum += capacity;
  return sum;
}

/// The least capacity of all cuts between two of `nodes` nodes, cut by cut; `smallest` gets the nodes that all minimum
/// cuts have, which are a minimum cut.
std::int64_t least_cut(const std::vector<Edge>& edges, std::uint32_t nodes, std::uint32_t source, std::uint32_t sink,
                       std::uint32_t& smallest) {
  std::int64_t least = kAnyFlow;
  for (std::uint32_t side = 0; side < std::uint32_t{1} << nodes; ++side) {
    if ((side >> source & 1U) == 0 || (side >> sink & 1U) != 0) continue;
    const auto its = across(edges, side);
    smallest = its < least ? side : its == least ? smallest & side : smallest;
    least = std::min(least, its);
  }
  return least;
}

RC_GTEST_PROP(FlowNetwork, FlowsAsMuchAsTheLeastCut, ()) {
  std::uint32_t nodes = *rc::gen::inRange<std::uint32_t>(2, 7);
  FlowNetwork flow(nodes);
  std::vector<Edge> edges;
  std::vector<std::size_t> edges_before;  // per added node
  const auto any_node = [&] { return *rc::gen::inRange<std::uint32_t>(0, nodes); };
  for (int step = *rc::gen::inRange(1, 40); step > 0; --step) {
    const int what = *rc::gen::inRange(0, 10);
    const std::int64_t capacity = *rc::gen::inRange(0, 6);
    if (what == 0 && nodes < 9) {
      edges_before.push_back(edges.size());
      RC_ASSERT(flow.add_node() == nodes++);
    } else if (what == 1 && !edges_before.empty()) {
      flow.remove_last_node();
      edges.resize(edges_before.back());
      edges_before.pop_back();
      --nodes;
    } else if (what == 2 && !edges.empty()) {
      const auto edge = *rc::gen::inRange<std::uint32_t>(0, static_cast<std::uint32_t>(edges.size()));
      flow.set_capacity(edge, capacity);
      edges[edge][2] = capacity;
    } else if (const auto from = any_node(), to = any_node(); what < 8 && from != to) {
      RC_ASSERT(flow.add_edge(from, to, capacity) == edges.size());
      edges.push_back({from, to, capacity});
    } else if (from != to) {
      std::uint32_t smallest = 0;
      const auto least = least_cut(edges, nodes, from, to, smallest);
      RC_ASSERT(flow.flow(from, to, kAnyFlow) == least);
      RC_ASSERT(flow.flow(from, to, 3) == std::min<std::int64_t>(3, least));
      std::uint64_t work = 1'000'000;
      RC_ASSERT(flow.find_cut(from, to, work));
      for (std::uint32_t node = 0; node < nodes; ++node) RC_ASSERT(flow.is_met(node) == ((smallest >> node & 1U) != 0));
    }
  }
}

/// A network of its own for a FlowSearch: a matrix, and several vertices that take some.
struct Matrix {
  using Way = std::uint32_t;  ///< from * size + to
  static constexpr bool kOneGoal = false;
  std::uint32_t size;
  std::vector<std::int64_t> left;  ///< per way
  std::vector<std::int64_t> room;  ///< per vertex

  [[nodiscard]] std::vector<Way> ways(std::uint32_t vertex) const {
    std::vector<Way> all(size);
    std::iota(all.begin(), all.end(), vertex * size);
    return all;
  }
  [[nodiscard]] std::uint32_t end(Way way) const { return way % size; }
  [[nodiscard]] std::int64_t residual(Way way) const { return left[way]; }
  [[nodiscard]] std::int64_t takes(std::uint32_t vertex) const { return room[vertex]; }
  void push(Way way, std::int64_t amount) {
    left[way] -= amount;
    left[way % size * size + way / size] += amount;
  }
  void take(std::uint32_t vertex, std::int64_t amount) { room[vertex] -= amount; }
  static bool visit(std::size_t /*ways*/) { return true; }
};

/// Ford and Fulkerson: one unit over any path, until there is none.
std::int64_t flow_unit_by_unit(Matrix network, std::uint32_t start) {
  for (std::int64_t flow = 0;; ++flow) {
    std::vector<std::uint32_t> before(network.size, network.size);
    std::vector<std::uint32_t> open{start};
    std::uint32_t goal = network.size;
    before[start] = start;
    while (!open.empty() && goal == network.size) {
      const auto vertex = open.back();
      open.pop_back();
      if (network.room[vertex] > 0) goal = vertex;
      for (std::uint32_t next = 0; next < network.size; ++next) {
        if (before[next] != network.size || network.left[vertex * network.size + next] == 0) continue;
        before[next] = vertex;
        open.push_back(next);
      }
    }
    if (goal == network.size) return flow;
    network.take(goal, 1);
    for (auto vertex = goal; vertex != start; vertex = before[vertex])
      network.push(before[vertex] * network.size + vertex, 1);
  }
}

RC_GTEST_PROP(FlowSearch, EndsAtSeveralVertices, ()) {
  Matrix network{*rc::gen::inRange<std::uint32_t>(2, 8), {}, {}};
  const auto start = *rc::gen::inRange<std::uint32_t>(0, network.size);
  for (std::uint32_t way = 0; way < network.size * network.size; ++way)
    network.left.push_back(way % network.size == way / network.size ? 0 : *rc::gen::inRange(-6, 6));
  for (auto& left : network.left) left = std::max<std::int64_t>(0, left);
  for (std::uint32_t v = 0; v < network.size; ++v)
    network.room.push_back(v == start ? 0 : std::max<std::int64_t>(0, *rc::gen::inRange(-6, 9)));
  const auto most = flow_unit_by_unit(network, start);
  FlowSearch<Matrix::Way> search;
  search.begin(start, network.size);
  std::int64_t flow = 0;
  while (search.find_levels(network)) flow += search.push(network, kAnyFlow);
  RC_ASSERT(flow == most);
  for (std::uint32_t v = 0; v < network.size; ++v) RC_ASSERT(!search.is_met(v) || network.room[v] == 0);
}

}  // namespace
}  // namespace tenex
