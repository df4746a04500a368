// Rank 0: owns the folder and the lease queue, answers the others, evaluates too, and ends the run.
#include <fmt/format.h>

#include <chrono>
#include <future>
#include <optional>
#include <type_traits>
#include <vector>

#include "tenex/coordinator/progress.hpp"
#include "tenex/coordinator/rank_loop.hpp"
#include "tenex/coordinator/resources.hpp"
#include "worker.hpp"

namespace tenex {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto longest_goodbye = std::chrono::seconds(10);

struct Peer {
  std::string host = "?";
  int threads = 1;
  RankReport report;
  std::uint64_t leases_sent = 0;
  bool asks = false;
  bool said_bye = false;
};

class Leader {
 public:
  Leader(const Study& study, const RankSetup& setup, Transport& transport, const LeaveProcess& leave, Signals& signals,
         std::optional<ResultFolder>& folder)
      : study_(study),
        setup_(setup),
        transport_(transport),
        folder_(folder),
        way_out_(signals, leave, [&folder] { folder.reset(); }),
        state_(folder->state()),
        estimates_(study, setup.estimate_point),
        peers_(transport.size()),
        progress_(setup.quiet, state_.done_count) {
    peers_[0].said_bye = true;
    for (auto& peer : peers_) peer.threads = setup.engine.threads;
  }

  Result<RunReport> run() {
    estimates_.start_all(points_to_do(), setup_.engine.threads);
    start_own_worker();
    AdaptiveSleep sleep;
    while (!everyone_done()) sleep.rest(round());
    finish_own_worker();
    RunReport report = count();
    report.warnings = state_.warnings;
    if (!state_.interrupted.empty()) report.warnings.push_back(describe_interrupted());
    progress_.finish(progress());
    if (errors_.empty() && !report.interrupted) merge_rows(report, sleep);
    say_goodbye(report, sleep);
    if (!errors_.empty()) return errors_;
    report.seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    return report;
  }

 private:
  std::vector<std::uint32_t> points_to_do() const {
    std::vector<std::uint32_t> points;
    points.reserve(study_.points.size() - state_.done_count);
    for (std::size_t i = 0; i < study_.points.size(); ++i) {
      if (!state_.done[i]) points.push_back(static_cast<std::uint32_t>(i));
    }
    return points;
  }

  /// Makes the lease queue once all points are estimated. Until then ranks wait for their first lease.
  bool open_queue() {
    if (queue_ || draining_ || !estimates_.all_known()) return false;
    std::vector<PointCost> costs;
    for (const auto point : points_to_do()) costs.push_back({point, estimates_.of(point).seconds});
    std::vector<int> threads;
    for (const auto& peer : peers_) threads.push_back(peer.threads);
    queue_.emplace(std::move(costs), threads);
    return true;
  }

  bool nothing_to_lease() const { return draining_ || (queue_ && queue_->empty()); }

  /// What an earlier run died in, or was stopped in.
  std::string describe_interrupted() const {
    const auto& first = study_.points[state_.interrupted.front()];
    return fmt::format(
        "points that an earlier run began and did not finish, to be evaluated again: {}; the first: {} {} on {}, "
        "key {}",
        state_.interrupted.size(), text_setting(first, "collective"), first.algorithm, first.topology.text,
        to_string(first.key));
  }

  void start_own_worker() {
    if (state_.done_count == study_.points.size()) return;  // nothing to evaluate: no shards to open
    auto writer = ShardWriter::open(setup_.out, study_, state_.incarnation, 0);
    if (writer.ok()) {
      worker_.emplace(study_, setup_, estimates_, std::move(*writer));
    } else {
      fail(writer.errors());
    }
  }

  bool everyone_done() const {
    for (const auto& peer : peers_) {
      if (!peer.said_bye) return false;
    }
    return nothing_to_lease() && (!worker_ || worker_->idle());
  }

