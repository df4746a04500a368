// The simple case of equal latencies: all sends take equally long, so they arrive in the order of their starts.
#pragma once

#include <algorithm>
#include <optional>

#include "tenex/collective/instance.hpp"
#include "tenex/schedule/schedule.hpp"

namespace tenex {

/// The time from start to arrival if it is the same for every link and chunk. O(classes * chunk sizes).
[[nodiscard]] inline std::optional<SimTime> uniform_latency(const Instance& instance) {
  std::optional<SimTime> latency;
  for (const auto& link_class : instance.topology.classes())
    for (const auto size : instance.collective.chunk_sizes()) {
      const SimTime own = hop_time(link_class, size, instance.occupancy).latency;
      if (latency.value_or(own) != own) return std::nullopt;
      latency = own;
    }
  return latency;
}

/// The start of the last send; nullopt for an empty schedule. Reads one window (and empty ones after it).
[[nodiscard]] inline std::optional<SimTime> last_start(const Schedule& schedule) {
  SendBuffer buffer;
  for (std::size_t window = schedule.windows(); window-- > 0;) {
    schedule.read(window, buffer);
    if (buffer.batch.size() > 0) return buffer.batch.start_of(buffer.batch.size() - 1);
  }
  return std::nullopt;
}

}  // namespace tenex
