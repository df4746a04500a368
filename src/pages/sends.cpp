// What a send waited for: the arrival of what it carries at its source, or the send before it on its link.
//
// The sends are played in order of their starts, with arrivals in between. For every vertex and chunk it is known which
// send brought it last: a final value once, partial sums until the last of them. A switch with virtual cut-through
// passes a chunk on before it has it whole, so what has started towards it counts, too (topology/hand_over.hpp).
#include "pages/sends.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_map>
#include <utility>

#include "tenex/topology/hand_over.hpp"

namespace tenex {
namespace {

class CauseFinder {
 public:
  CauseFinder(const ScheduleFile& file, ViewedSends& sends) : file_(file), sends_(sends) {
    last_on_link_.assign(file.topology.links(), kNoSend);
    for (const auto& delay : file.start_delays) delay_[delay.npu.value()] = static_cast<double>(delay.time.count());
  }

  /// The next send in order of start.
  void add(const ListedSend& listed) {
    const auto index = static_cast<std::uint32_t>(sends_.size());
    const auto start = static_cast<double>(listed.send.start.count());
    const auto arrival = static_cast<double>(listed.arrival.count());
    arrive_until(start);
    append(listed, start, arrival);
    find_cause(listed, index, start, arrival);
    const bool early = passes_on_early(file_.topology, listed.target);
    if (early)
      deliver(index, listed);
    else
      arrivals_.push({arrival, index});
    if (!early)
      pending_[index] = {listed.source,           listed.target,     listed.send.message,
                         listed.send.destination, listed.send.stage, {listed.chunks.begin(), listed.chunks.end()}};
    last_on_link_[listed.send.link.index()] = index;
    if (listed.send.message.exists()) hop_of_message_[listed.send.message.value()] = index;
  }

  void find_chain(std::uint32_t last) {
    for (auto at = last; at != kNoSend; at = sends_.cause[at]) {
      sends_.chain.push_back(at);
      if (sends_.chain.size() > sends_.size()) break;
    }
    std::ranges::reverse(sends_.chain);
  }

  /// The last useful arrival. All arrivals are known by then.
  std::uint32_t last_useful() {
    arrive_until(std::numeric_limits<double>::infinity());
    return last_useful_ != kNoSend ? last_useful_ : last_;
  }

 private:
  struct Waiting {
    VertexId source;
    VertexId target;
    MessageId message;
    NpuId destination;
    Stage stage = Stage::copy;
    std::vector<ChunkId> chunks;
  };
  struct Brought {
    std::uint32_t send = kNoSend;
    bool is_final = false;
  };

  void append(const ListedSend& listed, double start, double arrival) {
    sends_.start.push_back(start);
    sends_.arrival.push_back(arrival);
    sends_.link.push_back(listed.send.link.value());
    sends_.chunk.push_back(listed.chunks.empty() ? 0 : listed.chunks.front().value());
    sends_.reduces.push_back(listed.send.stage == Stage::reduce ? 1 : 0);
    if (file_.schedule.payloads() == nullptr) return;
    for (const ChunkId chunk : listed.chunks) sends_.payload_chunk.push_back(chunk.value());
    sends_.payload_first.push_back(static_cast<std::uint32_t>(sends_.payload_chunk.size()));
  }

  [[nodiscard]] std::uint64_t place_of(VertexId vertex, ChunkId chunk) const {
    return static_cast<std::uint64_t>(vertex.index()) * file_.collective.chunks() + chunk.index();
  }

  void arrive_until(double time) {
    while (!arrivals_.empty() && arrivals_.top().first <= time) {
      const auto [at, index] = arrivals_.top();
      arrivals_.pop();
      const auto found = pending_.find(index);
      deliver(index, found->second);
      pending_.erase(found);
    }
  }

  template <class Sent>
  static auto facts_of(const Sent& sent) {
    if constexpr (std::is_same_v<Sent, ListedSend>)
      return std::tuple(sent.target, sent.send.message, sent.send.destination, sent.send.stage);
    else
      return std::tuple(sent.target, sent.message, sent.destination, sent.stage);
  }

