// A critical path of a schedule, searched from its end.
//
// Idea: re-timing is the longest path in a network with two kinds of edges: from a send to the next on its link, and
// from a send to the sends that forward what it delivers. Both stay whatever the times are. If a path from time zero to
// the last arrival has no pause in the given schedule, its length is the schedule's time, and no re-timing is shorter.
// Conversely, if re-timing ends no sooner, there is such a path. The search goes backwards: it follows a send's link to
// the beginning of the sends that are back to back there, and then each of these (the first one first) to the arrival
// at the instant of its start, if there is one.
//
// Encoding: a search node is a send, given by its link and its position there. For each run of sends back to back, the
// furthest position followed so far is kept. Links are read one at a time, and all in-links of an NPU once per run that
// leaves it, so only a few of billions of sends are read.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "tenex/schedule/timing/retime.hpp"

namespace tenex {
namespace {

constexpr std::uint32_t kNobody = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t kMostRuns = 3000;  ///< runs followed before the search gives up: about a millisecond each

/// A link's sends in order.
struct LinkSends {
  std::vector<SimTime> start;
  std::vector<ChunkId> chunk;
  std::vector<Stage> stage;
};

/// A send: its link and its position in the link's order.
struct SendPosition {
  LinkId link;
  std::size_t position = 0;
  SimTime start;
};

/// Orders the earliest first.
struct Later {
  bool operator()(const SendPosition& a, const SendPosition& b) const { return a.start > b.start; }
};

/// The deliveries of one chunk at an NPU.
struct Came {
  SimTime sum = SimTime::of(-1);      ///< the last partial sum
  std::uint32_t last_sums = kNobody;  ///< the sends that delivered it: several if they arrive together
  SimTime copy = SimTime::of(-1);
  SendPosition copy_by;
  std::uint32_t copies = 0;
};

/// One of several sends that arrive together.
struct Together {
  SendPosition send;
  std::uint32_t next = kNobody;
};

class ChainSearch {
 public:
  ChainSearch(const Instance& instance, const Schedule& schedule)
      : topology_(instance.topology),
        collective_(instance.collective),
        times_(instance.topology, instance.collective.chunk_sizes(), instance.occupancy),
        schedule_(schedule) {}

  std::optional<bool> found() {
    begin_at_the_end();
    for (std::size_t runs = 0; !open_.empty(); ++runs) {
      if (runs == kMostRuns) return std::nullopt;
      const SendPosition send = open_.top();
      open_.pop();
      if (follow(send)) return true;
    }
    return false;
  }

 private:
  const HopTime& hop(LinkId link, ChunkId chunk) const {
    return times_.at(topology_.class_of(link), collective_.size_class(chunk));
  }

  void read(LinkId link, LinkSends& sends) {
    sends.start.clear();
    sends.chunk.clear();
    sends.stage.clear();
    for (std::size_t tile = 0; tile < schedule_.tiles(); ++tile) {
      schedule_.read_link(tile, link, buffer_);
      const auto& batch = buffer_.batch;
      for (std::size_t i = 0; i < batch.size(); ++i) {
        sends.start.push_back(batch.start_of(i));
        sends.chunk.push_back(batch.chunk[i]);
        sends.stage.push_back(batch.stage_of(i));
      }
    }
  }

  /// Opens the sends of the last segment that arrive last, each as the last one of its link.
  void begin_at_the_end() {
    std::size_t segment = schedule_.segments();
    SendBuffer last;
    while (segment-- > 0) {
      schedule_.read(segment, last);
      if (last.batch.size() > 0) break;
    }
    SimTime end;
    const auto arrival = [&](std::size_t i) {
      return last.batch.start_of(i) + hop(last.batch.link[i], last.batch.chunk[i]).latency;
    };
    for (std::size_t i = 0; i < last.batch.size(); ++i) end = std::max(end, arrival(i));
    for (std::size_t i = 0; i < last.batch.size(); ++i)
      if (arrival(i) == end)
        open_.push({last.batch.link[i], std::numeric_limits<std::size_t>::max(), last.batch.start_of(i)});
  }

  /// Follows the link back from a send, and opens the sends that its run waited for. Returns true if the run began at
  /// time zero.
  bool follow(SendPosition send) {
    read(send.link, own_);
    if (own_.start.empty()) return false;
    const std::size_t last = std::min(send.position, own_.start.size() - 1);
    std::size_t first = last;
    while (first > 0 && own_.start[first - 1] + hop(send.link, own_.chunk[first - 1]).busy == own_.start[first])
      --first;
    if (own_.start[first] == SimTime::zero()) return true;
    std::size_t unseen = first;
    const auto [seen, fresh] = seen_.try_emplace({send.link.value(), first}, last + 1);
    if (!fresh) {
      unseen = seen->second;
      seen->second = std::max(seen->second, last + 1);
    }
    if (unseen > last) return false;
    collect(topology_.source(send.link));
    for (std::size_t i = last + 1; i-- > unseen;) open_what_it_waited_for(i);
    return false;
  }

  /// Collects the deliveries at `vertex`.
  void collect(VertexId vertex) {
    came_.assign(collective_.chunks(), {});
    together_.clear();
    for (const LinkId link : topology_.in_links(vertex)) {
      read(link, other_);
      for (std::size_t i = 0; i < other_.start.size(); ++i) {
        Came& came = came_[other_.chunk[i].index()];
        const SimTime arrival = other_.start[i] + hop(link, other_.chunk[i]).latency;
        if (other_.stage[i] == Stage::copy) {
          ++came.copies;
          std::tie(came.copy, came.copy_by) = std::pair(arrival, SendPosition{link, i, other_.start[i]});
        } else if (arrival >= came.sum) {
          together_.push_back({{link, i, other_.start[i]}, arrival == came.sum ? came.last_sums : kNobody});
          std::tie(came.sum, came.last_sums) = std::pair(arrival, static_cast<std::uint32_t>(together_.size() - 1));
        }
      }
    }
  }

  /// A chunk that arrived as a copy twice is skipped: re-timing may prefer the other copy.
  void open_what_it_waited_for(std::size_t i) {
    const Came& came = came_[own_.chunk[i].index()];
    if (own_.stage[i] == Stage::copy && came.copies > 0) {
      if (came.copies == 1 && came.copy == own_.start[i]) open_.push(came.copy_by);
    } else if (came.sum == own_.start[i]) {
      for (auto t = came.last_sums; t != kNobody; t = together_[t].next) open_.push(together_[t].send);
    }
  }

  const Topology& topology_;
  const Collective& collective_;
  HopTimes times_;
  const Schedule& schedule_;
  SendBuffer buffer_;
  LinkSends own_;
  LinkSends other_;
  std::vector<Came> came_;
  std::vector<Together> together_;
  std::priority_queue<SendPosition, std::vector<SendPosition>, Later> open_;  ///< to be followed
  std::map<std::pair<LinkId::Rep, std::size_t>, std::size_t> seen_;  ///< by link and first of a run: the end of the
                                                                     ///< part followed
};

}  // namespace

std::optional<bool> has_tight_chain(const Instance& instance, const Schedule& schedule) {
  if (!instance.topology.direct() || schedule.may_carry_messages() || schedule.tiles() == 0) return std::nullopt;
  return ChainSearch(instance, schedule).found();
}

}  // namespace tenex
