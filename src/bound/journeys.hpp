// What has to travel through the links of a topology: for each NPU, the chunks that start there and their destinations.
//
// Weigh every link. The sends of a chunk weigh together at least
// - with one destination (All-to-All, Gather, Scatter, conditions): the lightest path from its source to it;
// - with several destinations (conditions): the lightest path to the farthest of them, and the lightest in-links of all
//   of them, as each is reached over one;
// - in All-Gather and Broadcast: the lightest in-links of all NPUs but the source; in Reduce-Scatter and Reduce: the
//   lightest out-links of all but the NPU that gets the sum, as each contribution leaves over one;
// - in All-Reduce: the lightest out-link and the lightest in-link of all NPUs but one, whichever that is. Let v be the
//   first NPU that has the complete sum. Each other contribution has left its NPU before, and each other NPU gets an
//   arrival at that moment or later. A link from NPU to NPU cannot be counted for both: its send arrives before that
//   moment or not.
// A send carries one chunk, so the chunks of all groups add up.
//
// Encoding: one start per member of a group that needs a search from it, in order of groups and ranks. Nothing is kept
// per chunk or per condition.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "bound/demand.hpp"
#include "bound/weighted_links.hpp"
#include "tenex/bound/bound.hpp"

namespace tenex {

/// An NPU whose chunks need distances from it: to all of `to` equally, or those of stored conditions.
struct JourneyStart {
  GroupId group;
  NpuId from;
  std::span<const NpuId> to = {};
  std::size_t first_condition = 0;
  std::size_t conditions = 0;
};

/// All starts of a collective. O(members + conditions).
[[nodiscard]] std::vector<JourneyStart> journey_starts(const Collective& collective);

/// The stored conditions of a start. O(1).
[[nodiscard]] inline std::span<const Condition> conditions_of(const Collective& collective, const JourneyStart& start) {
  return collective.conditions(start.group).subspan(start.first_condition, start.conditions);
}

/// Adds up, by size class, what the chunks weigh at least.
class JourneySum {
 public:
  /// `into` and `out_of`: per NPU the weight of its lightest in-link and out-link; zero where it has none.
  JourneySum(const Collective& collective, std::span<const std::uint32_t> into, std::span<const std::uint32_t> out_of);

  /// Adds the chunks of a start. `distance(NpuId)` from it; negative where there is no path. Returns whether all
  /// destinations are reached.
  template <class Distance>
  bool add(const JourneyStart& start, const Distance& distance) {
    bool reached = true;
    const auto known = [&](NpuId npu) -> Exact {
      const auto weight = static_cast<Exact>(distance(npu));
      reached = reached && weight >= 0;
      return weight;
    };
    const Exact c = collective_.chunks_per_npu(start.group);
    if (start.conditions == 0) {
      Exact sum = 0;
      for (const NpuId to : start.to) sum += known(to);
      needed_[collective_.size_class(start.group)] += c * sum;
    }
    const auto& members = collective_.groups()[start.group.index()].members;
    const auto conditions = conditions_of(collective_, start);
    for (std::size_t i = 0; i < conditions.size(); ++i) {
      Exact farthest = 0;
      Exact ends = 0;
      for (const auto rank : conditions[i].destinations) {
        farthest = std::max(farthest, known(members[rank]));
        ends += into_[members[rank].index()];
      }
      const auto chunk = chunk_of_condition(collective_, start.group, start.first_condition + i);
      needed_[collective_.size_class(chunk)] += c * std::max(farthest, ends);
    }
    return reached;
  }

  /// By size class: of all starts that were added, and of the groups without starts.
  [[nodiscard]] const std::vector<Exact>& needed() const { return needed_; }

 private:
  void add_group(GroupId group);

  const Collective& collective_;
  std::span<const std::uint32_t> into_;
  std::span<const std::uint32_t> out_of_;
  std::vector<Exact> needed_;
};

/// Per NPU the weight of its lightest in-link (or out-link), zero where it has none. O(links).
[[nodiscard]] std::vector<std::uint32_t> lightest_links(const Topology& topology,
                                                        std::span<const std::uint32_t> weights, bool into);

}  // namespace tenex
