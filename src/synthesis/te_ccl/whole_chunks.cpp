// The search for the least number of epochs in which whole chunks arrive.
#include <algorithm>
#include <map>
#include <vector>

#include "synthesis/te_ccl/model.hpp"
#include "synthesis/te_ccl/play.hpp"
#include "synthesis/te_ccl/search.hpp"

namespace tenex::te_ccl {
namespace {

/// The epochs that a schedule takes if every send starts in the first epoch in which its chunk is there and its link is
/// free, in the order of their starts.
int epochs_of(const Instance& instance, const EpochGrid& grid, const Schedule& schedule) {
  const auto vertices = instance.topology.vertices();
  std::map<std::size_t, std::vector<int>> arrivals;  // of switches: each arrival leaves once
  auto held = first_state(instance).held_from;
  std::vector<std::vector<int>> starts(instance.topology.links());
  int last = 0;
  for (const Send& send : list_sends(schedule)) {
    const LinkEpochs& link = grid.links[send.link.index()];
    const auto from = send.chunk.index() * vertices + instance.topology.source(send.link).index();
    const auto to = send.chunk.index() * vertices + instance.topology.target(send.link).index();
    auto& of_link = starts[send.link.index()];
    int epoch = held[from] < kNever ? held[from] : 0;
    if (const auto there = arrivals.find(from); there != arrivals.end() && !there->second.empty()) {
      epoch = there->second.front();
      there->second.erase(there->second.begin());
    }
    if (!of_link.empty()) epoch = std::max(epoch, of_link.back());
    const auto size = static_cast<std::ptrdiff_t>(of_link.size());
    if (size >= link.most) epoch = std::max(epoch, of_link[static_cast<std::size_t>(size - link.most)] + link.span);
    of_link.push_back(epoch);
    const int arrival = epoch + link.latency;
    last = std::max(last, arrival);
    held[to] = std::min(held[to], arrival);
    const auto target = instance.topology.target(send.link);
    if (!instance.topology.is_npu(target) && !instance.topology.switch_properties(target).copy)
      arrivals[to].push_back(arrival);
  }
  return last;
}

/// Solves the model of a horizon; `plan` gets the sends of a solution.
SolveStatus try_horizon(const Instance& instance, const EpochGrid& grid, const EpochState& state, int horizon,
                        std::vector<EpochSend>& plan, SolverBudget& budget) {
  const EpochModel model = build_model(instance, grid, state, {.horizon = horizon});
  if (model.program.row_count() == 0) return SolveStatus::unknown;
  const SolveResult result = solve_mixed(model.program, SolveGoal::any_solution, budget);
  if (result.status == SolveStatus::feasible) plan = sends_of(model, result.values);
  return result.status;
}

/// Whether a share below 100 % ends the search. At 100 % the horizons decide: none is left to try.
bool is_enough(const Instance& instance, const Found& found, SimTime bound, GoodEnough enough) {
  return enough != GoodEnough{} && found.schedule && enough.reached(last_arrival(instance, *found.schedule), bound);
}

}  // namespace

Found search_whole_chunks(const Instance& instance, const EpochGrid& up, const Schedule& known, SimTime bound,
                          SolverBudget& budget, GoodEnough enough) {
  const EpochState state = first_state(instance);
  Found found;
  int least = least_horizon(instance, up, state);  // every shorter horizon is impossible
  if (up.exact) least = std::max(least, static_cast<int>((bound + up.length - picoseconds(1)) / up.length));
  int most = epochs_of(instance, up, known);  // a plan of as many epochs is known
  int next = least;                           // the horizon that most often is the answer, then bisection
  const auto proven = [&] { return up.exact ? std::max(bound, up.length * least) : bound; };
  while (least < most && !budget.spent() && !is_enough(instance, found, proven(), enough)) {
    std::vector<EpochSend> plan;
    found.solved = true;
    const SolveStatus status = try_horizon(instance, up, state, next, plan, budget);
    if (status == SolveStatus::unknown) break;
    if (status == SolveStatus::infeasible) {
      least = next + 1;
    } else {
      most = next;
      found.epochs = next;
      found.schedule = play(instance, plan);
    }
    next = least + (most - least) / 2;
  }
  if (up.exact) found.bound = up.length * least;
  return found;
}

Found search_rounded_down(const Instance& instance, SimTime length, SimTime known, SimTime bound, SolverBudget& budget,
                          GoodEnough enough) {
  Found found;
  const EpochGrid down = epoch_grid(instance, length, Rounding::down);
  const EpochState state = first_state(instance);
  // Every shorter horizon is impossible.
  int least = std::max(least_horizon(instance, down, state), static_cast<int>(bound / length));
  // The last arrival of a schedule of time T is in epoch floor(T / length).
  int most = static_cast<int>(std::min<std::int64_t>(known / length, kNever));
  const auto ended = [&] { return is_enough(instance, found, std::max(bound, length * least), enough); };
  for (int next = least; least <= most && !budget.spent() && !ended(); next = least + (most - least) / 2) {
    std::vector<EpochSend> plan;
    const SolveStatus status = try_horizon(instance, down, state, next, plan, budget);
    if (status == SolveStatus::unknown) break;
    found.solved = true;
    if (status == SolveStatus::infeasible) {
      least = next + 1;
      continue;
    }
    most = next - 1;
    const auto played = play(instance, plan);
    if (!played || (found.schedule && last_arrival(instance, *played) >= last_arrival(instance, *found.schedule)))
      continue;
    found.schedule = *played;
    found.epochs = next;
  }
  found.bound = std::min(known, length * least);
  return found;
}

Found search_in_rounds(const Instance& instance, const EpochGrid& up, SolverBudget& budget) {
  constexpr int kMostRounds = 1000;
  constexpr int kLeastEpochs = 3;
  const auto vertices = instance.topology.vertices();
  EpochState state = first_state(instance);
  std::vector<EpochSend> all;
  Found found;
  const int epochs = std::max(kLeastEpochs, up.longest_latency + 1);
  for (int round = 0; round < kMostRounds; ++round) {
    if (std::ranges::none_of(state.wanted, [](bool open) { return open; })) {
      found.schedule = make_list_schedule(timed(up, all));
      for (const EpochSend& send : all)
        found.epochs = std::max(found.epochs, send.epoch + up.links[send.link.index()].latency);
      return found;
    }
    if (budget.spent()) return found;
    const EpochModel model = build_model(instance, up, state, {.horizon = epochs, .all = false});
    if (model.sends.empty()) return found;
    found.solved = true;
    // Rounds share what is left of the nodes, so that a hard one does not take all.
    constexpr std::int64_t kShare = 4;
    SolverBudget of_round = budget;
    of_round.nodes = budget.nodes_used + std::max<std::int64_t>(1, (budget.nodes - budget.nodes_used) / kShare);
    const SolveResult result = solve_mixed(model.program, SolveGoal::least_cost, of_round);
    of_round.nodes = budget.nodes;
    budget = of_round;
    if (result.status != SolveStatus::feasible) return found;
    const auto sends = sends_of(model, result.values);
    if (sends.empty()) return found;
    state.under_way.clear();
    for (EpochSend send : sends) {
      const int arrival = send.epoch + up.links[send.link.index()].latency;
      const auto to = send.chunk.index() * vertices + instance.topology.target(send.link).index();
      state.held_from[to] = std::min(state.held_from[to], arrival);
      state.wanted[to] = false;
      state.under_way.push_back({send.epoch - epochs, send.link, send.chunk});
      send.epoch += round * epochs;
      all.push_back(send);
    }
    for (int& epoch : state.held_from)
      if (epoch < kNever) epoch = std::max(0, epoch - epochs);
  }
  return found;
}

}  // namespace tenex::te_ccl
