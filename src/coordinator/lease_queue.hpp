// Lease queue: decides which rank evaluates which points next. A plain value without clock, threads or messages.
//
// Idea: guided self-scheduling (Polychronopoulos and Kuck, 1987) over points sorted longest expected first (Graham's
// LPT rule), with the ranks' speeds learned during the run. A lease takes its rank about one second and never more than
// half of the rank's fair share of the remaining work. So leases shrink towards the end, and no rank holds much then.
// Three rules keep one slow rank from delaying the others:
//   - probe: a rank of unknown speed gets one small lease and no second one before it is done;
//   - reserve: a rank that is less than half as fast as the fastest, or still has work at hand, gets only points that
//     it would finish within 3/4 of the time that all ranks together still need; if there are none it waits;
//   - longest: every other rank gets the longest point that is left.
// The fastest rank always gets a lease when it has nothing at hand, so the queue always empties.
//
// Points of a lost rank come back (put_back). A point that may have ended the rank is a suspect: it is leased by
// itself, to a rank that has nothing else at hand. While another rank lives it is not leased to rank 0, because the run
// would end with rank 0. Expectations may be corrected while points wait (rescale), and points that no rank would
// finish in time are taken out (withdraw).
//
// Encoding: points are in one array sorted by (seconds descending, index). Taken points are skipped by a union-find
// whose root is the next free position, so a point is found and taken in nearly constant time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <unordered_map>
#include <vector>

namespace tenex {

/// A point that waits for evaluation.
struct PointCost {
  std::uint32_t point = 0;  ///< index in the study
  double seconds = 0;       ///< expected, on one thread, before any correction
  std::uint32_t kind = 0;   ///< points of a kind share a correction (cost_model.hpp)
  bool threaded = false;    ///< its time is about inversely proportional to the number of threads
};

/// Points handed to one rank.
struct Lease {
  std::uint64_t id = 0;
  std::vector<std::uint32_t> points;  ///< longest expected first
  double seconds = 0;                 ///< expected, summed over the points
  double scale = 1;        ///< corrected over uncorrected expectation: the runner multiplies its estimates by it
  bool careful = false;    ///< one point that may end its process: evaluated with nothing else beside it
  bool exclusive = false;  ///< one point that may need all of its node's memory: no other rank of the node works
  std::uint8_t round = 0;  ///< of the search, counted from 1: points are valued, not evaluated; 0: points are evaluated
};

struct LeaseOptions {
  double target_seconds = 1.0;         ///< length of a lease, in seconds of its rank's time
  double probe_fraction = 1.0 / 16.0;  ///< length of a rank's first lease, as a fraction of the target
  std::size_t most_points = 512;       ///< per lease, so that its message stays small
  bool spare_first = false;            ///< rank 0 takes no suspect while another rank lives
  std::uint64_t first_id = 1;          ///< leases are numbered from here: open works of one run differ by at least 2^40
  bool safe_when_finished = false;     ///< rank 0 has what a finished lease made, so its points are not leased again
};

/// The progress that a rank reports. Both numbers count from the start of the run.
struct RankProgress {
  double expected_done = 0;  ///< expected seconds of the points that it finished
  double busy_seconds = 0;   ///< time in which it evaluated anything
};

/// The queue of points and the state of all ranks' leases. Not thread-safe.
class LeaseQueue {
 public:
  /// `threads_of_rank[r]` is the assumed speed of rank r before anything is measured. O(points log points).
  LeaseQueue(const std::vector<PointCost>& points, const std::vector<int>& threads_of_rank, LeaseOptions options = {});

  /// The next lease for `rank`, which has unfinished points worth `backlog_seconds` (expected) at hand. Empty when
  /// nothing is left, or when the rank should wait (see `reserve` and `probe` above): ask again after the next change.
  /// Points that the rank would not finish within `time_left` seconds are not leased. O(points of the lease).
  [[nodiscard]] std::optional<Lease> next(std::size_t rank, double backlog_seconds, double time_left = no_time_limit);

  /// Corrects the number of threads of a rank. O(1).
  void set_threads(std::size_t rank, int threads) { ranks_[rank].threads = threads < 1 ? 1 : threads; }
  /// Learns from a rank's report. O(1).
  void learn(std::size_t rank, const RankProgress& progress);
  /// Notes that a lease is done; unknown ids (a repeated report) are ignored. O(leases at hand).
  void finish(std::size_t rank, std::uint64_t lease);

