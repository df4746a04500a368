// Shared by the synthesis tests: a chunk of 1 MB on links of 500 ns and 50 GB/s (a hop of 20.5 us, a "step"), and one
// call that synthesizes, verifies and bounds.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>
#include <utility>

#include "support/topologies.hpp"
#include "support/verdicts.hpp"
#include "tenex/base/random.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/bound/cut.hpp"
#include "tenex/bound/strength.hpp"
#include "tenex/collective/instance.hpp"
#include "tenex/schedule/verifier/verifier.hpp"
#include "tenex/synthesis/synthesizer.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex::support {

inline constexpr SimTime kStep = nanoseconds(20'500);
inline constexpr Bytes kMegabyte = bytes(1'000'000);

/// A collective over all NPUs whose chunks are 1 MB.
inline Collective of_megabytes(CollectiveKind kind, std::size_t npus, std::int64_t chunks = 1) {
  const bool rooted = kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce;
  return collective(kind, npus, kMegabyte * (rooted ? chunks : chunks * static_cast<std::int64_t>(npus)), chunks);
}

/// A connected graph whose links have equal opposites; some are parallel, and speeds differ.
inline Topology random_graph_of_pairs(Random& random) {
  const std::uint32_t npus = 2 + random.below(14);
  TopologyBuilder builder(npus);
  const auto pair_up = [&](std::uint32_t a, std::uint32_t b) {
    builder.add_link_pair({VertexId(a), VertexId(b), nanoseconds(500 * random.below(3)),
                           gigabytes_per_second(25 * (1 + std::int64_t{random.below(3)}))});
  };
  for (std::uint32_t npu = 1; npu < npus; ++npu) pair_up(random.below(npu), npu);
  for (std::uint32_t extra = random.below(2 * npus); extra > 0; --extra) {
    const std::uint32_t from = random.below(npus);
    pair_up(from, (from + 1 + random.below(npus - 1)) % npus);
  }
  return std::move(builder).build().value();
}

/// A connected graph of 2 to `most_npus` NPUs and up to 3 plain switches whose links have equal opposites.
inline Topology random_graph_with_switches(Random& random, std::uint32_t most_npus) {
  const std::uint32_t npus = 2 + random.below(most_npus - 1);
  const std::uint32_t switches = random.below(4);
  TopologyBuilder builder(npus);
  for (std::uint32_t i = 0; i < switches; ++i) builder.add_switch();
  const std::uint32_t vertices = npus + switches;
  const auto pair_up = [&](std::uint32_t a, std::uint32_t b) {
    builder.add_link_pair({VertexId(a), VertexId(b), nanoseconds(500 * random.below(3)),
                           gigabytes_per_second(25 * (1 + std::int64_t{random.below(3)}))});
  };
  for (std::uint32_t vertex = 1; vertex < vertices; ++vertex) pair_up(random.below(vertex), vertex);
  for (std::uint32_t extra = random.below(2 * vertices); extra > 0; --extra) {
    const std::uint32_t from = random.below(vertices);
    pair_up(from, (from + 1 + random.below(vertices - 1)) % vertices);
  }
  return std::move(builder).build().value();
}

inline constexpr std::uint64_t kBoundWork = 10'000'000;  ///< link visits: a tenth of a second

/// Runs a synthesizer of the registry and expects a valid schedule that takes the time it states, not below the bound.
inline Synthesis synthesize_checked(std::string_view synthesizer, const SynthesisProblem& problem) {
  const Synthesizer* entry = find_synthesizer(synthesizer);
  EXPECT_NE(entry, nullptr) << synthesizer;
  const Synthesis made = entry->synthesize(problem).value();
  const auto check = [&](const Schedule& schedule, SimTime time, bool overlap) {
    support::expect_valid(problem, schedule, time);
    const BoundProblem bounded{{problem.topology, problem.collective, problem.occupancy}, overlap};
    EXPECT_GE(time, best_cheap_bound(bounded).time);
    EXPECT_GE(time, cut_bound(bounded, kBoundWork).value_or(CertifiedBound{}).time);
    EXPECT_GE(time, strength_bound(bounded, kBoundWork).value_or(CertifiedBound{}).time);
  };
  check(made.schedule, made.time, true);
  if (problem.collective.kind() == CollectiveKind::all_reduce)
    check(made.without_overlap, made.time_without_overlap, false);
  EXPECT_LE(made.time, made.time_without_overlap);
  return made;
}

/// Runs synthesize_checked() with the fast synthesizer.
inline Synthesis tacos(const Instance& instance, std::uint32_t attempts = 1, std::uint64_t seed = 1) {
  return synthesize_checked("tacos", {instance, {seed, attempts}});
}

/// The efficiency: bound / time.
inline double efficiency(const Instance& instance, SimTime time) {
  const SimTime bound = best_cheap_bound({instance, true}).time;
  return static_cast<double>(bound.count()) / static_cast<double>(time.count());
}

}  // namespace tenex::support
