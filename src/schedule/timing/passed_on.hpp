// Which arrival a send passes on, at switches that pass chunks on early and keep arrivals apart.
//
// A plan does not say it where a chunk comes to a switch several times. Sends are served in planned order. Each takes
// the arrival that was ready for it first: so nothing waits for what comes later. Where links differ in speed that may
// leave a later send nothing that it could have taken. Then each send takes the arrival that is there whole last, which
// always leaves enough if the plan is valid (schedule/verifier/passing.hpp has the proof; this file shares no code with
// it).
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "tenex/collective/instance.hpp"
#include "tenex/schedule/send.hpp"
#include "tenex/topology/hand_over.hpp"

namespace tenex {

inline constexpr std::uint32_t kPassesNothingOn = std::numeric_limits<std::uint32_t>::max();

/// For each send the send whose chunk it passes on; kPassesNothingOn elsewhere than at such switches, for later hops of
/// messages, and where nothing is ready. `sends` in planned order, `arrivals` planned. Empty where no switch passes
/// chunks on early. O(sends log sends), for chunks that come over links of one speed.
[[nodiscard]] std::vector<std::uint32_t> find_passed_on(const Instance& instance, const HandOvers& hand_overs,
                                                        const std::vector<Send>& sends,
                                                        const std::vector<SimTime>& arrivals);

}  // namespace tenex
