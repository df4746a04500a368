// How many chunks wait in switches with limited buffers, at any time of a plan.
//
// Encoding: per switch the instants at which the number changes, and the number from there on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <vector>

#include "synthesis/pccl/paths/network.hpp"

namespace tenex {

/// The waits of a plan. Time counts slots or picoseconds.
template <class Time>
class SwitchBuffers {
 public:
  explicit SwitchBuffers(const PathNetwork& network)
      : network_(network), waiting_(network.has_limits() ? network.vertices() - network.npus() : 0) {}

  /// Whether one chunk more may wait at a switch during [from, until). O(log waits + changes in that time).
  [[nodiscard]] bool fits(std::uint32_t vertex, Time from, Time until) const {
    if (from >= until || network_.rests(vertex)) return true;
    const std::uint32_t most = network_.buffer(vertex);
    if (most == 0) return false;
    const auto& waiting = waiting_[vertex - network_.npus()];
    auto at = waiting.upper_bound(from);
    if (at != waiting.begin()) --at;
    for (; at != waiting.end() && at->first < until; ++at)
      if (at->second >= most) return false;
    return true;
  }

  /// One chunk more waits during [from, until).
  void add(std::uint32_t vertex, Time from, Time until) {
    if (from >= until || network_.rests(vertex)) return;
    auto& waiting = waiting_[vertex - network_.npus()];
    undo_.push_back({vertex, from, until});
    const auto first = split(waiting, from);
    const auto last = split(waiting, until);
    for (auto at = first; at != last; ++at) ++at->second;
  }

  /// From here on undo_trial() takes back all that is added.
  void begin_trial() { undo_.clear(); }
  void undo_trial() {
    for (const auto& [vertex, from, until] : undo_) {
      auto& waiting = waiting_[vertex - network_.npus()];
      for (auto at = waiting.find(from); at->first != until; ++at) --at->second;
    }
    undo_.clear();
  }

 private:
  struct Wait {
    std::uint32_t vertex;
    Time from;
    Time until;
  };
  using Steps = std::map<Time, std::uint32_t>;

  /// The change at `time`, made where there is none.
  static typename Steps::iterator split(Steps& waiting, Time time) {
    const auto next = waiting.lower_bound(time);
    if (next != waiting.end() && next->first == time) return next;
    const std::uint32_t before = next == waiting.begin() ? 0 : std::prev(next)->second;
    return waiting.emplace_hint(next, time, before);
  }

  const PathNetwork& network_;
  std::vector<Steps> waiting_;  ///< by switch
  std::vector<Wait> undo_;      ///< since begin_trial()
};

}  // namespace tenex
