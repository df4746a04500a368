// Small functions on the segments of a schedule.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "tenex/collective/instance.hpp"
#include "tenex/schedule/schedule.hpp"

namespace tenex {

/// For code whose speed does not matter. Calls visit(const Send&) for every send in (start, link) order. O(sends) time,
/// one segment of memory.
template <class Visit>
void for_each_send(const Schedule& schedule, Visit&& visit) {
  SendBuffer buffer;
  for (std::size_t segment = 0; segment < schedule.segments(); ++segment) {
    schedule.read(segment, buffer);
    for (std::size_t i = 0; i < buffer.batch.size(); ++i) visit(buffer.batch[i]);
  }
}

/// Makes a column of a batch writable for a view. Returns the column inside the buffer's own vector; copies it there
/// unless the storage has put it there already.
template <class T>
[[nodiscard]] std::span<T> own_column(std::span<const T> column, std::vector<T>& owned) {
  if (column.data() != owned.data()) owned.assign(column.begin(), column.end());
  return std::span(owned).first(column.size());
}

/// The time from start to arrival if it is the same for every link and chunk: sends then arrive in the order of their
/// starts. O(classes * chunk sizes).
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

/// The start of the last send; nullopt for an empty schedule. Reads one segment (and empty ones after it).
[[nodiscard]] inline std::optional<SimTime> last_start(const Schedule& schedule) {
  SendBuffer buffer;
  for (std::size_t segment = schedule.segments(); segment-- > 0;) {
    schedule.read(segment, buffer);
    if (buffer.batch.size() > 0) return buffer.batch.start_of(buffer.batch.size() - 1);
  }
  return std::nullopt;
}

}  // namespace tenex
