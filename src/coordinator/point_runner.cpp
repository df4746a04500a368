// The runner's thread, its queue and its two modes. See the header for the idea.
//
// One mutex guards all state; evaluation, estimation, the announcer and the sink run outside it. The next thread of the
// runner that looks for work unpacks a lease that has arrived (it estimates, sorts and queues the points), one lease at
// a time and in order. A thread in the wide region sleeps on `changed_` in two cases: the first waiting point does not
// fit into memory beside the running ones, or nothing waits but others still run (a lease may arrive).
#include "coordinator/point_runner.hpp"

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <limits>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <unordered_map>

#include "coordinator/crash_handler.hpp"
#include "tenex/coordinator/cost_model.hpp"

namespace tenex {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

EvaluationOutput failed_output(PointStatus status, std::string reason) {
  EvaluationOutput output;
  output.row.status = status;
  output.row.reason = std::move(reason);
  return output;
}

}  // namespace

bool wants_all_threads(const Estimate& estimate, double lease_seconds, const PointRunnerOptions& options) {
  if (options.threads <= 1) return false;
  if (options.one_by_one) return true;
  const auto threads = static_cast<std::size_t>(options.threads);
  const auto side_by_side = options.memory_limit_bytes / std::max<std::size_t>(1, estimate.bytes);
  if (side_by_side < 2) return true;
  if (estimate.seconds <= options.deep_seconds) return false;
  const bool fills_memory = estimate.bytes > options.memory_limit_bytes / 2 / threads;
  if (estimate.threaded && fills_memory && estimate.seconds > options.threaded_seconds) return true;
  return side_by_side < (threads + 1) / 2 || estimate.seconds > 1.5 * lease_seconds / options.threads;
}

int threads_kept(const Estimate& estimate, const PointRunnerOptions& options) {
  constexpr double beside_many = std::numeric_limits<double>::infinity();
  return !estimate.threaded && wants_all_threads(estimate, beside_many, options) ? options.threads : 1;
}

bool worth_announcing(const Estimate& estimate, const PointRunnerOptions& options) {
  return estimate.seconds > options.announce_seconds || estimate.bytes > options.memory_limit_bytes / 2;
}

class PointRunner::Impl {
 public:
  Impl(const Study& study, PointRunnerOptions options, EvaluatePoint evaluate_point, Estimates& estimates,
       PointSink sink, PointAnnouncer announce)
      : study_(study),
        options_(options),
        evaluate_point_(std::move(evaluate_point)),
        estimates_(estimates),
        sink_(std::move(sink)),
        announce_(std::move(announce)) {
    options_.threads = std::max(1, options_.threads);
    options_.node_memory_bytes = std::max(options_.node_memory_bytes, options_.memory_limit_bytes);
    thread_ = std::thread([this] { loop(); });
  }

