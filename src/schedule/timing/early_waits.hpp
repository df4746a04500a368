// Sends that wait for deliveries at switches with virtual cut-through, each until a time of its own.
//
// When a delivery may leave such a switch depends on the next link (tenex/topology/hand_over.hpp), so a send waits for
// each delivery by itself: for the first of final values, for all of partial sums. Sends over links of one class that
// wait for the same deliveries wait together: one of them leads, and the others follow it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "tenex/base/quantity.hpp"

namespace tenex {

/// Sends and deliveries by their index in planned order. O(sends + waits of leaders) memory.
class EarlyWaits {
 public:
  using Index = std::uint32_t;

  explicit EarlyWaits(std::size_t sends) : sends_(sends) {}

  /// A send waits for these deliveries, at least one, of a kind. They are those that the plan had ready for it, of
  /// which a link of the same class had the same at a time, and more later: equal numbers are equal deliveries.
  /// O(deliveries + log sends).
  void add(Index send, std::uint16_t link_class, std::size_t kind, std::span<const Index> deliveries) {
    const auto [known, leads] = leader_.try_emplace({kind, link_class, deliveries.size(), deliveries.front()}, send);
    if (!leads) return followers_.emplace_back(known->second, send), void();
    needs_.emplace_back(send, static_cast<std::uint32_t>(deliveries.size()));
    for (const Index delivery : deliveries) waits_.emplace_back(delivery, send);
  }
  /// After the last add(). O(waits log waits).
  void index() {
    leader_.clear();
    first_wait_ = index(waits_);
    first_follower_ = index(followers_);
  }

  void begin_round() {
    if (needs_.empty()) return;
    left_.assign(sends_, 0);
    time_.assign(sends_, SimTime::of(-1));
    for (const auto& [send, count] : needs_) left_[send] = count;
  }
  /// A delivery has come, at a whole arrival. Calls release(send, time) for each send that waits for no more.
  /// `first`: it is a final value, of which the first is enough. `lead(send)`: how much sooner it may leave with it.
  template <class Lead, class Release>
  void deliver(Index delivery, SimTime arrival, bool first, Lead&& lead, Release&& release) {
    for (auto each = first_wait_[delivery]; each < first_wait_[delivery + 1]; ++each) {
      const Index send = waits_[each].second;
      const SimTime ready = arrival - lead(send);
      SimTime& time = time_[send];
      time = time < SimTime::zero() ? ready : first ? std::min(time, ready) : std::max(time, ready);
      if (--left_[send] > 0) continue;
      release(send, time);
      for (auto next = first_follower_[send]; next < first_follower_[send + 1]; ++next)
        release(followers_[next].second, time);
    }
  }

 private:
  using Pairs = std::vector<std::pair<Index, Index>>;

  /// Where the pairs of each first member begin, once they are sorted; then the end.
  [[nodiscard]] std::vector<std::size_t> index(Pairs& pairs) const {
    std::ranges::sort(pairs);
    std::vector<std::size_t> first(sends_ + 1, 0);
    for (const auto& pair : pairs) ++first[pair.first + 1];
    std::partial_sum(first.begin(), first.end(), first.begin());
    return first;
  }

  std::size_t sends_;
  std::map<std::tuple<std::size_t, std::uint16_t, std::size_t, Index>, Index> leader_;
  Pairs waits_;                                         ///< a delivery, and a leader that waits for it
  Pairs followers_;                                     ///< a leader, and a send that waits for the same
  std::vector<std::pair<Index, std::uint32_t>> needs_;  ///< a leader, and for how many it waits
  std::vector<std::size_t> first_wait_;
  std::vector<std::size_t> first_follower_;
  std::vector<std::uint32_t> left_;  ///< by leader
  std::vector<SimTime> time_;        ///< by leader: of those that have come
};

}  // namespace tenex
