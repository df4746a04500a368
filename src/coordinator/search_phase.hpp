// The rounds of a search, which rank 0 runs before it leases points for full evaluation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "coordinator/committer.hpp"
#include "coordinator/estimates.hpp"
#include "coordinator/halving.hpp"
#include "coordinator/rank_loop.hpp"

namespace tenex {

/// Values are not stored: a run that continues the folder values all points again, which is cheap, and makes the same
/// cuts. Not thread-safe.
class SearchPhase {
 public:
  /// Both must outlive it; the study must have a search that prunes.
  SearchPhase(const Study& study, const RankSetup& setup);

  /// Whether no round is left.
  [[nodiscard]] bool over() const { return halving_.over(); }
  /// Whether the round's points are estimated. The first call starts the estimation.
  [[nodiscard]] bool is_ready();
  /// The points of the round and their estimates, from which leases are made. Precondition: is_ready().
  [[nodiscard]] Estimates& estimates() { return *estimates_; }
  [[nodiscard]] std::vector<std::uint32_t> points() const { return halving_.points(); }
  /// Marks a lease as one of this round.
  void mark(Lease& lease) const;

  /// The current round, counted from 0, and the number of rounds.
  [[nodiscard]] std::size_t round() const { return halving_.round(); }
  [[nodiscard]] std::size_t rounds() const { return study_.search.rounds.size(); }

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
  Halving halving_;
  std::optional<Estimates> estimates_;
  std::deque<PrunedPoint> rows_;
  std::size_t rows_written_ = 0;
};

}  // namespace tenex
