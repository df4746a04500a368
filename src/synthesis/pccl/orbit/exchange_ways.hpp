// The ways of an All-to-All on a translation group: which directions one NPU's chunks take, and how often.
//
// A path from an NPU to the NPU at offset delta is a sequence of directions whose sum is delta. The group is abelian,
// so the order of the hops is free, and a path is a count per direction. A shortest one goes the shorter way round each
// ring and takes one hop along a fully connected dimension or over a switch; only half way round an even ring there are
// two, which the chunks take in turn. The hops of one NPU's chunks in a direction are the sends on each of its links,
// so these counts say how long each link is busy.
//
// An odd number of chunks cannot be split evenly over the two ways round a ring. For one group of all NPUs n/k * c is
// odd for a ring of k only if all other sizes are odd; for the cosets of a subgroup the same holds of the subgroup.
// Then every second NPU along that ring splits them the other way, and only translations by an even number of positions
// map the plan to itself: owners have two cosets, each with ways of its own.
//
// Encoding: number of a chunk as in OrbitChunks (delta*c + k); job = coset of the owner * (n*c) + number; per job and
// dimension one direction and a number of hops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tenex/schedule/storage/symmetric_schedule.hpp"
#include "tenex/schedule/timing/orbit_ports.hpp"
#include "tenex/topology/translation.hpp"

namespace tenex {

/// Whether every dimension is a ring, perhaps a twisted one, or has a link from each position to each other.
[[nodiscard]] bool has_exchange_ways(const TranslationGroup& group);

/// The least number of hops over `digit` positions of a dimension of a group that is not twisted.
[[nodiscard]] std::uint32_t exchange_hops(const TranslationDimension& dimension, std::uint32_t digit);

/// The ring of even size whose chunks for half way round cannot be split evenly between its two ways. `chunks` are of
/// an All-to-All. O(npus * dimensions).
[[nodiscard]] std::optional<std::size_t> uneven_ring(const TranslationGroup& group, const OrbitChunks& chunks);

/// The hops of a job along one dimension.
struct ExchangeLeg {
  std::uint32_t direction = 0;
  std::uint32_t hops = 0;
};

struct ExchangeWays {
  /// One coset, or two along a ring of even size. Expects: has_exchange_ways(), and one coset in a twisted group.
  /// O(npus
  /// * chunks per pair * dimensions), in a twisted group times the turns that a shortest way may take.
  ExchangeWays(const TranslationGroup& group, const OrbitChunks& chunks,
               std::optional<std::size_t> coset_ring = std::nullopt);

  /// Hops of all jobs by port. O(directions).
  [[nodiscard]] std::vector<std::uint64_t> load_of(const OrbitPorts& ports) const;

  /// Shortest ways in a twisted group, of which each job takes one that keeps loads even.
  void add_twisted_legs(const TranslationGroup& group, const OrbitChunks& chunks);

  std::size_t cosets = 1;
  std::size_t coset_dimension = 0;  ///< where there are two: a hop along it leads from one coset to the other
  std::size_t numbers = 0;          ///< of chunks (OrbitChunks::numbers); some have no chunk, or one for its owner
  std::size_t jobs = 0;             ///< cosets * numbers
  std::size_t dimensions = 0;       ///< of the group
  std::vector<ExchangeLeg> legs;    ///< by job, then by dimension
  std::vector<std::uint64_t> load;  ///< by direction: hops of all jobs
};

}  // namespace tenex
