// Internal to cli: the cost of each part of a study, and the time that all of it takes on this machine.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "report.hpp"
#include "sbatch.hpp"

namespace tenex::cli {

/// Expected seconds of one core by name (of a sweep, of an algorithm).
class CostShares {
 public:
  void add(const std::string& name, double seconds);
  /// {`what`: name, points, expected_core_seconds, share of all}, by descending cost, then by name.
  [[nodiscard]] std::vector<Report> entries(const char* what) const;

 private:
  struct Part {
    std::int64_t points = 0;
    double seconds = 0;
  };
  std::unordered_map<std::string, Part> parts_;
};

/// The resources that `tenex run` would use here.
struct RunResources {
  int ranks = 1;
  int threads = 1;  ///< per rank
  int cores = 1;    ///< more threads than this make nothing faster
};

/// Seconds from the first point to the last: the work over the cores in use, and never less than the longest point.
[[nodiscard]] double expected_wall_seconds(const StudyCost& cost, const RunResources& machine);

}  // namespace tenex::cli
