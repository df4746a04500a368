// Driven by dependencies: every send starts once all it waits for has happened, and tells those that wait for it.
//
// The constraints that point the other way (PlayedStarts::in_order) are looked at when all sends have started. Where
// one is violated, the send that comes too soon gets a lower bound, and all is played again. A valid plan satisfies
// every constraint, so bounds never pass it: the repetition ends, and at the least solution, which is nowhere later
// than the plan. A bound that would pass the plan is dropped, and the plan is not valid.
//
// Encoding: waits are counted per send. "Delivery i and all before it of its kind" is an event of its own (a prefix),
// so a send that waits for many deliveries waits for one event, and all waits together are O(sends). A switch that
// passes chunks on early does so at a time that depends on both links (tenex/topology/hand_over.hpp). There a send
// waits for each delivery by itself: what the plan had ready for its link by its planned start.

#include "tenex/schedule/timing/list_player.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "schedule/timing/early_waits.hpp"
#include "schedule/timing/passed_on.hpp"
#include "schedule/timing/sum_order.hpp"
#include "schedule/timing/wire_order.hpp"
#include "schedule/vertex_roles.hpp"
#include "tenex/base/units.hpp"
#include "tenex/collective/instance.hpp"
#include "tenex/schedule/send.hpp"
#include "tenex/topology/hand_over.hpp"
#include "tenex/topology/slow_windows.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex {
namespace {

using Index = std::uint32_t;  ///< of a send in planned order
constexpr Index kNoIndex = std::numeric_limits<Index>::max();

/// Lists of sends that wait for events; each send waits in at most one list. O(events + sends) memory.
class WaitingLists {
 public:
  WaitingLists(std::size_t events, std::size_t sends) : first_(events, kNoIndex), next_(sends, kNoIndex) {}
  void add(std::size_t event, Index send) { next_[send] = std::exchange(first_[event], send); }
  [[nodiscard]] Index first(std::size_t event) const { return first_[event]; }
  [[nodiscard]] Index next(Index send) const { return next_[send]; }

 private:
  std::vector<Index> first_;
  std::vector<Index> next_;
};

class ListPlayer {
 public:
  ListPlayer(const Instance& instance, const PlannedSends& planned, PlayRules rules)
      : instance_(instance),
        topology_(instance.topology),
        collective_(instance.collective),
        wires_(topology_.wires()),
        sends_(planned.sends),
        timed_as_planned_(planned.arrivals.empty()),
        hops_(topology_, collective_.chunk_sizes(), instance.occupancy),
        hand_overs_(topology_, collective_.chunk_sizes()),
        lower_(sends_.size()),
        waits_for_(sends_.size(), 0),
        next_delivery_(sends_.size(), kNoIndex),
        waiting_(2 * sends_.size(), sends_.size()),
        early_waits_(sends_.size()) {
    arrivals_.reserve(sends_.size());
    for (Index i = 0; i < sends_.size(); ++i)
      arrivals_.push_back(planned.arrivals.empty() ? sends_[i].start + hop(i, sends_[i].start).latency
                                                   : planned.arrivals[i]);
    if (rules.timed)
      for (Index i = 0; i < sends_.size(); ++i) lower_[i] = sends_[i].start;
    if (!rules.start_delays.empty()) hold_back(rules.start_delays);
    for (Index i = 0; i < sends_.size(); ++i)
      if (sends_[i].stage == Stage::copy) lower_[i] = std::max(lower_[i], rules.copies_from);
  }

  Result<PlayedStarts> play() {
    chain_sends();
    group_deliveries();
    passed_on_early_ = find_passed_on(instance_, hand_overs_, sends_, arrivals_);
    if (auto done = find_supplies(); !done) return done.errors();
    if (hand_overs_.any()) early_waits_.index();
    const SumOrder sums(topology_, sends_, heads(), takes_);
    do {
      begin_round();
      start_all();
      if (started_ < sends_.size()) return stuck_error();
    } while (raise_bounds(sums));
    return PlayedStarts{std::move(start_), in_order_};
  }

 private:
  // Two events per send: its arrival, and the prefix of deliveries that ends with it.
  static std::size_t arrival_of(Index send) { return 2 * std::size_t{send}; }
  static std::size_t prefix_of(Index send) { return 2 * std::size_t{send} + 1; }

