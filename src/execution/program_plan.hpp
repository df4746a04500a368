// Internal to execution: the memory of a textbook algorithm's point, from sizes alone, and what it shares with the
// memory of a synthesizer's point.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tenex/design/design_point.hpp"
#include "tenex/execution/plan.hpp"
#include "tenex/execution/sizes.hpp"

namespace tenex {

/// Bytes of every point: buffers of segments, tables of few entries.
inline constexpr double kBytesOfAnyPoint = 2e6;

/// Bytes of the collective.
[[nodiscard]] double collective_bytes(const PointSizes& sizes);
/// Bytes of a table of which vertex holds which chunk.
[[nodiscard]] double holdings_bytes(const PointSizes& sizes);
/// Bytes of the search for bounds: the stand-in of the network, flows and weights of links, and for an All-Reduce the
/// ways through switches, if they are so few that they are listed.
[[nodiscard]] double bound_bytes(const DesignPoint& point, const PointSizes& sizes, bool one_for_all);

/// The plan of a textbook algorithm's point with its topology, for one thread, and the bytes of more threads.
/// `time_only`: nothing is recorded. O(programs).
[[nodiscard]] PointPlan plan_program(const DesignPoint& point, const PointSizes& sizes, std::uint64_t topology_bytes,
                                     std::size_t memory_limit_bytes, bool time_only);

}  // namespace tenex
