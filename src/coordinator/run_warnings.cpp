// The words of warnings: what, how many, and what the user can do.
#include "run_warnings.hpp"

#include <fmt/format.h>

#include "tenex/coordinator/quarantine.hpp"
#include "tenex/design/design_point.hpp"

namespace tenex {

std::string describe_interrupted(const Study& study, const FolderState& state) {
  const auto& first = study.points[state.interrupted.front()];
  return fmt::format(
      "points that an earlier run began and did not finish, to be evaluated again: {}; the first: {} {} on {}, "
      "key {}",
      state.interrupted.size(), text_setting(first, "collective"), first.algorithm, first.topology.text,
      to_string(first.key));
}

std::string describe_end(const Study& study, const WriterTrace& left, const Death& death) {
  std::optional<std::uint64_t> point = death.killed_for_memory;
  std::string reason = "killed for want of memory";
  if (!left.crashes.empty()) {
    point = left.crashes.back().point;
    reason = left.crashes.back().reason;
  }
  return point ? fmt::format(", {} in the point {}", reason, to_string(study.points.key(*point))) : "";
}

std::string describe_quarantined(std::size_t points) {
  return fmt::format(
      "points that ended their process {} times: {}; they have a row `failed` and are not tried again but with "
      "--retry-failed (the column `reason` says what ended them: against want of memory helps a larger limit of the "
      "job, or fewer ranks on a node)",
      most_crashes, points);
}

std::string describe_too_long(std::size_t points, double limit_seconds) {
  return fmt::format(
      "points not begun because they would not have ended within the time limit of {:.4g} s: {}; the same command "
      "continues, those that take longer than that limit need a larger one",
      limit_seconds, points);
}

}  // namespace tenex
