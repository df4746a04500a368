// Schedules for unwound switches, played on the point's own network within its limits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tenex/base/diagnostic.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/schedule/schedule.hpp"
#include "tenex/simulation/simulator.hpp"
#include "tenex/topology/topology.hpp"
#include "tenex/topology/transform.hpp"

namespace tenex {

struct PreparedPoint;

/// A schedule of more sends keeps the times of its plan where switches have virtual cut-through: 300 MB.
inline constexpr std::uint64_t kMostRetimedSends = std::uint64_t{1} << 20;
/// Whether a synthesizer's schedule of so many sends is timed again by virtual cut-through. Not where buffers are
/// limited: what arrives sooner could wait too long. O(switches).
[[nodiscard]] bool retimes_early(const PreparedPoint& prepared, double sends);

/// Whether so many sends of a point are played by orbit, if they are symmetric. O(1).
[[nodiscard]] bool is_played_by_orbit(const PreparedPoint& prepared, double sends);

/// Bytes of the play of so many sends, kept on each hop (bytes_of_play()), or by orbit. O(links).
[[nodiscard]] std::size_t played_bytes(std::uint64_t sends, const UnwoundNetwork& unwound, const Collective& collective,
                                       bool by_orbit);

/// Plays a schedule for `unwound` on `network`, whose switches were unwound, with the point's late NPUs; the
/// result has the sends there, and no observations. Errors: (unsupported) times that may leave the range in which
/// they are computed; those of play_on_switches(), (resource) more bytes than `memory_limit_bytes` among them.
/// O(sends log sends).
[[nodiscard]] Result<Simulation> play_within(const PreparedPoint& prepared, const Topology& network,
                                             const UnwoundNetwork& unwound, const Schedule& schedule, bool overlap,
                                             std::size_t memory_limit_bytes);

}  // namespace tenex
