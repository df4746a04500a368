// Exact contribution sets: a check of all kinds of reductions that costs a set per (NPU, chunk).
//
// Each sum is the set of ranks whose contributions are in it, one bit per member of the chunk's group. A send takes a
// snapshot of its source's set, and its arrival merges the snapshot; two sets that meet must be disjoint. Members' sets
// lie in one dense array; those of relays, switches and sums under way are allocated when they occur.
#pragma once

#include <cstddef>
#include <memory>

#include "schedule/verifier/in_tree.hpp"
#include "schedule/verifier/sums.hpp"

namespace tenex::verifier {

/// Bytes that exact sums take, from the counts of a first pass. O(groups).
[[nodiscard]] std::size_t exact_sums_bytes(const Context& context, const InTreeReport& report);

/// O(members^2 * chunks / 8) bytes; each send and arrival O(members / 64).
[[nodiscard]] std::unique_ptr<Sums> make_exact_sums(const Context& context);

}  // namespace tenex::verifier
