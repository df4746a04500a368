// One stream from the two halves of an All-Reduce, and the busy time of all links over a stream.
#pragma once

#include <cstdint>

#include "tenex/base/diagnostic.hpp"
#include "tenex/collective/instance.hpp"
#include "tenex/schedule/schedule.hpp"
#include "tenex/simulation/simulator.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// The two halves of an All-Reduce as one stream: the gather's sends shifted by the reduction's finish, its messages
/// and payloads numbered after the reduction's. Errors (resource): more messages or payloads than 32-bit ids number.
/// O(sends).
[[nodiscard]] Result<Schedule> concatenate(const Collective& collective, const Simulation& reduction,
                                           const Simulation& gather);
/// Busy time of all links over the time of a schedule that ends at `finish`. O(sends + bins covered).
[[nodiscard]] Utilization utilization_of(const Instance& instance, const Schedule& schedule, SimTime finish,
                                         std::uint32_t bins);

}  // namespace tenex
