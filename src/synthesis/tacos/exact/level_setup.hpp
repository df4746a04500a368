// The additions to a step setup where links differ: which links are slower than others, and which NPUs are served
// together.
//
// Encoding: ports are in order of level inside each NPU, the fast ones first. Clusters (event_driven/cost_levels.hpp)
// are numbered per level; those of a level are unions of those of the level below. A family is a cluster of the highest
// level: links into it use the state of its own NPUs, which its faster links will supply, and none of other families,
// so families can be served by different threads. NPUs are in order of families.
#pragma once

#include <cstdint>
#include <vector>

#include "synthesis/tacos/exact/step_setup.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {

/// Immutable; shared by attempts and threads.
struct LevelSetup {
  StepSetup steps;  ///< its ports in order of level
  std::uint32_t levels = 1;
  std::vector<std::vector<std::uint32_t>> cluster;    ///< per level (0 is empty), per NPU
  std::vector<std::vector<std::uint32_t>> chunks_in;  ///< per level, per cluster: chunks of its group
  std::vector<std::uint32_t> order;                   ///< NPUs, family by family
  /// Per index of `order`: where its family ends; 0 where it does not begin one.
  std::vector<std::uint32_t> family_end;
};

/// The setup of a gather that step_refusal() does not refuse. O(levels * links).
[[nodiscard]] LevelSetup make_level_setup(const SynthesisProblem& problem);

}  // namespace tenex
