// The in-tree rule: a check of reductions that needs one bit per (NPU, chunk) instead of a set of contributions.
//
// Rule, for each chunk: there is a root, a member of the group, that never sends its part of the sum. Each other vertex
// that has a part of it (every other member; every relay that received a part) sends it exactly once, after all its
// receives. Switches that cannot add pass each arrival on exactly once; what a switch that adds but cannot copy has
// gathered between two sends counts as one. In a Reduce or a Reduce-Scatter the root is the chunk's owner. In an
// All-Reduce the root may be any member: the collective does not say where a sum becomes complete, only that all
// members have it in the end.
//
// Proof that the root's sum then holds each contribution exactly once: take the vertices that have a part of the sum as
// a graph's vertices and the sends as its edges. Each edge leads to a later instant than it starts, and each vertex
// sends after it received, so there is no cycle. Every vertex but the root has exactly one out-edge and the root has
// none, so following edges from any member ends at the root, along one path only: its contribution, which is in every
// sum on that path, reaches the root once, before the last arrival there. No two sums that meet share a contribution,
// for it would have left some vertex twice. And no other sum is ever complete, as the root's own contribution never
// leaves: copies can only begin at the root.
//
// For an All-Reduce a guess of the root is enough. If all members but one send once, the exclusive or of all ranks and
// of the ranks of the senders is the rank of that one. The rule is then checked against the guess, and a wrong guess
// breaks it: either the guessed root sends, or another member does not.
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

/// The result of one pass over the sends.
struct InTreeReport {
  bool holds = false;
  std::vector<RootedSum> sums;     ///< per chunk
  std::size_t relay_sums = 0;      ///< (vertex, chunk) pairs that had a sum without contributing, for memory plans
  std::size_t peak_in_flight = 0;  ///< most partial sums under way or waiting in switches at once, for memory plans
  std::size_t arrivals = 0;        ///< of partial sums
};

/// Replays the partial sums of `schedule`. O(sends log lanes) time, npus * chunks / 8 bytes and 16 per chunk.
[[nodiscard]] InTreeReport check_in_tree(const Context& context, const Schedule& schedule);

}  // namespace tenex::verifier
