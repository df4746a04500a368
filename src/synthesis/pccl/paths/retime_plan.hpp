// Re-timing of a plan that only copies and delivers nothing twice: every send starts as soon as its link's order and the
// arrival of its chunk allow.
//
// Idea: schedule/retime.hpp looks deliveries up by vertex and chunk, which for an All-to-All is a table far larger than
// the schedule. Here every send has one predecessor, the send that delivers its chunk to its source. It is found chunk
// by chunk, and one pass in the order of planned starts then gives the new starts.
#pragma once

#include <cstddef>
#include <optional>

#include "tenex/collective/instance.hpp"
#include "tenex/schedule/retime.hpp"
#include "tenex/schedule/schedule.hpp"

namespace tenex {

/// The re-timed schedule, a list; nullopt if it ends no sooner. `schedule` must be valid, copy only, deliver no chunk
/// twice to a vertex, and have fewer than 2^32 sends. O(sends log sends) time.
[[nodiscard]] std::optional<Retimed> retime_plan(const Instance& instance, const Schedule& schedule);

/// Bytes that retime_plan() takes per send, the new schedule included.
inline constexpr std::size_t kRetimePlanBytesPerSend = 60;

}  // namespace tenex
