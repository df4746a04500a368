// What a point is expected to cost, from sizes alone: counts of sends times constants measured on one core of a 2-core machine.
// Used to order leases and to plan memory; never part of a result but memory_planned_bytes, which depends on sizes alone.
#include "estimate.hpp"

#include <algorithm>

#include "build.hpp"
#include "tenex/base/bitset.hpp"
#include "tenex/evaluate/evaluate.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {
namespace {

// A recorded hop: its list entry while recording (Send) and its columns in the sorted storage.
constexpr double bytes_per_recorded_hop = 2.0 * sizeof(Send);
constexpr double seconds_per_simulated_hop = 0.5e-6;
constexpr double seconds_per_verified_send = 0.25e-6;
constexpr double seconds_per_link = 0.2e-6;

double mean_distance(const Block& block) {
  const double size = block.size;
  switch (block.kind) {
    case BlockKind::ring: return size / 4;
    case BlockKind::line: return size / 3;
    case BlockKind::fully_connected: return 1 - 1 / size;
    case BlockKind::switched: return 2 * (1 - 1 / size);
    case BlockKind::dragonfly_groups: return 2;
  }
  return 1;
}

// Mean hops of a message between random NPUs of the group, at least 1; machine files are small enough for a plain guess.
double mean_hops(const DesignPoint& point) {
  if (!point.topology.machine_file.empty()) return 2;
  double hops = 0;
  for (const auto& block : point.topology.shape.blocks) hops += mean_distance(block);
  return std::max(hops, 1.0);
}

double halves(CollectiveKind kind) { return kind == CollectiveKind::all_reduce ? 2 : 1; }

Estimate estimate_program(const DesignPoint& point, const Topology& topology, const Collective& collective) {
  const double messages = static_cast<double>(collective.required_deliveries()) * halves(point.collective);
  // Ring neighbours in rank order are mostly adjacent; Direct crosses the topology.
  const double hops = messages * (point.algorithm == "direct" ? mean_hops(point) : 1.5);
  const double repeats = point.collective == CollectiveKind::all_reduce ? 2 : 1;  // with and without overlap
  const auto holdings = static_cast<double>(BitMatrix::bytes_for(topology.vertices(), collective.chunks()));
  return {hops * (repeats * seconds_per_simulated_hop + seconds_per_verified_send) +
              static_cast<double>(topology.links()) * seconds_per_link,
          static_cast<std::size_t>(hops * bytes_per_recorded_hop + 3 * holdings)};
}

Estimate estimate_synthesis(const DesignPoint& point, const Synthesizer& synthesizer, const Topology& topology,
                            const Collective& collective) {
  const SynthesisProblem problem{topology, collective, point.occupancy, point.seed, point.attempts, 1,
                                 parse_engine_choice(point.engine).value_or(EngineChoice::automatic)};
  const double sends = static_cast<double>(collective.required_deliveries()) * halves(point.collective);
  const auto holdings = BitMatrix::bytes_for(topology.vertices(), collective.chunks());
  return {synthesizer.estimate_seconds(problem) + sends * seconds_per_verified_send +
              static_cast<double>(topology.links()) * seconds_per_link,
          synthesizer.estimate_bytes(problem) + 3 * holdings};
}

}  // namespace

Estimate estimate_built(const DesignPoint& point, const Topology& topology, const Collective& collective) {
  const auto* synthesizer = find_synthesizer(point.algorithm);
  return synthesizer != nullptr ? estimate_synthesis(point, *synthesizer, topology, collective)
                                : estimate_program(point, topology, collective);
}

Estimate estimate(const DesignPoint& point) {
  const auto topology = build_transformed_topology(point);
  if (!topology) return {};
  const auto collective = build_point_collective(point, topology->topology.npus());
  if (!collective) return {};
  return estimate_built(point, topology->topology, *collective);
}

}  // namespace tenex
