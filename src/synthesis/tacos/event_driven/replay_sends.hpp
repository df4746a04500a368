// Replays the sends of an attempt, each as soon as it can start.
#pragma once

#include <vector>

#include "synthesis/tacos/event_driven/gather_engine.hpp"

namespace tenex {

/// Keeps the order of sends on every link and takes the delays of `setup`, which may differ from those that the sends
/// were planned with; superseded sends are dropped. `sends` are in order of start before and after; every chunk reaches
/// a vertex once. Returns the last arrival. O(vertices * chunks) memory, O(sends log sends) time.
SimTime replay_sends(const GatherSetup& setup, std::vector<TentativeSend>& sends);

/// The engine's sends without superseded ones, sorted by (start, link): they are in order of start already.
[[nodiscard]] std::vector<Send> to_sends(std::vector<TentativeSend> planned);

}  // namespace tenex