  /// Adds points to those that wait. O(points log points) with all of them.
  void add(const std::vector<PointCost>& points);
  /// Takes back points that are to be leased again. `suspects`: each in a lease of its own. O(points).
  void put_back(const std::vector<PointCost>& points, bool suspects);
  /// The rank is dead: it gets no more leases and holds none. O(ranks).
  void lose(std::size_t rank);
  /// Multiplies the original expectations of each kind by its factor, which replaces the factor of before. O(points log
  /// points).
  void rescale(const std::function<double(std::uint32_t)>& factor_of_kind);
  /// Takes out the points that no living rank would finish within `time_left` seconds if it began now; returns their
  /// number. O(points that are expected to take longer on one thread).
  std::size_t withdraw(double time_left);

  static constexpr double no_time_limit = std::numeric_limits<double>::infinity();

  [[nodiscard]] bool empty() const { return waiting_points_ == 0; }
  /// Points that are not leased yet, and their expected seconds.
  [[nodiscard]] std::size_t waiting_points() const { return waiting_points_; }
  [[nodiscard]] double waiting_seconds() const { return waiting_points_ == 0 ? 0.0 : waiting_seconds_; }
  /// The longest waiting point, without those that came back, with its uncorrected seconds. Amortized O(1).
  [[nodiscard]] PointCost longest_waiting() const;
  /// Leases of a rank that are not reported as done.
  [[nodiscard]] std::size_t leases_with(std::size_t rank) const { return ranks_[rank].leases.size(); }
  /// Whether the rank has a suspect at hand.
  [[nodiscard]] bool has_suspect(std::size_t rank) const {
    return std::ranges::any_of(ranks_[rank].leases, &Rank::Held::careful);
  }
  [[nodiscard]] std::size_t leases_out() const;
  /// Expected seconds that the rank works off per second: learned, or its number of threads.
  [[nodiscard]] double speed_of(std::size_t rank) const;
  /// Seconds until all points are done if every rank keeps its speed: expected seconds of waiting and leased points
  /// over the sum of speeds. O(ranks).
  [[nodiscard]] double seconds_left() const;

 private:
  /// A waiting point. `kind` indexes factors_.
  struct Waiting {
    std::uint32_t point = 0;
    std::uint32_t kind : 31 = 0;
    std::uint32_t threaded : 1 = 0;
    double seconds = 0;  ///< uncorrected
  };
  struct Rank {
    int threads = 1;
    bool lost = false;
    double expected = 0;  ///< sums that give the speed, in which older reports fade
    double busy = 0;
    RankProgress last;
    double backlog = 0;  ///< expected seconds at hand, as last reported
    struct Held {
      std::uint64_t id;
      double seconds;
      bool careful;
    };
    std::vector<Held> leases;
  };

  [[nodiscard]] bool known(const Rank& rank) const { return rank.busy > 0 && rank.expected > 0; }
  [[nodiscard]] Waiting waiting_of(const PointCost& cost);
  [[nodiscard]] double seconds_of(const Waiting& point) const { return point.seconds * factors_[point.kind]; }
  /// The time that this rank is expected to take for the point, with the threads that it can use.
  [[nodiscard]] double duration_on(std::size_t rank, const Waiting& point) const;
  [[nodiscard]] std::size_t live_ranks() const;
  void drop_taken();
  void sort_and_link();
  void sort_returned();
  /// Expected seconds of waiting points that are neither suspects nor returned.
  [[nodiscard]] double ordinary_seconds() const;
  [[nodiscard]] std::optional<Lease> next_suspect(std::size_t rank, double time_left);
  [[nodiscard]] std::optional<Lease> next_returned(std::size_t rank, double budget);
  [[nodiscard]] Lease hand_out(std::size_t rank, Lease lease);
  [[nodiscard]] std::size_t first_for(const Rank& rank, double speed) const;
  [[nodiscard]] std::size_t probe_start(double budget) const;
  /// Limits for take_from(): expected seconds in all. Points beyond `budget` are taken only where threads would idle.
  struct Allowance {
    double budget = 0;
    double cap = 0;
    double time_left = 0;
  };
  [[nodiscard]] Lease take_from(std::size_t position, const Allowance& allowed, std::size_t rank);
  [[nodiscard]] std::size_t free_from(std::size_t position) const;
  [[nodiscard]] std::size_t first_at_most(double seconds) const;
  [[nodiscard]] double sum_of_speeds() const;
  [[nodiscard]] double fastest() const;

  LeaseOptions options_;
  std::vector<Waiting> points_;
  mutable std::vector<std::uint32_t> next_free_;  ///< union-find with path halving
  std::vector<double> factors_;                   ///< by index of the kind
  std::unordered_map<std::uint32_t, std::uint32_t> kind_index_;
  std::vector<Waiting> suspects_;  ///< longest last
  std::vector<Waiting> returned_;  ///< longest last
  std::vector<Rank> ranks_;
  std::size_t waiting_points_ = 0;
  double waiting_seconds_ = 0;
  std::uint64_t next_id_;
};

}  // namespace tenex
