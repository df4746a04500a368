// Which of several first-in-first-out channels of a pair of NPUs carries a move.
#include <algorithm>
#include <map>
#include <utility>

#include "tenex/exchange/moves.hpp"

namespace tenex::exchange {

std::vector<std::size_t> lanes_of(const MovePlan& plan, const std::function<std::size_t(const Move& move)>& weight,
                                  std::size_t weight_per_lane) {
  using Pair = std::pair<std::uint32_t, std::uint32_t>;
  std::vector<std::size_t> arrives(plan.moves.size());  // the place of the receive among all deeds
  std::map<Pair, std::size_t> weights;
  for (std::size_t at = 0; at < plan.deeds.size(); ++at) {
    const Deed& deed = plan.deeds[at];
    if (deed.kind == Deed::Kind::local) continue;
    const Move& move = plan.moves[deed.index];
    if (deed.kind == Deed::Kind::receive)
      arrives[deed.index] = at;
    else
      weights[{move.source, move.target}] += weight(move);
  }
  struct Lanes {
    std::vector<std::size_t> last_arrival;
    std::size_t next = 0;
  };
  std::map<Pair, Lanes> all;
  std::vector<std::size_t> lane_of(plan.moves.size());
  for (const Deed& deed : plan.deeds) {
    if (deed.kind != Deed::Kind::send) continue;
    const Move& move = plan.moves[deed.index];
    const Pair pair(move.source, move.target);
    Lanes& lanes = all[pair];
    if (lanes.last_arrival.empty()) lanes.last_arrival.resize((weights[pair] + weight_per_lane - 1) / weight_per_lane);
    auto& last = lanes.last_arrival;
    // In turn, but not where it would overtake.
    std::size_t tried = 0;
    while (tried < last.size() && last[(lanes.next + tried) % last.size()] > arrives[deed.index]) ++tried;
    const auto lane = tried < last.size() ? (lanes.next + tried) % last.size() : last.size();
    if (lane == last.size()) last.push_back(0);
    last[lane] = arrives[deed.index];
    lane_of[deed.index] = lane;
    ++lanes.next;
  }
  return lane_of;
}

}  // namespace tenex::exchange
