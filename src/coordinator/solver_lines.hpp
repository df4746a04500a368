// Lines about the solvers of running points, from the threads that evaluate to the loop's thread, which shows them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "coordinator/point_runner.hpp"

namespace tenex {

/// Thread-safe.
class SolverLines {
 public:
  SolverLines();
  /// The same evaluation, whose solvers leave a line here for each ten seconds that they take. It may outlive this.
  [[nodiscard]] EvaluatePoint tell_of(EvaluatePoint evaluate_point) const;
  /// The lines since the last call, each with the first digits of its point's key. O(lines).
  [[nodiscard]] std::vector<std::string> take();

 private:
  struct Box;
  std::shared_ptr<Box> box_;
};

}  // namespace tenex
