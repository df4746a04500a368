// Sums: the verifier's knowledge of partial sums, for any method of checking them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "schedule/verifier/context.hpp"
#include "schedule/verifier/holdings.hpp"
#include "schedule/verifier/in_tree.hpp"

namespace tenex::verifier {

/// The state of a partial sum when its send starts.
struct TakenSum {
  Take what = Take::held;
  std::uint32_t payload = 0;  ///< to be given to deliver() when it arrives
};

/// The effect of the arrival of a partial sum.
struct Merged {
  NpuId twice = NpuId::none();  ///< an NPU whose contribution was in both sums
  bool complete = false;        ///< the receiver's sum has become complete
  bool nothing = false;         ///< there was nothing to add: the send has been found wrong before
};

/// Sums that ended in a switch which cannot add them, although a vertex lacks them.
struct StuckSum {
  VertexId at;
  ChunkId chunk;
  std::size_t waiting = 0;  ///< separate sums there
};

/// One way to check partial sums. Link and chunk ids must exist.
class Sums {
 public:
  virtual ~Sums() = default;
  /// A partial sum starts to be sent from `vertex`: all that it has summed, or the contributors that the payload
  /// `stated` states (kNotStated: none), which it must hold as disjoint sums.
  virtual TakenSum take(VertexId vertex, ChunkId chunk, std::uint32_t stated) = 0;
  /// It arrives at `vertex` and is added there.
  virtual Merged deliver(VertexId vertex, ChunkId chunk, std::uint32_t payload) = 0;
  /// A vertex sends its own sum as a final value. Returns whether it is complete. A switch that cannot copy loses it.
  virtual bool take_complete(VertexId vertex, ChunkId chunk) = 0;
  /// Whether the vertex has a sum, complete or not.
  [[nodiscard]] virtual bool has_partial(VertexId vertex, ChunkId chunk) const = 0;
  /// What the vertex's sum lacks, as a clause: "it lacks the contributions of NPU 1 and NPU 2".
  [[nodiscard]] virtual std::string describe_missing(VertexId vertex, ChunkId chunk) const = 0;
  /// Sums that ended in switches which could not add them, by vertex and chunk.
  [[nodiscard]] virtual std::vector<StuckSum> stuck() const { return {}; }
};

/// For collectives without sums: no vertex has any.
[[nodiscard]] std::unique_ptr<Sums> make_no_sums();
/// For schedules that obey the in-tree rule (in_tree.hpp): sums are correct, and `rooted` says where and when they
/// become complete.
[[nodiscard]] std::unique_ptr<Sums> make_in_tree_sums(const Context& context, std::vector<RootedSum> rooted);
/// If nothing is known about the sums: every claim is believed.
[[nodiscard]] std::unique_ptr<Sums> make_assumed_sums(const Context& context);

// Exact contribution sets: a check of all kinds of reductions that costs a set per (NPU, chunk).
//
// Each sum is the set of ranks whose contributions are in it, one bit per member of the chunk's group. A send takes a
// snapshot of its source's set, and its arrival merges the snapshot; two sets that meet must be disjoint. Members' sets
// lie in one dense array; those of relays, switches and sums under way are allocated when they occur.
//
// A send that states its contributors takes these. What has arrived at a vertex is disjoint, else it has been reported.
// So the vertex can form the stated sum exactly if it has all contributors and every sum that arrived, like its own
// contribution, lies within the stated set or outside it. Where some send states its contributors, the sums that have
// arrived are remembered: a number for each.

/// Bytes that exact sums take, from the counts of a first pass. O(groups).
[[nodiscard]] std::size_t exact_sums_bytes(const Context& context, const InTreeReport& report);

/// O(members^2 * chunks / 8) bytes; each send and arrival O(members / 64), a send that states neither its own
/// contribution nor all that its source has times the sums that have arrived there.
[[nodiscard]] std::unique_ptr<Sums> make_exact_sums(const Context& context);

}  // namespace tenex::verifier
