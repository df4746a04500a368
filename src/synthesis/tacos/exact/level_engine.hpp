// One attempt of the levels engine: the exact engine's rows and tiles, with slow links that deliver what fast ones
// lack.
//
// Idea: as in the exact engine each link walks its source's list in order of arrival, tile by tile, and decisions are
// made in order of arrival. First in, first out alone wastes the slow links of a product whose dimensions differ in
// bandwidth: fast links make the lists of a whole line alike, so all slow links into the next line would deliver the
// same chunks. Here a slow link walks its source's list twice. The first cursor looks for chunks that no NPU in the
// target's cluster has (the NPUs that faster links join to it). Only if it finds none does the second look for chunks
// that the target lacks, which faster links might deliver as well. A chunk that a link sends is entered into the
// cluster at once, so the links into a cluster always deliver different chunks. Once a cluster has everything, the
// first cursor rests.
//
// NPUs of a family see each other's entries, so a family is served by one thread, in a fixed order. The NPUs of
// families that have everything are distributed over the threads one by one. The schedule is the same for any number of
// threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "synthesis/tacos/exact/step_engine.hpp"
#include "synthesis/tacos/exact/step_setup.hpp"
#include "tenex/base/random.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {

// The additions of the levels engine to a step setup: which links are slower than others, and which NPUs are served
// together.
//
// Encoding: ports are in order of level inside each NPU, the fast ones first. Clusters (event_driven/cost_levels.hpp)
// are numbered per level; those of a level are unions of those of the level below. A family is a cluster of the highest
// level: links into it use the state of its own NPUs, which its faster links will supply, and none of other families,
// so families can be served by different threads. NPUs are in order of families.

/// Immutable; shared by attempts and threads.
struct LevelSetup {
  StepSetup steps;  ///< its ports in order of level
  std::uint32_t levels = 1;
  std::vector<std::uint8_t> port_level;   ///< also 0 if the target is alone in its cluster: nothing is left to others
  std::vector<std::uint8_t> shared_from;  ///< per port: the first level at which both ends are in one cluster
  std::vector<std::vector<std::uint32_t>> cluster;    ///< per level (0 is empty), per NPU
  std::vector<std::vector<std::uint32_t>> chunks_in;  ///< per level, per cluster: chunks of its group
  std::vector<std::uint32_t> order;                   ///< NPUs, family by family
  std::vector<std::uint32_t>
      family_end;               ///< per index of `order`: where its family ends; 0 where it does not begin one
  std::int64_t least_rows = 0;  ///< rows of the shortest period that some NPU needs at least
};

/// The setup of a gather that step_refusal() does not refuse. O(levels * links).
[[nodiscard]] LevelSetup make_level_setup(const SynthesisProblem& problem);

/// The settings in which attempts differ.
struct LevelAttempt {
  bool shuffled = false;           ///< in-links of one level, and own chunks, in random order
  std::uint32_t widest_tile = 64;  ///< rows, at most 240
  std::uint32_t ramp = 64;         ///< a tile has at most the rows before it divided by this
};

/// Synthesizes. The result depends on the setup, `attempt` and `random` alone, not on the number of threads.
template <class Slot>
[[nodiscard]] StepRun<Slot> run_levels(const LevelSetup& setup, const LevelAttempt& attempt, Random random,
                                       int threads);

extern template StepRun<std::uint16_t> run_levels(const LevelSetup&, const LevelAttempt&, Random, int);
extern template StepRun<std::uint32_t> run_levels(const LevelSetup&, const LevelAttempt&, Random, int);

}  // namespace tenex
