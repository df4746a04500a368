// Internal to cli: how many of a study's points a search is expected to value, and to evaluate in full.
//
// Successive halving keeps a known fraction of each competition. So it is known before the run how many points go on,
// but not which. Every point of a competition is therefore expected to go on with the same share, and a study's cost is
// that of its rounds plus that share of all full evaluations. Points that are as good as the last one that goes on also
// go on, and so do points without a value: where many values are equal, more points are evaluated than expected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tenex/design/study.hpp"

namespace tenex::cli {

/// A plain value, for a study with or without pruning. O(points) memory.
class SearchOutlook {
 public:
  /// Points that cannot have the objective are never pruned. O(points); if the study prunes, each is built once.
  explicit SearchOutlook(const Study& study);

  /// The expected number of points that round `round` (counted from 0) values; after the last round, of points that are
  /// evaluated.
  [[nodiscard]] std::size_t points(std::size_t round) const;
  /// The fraction of this point's competition that is left in the round; 1 in the first.
  [[nodiscard]] double share(std::size_t point, std::size_t round) const;
  /// The fraction that is evaluated in full.
  [[nodiscard]] double share_in_full(std::size_t point) const { return share(point, rounds_); }

  /// The competition of a point, counted from 1; 0: it is never pruned.
  [[nodiscard]] std::uint32_t competition(std::size_t point) const { return rounds_ == 0 ? 0 : competition_[point]; }
  [[nodiscard]] std::size_t competitions() const { return left_.size(); }  ///< including 0

 private:
  std::size_t rounds_ = 0;
  std::size_t all_ = 0;
  std::vector<std::uint32_t> competition_;      ///< per point; empty where nothing is pruned
  std::vector<std::vector<std::size_t>> left_;  ///< number of points per competition and round, and after the last
};

}  // namespace tenex::cli
