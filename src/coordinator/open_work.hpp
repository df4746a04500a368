// Open work: rank 0's state of the work: what is to be done and by which rank, and what happens when a rank dies.
//
// It joins the lease queue, the points that need a node to themselves, the ledger of leases and the learned cost model,
// and knows the run's quarantine. It is a plain value without clock, threads or messages: its caller passes in the time
// left, and the trace of a dead rank. Tests drive it in virtual time.
//
// While a round of a search ends, the work of the next round (or the evaluation) is open beside it. Then a rank may
// have leases of both, and lose() shares out both.
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

/// The consequences of a rank's death.
struct Death {
  std::size_t leased_again = 0;                    ///< points that other ranks get
  std::optional<std::uint32_t> killed_for_memory;  ///< the point to blame for a kill for lack of memory
};

/// The number of its rank's threads that a point occupies; empty: one.
using ThreadsKept = std::function<int(const Estimate&)>;

/// Not thread-safe.
class OpenWork {
 public:
  /// `points` as for add(), `threads_of_rank` as for the queue. `nodes` may be empty: then every rank has a node of its
  /// own. `estimates` and `quarantine` must outlive it. O(points log points).
  OpenWork(Estimates& estimates, const std::vector<std::uint32_t>& points, const std::vector<int>& threads_of_rank,
           const NodeMap& nodes, Quarantine& quarantine, LeaseOptions options, ThreadsKept threads_kept = {});
  OpenWork(const OpenWork&) = delete;
  OpenWork& operator=(const OpenWork&) = delete;

  /// These points are to be evaluated, too; those without an estimate are estimated now. Points that are guilty already
  /// are not leased: see take_guilty(). O(points log points) with all that wait.
  void add(const std::vector<std::uint32_t>& points);
  /// Whether the point may run beside others: it is no suspect and needs no node to itself.
  [[nodiscard]] bool is_ordinary(std::uint32_t point);
  /// Whether the rank has a point at hand that nothing may run beside: a suspect, or one that has its node to itself.
  [[nodiscard]] bool works_alone(std::size_t rank) const { return exclusive_[rank] > 0 || queue_.has_suspect(rank); }

  /// The next lease for a rank, as LeaseQueue::next(), or one that has its node to itself. The ledger notes it.
  [[nodiscard]] std::optional<Lease> next(std::size_t rank, double backlog_seconds,
                                          double time_left = LeaseQueue::no_time_limit);
  void set_threads(std::size_t rank, int threads) { queue_.set_threads(rank, threads); }
  /// Takes a rank's report: finished leases, speed, times of points of each kind. When enough is learned, the
  /// expectations of all waiting points are updated.
  void learn(std::size_t rank, const RankReport& report);

  /// As the function lose() below, for one open work.
  Death lose(std::size_t rank, const WriterTrace& trace, bool memory_kill);
  /// Points that became guilty since the last call. They need rows (Quarantine::row_of()).
  [[nodiscard]] std::vector<std::uint32_t> take_guilty();

  /// Takes out points that no rank would finish in time; returns their number.
  std::size_t withdraw(double time_left);

  /// Whether no point waits, and whether no point is leased either.
  [[nodiscard]] bool nothing_waits() const { return queue_.empty() && nodes_.empty(); }
  [[nodiscard]] bool all_done() const {
    return nothing_waits() && queue_.leases_out() == 0 && nodes_.leases_out() == 0;
  }
  /// As LeaseQueue::seconds_left().
  [[nodiscard]] double seconds_left() const { return queue_.seconds_left(); }
  [[nodiscard]] const LearnedCosts& costs() const { return costs_; }
  /// The expected work of the points that have not ended, and the longest of those that are not leased.
  [[nodiscard]] const ExpectedWork& expected_work() const { return work_; }
  [[nodiscard]] PointAtWork longest_waiting() const;

 private:
  friend Death lose(const std::vector<OpenWork*>& works, std::size_t rank, const WriterTrace& trace, bool memory_kill);

  [[nodiscard]] PointCost cost_of(std::uint32_t point);
  /// Puts back what is left of a dead rank's points; returns their number.
  std::size_t inherit(const HeldPoints& held, const WriterTrace& trace);
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
  Quarantine& quarantine_;
  std::vector<std::uint32_t> guilty_;   ///< not returned yet by take_guilty()
  std::vector<std::size_t> exclusive_;  ///< number of node-exclusive leases per rank
};

/// The rank is dead and has left this trace: shares out what it had of these open works, which have one quarantine.
/// `memory_kill`: the system has counted a kill for lack of memory on its node.
Death lose(const std::vector<OpenWork*>& works, std::size_t rank, const WriterTrace& trace, bool memory_kill);

}  // namespace tenex
