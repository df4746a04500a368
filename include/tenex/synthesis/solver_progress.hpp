// What a solver's search knows while it works. It is shown to people and never decides anything.
#pragma once

#include <cstdint>
#include <functional>

#include "tenex/base/quantity.hpp"

namespace tenex {

/// One moment of the searches of a result. Over the moments of a result, `time`, `epochs` and `gap` never rise, and
/// `bound`, `nodes` and `seconds` never fall.
struct SolverMoment {
  std::int64_t epochs = -1;  ///< of the incumbent in its model; -1: no solver made it, or the model has no epochs
  SimTime time;              ///< of the incumbent, the best schedule so far; zero: there is none yet
  SimTime bound;             ///< proven: no schedule ends sooner
  double gap = 1;            ///< proven: (time - bound) / time; 1 where there is no incumbent
  std::int64_t nodes = 0;    ///< of all branch-and-bound searches so far (a linear program has none)
  double seconds = 0;        ///< in solvers so far: measured
};

/// Is told of moments, often many in a second, by the thread that asked for the schedule. May be empty. It must not ask
/// for a schedule itself: the solver that tells keeps others waiting.
using SolverProgress = std::function<void(const SolverMoment&)>;

}  // namespace tenex
