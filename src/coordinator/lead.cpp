// The loop of rank 0: it owns the folder and the lease queue, answers the other ranks, evaluates too, and ends the run.
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/rank_loop.hpp"
#include "lead_folder.hpp"
#include "lead_progress.hpp"
#include "peer.hpp"
#include "run_warnings.hpp"
#include "staged_work.hpp"
#include "tenex/coordinator/resources.hpp"
#include "worker.hpp"

namespace tenex {

namespace {

using Clock = std::chrono::steady_clock;

class Leader {
 public:
  Leader(const Study& study, const RankSetup& setup, Transport& transport, const LeaveProcess& leave, Signals& signals,
         std::optional<ResultFolder>& folder)
      : study_(study),
        setup_(setup),
        transport_(transport),
        folder_(folder),
        exit_on_signal_(signals, leave,
                        [this] {
                          progress_.say(describe_leaving());
                          folder_.reset();
                        }),
        state_(folder->state()),
        estimates_(study, setup.estimate_point),
        peers_(transport.size()),
        progress_(study, setup, state_, estimates_) {
    peers_[0].said_bye = true;
    for (auto& peer : peers_) {
      peer.threads = setup.runner.threads;
      peer.last_word = Clock::now();
    }
  }

  Result<RunReport> run() {
    log_->note(LogLevel::info,
               fmt::format("run {} begins: {} points, {} done, {} ranks; rank 0 on {}, {} threads", state_.incarnation,
                           study_.points.size(), state_.done_count, peers_.size(), host_name(), setup_.runner.threads));
    start_own_worker();
    AdaptiveSleep sleep;
    while (!everyone_done()) sleep.rest(round());
    write_given_up_rows();
    finish_own_worker();
    RunReport report = count();
    report.warnings = state_.warnings;
    append_warnings(report);
    log_->note(LogLevel::info, fmt::format("the run is over: {} points evaluated{}", report.evaluated,
                                           report.interrupted ? ", interrupted" : ""));
    for (const auto& warning : report.warnings) log_->note(LogLevel::warning, warning);
    for (const auto& error : errors_) log_->note(LogLevel::warning, to_string(error));
    progress_.finish(moment());
    if (errors_.empty() && !report.interrupted) merge_rows(report, sleep);
    report.lost_ranks = lost_ranks_;
    send_bye(report, sleep);
    if (!errors_.empty()) return errors_;
    report.seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    return report;
  }

 private:
  /// Opens the work of the run's stages once its points are estimated. Until then ranks wait for their first lease.
  bool open_plan() { return !draining_ && stages_->open(peers_); }

  /// Cuts the search's round once all its points are valued.
  bool close_round() {
    if (draining_) return false;
    const auto closing = stages_->close_round();
    if (closing == StagedWork::Closing::lacking) drain(DrainReason::time);
    if (closing == StagedWork::Closing::cut) log_->note(LogLevel::info, "a round of the search is over");
    return closing != StagedWork::Closing::not_yet;
  }

  bool nothing_to_lease() const { return draining_ || stages_->nothing_to_lease(); }

  /// Writes rows for the points that are given up.
  bool write_given_up_rows() {
    if (!worker_ || failed_) return false;
    const auto points = stages_->take_guilty();
    for (const auto point : points) {
      worker_->committer().put({point, stages_->quarantine().row_of(point), unix_milliseconds()});
      ++quarantined_;
      state_.done[point] = true;
    }
    return !points.empty();
  }

  /// Seconds left until the time limit.
  double time_left() const {
    if (!setup_.runner.ends_at) return LeaseQueue::no_time_limit;
    return std::chrono::duration<double>(*setup_.runner.ends_at - Clock::now()).count();
  }

  /// Withdraws points that would not end before the time limit. Not in every round, since it may check many points.
  void withdraw_late_points() {
    if (!setup_.runner.ends_at || draining_ || Clock::now() < next_look_at_time_) return;
    next_look_at_time_ = Clock::now() + std::chrono::milliseconds(100);
    withdrawn_ += stages_->withdraw(time_left());
  }

