// What the sends of a reduction and a gather wait for, and which chunks go first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "tenex/collective/instance.hpp"
#include "tenex/schedule/send.hpp"
#include "tenex/topology/timing.hpp"

namespace tenex {

/// By send: those that wait for its arrival, and how many arrivals it waits for.
struct Dependencies {
  std::vector<std::vector<std::uint32_t>> waiting;
  std::vector<std::uint32_t> waits_for;
};

/// A partial sum leaves after all that are added to it; a copy leaves after the delivery of the copy, or after all sums
/// where the whole sum is made. `sends`: partial sums travel in trees, nothing is delivered twice, and every switch
/// that is a vertex copies and reduces. O(sends).
[[nodiscard]] Dependencies find_dependencies(const Topology& topology, std::span<const Send> sends);

/// The times of each send.
[[nodiscard]] std::vector<HopTime> hop_times_of(const Instance& instance, std::span<const Send> sends);

/// By chunk: the last arrival of a partial sum, as the sends are timed. O(sends).
[[nodiscard]] std::vector<SimTime> sums_complete(const Instance& instance, std::span<const Send> sends,
                                                 std::span<const HopTime> hops);

/// By number: the place in the order of the keys, smaller numbers first among equals.
template <class Key>
[[nodiscard]] std::vector<std::uint32_t> ranks_of(const std::vector<Key>& keys) {
  std::vector<std::uint32_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return keys[a] < keys[b]; });
  std::vector<std::uint32_t> rank(keys.size());
  for (std::uint32_t r = 0; r < order.size(); ++r) rank[order[r]] = r;
  return rank;
}

}  // namespace tenex
