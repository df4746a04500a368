// The in-tree rule: a check of reductions that needs one bit per (NPU, chunk) instead of a set of contributions.
//
// Rule, for each chunk: everybody who has something of its sum (each member of the group; every relay that received a
// part) and is not its owner sends it exactly once, after all its receives; the owner never sends it. Switches that
// cannot add pass each arrival on exactly once; what a switch that adds but cannot copy has gathered between two sends
// counts as one.
//
// Proof that the owner's sum then holds each contribution exactly once: take who has something as vertices and the
// sends as edges. Each edge leads to a later instant than it starts, and each vertex sends after it received, so there
// is no cycle. Every vertex but the owner has exactly one out-edge, the owner none, so following edges from any member
// ends at the owner, along one path only: its contribution, which is in every sum on that path, reaches the owner once,
// before the last arrival there. No two sums that meet share a contribution, for it would have left some vertex twice.
// And no other sum is ever complete, as the owner's own contribution never leaves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "schedule/verifier/context.hpp"
#include "tenex/schedule/schedule.hpp"

namespace tenex::verifier {

/// The sum of a chunk at its owner.
struct OwnedSum {
  SimTime complete_at;      ///< the last arrival
  std::uint32_t parts = 0;  ///< how many partial sums arrive
};

/// What one pass over the sends has found.
struct InTreeReport {
  bool holds = false;
  std::vector<OwnedSum> sums;      ///< per chunk: the sum at its owner
  std::size_t relay_sums = 0;      ///< (vertex, chunk) pairs that had a sum without contributing, for memory plans
  std::size_t peak_in_flight = 0;  ///< most partial sums under way or waiting in switches at once, for memory plans
};

/// Replays the partial sums of `schedule`. O(sends log lanes) time, npus * chunks / 8 bytes.
[[nodiscard]] InTreeReport check_in_tree(const Context& context, const Schedule& schedule);

}  // namespace tenex::verifier