  /// Declares ranks dead that cannot be reached or have sent nothing for too long; sends ALIVE to the others.
  bool check_peers() {
    bool any = false;
    for (const auto rank : transport_.failed_ranks()) any = declare_dead(rank, "it cannot be reached") || any;
    const auto now = Clock::now();
    if (now - last_round_ >
        setup_.silence / 4) {  // this process was stopped: the others' messages are still on their way
      for (auto& peer : peers_) peer.last_word = now;
    }
    last_round_ = now;
    for (std::size_t r = 1; r < peers_.size(); ++r)
      if (!peers_[r].lost && now - peers_[r].last_word > setup_.silence)
        any = declare_dead(r, fmt::format("it has sent nothing for {:.3g} s", setup_.silence.count())) || any;
    say_alive();
    return any;
  }

  void say_alive() {
    if (Clock::now() - last_sign_of_life_ < alive_interval(setup_.silence)) return;
    last_sign_of_life_ = Clock::now();
    for (std::size_t r = 1; r < peers_.size(); ++r)
      if (!peers_[r].lost) transport_.send(r, AliveMessage{});
  }

  /// Notes that the rank is dead; returns whether that is new.
  bool declare_dead(std::size_t rank, const std::string& why) {
    Peer& peer = peers_[rank];
    if (rank == 0 || peer.lost) return false;
    const bool had_work = !peer.said_bye;
    peer.lost = peer.said_bye = true;
    peer.asks = false;
    transport_.give_up(rank);
    if (++lost_ranks_ == 1 && setup_.on_lost_rank) setup_.on_lost_rank();
    if (had_work) reassign_points(rank, why);  // otherwise all its rows are committed
    return true;
  }

  /// Gives the points that a dead rank had not committed to others.
  void reassign_points(std::size_t rank, const std::string& why) {
    Peer& peer = peers_[rank];
    auto trace = read_trace(setup_.out, study_, state_.incarnation, static_cast<std::uint32_t>(rank));
    if (!trace.ok()) warnings_.push_back(to_string(trace.errors()));
    const WriterTrace left = trace.ok() ? *std::move(trace) : WriterTrace{};
    const bool memory_kill =
        memory_kills_beside(rank, peers_, setup_.nodes, setup_.count_memory_kills()) > peer.report.memory_kills;
    peer.report.evaluated = left.committed.size();
    peer.report.failed = left.not_ok;
    peer.report.skipped = 0;
    peer.report.running.clear();
    const auto death = stages_->lose(rank, left, memory_kill);
    if (death.killed_for_memory && worker_) worker_->committer().note_crash(*death.killed_for_memory, "out_of_memory");
    warnings_.push_back(fmt::format("rank {} on {} is lost ({}){}: {} of its points go to others", rank, peer.host, why,
                                    describe_end(study_, left, death), death.leased_again));
  }

  void append_warnings(RunReport& report) const {
    report.warnings.insert(report.warnings.end(), warnings_.begin(), warnings_.end());
    if (!state_.interrupted.empty()) report.warnings.push_back(describe_interrupted(study_, state_));
    if (quarantined_ > 0) report.warnings.push_back(describe_quarantined(quarantined_));
    if (report.too_long > 0) report.warnings.push_back(describe_too_long(report.too_long, setup_.whole_time_limit));
  }

  void start_own_worker() {
    const bool has_work = state_.done_count < study_.points.size();  // otherwise there are no shards to open
    auto writer = has_work ? std::optional(ShardWriter::open(setup_.out, study_, state_.incarnation, 0)) : std::nullopt;
    const bool writes = writer && writer->ok();
    stages_.emplace(study_, setup_, estimates_, state_.done, Quarantine(state_.crashes),
                    writes && study_.search.prunes());
    if (writes) worker_.emplace(study_, setup_, estimates_, std::move(**writer), log_);
    if (writer && !writes) fail(writer->errors());
  }

  bool everyone_done() const {
    for (const auto& peer : peers_) {
      if (!peer.said_bye) return false;
    }
    return nothing_to_lease() && (!worker_ || worker_->idle()) &&
           (draining_ || !stages_->pruning() || !stages_->pruning()->has_rows());
  }

