// Certificates for many problems at once: one search serves all sizes, chunk counts and latencies of a collective on a
// network, and all bandwidths in the same ratio.
//
// A certificate (a set of vertices, weights of links) proves a time for every problem on the same vertices, links and
// groups; only how good that time is depends on the rest. So the search works on a stand-in that has nothing else: one
// large chunk of bytes per owner, no latency, and bandwidths of which only the ratio is left. Stored conditions, and
// groups with collectives of their own, keep the ratio of their bytes too. Equal keys therefore mean equal
// certificates, whichever problem asked first.
#pragma once

#include <cstdint>
#include <optional>

#include "tenex/base/hash.hpp"
#include "tenex/bound/bound.hpp"

namespace tenex {

/// A digest of what the stand-in holds: vertices, links, the ratio of their speeds, collective, groups and the ratio
/// of what they carry. O(links + members + conditions).
[[nodiscard]] Digest certificate_key(const BoundProblem& problem);

/// The problem that stands for all with the same key. O(links + members + conditions).
class StandIn {
 public:
  explicit StandIn(const BoundProblem& problem);

  /// The certificate of a method that concerns the collective, found within `work_limit` link visits and checked; its
  /// `time` is that of the stand-in. nullopt where the method has none. Throws InvariantError where the checker
  /// disagrees.
  [[nodiscard]] std::optional<CertifiedBound> find(const BoundMethod& method, std::uint64_t work_limit) const;

 private:
  Topology topology_;
  Collective collective_;
};

}  // namespace tenex