  ~Impl() {
    drain();
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  void push(const Lease& lease) {
    {
      const std::lock_guard lock(mutex_);
      ++report_.leases_received;
      if (draining_) return;
      if (lease.points.empty()) {
        report_.finished_leases.push_back(lease.id);
        return;
      }
      left_of_lease_[lease.id] = lease.points.size();
      packed_points_ += lease.points.size();
      backlog_ += lease.seconds;
      arrived_.push_back(lease);
    }
    changed_.notify_all();
  }

  void drain() {
    {
      const std::lock_guard lock(mutex_);
      draining_ = true;
      for (const auto& task : waiting_) backlog_ -= task.estimate.seconds;
      waiting_.clear();
      for (const auto& lease : arrived_) forget_packed(lease);
      arrived_.clear();
    }
    changed_.notify_all();
  }

  RankReport report() {
    const std::lock_guard lock(mutex_);
    RankReport result = report_;
    report_.finished_leases.clear();
    report_.early_values.clear();
    for (const auto& [kind, cost] : costs_) result.costs.push_back(cost);
    costs_.clear();
    const auto now = Clock::now();
    for (const auto& begun : begun_)
      if (begun.listed) result.running.push_back({begun.point, begun.threads, seconds_between(begun.at, now)});
    result.backlog_seconds = nothing_at_hand() ? 0.0 : std::max(backlog_, 1e-9);
    return result;
  }

  std::size_t waiting() const {
    const std::lock_guard lock(mutex_);
    return waiting_.size() + packed_points_;
  }

  bool idle() const {
    const std::lock_guard lock(mutex_);
    return nothing_at_hand();
  }

 private:
  struct Task {
    std::uint32_t point = 0;
    Estimate estimate;       ///< seconds corrected by the lease's factor
    double uncorrected = 0;  ///< seconds as estimated
    std::uint32_t kind = 0;
    std::uint64_t lease = 0;
    bool deep = false;
    bool careful = false;  ///< announced whatever its size
    bool whole_node = false;
    std::uint8_t round = 0;  ///< of a search, from 1: the point is valued; 0: it is evaluated
  };
  struct Begun {
    std::uint32_t point = 0;
    std::uint32_t threads = 1;
    Clock::time_point at;
    bool listed = true;  ///< listed among the running points of reports: it will have a row
  };

  /// Call with the lock held, as the two below.
  bool nothing_at_hand() const { return waiting_.empty() && packed_points_ == 0 && running_ == 0; }
  bool can_unpack() const { return !arrived_.empty() && !unpacking_; }
  void forget_packed(const Lease& lease) {
    packed_points_ -= lease.points.size();
    backlog_ -= lease.seconds;
  }

  /// Queues the points of the first lease that has arrived. Enters and returns with the lock held; releases it to
  /// estimate.
  void unpack(std::unique_lock<std::mutex>& lock) {
    const Lease lease = std::move(arrived_.front());
    arrived_.pop_front();
    unpacking_ = true;
    lock.unlock();
    auto tasks = make_tasks(lease);
    lock.lock();
    unpacking_ = false;
    forget_packed(lease);
    if (!draining_) {
      for (auto& task : tasks) {
        backlog_ += task.estimate.seconds;
        waiting_.push_back(task);
      }
    }
    changed_.notify_all();
  }

  [[nodiscard]] Fidelity fidelity_of(std::uint8_t round) const { return study_.search.rounds.at(round - 1U).fidelity; }

  std::vector<Task> make_tasks(const Lease& lease) const {
    std::vector<Task> tasks;
    double total = 0;
    for (const auto point : lease.points) {
      Task task;
      task.point = point;
      task.round = lease.round;
      task.estimate = task.round == 0 ? estimates_.of(point)
                                      : options_.estimate_early(study_.points[point], fidelity_of(task.round));
      task.uncorrected = task.estimate.seconds;
      task.estimate.seconds *= lease.scale;
      if (task.round == 0) task.kind = estimates_.kind(point);
      task.lease = lease.id;
      task.careful = lease.careful;
      task.whole_node = lease.exclusive;
      total += task.estimate.seconds;
      tasks.push_back(task);
    }
    for (auto& task : tasks) {
      const bool alone = options_.threads > 1 && task.whole_node;
      task.deep = alone || wants_all_threads(task.estimate, total, options_);
    }
    std::ranges::sort(tasks, [](const Task& a, const Task& b) {
      return a.estimate.seconds != b.estimate.seconds ? a.estimate.seconds > b.estimate.seconds : a.point < b.point;
    });
    return tasks;
  }

  void loop() {
    omp_set_max_active_levels(1);  // a point evaluated inside the wide region must not open a region of its own
    while (true) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stopping_ || !waiting_.empty() || can_unpack(); });
      if (can_unpack()) unpack(lock);
      if (waiting_.empty()) {
        if (stopping_) return;
        continue;
      }
      if (skip_front(waiting_.front().deep)) continue;
      mark_progress_ = Clock::now();
      if (waiting_.front().deep) {
        const Task task = start_front(options_.threads);
        lock.unlock();
        run(task, options_.threads, true);
      } else {
        region_open_ = true;
        lock.unlock();
        run_wide();
      }
    }
  }

  void run_wide() {
#pragma omp parallel num_threads(options_.threads)
    while (const auto task = take_wide()) run(*task, 1, options_.threads == 1);
  }

  /// Waits for a point that may run now; empty when the region should end.
  std::optional<Task> take_wide() {
    std::unique_lock lock(mutex_);
    while (region_open_) {
      if (can_unpack()) {
        unpack(lock);
        continue;
      }
      if (waiting_.empty()) {
        if ((running_ == 0 && !unpacking_) || draining_) break;
      } else if (waiting_.front().deep) {
        break;
      } else if (skip_front(false)) {
        continue;
      } else if (running_ == 0 || running_bytes_ + waiting_.front().estimate.bytes <= options_.memory_limit_bytes) {
        return start_front(1);
      }
      changed_.wait(lock);
    }
    region_open_ = false;  // closed for all threads at once: one that stayed would get the next leases alone
    lock.unlock();
    changed_.notify_all();
    return std::nullopt;
  }

  /// Drops the first waiting point if it would not end in time. Call with the lock held.
  bool skip_front(bool deep) {
    if (!options_.ends_at) return false;
    const Task& task = waiting_.front();
    const bool shared = deep && task.estimate.threaded;
    const double seconds = task.estimate.seconds / (shared ? options_.threads : 1);
    if (seconds_between(Clock::now(), *options_.ends_at) >= seconds) return false;
    const auto lease = task.lease;
    backlog_ -= task.estimate.seconds;
    ++report_.skipped;
    waiting_.pop_front();
    note_end_of(lease);
    changed_.notify_all();
    return true;
  }

  /// Notes that one point of the lease is done. Call with the lock held.
  void note_end_of(std::uint64_t lease) {
    const auto left = left_of_lease_.find(lease);
    if (left == left_of_lease_.end() || --left->second > 0) return;
    report_.finished_leases.push_back(lease);
    left_of_lease_.erase(left);
  }

  /// Call with the lock held.
  Task start_front(int threads) {
    const Task task = waiting_.front();
    waiting_.pop_front();
    ++running_;
    begun_.push_back({task.point, static_cast<std::uint32_t>(threads), Clock::now(), task.round == 0});
    running_bytes_ += task.estimate.bytes;
    return task;
  }

  void run(const Task& task, int threads, bool alone) {
    if (announce_ && (task.careful || worth_announcing(task.estimate, options_))) announce_(task.point);
    if (task.round > 0) return value_early(task, threads);
    const auto begin = Clock::now();
    FinishedPoint finished;
    finished.point = task.point;
    finished.output = evaluate_guarded(task, threads, alone);
    finished.finished_unix_ms =
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
            .count();
    const bool ok = finished.output.row.status == PointStatus::ok;
    const double wall = seconds_between(begin, Clock::now());
    sink_(std::move(finished));
    note_finished(task, ok, wall, threads);
  }

  /// Evaluates a point of a search's round: it gets no row, and rank 0 gets its value.
  void value_early(const Task& task, int threads) {
    EarlyValue early{task.point, task.round - 1U, std::numeric_limits<double>::quiet_NaN()};
    try {
      const PointInHand in_hand(options_.crash_journal, study_.points.key(task.point), threads > 1);
      const auto value = options_.value_early(study_.points[task.point], fidelity_of(task.round),
                                              study_.search.objective, cache_, options_for(task, threads));
      if (value) early.value = *value;
    } catch (const std::exception&) {
      // The point goes on without a value; its row will show what the evaluation meets.
    }
    note_finished(task, early);
  }

  [[nodiscard]] EvaluateOptions options_for(const Task& task, int threads) const {
    EvaluateOptions options;
    options.threads = threads;
    const bool beyond_share = task.whole_node || task.estimate.bytes > options_.memory_limit_bytes;
    options.memory_limit_bytes = beyond_share ? options_.node_memory_bytes : options_.memory_limit_bytes;
    return options;
  }

  EvaluationOutput evaluate_guarded(const Task& task, int threads, bool alone) {
    EvaluateOptions options = options_for(task, threads);
    options.alone = alone;
    options.keep_schedule = task.point < study_.store_schedule.size() && study_.store_schedule[task.point];
    options.own_storage = options_.one_by_one;  // the point's times need it
    const bool here =
        study_.outputs.where.empty() || (task.point < study_.store_where.size() && study_.store_where[task.point]);
    const auto stores = [&](std::string_view name) {
      return here && std::ranges::find(study_.outputs.store, name) != study_.outputs.store.end();
    };
    options.link_loads = stores("link_bytes");
    options.group_times = stores("group_times");
    options.utilization_bins = stores("utilization") ? study_.outputs.utilization_bins : 0;
    options.arrivals = stores("arrivals");
    try {  // an exception must not leave an OpenMP region, and no point ends the study
      const PointInHand in_hand(options_.crash_journal, study_.points.key(task.point), threads > 1);
      return evaluate_point_(study_.points[task.point], cache_, options);
    } catch (const std::bad_alloc&) {
      return failed_output(PointStatus::out_of_memory, "the allocation failed (less memory was free than was planned)");
    } catch (const std::exception& error) {
      return failed_output(PointStatus::failed, error.what());
    }
  }

  void note_finished(const Task& task, bool ok, double wall, int threads) {
    {
      const std::lock_guard lock(mutex_);
      note_progress(task);
      ++report_.evaluated;
      report_.failed += ok ? 0 : 1;
      report_.occupied_seconds += wall * threads;
      auto& cost = costs_[task.kind];
      cost.kind = task.kind;
      cost.ended += task.uncorrected;
      if (ok) {  // a point without an ok row says nothing about its kind
        ++cost.points;
        cost.expected += task.uncorrected;
        cost.measured += wall * (task.estimate.threaded ? threads : 1);
      }
      note_end_of(task.lease);
    }
    changed_.notify_all();
  }

  void note_finished(const Task& task, const EarlyValue& early) {
    {
      const std::lock_guard lock(mutex_);
      note_progress(task);
      report_.early_values.push_back(early);  // before its lease ends: a rank that receives this report has every value
      note_end_of(task.lease);
    }
    changed_.notify_all();
  }

  /// Call with the lock held.
  void note_progress(const Task& task) {
    --running_;
    std::erase_if(begun_, [&](const Begun& begun) { return begun.point == task.point; });
    running_bytes_ -= task.estimate.bytes;
    backlog_ -= task.estimate.seconds;
    report_.progress.expected_done += task.estimate.seconds;
    const auto now = Clock::now();
    report_.progress.busy_seconds += seconds_between(mark_progress_, now);
    mark_progress_ = now;
  }

  const Study& study_;
  PointRunnerOptions options_;
  EvaluatePoint evaluate_point_;
  Estimates& estimates_;
  PointSink sink_;
  PointAnnouncer announce_;
  Cache cache_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Lease> arrived_;  ///< not unpacked yet
  std::deque<Task> waiting_;
  std::size_t packed_points_ = 0;  ///< in the arrived leases and the one that is being unpacked
  bool unpacking_ = false;
  std::unordered_map<std::uint64_t, std::size_t> left_of_lease_;
  std::unordered_map<std::uint32_t, KindCost> costs_;  ///< since the last report, by kind
  std::size_t running_ = 0;
  std::vector<Begun> begun_;  ///< points that run now
  std::size_t running_bytes_ = 0;
  double backlog_ = 0;
  RankReport report_;
  Clock::time_point mark_progress_;  ///< busy time is counted up to here; moves only while something runs
  bool region_open_ = false;
  bool draining_ = false;
  bool stopping_ = false;
  std::thread thread_;  // last member: the thread starts when all others are ready
};

PointRunner::PointRunner(const Study& study, PointRunnerOptions options, EvaluatePoint evaluate_point,
                         Estimates& estimates, PointSink sink, PointAnnouncer announce)
    : impl_(std::make_unique<Impl>(study, options, std::move(evaluate_point), estimates, std::move(sink),
                                   std::move(announce))) {}
PointRunner::~PointRunner() = default;

void PointRunner::push(const Lease& lease) { impl_->push(lease); }
void PointRunner::drain() { impl_->drain(); }
RankReport PointRunner::report() { return impl_->report(); }
std::size_t PointRunner::waiting() const { return impl_->waiting(); }
bool PointRunner::idle() const { return impl_->idle(); }

}  // namespace tenex
