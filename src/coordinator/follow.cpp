// The loop of a rank other than 0: it requests leases, evaluates, commits and reports.
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <future>
#include <memory>
#include <optional>
#include <thread>

#include "coordinator/rank_loop.hpp"
#include "lead_folder.hpp"
#include "tenex/coordinator/resources.hpp"
#include "worker.hpp"

namespace tenex {

namespace {

using Clock = std::chrono::steady_clock;

class Follower {
 public:
  Follower(const Study& study, const RankSetup& setup, Transport& transport, const LeaveProcess& leave)
      : study_(study),
        setup_(setup),
        transport_(transport),
        estimates_(study, setup.estimate_point),
        leave_(leave),
        exit_on_signal_(signals_, leave, {}) {}

  Result<RunReport> run() {
    report_.memory_kills = setup_.count_memory_kills();
    transport_.send(0, HelloMessage{study_.digest, study_.points.size(),
                                    static_cast<std::uint32_t>(setup_.runner.threads), host_name()});
    AdaptiveSleep sleep;
    while (!over_) sleep.rest(round());
    const auto deadline = Clock::now() + longest_goodbye;
    while (!transport_.all_sent() && Clock::now() < deadline) sleep.rest(false);
    return outcome();
  }

 private:
  /// One round of the loop; returns whether anything happened.
  bool round() {
    bool active = receive();
    mind_rank_zero();
    if (exit_on_signal_.poll(worker_ ? &*worker_ : nullptr)) stop(DrainReason::signal);
    if (worker_ && worker_->committer().failed()) stop(DrainReason::error);
    take_report();
    if (worker_)
      for (const auto& line : worker_->take_solver_lines()) fmt::print(stderr, "{}\n", line);
    if (!said_bye_ && no_more_ && (!worker_ || worker_->idle())) finish();
    if (!said_bye_ && worker_ && !no_more_) active = ask_for_more() || active;
    if (Clock::now() - last_word_ > alive_interval(setup_.silence)) say(AliveMessage{report_});
    return active;
  }

  bool receive() {
    bool any = false;
    while (const auto message = transport_.receive()) {
      any = true;
      last_heard_ = Clock::now();
      if (const auto* start = std::get_if<StartMessage>(&message->second)) begin(*start);
      if (const auto* lease = std::get_if<LeaseMessage>(&message->second); lease != nullptr && worker_) {
        log_->note(LogLevel::info, fmt::format("lease {}: {} points, {:.3g} s expected", lease->id,
                                               to_points(lease->ranges).size(), lease->seconds));
        worker_->runner().push({lease->id, to_points(lease->ranges), lease->seconds, lease->scale, lease->careful,
                                lease->exclusive, lease->round});
      }
      if (const auto* drain = std::get_if<DrainMessage>(&message->second)) {
        no_more_ = true;
        log_->note(LogLevel::info,
                   fmt::format("rank 0 says: no more leases{}",
                               drain->reason == DrainReason::done ? "" : ", and begin no further point"));
        if (drain->reason != DrainReason::done && worker_) worker_->runner().drain();
      }
      if (const auto* bye = std::get_if<ByeMessage>(&message->second)) {
        over_ = true;
        last_words_ = *bye;
        if (bye->lost_ranks > 0 && setup_.on_lost_rank) setup_.on_lost_rank();
      }
    }
    return any;
  }

  /// Rank 0 counts as dead after a long silence. Then this rank commits what is finished and leaves; the same command
  /// continues the run.
  void mind_rank_zero() {
    const auto now = Clock::now();
    if (now - last_round_ > setup_.silence / 4)
      last_heard_ = now;  // this process was stopped: messages are on their way
    last_round_ = now;
    if (now - last_heard_ <= setup_.silence) return;
    fmt::print(stderr,
               "rank {} on {}: rank 0 has sent nothing for {:.3g} s and counts as dead; the same command continues\n",
               transport_.rank(), host_name(), setup_.silence.count());
    const auto time_to_commit = std::chrono::duration_cast<Clock::duration>(setup_.time_to_commit);
    if (worker_) {
      worker_->runner().drain();
      worker_->committer().flush_until(now + time_to_commit);
    }
    if (!setup_.leave_the_dead) return leave_(exit_interrupted);
    // Leaving ends the other ranks too. They may notice the silence a little later, and need as long to commit.
    if (transport_.size() > 2) std::this_thread::sleep_until(now + time_to_commit + alive_interval(setup_.silence));
    setup_.leave_the_dead(exit_interrupted);
  }

