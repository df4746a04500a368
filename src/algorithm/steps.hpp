// Programs in steps. In a step of an All-Gather every NPU sends chunks that it has to one other NPU; steps of one round
// are under way together, and an NPU begins a round when all messages of the rounds before have arrived there.
//
// A StepPlan says who sends what to whom in the steps of the All-Gather of one group. The rest follows from it. A
// Reduce-Scatter is the All-Gather reversed in time and direction: where that sends a chunk, this one sends a sum for
// the chunk's owner. An All-Reduce is the one, then the other. An All-to-All lists pairs of source and destination in
// place of owners. With Contents::inputs an All-Reduce takes the steps once: an NPU sends the sum that it has, of all
// chunks, and states its contributors. The chunks with the same k of all NPUs are one slice. Slices are independent,
// and may have different plans.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "algorithm/dimensionwise.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/schedule/program.hpp"

namespace tenex {

/// The steps of a group, by rank. Every two ranks are the ends of at most one step in one direction.
class StepPlan {
 public:
  virtual ~StepPlan() = default;
  StepPlan(const StepPlan&) = delete;
  StepPlan& operator=(const StepPlan&) = delete;

  [[nodiscard]] std::uint32_t members() const { return members_; }
  [[nodiscard]] std::uint32_t rounds() const { return static_cast<std::uint32_t>(first_step_.size()) - 1; }
  /// The first step of a round; the steps of round i end where round i + 1 begins.
  [[nodiscard]] std::uint32_t first_step(std::uint32_t round) const { return first_step_[round]; }
  [[nodiscard]] std::uint32_t steps() const { return first_step_.back(); }

  /// To whom a rank sends in a step, and from whom it receives.
  [[nodiscard]] virtual std::uint32_t destination(std::uint32_t rank, std::uint32_t step) const = 0;
  [[nodiscard]] virtual std::uint32_t source(std::uint32_t rank, std::uint32_t step) const = 0;
  /// How many chunks of a slice a rank sends in a step; 0: it sends no message.
  [[nodiscard]] virtual std::uint32_t count(std::uint32_t rank, std::uint32_t step) const = 0;
  /// Appends the owners of these chunks in any order, the rank itself among them. In an All-to-All: pairs, source *
  /// members + destination, among them the pair of the two ends.
  virtual void parts(std::uint32_t rank, std::uint32_t step, std::vector<std::uint32_t>& out) const = 0;
  /// Only with Contents::inputs: appends the ranks whose inputs make up the sum that a rank has before a step.
  virtual void contributors(std::uint32_t /*rank*/, std::uint32_t /*step*/, std::vector<std::uint32_t>& /*out*/) const {
  }
  /// Whether adding a number to all ranks maps the steps onto themselves.
  [[nodiscard]] virtual bool moves() const { return false; }

 protected:
  /// `first_step`: one more entry than rounds, from 0 to the number of steps. At most 255 steps in a round.
  StepPlan(std::uint32_t members, std::vector<std::uint32_t> first_step)
      : members_(members), first_step_(std::move(first_step)) {}
  /// A round for each step.
  StepPlan(std::uint32_t members, std::uint32_t steps) : members_(members) {
    for (std::uint32_t step = 0; step <= steps; ++step) first_step_.push_back(step);
  }

  /// The rank `offset` (< members) positions on, and back.
  [[nodiscard]] std::uint32_t on(std::uint32_t rank, std::uint32_t offset) const {
    return rank < members_ - offset ? rank + offset : rank + offset - members_;
  }
  [[nodiscard]] std::uint32_t back(std::uint32_t rank, std::uint32_t offset) const {
    return rank >= offset ? rank - offset : rank + members_ - offset;
  }

 private:
  std::uint32_t members_;
  std::vector<std::uint32_t> first_step_;
};

/// The plans of a group: slice k has plan k mod their number.
using StepPlans = std::vector<std::shared_ptr<const StepPlan>>;

/// One list of plans per group. Contents::inputs: only an All-Reduce.
[[nodiscard]] std::shared_ptr<const Program> make_steps(const Collective& collective, std::vector<StepPlans> of_groups,
                                                        Contents contents = Contents::parts);

/// make_steps() with plans that `make(members)` makes for the groups, each size once.
template <class Make>
[[nodiscard]] std::shared_ptr<const Program> make_steps_by_size(const Collective& collective, Make&& make) {
  std::vector<StepPlans> of_groups;
  for (const auto& group : collective.groups()) {
    const auto members = static_cast<std::uint32_t>(group.members.size());
    StepPlans plans;
    for (const auto& known : of_groups)
      if (known.front()->members() == members) plans = known;
    of_groups.push_back(plans.empty() ? StepPlans{make(members)} : std::move(plans));
  }
  return make_steps(collective, std::move(of_groups));
}

}  // namespace tenex
