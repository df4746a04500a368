// Texts that a run shows to the user beside its result.
#pragma once

#include <cstddef>
#include <string>

#include "coordinator/open_work.hpp"
#include "tenex/design/study.hpp"
#include "tenex/store/store.hpp"

namespace tenex {

/// Names the points in which an earlier run ended. Precondition: there is such a point.
[[nodiscard]] std::string describe_interrupted(const Study& study, const FolderState& state);
/// The error for a rank that does not belong to the run.
[[nodiscard]] Diagnostic other_study(std::size_t rank, const HelloMessage& hello, const Study& study);
/// The answer to an interrupt when all points have rows.
[[nodiscard]] std::string describe_merging();
/// The last line of a process that ends at once.
[[nodiscard]] std::string describe_leaving();
/// How a rank died: ", SIGSEGV in the point ...", or "" where no point is to blame.
[[nodiscard]] std::string describe_end(const Study& study, const WriterTrace& left, const Death& death);
/// The warning about points that are given up.
[[nodiscard]] std::string describe_quarantined(std::size_t points);
/// The warning about points that would not have ended within the time limit.
[[nodiscard]] std::string describe_too_long(std::size_t points, double limit_seconds);

}  // namespace tenex