  /// What has arrived is at its target, unless it is a message on its way to another NPU.
  template <class Sent>
  void deliver(std::uint32_t index, const Sent& sent) {
    const auto [target, message, destination, stage] = facts_of(sent);
    last_ = index;
    if (message.exists() && destination.exists() && vertex_of(destination) != target) return;
    for (const ChunkId chunk : sent.chunks) {
      auto& brought = brought_[place_of(target, chunk)];
      const bool is_final = stage == Stage::copy;
      if (brought.is_final) continue;  // a final value comes once; what follows is waste
      brought = {index, is_final};
      if (!file_.topology.is_npu(target)) continue;
      const auto npu = npu_of(target);
      if (file_.collective.must_hold(npu, chunk) && !file_.collective.holds_at_start(npu, chunk)) last_useful_ = index;
    }
  }

  void consider(std::uint32_t candidate, double time, double& latest, std::uint32_t& cause) const {
    if (cause == kNoSend || time > latest) cause = candidate;
    latest = std::max(latest, time);
  }

  void find_cause(const ListedSend& listed, std::uint32_t index, double start, double arrival) {
    double ready = 0;
    auto cause = kNoSend;
    const auto delay = delay_.find(listed.source.value());
    if (delay != delay_.end()) ready = delay->second;
    const auto leads = [&](std::uint32_t before) {
      if (!passes_on_early(file_.topology, listed.source)) return 0.0;
      const auto own = arrival - start - alpha(listed.send.link.value());
      const auto its = sends_.arrival[before] - sends_.start[before] - alpha(sends_.link[before]);
      return std::min(own, its);
    };
    const auto hop =
        listed.send.message.exists() ? hop_of_message_.find(listed.send.message.value()) : hop_of_message_.end();
    if (hop != hop_of_message_.end() && target_of(hop->second) == listed.source) {
      consider(hop->second, sends_.arrival[hop->second] - leads(hop->second), ready, cause);
    } else {
      for (const ChunkId chunk : listed.chunks) {
        const auto brought = brought_.find(place_of(listed.source, chunk));
        if (brought == brought_.end()) continue;
        const auto before = brought->second.send;
        consider(before, sends_.arrival[before] - leads(before), ready, cause);
      }
    }
    sends_.ready.push_back(std::min(ready, start));
    const auto before = last_on_link_[listed.send.link.index()];
    if (before != kNoSend) {
      const double free =
          sends_.start[before] + busy_of(file_, sends_.start[before], sends_.arrival[before], listed.send.link);
      if (cause == kNoSend || free > ready) cause = before;
    }
    sends_.cause.push_back(cause == index ? kNoSend : cause);
  }

  [[nodiscard]] double alpha(std::uint32_t link) const {
    return static_cast<double>(file_.topology.alpha(LinkId(link)).count());
  }
  [[nodiscard]] VertexId target_of(std::uint32_t send) const {
    return file_.topology.target(LinkId(sends_.link[send]));
  }

  const ScheduleFile& file_;
  ViewedSends& sends_;
  using Arrival = std::pair<double, std::uint32_t>;
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals_;
  std::unordered_map<std::uint32_t, Waiting> pending_;
  std::unordered_map<std::uint64_t, Brought> brought_;  ///< by place_of()
  std::unordered_map<std::uint32_t, std::uint32_t> hop_of_message_;
  std::unordered_map<std::uint32_t, double> delay_;
  std::vector<std::uint32_t> last_on_link_;
  std::uint32_t last_ = kNoSend;
  std::uint32_t last_useful_ = kNoSend;
};

}  // namespace

ViewedSends read_sends(const ScheduleFile& file) {
  ViewedSends sends;
  if (file.schedule.payloads() != nullptr) sends.payload_first.push_back(0);
  CauseFinder finder(file, sends);
  visit_sends(file, {}, [&](const ListedSend& listed) {
    if (listed.known) finder.add(listed);
    return true;
  });
  if (sends.size() > 0) finder.find_chain(finder.last_useful());
  return sends;
}

}  // namespace tenex
