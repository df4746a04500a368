// Plays chunks on given ways: every link takes, of the chunks that wait, the one that comes first in an order.
//
// The first order is: who has the most links to go. It is then justified (forward-backward improvement: Li and Willis,
// European Journal of Operational Research 56, 1992): played backward in time, what ended last goes first; played
// forward again, what began last then.
#pragma once

#include "synthesis/pccl/balanced/unicasts.hpp"
#include "tenex/schedule/schedule.hpp"

namespace tenex {

struct PlayedWays {
  Schedule schedule;
  SimTime time;  ///< the last arrival
};

/// What is played, and how often.
struct WayPlays {
  SimTime good_enough;  ///< a schedule that takes no longer is not justified
  int rounds = 0;       ///< of a play backward and one forward, at most
};

/// The best schedule of all plays. O(links of ways * log chunks) for each.
[[nodiscard]] PlayedWays play_ways(const Topology& topology, const SizedHops& hops,
                                   const std::vector<Unicast>& unicasts, const UnicastWays& ways,
                                   const WayPlays& plays);

}  // namespace tenex
