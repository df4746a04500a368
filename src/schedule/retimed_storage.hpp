// The storage of schedules that keep the order of another schedule on every link, but not its times.
#pragma once

#include "tenex/schedule/schedule.hpp"
#include "tenex/schedule/view_parts.hpp"

namespace tenex {

/// A view of `base` (with link-major access, without messages) at new times, none of which is later than before. Reads
/// `base` once. O(tiles * links) memory beside `times`.
[[nodiscard]] Schedule make_retimed_schedule(const Schedule& base, LinkTimes times, int threads);

}  // namespace tenex
