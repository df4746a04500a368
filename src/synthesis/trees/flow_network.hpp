// Maximum flows on a small network whose capacities change from flow to flow: what decides whether trees can be packed.
//
// Dinic, "Algorithm for solution of a problem of maximum flow in networks with power estimation" (1970): layers from
// the source, then paths from layer to layer, until none is left. The networks are small and dense, and edges between
// the same two nodes flow as one: so what is left between each pair of nodes stands in a table, with a bit for each
// pair that has something left, and a layer is found 64 nodes at a time. A flow takes back what it did to the table.
// (bound/densest_cut.cpp has flows into one vertex of a topology; here edges come and go.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace tenex {

/// More than any capacity.
inline constexpr std::int64_t kAnyFlow = std::numeric_limits<std::int64_t>::max() / 4;

/// Nodes 0 .. nodes-1 and directed edges. Sums of capacities other than kAnyFlow stay below kAnyFlow. Takes 16 bytes
/// for each pair of nodes.
class DenseFlowNetwork {
 public:
  explicit DenseFlowNetwork(std::size_t nodes) : nodes_(nodes) { make_room(nodes); }

  std::uint32_t add_node();
  /// Removes the last node and the edges that were added after it. O(edges removed).
  void remove_last_node();
  /// The number of the edge.
  std::uint32_t add_edge(std::uint32_t from, std::uint32_t to, std::int64_t capacity);
  void set_capacity(std::uint32_t edge, std::int64_t capacity);
  [[nodiscard]] std::int64_t capacity(std::uint32_t edge) const { return edges_[edge].capacity; }
  [[nodiscard]] std::size_t edges() const { return edges_.size(); }

  /// The maximum flow from `source` to `sink`, or `enough` if it is larger. O(nodes^2 * edges) at worst.
  [[nodiscard]] std::int64_t flow(std::uint32_t source, std::uint32_t sink, std::int64_t enough);

 private:
  struct Edge {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::int64_t capacity = 0;
  };

  /// Makes the tables large enough for so many nodes.
  void make_room(std::size_t nodes);
  [[nodiscard]] std::size_t pair(std::uint32_t from, std::uint32_t to) const { return from * side_ + to; }
  [[nodiscard]] std::uint64_t* open_from(std::uint32_t node) { return open_.data() + node * words_; }
  [[nodiscard]] std::uint64_t* layer(std::size_t number) { return layers_.data() + number * words_; }
  void change(std::uint32_t from, std::uint32_t to, std::int64_t left);
  /// Whether a path leads to the sink; then its layer has no other node.
  [[nodiscard]] bool find_layers(std::uint32_t source, std::uint32_t sink);
  std::int64_t push(std::uint32_t node, std::size_t depth, std::uint32_t sink, std::int64_t amount);

  std::size_t nodes_ = 0;
  std::size_t side_ = 0;   ///< nodes for which the tables have room
  std::size_t words_ = 0;  ///< of a row of bits
  std::vector<Edge> edges_;
  std::vector<std::size_t> edges_before_;  ///< per added node: the edges when it came
  std::vector<std::int64_t> room_;         ///< per pair: the capacity of its edges
  std::vector<std::int64_t> left_;         ///< per pair: as room_, but for a flow that is being found
  std::vector<std::uint64_t> open_;        ///< per pair: whether something is left
  std::vector<std::uint64_t> layers_;
  std::vector<std::uint64_t> unseen_;
  std::vector<std::uint64_t> touched_;  ///< pairs that the flow has changed, from << 32 | to
};

}  // namespace tenex
