// Removing deliveries that nobody needs, before a schedule is reversed.
//
// Idea: walk time backwards. A delivery is kept if it is the first of its chunk at the vertex and the vertex needs the
// chunk or forwards it in a send that was itself kept. A vertex forwards only after the arrival, so the backward walk
// has decided about the forwards before it comes to the delivery, and whole useless branches disappear in one pass. At
// switches that cannot copy, arrivals pair with later forwards like parentheses. At switches that pass chunks on early
// (tenex/topology/hand_over.hpp) a delivery may count from its first byte on; sends of one instant are in the order of
// causes.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "schedule/instant_order.hpp"
#include "schedule/vertex_roles.hpp"
#include "tenex/base/contract.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/schedule/views/views.hpp"
#include "tenex/topology/hand_over.hpp"
#include "tenex/topology/slow_windows.hpp"

namespace tenex {
namespace {

class WastePruner {
 public:
  WastePruner(const Instance& instance, const Schedule& schedule)
      : topology_(instance.topology),
        collective_(instance.collective),
        sends_(list_sends(schedule)),
        keep_(sends_.size(), false) {
    const StartedHops times(instance.topology, instance.collective.chunk_sizes(), instance.occupancy);
    if (passes_on_at_once(topology_)) order_instants();
    for (const auto& [start, link, chunk, stage, message, destination] : sends_)
      arrival_.push_back(
          start + times.at(instance.topology.class_of(link), instance.collective.size_class(chunk), start).latency);
    if (any_passes_on_early(topology_)) count_first_bytes();
    by_arrival_.resize(sends_.size());
    std::iota(by_arrival_.begin(), by_arrival_.end(), std::size_t{0});
    const auto order = [&](std::size_t i) { return std::pair(arrival_[i], arrives_at_once(i) ? i + 1 : 0); };
    std::stable_sort(by_arrival_.begin(), by_arrival_.end(),
                     [&](std::size_t a, std::size_t b) { return order(a) < order(b); });
    find_firsts();
  }

  std::vector<Send> prune() {
    auto next_start = sends_.size();
    auto next_arrival = sends_.size();
    while (next_arrival > 0) {  // all arrivals decided: the remaining starts decide nothing
      const auto arrival = by_arrival_[next_arrival - 1];
      if (next_start > 0 && starts_after(next_start - 1, arrival)) {
        leave_source(--next_start);
      } else {
        decide(arrival);
        --next_arrival;
      }
    }
    std::vector<Send> kept;
    for (std::size_t i = 0; i < sends_.size(); ++i)
      if (keep_[i]) kept.push_back(sends_[i]);
    return kept;
  }

