// Encoding: the sends of a list, each with the number of arrivals that it still waits for and the sends that wait for
// its own. Time runs over a heap of events: a send arrives, or a link is free. Every link has a heap of ready sends.
#include "synthesis/merge_phases.hpp"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "synthesis/merge_signals.hpp"
#include "synthesis/phase_order.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/base/graph/least_first.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex {
namespace {

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