  void begin(const StartMessage& start) {
    if (no_more_) return;  // stopped before it began
    log_ = open_log(setup_, start.incarnation, transport_.rank());
    log_->note(LogLevel::info, fmt::format("run {} begins: rank {} of {} on {}, {} threads", start.incarnation,
                                           transport_.rank(), transport_.size(), host_name(), setup_.runner.threads));
    auto writer =
        ShardWriter::open(setup_.out, study_, start.incarnation, static_cast<std::uint32_t>(transport_.rank()));
    if (writer.ok()) {
      worker_.emplace(study_, setup_, estimates_, std::move(*writer), log_);
    } else {
      append(errors_, writer.errors());
      stop(DrainReason::error);
    }
  }

  /// Stops because of an event on this rank. Sends DRAIN once; rank 0 tells the other ranks.
  void stop(DrainReason reason) {
    if (told_to_stop_) return;
    told_to_stop_ = no_more_ = true;
    log_->note(LogLevel::warning,
               fmt::format("begins no further point ({})",
                           reason == DrainReason::error ? "its rows cannot be stored" : "a signal asked for that"));
    if (worker_) worker_->runner().drain();
    say(DrainMessage{reason});
  }

  void take_report() {
    if (!worker_) return;
    auto fresh = worker_->runner().report();
    fresh.finished_leases.insert(fresh.finished_leases.begin(), report_.finished_leases.begin(),
                                 report_.finished_leases.end());
    fresh.costs.insert(fresh.costs.begin(), report_.costs.begin(), report_.costs.end());
    fresh.early_values.insert(fresh.early_values.begin(), report_.early_values.begin(), report_.early_values.end());
    fresh.memory_kills = report_.memory_kills;
    report_ = std::move(fresh);
  }

  /// Sends REQUEST if something has changed since the last one. Rank 0 answers when it has a lease for this rank.
  bool ask_for_more() {
    const std::array<std::uint64_t, 3> state = {report_.leases_received, report_.backlog_seconds > 0 ? 1U : 0U,
                                                report_.finished_leases.size()};
    const bool news = !asked_ || state[0] != asked_state_[0] || state[1] != asked_state_[1] || state[2] > 0;
    if (!news || !worker_->wants_more()) return false;
    asked_ = true;
    asked_state_ = state;
    say(RequestMessage{report_});
    return true;
  }

  /// Commits all rows on another thread, so that this one goes on to send ALIVE, and then sends BYE.
  void finish() {
    if (worker_ && !committing_.valid())
      committing_ = std::async(std::launch::async, [this] { return worker_->committer().finish(); });
    if (worker_ && committing_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
    said_bye_ = true;
    if (worker_) {
      const auto status = committing_.get();
      if (!status.ok()) append(errors_, status.errors());
      take_report();
    }
    log_->note(LogLevel::info,
               fmt::format("is done: {} points evaluated, {} not ok", report_.evaluated, report_.failed));
    say(ByeMessage{report_, errors_, false, 0});
  }

  void say(const RankMessage& message) {
    transport_.send(0, message);
    last_word_ = Clock::now();
    if (std::holds_alternative<DrainMessage>(message)) return;
    report_.finished_leases.clear();  // the other messages contain the report
    report_.costs.clear();
    report_.early_values.clear();
    report_.memory_kills = setup_.count_memory_kills();
  }

  Result<RunReport> outcome() const {
    if (!last_words_.errors.empty()) return last_words_.errors;
    if (!errors_.empty()) return errors_;
    RunReport result;
    result.points = study_.points.size();
    result.evaluated = static_cast<std::size_t>(report_.evaluated);
    result.failed = static_cast<std::size_t>(last_words_.report.failed);
    result.interrupted = last_words_.interrupted;
    result.lost_ranks = static_cast<std::size_t>(last_words_.lost_ranks);
    result.seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    return result;
  }

  const Study& study_;
  const RankSetup& setup_;
  Transport& transport_;
  Estimates estimates_;
  LeaveProcess leave_;
  Signals signals_;
  ExitOnSignal exit_on_signal_;
  std::shared_ptr<const RankLog> log_ = std::make_shared<RankLog>();
  std::optional<Worker> worker_;
  std::future<Status> committing_;  ///< declared after the worker, so that it ends first
  RankReport report_;
  Diagnostics errors_;
  ByeMessage last_words_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_word_ = start_;
  Clock::time_point last_heard_ = start_;
  Clock::time_point last_round_ = start_;
  bool no_more_ = false;
  bool told_to_stop_ = false;
  bool said_bye_ = false;
  bool over_ = false;
  bool asked_ = false;
  std::array<std::uint64_t, 3> asked_state_{};
};

}  // namespace

Result<RunReport> follow(const Study& study, const RankSetup& setup, Transport& transport, const LeaveProcess& leave) {
  return Follower(study, setup, transport, leave).run();
}

}  // namespace tenex
