// Encoding: the sends of a list, each with the number of arrivals that it still waits for and the sends that wait for
// its own. Time runs over a heap of events: a send arrives, or a link is free. Every link has a heap of ready sends.

#include "synthesis/merge_phases.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "synthesis/free_gaps.hpp"
#include "synthesis/phase_order.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/base/graph/least_first.hpp"
#include "tenex/collective/instance.hpp"
#include "tenex/schedule/schedule.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex {
namespace {

// merge_phases() where links are wires: the sends of one signal are timed together.
//
// Signals, and the free times of physical links.
//
// A signal is a set of sends of one chunk that take their common links once (topology/wires.hpp): copies from one
// vertex that part at switches which copy, or partial sums into one vertex that have met at switches which reduce. Its
// wires form a tree, and all its sends are timed together. The sends of a plan that could be one signal but were timed
// one after the other become one, too: over a switch that copies, a chunk then takes its up-link once and not once for
// every receiver, and the links up have time for the reduction.
//
// Signals are placed chunk by chunk, each as early as its chunk and all its links allow, also in gaps that earlier ones
// left. So a signal that needs many links at once never waits for signals of later chunks. Signals as large as they can
// be are tried in two orders of chunks, and in one order signals as they were planned and a mixture of both; the first
// of the best is kept.
//
// Over one switch with n NPUs the reduction of a chunk takes all links but those of its gather: the up-links of all
// NPUs but the owner, and the owner's down-link. So a gather goes beside the reduction of another chunk of the same
// owner, and c chunks per NPU take n (c + 1) chunk times. Owner by owner no gap needs to fit exactly, so latencies may
// differ. The first sums and the last copies have nothing beside them: there n - 1 shifts of single sends, as plans
// have them, take the place of n signals, which makes n (c - 1) + 2 (n - 1) chunk times.
//
// Encoding: a signal's sends, and the links that it takes, are ranges of flat arrays, with times from its start on.

using Time = FreeGaps::Time;

/// Sends of which signals are made.
enum class SignalSize : std::uint8_t {
  planned,  ///< those that are one signal in the plan
  largest,  ///< all that may be one
  inner,    ///< as planned for the sum of an owner's first chunk and the copies of its last one, otherwise the largest
};

/// The place of each chunk in two orders.
struct ChunkOrders {
  std::vector<std::uint32_t> by_time;   ///< as their sums are complete in the plan
  std::vector<std::uint32_t> by_owner;  ///< one owner after the other, its chunks as their sums are complete
  std::vector<bool> first;              ///< by chunk: whether it is its owner's first one
  std::vector<bool> last;

  ChunkOrders(const Collective& collective, const std::vector<SimTime>& complete)
      : by_time(ranks_of(complete)), first(complete.size(), false), last(complete.size(), false) {
    std::vector<std::pair<NpuId, SimTime>> owned;
    for (std::size_t c = 0; c < complete.size(); ++c) owned.emplace_back(collective.owner(ChunkId::at(c)), complete[c]);
    by_owner = ranks_of(owned);
    std::map<NpuId, std::pair<std::uint32_t, std::uint32_t>> ends;  // ranks
    for (std::size_t c = 0; c < owned.size(); ++c) {
      auto& [least, most] = ends.try_emplace(owned[c].first, by_owner[c], by_owner[c]).first->second;
      least = std::min(least, by_owner[c]);
      most = std::max(most, by_owner[c]);
    }
    for (std::size_t c = 0; c < owned.size(); ++c) {
      const auto& [least, most] = ends.at(owned[c].first);
      first[c] = by_owner[c] == least;
      last[c] = by_owner[c] == most;
    }
  }
};

/// A physical link that a signal takes, from `offset` after the signal's start on.
struct SignalUse {
  std::uint32_t link = 0;
  Time offset = 0;
  Time busy = 0;
};

struct SignalTable {
  std::vector<std::uint32_t> sends;  ///< signal by signal
  std::vector<std::size_t> first_send{0};
  std::vector<SignalUse> uses;  ///< signal by signal, each link once
  std::vector<std::size_t> first_use{0};
  std::vector<std::uint32_t> of_send;  ///< by send: its signal
  std::vector<Time> offset;            ///< by send: its start after the signal's

