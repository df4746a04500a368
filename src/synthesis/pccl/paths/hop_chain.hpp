// The times of hops over switches with limited buffers: a chunk leaves one only when there is room for it to wait, or
// when it need not wait.
//
// Idea: between two vertices with room for all, the hops of a path form a chain, whose starts depend on each other. All
// hops start as early as links are free, then each as late as the next one allows, so that waits are as short as they
// can be for that last start. If a wait still does not fit, the hop into that switch must start later than the latest
// time that was tried, and the rest follows. For two hops this finds the earliest arrival: with the second start given,
// the latest first start has the least wait, and no later second start helps before the first one moves. For more hops
// it finds an arrival, since links are free and nothing waits in the end.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "synthesis/pccl/paths/network.hpp"
#include "synthesis/pccl/paths/switch_buffers.hpp"

namespace tenex {

template <class Links>
class HopChain {
 public:
  using Time = typename Links::Time;

  explicit HopChain(const PathNetwork& network) : network_(network) {}

  /// The starts of `links`, one after the other, the first at `time` or later. Valid until the next call.
  std::span<const Time> starts(const Links& links, const SwitchBuffers<Time>& buffers,
                               std::span<const std::uint32_t> chain, Time time, std::size_t size) {
    least_.assign(chain.size(), 0);
    least_.front() = time;
    starts_.resize(chain.size());
    while (!settle(links, buffers, chain, size)) {
    }
    return starts_;
  }

 private:
  bool settle(const Links& links, const SwitchBuffers<Time>& buffers, std::span<const std::uint32_t> chain,
              std::size_t size) {
    Time arrival = 0;
    for (std::size_t i = 0; i < chain.size(); ++i) {
      starts_[i] = links.free_from(chain[i], std::max(least_[i], arrival), size);
      arrival = starts_[i] + links.latency(chain[i], size);
    }
    for (std::size_t i = chain.size() - 1; i-- > 0;)
      starts_[i] = links.free_until(chain[i], starts_[i + 1] - links.latency(chain[i], size), size);
    for (std::size_t i = 0; i + 1 < chain.size(); ++i) {
      const Time waits_from = starts_[i] + links.latency(chain[i], size);
      if (buffers.fits(network_.target(chain[i]), waits_from, starts_[i + 1])) continue;
      least_[i] = starts_[i + 1] - links.latency(chain[i], size) + 1;
      return false;
    }
    return true;
  }

  const PathNetwork& network_;
  std::vector<Time> least_;
  std::vector<Time> starts_;
};

}  // namespace tenex
