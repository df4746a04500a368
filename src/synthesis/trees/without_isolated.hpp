// A problem without the NPUs that have no links: those that have failed. Trees span all NPUs of a topology.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {

/// The problem on the NPUs that have links, in the order of their ids, where all others have failed and are in no
/// group. Links and chunks keep their ids, so its schedules are schedules of the given problem.
class WithoutIsolated {
 public:
  /// `given` must outlive it. O(vertices + links) where an NPU has no links, else O(NPUs).
  explicit WithoutIsolated(const SynthesisProblem& given);
  /// The given problem itself where every NPU has a link.
  [[nodiscard]] const SynthesisProblem& problem() const { return smaller_ ? smaller_->problem : given_; }

  /// An NPU of problem() by its id in the given problem.
  [[nodiscard]] NpuId given_npu(NpuId npu) const { return smaller_ ? NpuId(kept_[npu.index()].value()) : npu; }

 private:
  struct Smaller {
    Smaller(Topology of, Collective what, const SynthesisProblem& given)
        : topology(std::move(of)),
          collective(std::move(what)),
          problem(Instance{topology, collective, given.occupancy}, given, given.threads) {}
    Topology topology;
    Collective collective;
    SynthesisProblem problem;
  };

  const SynthesisProblem& given_;
  std::vector<VertexId> kept_;  ///< the given vertices, by their ids in `smaller_`
  std::unique_ptr<const Smaller> smaller_;
};

}  // namespace tenex
