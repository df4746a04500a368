// Re-timing as the least solution of difference constraints.
//
// The planned events (starts, arrivals) are replayed in planned order. A send starts at the latest of: its link is
// free, what it carries is there, its lower bound. Dependencies point back in planned time, so one pass finds all of
// these. A few constraints point the other way: a partial sum that a planned send did *not* carry must still arrive
// after it (else the send would carry more than planned), a final value must not overtake a partial sum, and separate
// sums in a switch's queue keep their order. Where a pass violates one, the delivering send gets a lower bound and the
// pass is repeated. The given schedule satisfies every constraint, so bounds never pass it: the repetition ends, and at
// the least solution, which is nowhere later than the given schedule. Schedules whose reductions are in-trees need one
// pass. The order on physical links that wires share (wire_order.hpp) is kept in the same way.
//
// holding.hpp has these rules for one chunk at one vertex. This file applies them to all schedules; plain_retimer.cpp,
// faster, to those without switches and messages.
//
// Encoding: each (vertex, chunk) that occurs gets a slot of state; sends refer to slots by index.
#include "tenex/schedule/timing/retime.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <unordered_map>
#include <vector>

#include "schedule/segments.hpp"
#include "schedule/timing/holding.hpp"
#include "schedule/timing/retimers.hpp"
#include "schedule/timing/wire_order.hpp"
#include "schedule/vertex_roles.hpp"
#include "tenex/base/contract.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/topology/slow_windows.hpp"

namespace tenex {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
constexpr SimTime kTick = SimTime::of(1);

/// The last event of a queue: when it was planned, when it happens now.
struct QueueEnd {
  SimTime planned;
  SimTime now;
};

/// When the last event allows the next one, so that the given order is kept.
SimTime next_in_order(const std::optional<QueueEnd>& last, SimTime planned) {
  if (!last) return SimTime::zero();
  return planned > last->planned ? last->now + kTick : last->now;
}

/// The same of a vertex that may be a switch which keeps separate sums.
struct QueueHolding : Holding {
  std::optional<QueueEnd> queue_in;
  std::optional<QueueEnd> queue_out;
};

/// What does not change from pass to pass: where a send takes from and delivers to.
struct Move {
  std::size_t from = kNone;  ///< slot; none for the later hops of a message
  std::size_t to = kNone;    ///< slot; none for all but the last hop of a message
  std::size_t dependency =
      kNone;                ///< the send that brings exactly what this one takes: a previous hop, a queue's entry
  bool from_queue = false;  ///< takes from, or delivers to, separate sums in a switch
  bool to_queue = false;
};

class Retimer {
 public:
  Retimer(const Instance& instance, const Schedule& schedule)
      : topology_(instance.topology),
        collective_(instance.collective),
        times_(instance.topology, instance.collective.chunk_sizes(), instance.occupancy),
        sends_(list_sends(schedule)) {
    for (std::size_t i = 0; i < sends_.size(); ++i) planned_hop_.push_back(hop_at(i, sends_[i].start));
    lower_.assign(sends_.size(), SimTime::zero());
    start_.assign(sends_.size(), SimTime::zero());
    wire_order_ = wire_order(instance, sends_);
    order_events();
    plan_moves();
  }

  std::vector<Send> retime() {
    while (!pass()) {
    }
    for (std::size_t i = 0; i < sends_.size(); ++i) sends_[i].start = start_[i];
    return std::move(sends_);
  }

 private:
  struct Event {
    std::size_t send;
    bool arrival;
  };

  HopTime hop_at(std::size_t i, SimTime start) const {
    return times_.at(topology_.class_of(sends_[i].link), collective_.size_class(sends_[i].chunk), start);
  }
  /// At the new time of send i.
  HopTime hop(std::size_t i) const { return topology_.varies() ? hop_at(i, start_[i]) : planned_hop_[i]; }
  SimTime arrival(std::size_t i) const { return start_[i] + hop(i).latency; }
  SimTime planned_arrival(std::size_t i) const { return sends_[i].start + planned_hop_[i].latency; }

  /// All events in planned order; at equal times arrivals first, and of these the partial sums first.
  void order_events() {
    for (std::size_t i = 0; i < sends_.size(); ++i) {
      events_.push_back({i, false});
      events_.push_back({i, true});
    }
    const auto key = [&](const Event& event) {
      return std::tuple(event.arrival ? planned_arrival(event.send) : sends_[event.send].start, !event.arrival,
                        event.arrival && sends_[event.send].stage == Stage::copy, event.send);
    };
    std::sort(events_.begin(), events_.end(), [&](const Event& a, const Event& b) { return key(a) < key(b); });
  }

  std::size_t slot_of(VertexId vertex, ChunkId chunk) {
    const auto [found, fresh] = slots_.try_emplace(holding_key(vertex, chunk), slots_.size());
    if (fresh) {
      initial_.emplace_back();
      if (topology_.is_npu(vertex) && collective_.holds_at_start(npu_of(vertex), chunk)) initial_.back().copied = 0;
    }
    return found->second;
  }