  [[nodiscard]] std::size_t size() const { return first_send.size() - 1; }
  [[nodiscard]] std::span<const std::uint32_t> sends_of(std::uint32_t signal) const {
    return std::span(sends).subspan(first_send[signal], first_send[signal + 1] - first_send[signal]);
  }
  [[nodiscard]] std::span<const SignalUse> uses_of(std::uint32_t signal) const {
    return std::span(uses).subspan(first_use[signal], first_use[signal + 1] - first_use[signal]);
  }
};

/// Sends and their times, in the plan's order.
struct MergedPlan {
  const Instance& instance;
  std::vector<Send> sends;
  std::vector<HopTime> hops;

  [[nodiscard]] const Wires& wires() const { return *instance.topology.wires(); }
  [[nodiscard]] bool adds(std::uint32_t send) const { return sends[send].stage == Stage::reduce; }
  [[nodiscard]] Time latency(std::uint32_t send) const { return hops[send].latency.count(); }
  [[nodiscard]] Time serialization(std::uint32_t send) const {
    return latency(send) - instance.topology.alpha(sends[send].link).count();
  }
};

/// Makes signals of a plan's sends.
class SignalMaker {
 public:
  SignalMaker(const MergedPlan& plan, const ChunkOrders& orders)
      : plan_(plan), orders_(orders), marks_(plan.wires().network().links()) {}

  SignalTable make(SignalSize size) {
    std::vector<Key> keys;
    for (std::uint32_t i = 0; i < plan_.sends.size(); ++i) keys.push_back(key_of(i, size));
    std::sort(keys.begin(), keys.end());
    signals_ = {};
    signals_.of_send.resize(plan_.sends.size());
    signals_.offset.resize(plan_.sends.size());
    for (std::size_t first = 0; first < keys.size();) {
      joinable_.clear();
      const std::size_t from = first;
      for (; first < keys.size() && keys[first].what == keys[from].what; ++first) joinable_.push_back(keys[first].send);
      while (!joinable_.empty()) make_signal();
    }
    return std::move(signals_);
  }

 private:
  /// What the sends of a signal have in common: stage, chunk, first link (of partial sums: last link), serialization;
  /// and the start (of partial sums: arrival) where signals are as planned.
  struct Key {
    std::tuple<Stage, ChunkId, LinkId, Time, Time> what;
    std::uint32_t send;
    bool operator<(const Key& other) const { return std::tie(what, send) < std::tie(other.what, other.send); }
  };
  /// A link of the present signal, and the one before it, seen from the end that all wires share.
  struct Mark {
    std::size_t signal = kNoSignal;
    LinkId before;
    bool operator==(const Mark&) const = default;
  };
  struct Joined {
    std::uint32_t send;
    std::size_t shared;  ///< links with the sends before it
  };
  static constexpr std::size_t kNoSignal = std::numeric_limits<std::size_t>::max();

  [[nodiscard]] Key key_of(std::uint32_t i, SignalSize size) const {
    const Send& send = plan_.sends[i];
    const auto spans = plan_.wires().spans(send.link);
    const LinkId end = (plan_.adds(i) ? spans.back() : spans.front()).link;
    const Time planned = send.start.count() + (plan_.adds(i) ? plan_.latency(i) : 0);
    const bool at_end = (plan_.adds(i) ? orders_.first : orders_.last)[send.chunk.index()];
    const bool as_planned = size == SignalSize::planned || (size == SignalSize::inner && at_end);
    return {{send.stage, send.chunk, end, plan_.serialization(i), as_planned ? planned : -1}, i};
  }

  /// The i-th link of a send's wire, from the end that the wires of its signal share.
  [[nodiscard]] LinkId link_at(std::uint32_t send, std::size_t i) const {
    const auto spans = plan_.wires().spans(plan_.sends[send].link);
    return spans[plan_.adds(send) ? spans.size() - 1 - i : i].link;
  }

