// A routing of everything that journeys.hpp counts, for the search of the flow bound's weights.
#pragma once

#include <vector>

#include "bound/journeys.hpp"
#include "bound/lightest_paths.hpp"
#include "tenex/bound/bound.hpp"

namespace tenex {

/// Sends all chunks the way in which their weight is counted: over lightest paths (to the farthest destination), or
/// over the lightest links of NPUs. Amounts are chunks where all groups run one All-to-All, else bytes, as a share of
/// the largest.
class FlowRouting {
 public:
  explicit FlowRouting(const BoundProblem& problem);

  /// What each link carries. O(starts * links log links).
  [[nodiscard]] std::vector<double> loads(LightestPaths& paths, const std::vector<double>& weights) const;

 private:
  /// Chunks that go over the lightest in-link and out-link of an NPU.
  struct NpuEnds {
    double in = 0;
    double out = 0;
  };

  void add_ends(GroupId group);
  [[nodiscard]] double amount_of(GroupId group) const;
  void add_conditions(const JourneyStart& start, LightestPaths& paths, const std::vector<double>& weights,
                      std::vector<double>& load) const;
  void send_over_ends(NpuId npu, NpuEnds amounts, const std::vector<double>& weights, std::vector<double>& load) const;

  const Topology& topology_;
  const Collective& collective_;
  std::vector<JourneyStart> starts_;
  std::vector<NpuEnds> ends_;  ///< per NPU, of groups without starts
  double largest_ = 1;
};

}  // namespace tenex
