// The step engine for one attempt: first in, first out on every link, tile by tile, whole NPUs at a time.
//
// Idea: each link walks its source's list (step_table.hpp) with a cursor, in order of arrival, skips the chunks that
// its target has, and sends the rest, so every link looks at every entry once. Decisions are made in order of arrival:
// in a tile an NPU's in-links fill their rows one after another with chunks that their sources had when the tile's
// first row started, so a slow link never takes a chunk that a fast one has delivered by then. Chunks that arrive
// inside a tile are forwarded in the next. With tiles of one row that is exact; once sources are thousands of chunks
// ahead, tiles of many rows cost nothing, and neighbours depend on earlier tiles only. So NPUs are independent inside a
// tile (any number of threads, the same schedule), and an NPU's bits and its sources' lists stay in the first-level
// cache for a whole tile.
//
// First in, first out makes the links into a pocket (two NPUs behind two links, say) deliver the same chunks at the
// same time, where they should deliver different ones. Scattered links begin each tile at a random one of the entries
// that they have not tested, so they hardly ever collide. That takes about twice the time, so regular topologies are
// not scattered.
//
// First in, first out alone also wastes the slow links of a product whose dimensions differ in bandwidth: fast links
// make the lists of a whole line alike, so all slow links into the next line would deliver the same chunks. With a
// LevelSetup a slow link walks its source's list twice. The first cursor looks for chunks that no NPU in the target's
// cluster has (the NPUs that faster links join to it). Only if it finds none does the second look for chunks that the
// target lacks, which faster links might deliver as well. A chunk that a link sends is entered into the cluster at
// once, so the links into a cluster always deliver different chunks. Once a cluster has everything, the first cursor
// rests. NPUs of a family see each other's entries, so a family is served by one thread, in a fixed order; the NPUs of
// families that have everything are distributed over the threads one by one.
#pragma once

#include <cstdint>

#include "synthesis/tacos/exact/level_setup.hpp"
#include "synthesis/tacos/exact/step_setup.hpp"
#include "tenex/base/random.hpp"

namespace tenex {

/// The settings in which attempts differ.
struct StepAttempt {
  bool shuffled = false;           ///< in-links (of one level) and own chunks in random order
  std::uint32_t widest_tile = 64;  ///< rows, at most 240
  std::uint32_t ramp = 64;         ///< a tile has at most the rows before it divided by this
  // Where links are alike:
  bool scattered = false;         ///< links begin at a random entry of those not yet tested
  std::uint32_t sweep_tiles = 1;  ///< tiles that pass over the NPUs together
  std::uint32_t band_depth = 2;   ///< hops of a band: see bands.hpp
};

/// A run's outcome.
template <class Slot>
struct StepRun {
  StepTable<Slot> table;
  SimTime finish;
};

/// Synthesizes. The result depends on the setup, `attempt` and `random` alone, not on the number of threads.
template <class Slot>
[[nodiscard]] StepRun<Slot> run_steps(const StepSetup& setup, const StepAttempt& attempt, Random random, int threads);
template <class Slot>
[[nodiscard]] StepRun<Slot> run_steps(const LevelSetup& setup, const StepAttempt& attempt, Random random, int threads);

extern template StepRun<std::uint16_t> run_steps(const StepSetup&, const StepAttempt&, Random, int);
extern template StepRun<std::uint32_t> run_steps(const StepSetup&, const StepAttempt&, Random, int);
extern template StepRun<std::uint16_t> run_steps(const LevelSetup&, const StepAttempt&, Random, int);
extern template StepRun<std::uint32_t> run_steps(const LevelSetup&, const StepAttempt&, Random, int);

}  // namespace tenex
