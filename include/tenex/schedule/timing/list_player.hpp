// Playing a list of sends in a given order: switches, messages, wires and sums of any kind.
//
// player.hpp plays what one pass in planned order can. Here a send waits for its link's previous send and for what the
// plan had at its source at its planned start: the final value, from the first of its deliveries on; or all partial
// sums; or, where arrivals stay apart at a switch, the one that it passes on; a later hop of a message for the hop
// before it. Where the plan had nothing in time, the send waits for the first delivery after it. All waits of a valid
// plan point back in planned time, so nothing is later than planned.
#pragma once

#include <span>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/collective/instance.hpp"
#include "tenex/schedule/schedule.hpp"

namespace tenex {

/// Sends in planned order: every link takes its sends in the order of the list.
struct PlannedSends {
  std::vector<Send> sends;        ///< hops of a message one after the other
  std::vector<SimTime> arrivals;  ///< planned; empty: each at its start and the latency of its hop
};

struct PlayRules {
  bool timed = false;                             ///< no send before its planned start
  std::span<const StartDelay> start_delays = {};  ///< nothing, own or forwarded, leaves these NPUs before their time
  SimTime copies_from = {};                       ///< no final value is sent before
};

/// The start of each send.
struct PlayedStarts {
  std::vector<SimTime> start;
  /// Whether what the plan kept apart stays apart: partial sums come after the sums that left without them, final
  /// values after the partial sums before them, separate sums in a queue keep their order. Always so where the plan is
  /// valid.
  bool in_order = true;
};

/// The earliest starts, in the order of `planned.sends`. Expects: links, chunks and starts in range, and less than 2^32
/// sends. Over wires (topology/wires.hpp) physical links keep their order, and signals stay together where the plan is
/// timed to share them; otherwise sends take turns in the order of the list. Errors (input): a send waits for a chunk
/// that never comes. About 120 bytes per send, 200 with sums. O(sends log sends), times the rounds until nothing is out
/// of order: one where sums travel in trees.
[[nodiscard]] Result<PlayedStarts> play_list(const Instance& instance, const PlannedSends& planned, PlayRules rules);

}  // namespace tenex
