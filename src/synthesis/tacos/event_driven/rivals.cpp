// The tests that slow links make before they take a chunk.
#include "synthesis/tacos/event_driven/rivals.hpp"

#include <algorithm>
#include <utility>

namespace tenex {

namespace {

Csr<std::uint32_t> find_faster(const GatherSetup& setup, std::vector<bool>& has_slower) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  has_slower.assign(setup.topology.links(), false);
  for (std::uint32_t link = 0; link < setup.topology.links(); ++link)
    for (const LinkId other : setup.topology.in_links(setup.topology.target(LinkId(link)))) {
      if (setup.levels.level(other.value()) < setup.levels.level(link)) pairs.emplace_back(link, other.value());
      if (setup.rank_of[other.index()] > setup.rank_of[link]) has_slower[link] = true;
    }
  return Csr<std::uint32_t>::group(
      setup.topology.links(), pairs.size(), [&](std::size_t i) { return pairs[i].first; },
      [&](std::size_t i) { return pairs[i].second; });
}

}  // namespace

Rivals::Rivals(const GatherSetup& setup) : setup_(setup), faster_(find_faster(setup, has_slower_)) {}

void Rivals::reset(Reach reach) {
  reach_ = reach;
  supplied_ = BitMatrix(setup_.topology.vertices(), setup_.collective.chunks());
  clusters_.assign(setup_.levels.levels(), supplied_);
  flights_.assign(setup_.topology.vertices(), {});
  free_at_.assign(setup_.topology.links(), 0);
}

void Rivals::supply(std::size_t vertex, std::uint32_t chunk) {
  supplied_.set(vertex, chunk);
  for (std::uint32_t level = 1; level < setup_.levels.levels(); ++level)
    clusters_[level].set(setup_.levels.cluster(level, vertex), chunk);
}

void Rivals::depart(std::uint32_t link, std::size_t target, const Flight& flight, std::int64_t free_at) {
  supply(target, flight.chunk);
  flights_[target].push_back(flight);
  free_at_[link] = free_at;
}

void Rivals::forget(std::size_t target, std::uint32_t send) {
  std::erase_if(flights_[target], [&](const Flight& flight) { return flight.send == send; });
}

bool Rivals::covered(std::uint32_t link, std::size_t target, std::uint32_t chunk) const {
  if (reach_ == Reach::cluster) {
    const std::uint32_t level = setup_.levels.level(link);
    return clusters_[level].test(setup_.levels.cluster(level, target), chunk);
  }
  const auto faster = faster_.row(link);
  return std::any_of(faster.begin(), faster.end(), [&](std::uint32_t other) {
    return supplied_.test(setup_.topology.source(LinkId(other)).index(), chunk);
  });
}

bool Rivals::worth_it(std::uint32_t link, std::uint32_t chunk, std::uint32_t wanted, std::int64_t now) const {
  const std::int64_t deadline = now + setup_.hop(link, chunk).latency;
  std::int64_t left = wanted;
  for (const std::uint32_t other : faster_.row(link)) {
    const auto& hop = setup_.hop(other, chunk);
    const std::int64_t spare = deadline - hop.latency - std::max(now, free_at_[other]);
    if (spare >= 0) left -= spare / hop.busy + 1;
  }
  return left > 0;
}

}  // namespace tenex
