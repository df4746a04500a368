// Engine, committer, signals and the way out of a rank.
#include "worker.hpp"

#include <algorithm>
#include <cstdlib>
#include <thread>

namespace tenex {

namespace {

using Clock = std::chrono::steady_clock;
// Launchers kill about 1 s after SIGTERM; the contract is half of that.
constexpr auto time_to_leave = std::chrono::milliseconds(400);
constexpr auto time_for_first_commit = std::chrono::milliseconds(300);
constexpr auto time_for_last_commit = std::chrono::milliseconds(60);

}  // namespace

void AdaptiveSleep::rest(bool did_something) {
  using std::chrono::microseconds;
  if (did_something) {
    next_ = microseconds(50);
    return;
  }
  std::this_thread::sleep_for(next_);
  next_ = std::min(next_ * 2, microseconds(2000));
}

Worker::Worker(const Study& study, const RankSetup& setup, Estimates& estimates, ShardWriter writer)
    : threads_(static_cast<std::size_t>(std::max(1, setup.engine.threads))),
      committer_(std::make_shared<Committer>(study, setup.out, std::move(writer))),
      engine_(
          study, setup.engine, setup.evaluate_point, estimates,
          [committer = committer_](FinishedPoint point) { committer->put(std::move(point)); },
          [committer = committer_](std::uint32_t point) { committer->announce(point); }) {}

WayOut::WayOut(Signals& signals, LeaveProcess leave, std::function<void()> release)
    : signals_(signals), leave_(std::move(leave)), release_(std::move(release)) {}

bool WayOut::poll(Worker* worker) {
  const auto request = signals_.poll();
  asked_ = asked_ || request != SignalRequest::none;
  if (request != SignalRequest::none && worker != nullptr) worker->engine().drain();
  if (request == SignalRequest::abort) leave_now();
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

void WayOut::leave_now() {
  if (release_) release_();
  leave_(exit_interrupted);
}

LeaveProcess leave_process() {
  return [](int code) { std::_Exit(code); };
}

}  // namespace tenex
