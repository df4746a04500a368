// What a synchronous schedule is made of: steps, rounds, and the chunks that each link carries in a round.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex::sccl {

/// A chunk over a link in a step; steps count from 0.
struct SteppedSend {
  std::uint32_t step = 0;
  LinkId link;
  ChunkId chunk;
};

/// Step s lasts as many rounds as rounds[s]. In a round, the slowest links carry one chunk each. What arrives in a step
/// may be sent from the next step on.
struct SteppedPlan {
  std::vector<std::uint32_t> rounds;
  std::vector<SteppedSend> sends;
};

/// A problem in steps: a copying collective over direct links of one latency whose bandwidths are multiples of the
/// least.
class SteppedProblem {
 public:
  /// Errors: as synthesize_sccl(). O(NPUs * links).
  [[nodiscard]] static Result<SteppedProblem> of(const SynthesisProblem& problem);

  [[nodiscard]] const Topology& topology() const { return *topology_; }
  [[nodiscard]] const Collective& collective() const { return *collective_; }
  /// Chunks that a link carries in a round.
  [[nodiscard]] std::uint32_t per_round(LinkId link) const { return per_round_[topology_->class_of(link)]; }
  /// Links on a shortest path.
  [[nodiscard]] std::uint32_t distance(NpuId from, NpuId to) const {
    return distance_[from.index() * topology_->npus() + to.index()];
  }
  /// The NPUs that must get the chunk.
  [[nodiscard]] const std::vector<NpuId>& takers(ChunkId chunk) const { return takers_[chunk.index()]; }
  /// Links from the NPU to the nearest taker of the chunk.
  [[nodiscard]] std::uint32_t distance_to_taker(NpuId npu, ChunkId chunk) const;

  /// No plan has fewer steps: the farthest taker. At least 1.
  [[nodiscard]] std::uint32_t least_steps() const;
  /// No plan has fewer rounds: what an NPU takes over all its in-links, or gives over all its out-links.
  [[nodiscard]] std::uint32_t least_rounds() const;

  /// The duration of a step.
  [[nodiscard]] SimTime duration(std::uint32_t rounds) const;
  /// The duration of a plan, up to rounding: what each step costs beside its rounds, and what each round costs.
  [[nodiscard]] SimTime cost(std::uint32_t steps, std::uint32_t rounds) const;

  /// The schedule of a plan: step after step, each link's chunks in the order of their ids.
  [[nodiscard]] Schedule schedule(const SteppedPlan& plan) const;

 private:
  const Topology* topology_ = nullptr;
  const Collective* collective_ = nullptr;
  std::vector<HopTime> hops_;             ///< by link class
  std::vector<std::uint32_t> per_round_;  ///< by link class
  std::size_t slowest_ = 0;               ///< the link class of the least bandwidth
  std::vector<std::uint32_t> distance_;
  std::vector<std::vector<NpuId>> takers_;
};

/// A plan whose steps have one round each: every link takes chunks that come nearer to an NPU that lacks them, the
/// rarest first. It is the plan that a search must beat. O(steps * links * chunks * NPUs).
[[nodiscard]] SteppedPlan greedy_plan(const SteppedProblem& problem);

}  // namespace tenex::sccl
