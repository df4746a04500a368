// Work plan: all that rank 0 knows of what is to be done, by whom, and what happens when a rank dies.
//
// It joins the lease queue, the points that need a node to themselves, the ledger of what each rank was given, the cost
// model that learns, and the quarantine. A plain value without clock, threads or messages: times are given as what is
// left, deaths as what the dead rank left behind; tests drive it in virtual time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "coordinator/estimates.hpp"
#include "coordinator/lease_ledger.hpp"
#include "coordinator/lease_queue.hpp"
#include "coordinator/node_leases.hpp"
#include "coordinator/quarantine.hpp"
#include "coordinator/wire.hpp"
#include "coordinator/work_progress.hpp"
#include "tenex/coordinator/cost_model.hpp"

namespace tenex {

/// What a death means for the run.
struct Death {
  std::size_t leased_again = 0;                    ///< points that go to others
  std::optional<std::uint32_t> killed_for_memory;  ///< the point that is to blame for a kill for want of memory
};

/// How many threads of its rank a point keeps from others; empty: one.
using ThreadsKept = std::function<int(const Estimate&)>;

/// Not thread-safe.
class WorkPlan {
 public:
  /// `points` are to be evaluated; all of them are estimated already, or are estimated now. `threads_of_rank` as for
  /// the queue. `nodes` may be empty: then every rank has a node of its own. Points that are guilty already are not
  /// leased: take_guilty(). O(points log points).
  WorkPlan(Estimates& estimates, const std::vector<std::uint32_t>& points, const std::vector<int>& threads_of_rank,
           const NodeMap& nodes, Quarantine quarantine, LeaseOptions options, ThreadsKept threads_kept = {});
  WorkPlan(const WorkPlan&) = delete;
  WorkPlan& operator=(const WorkPlan&) = delete;

  /// The next lease for a rank, as LeaseQueue::next(), or one that has its node to itself. Noted in the ledger.
  [[nodiscard]] std::optional<Lease> next(std::size_t rank, double backlog_seconds,
                                          double time_left = LeaseQueue::no_time_limit);
  void set_threads(std::size_t rank, int threads) { queue_.set_threads(rank, threads); }
  /// Takes a rank's report: finished leases, speed, what points of each kind took. Now and then, as more is known, the
  /// expectations of all waiting points are made anew.
  void learn(std::size_t rank, const RankReport& report);

  /// The rank is dead and has left this. `memory_kill`: the system has counted a kill for want of memory on its node.
  Death lose(std::size_t rank, const WriterTrace& trace, bool memory_kill);
  /// Points that became guilty since the last call: they need rows (quarantine().row_of()).
  [[nodiscard]] std::vector<std::uint32_t> take_guilty();
  [[nodiscard]] const Quarantine& quarantine() const { return quarantine_; }

  /// Takes out points that nobody would finish in time; how many.
  std::size_t withdraw(double time_left);

  /// Whether no point waits, and whether none is leased either.
  [[nodiscard]] bool nothing_waits() const { return queue_.empty() && nodes_.empty(); }
  [[nodiscard]] bool all_done() const {
    return nothing_waits() && queue_.leases_out() == 0 && nodes_.leases_out() == 0;
  }
  /// As LeaseQueue::seconds_left().
  [[nodiscard]] double seconds_left() const { return queue_.seconds_left(); }
  [[nodiscard]] const LearnedCosts& costs() const { return costs_; }
  /// What is expected of the points that have not ended, and the longest of those that are not leased.
  [[nodiscard]] const ExpectedWork& expected_work() const { return work_; }
  [[nodiscard]] PointAtWork longest_waiting() const;

 private:
  [[nodiscard]] PointCost cost_of(std::uint32_t point);
  [[nodiscard]] bool is_large(std::uint32_t point);
  void put_back(const std::vector<std::uint32_t>& points, bool suspects);
  void expect(std::uint32_t point);
  [[nodiscard]] bool is_idle(std::size_t rank) const;

  Estimates& estimates_;
  LearnedCosts costs_;
  ExpectedWork work_;
  std::vector<int> threads_;
  ThreadsKept threads_kept_;
  NodeLeases nodes_;
  LeaseQueue queue_;
  LeaseLedger ledger_;
  Quarantine quarantine_;
  std::vector<std::uint32_t> guilty_;   ///< not taken yet
  std::vector<std::size_t> exclusive_;  ///< leases of that kind, per rank
};

}  // namespace tenex