  [[nodiscard]] HopTime hop(Index i, SimTime start) const {
    return hops_.at(topology_.class_of(sends_[i].link), collective_.size_class(sends_[i].chunk), start);
  }
  [[nodiscard]] SimTime lead(Index in, Index out) const {
    return hand_overs_.lead(sends_[in].link, sends_[out].link, collective_.size_class(sends_[in].chunk));
  }
  [[nodiscard]] bool early_at(VertexId vertex) const { return hand_overs_.any() && passes_on_early(topology_, vertex); }
  /// How long after its start a send first counts at its target: from there on it may leave a switch that passes chunks
  /// on early.
  [[nodiscard]] SimTime first_counts(Index i) const {
    return early_at(target(i)) ? topology_.alpha(sends_[i].link) : hop(i, start_[i]).latency;
  }
  /// Planned arrivals, at switches that pass chunks on early those of first bytes.
  [[nodiscard]] std::vector<SimTime> heads() const {
    std::vector<SimTime> heads = arrivals_;
    for (Index i = 0; hand_overs_.any() && i < sends_.size(); ++i)
      if (early_at(target(i))) heads[i] = sends_[i].start + topology_.alpha(sends_[i].link);
    return heads;
  }
  [[nodiscard]] VertexId source(Index i) const { return topology_.source(sends_[i].link); }
  [[nodiscard]] VertexId target(Index i) const { return topology_.target(sends_[i].link); }
  [[nodiscard]] bool delivers(Index i) const { return unpacks(topology_, sends_[i]); }

  /// Late NPUs bound what leaves them.
  void hold_back(std::span<const StartDelay> start_delays) {
    std::vector<SimTime> start_of(topology_.vertices());
    for (const auto& [npu, time] : start_delays) start_of[npu.index()] = time;
    for (Index i = 0; i < sends_.size(); ++i) lower_[i] = std::max(lower_[i], start_of[source(i).index()]);
  }

  // The order of sends on links. A slot is a physical link of a send's path: next_in_slot_ has the next send there.

  void chain_sends() {
    first_slot_.reserve(sends_.size() + 1);
    first_slot_.push_back(0);
    if (wires_ != nullptr && share_links()) return first_slot_.assign(sends_.size() + 1, 0);
    for (const Send& send : sends_)
      first_slot_.push_back(first_slot_.back() + (wires_ == nullptr ? 1 : wires_->spans(send.link).size()));
    next_in_slot_.assign(first_slot_.back(), kNoIndex);
    std::vector<std::size_t> last(physical_network(topology_).links(), first_slot_.back());
    for (Index i = 0; i < sends_.size(); ++i) {
      for (std::size_t slot = first_slot_[i]; slot < first_slot_[i + 1]; ++slot) {
        const std::size_t previous = std::exchange(last[span_of(i, slot).link.index()], slot);
        if (previous == first_slot_.back()) continue;
        next_in_slot_[previous] = i;
        ++waits_for_[i];
      }
    }
  }
  /// Fills signals_ where the planned starts let wires share their links.
  bool share_links() {
    if (!timed_as_planned_) return false;
    signals_ = wire_order(instance_, sends_);
    const bool shared = std::ranges::all_of(signals_, [&](const StartConstraint& each) {
      const Send& later = sends_[each.later];
      const Send& earlier = sends_[each.earlier];
      return later.start >= earlier.start + each.gap && (!each.together || later.chunk == earlier.chunk);
    });
    if (!shared) signals_.clear();
    return shared;
  }
  [[nodiscard]] WireSpan span_of(Index i, std::size_t slot) const {
    return wires_ == nullptr ? WireSpan{sends_[i].link, SimTime::zero()}
                             : wires_->spans(sends_[i].link)[slot - first_slot_[i]];
  }
  /// When the link of a span is free again after send i, which starts now.
  [[nodiscard]] SimTime free_after(Index i, const WireSpan& span) const {
    const HopTime own = hop(i, start_[i]);
    if (wires_ == nullptr) return start_[i] + own.busy;
    const bool transfer = instance_.occupancy == Occupancy::transfer;
    return start_[i] + span.offset + own.latency - topology_.alpha(sends_[i].link) +
           (transfer ? wires_->network().alpha(span.link) : SimTime::zero());
  }
  /// After which time a send reaches a physical link of its path.
  [[nodiscard]] SimTime offset_of(Index i, LinkId link) const {
    if (wires_ == nullptr) return SimTime::zero();
    const auto spans = wires_->spans(sends_[i].link);
    return std::ranges::find(spans, link, &WireSpan::link)->offset;
  }
  void free_links(Index i) {
    for (std::size_t slot = first_slot_[i]; slot < first_slot_[i + 1]; ++slot)
      if (const Index next = next_in_slot_[slot]; next != kNoIndex) {
        const WireSpan span = span_of(i, slot);
        release(next, free_after(i, span) - offset_of(next, span.link));
      }
  }

