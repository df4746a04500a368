// Shared by all attempts at one symmetric All-Gather: directions with their steps, ports with their times, and lower
// bounds.
#pragma once

#include <cstdint>
#include <vector>

#include "synthesis/orbit/packed_offsets.hpp"
#include "tenex/schedule/timing/orbit_ports.hpp"
#include "tenex/synthesis/synthesizer.hpp"
#include "tenex/topology/translation.hpp"

namespace tenex {

/// Ports that take the same times, fastest first.
struct OrbitLane {
  std::int64_t busy = 0;
  std::int64_t latency = 0;
  bool operator==(const OrbitLane&) const = default;
};

/// Precedence of ports: those of a higher rank first deliver items that none of a lower rank can reach.
struct Ranking {
  std::vector<std::uint32_t> rank_of;     ///< by port
  std::vector<std::uint64_t> own_fields;  ///< by rank: the bits of an item that no port of a lower rank changes
  bool operator==(const Ranking&) const = default;
};

struct OrbitSetup {
  OrbitSetup(const SynthesisProblem& problem, const TranslationGroup& symmetries);

  const TranslationGroup& group;
  PackedOffsets offsets;
  std::uint32_t chunks = 1;    ///< per NPU
  std::uint64_t required = 0;  ///< items to be delivered: (n-1) * c
  OrbitPorts ports;
  std::vector<OrbitLane> lanes;
  std::vector<PackedStep> steps;       ///< by direction
  std::vector<std::uint32_t> lane_of;  ///< by port
  std::vector<Ranking> rankings;       ///< distinct rankings, the most promising first; attempts take turns
  std::size_t promising_rankings = 0;  ///< the first of them
  /// A lower bound on the time of every schedule.
  std::int64_t bound = 0;

 private:
  void set_rankings();
  void add_other_rankings();
  void add_ranking(const std::vector<std::uint32_t>& rank_of_dimension);
  void set_bound(const SynthesisProblem& problem);
  [[nodiscard]] std::int64_t bound_of_ports() const;
  [[nodiscard]] bool may_deliver_all(std::int64_t time, std::int64_t first_arrival) const;
};

}  // namespace tenex
