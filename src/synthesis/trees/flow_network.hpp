// Maximum flows on a small network whose capacities change from flow to flow: what decides whether trees can be packed.
//
// Dinic, "Algorithm for solution of a problem of maximum flow in networks with power estimation" (1970): levels from
// the source, then paths that rise by one level, until none is left. (bound/densest_cut.cpp has flows into one vertex
// of a topology; here edges come and go.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace tenex {

/// More than any capacity.
inline constexpr std::int64_t kAnyFlow = std::numeric_limits<std::int64_t>::max() / 4;

/// Nodes 0 .. nodes-1 and directed edges. Sums of capacities other than kAnyFlow stay below kAnyFlow.
class FlowNetwork {
 public:
  explicit FlowNetwork(std::size_t nodes) : out_(nodes), level_(nodes), next_(nodes) {}

  std::uint32_t add_node();
  /// The number of the edge.
  std::uint32_t add_edge(std::uint32_t from, std::uint32_t to, std::int64_t capacity);
  void set_capacity(std::uint32_t edge, std::int64_t capacity) { capacity_[std::size_t{edge} * 2] = capacity; }
  [[nodiscard]] std::int64_t capacity(std::uint32_t edge) const { return capacity_[std::size_t{edge} * 2]; }
  [[nodiscard]] std::size_t edges() const { return capacity_.size() / 2; }

  /// The maximum flow from `source` to `sink`, or `enough` if it is larger. O(nodes^2 * edges) at worst.
  [[nodiscard]] std::int64_t flow(std::uint32_t source, std::uint32_t sink, std::int64_t enough);

 private:
  [[nodiscard]] bool find_levels(std::uint32_t source, std::uint32_t sink);
  std::int64_t push(std::uint32_t node, std::uint32_t sink, std::int64_t amount);

  std::vector<std::vector<std::uint32_t>> out_;  ///< arcs: edge * 2, and edge * 2 + 1 backward
  std::vector<std::uint32_t> target_;            ///< per arc
  std::vector<std::int64_t> capacity_;           ///< per arc; zero backward
  std::vector<std::int64_t> left_;               ///< per arc, during a flow
  std::vector<std::uint32_t> level_;
  std::vector<std::uint32_t> next_;
  std::vector<std::uint32_t> queue_;
};

}  // namespace tenex
