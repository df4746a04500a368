// The rounds of a search as rank 0 goes through them before it leases points for full evaluation.
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

/// Values are not kept on disk: a run that continues the folder values all points again, which is cheap, and makes the
/// same cuts. Not thread-safe.
class SearchPhase {
 public:
  /// Both must outlive it; the study prunes.
  SearchPhase(const Study& study, const RankSetup& setup);

  /// Whether nothing is left to be valued.
  [[nodiscard]] bool over() const { return halving_.over(); }
  /// Whether the round's points are estimated; begins with that where it has not begun.
  [[nodiscard]] bool is_ready();
  /// What the round's leases are made of. Precondition: is_ready().
  [[nodiscard]] Estimates& estimates() { return *estimates_; }
  [[nodiscard]] std::vector<std::uint32_t> points() const { return halving_.points(); }
  /// Marks a lease as one of this round.
  void mark(Lease& lease) const;

  /// The round that goes on, from 0, and how many there are.
  [[nodiscard]] std::size_t round() const { return halving_.round(); }
  [[nodiscard]] std::size_t rounds() const { return study_.search.rounds.size(); }

  void learn(const RankReport& report);
  void give_up(std::uint32_t point) { halving_.give_up(point); }
  [[nodiscard]] bool complete() const { return halving_.complete(); }
  /// Ends the round: the estimates are gone, so a plan that uses them must be gone too. Of points that are not done yet
  /// rows are to be written; all that are pruned are marked as done.
  void cut(std::vector<bool>& done);

  /// Rows to be written, and how many were handed on.
  [[nodiscard]] bool has_rows() const { return !rows_.empty(); }
  [[nodiscard]] std::size_t rows_written() const { return rows_written_; }
  /// Hands some on, as many as the committer takes without piling them up; whether there were any.
  bool write_some(Committer& committer);
  /// The run is interrupted: the rows are left to the next one.
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
