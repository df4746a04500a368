// Lease ledger: which points every rank was given, so that those of a dead rank can be given to others.
//
// The rows of a finished lease need not be committed: a rank keeps them in memory for a while. So points stay in the
// ledger until the end of the run, 4 bytes each. When a rank dies, its journal tells which of them are committed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "coordinator/lease_queue.hpp"

namespace tenex {

/// The points that a rank had when it died.
struct HeldPoints {
  std::vector<std::uint32_t> at_hand;   ///< points of leases that it had not reported as done, ascending
  std::vector<std::uint32_t> finished;  ///< points of leases that it had reported as done, ascending
};

/// Not thread-safe.
class LeaseLedger {
 public:
  /// `safe_when_finished`: rank 0 has what finished leases made, and their points are forgotten.
  explicit LeaseLedger(std::size_t ranks, bool safe_when_finished = false)
      : ranks_(ranks), safe_when_finished_(safe_when_finished) {}

  /// O(points).
  void give(std::size_t rank, const Lease& lease);
  /// The rank has reported the lease as done; unknown ones are ignored. O(points of the lease).
  void finish(std::size_t rank, std::uint64_t lease);
  /// Removes and returns all points of the rank. O(points log points).
  [[nodiscard]] HeldPoints take(std::size_t rank);

 private:
  struct Account {
    std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> at_hand;  ///< by lease
    std::vector<std::uint32_t> finished;
  };
  std::vector<Account> ranks_;
  bool safe_when_finished_;
};

}  // namespace tenex
