#include "coordinator/solver_lines.hpp"

#include <fmt/format.h>

#include <mutex>
#include <utility>

#include "tenex/coordinator/progress.hpp"

namespace tenex {

struct SolverLines::Box {
  std::mutex mutex;
  std::vector<std::string> lines;
};

SolverLines::SolverLines() : box_(std::make_shared<Box>()) {}

EvaluatePoint SolverLines::tell_of(EvaluatePoint evaluate_point) const {
  constexpr double kSecondsPerLine = 10;
  return [box = box_, evaluate_point = std::move(evaluate_point)](const DesignPoint& point, Cache& cache,
                                                                  const EvaluateOptions& given) {
    constexpr std::size_t kDigits = 8;
    EvaluateOptions options = given;
    const auto prefix = fmt::format("{} ({})", to_string(point.key).substr(0, kDigits), point.algorithm);
    options.solver_progress = once_in(kSecondsPerLine, [box, prefix](const SolverMoment& moment) {
      const std::lock_guard lock(box->mutex);
      box->lines.push_back(prefix + ": " + solver_line(moment));
    });
    return evaluate_point(point, cache, options);
  };
}

std::vector<std::string> SolverLines::take() {
  const std::lock_guard lock(box_->mutex);
  return std::exchange(box_->lines, {});
}

}  // namespace tenex