  // What sends wait for at their sources.

  using Kind = std::tuple<VertexId, ChunkId, Stage>;
  [[nodiscard]] Kind delivered_kind(Index i) const { return {target(i), sends_[i].chunk, sends_[i].stage}; }

  /// Sorts deliveries by what they deliver where, then by planned arrival, and chains the prefixes.
  void group_deliveries() {
    for (Index i = 0; i < sends_.size(); ++i)
      if (delivers(i)) deliveries_.push_back(i);
    std::sort(deliveries_.begin(), deliveries_.end(), [&](Index a, Index b) {
      return std::tuple(delivered_kind(a), arrivals_[a], a) < std::tuple(delivered_kind(b), arrivals_[b], b);
    });
    passed_on_.assign(deliveries_.size(), 0);
    prefix_needs_.assign(sends_.size(), 0);
    for (std::size_t d = 0; d < deliveries_.size(); ++d) {
      prefix_needs_[deliveries_[d]] = 1;
      if (d == 0 || delivered_kind(deliveries_[d - 1]) != delivered_kind(deliveries_[d])) continue;
      next_delivery_[deliveries_[d - 1]] = deliveries_[d];
      prefix_needs_[deliveries_[d]] = 2;
    }
  }

  /// Deliveries of one kind, as places in deliveries_: all, and those that the plan had by a time.
  struct Supply {
    std::size_t begin = 0;
    std::size_t in_time = 0;  ///< the end of them
    std::size_t end = 0;
    [[nodiscard]] bool any() const { return begin < end; }
    [[nodiscard]] bool any_in_time() const { return begin < in_time; }
  };
  [[nodiscard]] Supply supply(VertexId vertex, ChunkId chunk, Stage stage, SimTime time) const {
    const Kind kind{vertex, chunk, stage};
    const auto first = deliveries_.begin();
    const auto begin =
        std::partition_point(first, deliveries_.end(), [&](Index d) { return delivered_kind(d) < kind; });
    if (begin == deliveries_.end() || delivered_kind(*begin) != kind) return {};
    const auto end = std::partition_point(begin, deliveries_.end(), [&](Index d) { return delivered_kind(d) == kind; });
    const auto in_time = std::partition_point(begin, end, [&](Index d) { return arrivals_[d] <= time; });
    return {static_cast<std::size_t>(begin - first), static_cast<std::size_t>(in_time - first),
            static_cast<std::size_t>(end - first)};
  }

  void wait(Index send, std::size_t event) {
    waiting_.add(event, send);
    ++waits_for_[send];
  }

  Status find_supplies() {
    takes_.assign(sends_.size(), true);
    std::vector<Index> hops;
    for (Index i = 0; i < sends_.size(); ++i) {
      if (sends_[i].message.exists())
        hops.push_back(i);
      else if (!wait_for_chunk(i))
        return never_comes_error(i, "its source neither holds it at first nor receives it");
    }
    std::sort(hops.begin(), hops.end(),
              [&](Index a, Index b) { return std::tuple(sends_[a].message, a) < std::tuple(sends_[b].message, b); });
    for (auto first = hops.begin(), end = first; first != hops.end(); first = end) {
      const MessageId message = sends_[*first].message;
      end = std::find_if(first, hops.end(), [&](Index i) { return sends_[i].message != message; });
      if (auto done = find_supplies(std::span(first, end)); !done) return done;
    }
    return success();
  }

  /// The same for the hops of a message, in planned order. A hop over a switch that passes chunks on early may start
  /// with the hop before it, and stand before it in the list.
  Status find_supplies(std::span<const Index> hops) {
    bool begun = false;
    for (std::size_t h = 0; h < hops.size(); ++h) {
      const bool early = early_at(source(hops[h]));
      Index before = kNoIndex;
      for (std::size_t other = 0; other < (early ? hops.size() : h); ++other) {
        const bool at_once = sends_[hops[other]].start == sends_[hops[h]].start;
        if (target(hops[other]) == source(hops[h]) && (other < h || (at_once && before == kNoIndex)))
          before = hops[other];
      }
      if (before != kNoIndex) {
        takes_[hops[h]] = false;
        wait(hops[h], arrival_of(before));
      } else if (std::exchange(begun, true)) {
        return never_comes_error(
            hops[h], fmt::format("no earlier hop of message {} ends at its source", sends_[hops[h]].message.value()));
      } else if (!wait_for_chunk(hops[h])) {
        return never_comes_error(hops[h], "its source neither holds it at first nor receives it");
      }
    }
    return success();
  }

