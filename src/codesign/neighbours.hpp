// Single steps from whole bandwidths to neighbouring ones that are better: where a bandwidth is small, the byte per
// second that rounding took counts. Private to the room.
#pragma once

#include <cstdint>
#include <utility>

#include "codesign/region_data.hpp"
#include "codesign/splitting.hpp"

namespace tenex::codesign {

/// Steps while `objective` (of a split whose bandwidth, time and cost are filled in) falls, and keeps it in `split`.
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

}  // namespace tenex::codesign