  /// Follows the given schedule once: messages from hop to hop, queues entry by entry.
  void plan_moves() {
    moves_.resize(sends_.size());
    std::unordered_map<MessageId, std::size_t> last_hop;
    std::unordered_map<std::size_t, std::array<std::deque<std::size_t>, 2>> queues;  // slot -> entries per stage
    for (const auto& event : events_) {
      const auto& send = sends_[event.send];
      auto& move = moves_[event.send];
      const auto stage = static_cast<std::size_t>(send.stage);
      if (event.arrival) {
        if (move.to != kNone && separate(topology_.target(send.link), send.stage))
          queues[move.to][stage].push_back(event.send);
        continue;
      }
      if (unpacks(topology_, send)) move.to = slot_of(topology_.target(send.link), send.chunk);
      move.to_queue = queues_sums(topology_.target(send.link), send.stage);
      if (send.message.exists()) {
        const auto [previous, first] = last_hop.try_emplace(send.message, event.send);
        if (!first) {
          move.dependency = std::exchange(previous->second, event.send);
          continue;
        }
      }
      move.from = slot_of(topology_.source(send.link), send.chunk);
      move.from_queue = queues_sums(topology_.source(send.link), send.stage);
      if (!separate(topology_.source(send.link), send.stage)) continue;
      auto& queue = queues[move.from][stage];
      if (queue.empty()) continue;  // a reducing switch that passes on the sum it completed itself
      move.dependency = queue.front();
      queue.pop_front();
    }
  }

  /// Arrivals of this stage stay apart at the vertex, each to be sent once.
  bool separate(VertexId vertex, Stage stage) const {
    return stage == Stage::copy ? !keeps_copies(topology_, vertex) : queues_sums(vertex, stage);
  }
  bool queues_sums(VertexId vertex, Stage stage) const {
    return stage == Stage::reduce && sum_role(topology_, vertex) == SumRole::queues;
  }

  /// One replay with the present lower bounds; false when it had to raise one.
  bool pass() {
    holdings_ = initial_;
    link_free_.assign(topology_.links(), SimTime::zero());
    bool settled = true;
    for (const auto& event : events_) {
      if (!event.arrival)
        start(event.send);
      else if (moves_[event.send].to != kNone)
        settled = arrive(event.send) && settled;
    }
    for (const auto& [later, earlier, gap] : wire_order_) {
      if (start_[later] >= start_[earlier] + gap) continue;
      lower_[later] = start_[earlier] + gap;
      settled = false;
    }
    return settled;
  }

  void start(std::size_t i) {
    const auto& send = sends_[i];
    const auto& move = moves_[i];
    auto& free = link_free_[send.link.index()];
    SimTime time = wire_order_.empty() ? std::max(free, lower_[i]) : lower_[i];
    if (move.dependency != kNone) time = std::max(time, arrival(move.dependency));
    if (move.from != kNone) {
      auto& holding = holdings_[move.from];
      if (move.from_queue) {
        time = std::max(time, next_in_order(holding.queue_out, send.start));
        holding.queue_out = QueueEnd{send.start, time};
      } else if (move.dependency == kNone) {
        time = std::max(time, SimTime::of(holding.ready(send.stage)));
      }
      if (send.stage == Stage::reduce) holding.send_sum(time.count());
    }
    start_[i] = time;
    free = time + hop(i).busy;
  }

  /// Delivers send i; false when it comes sooner than the given order of events allows.
  bool arrive(std::size_t i) {
    const auto& move = moves_[i];
    auto& holding = holdings_[move.to];
    const SimTime time = arrival(i);
    SimTime earliest;
    if (move.to_queue) {
      earliest = next_in_order(holding.queue_in, planned_arrival(i));
      holding.queue_in = QueueEnd{planned_arrival(i), time};
    } else {
      earliest = SimTime::of(holding.deliver(sends_[i].stage, time.count()));
    }
    if (time >= earliest) return true;
    ensure(!topology_.varies(), "retime: sums over links whose bandwidth varies");
    lower_[i] = earliest - hop(i).latency;
    ensure(lower_[i] <= sends_[i].start, "retime: the schedule is not valid");
    return false;
  }

  const Topology& topology_;
  const Collective& collective_;
  StartedHops times_;
  std::vector<Send> sends_;           ///< the given sends, in time order
  std::vector<HopTime> planned_hop_;  ///< from their starts there
  std::vector<Event> events_;
  std::vector<Move> moves_;
  std::unordered_map<std::uint64_t, std::size_t> slots_;
  std::vector<QueueHolding> initial_;
  std::vector<QueueHolding> holdings_;
  std::vector<StartConstraint> wire_order_;  ///< where links are wires, instead of link_free_
  std::vector<SimTime> link_free_;
  std::vector<SimTime> lower_;
  std::vector<SimTime> start_;  ///< new times
};

/// Whether a link has two sends at once. O(sends).
bool any_overlap(const Instance& instance, const Schedule& schedule) {
  const StartedHops times(instance.topology, instance.collective.chunk_sizes(), instance.occupancy);
  std::vector<SimTime> free(instance.topology.links());
  bool found = false;
  for_each_send(schedule, [&](const Send& send) {
    const auto size_class = instance.collective.size_class(send.chunk);
    SimTime& until = free[send.link.index()];
    found = found || send.start < until;
    until = send.start + times.at(instance.topology.class_of(send.link), size_class, send.start).busy;
  });
  return found;
}

}  // namespace

Schedule retime(const Instance& instance, const Schedule& schedule) {
  TENEX_EXPECTS(!(instance.topology.varies() && instance.collective.has_sums()), "no sums where bandwidth varies");
  auto sends = instance.topology.varies() ? std::nullopt : retime_plain(instance, schedule);
  Schedule retimed = make_list_schedule(sends ? *std::move(sends) : Retimer(instance, schedule).retime());
  TENEX_ENSURES(retimed.sends() == schedule.sends(), "as many sends");
  TENEX_ENSURES(last_arrival(instance, retimed) <= last_arrival(instance, schedule) ||
                    instance.topology.wires() != nullptr || any_overlap(instance, schedule),
                "no later an end than that of a schedule whose links take one send at a time");
  return retimed;
}

}  // namespace tenex