  /// Whether signals may part (partial sums: may have met) beyond a link.
  [[nodiscard]] bool may_part(LinkId link, bool adds) const {
    const Topology& network = plan_.wires().network();
    const SwitchProperties& at = network.switch_properties(adds ? network.source(link) : network.target(link));
    return adds ? at.reduce : at.copy;
  }

  /// Makes one signal of as many of joinable_ as join it, at least the first, and leaves the others.
  void make_signal() {
    joined_.clear();
    std::erase_if(joinable_, [&](std::uint32_t send) { return join(send); });
    Time longest = 0;
    for (const Joined& each : joined_) longest = std::max(longest, plan_.latency(each.send));
    for (const auto& [send, shared] : joined_) {
      const bool adds = plan_.adds(send);
      const Time offset = adds ? longest - plan_.latency(send) : 0;
      signals_.of_send[send] = static_cast<std::uint32_t>(signals_.size());
      signals_.offset[send] = offset;
      signals_.sends.push_back(send);
      const auto spans = plan_.wires().spans(plan_.sends[send].link);
      for (const WireSpan& span : adds ? spans.first(spans.size() - shared) : spans.subspan(shared))
        signals_.uses.push_back({span.link.value(), offset + span.offset.count(), busy(send, span.link)});
    }
    signals_.first_send.push_back(signals_.sends.size());
    signals_.first_use.push_back(signals_.uses.size());
  }

  /// Whether the send is part of the present signal: its wire leaves the tree where signals may part, for good.
  bool join(std::uint32_t send) {
    const std::size_t length = plan_.wires().spans(plan_.sends[send].link).size();
    LinkId before = LinkId::none();
    std::size_t shared = 0;
    while (shared < length && marks_[link_at(send, shared).index()] == Mark{signals_.size(), before})
      before = link_at(send, shared++);
    if (!joined_.empty() && (shared == 0 || shared == length || !may_part(before, plan_.adds(send)))) return false;
    for (std::size_t i = shared; i < length; ++i)
      if (marks_[link_at(send, i).index()].signal == signals_.size()) return false;
    for (std::size_t i = shared; i < length; ++i)
      marks_[link_at(send, i).index()] = {signals_.size(), std::exchange(before, link_at(send, i))};
    joined_.push_back({send, shared});
    return true;
  }

  [[nodiscard]] Time busy(std::uint32_t send, LinkId link) const {
    const bool transfer = plan_.instance.occupancy == Occupancy::transfer;
    return plan_.serialization(send) + (transfer ? plan_.wires().network().alpha(link).count() : 0);
  }

  const MergedPlan& plan_;
  const ChunkOrders& orders_;
  SignalTable signals_;
  std::vector<Mark> marks_;              ///< by physical link
  std::vector<std::uint32_t> joinable_;  ///< sends that may be one signal
  std::vector<Joined> joined_;           ///< of the present signal
};

/// Times signals one after the other.
class SignalTimes {
 public:
  SignalTimes(const MergedPlan& plan, const Dependencies& dependencies, const SignalTable& signals)
      : plan_(plan),
        dependencies_(dependencies),
        signals_(signals),
        starts_(plan.sends.size()),
        ready_(signals.size(), 0),
        waits_for_(signals.size(), 0),
        gaps_(plan.wires().network().links()),
        least_(gaps_.size(), std::numeric_limits<Time>::max()) {
    for (std::uint32_t i = 0; i < plan.sends.size(); ++i) waits_for_[signals.of_send[i]] += dependencies.waits_for[i];
    for (const SignalUse& use : signals.uses) least_[use.link] = std::min(least_[use.link], use.busy);
  }

