// The two cases of re-timing that are fast: without switches and messages, and in trees, link by link.
#pragma once

#include <optional>
#include <vector>

#include "tenex/collective/instance.hpp"
#include "tenex/schedule/schedule.hpp"
#include "tenex/schedule/storage/storage_parts.hpp"

namespace tenex {

/// The re-timed sends, sorted by (start, link); nullopt where the schedule is not plain, or where a table of (NPU,
/// chunk) pairs would be much larger than the schedule. About 100 bytes per send. O(sends * latencies).
[[nodiscard]] std::optional<std::vector<Send>> retime_plain(const Instance& instance, const Schedule& schedule);

/// A view of `base` (with link-major access, without messages) at new times, none of which is later than before. Reads
/// `base` once. O(tiles * links) memory beside `times`.
[[nodiscard]] Schedule make_retimed_schedule(const Schedule& base, LinkTimes times, int threads);

}  // namespace tenex
