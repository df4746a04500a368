// Searches for the least horizon: by whole chunks (MILP), in rounds (A*) and by rates (LP).
//
// TE-CCL's objective, the sum of R / (k + 1), does not minimize the time at which the last chunk arrives. So the number
// of epochs K is searched first: from below by distances and the bound, from above by the best schedule that is known.
// Searches but the one in rounds end early at a schedule that is good enough by what is proven (TE-CCL, Table 8).
#pragma once

#include <optional>
#include <vector>

#include "synthesis/solvers/solve.hpp"
#include "synthesis/te_ccl/epochs.hpp"
#include "tenex/schedule/schedule.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex::te_ccl {

/// What a search found and proved.
struct Found {
  std::optional<Schedule> schedule;
  int epochs = 0;       ///< of the schedule
  SimTime bound;        ///< no schedule ends sooner; zero: nothing is proven
  bool solved = false;  ///< a solver ran
};

/// The least horizon in which whole chunks arrive, below that of `known`. Where epochs are exact, a horizon without a
/// plan is a bound; elsewhere `search_rounded_down` proves one.
/// `bound` is proven already.
[[nodiscard]] Found search_whole_chunks(const Instance& instance, const EpochGrid& up, const Schedule& known,
                                        SimTime bound, SolverBudget& budget, GoodEnough enough = {});
/// The same with hops rounded down: horizons without a plan are a bound, and plans, played in picoseconds, may be
/// better than plans rounded up. Horizons end below `known`, the time of a schedule.
[[nodiscard]] Found search_rounded_down(const Instance& instance, SimTime length, SimTime known, SimTime bound,
                                        SolverBudget& budget, GoodEnough enough = {});
/// The least horizon, up to `most` epochs, of plans in which NPUs pass on what they receive at once or never (TE-CCL,
/// section 6.4, Fig. 11). They are played at the starts of their epochs, and prove nothing of schedules with buffers.
[[nodiscard]] Found search_unbuffered(const Instance& instance, const EpochGrid& up, int most, SolverBudget& budget);
/// Rounds of few epochs, each from where the last one ended (TE-CCL, section IV.2 and appendix D).
[[nodiscard]] Found search_in_rounds(const Instance& instance, const EpochGrid& up, SolverBudget& budget);
/// For chunks with one destination each: the least horizon for rates, rates to paths, paths to chunks in the order in
/// which rates use them (TE-CCL, section IV.1). Rates with hops rounded down prove the bound.
[[nodiscard]] Found search_rates(const Instance& instance, const EpochGrid& up, SimTime known, SimTime bound,
                                 SolverBudget& budget, GoodEnough enough = {});

}  // namespace tenex::te_ccl