  /// Times all signals, chunks of lower rank first, but copies of chunks in `postponed` (by chunk; empty: none) after
  /// all others. Returns the last arrival.
  Time run(const std::vector<std::uint32_t>& rank, const std::vector<bool>& postponed) {
    const auto open = [&](std::uint32_t signal) {
      const Send& first = plan_.sends[signals_.sends_of(signal).front()];
      const bool waits = !postponed.empty() && first.stage == Stage::copy && postponed[first.chunk.index()];
      open_.push({waits, rank[first.chunk.index()], first.start, signal});
    };
    for (std::uint32_t signal = 0; signal < signals_.size(); ++signal)
      if (waits_for_[signal] == 0) open(signal);
    Time end = 0;
    std::size_t placed = 0;
    for (; !open_.empty(); ++placed) {
      const std::uint32_t signal = std::get<3>(open_.pop());
      const Time start = place(signal);
      for (const std::uint32_t send : signals_.sends_of(signal)) {
        starts_[send] = start + signals_.offset[send];
        const Time arrival = starts_[send] + plan_.latency(send);
        end = std::max(end, arrival);
        for (const std::uint32_t next : dependencies_.waiting[send]) {
          const std::uint32_t waiting = signals_.of_send[next];
          ready_[waiting] = std::max(ready_[waiting], arrival - signals_.offset[next]);
          if (--waits_for_[waiting] == 0) open(waiting);
        }
      }
    }
    ensure(placed == signals_.size(), "merge_signals: a signal waits for itself");
    return end;
  }

  /// By send.
  [[nodiscard]] const std::vector<Time>& starts() const { return starts_; }

 private:
  /// Takes the links of a signal at the first time at which all are free.
  Time place(std::uint32_t signal) {
    const auto uses = signals_.uses_of(signal);
    Time time = ready_[signal];
    for (Time before = -1; before != time;) {
      before = time;
      for (const auto& [link, offset, busy] : uses) time = gaps_[link].first(time + offset, busy) - offset;
    }
    for (const auto& [link, offset, busy] : uses) gaps_[link].take(time + offset, time + offset + busy, least_[link]);
    return time;
  }

  const MergedPlan& plan_;
  const Dependencies& dependencies_;
  const SignalTable& signals_;
  std::vector<Time> starts_;              ///< by send
  std::vector<Time> ready_;               ///< by signal
  std::vector<std::uint32_t> waits_for_;  ///< by signal
  std::vector<FreeGaps> gaps_;            ///< by physical link
  std::vector<Time> least_;               ///< by physical link: the shortest time for which a signal takes it
  /// Postponed, rank of the chunk, planned start, signal.
  LeastFirst<std::tuple<bool, std::uint32_t, SimTime, std::uint32_t>> open_;
};

/// The sends of `in_turn` at other times, as merge_phases() asks, over a topology of wires. O(sends log sends + spans *
/// gaps of a link) time, some 550 bytes per send.
std::vector<Send> merge_signals(const Instance& instance, const Schedule& in_turn) {
  MergedPlan plan{instance, list_sends(in_turn), {}};
  plan.hops = hop_times_of(instance, plan.sends);
  const Dependencies dependencies = find_dependencies(instance.topology, plan.sends);
  const ChunkOrders orders(instance.collective, sums_complete(instance, plan.sends, plan.hops));
  Time best = std::numeric_limits<Time>::max();
  std::vector<Time> starts;
  const auto try_order = [&](const SignalTable& signals, const std::vector<std::uint32_t>& rank,
                             const std::vector<bool>& postponed = {}) {
    SignalTimes times(plan, dependencies, signals);
    const Time end = times.run(rank, postponed);
    if (end >= best) return;
    best = end;
    starts = times.starts();
  };
  SignalMaker maker(plan, orders);
  const SignalTable largest = maker.make(SignalSize::largest);
  try_order(largest, orders.by_owner);
  try_order(largest, orders.by_time);
  try_order(maker.make(SignalSize::inner), orders.by_time, orders.last);
  try_order(maker.make(SignalSize::planned), orders.by_time);
  for (std::size_t i = 0; i < plan.sends.size(); ++i) plan.sends[i].start = picoseconds(starts[i]);
  return std::move(plan.sends);
}

/// Whether every switch that is a vertex copies and reduces, and holds any number of chunks.
bool holds_at_switches(const Topology& topology) {
  for (std::size_t v = topology.npus(); v < topology.vertices(); ++v) {
    const SwitchProperties& properties = topology.switch_properties(VertexId::at(v));
    if (!properties.copy || !properties.reduce || properties.buffer != kUnlimitedBuffer) return false;
  }
  return true;
}

/// Whether some switch that cuts through copies and reduces.
bool copies_and_adds(const Topology& network) {
  for (std::size_t v = network.npus(); v < network.vertices(); ++v) {
    const SwitchProperties& properties = network.switch_properties(VertexId::at(v));
    if (cuts_through(network, VertexId::at(v)) && properties.copy && properties.reduce) return true;
  }
  return false;
}

class PhaseMerge {
 public:
  PhaseMerge(const Instance& instance, const Schedule& schedule)
      : sends_(list_sends(schedule)),
        hop_(hop_times_of(instance, sends_)),
        dependencies_(find_dependencies(instance.topology, sends_)),
        rank_(ranks_of(sums_complete(instance, sends_, hop_))),
        links_(instance.topology.links()) {}