  /// One round of the loop; returns whether anything happened.
  bool round() {
    bool active = receive();
    handle_signals();
    if (worker_ && !failed_ && worker_->committer().failed()) fail({});
    active = open_plan() || active;
    active = check_peers() || active;
    withdraw_late_points();
    active = write_given_up_rows() || active;
    active = close_round() || active;
    if (stages_->pruning() && worker_ && !draining_)
      active = stages_->pruning()->write_some(worker_->committer()) || active;
    active = serve_itself() || active;
    active = serve_others() || active;
    if (nothing_to_lease() && !draining_ && !told_done_) {
      told_done_ = true;
      tell_all(DrainMessage{DrainReason::done});
    }
    check_lock();
    progress_.tell(moment(), worker_ ? worker_->take_solver_lines() : std::vector<std::string>());
    return active;
  }

  void handle_signals() {
    if (!exit_on_signal_.poll(worker_ ? &*worker_ : nullptr)) return;
    if (!std::exchange(answered_, true) && !exit_on_signal_.leaving()) {
      if (worker_) learn(0, worker_->runner().report());
      progress_.answer_interrupt(moment(), exit_on_signal_.was_interrupted());
    }
    drain(DrainReason::signal);
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
    log_->note(LogLevel::info, "no rank begins a further point");
    if (worker_) worker_->runner().drain();
    tell_all(DrainMessage{reason});
  }

  /// Ends the run with an error. The list is empty when the committer will return the error.
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
      peers_[from].last_word = Clock::now();
      if (peers_[from].lost) {  // it is alive but others have its points: it may commit its rows
        if (!std::holds_alternative<ByeMessage>(message->second))
          transport_.send(from, DrainMessage{DrainReason::signal});
        continue;
      }
      std::visit([&](const auto& m) { handle(from, m); }, message->second);
    }
    return any;
  }

  void handle(std::size_t from, const HelloMessage& hello) {
    peers_[from].host = hello.host;
    peers_[from].threads = static_cast<int>(hello.threads);
    stages_->set_threads(from, peers_[from].threads);
    if (hello.study == study_.digest && hello.points == study_.points.size())
      return transport_.send(from, StartMessage{state_.incarnation});
    fail({other_study(from, hello, study_)});
  }
  void handle(std::size_t from, const RequestMessage& request) {
    learn(from, request.report);
    // A lease that is on its way to the rank already answers it.
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
    peers_[rank].heard = Clock::now();
    peers_[rank].report.early_values.clear();
    stages_->learn(rank, report);
  }

  void note_lease(const Lease& lease, std::size_t rank) const {
    if (!log_->wants(LogLevel::info)) return;  // the list may be long
    log_->note(LogLevel::info, fmt::format("lease {} to rank {}: {} points, {:.3g} s expected", lease.id, rank,
                                           lease.points.size(), lease.seconds));
  }

  bool serve_itself() {
    if (!worker_) return false;
    const auto report = worker_->runner().report();
    const bool news = !report.finished_leases.empty();
    learn(0, report);
    if (draining_ || !worker_->wants_more()) return news;
    auto lease = stages_->next(0, report.backlog_seconds, time_left());
    if (lease) note_lease(*lease, 0);
    if (lease) worker_->runner().push(*lease);
    return news || lease.has_value();
  }

  bool serve_others() {
    if (draining_) return false;
    bool any = false;
    for (std::size_t r = 1; r < peers_.size(); ++r) {
      if (!peers_[r].asks) continue;
      auto lease = stages_->next(r, peers_[r].report.backlog_seconds, time_left());
      if (!lease) continue;
      note_lease(*lease, r);
      transport_.send(r, LeaseMessage{lease->id, to_ranges(lease->points), lease->seconds, lease->scale, lease->careful,
                                      lease->exclusive, lease->round});
      ++peers_[r].leases_sent;
      peers_[r].asks = false;
      any = true;
    }
    return any;
  }

  RunMoment moment() const {
    return {peers_,       stages_->work(), stages_->search(), quarantined_ + pruned_now(),
            quarantined_, time_left(),     draining_};
  }

  void finish_own_worker() {
    if (!worker_) return;
    const auto status = worker_->committer().finish();
    if (!status.ok()) append(errors_, status.errors());
    learn(0, worker_->runner().report());
    worker_.reset();
  }

