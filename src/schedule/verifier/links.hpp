// Link occupancy: no link carries two sends at once. Sends come in order of start, so one time per link is enough.
#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "schedule/verifier/context.hpp"

namespace tenex::verifier {

/// The time until which each link is taken. O(links) memory.
class LinkOccupancy {
 public:
  explicit LinkOccupancy(std::size_t links)
      : busy_until_(links, SimTime::of(std::numeric_limits<SimTime::Rep>::min())) {}

  /// Takes the send's link for its busy time. If the link was still taken at the send's start, returns the time until
  /// which it was.
  std::optional<SimTime> take(const Context& context, const Send& send) {
    auto& until = busy_until_[send.link.index()];
    const SimTime before = until;
    until = std::max(until, saturating_sum(send.start, context.hop(send).busy));
    return before > send.start ? std::optional(before) : std::nullopt;
  }

 private:
  std::vector<SimTime> busy_until_;
};

}  // namespace tenex::verifier
