// A schedule whose sends start at slots, stored link by link: 4 bytes per slot.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "tenex/schedule/schedule.hpp"

namespace tenex {

/// What stands in a row where a link is free.
inline constexpr std::uint32_t kEmptySlot = std::numeric_limits<std::uint32_t>::max();

/// Makes a schedule of `rows`: rows[link][i] is the chunk that the link begins to send at i * slot, or kEmptySlot. All
/// sends copy. Segments are ranges of slots, 16 or more. Rows that are mostly empty become a list instead. O(slots).
[[nodiscard]] Schedule make_slot_schedule(std::vector<std::vector<std::uint32_t>> rows, SimTime slot);

}  // namespace tenex