  std::vector<Send> run() {
    for (std::uint32_t i = 0; i < sends_.size(); ++i)
      if (dependencies_.waits_for[i] == 0) make_ready(i, SimTime::zero());
    while (!events_.empty()) {
      const auto [time, kind, number] = events_.pop();
      if (kind == Event::arrival) {
        for (const std::uint32_t next : dependencies_.waiting[number])
          if (--dependencies_.waits_for[next] == 0) make_ready(next, time);
      } else {
        start_one(number, time);
      }
    }
    ensure(started_ == sends_.size(), "merge_phases: a send waits for itself");
    return std::move(sends_);
  }

 private:
  enum class Event : std::uint8_t { arrival, free_link };
  using Timed = std::tuple<SimTime, Event, std::uint32_t>;  ///< of a send, or of a link

  struct LinkState {
    SimTime free;
    LeastFirst<std::tuple<std::uint32_t, std::uint32_t>> ready;  ///< rank of the chunk, send
  };

  void make_ready(std::uint32_t send, SimTime time) {
    LinkState& link = links_[sends_[send].link.index()];
    link.ready.push({rank_[sends_[send].chunk.index()], send});
    events_.push({std::max(time, link.free), Event::free_link, sends_[send].link.value()});
  }

  /// Starts a link's first ready send, if the link is free. All arrivals of the instant have been seen.
  void start_one(std::uint32_t number, SimTime time) {
    LinkState& link = links_[number];
    if (link.ready.empty() || link.free > time) return;
    const std::uint32_t send = std::get<1>(link.ready.pop());
    sends_[send].start = time;
    ++started_;
    link.free = time + hop_[send].busy;
    events_.push({time + hop_[send].latency, Event::arrival, send});
    if (!link.ready.empty()) events_.push({link.free, Event::free_link, number});
  }

  std::vector<Send> sends_;
  std::vector<HopTime> hop_;
  Dependencies dependencies_;
  std::vector<std::uint32_t> rank_;  ///< by chunk: by the last arrival of a partial sum
  std::vector<LinkState> links_;
  LeastFirst<Timed> events_;
  std::size_t started_ = 0;
};

}  // namespace

bool may_merge_phases(const Topology& topology) {
  if (!holds_at_switches(topology)) return false;
  return topology.wires() != nullptr ? copies_and_adds(topology.wires()->network()) : topology.switches() > 0;
}

std::optional<Schedule> merge_phases(const Instance& instance, const Schedule& in_turn) {
  if (!may_merge_phases(instance.topology) || in_turn.may_carry_messages()) return std::nullopt;
  if (instance.topology.wires() != nullptr) return make_list_schedule(merge_signals(instance, in_turn));
  return make_list_schedule(PhaseMerge(instance, in_turn).run());
}

}  // namespace tenex
