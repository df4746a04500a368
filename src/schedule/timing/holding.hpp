// What has happened to one chunk at one vertex while a schedule is re-timed: which send waits for what (retime.cpp says
// why).
#pragma once

#include <algorithm>
#include <limits>

#include "tenex/schedule/send.hpp"

namespace tenex {

/// In new times, in picoseconds.
struct Holding {
  using Time = SimTime::Rep;
  static constexpr Time kNever = std::numeric_limits<Time>::max();

  Time copied = kNever;           ///< the final value was delivered (or there at first)
  Time summed = 0;                ///< the last partial sum arrived
  Time last_sent = -1;            ///< the last partial sum left
  bool own_sum_complete = false;  ///< it sent the final value without having received it

  /// When the holding is what the given schedule sends: all partial sums that had come, or the final value.
  [[nodiscard]] Time ready(Stage stage) {
    if (stage == Stage::copy && copied == kNever) own_sum_complete = true;
    return stage == Stage::reduce || own_sum_complete ? summed : copied;
  }
  /// A partial sum leaves.
  void send_sum(Time time) { last_sent = std::max(last_sent, time); }
  /// Enters a delivery. The earliest time at which the given order of events allows it: a partial sum that the last
  /// one sent did not carry comes after that has left, and a final value does not overtake a partial sum.
  [[nodiscard]] Time deliver(Stage stage, Time time) {
    if (stage == Stage::copy) {
      copied = std::min(copied, time);
      return summed;
    }
    summed = std::max(summed, time);
    return last_sent + 1;
  }
};

}  // namespace tenex
