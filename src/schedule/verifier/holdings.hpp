// Copy holdings: which vertices have the final value of which chunk, and which deliveries were useful.
//
// One bit per (vertex, chunk). Two cases take more: vertices that do not need a chunk (relays), and switches that
// cannot copy. The time of such an arrival waits in a map until the chunk is forwarded; an arrival that never is
// forwarded is waste.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "schedule/verifier/context.hpp"
#include "schedule/verifier/keyed_queues.hpp"
#include "tenex/base/bitset.hpp"

namespace tenex::verifier {

/// What a vertex has for a send that is about to start.
enum class Take : std::uint8_t {
  held,     ///< the vertex has it
  nothing,  ///< the vertex has never had it
  spent,    ///< a switch that has forwarded everything that arrived
};

/// Final values at vertices. Link and chunk ids must exist.
class CopyHoldings {
 public:
  explicit CopyHoldings(const Context& context);

  /// A send of the final value starts at `vertex`. Takes one arrival where the vertex is a switch without `copy`. O(1).
  Take take(VertexId vertex, ChunkId chunk);
  /// The final value arrives. O(log groups).
  void deliver(VertexId vertex, ChunkId chunk, SimTime time);
  /// The vertex's own sum is complete, and is the final value there.
  void complete(VertexId vertex, ChunkId chunk);
  [[nodiscard]] bool holds(VertexId vertex, ChunkId chunk) const { return final_.test(vertex.index(), chunk.index()); }

  /// All postconditions hold. O(groups).
  [[nodiscard]] bool all_satisfied() const { return satisfied_ == context_.collective().required_deliveries(); }
  /// The pairs that must hold and do not, by chunk and then by rank. O(members * chunks).
  [[nodiscard]] std::vector<std::pair<NpuId, ChunkId>> missing() const;

  /// Deliveries that nobody needed so far: repeated ones, and those that still wait to be forwarded.
  [[nodiscard]] std::uint64_t waste() const;
  /// The last arrival that was needed or has been forwarded.
  [[nodiscard]] SimTime last_useful() const { return last_useful_; }

 private:
  void use(SimTime arrival) { last_useful_ = std::max(last_useful_, arrival); }

  const Context& context_;
  BitMatrix final_;                                     ///< for a switch without `copy`: something has arrived
  std::unordered_map<std::uint64_t, SimTime> relayed_;  ///< time of arrival at vertices that do not need the chunk,
                                                        ///< until it is forwarded
  KeyedQueues<SimTime> once_only_;                      ///< arrivals in switches without `copy`
  std::uint64_t satisfied_ = 0;
  std::uint64_t duplicates_ = 0;
  SimTime last_useful_;
};

/// Which arrivals of partial sums were useful: what a vertex sends on later, or is part of the complete sum that the
/// vertex must hold. Link and chunk ids must exist.
class PartialSums {
 public:
  explicit PartialSums(const Context& context) : context_(context) {}

  /// A partial sum arrives, where it may be added to others. O(1).
  void deliver(VertexId vertex, ChunkId chunk, SimTime time);
  /// The vertex sends on what it has: the earliest arrival where sums wait side by side, else all. O(1) amortized.
  void take(VertexId vertex, ChunkId chunk);
  /// The vertex's sum is complete. O(1) amortized.
  void complete(VertexId vertex, ChunkId chunk);

  /// Arrivals so far that nobody needed.
  [[nodiscard]] std::uint64_t waste() const { return arrivals_; }
  /// The last arrival that was needed.
  [[nodiscard]] SimTime last_useful() const { return last_useful_; }

 private:
  /// Arrivals that wait: one in a queue of a switch, all of a sum elsewhere.
  struct Waiting {
    SimTime last;
    std::uint32_t arrivals = 1;
  };

  void use(const Waiting& waiting) {
    last_useful_ = std::max(last_useful_, waiting.last);
    arrivals_ -= waiting.arrivals;
  }

  const Context& context_;
  KeyedQueues<Waiting> waiting_;
  std::uint64_t arrivals_ = 0;  ///< that wait
  SimTime last_useful_;
};

}  // namespace tenex::verifier
