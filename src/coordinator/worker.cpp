// The worker of a rank, and how a rank leaves on a signal.
#include "worker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <utility>

namespace tenex {

namespace {

using Clock = std::chrono::steady_clock;
// Launchers kill about 1 s after SIGTERM; tenex promises to leave within half of that.
constexpr auto time_to_leave = std::chrono::milliseconds(400);
constexpr auto time_for_first_commit = std::chrono::milliseconds(300);
constexpr auto time_for_last_commit = std::chrono::milliseconds(60);
// A second SIGINT is followed by no kill, so a busy machine or a slow disk gets the time that finished rows take.
constexpr auto time_for_commit_on_abort = std::chrono::seconds(5);

PointRunnerOptions with_crash_journal(PointRunnerOptions options, int journal_descriptor) {
  options.crash_journal = journal_descriptor;
  return options;
}

ShardWriter with_log(ShardWriter writer, std::shared_ptr<const RankLog> log) {
  writer.log_to(std::move(log));
  return writer;
}

EvaluatePoint with_log(const EvaluatePoint& evaluate_point, const std::shared_ptr<const RankLog>& log) {
  if (!log->wants(LogLevel::debug)) return evaluate_point;
  return [evaluate_point, log](const DesignPoint& point, Cache& cache, const EvaluateOptions& options) {
    const auto key = to_string(point.key);
    log->note(LogLevel::debug, fmt::format("begins {} on {} threads", key, options.threads));
    const auto begin = Clock::now();
    auto output = evaluate_point(point, cache, options);
    log->note(LogLevel::debug, fmt::format("ends {} after {:.6f} s, {}", key,
                                           std::chrono::duration<double>(Clock::now() - begin).count(),
                                           output.row.status == PointStatus::ok ? "ok" : output.row.reason));
    return output;
  };
}

}  // namespace

std::chrono::duration<double> alive_interval(std::chrono::duration<double> silence) {
  return std::min(std::chrono::duration<double>(5), silence / 12);
}

void AdaptiveSleep::rest(bool did_something) {
  using std::chrono::microseconds;
  if (did_something) {
    next_ = microseconds(50);
    return;
  }
  std::this_thread::sleep_for(next_);
  next_ = std::min(next_ * 2, microseconds(2000));
}

std::int64_t unix_milliseconds() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::shared_ptr<const RankLog> open_log(const RankSetup& setup, std::uint32_t incarnation, std::size_t rank) {
  auto log = RankLog::open(setup.out, incarnation, static_cast<std::uint32_t>(rank), setup.log_level);
  if (log.ok()) return std::make_shared<RankLog>(std::move(*log));
  fmt::print(stderr, "warning: rank {} writes no log: {}\n", rank, to_string(log.errors()));
  return std::make_shared<RankLog>();
}

Worker::Worker(const Study& study, const RankSetup& setup, Estimates& estimates, ShardWriter writer,
               const std::shared_ptr<const RankLog>& log)
    : threads_(static_cast<std::size_t>(std::max(1, setup.runner.threads))),
      committer_(std::make_shared<Committer>(study, setup.out, with_log(std::move(writer), log))),
      runner_(
          study, with_crash_journal(setup.runner, committer_->journal_descriptor()),
          with_log(setup.quiet ? setup.evaluate_point : solver_lines_.tell_of(setup.evaluate_point), log), estimates,
          [committer = committer_](FinishedPoint point) { committer->put(std::move(point)); },
          [committer = committer_](std::uint32_t point) { committer->announce(point); }) {}

ExitOnSignal::ExitOnSignal(Signals& signals, LeaveProcess leave, std::function<void()> release)
    : signals_(signals), leave_(std::move(leave)), release_(std::move(release)) {}

bool ExitOnSignal::poll(Worker* worker) {
  const auto request = signals_.poll();
  asked_ = asked_ || request != SignalRequest::none;
  if (request != SignalRequest::none && worker != nullptr) worker->runner().drain();
  if (request == SignalRequest::abort) {
    if (worker != nullptr) worker->committer().flush_until(Clock::now() + time_for_commit_on_abort);
    leave_now();
  }
  if (request == SignalRequest::leave && !deadline_) {
    const auto now = Clock::now();
    deadline_ = now + time_to_leave;
    if (worker != nullptr) worker->committer().flush_until(now + time_for_first_commit);
  }
  if (deadline_ && Clock::now() >= *deadline_) {
    if (worker != nullptr) worker->committer().flush_until(*deadline_ + time_for_last_commit);
    leave_now();
  }
  return asked_;
}

void ExitOnSignal::leave_now() {
  if (release_) release_();
  leave_(exit_interrupted);
}

LeaveProcess leave_process() {
  return [](int code) { std::_Exit(code); };
}

}  // namespace tenex
