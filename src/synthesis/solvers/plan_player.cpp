// An event for every arrival and for every link that may take a signal. A signal is one send, or the sends of a chunk
// that leave a vertex together and part at switches that copy (tenex/topology/wires.hpp). It waits at its first link.
#include "synthesis/solvers/plan_player.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "tenex/topology/slow_windows.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex {
namespace {

class Player {
 public:
  Player(const Instance& instance, const std::vector<PlannedSend>& plan)
      : instance_(instance),
        plan_(plan),
        wires_(instance.topology.wires()),
        hops_(instance.topology, instance.collective.chunk_sizes(), instance.occupancy),
        waiting_(physical_network(instance.topology).links()),
        free_at_(waiting_.size()) {
    std::vector<std::size_t> order(plan.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return plan[i].epoch; });
    for (const std::size_t i : order) plan_send(i);
  }

  std::optional<Schedule> play() {
    for (auto& [where, signals] : planned_)
      if (holds_at_start(where)) release_all(signals);
    start_all(SimTime::zero());
    while (!events_.empty()) {
      const SimTime now = events_.begin()->first;
      while (!events_.empty() && events_.begin()->first == now) {
        const Event event = events_.begin()->second;
        events_.erase(events_.begin());
        if (event.arrival)
          arrive(event.index);
        else
          changed_.insert(event.index);
      }
      start_all(now);
    }
    if (sends_.size() != plan_.size()) return std::nullopt;
    return make_list_schedule(std::move(sends_));
  }

 private:
  using Place = std::pair<std::size_t, std::size_t>;          ///< chunk, vertex
  using Waiting = std::tuple<int, std::size_t, std::size_t>;  ///< epoch, chunk, signal
  using Group = std::tuple<Place, int, LinkId, SimTime>;      ///< place, epoch, first link, serialization
  struct Event {
    bool arrival;  ///< of send `index`; otherwise link `index` may take a signal
    std::size_t index;
  };
  struct Signal {
    std::vector<std::size_t> sends;
    std::vector<WireSpan> spans;  ///< of all sends, each once
    SimTime serialization;        ///< of each send over wires
  };

  [[nodiscard]] VertexId source(std::size_t send) const { return instance_.topology.source(plan_[send].link); }
  [[nodiscard]] static Place place(ChunkId chunk, VertexId vertex) { return {chunk.index(), vertex.index()}; }
  [[nodiscard]] bool holds_at_start(const Place& where) const {
    return where.second < instance_.topology.npus() &&
           instance_.collective.holds_at_start(NpuId::at(where.second), ChunkId::at(where.first));
  }
  [[nodiscard]] std::vector<WireSpan> spans_of(LinkId link) const {
    if (wires_ == nullptr) return {{link, SimTime::zero()}};
    const auto spans = wires_->spans(link);
    return {spans.begin(), spans.end()};
  }

  [[nodiscard]] HopTime hop_of(std::size_t send, SimTime start) const {
    return hops_.at(instance_.topology.class_of(plan_[send].link), instance_.collective.size_class(plan_[send].chunk),
                    start);
  }
  /// Adds a send to a signal that it may be part of, or makes a new one.
  void plan_send(std::size_t send) {
    const LinkId link = plan_[send].link;
    const SimTime serialization = hop_of(send, SimTime::zero()).latency - instance_.topology.alpha(link);
    const Place where = place(plan_[send].chunk, source(send));
    auto spans = spans_of(link);
    if (wires_ != nullptr) {
      auto& group = groups_[{where, plan_[send].epoch, spans.front().link, serialization}];
      const auto found = std::ranges::find_if(group, [&](std::size_t signal) { return may_join(signal, link); });
      if (found != group.end()) return join(signals_[*found], send, spans);
      group.push_back(signals_.size());
    }
    planned_[where].push_back(signals_.size());
    signals_.push_back({{send}, std::move(spans), serialization});
  }
  /// Whether the paths of the signal and that of the wire part at switches that copy.
  [[nodiscard]] bool may_join(std::size_t signal, LinkId wire) const {
    const auto own = wires_->spans(wire);
    return std::ranges::all_of(signals_[signal].sends, [&](std::size_t send) {
      const auto other = wires_->spans(plan_[send].link);
      const auto [at, there] = std::mismatch(own.begin(), own.end(), other.begin(), other.end());
      if (at == own.begin() || at == own.end() || there == other.end()) return false;
      const Topology& network = wires_->network();
      return network.switch_properties(network.source(at->link)).copy;
    });
  }
  static void join(Signal& signal, std::size_t send, const std::vector<WireSpan>& spans) {
    signal.sends.push_back(send);
    for (const WireSpan& span : spans)
      if (std::ranges::find(signal.spans, span) == signal.spans.end()) signal.spans.push_back(span);
  }

