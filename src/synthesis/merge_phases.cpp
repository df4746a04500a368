// Encoding: the sends of a list, each with the number of arrivals that it still waits for and the sends that wait for
// its own. Time runs over a heap of events: a send arrives, or a link is free. Every link has a heap of ready sends.
#include "synthesis/merge_phases.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tenex/base/diagnostic.hpp"

namespace tenex {
namespace {

bool may_merge(const Instance& instance, const Schedule& schedule) {
  const Topology& topology = instance.topology;
  if (topology.switches() == 0 || topology.wires() != nullptr || schedule.may_carry_messages()) return false;
  for (std::size_t v = topology.npus(); v < topology.vertices(); ++v) {
    const SwitchProperties& properties = topology.switch_properties(VertexId::at(v));
    if (!properties.copy || !properties.reduce || properties.buffer != kUnlimitedBuffer) return false;
  }
  return true;
}

class PhaseMerge {
 public:
  PhaseMerge(const Instance& instance, const Schedule& schedule)
      : topology_(instance.topology), sends_(list_sends(schedule)), links_(instance.topology.links()) {
    const HopTimes times(topology_, instance.collective.chunk_sizes(), instance.occupancy);
    for (const Send& send : sends_)
      hop_.push_back(times.at(topology_.class_of(send.link), instance.collective.size_class(send.chunk)));
    find_dependencies();
    rank_chunks(instance.collective.chunks());
  }

  std::vector<Send> run() {
    for (std::uint32_t i = 0; i < sends_.size(); ++i)
      if (waits_for_[i] == 0) make_ready(i, SimTime::zero());
    while (!events_.empty()) {
      const auto [time, kind, number] = events_.top();
      events_.pop();
      if (kind == Event::arrival) {
        for (const std::uint32_t next : waiting_[number])
          if (--waits_for_[next] == 0) make_ready(next, time);
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
  template <class T>
  using LeastFirst = std::priority_queue<T, std::vector<T>, std::greater<>>;

  struct LinkState {
    SimTime free;
    LeastFirst<std::tuple<std::uint32_t, std::uint32_t>> ready;  ///< rank of the chunk, send
  };

  std::uint64_t key(VertexId vertex, ChunkId chunk) const {
    return (std::uint64_t{vertex.value()} << 32U) | chunk.value();
  }

  /// A partial sum leaves after all that are added to it; a copy leaves after the delivery of the copy, or after all
  /// sums where the whole sum is made.
  void find_dependencies() {
    std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> sums;
    std::unordered_map<std::uint64_t, std::uint32_t> copies;
    for (std::uint32_t i = 0; i < sends_.size(); ++i) {
      const std::uint64_t at = key(topology_.target(sends_[i].link), sends_[i].chunk);
      if (sends_[i].stage == Stage::reduce)
        sums[at].push_back(i);
      else
        copies.emplace(at, i);
    }
    waiting_.resize(sends_.size());
    waits_for_.assign(sends_.size(), 0);
    const auto wait = [&](std::uint32_t later, std::uint32_t earlier) {
      waiting_[earlier].push_back(later);
      ++waits_for_[later];
    };
    for (std::uint32_t i = 0; i < sends_.size(); ++i) {
      const std::uint64_t at = key(topology_.source(sends_[i].link), sends_[i].chunk);
      const auto copy = copies.find(at);
      if (sends_[i].stage == Stage::copy && copy != copies.end()) {
        wait(i, copy->second);
      } else if (const auto sum = sums.find(at); sum != sums.end()) {
        for (const std::uint32_t earlier : sum->second) wait(i, earlier);
      }
    }
  }

  /// By the last arrival of a partial sum.
  void rank_chunks(std::size_t chunks) {
    std::vector<std::pair<SimTime, std::uint32_t>> complete(chunks);
    for (std::uint32_t c = 0; c < chunks; ++c) complete[c].second = c;
    for (std::size_t i = 0; i < sends_.size(); ++i)
      if (sends_[i].stage == Stage::reduce) {
        auto& last = complete[sends_[i].chunk.index()].first;
        last = std::max(last, sends_[i].start + hop_[i].latency);
      }
    std::sort(complete.begin(), complete.end());
    rank_.resize(chunks);
    for (std::uint32_t r = 0; r < chunks; ++r) rank_[complete[r].second] = r;
  }

  void make_ready(std::uint32_t send, SimTime time) {
    LinkState& link = links_[sends_[send].link.index()];
    link.ready.emplace(rank_[sends_[send].chunk.index()], send);
    events_.emplace(std::max(time, link.free), Event::free_link, sends_[send].link.value());
  }

  /// Starts a link's first ready send, if the link is free. All arrivals of the instant have been seen.
  void start_one(std::uint32_t number, SimTime time) {
    LinkState& link = links_[number];
    if (link.ready.empty() || link.free > time) return;
    const std::uint32_t send = std::get<1>(link.ready.top());
    link.ready.pop();
    sends_[send].start = time;
    ++started_;
    link.free = time + hop_[send].busy;
    events_.emplace(time + hop_[send].latency, Event::arrival, send);
    if (!link.ready.empty()) events_.emplace(link.free, Event::free_link, number);
  }

  const Topology& topology_;
  std::vector<Send> sends_;
  std::vector<HopTime> hop_;
  std::vector<std::vector<std::uint32_t>> waiting_;  ///< by send: those that wait for its arrival
  std::vector<std::uint32_t> waits_for_;
  std::vector<std::uint32_t> rank_;  ///< by chunk
  std::vector<LinkState> links_;
  LeastFirst<Timed> events_;
  std::size_t started_ = 0;
};

}  // namespace

std::optional<Schedule> merge_phases(const Instance& instance, const Schedule& in_turn) {
  if (!may_merge(instance, in_turn)) return std::nullopt;
  return make_list_schedule(PhaseMerge(instance, in_turn).run());
}

}  // namespace tenex