  /// One round of the loop; whether anything happened.
  bool round() {
    bool active = receive();
    if (way_out_.poll(worker_ ? &*worker_ : nullptr)) drain(DrainReason::signal);
    if (worker_ && !failed_ && worker_->committer().failed()) fail({});
    active = open_queue() || active;
    active = serve_itself() || active;
    active = serve_others() || active;
    if (nothing_to_lease() && !draining_ && !told_done_) {
      told_done_ = true;
      tell_all(DrainMessage{DrainReason::done});
    }
    check_lock();
    progress_.update(progress());
    return active;
  }

  void check_lock() {
    if (failed_) return;
    if (const auto status = folder_->health(); !status.ok()) fail(status.errors());
  }

  void tell_all(const RankMessage& message) {
    for (std::size_t r = 1; r < peers_.size(); ++r) {
      if (!peers_[r].said_bye) transport_.send(r, message);
    }
  }

  void drain(DrainReason reason) {
    if (draining_) return;
    draining_ = true;
    if (worker_) worker_->engine().drain();
    tell_all(DrainMessage{reason});
  }

  /// Ends the run with an error; an empty list when the committer will name it.
  void fail(Diagnostics errors) {
    failed_ = true;
    append(errors_, std::move(errors));
    drain(DrainReason::error);
  }

  bool receive() {
    bool any = false;
    while (const auto message = transport_.receive()) {
      any = true;
      const auto from = message->first;
      std::visit([&](const auto& m) { handle(from, m); }, message->second);
    }
    return any;
  }

  void handle(std::size_t from, const HelloMessage& hello) {
    peers_[from].host = hello.host;
    peers_[from].threads = static_cast<int>(hello.threads);
    if (queue_) queue_->set_threads(from, peers_[from].threads);
    if (hello.study == study_.digest && hello.points == study_.points.size()) {
      transport_.send(from, StartMessage{state_.incarnation});
      return;
    }
    fail({environment_error(
        fmt::format("rank {} on {} read another study than rank 0 on {}", from, hello.host, host_name()),
        fmt::format("{} points with digest {} there, {} points with digest {} here", hello.points,
                    to_string(hello.study), study_.points.size(), to_string(study_.digest)),
        "give all ranks the same study file, machine files and version of tenex")});
  }
  void handle(std::size_t from, const RequestMessage& request) {
    learn(from, request.report);
    // A lease on its way to the rank already answers it.
    peers_[from].asks = peers_[from].leases_sent == request.report.leases_received;
  }
  void handle(std::size_t from, const AliveMessage& alive) { learn(from, alive.report); }
  void handle(std::size_t, const DrainMessage& wish) {
    failed_ = failed_ || wish.reason == DrainReason::error;
    drain(wish.reason);
  }
  void handle(std::size_t from, const ByeMessage& bye) {
    learn(from, bye.report);
    peers_[from].said_bye = true;
    for (auto error : bye.errors) {
      error.problem = fmt::format("rank {} on {}: {}", from, peers_[from].host, error.problem);
      errors_.push_back(std::move(error));
    }
  }
  void handle(std::size_t, const StartMessage&) { ensure(false, "START came from a worker"); }
  void handle(std::size_t, const LeaseMessage&) { ensure(false, "LEASE came from a worker"); }

  void learn(std::size_t rank, const RankReport& report) {
    peers_[rank].report = report;
    if (!queue_) return;  // no lease was given yet
    for (const auto id : report.finished_leases) queue_->finish(rank, id);
    queue_->learn(rank, report.progress);
  }

  bool serve_itself() {
    if (!worker_) return false;
    const auto report = worker_->engine().report();
    const bool news = !report.finished_leases.empty();
    learn(0, report);
    if (draining_ || !queue_ || !worker_->wants_more()) return news;
    const auto lease = queue_->next(0, report.backlog_seconds);
    if (lease) worker_->engine().push(*lease);
    return news || lease.has_value();
  }

  bool serve_others() {
    if (draining_ || !queue_) return false;
    bool any = false;
    for (std::size_t r = 1; r < peers_.size(); ++r) {
      if (!peers_[r].asks) continue;
      const auto lease = queue_->next(r, peers_[r].report.backlog_seconds);
      if (!lease) continue;
      transport_.send(r, LeaseMessage{lease->id, to_ranges(lease->points), lease->seconds});
      ++peers_[r].leases_sent;
      peers_[r].asks = false;
      any = true;
    }
    return any;
  }

