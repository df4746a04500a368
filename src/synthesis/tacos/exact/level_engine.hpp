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

#include <cstdint>

#include "synthesis/tacos/exact/level_plan.hpp"
#include "synthesis/tacos/exact/step_engine.hpp"
#include "tenex/base/random.hpp"

namespace tenex {

/// The settings in which attempts differ.
struct LevelAttempt {
  bool shuffled = false;           ///< in-links of one level, and own chunks, in random order
  std::uint32_t widest_tile = 64;  ///< rows, at most 240
  std::uint32_t ramp = 64;         ///< a tile has at most the rows before it divided by this
};

/// Synthesizes. The result depends on the plan, `attempt` and `random` alone, not on the number of threads.
template <class Slot>
[[nodiscard]] StepRun<Slot> run_levels(const LevelPlan& plan, const LevelAttempt& attempt, Random random, int threads);

extern template StepRun<std::uint16_t> run_levels(const LevelPlan&, const LevelAttempt&, Random, int);
extern template StepRun<std::uint32_t> run_levels(const LevelPlan&, const LevelAttempt&, Random, int);

}  // namespace tenex
