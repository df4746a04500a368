// What bounds ask of their problem: hops, and what links can have delivered (capacity.hpp says why).
#include <algorithm>
#include <limits>
#include <utility>

#include "bound/passing_links.hpp"
#include "tenex/base/bitset.hpp"
#include "tenex/base/contract.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/topology/hand_over.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex {

namespace {

__extension__ using Wide = unsigned __int128;
constexpr Wide kPicosecondsPerSecond = 1'000'000'000'000U;

/// The most bytes that a link carries in this time.
Wide bytes_within(SimTime time, const LinkClass& link) {
  return static_cast<Wide>(time.count()) * static_cast<Wide>(link.effective_bandwidth().count()) /
         kPicosecondsPerSecond;
}

/// beta*m, rounded down.
SimTime serialization_below(Bytes size, const LinkClass& link) {
  const Wide time =
      static_cast<Wide>(size.count()) * kPicosecondsPerSecond / static_cast<Wide>(link.effective_bandwidth().count());
  return picoseconds(static_cast<std::int64_t>(std::min(time, static_cast<Wide>(SimTime::max().count()))));
}

/// Whether all late NPUs exist and none is named twice. O(NPUs + delays).
bool are_apart(std::span<const StartDelay> delays, std::size_t npus) {
  Bitset late(npus);
  return std::ranges::all_of(
      delays, [&](const StartDelay& each) { return each.npu.index() < npus && late.insert(each.npu.index()); });
}

}  // namespace

BoundProblem::BoundProblem(const Instance& given, bool overlap, bool single_chunks,
                           std::span<const StartDelay> start_delays)
    : BoundProblem(given, physical_network(given.topology), passing_links(physical_network(given.topology))) {
  TENEX_EXPECTS(given.collective.npus() == given.topology.npus(), "a collective of the topology's NPUs");
  TENEX_EXPECTS(are_apart(start_delays, given.topology.npus()), "late NPUs that exist, none twice");
  this->overlap = overlap;
  this->single_chunks = single_chunks;
  this->start_delays = start_delays;
}

BoundProblem::BoundProblem(const Instance& given, const Topology& physical, std::shared_ptr<const PassingLinks> links)
    : Instance{links ? links->topology : physical, given.collective, given.occupancy},
      network(physical),
      passing(std::move(links)) {}

BoundProblem BoundProblem::with(const Collective& what) const {
  BoundProblem other({topology, what, occupancy}, network, passing);
  other.overlap = overlap;
  other.single_chunks = single_chunks;
  other.divisible = divisible;
  other.start_delays = start_delays;
  return other;
}

HopTime BoundProblem::hop(std::size_t link_class, Bytes size) const {
  const LinkClass& link = topology.classes()[link_class];
  if (!single_chunks) {
    const SimTime part = std::max(picoseconds(1), serialization_below(size, link));
    return {part, saturating_sum(link.alpha, part)};
  }
  HopTime hop = hop_time(link, size, occupancy);
  if (passing && occupancy == Occupancy::transfer)
    hop.busy = saturating_sum(passing->own_alpha[link_class], serialization_time(size, link));
  return hop;
}

const Topology& BoundProblem::searched(Topology& other) const {
  if (single_chunks || !any_passes_on_early(network)) return network;
  other = with_early_switches_as(network, Forwarding::cut_through);
  return other;
}

bool BoundProblem::follows_chunks() const { return has_parts() && (single_chunks || !any_passes_on_early(network)); }

bool BoundProblem::has_parts() const {
  if (single_chunks) return true;
  const Bytes smallest = *std::ranges::min_element(collective.chunk_sizes());
  return !divisible && std::ranges::all_of(topology.classes(), [&](const LinkClass& link) {
    return serialization_below(smallest, link) > SimTime::zero();
  });
}

bool BoundProblem::holds_for_all() const {
  if (!single_chunks) return true;
  if (occupancy == Occupancy::transfer) return false;
  return std::ranges::all_of(topology.classes(), [&](const LinkClass& link) {
    return std::ranges::all_of(collective.chunk_sizes(), [&](Bytes size) {
      return serialization_below(size, link) == serialization_time(size, link);
    });
  });
}

std::int64_t BoundProblem::delivered(std::size_t link_class, Bytes size, SimTime by) const {
  if (single_chunks) {
    const HopTime one = hop(link_class, size);
    return by < one.latency ? 0 : (by - one.latency) / one.busy + 1;
  }
  const LinkClass& link = topology.classes()[link_class];
  if (by <= link.alpha) return 0;
  const Wide count = bytes_within(by - link.alpha, link) / (divisible ? 1 : static_cast<Wide>(size.count()));
  return static_cast<std::int64_t>(std::min(count, static_cast<Wide>(std::numeric_limits<std::int64_t>::max())));
}

}  // namespace tenex
