// A periodic schedule: what happens in one period happens again in the next, with new chunks.
//
// Every period starts the same trees (or other plans for one chunk each), and the sends of a tree may reach over
// several periods. Only the sends of one period are stored, so that O(trees * npus) memory holds a schedule of any
// number of chunks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tenex/base/quantity.hpp"
#include "tenex/schedule/schedule.hpp"

namespace tenex {

/// The data of the schedule.
struct PeriodicSchedule {
  SimTime period;
  std::uint32_t trees = 1;   ///< chunk q * trees + t is tree t's in period q
  std::uint64_t chunks = 1;  ///< of the whole schedule
  std::vector<Send> sends;   ///< of the trees of period 0; `chunk` is the tree. They carry no messages.
};

/// What is wrong with the data, so that it cannot be read on a topology of so many links; empty: nothing. (Whether the
/// schedule is valid is for the verifier to say.) O(sends log sends).
[[nodiscard]] std::string periodic_problem(const PeriodicSchedule& data, std::size_t links);

/// The start of the last send. The data must have no problem. O(sends).
[[nodiscard]] SimTime periodic_last_start(const PeriodicSchedule& data);

/// The schedule, with link-major access. Throws InvariantError where periodic_problem() finds one.
[[nodiscard]] Schedule make_periodic_schedule(PeriodicSchedule data, std::size_t links);

}  // namespace tenex
