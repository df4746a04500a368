// The outputs that a study asks to be stored beside a row's metrics, as bits that every stored row carries.
//
// A row kept from another study (--extend) may have been evaluated without an output that the present study asks for.
// The bits say what the row was asked for, not what it has: some points have no schedule or no times of groups, and
// must not be evaluated again and again because of that.
#pragma once

#include <cstdint>
#include <string>

#include "tenex/design/study.hpp"

namespace tenex::store {

using OutputBits = std::int8_t;
inline constexpr OutputBits kLinkBytesOutput = 1;
inline constexpr OutputBits kGroupTimesOutput = 2;
inline constexpr OutputBits kScheduleOutput = 4;
inline constexpr OutputBits kUtilizationOutput = 8;
inline constexpr OutputBits kArrivalsOutput = 16;

/// The outputs that the study asks for at this point. O(1).
[[nodiscard]] OutputBits asked_outputs(const Study& study, std::size_t point);
/// The bits of `asked` that `given` lacks.
[[nodiscard]] constexpr OutputBits lacking(OutputBits asked, OutputBits given) {
  return static_cast<OutputBits>(asked & ~given);
}
/// "link_bytes, schedule"
[[nodiscard]] std::string describe_outputs(OutputBits outputs);

}  // namespace tenex::store
