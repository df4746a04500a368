// Plans of whole chunks that weigh the finish epochs of process groups.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "synthesis/compose.hpp"
#include "synthesis/solvers/plan_player.hpp"
#include "synthesis/te_ccl/model.hpp"
#include "synthesis/te_ccl/search.hpp"
#include "tenex/base/contract.hpp"
#include "tenex/topology/slow_windows.hpp"

namespace tenex::te_ccl {

WeighedFinish weighed_finish(const Instance& instance, SimTime epoch, const Schedule& schedule,
                             const Priorities& priorities) {
  TENEX_EXPECTS(priorities.weights.size() == instance.collective.groups().size(), "one weight for each group");
  const StartedHops hops(instance.topology, instance.collective.chunk_sizes(), instance.occupancy);
  std::vector<SimTime> last(instance.collective.groups().size());
  for (const Send& send : list_sends(schedule)) {
    const HopTime hop =
        hops.at(instance.topology.class_of(send.link), instance.collective.size_class(send.chunk), send.start);
    SimTime& of_group = last[instance.collective.group_of(send.chunk).index()];
    of_group = std::max(of_group, send.start + hop.latency);
  }
  WeighedFinish finish;
  finish.epochs = (std::ranges::max(last) + epoch - picoseconds(1)) / epoch;
  for (std::size_t group = 0; group < last.size(); ++group)
    finish.sum += WeighedFinish::Sum{priorities.weights[group]} * last[group].count();
  return finish;
}

Weighed search_by_priority(const Instance& instance, const EpochGrid& up, int horizon, const Priorities& priorities,
                           SolverBudget& budget) {
  TENEX_EXPECTS(priorities.weights.size() == instance.collective.groups().size(), "one weight for each group");
  Weighed found;
  Wish wish{.horizon = horizon, .limits = limits_buffers(instance.topology), .weights = priorities.weights};
  EpochModel model;
  SolveResult result;
  for (; wish.horizon <= 2 * horizon && !budget.spent(); ++wish.horizon) {
    model = build_model(instance, up, first_state(instance), wish);
    if (model.sends.empty()) {
      found.left_out =
          fmt::format("priorities were not weighed: a model of {} epochs has more than {} sends or {} terms",
                      wish.horizon, kMostColumns, kMostTerms);
      return found;
    }
    found.solved = true;
    result = solve_mixed(model.program, SolveGoal::least_cost, budget);
    if (result.status != SolveStatus::infeasible) break;
  }
  if (result.status != SolveStatus::feasible) {
    const bool none = result.status == SolveStatus::infeasible && !budget.spent();
    found.left_out =
        fmt::format("priorities were not weighed: {}", none ? fmt::format("no plan has up to {} epochs", 2 * horizon)
                                                            : std::string("the solver's limit came first"));
    return found;
  }
  if (!result.optimal) found.left_out = "the weighed finish is not proven least: the solver's limit came first";
  const auto plan = sends_of(model, result.values);
  found.epochs = wish.horizon;
  if (instance.topology.wires() != nullptr && !up.exact)
    found.schedule = play_plan(instance, plan);
  else
    found.schedule = make_list_schedule(timed(instance, up, plan));
  return found;
}

}  // namespace tenex::te_ccl
