// Re-timing of the plain case: no switches, no messages.
#pragma once

#include <optional>
#include <vector>

#include "tenex/collective/instance.hpp"
#include "tenex/schedule/schedule.hpp"

namespace tenex {

/// The re-timed sends, sorted by (start, link); nullopt where the schedule is not plain, or where a table of (NPU,
/// chunk) pairs would be much larger than the schedule. About 100 bytes per send. O(sends * latencies).
[[nodiscard]] std::optional<std::vector<Send>> retime_plain(const Instance& instance, const Schedule& schedule);

}  // namespace tenex
