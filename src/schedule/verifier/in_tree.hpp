// The in-tree rule: a check of reductions that needs one bit per (NPU, chunk) instead of a set of contributions.
//
// Rule, for each chunk: there is a root, a member of the group, that never sends its part of the sum; everybody else
// who has something of it (each other member; every relay that received a part) sends it exactly once, after all its
// receives. Switches that cannot add pass each arrival on exactly once; what a switch that adds but cannot copy has
// gathered between two sends counts as one. In a Reduce or a Reduce-Scatter the root is the chunk's owner. In an
// All-Reduce any member may be: nobody is told where a sum must become complete, only that all have it in the end.
//
// Proof that the root's sum then holds each contribution exactly once: take who has something as vertices and the
// sends as edges. Each edge leads to a later instant than it starts, and each vertex sends after it received, so there
// is no cycle. Every vertex but the root has exactly one out-edge, the root none, so following edges from any member
// ends at the root, along one path only: its contribution, which is in every sum on that path, reaches the root once,
// before the last arrival there. No two sums that meet share a contribution, for it would have left some vertex twice.
// And no other sum is ever complete, as the root's own contribution never leaves: copies can only begin at the root.
//
// Which member an All-Reduce's root is need not be known for sure: where all but one send once, the exclusive or of all
// ranks and of those of the senders is the rank of the one. The rule is then checked against that guess, and a wrong
// guess breaks it: a root that sends does, and so does a member, not the root, that does not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "schedule/verifier/context.hpp"
#include "tenex/schedule/schedule.hpp"

namespace tenex::verifier {

/// The sum of a chunk at its root.
struct RootedSum {
  SimTime complete_at;  ///< the last arrival
  NpuId root;
  std::uint32_t parts = 0;  ///< how many partial sums arrive
};

/// What one pass over the sends has found.
struct InTreeReport {
  bool holds = false;
  std::vector<RootedSum> sums;     ///< per chunk
  std::size_t relay_sums = 0;      ///< (vertex, chunk) pairs that had a sum without contributing, for memory plans
  std::size_t peak_in_flight = 0;  ///< most partial sums under way or waiting in switches at once, for memory plans
};

/// Replays the partial sums of `schedule`. O(sends log lanes) time, npus * chunks / 8 bytes and 16 per chunk.
[[nodiscard]] InTreeReport check_in_tree(const Context& context, const Schedule& schedule);

}  // namespace tenex::verifier
