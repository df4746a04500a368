// Node-exclusive leases: points that need more memory than a rank's share wait until their node has nothing else to do.
//
// The ranks of a node (MPI_Comm_split_type) have equal shares of its memory, and a rank's concurrent points fit in its
// share, so those of the node fit in its memory. A point beyond the smallest share is evaluated by one rank while the
// others of its node hold back. These points come first, the longest first: a node that can take one of them gets no
// other lease until it has had it, so a large point never waits for a moment that does not come. A point beyond every
// node goes to the node with most memory, whose evaluation says what it needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "coordinator/lease_queue.hpp"

namespace tenex {

/// Which rank runs where, and how much it may use when it is not alone.
struct NodeMap {
  std::vector<std::uint32_t> node_of_rank;
  std::vector<std::size_t> share_of_rank;  ///< bytes
};

/// A point with the bytes that it is expected to need.
struct LargePoint {
  PointCost cost;
  std::size_t bytes = 0;
};

/// Not thread-safe.
class NodeLeases {
 public:
  /// How many seconds a point is expected to take on a rank that has nothing else to do.
  using Duration = std::function<double(const PointCost&)>;

  /// Lease numbers count up from 2^62, apart from those of the queue. O(points log points).
  NodeLeases(NodeMap map, std::vector<LargePoint> points, Duration duration);

  /// Whether a point of so many bytes belongs here: it exceeds the smallest share, and some node has several ranks.
  [[nodiscard]] bool is_large(std::size_t bytes) const { return several_ranks_ && bytes > smallest_share_; }

  /// Takes a point that came back, or was not known before.
  void put_back(const LargePoint& point, bool suspect);

  /// Whether this rank must get no other lease now: its node waits for, or runs, a large point. O(points waiting).
  [[nodiscard]] bool holds_back(std::size_t rank) const;
  /// A lease for this rank, which has nothing at hand; `idle(r)` tells whether rank r has nothing at hand either. Of
  /// points that would take longer than `time_left` none.
  [[nodiscard]] std::optional<Lease> next(std::size_t rank, const std::function<bool(std::size_t)>& idle,
                                          double time_left = LeaseQueue::no_time_limit);
  /// Whether the lease was one of these, which is done now. O(nodes).
  bool finish(std::uint64_t lease);
  /// The rank is dead. Its node is free again once a point that it had has been put back.
  void lose(std::size_t rank);
  /// Takes out what would take longer than `time_left` seconds; how many.
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
  std::uint64_t next_id_ = std::uint64_t{1} << 62U;
};

}  // namespace tenex
