// Levels of cost: which links are slower than others, and which vertices a chunk reaches over faster links. A slow link
// consults them before it takes a chunk.
//
// Idea: a slow link should only deliver chunks that no faster link will deliver. A chunk is within the target's reach
// if it is held (or under way to a vertex) anywhere in the target's cluster, the vertices that links of lower levels
// join to it both ways. A slow link takes such a chunk only if the fast links could not deliver everything in time.
// Without this rule a hierarchical network wastes its slow links on chunks that its fast ones carry anyway: a 16x16
// mesh with dimensions of 200 and 50 GB/s was measured at 42 % of its bound instead of 100 %.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "synthesis/relays.hpp"
#include "tenex/base/ids.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// Levels of cost and clusters below each level. Costs within a factor of 1.25 of a level's least are of that level;
/// the factor grows until there are at most kMaxLevels.
class CostLevels {
 public:
  static constexpr std::uint32_t kMaxLevels = 8;

  CostLevels() = default;
  /// `cost` per link, in ps. Only links inside a process group's participants join clusters. O(levels * links).
  CostLevels(const Topology& topology, const std::vector<std::int64_t>& cost,
             const std::vector<Participants>& participants);

  [[nodiscard]] std::uint32_t levels() const { return levels_; }
  [[nodiscard]] std::uint32_t level(std::uint32_t link) const { return level_[link]; }
  /// The cluster of a vertex over links of levels below `level`, named by one of its vertices: a strongly connected
  /// component.
  [[nodiscard]] std::uint32_t cluster(std::uint32_t level, std::size_t vertex) const {
    return clusters_[level][vertex];
  }

 private:
  std::uint32_t levels_ = 1;
  std::vector<std::uint32_t> level_;
  std::vector<std::vector<std::uint32_t>> clusters_;
};

}  // namespace tenex