  /// Rows written for points that the search left out.
  std::size_t pruned_now() const { return stages_->pruning() ? stages_->pruning()->rows_written() : 0; }

  RunReport count() const {
    RunReport report;
    report.points = study_.points.size();
    report.already_done = state_.done_count;
    report.failed = state_.failed_count;
    for (const auto& peer : peers_) {
      report.evaluated += static_cast<std::size_t>(peer.report.evaluated);
      report.failed += static_cast<std::size_t>(peer.report.failed);
      report.too_long += static_cast<std::size_t>(peer.report.skipped);
    }
    report.evaluated += quarantined_ + pruned_now();
    report.pruned = state_.pruned_count + pruned_now();
    report.failed += quarantined_;
    report.quarantined = quarantined_;
    report.too_long += withdrawn_;
    report.interrupted = exit_on_signal_.leaving() || report.already_done + report.evaluated < report.points;
    return report;
  }

  /// Merges on another thread, so that this one sees signals and a lost lock.
  void merge_rows(RunReport& report, AdaptiveSleep& sleep) {
    stages_->clear();
    ::malloc_trim(0);  // returns the memory of open work and caches before the merge takes as much again
    auto merging = std::async(std::launch::async, [&] { return merge(setup_.out, study_); });
    while (merging.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
      if (exit_on_signal_.poll(nullptr) && !std::exchange(answered_, true)) progress_.say(describe_merging());
      check_lock();
      receive();
      check_peers();
      sleep.rest(false);
    }
    auto merged = merging.get();
    if (!merged.ok()) return append(errors_, merged.errors());
    report.merge = *merged;
    report.failed = merged->failed;
    report.pruned = merged->pruned;
  }

  void send_bye(const RunReport& report, AdaptiveSleep& sleep) {
    ByeMessage bye;
    bye.report.evaluated = report.evaluated;
    bye.report.failed = report.failed;
    bye.errors = errors_;
    bye.interrupted = report.interrupted;
    bye.lost_ranks = lost_ranks_;
    for (std::size_t r = 1; r < peers_.size(); ++r) transport_.send(r, bye);
    for (std::size_t r = 1; r < peers_.size(); ++r)
      if (peers_[r].lost) transport_.give_up(r);
    const auto deadline = Clock::now() + longest_goodbye;
    while (!transport_.all_sent() && Clock::now() < deadline) {
      exit_on_signal_.poll(nullptr);
      sleep.rest(false);
    }
  }

  const Study& study_;
  const RankSetup& setup_;
  Transport& transport_;
  std::optional<ResultFolder>& folder_;
  ExitOnSignal exit_on_signal_;
  FolderState state_;
  std::shared_ptr<const RankLog> log_ = open_log(setup_, state_.incarnation, 0);
  Estimates estimates_;
  std::vector<Peer> peers_;           ///< by rank; 0 is this rank
  std::optional<StagedWork> stages_;  ///< made when the run begins
  LeadProgress progress_;
  std::optional<Worker> worker_;
  Diagnostics errors_;
  Clock::time_point start_ = Clock::now();
  bool draining_ = false;
  bool failed_ = false;
  bool told_done_ = false;
  bool answered_ = false;  ///< a signal was answered
  std::vector<std::string> warnings_;
  std::size_t lost_ranks_ = 0;
  std::size_t quarantined_ = 0;
  std::size_t withdrawn_ = 0;  ///< points that would not end within the time limit
  Clock::time_point last_round_ = start_;
  Clock::time_point last_sign_of_life_ = start_;
  Clock::time_point next_look_at_time_ = start_;
};

}  // namespace

Result<RunReport> lead(const Study& study, const RankSetup& setup, Transport& transport, const LeaveProcess& leave) {
  Signals signals;  // from here on an interrupt is a request, so that it cannot leave the folder's lock behind
  auto opened = open_folder(study, setup, transport);
  if (!opened.ok()) return turn_away(transport, opened.errors());
  std::optional<ResultFolder> folder(std::move(*opened));
  return Leader(study, setup, transport, leave, signals, folder).run();
}

}  // namespace tenex
