// A rank other than 0: asks for leases, evaluates, commits, reports.
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <optional>

#include "tenex/coordinator/rank_loop.hpp"
#include "tenex/coordinator/resources.hpp"
#include "worker.hpp"

namespace tenex {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto alive_interval = std::chrono::seconds(5);

class Follower {
 public:
  Follower(const Study& study, const RankSetup& setup, Transport& transport, const LeaveProcess& leave)
      : study_(study),
        setup_(setup),
        transport_(transport),
        estimates_(study, setup.estimate_point),
        way_out_(signals_, leave, {}) {}

  Result<RunReport> run() {
    transport_.send(0, HelloMessage{study_.digest, study_.points.size(),
                                    static_cast<std::uint32_t>(setup_.engine.threads), host_name()});
    AdaptiveSleep sleep;
    while (!over_) sleep.rest(round());
    while (!transport_.all_sent()) sleep.rest(false);
    return outcome();
  }

 private:
  /// One round of the loop; whether anything happened.
  bool round() {
    bool active = receive();
    if (way_out_.poll(worker_ ? &*worker_ : nullptr)) stop(DrainReason::signal);
    if (worker_ && worker_->committer().failed()) stop(DrainReason::error);
    take_report();
    if (!said_bye_ && no_more_ && (!worker_ || worker_->idle())) say_bye();
    if (!said_bye_ && worker_ && !no_more_) active = ask_for_more() || active;
    if (!said_bye_ && Clock::now() - last_word_ > alive_interval) say(AliveMessage{report_});
    return active;
  }

  bool receive() {
    bool any = false;
    while (const auto message = transport_.receive()) {
      any = true;
      if (const auto* start = std::get_if<StartMessage>(&message->second)) begin(*start);
      if (const auto* lease = std::get_if<LeaseMessage>(&message->second); lease != nullptr && worker_) {
        worker_->engine().push({lease->id, to_points(lease->ranges), lease->seconds});
      }
      if (const auto* drain = std::get_if<DrainMessage>(&message->second)) {
        no_more_ = true;
        if (drain->reason != DrainReason::done && worker_) worker_->engine().drain();
      }
      if (const auto* bye = std::get_if<ByeMessage>(&message->second)) {
        over_ = true;
        last_words_ = *bye;
      }
    }
    return any;
  }

  void begin(const StartMessage& start) {
    if (no_more_) return;  // stopped before it began
    auto writer =
        ShardWriter::open(setup_.out, study_, start.incarnation, static_cast<std::uint32_t>(transport_.rank()));
    if (writer.ok()) {
      worker_.emplace(study_, setup_, estimates_, std::move(*writer));
    } else {
      append(errors_, writer.errors());
      stop(DrainReason::error);
    }
  }

  /// This rank's own wish to end the run: said once, rank 0 tells the others.
  void stop(DrainReason reason) {
    if (told_to_stop_) return;
    told_to_stop_ = no_more_ = true;
    if (worker_) worker_->engine().drain();
    say(DrainMessage{reason});
  }

  void take_report() {
    if (!worker_) return;
    auto fresh = worker_->engine().report();
    fresh.finished_leases.insert(fresh.finished_leases.begin(), report_.finished_leases.begin(),
                                 report_.finished_leases.end());
    report_ = std::move(fresh);
  }

  /// Asks when something has changed since it last asked; rank 0 answers when it has a lease for this rank.
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

  void say_bye() {
    said_bye_ = true;
    if (worker_) {
      const auto status = worker_->committer().finish();
      if (!status.ok()) append(errors_, status.errors());
      take_report();
    }
    say(ByeMessage{report_, errors_, false});
  }

  void say(const RankMessage& message) {
    transport_.send(0, message);
    last_word_ = Clock::now();
    if (!std::holds_alternative<DrainMessage>(message)) report_.finished_leases.clear();  // the others carry the report
  }

  Result<RunReport> outcome() const {
    if (!last_words_.errors.empty()) return last_words_.errors;
    if (!errors_.empty()) return errors_;
    RunReport result;
    result.points = study_.points.size();
    result.evaluated = static_cast<std::size_t>(report_.evaluated);
    result.failed = static_cast<std::size_t>(last_words_.report.failed);
    result.interrupted = last_words_.interrupted;
    result.seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    return result;
  }

  const Study& study_;
  const RankSetup& setup_;
  Transport& transport_;
  Estimates estimates_;
  Signals signals_;
  WayOut way_out_;
  std::optional<Worker> worker_;
  RankReport report_;
  Diagnostics errors_;
  ByeMessage last_words_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_word_ = Clock::now();
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
