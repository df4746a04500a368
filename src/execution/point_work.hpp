// Internal to execution: the work of a point, counted from its sizes. What is told and what decides are counted apart:
// told work follows how a point runs and may be counted better at any time; weights decide which trials are made, and
// never change.
#pragma once

#include "tenex/base/work.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/execution/sizes.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {

struct CountedWork {
  Work told;
  double weight = 0;  ///< what decides
  Work made = {};     ///< the part of it that makes the schedule
};

/// Of a textbook algorithm's point. `records`: its sends are kept and verified.
[[nodiscard]] CountedWork count_program(const DesignPoint& point, const PointSizes& sizes, bool records);

/// How a synthesizer's schedule is read.
struct ScheduleReading {
  bool by_link = false;    ///< stored and checked link by link
  bool symmetric = false;  ///< one NPU's sends may stand for all
};

/// Of a synthesizer's point. `played_hops`: of the play of its schedule on switches; 0: it is
/// not played.
[[nodiscard]] CountedWork count_synthesis(const DesignPoint& point, const Synthesizer& synthesizer,
                                          const SynthesisProblem& problem, const PointSizes& sizes,
                                          const ScheduleReading& reading, double played_hops);

}  // namespace tenex
