// Walks a schedule send by send, in time order, reading one window at a time. For code whose speed does not matter.
#pragma once

#include <cstddef>

#include "tenex/schedule/schedule.hpp"

namespace tenex {

/// Calls visit(const Send&) for every send in (start, link) order. O(sends) time, one window of memory.
template <class Visit>
void for_each_send(const Schedule& schedule, Visit&& visit) {
  SendBuffer buffer;
  for (std::size_t window = 0; window < schedule.windows(); ++window) {
    schedule.read(window, buffer);
    for (std::size_t i = 0; i < buffer.batch.size(); ++i) visit(buffer.batch[i]);
  }
}

}  // namespace tenex
