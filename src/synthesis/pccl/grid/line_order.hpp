// The order of an All-to-All on one line of NPUs.
//
// Idea: on each link the block with the farthest still to go is first. The middle link is then busy from the first slot
// on, as half of its blocks begin beside it, and what it carries last is for the NPU behind it: nothing is left to do
// when it ends. A block follows its own first chunk: it may start on a link as soon as its first chunk has arrived,
// because links of a line are equally fast. Non-preemptive; ties go to the block that comes from farthest.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tenex/schedule/storage/grid_schedule.hpp"

namespace tenex {

/// A line and what its NPUs have for each other.
struct LineDemand {
  std::uint32_t size = 2;
  std::uint64_t lag = 1;  ///< slots from a chunk's start on a link to its start on the next: at least 1
  std::vector<std::uint32_t> block_chunks;  ///< of the block (a, b): by (a + b) modulo their number; all positive
  bool operator==(const LineDemand&) const = default;

  [[nodiscard]] std::uint32_t chunks_of(std::uint32_t a, std::uint32_t b) const {
    return block_chunks[(a + b) % block_chunks.size()];
  }
};

/// When each block starts on each link that it crosses, both ways. nullopt where a slot does not fit into 32 bits.
/// O(size^3 log size).
[[nodiscard]] std::optional<LineTimetable> order_line(const LineDemand& demand);

/// The slot after the last one of the timetable.
[[nodiscard]] std::uint64_t slots_of(const LineDemand& demand, const LineTimetable& timetable);

}  // namespace tenex