  /// Lets a send that is no later hop wait for its chunk; false when that never comes.
  bool wait_for_chunk(Index i) {
    const Send& send = sends_[i];
    const VertexId from = source(i);
    const Supply sums = supply(from, send.chunk, Stage::reduce, send.start);
    if (send.stage == Stage::reduce) {
      if (sum_role(topology_, from) == SumRole::queues && pass_on(i, sums)) return true;
      // What leaves such a switch in several sums depends on when each first byte comes.
      if (early_at(from) && sums.any() && sum_role(topology_, from) != SumRole::queues)
        in_order_ = in_order_ && sums_left_.insert(sums.begin).second;
      return wait_for_all(i, sums, contributes(topology_, collective_, from, send.chunk));
    }
    if (topology_.is_npu(from) && collective_.holds_at_start(npu_of(from), send.chunk)) return true;
    const Supply copies = supply(from, send.chunk, Stage::copy, send.start);
    if (!keeps_copies(topology_, from) && pass_on(i, copies)) return true;
    const bool adds = sum_role(topology_, from) != SumRole::queues;
    const bool complete = sums.any() && adds && passed_on_[sums.begin] > 0;
    if (!complete && (any_in_time(copies, i) || !sums.any())) return wait_for_all(i, copies, false);
    if (adds) passed_on_[sums.begin] = 1;
    return wait_for_all(i, sums, false);
  }

  /// Whether the plan had some delivery for a send.
  [[nodiscard]] bool any_in_time(const Supply& supply, Index send) const {
    if (!early_at(source(send))) return supply.any_in_time();
    for (std::size_t place = supply.begin; place < supply.end; ++place)
      if (planned_ready(deliveries_[place], send)) return true;
    return false;
  }

  /// Waits for the next delivery that is sent on once; false where the plan had none in time.
  bool pass_on(Index i, const Supply& supply) {
    if (!supply.any()) return false;
    Index& next = passed_on_[supply.begin];
    if (early_at(source(i))) {
      if (passed_on_early_[i] == kPassesNothingOn) return false;
      wait(i, arrival_of(passed_on_early_[i]));
      return true;
    }
    if (supply.begin + next >= supply.in_time) return false;
    wait(i, arrival_of(deliveries_[supply.begin + next++]));
    return true;
  }

  /// Waits for all deliveries that the plan had in time (of copies the first that is there); where there was none and
  /// the source has nothing, for the first.
  bool wait_for_all(Index i, const Supply& supply, bool source_has_it) {
    if (early_at(source(i))) return wait_for_each(i, supply, source_has_it);
    if (supply.any_in_time())
      wait(i, prefix_of(deliveries_[supply.in_time - 1]));
    else if (!source_has_it && supply.any())
      wait(i, prefix_of(deliveries_[supply.begin]));
    else
      return source_has_it;
    return true;
  }

  /// Whether the plan had a delivery ready for a send.
  [[nodiscard]] bool planned_ready(Index delivery, Index send) const {
    return arrivals_[delivery] - lead(delivery, send) <= sends_[send].start;
  }
  /// The same at a switch that passes chunks on early.
  bool wait_for_each(Index i, const Supply& supply, bool source_has_it) {
    std::vector<Index> awaited;
    for (std::size_t place = supply.begin; place < supply.end; ++place)
      if (planned_ready(deliveries_[place], i)) awaited.push_back(deliveries_[place]);
    if (awaited.empty() && !source_has_it && supply.any()) awaited.push_back(deliveries_[supply.begin]);
    if (awaited.empty()) return source_has_it;
    ++waits_for_[i];
    early_waits_.add(i, topology_.class_of(sends_[i].link), supply.begin, awaited);
    return true;
  }

  // Playing.

  void begin_round() {
    start_ = lower_;
    round_waits_for_ = waits_for_;
    round_prefix_needs_ = prefix_needs_;
    prefix_time_.assign(sends_.size(), SimTime::zero());
    ready_.clear();
    for (Index i = 0; i < sends_.size(); ++i) {
      if (sends_[i].stage == Stage::copy) prefix_time_[i] = SimTime::max();
      if (round_waits_for_[i] == 0) ready_.push_back(i);
    }
    started_ = 0;
    early_waits_.begin_round();
  }

