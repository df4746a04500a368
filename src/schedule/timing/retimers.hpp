// Re-timing in trees, link by link.
#pragma once

#include "tenex/schedule/schedule.hpp"
#include "tenex/schedule/storage/storage_parts.hpp"

namespace tenex {

/// A view of `base` (with link-major access, without messages) at new times, none of which is later than before. Reads
/// `base` once. O(tiles * links) memory beside `times`.
[[nodiscard]] Schedule make_retimed_schedule(const Schedule& base, LinkTimes times, int threads);

}  // namespace tenex
