// What must leave a set of vertices (tenex/bound/cut.hpp has the proofs): by size, and for a set that grows.
#pragma once

#include <cstdint>
#include <vector>

#include "bound/densest_cut.hpp"
#include "tenex/bound/bound.hpp"

namespace tenex {

/// Per size class, the chunks of all groups that must leave the set. O(members + destinations of conditions).
[[nodiscard]] std::vector<std::int64_t> chunks_that_leave(const Collective& collective, const VertexSet& set);

/// Conditions and their destinations, all together: what a look at a set visits beside links and members.
/// O(conditions).
[[nodiscard]] std::uint64_t condition_visits(const Collective& collective);

/// A set of NPUs to which one after another is added, and about how much must leave it: in pairs of members where all
/// groups run one All-to-All, else in bytes.
class GrowingSet {
 public:
  /// O(members + destinations of conditions).
  explicit GrowingSet(const Collective& collective);

  /// Adds an NPU. O(its groups + conditions that name it).
  void enter(NpuId npu);
  [[nodiscard]] double leaving() const { return leaving_; }

 private:
  /// A group that stores no conditions.
  struct CountedGroup {
    std::int64_t inside = 0;
    bool root_inside = false;
    double bytes_of_each = 1;
  };
  struct CountedCondition {
    double bytes = 0;
    std::uint32_t outside = 0;  ///< destinations
    bool source_inside = false;
  };
  /// A condition of which an NPU is the source or a destination.
  struct Part {
    std::uint32_t condition = 0;
    bool source = false;
  };

  [[nodiscard]] double leaving_of(GroupId group) const;
  void add_conditions(GroupId group, std::vector<std::vector<Part>>& parts);

  const Collective& collective_;
  std::vector<CountedGroup> groups_;
  std::vector<CountedCondition> conditions_;  ///< of all groups
  std::vector<std::size_t> first_part_;       ///< by NPU, then the end
  std::vector<Part> parts_;
  double leaving_ = 0;
};

}  // namespace tenex
