// Staged work: the open works of a run, stage by stage: the rounds of its search, then the evaluation of what is left.
//
// Without a search there is one stage. A stage's work is opened once its points are estimated, which threads of their
// own do. While the last leases of a round are at hand, nobody waits for its cut: points that are sure to go on
// (halving.hpp) are opened in the next stage, whose leases ranks get where the round has none for them. A round is cut
// when all its values are known, so its cut, and with it every row, is the same for any number of ranks.
//
// Suspects and points that need a node to themselves are not opened ahead, and a rank that has one at hand gets no
// lease of the other stage. Nothing is opened ahead once the time limit has left out a point of the round.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_set>
#include <vector>

#include "coordinator/estimates.hpp"
#include "coordinator/open_work.hpp"
#include "coordinator/peer.hpp"
#include "coordinator/quarantine.hpp"
#include "coordinator/rank_loop.hpp"
#include "coordinator/search_phase.hpp"

namespace tenex {

/// Of rank 0's loop. Not thread-safe.
class StagedWork {
 public:
  /// All must outlive it. `done`: the points that have rows; the search marks those that it prunes. `searches`: the
  /// study's search is to be made.
  StagedWork(const Study& study, const RankSetup& setup, Estimates& full, std::vector<bool>& done,
             Quarantine quarantine, bool searches);

  /// The search, while a round of it is left.
  [[nodiscard]] const SearchPhase* search() const { return is_searching() ? &*search_ : nullptr; }
  /// The search, over or not: it has the rows of points that it left out. Null without one.
  [[nodiscard]] SearchPhase* pruning() { return search_ ? &*search_ : nullptr; }
  [[nodiscard]] const SearchPhase* pruning() const { return search_ ? &*search_ : nullptr; }
  /// The work of this stage; null until its first points are estimated.
  [[nodiscard]] const OpenWork* work() const { return work_.get(); }
  [[nodiscard]] const Quarantine& quarantine() const { return quarantine_; }

  /// Opens what is estimated and starts further estimations; returns whether anything was opened.
  bool open(const std::vector<Peer>& peers);
  /// What became of a round of which no point waits and none is leased.
  enum class Closing : std::uint8_t {
    not_yet,  ///< it is not over, or this stage is no round
    cut,      ///< all its values are known: the next stage has begun
    lacking,  ///< the time limit left some of its points out
  };
  Closing close_round();
  /// Whether no lease will be made any more.
  [[nodiscard]] bool nothing_to_lease() const {
    return !is_searching() && work_ && whole_stage_ && !opening_ && work_->all_done();
  }

  /// A lease of this stage, or of the next one where this stage has none for the rank. As OpenWork::next().
  [[nodiscard]] std::optional<Lease> next(std::size_t rank, double backlog_seconds, double time_left);
  void set_threads(std::size_t rank, int threads);
  void learn(std::size_t rank, const RankReport& report);
  Death lose(std::size_t rank, const WriterTrace& trace, bool memory_kill);
  /// Points that became guilty since the last call. They need rows, and the search compares them no longer.
  [[nodiscard]] std::vector<std::uint32_t> take_guilty();
  std::size_t withdraw(double time_left);

  /// Frees what the run no longer needs when its rows are merged.
  void clear();

 private:
  /// Points that are being estimated, to be opened in a stage. `whole`: they are all that the stage lacks.
  struct Opening {
    std::size_t stage = 0;
    std::vector<std::uint32_t> points;
    bool whole = false;
  };
  [[nodiscard]] bool is_searching() const { return search_ && !search_->over(); }
  /// As SearchPhase::stage(); 0 without a search.
  [[nodiscard]] std::size_t stage() const { return search_ ? search_->stage() : 0; }
  /// Whether points of this stage are evaluated, not valued.
  [[nodiscard]] bool evaluates(std::size_t stage) const { return !search_ || stage == search_->rounds(); }
  [[nodiscard]] Estimates& estimates_of(std::size_t stage) { return search_ ? search_->estimates(stage) : full_; }
  /// The works of this stage and of the next one; null where it is not open.
  [[nodiscard]] std::array<OpenWork*, 2> works() const { return {work_.get(), ahead_.get()}; }
  [[nodiscard]] std::vector<std::uint32_t> points_to_do() const;
  void find_opening();
  [[nodiscard]] std::unique_ptr<OpenWork> open_work(const Opening& opening, const std::vector<Peer>& peers);

  const RankSetup& setup_;
  Estimates& full_;
  std::vector<bool>& done_;
  Quarantine quarantine_;
  std::optional<SearchPhase> search_;
  std::optional<Opening> opening_;
  bool whole_stage_ = false;                        ///< all points of this stage are opened
  bool withdrew_ = false;                           ///< the time limit left points out
  std::unique_ptr<OpenWork> work_;                  ///< of this stage
  std::unique_ptr<OpenWork> ahead_;                 ///< of the next stage, while a round ends
  std::unordered_set<std::uint32_t> opened_ahead_;  ///< points of the next stage that are opened or being opened
};

}  // namespace tenex
