// A play on switches in one pass over the schedule, without a list of its sends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "simulation/replay/played_paths.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/schedule/send.hpp"
#include "tenex/simulation/simulator.hpp"
#include "tenex/topology/transform.hpp"

namespace tenex {

/// Puts sends, sorted by start and unwound link, into the order in which links take them: by planned start; of one
/// instant first the first send of each physical link, then the second of each, and so on, as they reach their
/// switches; ties by unwound link. O(sends log sends + physical links).
void order_by_turn(std::vector<Send>& sends, const UnwoundNetwork& unwound, std::size_t physical_links);

/// Sends of a schedule for an unwound network.
struct UnwoundSends {
  std::vector<std::uint64_t> of_link;  ///< by unwound link
  bool sums = false;                   ///< some carry partial sums
};

/// Counts the sends. Errors (input): one that the unwound network or the collective does not have; (unsupported) hops
/// of messages. O(sends).
[[nodiscard]] Result<UnwoundSends> count_sends(const SwitchedInput& input);

/// The play of play_on_switches() (tenex/simulation/switched_replay.hpp). nullopt where the schedule brings a chunk's
/// value to an NPU twice, or where an NPU sends partial sums of a chunk twice or gets one after it has sent its own:
/// there what a send waits for does not follow from the order of sends (tenex/schedule/timing/player.hpp). O(sends log
/// links) time; bytes_of_play().
[[nodiscard]] std::optional<Simulation> play_in_pass(const SwitchedInput& input, const UnwoundSends& sends);

}  // namespace tenex
