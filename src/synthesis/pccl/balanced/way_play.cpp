#include "synthesis/pccl/balanced/way_play.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "tenex/base/graph/event_queue.hpp"
#include "tenex/schedule/storage/list_builder.hpp"
#include "tenex/schedule/storage/raw_array.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {
namespace {

constexpr std::size_t kFetchedPlaces = 16;  ///< arrivals ahead
constexpr std::size_t kFetchedLinks = 8;

/// For each link of each way, how late it was taken in a play: the number of those taken before.
using TakenOrder = std::vector<std::uint32_t>;

void make_order(TakenOrder& order, std::size_t links) {
  reserve_in_large_pages(order, links);
  order.resize(links);
}

/// Where a chunk is on its way.
struct WayPlace {
  std::uint32_t at = 0;  ///< in UnicastWays::links
  ChunkId chunk;
  std::uint32_t size = 0;   ///< class of the chunk's size
  std::uint16_t to_go = 0;  ///< links
};

/// The chunks that wait for a link: those that begin with it lie ready in order, so that the heap stays small.
class Waiting {
 public:
  /// Before the first pop().
  void begin_with(std::uint64_t entry) { own_.push_back(entry); }
  void sort() { std::ranges::sort(own_, std::ranges::greater()); }

  void push(std::uint64_t entry) { passing_.push(entry); }
  [[nodiscard]] bool empty() const { return own_.empty() && passing_.empty(); }
  /// The least entry. There must be one.
  std::uint64_t pop() {
    if (own_.empty() || (!passing_.empty() && passing_.top() < own_.back())) return passing_.pop();
    const std::uint64_t first = own_.back();
    own_.pop_back();
    return first;
  }

 private:
  std::vector<std::uint64_t> own_;  ///< the least entry last
  LeastFirst<std::uint64_t> passing_;
};

class WayPlay {
 public:
  /// Forward, or backward in time. `last` is the order of a play the other way, which is turned around; empty: who has
  /// the most links to go is first.
  WayPlay(const Topology& topology, const SizedHops& hops, const std::vector<Unicast>& unicasts,
          const UnicastWays& ways, bool backward, const TakenOrder& last)
      : hops_(hops),
        ways_(ways),
        backward_(backward),
        last_(last),
        waiting_(topology.links()),
        idle_(topology.links(), 1),
        is_touched_(topology.links(), 0),
        by_link_(hops.lanes() > topology.links()),
        freed_(std::min(hops.lanes(), topology.links())),
        arrivals_(std::min(hops.lanes(), topology.links())),
        sends_(backward ? 0 : ways.links.size()) {
    reserve_in_large_pages(places_, unicasts.size());
    for (std::size_t i = 0; i < unicasts.size(); ++i)
      places_.push_back({static_cast<std::uint32_t>(backward ? ways.first[i + 1] - 1 : ways.first[i]),
                         unicasts[i].chunk, unicasts[i].size,
                         static_cast<std::uint16_t>(ways.first[i + 1] - ways.first[i])});
  }

  /// Writes when links were taken where `taken` is not empty.
  SimTime run(TakenOrder& taken) {
    for (std::uint32_t i = 0; i < places_.size(); ++i) waiting_[link_before(i).index()].begin_with(entry_of(i));
    for (std::size_t link = 0; link < waiting_.size(); ++link) {
      waiting_[link].sort();
      touch(LinkId::at(link));
    }
    start_sends(SimTime::zero(), taken);
    SimTime last;
    while (!freed_.empty() || !arrivals_.empty()) {
      const bool arrives = freed_.empty() || (!arrivals_.empty() && arrivals_.time() < freed_.time());
      const SimTime now = arrives ? arrivals_.time() : freed_.time();
      while (!freed_.empty() && freed_.time() == now) {
        const LinkId link = freed_.pop();
        idle_[link.index()] = 1;
        touch(link);
      }
      while (!arrivals_.empty() && arrivals_.time() == now) {
        arrive();
        last = now;
      }
      start_sends(now, taken);
    }
    return last;
  }
  /// Of a play forward.
  [[nodiscard]] Schedule schedule() { return sends_.finish(); }

