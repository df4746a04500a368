// An All-Reduce by pipelined trees on a product of lines, as a periodic timetable: sends are computed as they are read.
//
// Idea: on a mesh, reduction and gather one after the other use half of what the links could carry, because a corner's
// in-links idle while it sends its sums, and its out-links while it receives the results. Here every chunk has a
// spanning tree of its own, sums go up the tree and copies down, and the chunks follow each other, so that a link
// carries sums of some chunks between copies of others.
//
// Trees (combs): a tree of type t has teeth along all lines of dimension t; their sums meet at coordinate j, in the
// lines of the next dimension through j, and so on, cyclically; the last stage is one line, whose middle is the root.
// In a round there is one tree of the type for every j. With all dimensions equal, every link then carries the same
// number of chunks each way, which is the strength of the mesh (Tutte and Nash-Williams; bound/strength.hpp), up to the
// last stages of three or more dimensions.
//
// Timetable: time is cut into periods of P slots, and every period starts the same trees with new chunks. Each stage of
// a tree is two waves on its line, one from each end, which move on by one link per lag. A wave crosses its whole line:
// its first part carries the sum to the meeting point, and its second part, some whole periods later, carries the
// result on to the other end. The waves of a dimension and direction start at different slots of the period. As all
// move equally fast, no two of them ever meet on a link, whatever they wait for: only the number of periods that each
// waits must be computed. The waves of the second direction start one lag later where the side is even, so that both
// waves of the last stage reach the root at the same time, and neither waits a period for the other.
//
// On a square mesh of even side R with lag = slot, n chunks take n/2 * (1 + 1/R) + 2R - 1 slots; the bound is n/2 * (1
// + 1/R).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tenex/base/quantity.hpp"
#include "tenex/collective/instance.hpp"
#include "tenex/schedule/schedule.hpp"

namespace tenex {

/// The data of the schedule. Links stand in the order of build_topology().
struct CombSchedule {
  std::vector<std::uint32_t> sizes;   ///< NPUs on a line, dimension 1 first
  SimTime slot;                       ///< the time that a chunk keeps a link busy
  SimTime lag;                        ///< from its start on a link to its start on the next; at least `slot`
  std::vector<std::uint32_t> rounds;  ///< of trees with teeth along each dimension, in a period
  std::uint64_t chunks = 1;
};

/// What is wrong with the data, so that it cannot be read; empty: nothing. (Whether the schedule is valid is for the
/// verifier to say.)
[[nodiscard]] std::string comb_problem(const CombSchedule& data);

/// The last arrival. Expects: data without a problem. O(D * sum of rounds * side).
[[nodiscard]] SimTime comb_time(const CombSchedule& data);

/// The schedule, with link-major access. Throws InvariantError where comb_problem() finds one. O(links) memory.
[[nodiscard]] Schedule make_comb_schedule(CombSchedule data);

}  // namespace tenex
