// Node-exclusive leases: points that need more memory than a rank's share wait until their node has nothing else to do.
//
// The ranks of a node (MPI_Comm_split_type) have equal shares of its memory. A rank's concurrent points fit in its
// share, so those of the node fit in its memory. A point beyond the smallest share is evaluated by one rank while the
// others of its node get no leases. These points come first, the longest first: a node that can take one of them gets
// no other lease before it, so a large point never waits for the node to be idle by chance. A point beyond every node's
// memory goes to the node with the most, and the evaluation there says how much the point needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "coordinator/lease_queue.hpp"

namespace tenex {

/// The node of each rank, and the memory that it may use while others of the node run.
struct NodeMap {
  std::vector<std::uint32_t> node_of_rank;
  std::vector<std::size_t> share_of_rank;  ///< bytes
};

/// A point and its expected bytes.
struct LargePoint {
  PointCost cost;
  std::size_t bytes = 0;
};

/// Not thread-safe.
class NodeLeases {
 public:
  /// The seconds that a point is expected to take on a rank that has nothing else to do.
  using Duration = std::function<double(const PointCost&)>;

  /// Lease numbers count up from 2^62 + `first_id`, so that they differ from those of the queue. O(points log points).
  NodeLeases(NodeMap map, std::vector<LargePoint> points, Duration duration, std::uint64_t first_id = 0);

  /// Whether a point with this many bytes belongs here: it exceeds the smallest share, and some node has several ranks.
  [[nodiscard]] bool is_large(std::size_t bytes) const { return several_ranks_ && bytes > smallest_share_; }

  /// Takes a point that came back, or that was not known before.
  void put_back(const LargePoint& point, bool suspect);

  /// Whether this rank must get no other lease now, because its node waits for a large point or runs one. O(points
  /// waiting).
  [[nodiscard]] bool holds_back(std::size_t rank) const;
  /// A lease for this rank, which has nothing at hand; `idle(r)` tells whether rank r has nothing at hand either.
  /// Points that would take longer than `time_left` are not leased.
  [[nodiscard]] std::optional<Lease> next(std::size_t rank, const std::function<bool(std::size_t)>& idle,
                                          double time_left = LeaseQueue::no_time_limit);
  /// Whether the lease is one of these; if so, it is done now. O(nodes).
  bool finish(std::uint64_t lease);
  /// The rank is dead. Its node is free again when the rank's large point has been put back.
  void lose(std::size_t rank);
  /// Takes out points that would take longer than `time_left` seconds; returns their number.
  std::size_t withdraw(double time_left);

  [[nodiscard]] bool empty() const { return waiting_.empty(); }
  [[nodiscard]] std::size_t waiting_points() const { return waiting_.size(); }
  [[nodiscard]] std::size_t leases_out() const;

 private:
  struct Waiting {
    LargePoint point;
    bool suspect = false;
  };
  struct Node {
    std::size_t memory = 0;
    std::optional<std::size_t> busy_rank;
    std::uint64_t lease = 0;
  };
  [[nodiscard]] bool fits(const LargePoint& point, const Node& node) const;
  [[nodiscard]] bool has_live_ranks(std::uint32_t node) const;
  void sort();

  NodeMap map_;
  std::vector<Waiting> waiting_;  ///< longest first
  std::vector<Node> nodes_;
  std::vector<bool> lost_;
  std::size_t smallest_share_ = 0;
  std::size_t largest_memory_ = 0;  ///< of nodes with a live rank
  bool several_ranks_ = false;
  Duration duration_;
  std::uint64_t next_id_;
};

}  // namespace tenex
