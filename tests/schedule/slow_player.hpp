// The slow and obvious player of a given order: what each send waits for is looked up in the plan for every pair of
// sends, and all starts are raised until nothing moves. For NPUs alone: no switches and no messages.
#pragma once

#include <algorithm>
#include <vector>

#include "tenex/collective/instance.hpp"
#include "tenex/schedule/schedule.hpp"
#include "tenex/topology/timing.hpp"

namespace tenex::test {

class SlowPlayer {
 public:
  SlowPlayer(const Instance& instance, std::vector<Send> plan) : instance_(instance), plan_(std::move(plan)) {}

  /// The plan's sends with their earliest starts, in the order of the plan.
  [[nodiscard]] std::vector<Send> play() {
    std::vector<SimTime> start(plan_.size());
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t i = 0; i < plan_.size(); ++i) {
        const SimTime least = std::max({start[i], link_free(i, start), ready(i, start), order_kept(i, start)});
        moved = moved || least > start[i];
        start[i] = least;
      }
    }
    auto played = plan_;
    for (std::size_t i = 0; i < played.size(); ++i) played[i].start = start[i];
    return played;
  }

 private:
  [[nodiscard]] HopTime hop(std::size_t i) const {
    return HopTimes(instance_.topology, instance_.collective.chunk_sizes(), instance_.occupancy)
        .at(instance_.topology.class_of(plan_[i].link), instance_.collective.size_class(plan_[i].chunk));
  }
  [[nodiscard]] SimTime planned_arrival(std::size_t i) const { return plan_[i].start + hop(i).latency; }
  [[nodiscard]] VertexId source(std::size_t i) const { return instance_.topology.source(plan_[i].link); }
  [[nodiscard]] VertexId target(std::size_t i) const { return instance_.topology.target(plan_[i].link); }
  /// Whether send d brings the chunk of send i to an end of it.
  [[nodiscard]] bool brings(std::size_t d, Stage stage, std::size_t i, VertexId where) const {
    return plan_[d].stage == stage && plan_[d].chunk == plan_[i].chunk && target(d) == where;
  }

  /// The link's sends keep their order.
  [[nodiscard]] SimTime link_free(std::size_t i, const std::vector<SimTime>& start) const {
    SimTime free;
    for (std::size_t d = 0; d < i; ++d)
      if (plan_[d].link == plan_[i].link) free = std::max(free, start[d] + hop(d).busy);
    return free;
  }

  /// What the plan had at the source: the final value from the first of its deliveries on, otherwise all partial sums.
  [[nodiscard]] SimTime ready(std::size_t i, const std::vector<SimTime>& start) const {
    const bool copy = plan_[i].stage == Stage::copy;
    if (copy && instance_.collective.holds_at_start(npu_of(source(i)), plan_[i].chunk)) return SimTime::zero();
    SimTime first_copy = SimTime::max();
    SimTime last_sum;
    for (std::size_t d = 0; d < plan_.size(); ++d) {
      if (planned_arrival(d) > plan_[i].start) continue;
      const SimTime arrival = start[d] + hop(d).latency;
      if (brings(d, Stage::copy, i, source(i))) first_copy = std::min(first_copy, arrival);
      if (brings(d, Stage::reduce, i, source(i))) last_sum = std::max(last_sum, arrival);
    }
    return copy && first_copy < SimTime::max() ? first_copy : last_sum;
  }

  /// A partial sum arrives after the sums that left its target without it, and a final value not before the sums that
  /// came before it.
  [[nodiscard]] SimTime order_kept(std::size_t i, const std::vector<SimTime>& start) const {
    SimTime arrival;
    for (std::size_t d = 0; d < plan_.size(); ++d) {
      const bool left_before = plan_[d].stage == Stage::reduce && plan_[d].chunk == plan_[i].chunk &&
                               source(d) == target(i) && plan_[d].start < planned_arrival(i);
      if (plan_[i].stage == Stage::reduce && left_before) arrival = std::max(arrival, start[d] + SimTime::of(1));
      if (plan_[i].stage == Stage::copy && brings(d, Stage::reduce, i, target(i)) &&
          planned_arrival(d) <= planned_arrival(i))
        arrival = std::max(arrival, start[d] + hop(d).latency);
    }
    return std::max(SimTime::zero(), arrival - hop(i).latency);
  }

  const Instance& instance_;
  std::vector<Send> plan_;  ///< sorted by (start, link)
};

}  // namespace tenex::test
