// Searches for the least horizon: by whole chunks (MILP), in rounds (A*) and by rates (LP).
//
// TE-CCL's objective, the sum of R / (k + 1), does not minimize the time at which the last chunk arrives. So the number
// of epochs K is searched first: from below by distances and the bound, from above by the best schedule that is known.
// Searches but the one in rounds end early at a schedule that is good enough by what is proven (TE-CCL, Table 8).
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "synthesis/solvers/solve.hpp"
#include "synthesis/te_ccl/epochs.hpp"
#include "tenex/schedule/schedule.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex::te_ccl {

/// The epochs that a schedule takes if every send starts in the first epoch in which its chunk is there and its link is
/// free, in the order of their starts; over wires, with limited buffers and where bandwidth varies the epochs of its
/// time.
[[nodiscard]] int epochs_of(const Instance& instance, const EpochGrid& grid, const Schedule& schedule);

/// What a search found and proved.
struct Found {
  std::optional<Schedule> schedule;
  int epochs = 0;          ///< of the schedule
  SimTime bound;           ///< no schedule ends sooner; zero: nothing is proven
  bool solved = false;     ///< a solver ran
  bool too_large = false;  ///< the search ended at a model that is too large to be built
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
/// What the weights of process groups compare of schedules, less is better: the epochs of the time, rounded up, and
/// then the sum over groups of weight * last arrival in picoseconds. Expects: one weight for each group. O(sends).
struct WeighedFinish {
  __extension__ using Sum = __int128;
  std::int64_t epochs = 0;
  Sum sum = 0;
  auto operator<=>(const WeighedFinish&) const = default;
};
[[nodiscard]] WeighedFinish weighed_finish(const Instance& instance, SimTime epoch, const Schedule& schedule,
                                           const Priorities& priorities);

/// A plan by priorities.
struct Weighed {
  std::optional<Schedule> schedule;  ///< at its epochs; over wires whose epochs are not exact, played
  int epochs = 0;                    ///< its horizon
  bool solved = false;               ///< a solver ran
  std::string left_out;              ///< what is not proven or was not tried, in words; empty: nothing
};
/// Of the plans of whole chunks within `horizon` epochs, hops rounded up, one with the least sum of weight * finish
/// epoch over the process groups (TE-CCL, section 5: priorities of tenants). A group's finish epoch is the one at whose
/// start all its chunks have arrived. Where no plan has so few epochs, because hops are rounded up, the next horizon
/// that has one counts, up to twice as many. Expects: one weight for each group.
[[nodiscard]] Weighed search_by_priority(const Instance& instance, const EpochGrid& up, int horizon,
                                         const Priorities& priorities, SolverBudget& budget);
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
