// Plays a solver's plan in picoseconds: the sends of the plan, each link in the order of their epochs, without waiting
// for these. So no rounding of alpha to epochs is paid, and plans whose hops were rounded down become schedules, too.
#pragma once

#include <optional>
#include <vector>

#include "tenex/schedule/schedule.hpp"

namespace tenex {

/// A send of a chunk that starts in an epoch; where a plan has no epochs, its place in the order of its link.
struct PlannedSend {
  int epoch = 0;
  LinkId link;
  ChunkId chunk;
};

/// The sends of `plan`, each as soon as its chunk is at its source and its link is free; a free link takes, of the
/// sends that wait for it, the one of the least epoch, then chunk. Over wires, sends of one chunk, source and epoch are
/// one signal where the switches at which they part copy, and a signal starts when all links of its paths are free in
/// time. nullopt where a send never gets its chunk (hops that take no epoch may wait for each other).
/// O(sends log sends); over wires times the sends that wait for a link.
[[nodiscard]] std::optional<Schedule> play_plan(const Instance& instance, const std::vector<PlannedSend>& plan);

}  // namespace tenex