  void start_all() {
    while (!ready_.empty()) {
      const Index i = ready_.back();
      ready_.pop_back();
      ++started_;
      free_links(i);
      const SimTime arrival = start_[i] + hop(i, start_[i]).latency;
      for (Index send = waiting_.first(arrival_of(i)); send != kNoIndex; send = waiting_.next(send))
        release(send, arrival - lead(i, send));
      if (!delivers(i)) continue;
      if (early_at(target(i)))
        early_waits_.deliver(
            i, arrival, sends_[i].stage == Stage::copy, [&](Index send) { return lead(i, send); },
            [&](Index send, SimTime time) { release(send, time); });
      else
        complete_prefixes(i, arrival);
    }
  }
  void release(Index send, SimTime time) {
    start_[send] = std::max(start_[send], time);
    if (--round_waits_for_[send] == 0) ready_.push_back(send);
  }
  void release_all(std::size_t event, SimTime time) {
    for (Index send = waiting_.first(event); send != kNoIndex; send = waiting_.next(send)) release(send, time);
  }
  /// Delivery i has come: its prefix is complete once the one before it is, and so on.
  void complete_prefixes(Index i, SimTime time) {
    const bool copies = sends_[i].stage == Stage::copy;
    while (i != kNoIndex) {
      prefix_time_[i] = time = copies ? std::min(prefix_time_[i], time) : std::max(prefix_time_[i], time);
      if (--round_prefix_needs_[i] > 0) return;
      release_all(prefix_of(i), time);
      i = next_delivery_[i];
    }
  }

  /// Raises the bounds of sends that come too soon; returns whether any was raised.
  bool raise_bounds(const SumOrder& sums) {
    bool raised = false;
    const auto raise = [&](std::size_t i, SimTime least) {
      if (start_[i] >= least) return;
      if (least > sends_[i].start) {
        in_order_ = false;
        return;
      }
      lower_[i] = least;
      raised = true;
    };
    sums.check(
        start_, [&](std::size_t i) { return first_counts(static_cast<Index>(i)); }, raise);
    for (const StartConstraint& each : signals_) raise(each.later, start_[each.earlier] + each.gap);
    return raised;
  }

  [[nodiscard]] Diagnostic never_comes_error(Index i, std::string why) const {
    const Send& send = sends_[i];
    return input_error({},
                       fmt::format("the send of chunk {} from vertex {} to {} planned at {} waits for a chunk that "
                                   "never comes",
                                   send.chunk.value(), source(i).value(), target(i).value(), to_string(send.start)),
                       std::move(why), "verify the schedule to see what is wrong with it");
  }
  [[nodiscard]] Diagnostic stuck_error() const {
    Index i = 0;
    while (round_waits_for_[i] == 0) ++i;
    return never_comes_error(i, "it waits for sends that wait for it");
  }

  const Instance& instance_;
  const Topology& topology_;
  const Collective& collective_;
  const Wires* wires_;
  const std::vector<Send>& sends_;  ///< in planned order
  bool timed_as_planned_;           ///< sends take as long as planned, so links do, too
  StartedHops hops_;
  HandOvers hand_overs_;
  std::vector<SimTime> arrivals_;  ///< planned
  std::vector<SimTime> lower_;     ///< no send starts before
  std::vector<bool> takes_;        ///< from its source: no later hop of a message

  std::vector<std::uint8_t> waits_for_;   ///< events that a send waits for, at most one and one for each slot
  std::vector<std::size_t> first_slot_;   ///< by send, then the end
  std::vector<Index> next_in_slot_;       ///< by slot
  std::vector<StartConstraint> signals_;  ///< where wires share links as planned, instead of slots
  std::vector<Index> deliveries_;         ///< by kind, then planned arrival
  std::vector<Index> passed_on_;          ///< by kind, at its first delivery: how many were sent on; of sums in one:
                                          ///< whether it was sent as the final value
  std::vector<Index> next_delivery_;      ///< of the same kind
  std::vector<std::uint8_t> prefix_needs_;
  WaitingLists waiting_;
  // Of switches that pass chunks on early.
  std::vector<Index> passed_on_early_;  ///< by send: the delivery that it passes on
  EarlyWaits early_waits_;
  std::unordered_set<std::size_t> sums_left_;  ///< by kind of delivery, at its first place

  std::vector<SimTime> start_;  ///< the latest of what is known of each send so far
  std::vector<std::uint8_t> round_waits_for_;
  std::vector<std::uint8_t> round_prefix_needs_;
  std::vector<SimTime> prefix_time_;
  std::vector<Index> ready_;
  std::size_t started_ = 0;
  bool in_order_ = true;
};

}  // namespace

Result<PlayedStarts> play_list(const Instance& instance, const PlannedSends& planned, PlayRules rules) {
  return ListPlayer(instance, planned, rules).play();
}

}  // namespace tenex
