// The case of re-timing that is fast: without switches and messages, sums that travel in trees.
#pragma once

#include <optional>

#include "tenex/collective/instance.hpp"
#include "tenex/schedule/schedule.hpp"

namespace tenex {

/// The re-timed schedule; nullopt where one pass does not do (tenex/schedule/timing/player.hpp), over switches or links
/// whose bandwidth varies, or where a table of NPUs and chunks would be much larger than the schedule. At most 45
/// bytes per send (61 where times are long) beside `schedule`. O(sends) time.
[[nodiscard]] std::optional<Schedule> retime_in_one_pass(const Instance& instance, const Schedule& schedule);

}  // namespace tenex
