// Moves from whole bandwidths to better neighbouring ones. Where a bandwidth is small, a byte per second of rounding
// matters.
#pragma once

#include <cstdint>
#include <utility>

#include "codesign/region_data.hpp"
#include "codesign/splitting.hpp"

namespace tenex::codesign {

/// Moves `split` to better neighbours as long as `objective` falls. `objective` gets splits with bandwidth, time and
/// cost.
template <class Objective>
void step_to_neighbours(const SplitCase& given, const Objective& objective, BandwidthSplit& split) {
  constexpr int kMostRounds = 8;
  const auto& lattice = given.region.data().lattice;
  bool better = split.exact;
  for (int round = 0; better && round < kMostRounds; ++round) {
    better = false;
    for (std::size_t column = lattice.rank(); column < split.bandwidth.size(); ++column) {
      for (const int sign : {1, -1}) {
        BandwidthSplit neighbour = split;
        for (std::size_t i = 0; i < neighbour.bandwidth.size(); ++i)
          neighbour.bandwidth[i] += Bandwidth::of(static_cast<std::int64_t>(lattice.entry(i, column)) * sign);
        if (!given.region.contains(neighbour.bandwidth)) continue;
        neighbour.time = time_at(given.model, neighbour.bandwidth);
        if (given.rates != nullptr) neighbour.cost = network_cost(*given.rates, neighbour.bandwidth);
        neighbour.objective = objective(neighbour);
        if (!(neighbour.objective < split.objective)) continue;
        split = std::move(neighbour);
        better = true;
      }
    }
  }
}

/// Moves `split` to the best of all splits that differ by up to 64 steps each way along two free columns of the
/// lattice, for every pair of columns. Where two constraints bind, single steps leave the region although a more
/// distant point is better.
template <class Objective>
void search_around(const SplitCase& given, const Objective& objective, BandwidthSplit& split) {
  constexpr std::int64_t kReach = 64;
  const auto& lattice = given.region.data().lattice;
  const auto size = split.bandwidth.size();
  const BandwidthSplit centre = split;
  const auto consider = [&](std::size_t a, std::int64_t steps_a, std::size_t b, std::int64_t steps_b) {
    BandwidthSplit other = centre;
    for (std::size_t i = 0; i < size; ++i)
      other.bandwidth[i] += Bandwidth::of(static_cast<std::int64_t>(lattice.entry(i, a)) * steps_a +
                                          static_cast<std::int64_t>(lattice.entry(i, b)) * steps_b);
    if (!given.region.contains(other.bandwidth)) return;
    other.time = time_at(given.model, other.bandwidth);
    if (given.rates != nullptr) other.cost = network_cost(*given.rates, other.bandwidth);
    other.objective = objective(other);
    if (other.objective < split.objective) split = std::move(other);
  };
  for (std::size_t a = lattice.rank(); split.exact && a < size; ++a)
    for (std::size_t b = a + 1; b < size; ++b)
      for (std::int64_t i = -kReach; i <= kReach; ++i)
        for (std::int64_t j = -kReach; j <= kReach; ++j) consider(a, i, b, j);
}

}  // namespace tenex::codesign