  void release(std::size_t signal) {
    const std::size_t first = signals_[signal].spans.front().link.index();
    const PlannedSend& send = plan_[signals_[signal].sends.front()];
    waiting_[first].insert({send.epoch, send.chunk.index(), signal});
    changed_.insert(first);
  }
  void release_all(std::deque<std::size_t>& signals) {
    for (const std::size_t signal : signals) release(signal);
    signals.clear();
  }

  /// What the target sends on: all of it where it copies, one signal otherwise.
  void arrive(std::size_t send) {
    const VertexId target = instance_.topology.target(plan_[send].link);
    const auto next = planned_.find(place(plan_[send].chunk, target));
    if (next == planned_.end() || next->second.empty()) return;
    if (instance_.topology.is_npu(target) || instance_.topology.switch_properties(target).copy) {
      release_all(next->second);
    } else {
      release(next->second.front());
      next->second.pop_front();
    }
  }

  /// Links may take signals: that which waits with the least epoch before the others.
  void start_all(SimTime now) {
    std::vector<std::pair<Waiting, std::size_t>> order;
    for (const std::size_t link : changed_)
      if (!waiting_[link].empty()) order.emplace_back(*waiting_[link].begin(), link);
    changed_.clear();
    std::ranges::sort(order);
    for (const auto& [first, link] : order) start(link, now);
  }
  void start(std::size_t link, SimTime now) {
    if (free_at_[link] > now) return;
    SimTime wake = SimTime::max();
    for (auto it = waiting_[link].begin(); it != waiting_[link].end(); ++it) {
      const std::size_t signal = std::get<2>(*it);
      SimTime ready = now;
      for (const WireSpan& span : signals_[signal].spans)
        ready = std::max(ready, free_at_[span.link.index()] - span.offset);
      if (ready == now) {
        waiting_[link].erase(it);
        return send_all(signals_[signal], now);
      }
      wake = std::min(wake, ready);
    }
    if (wake < SimTime::max()) events_.emplace(wake, Event{false, link});
  }
  void send_all(const Signal& signal, SimTime now) {
    for (const std::size_t send : signal.sends) {
      sends_.push_back({.start = now, .link = plan_[send].link, .chunk = plan_[send].chunk});
      events_.emplace(now + hop_of(send, now).latency, Event{true, send});
    }
    for (const WireSpan& span : signal.spans) {
      const bool alpha_too = instance_.occupancy == Occupancy::transfer;
      const SimTime busy =
          wires_ == nullptr ? hop_of(signal.sends.front(), now).busy
                            : signal.serialization + (alpha_too ? wires_->network().alpha(span.link) : SimTime::zero());
      free_at_[span.link.index()] = now + span.offset + busy;
    }
    const std::size_t first = signal.spans.front().link.index();
    events_.emplace(free_at_[first], Event{false, first});
  }

  const Instance& instance_;
  const std::vector<PlannedSend>& plan_;
  const Wires* wires_;
  StartedHops hops_;
  std::vector<Signal> signals_;
  std::map<Group, std::vector<std::size_t>> groups_;  ///< signals that another send may join
  std::map<Place, std::deque<std::size_t>> planned_;  ///< signals that wait for their chunk, by epoch
  std::vector<std::set<Waiting>> waiting_;            ///< by physical link
  std::vector<SimTime> free_at_;                      ///< by physical link
  std::multimap<SimTime, Event> events_;
  std::set<std::size_t> changed_;  ///< links that may take a signal now
  std::vector<Send> sends_;
};

}  // namespace

std::optional<Schedule> play_plan(const Instance& instance, const std::vector<PlannedSend>& plan) {
  return Player(instance, plan).play();
}

}  // namespace tenex
