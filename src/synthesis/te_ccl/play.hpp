// Plays a plan in epochs in picoseconds: the sends of the plan, each link in the order of epochs, without waiting for
// them. So no rounding of alpha to epochs is paid, and plans whose hops were rounded down become schedules, too.
#pragma once

#include <optional>
#include <vector>

#include "synthesis/te_ccl/model.hpp"
#include "tenex/schedule/schedule.hpp"

namespace tenex::te_ccl {

/// The sends of `plan`, each as soon as its chunk is at its source and its link is free; a free link takes, of the
/// sends that wait for it, the one of the least epoch, then chunk. nullopt where a send never gets its chunk (hops that
/// take no epoch may wait for each other). O(sends log sends).
[[nodiscard]] std::optional<Schedule> play(const Instance& instance, const std::vector<EpochSend>& plan);

}  // namespace tenex::te_ccl
