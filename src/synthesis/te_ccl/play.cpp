// An event for every arrival and for every link that becomes free.
#include "synthesis/te_ccl/play.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "tenex/topology/timing.hpp"

namespace tenex::te_ccl {
namespace {

class Player {
 public:
  Player(const Instance& instance, const std::vector<EpochSend>& plan)
      : instance_(instance), plan_(plan), waiting_(instance.topology.links()), free_at_(instance.topology.links()) {
    std::vector<std::size_t> order(plan.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return plan[i].epoch; });
    for (const std::size_t i : order) planned_[place(plan[i].chunk, source(i))].push_back(i);
  }

  std::optional<Schedule> play() {
    for (auto& [where, sends] : planned_)
      if (holds_at_start(where)) release_all(sends);
    for (std::size_t link = 0; link < waiting_.size(); ++link) start(link, SimTime::zero());
    while (!events_.empty()) {
      const SimTime now = events_.begin()->first;
      std::set<std::size_t> links;  // that may start a send
      while (!events_.empty() && events_.begin()->first == now) {
        const Event event = events_.begin()->second;
        events_.erase(events_.begin());
        if (event.arrival)
          arrive(event.index, links);
        else
          links.insert(event.index);
      }
      for (const std::size_t link : links) start(link, now);
    }
    if (sends_.size() != plan_.size()) return std::nullopt;
    return make_list_schedule(std::move(sends_));
  }

 private:
  using Place = std::pair<std::size_t, std::size_t>;  ///< chunk, vertex
  struct Event {
    bool arrival;  ///< of send `index`; otherwise link `index` becomes free
    std::size_t index;
  };

  [[nodiscard]] VertexId source(std::size_t send) const { return instance_.topology.source(plan_[send].link); }
  [[nodiscard]] static Place place(ChunkId chunk, VertexId vertex) { return {chunk.index(), vertex.index()}; }
  [[nodiscard]] bool holds_at_start(const Place& where) const {
    return where.second < instance_.topology.npus() &&
           instance_.collective.holds_at_start(NpuId::at(where.second), ChunkId::at(where.first));
  }
  void release(std::size_t send) {
    waiting_[plan_[send].link.index()].insert({plan_[send].epoch, plan_[send].chunk.index(), send});
    released_.insert(plan_[send].link.index());
  }
  void release_all(std::deque<std::size_t>& sends) {
    for (const std::size_t send : sends) release(send);
    sends.clear();
  }

  /// What the target sends on: all of it where it copies, one send otherwise.
  void arrive(std::size_t send, std::set<std::size_t>& links) {
    const VertexId target = instance_.topology.target(plan_[send].link);
    const auto next = planned_.find(place(plan_[send].chunk, target));
    if (next == planned_.end() || next->second.empty()) return;
    released_.clear();
    if (instance_.topology.is_npu(target) || instance_.topology.switch_properties(target).copy) {
      release_all(next->second);
    } else {
      release(next->second.front());
      next->second.pop_front();
    }
    links.insert(released_.begin(), released_.end());
  }

  void start(std::size_t link, SimTime now) {
    if (free_at_[link] > now || waiting_[link].empty()) return;
    const std::size_t send = std::get<2>(*waiting_[link].begin());
    waiting_[link].erase(waiting_[link].begin());
    const auto time = hop_time(instance_.topology.classes()[instance_.topology.class_of(LinkId::at(link))],
                               instance_.collective.chunk_bytes(plan_[send].chunk), instance_.occupancy);
    sends_.push_back({.start = now, .link = LinkId::at(link), .chunk = plan_[send].chunk});
    free_at_[link] = now + time.busy;
    events_.emplace(free_at_[link], Event{false, link});
    events_.emplace(now + time.latency, Event{true, send});
  }

  const Instance& instance_;
  const std::vector<EpochSend>& plan_;
  std::map<Place, std::deque<std::size_t>> planned_;  ///< sends that wait for their chunk, in the order of epochs
  std::vector<std::set<std::tuple<int, std::size_t, std::size_t>>> waiting_;  ///< by link: epoch, chunk, send
  std::vector<SimTime> free_at_;
  std::multimap<SimTime, Event> events_;
  std::set<std::size_t> released_;
  std::vector<Send> sends_;
};

}  // namespace

std::optional<Schedule> play(const Instance& instance, const std::vector<EpochSend>& plan) {
  return Player(instance, plan).play();
}

}  // namespace tenex::te_ccl