 private:
  /// Whether a send arrives at the instant at which it starts: right after its start then, else before all starts.
  [[nodiscard]] bool arrives_at_once(std::size_t i) const { return sends_[i].start == arrival_[i]; }
  [[nodiscard]] bool starts_after(std::size_t send, std::size_t arrival) const {
    if (sends_[send].start != arrival_[arrival]) return sends_[send].start > arrival_[arrival];
    return !arrives_at_once(arrival) || send > arrival;
  }
  /// At switches that pass chunks on early deliveries count from their first byte on, unless all that leaves with the
  /// chunk has come whole before: there first bytes may come in another order.
  void count_first_bytes() {
    std::unordered_map<std::uint64_t, std::vector<SimTime>> whole;
    std::unordered_map<std::uint64_t, std::vector<SimTime>> leaves;
    const auto early_at = [&](VertexId vertex) { return passes_on_early(topology_, vertex); };
    for (std::size_t i = 0; i < sends_.size(); ++i) {
      if (early_at(topology_.target(sends_[i].link))) whole[target_key(i)].push_back(arrival_[i]);
      if (early_at(topology_.source(sends_[i].link))) leaves[source_key(i)].push_back(sends_[i].start);
    }
    std::unordered_map<std::uint64_t, bool> stored;
    for (auto& [key, come] : whole) {
      std::ranges::sort(come);
      const bool stays = keeps_copies(topology_, VertexId(static_cast<std::uint32_t>(key >> 32U)));
      const auto& gone = leaves[key];  // in order of starts
      bool all = stays || gone.size() <= come.size();
      for (std::size_t n = 0; all && n < gone.size(); ++n) all = gone[n] >= come[stays ? 0 : n];
      stored[key] = all;
    }
    for (std::size_t i = 0; i < sends_.size(); ++i)
      if (early_at(topology_.target(sends_[i].link)) && !stored[target_key(i)])
        arrival_[i] = sends_[i].start + topology_.alpha(sends_[i].link);
  }
  void order_instants() {
    std::vector<Send> ordered;
    for (std::size_t first = 0, last = 0; first < sends_.size(); first = last) {
      while (last < sends_.size() && sends_[last].start == sends_[first].start) ++last;
      std::vector<Send> instant(sends_.begin() + static_cast<std::ptrdiff_t>(first),
                                sends_.begin() + static_cast<std::ptrdiff_t>(last));
      order_by_cause(topology_, instant);
      ordered.insert(ordered.end(), instant.begin(), instant.end());
    }
    sends_ = std::move(ordered);
  }
  /// Marks the first delivery of every chunk at every vertex, and the first hop of every message.
  void find_firsts() {
    first_delivery_.assign(sends_.size(), false);
    first_hop_.assign(sends_.size(), true);
    std::unordered_set<std::uint64_t> reached;
    for (const auto i : by_arrival_)
      if (unpacks(topology_, sends_[i])) first_delivery_[i] = reached.insert(target_key(i)).second;
    std::unordered_set<MessageId> begun;
    for (std::size_t i = 0; i < sends_.size(); ++i)
      if (sends_[i].message.exists()) first_hop_[i] = begun.insert(sends_[i].message).second;
  }

  std::uint64_t source_key(std::size_t i) const {
    return holding_key(topology_.source(sends_[i].link), sends_[i].chunk);
  }
  std::uint64_t target_key(std::size_t i) const {
    return holding_key(topology_.target(sends_[i].link), sends_[i].chunk);
  }

  /// Decides whether send i is kept. Its target's later sends are decided already.
  void decide(std::size_t i) {
    const auto& send = sends_[i];
    if (!unpacks(topology_, send)) {  // a hop is kept if its message's last hop is, which was decided before
      keep_[i] = kept_messages_.contains(send.message);
      return;
    }
    const VertexId target = topology_.target(send.link);
    const auto forwards = forwards_.find(target_key(i));
    const bool forwarded = forwards != forwards_.end() && forwards->second > 0;
    if (keeps_copies(topology_, target)) {
      const bool had_it = topology_.is_npu(target) && collective_.holds_at_start(npu_of(target), send.chunk);
      keep_[i] = first_delivery_[i] && !had_it && (forwarded || must_hold(topology_, collective_, target, send.chunk));
    } else if (forwarded) {
      keep_[i] = true;
      --forwards->second;
    }
    if (keep_[i] && send.message.exists()) kept_messages_.insert(send.message);
  }

  /// Counts send i at its source, if it is kept: the source then needs the chunk.
  void leave_source(std::size_t i) {
    if (keep_[i] && first_hop_[i]) ++forwards_[source_key(i)];
  }

  const Topology& topology_;
  const Collective& collective_;
  std::vector<Send> sends_;
  std::vector<SimTime> arrival_;
  std::vector<std::size_t> by_arrival_;
  std::vector<bool> first_delivery_;
  std::vector<bool> first_hop_;
  std::vector<bool> keep_;
  std::unordered_map<std::uint64_t, std::uint64_t> forwards_;  ///< kept sends of a chunk from a vertex, later in time
  std::unordered_set<MessageId> kept_messages_;
};

}  // namespace

Schedule prune_waste(const Instance& instance, const Schedule& schedule) {
  ensure(!instance.collective.has_sums(), "prune_waste: a collective that reduces has no duplicate deliveries to drop");
  Schedule pruned = make_list_schedule(WastePruner(instance, schedule).prune());
  TENEX_ENSURES(pruned.sends() <= schedule.sends(), "no more sends");
  TENEX_ENSURES(last_arrival(instance, pruned) <= last_arrival(instance, schedule), "no later an end");
  return pruned;
}

}  // namespace tenex
