// The rounds of a search, which rank 0 runs before it leases points for full evaluation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <vector>

#include "coordinator/committer.hpp"
#include "coordinator/estimates.hpp"
#include "coordinator/halving.hpp"
#include "coordinator/rank_loop.hpp"

namespace tenex {

/// Values are not stored: a run that continues the folder values all points again, which is cheap, and makes the same
/// cuts. Not thread-safe.
///
/// The search's stages are its rounds, counted from 0, and the evaluation of what is left, which has the number
/// rounds().
class SearchPhase {
 public:
  /// All three must outlive it; the study must have a search that prunes. `full`: the estimates of the evaluation.
  SearchPhase(const Study& study, const RankSetup& setup, Estimates& full);

  /// Whether no round is left.
  [[nodiscard]] bool over() const { return halving_.over(); }
  /// The stage that is not over, and the number of rounds.
  [[nodiscard]] std::size_t stage() const { return halving_.round(); }
  [[nodiscard]] std::size_t rounds() const { return study_.search.rounds.size(); }
  /// The estimates of points in a stage: this one or the next.
  [[nodiscard]] Estimates& estimates(std::size_t stage);
  /// The points of this stage.
  [[nodiscard]] std::vector<std::uint32_t> points() const { return halving_.points(); }
  /// The points that are sure to reach the next stage. Empty until at most half of the values that were missing at the
  /// last call are missing, so that all calls take O(points log points log(missing values)).
  [[nodiscard]] std::vector<std::uint32_t> sure_points();

  /// Values of the next stage are kept until it begins.
  void learn(const RankReport& report);
  void give_up(std::uint32_t point) { halving_.give_up(point); }
  [[nodiscard]] bool complete() const { return halving_.complete(); }
  /// Ends the round and frees its estimates, so the open work that uses them must be gone before. Marks all pruned
  /// points as done; those that were not done before get rows.
  void cut(std::vector<bool>& done);

  /// Whether rows wait to be written, and how many were passed to the committer.
  [[nodiscard]] bool has_rows() const { return !rows_.empty(); }
  [[nodiscard]] std::size_t rows_written() const { return rows_written_; }
  /// Passes some rows to the committer, as many as it takes without a long queue; returns whether there were any.
  bool write_some(Committer& committer);
  /// Drops the rows because the run is interrupted; the next run writes them.
  void forget_rows() { rows_.clear(); }

 private:
  const Study& study_;
  const RankSetup& setup_;
  Estimates& full_;
  Halving halving_;
  std::vector<std::unique_ptr<Estimates>> estimates_;                ///< by round
  std::vector<EarlyValue> next_values_;                              ///< of the next round
  std::size_t looked_at_ = std::numeric_limits<std::size_t>::max();  ///< values that were missing at the last look
  std::deque<PrunedPoint> rows_;
  std::size_t rows_written_ = 0;
};

}  // namespace tenex
