// Texts of warnings: what happened, to how many points, and what the user can do.
#include "run_warnings.hpp"

#include <fmt/format.h>

#include "coordinator/quarantine.hpp"
#include "tenex/coordinator/resources.hpp"
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

Diagnostic other_study(std::size_t rank, const HelloMessage& hello, const Study& study) {
  return environment_error(
      fmt::format("rank {} on {} read another study than rank 0 on {}", rank, hello.host, host_name()),
      fmt::format("{} points with digest {} there, {} points with digest {} here", hello.points, to_string(hello.study),
                  study.points.size(), to_string(study.digest)),
      "give all ranks the same study file, machine files and version of tenex");
}

std::string describe_merging() {
  return "interrupted: all points have rows, their merge finishes first; press Ctrl-C again to end now; the same "
         "command continues";
}

std::string describe_leaving() {
  return "the run ends now; rows on disk are kept, and the same command evaluates the running points again";
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
      "points that ended their process {} times: {}; they have a row `failed`, and only --retry-failed tries them "
      "again (the column `reason` says what ended them; for lack of memory use a larger limit of the job, or fewer "
      "ranks on a node)",
      most_crashes, points);
}

std::string describe_too_long(std::size_t points, double limit_seconds) {
  return fmt::format(
      "points not begun because they would not have ended within the time limit of {:.4g} s: {}; the same command "
      "continues; points that take longer than that limit need a larger one",
      limit_seconds, points);
}

}  // namespace tenex
