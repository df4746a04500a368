// Lease queue: which points which rank evaluates next, as a plain value without clock, threads or messages.
//
// Idea: guided self-scheduling (Polychronopoulos and Kuck, 1987) over points sorted longest expected first (Graham's
// LPT rule), with the ranks' speeds learned on the way. A lease is worth about one second of its rank's work and never
// more than half of the rank's fair share of what remains, so leases shrink towards the end and no rank is left holding
// much. Three rules keep one slow rank from holding up the rest:
//   probe     while a rank's speed is unknown it gets one small lease and nothing on top;
//   reserve   a rank less than half as fast as the fastest, or one that still has work at hand, gets only points that
//   it would
//             finish within 3/4 of the time that all ranks together still need; else it waits for a later answer;
//   longest   everyone else gets the longest point that is left.
// The fastest rank, once it has nothing at hand, is never refused, so the queue always empties.
//
// Encoding: points in one array sorted by (seconds descending, index); a taken point is skipped by a union-find whose
// root is the next free position, so a point is found and taken in nearly constant time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tenex {

/// A point that waits for evaluation.
struct PointCost {
  std::uint32_t point = 0;  ///< index in the study
  double seconds = 0;       ///< expected, on one thread
};

/// Points handed to one rank.
struct Lease {
  std::uint64_t id = 0;
  std::vector<std::uint32_t> points;  ///< longest expected first
  double seconds = 0;                 ///< expected, summed over the points
};

struct LeaseOptions {
  double target_seconds = 1.0;         ///< what a lease is worth, in seconds of its rank's time
  double probe_fraction = 1.0 / 16.0;  ///< of the target: a rank's first lease
  std::size_t most_points = 512;       ///< per lease, so that its message stays small
};

/// What a rank has done so far, in its own words. Both count up from the start of the run.
struct RankProgress {
  double expected_done = 0;  ///< expected seconds of the points that it finished
  double busy_seconds = 0;   ///< time in which it evaluated anything
};

/// The coordinator's bookkeeping. Not thread-safe.
class LeaseQueue {
 public:
  /// `threads_of_rank[r]` is the speed that rank r is credited with before anything is measured. O(points log points).
  LeaseQueue(std::vector<PointCost> points, const std::vector<int>& threads_of_rank, LeaseOptions options = {});

  /// The next lease for `rank`, which says that unfinished points worth `backlog_seconds` (expected) are at hand. Empty
  /// when nothing is left, and when the rank should wait (see `reserve` and `probe` above): ask again after the next
  /// change. O(points of the lease).
  [[nodiscard]] std::optional<Lease> next(std::size_t rank, double backlog_seconds);

  /// Corrects the threads that a rank was credited with. O(1).
  void set_threads(std::size_t rank, int threads) { ranks_[rank].threads = threads < 1 ? 1 : threads; }
  /// Learns from a rank's report. O(1).
  void learn(std::size_t rank, const RankProgress& progress);
  /// Notes that a lease is done; unknown ids (a repeated report) are ignored. O(leases at hand).
  void finish(std::size_t rank, std::uint64_t lease);

  [[nodiscard]] bool empty() const { return waiting_points_ == 0; }
  /// Points not leased yet, and their expected seconds.
  [[nodiscard]] std::size_t waiting_points() const { return waiting_points_; }
  [[nodiscard]] double waiting_seconds() const { return waiting_points_ == 0 ? 0.0 : waiting_seconds_; }
  /// Leases with a rank, not reported done.
  [[nodiscard]] std::size_t leases_with(std::size_t rank) const { return ranks_[rank].leases.size(); }
  [[nodiscard]] std::size_t leases_out() const;
  /// Expected seconds per second: learned, or the rank's threads.
  [[nodiscard]] double speed_of(std::size_t rank) const;
  /// Seconds until all points are done if every rank keeps its speed: what is waiting and what is leased over the sum
  /// of speeds. O(ranks).
  [[nodiscard]] double seconds_left() const;

 private:
  struct Rank {
    int threads = 1;
    double expected = 0;  ///< sums behind the speed, older reports fading
    double busy = 0;
    RankProgress last;
    double backlog = 0;  ///< expected seconds at hand, as last known
    struct Held {
      std::uint64_t id;
      double seconds;
    };
    std::vector<Held> leases;
  };

  [[nodiscard]] bool known(const Rank& rank) const { return rank.busy > 0 && rank.expected > 0; }
  [[nodiscard]] std::size_t first_for(const Rank& rank, double speed) const;
  [[nodiscard]] std::size_t probe_start(double budget) const;
  [[nodiscard]] Lease take_from(std::size_t position, double budget, double cap, int threads);
  [[nodiscard]] std::size_t free_from(std::size_t position) const;
  [[nodiscard]] std::size_t first_at_most(double seconds) const;
  [[nodiscard]] double sum_of_speeds() const;
  [[nodiscard]] double fastest() const;

  LeaseOptions options_;
  std::vector<PointCost> points_;
  mutable std::vector<std::uint32_t> next_free_;  ///< union-find with path halving
  std::vector<Rank> ranks_;
  std::size_t waiting_points_ = 0;
  double waiting_seconds_ = 0;
  std::uint64_t next_id_ = 1;
};

}  // namespace tenex