  ProgressState progress() const {
    ProgressState state;
    state.done = state_.done_count;
    state.failed = state_.failed_count;
    for (const auto& peer : peers_) {
      state.done += static_cast<std::size_t>(peer.report.evaluated);
      state.failed += static_cast<std::size_t>(peer.report.failed);
    }
    state.total = study_.points.size();
    state.seconds_left = state.done > state_.done_count ? queue_->seconds_left() : -1.0;
    state.draining = draining_;
    return state;
  }

  void finish_own_worker() {
    if (!worker_) return;
    const auto status = worker_->committer().finish();
    if (!status.ok()) append(errors_, status.errors());
    learn(0, worker_->engine().report());
    worker_.reset();
  }

  RunReport count() const {
    RunReport report;
    report.points = study_.points.size();
    report.already_done = state_.done_count;
    report.failed = state_.failed_count;
    for (const auto& peer : peers_) {
      report.evaluated += static_cast<std::size_t>(peer.report.evaluated);
      report.failed += static_cast<std::size_t>(peer.report.failed);
    }
    report.interrupted = way_out_.leaving() || report.already_done + report.evaluated < report.points;
    return report;
  }

  /// On a thread of its own, so that signals are heard and a lost lock is noticed.
  void merge_rows(RunReport& report, AdaptiveSleep& sleep) {
    auto merging = std::async(std::launch::async, [&] { return merge(setup_.out, study_); });
    while (merging.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
      way_out_.poll(nullptr);
      check_lock();
      sleep.rest(false);
    }
    auto merged = merging.get();
    if (!merged.ok()) return append(errors_, merged.errors());
    report.merge = *merged;
    report.failed = merged->failed;
  }

  void say_goodbye(const RunReport& report, AdaptiveSleep& sleep) {
    ByeMessage bye;
    bye.report.evaluated = report.evaluated;
    bye.report.failed = report.failed;
    bye.errors = errors_;
    bye.interrupted = report.interrupted;
    for (std::size_t r = 1; r < peers_.size(); ++r) transport_.send(r, bye);
    const auto deadline = Clock::now() + longest_goodbye;
    while (!transport_.all_sent() && Clock::now() < deadline) {
      way_out_.poll(nullptr);
      sleep.rest(false);
    }
  }

  const Study& study_;
  const RankSetup& setup_;
  Transport& transport_;
  std::optional<ResultFolder>& folder_;
  WayOut way_out_;
  FolderState state_;
  Estimates estimates_;
  std::optional<LeaseQueue> queue_;  ///< once all points are estimated
  std::vector<Peer> peers_;          ///< by rank; 0 is this one
  ProgressReporter progress_;
  std::optional<Worker> worker_;
  Diagnostics errors_;
  Clock::time_point start_ = Clock::now();
  bool draining_ = false;
  bool failed_ = false;
  bool told_done_ = false;
};

/// The folder cannot be had: all ranks end with the same errors.
Diagnostics turn_away(Transport& transport, const Diagnostics& errors) {
  for (std::size_t r = 1; r < transport.size(); ++r) transport.send(r, ByeMessage{{}, errors, false});
  const auto deadline = Clock::now() + longest_goodbye;
  AdaptiveSleep sleep;
  while (!transport.all_sent() && Clock::now() < deadline) {
    while (transport.receive()) {
    }
    sleep.rest(false);
  }
  return errors;
}

}  // namespace

Result<RunReport> lead(const Study& study, const RankSetup& setup, Transport& transport, const LeaveProcess& leave) {
  Signals signals;  // from here on an interrupt is a request, so that the folder's lock is not left behind
  auto opened = ResultFolder::open(setup.out, study, setup.open);
  if (!opened.ok()) return turn_away(transport, opened.errors());
  std::optional<ResultFolder> folder(std::move(*opened));
  return Leader(study, setup, transport, leave, signals, folder).run();
}

}  // namespace tenex