 private:
  void arrive() {
    const std::size_t lane = arrivals_.lane();
    const std::uint32_t unicast = arrivals_.pop();
    // What arrives soon is fetched: the chunks under way do not fit into fast caches.
    if (const auto* const later = arrivals_.ahead(lane, kFetchedPlaces)) __builtin_prefetch(&places_[*later], 1);
    if (const auto* const later = arrivals_.ahead(lane, kFetchedLinks))
      __builtin_prefetch(&ways_.links[places_[*later].at]);
    WayPlace& place = places_[unicast];
    if (--place.to_go == 0) return;
    place.at += backward_ ? ~0U : 1U;
    wait(unicast);
  }
  void touch(LinkId link) {
    if (is_touched_[link.index()] != 0) return;
    is_touched_[link.index()] = 1;
    touched_.push_back(link);
  }
  [[nodiscard]] LinkId link_before(std::uint32_t unicast) const { return ways_.links[places_[unicast].at]; }
  /// Its place in the order, and the chunk. The least goes first.
  [[nodiscard]] std::uint64_t entry_of(std::uint32_t unicast) const {
    const WayPlace& place = places_[unicast];
    const std::uint32_t first = last_.empty() ? place.to_go : last_[place.at];
    return std::uint64_t{~first} << 32U | unicast;
  }
  void wait(std::uint32_t unicast) {
    const LinkId link = link_before(unicast);
    waiting_[link.index()].push(entry_of(unicast));
    if (idle_[link.index()] != 0) touch(link);
  }
  void start_sends(SimTime now, TakenOrder& taken) {
    std::sort(touched_.begin(), touched_.end());
    link_.clear();
    chunk_.clear();
    for (const LinkId link : touched_) {
      is_touched_[link.index()] = 0;
      auto& waiting = waiting_[link.index()];
      if (idle_[link.index()] == 0 || waiting.empty()) continue;
      const auto unicast = static_cast<std::uint32_t>(waiting.pop());
      const WayPlace& place = places_[unicast];
      if (!taken.empty()) taken[place.at] = started_;
      ++started_;
      idle_[link.index()] = 0;
      const std::size_t lane = by_link_ ? link.index() : hops_.lane(link, place.size);
      const HopTime& hop = hops_.of(link, place.size);
      freed_.push(lane, now + hop.busy, link);
      arrivals_.push(lane, now + hop.latency, unicast);
      link_.push_back(link);
      chunk_.push_back(place.chunk);
    }
    touched_.clear();
    if (link_.empty() || backward_) return;
    SendBatch batch;
    batch.link = link_;
    batch.chunk = chunk_;
    batch.at = now;
    sends_.append(batch);
  }

  const SizedHops& hops_;
  const UnicastWays& ways_;
  bool backward_;
  const TakenOrder& last_;
  std::uint32_t started_ = 0;
  std::vector<WayPlace> places_;  ///< of each chunk
  std::vector<Waiting> waiting_;  ///< per link
  std::vector<char> idle_;        ///< per link
  std::vector<char> is_touched_;  ///< per link: whether it is in touched_
  /// Whether each link is a lane of events, or all sends of a size over links of a class: whatever are fewer.
  bool by_link_;
  EventLanes<LinkId> freed_;
  EventLanes<std::uint32_t> arrivals_;
  std::vector<LinkId> touched_;
  std::vector<LinkId> link_;
  std::vector<ChunkId> chunk_;
  ListBuilder sends_;
};

}  // namespace

PlayedWays play_ways(const Topology& topology, const SizedHops& hops, const std::vector<Unicast>& unicasts,
                     const UnicastWays& ways, const WayPlays& plays) {
  PlayedWays best;
  best.time = SimTime::max();
  TakenOrder forward;
  if (plays.rounds > 0) make_order(forward, ways.links.size());
  TakenOrder backward;
  for (int round = 0; round <= plays.rounds; ++round) {
    WayPlay play(topology, hops, unicasts, ways, false, backward);
    const SimTime time = play.run(forward);
    if (time >= best.time) break;
    best = {play.schedule(), time};
    if (time <= plays.good_enough || round == plays.rounds) break;
    if (backward.empty()) make_order(backward, ways.links.size());
    WayPlay(topology, hops, unicasts, ways, true, forward).run(backward);
  }
  return best;
}

}  // namespace tenex
