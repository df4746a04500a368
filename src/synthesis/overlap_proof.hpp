// A proof that the two halves of an All-Reduce cannot overlap, in O(links) memory.
#pragma once

#include "tenex/collective/instance.hpp"
#include "tenex/schedule/schedule.hpp"

namespace tenex {

/// Whether it is proven that no re-timing (tenex/schedule/timing/retime.hpp) of `reduction`, then `gather`, ends sooner
/// than the one after the other. False: not known. For topologies without switches. One pass over all sends, or over
/// few of them if the schedules offer link-major access.
[[nodiscard]] bool gains_nothing(const Instance& instance, const Schedule& reduction, const Schedule& gather);

}  // namespace tenex
