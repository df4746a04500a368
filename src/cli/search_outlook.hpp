// Internal to cli: how many of a study's points a search is expected to value, and to evaluate in full.
//
// Successive halving keeps a known part of each competition, so how many points go on is known before anything ran;
// which ones is not. So every point of a competition is expected to go on with the same share, and a study's cost is
// that of its rounds plus the shares' part of all full evaluations. Points that are as good as the last one that goes
// on go on too, as do points without a value: where many are equal, more are evaluated than foreseen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tenex/design/study.hpp"

namespace tenex::cli {

/// A plain value, of a study that may prune or not. O(points) memory.
class SearchOutlook {
 public:
  /// Points that cannot have the objective are never pruned. O(points) where the study prunes: each is built once.
  explicit SearchOutlook(const Study& study);

  /// The expected number of points that round `round` values, counted from 0; after the last round: that are evaluated.
  [[nodiscard]] std::size_t points(std::size_t round) const;
  /// The part of the points that compete with this one which is still there in the round; 1 in the first.
  [[nodiscard]] double share(std::size_t point, std::size_t round) const;
  /// The part that is evaluated in full.
  [[nodiscard]] double share_in_full(std::size_t point) const { return share(point, rounds_); }

  /// The competition of a point, from 1; 0: it is never pruned.
  [[nodiscard]] std::uint32_t competition(std::size_t point) const { return rounds_ == 0 ? 0 : competition_[point]; }
  [[nodiscard]] std::size_t competitions() const { return left_.size(); }  ///< the 0 included

 private:
  std::size_t rounds_ = 0;
  std::size_t all_ = 0;
  std::vector<std::uint32_t> competition_;      ///< per point; empty where nothing is pruned
  std::vector<std::vector<std::size_t>> left_;  ///< per competition and round, and after the last: points
};

}  // namespace tenex::cli
