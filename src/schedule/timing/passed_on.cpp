#include "schedule/timing/passed_on.hpp"

#include <algorithm>
#include <span>
#include <tuple>

#include "schedule/vertex_roles.hpp"

namespace tenex {
namespace {

using Index = std::uint32_t;
using Holding = std::tuple<VertexId, ChunkId, Stage>;

class PassedOn {
 public:
  PassedOn(const Instance& instance, const HandOvers& hand_overs, const std::vector<Send>& sends,
           const std::vector<SimTime>& arrivals)
      : topology_(instance.topology),
        collective_(instance.collective),
        hand_overs_(hand_overs),
        sends_(sends),
        arrivals_(arrivals),
        choice_(sends.size(), kPassesNothingOn) {
    for (Index i = 0; i < sends.size(); ++i) {
      if (sends[i].message.exists()) continue;
      if (keeps_apart(topology_.source(sends[i].link), sends[i].stage)) leaving_.push_back(i);
      if (keeps_apart(topology_.target(sends[i].link), sends[i].stage)) coming_.push_back(i);
    }
    std::ranges::stable_sort(leaving_, {}, [&](Index i) { return leaves(i); });
    std::ranges::sort(coming_, {}, [&](Index i) { return std::tuple(comes(i), arrivals_[i], i); });
  }

  [[nodiscard]] std::vector<Index> find() && {
    auto coming = coming_.begin();
    for (auto first = leaving_.begin(), end = first; first != leaving_.end(); first = end) {
      const Holding place = leaves(*first);
      end = std::find_if(first, leaving_.end(), [&](Index i) { return leaves(i) != place; });
      coming = std::find_if(coming, coming_.end(), [&](Index i) { return comes(i) >= place; });
      const auto last = std::find_if(coming, coming_.end(), [&](Index i) { return comes(i) != place; });
      const std::span sends(first, end);
      const std::span from(coming, last);
      if (!serve(sends, from, true)) (void)serve(sends, from, false);
      coming = last;
    }
    return std::move(choice_);
  }

 private:
  /// Whether what arrives in a stage is passed on once and by itself.
  [[nodiscard]] bool keeps_apart(VertexId vertex, Stage stage) const {
    if (!passes_on_early(topology_, vertex)) return false;
    return stage == Stage::copy ? !keeps_copies(topology_, vertex) : sum_role(topology_, vertex) == SumRole::queues;
  }
  [[nodiscard]] Holding leaves(Index i) const {
    return {topology_.source(sends_[i].link), sends_[i].chunk, sends_[i].stage};
  }
  [[nodiscard]] Holding comes(Index i) const {
    return {topology_.target(sends_[i].link), sends_[i].chunk, sends_[i].stage};
  }
  [[nodiscard]] SimTime ready(Index in, Index out) const {
    return arrivals_[in] -
           hand_overs_.lead(sends_[in].link, sends_[out].link, collective_.size_class(sends_[in].chunk));
  }
  /// No arrival is ready for a send sooner than by that before it is whole.
  [[nodiscard]] SimTime longest_lead(Index out) const {
    return hand_overs_.serialization(sends_[out].link, collective_.size_class(sends_[out].chunk));
  }

  /// Chooses for the sends of one place; false where one finds nothing. `soonest`: what is ready first, else what is
  /// whole last.
  bool serve(std::span<const Index> sends, std::span<const Index> from, bool soonest) {
    std::vector<bool> gone(from.size());
    std::size_t first_left = 0;
    bool all = true;
    for (const Index send : sends) {
      while (first_left < from.size() && gone[first_left]) ++first_left;
      std::size_t chosen = from.size();
      for (std::size_t i = first_left; i < from.size(); ++i) {
        const SimTime soon = arrivals_[from[i]] - longest_lead(send);
        if (soon > sends_[send].start) break;
        if (soonest && chosen < from.size() && soon >= ready(from[chosen], send)) break;
        if (gone[i] || ready(from[i], send) > sends_[send].start) continue;
        if (chosen == from.size() || !soonest || ready(from[i], send) < ready(from[chosen], send)) chosen = i;
      }
      if (chosen == from.size()) {
        choice_[send] = kPassesNothingOn;
        all = false;
        continue;
      }
      gone[chosen] = true;
      choice_[send] = from[chosen];
    }
    return all;
  }

  const Topology& topology_;
  const Collective& collective_;
  const HandOvers& hand_overs_;
  const std::vector<Send>& sends_;
  const std::vector<SimTime>& arrivals_;
  std::vector<Index> leaving_;  ///< by place, in planned order
  std::vector<Index> coming_;   ///< by place and arrival
  std::vector<Index> choice_;
};

}  // namespace

std::vector<std::uint32_t> find_passed_on(const Instance& instance, const HandOvers& hand_overs,
                                          const std::vector<Send>& sends, const std::vector<SimTime>& arrivals) {
  if (!hand_overs.any()) return {};
  return PassedOn(instance, hand_overs, sends, arrivals).find();
}

}  // namespace tenex
