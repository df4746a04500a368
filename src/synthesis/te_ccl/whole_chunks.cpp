// The search for the least number of epochs in which whole chunks arrive.
#include <algorithm>
#include <map>
#include <vector>

#include "synthesis/compose.hpp"
#include "synthesis/solvers/plan_player.hpp"
#include "synthesis/te_ccl/model.hpp"
#include "synthesis/te_ccl/search.hpp"
#include "tenex/schedule/verifier/verifier.hpp"

namespace tenex::te_ccl {

int epochs_of(const Instance& instance, const EpochGrid& grid, const Schedule& schedule) {
  // Starts wait for several links, or for room in a buffer, or hops depend on them: epochs of its time.
  if (instance.topology.wires() != nullptr || limits_buffers(instance.topology) || instance.topology.varies()) {
    const SimTime time = last_arrival(instance, schedule);
    return static_cast<int>(std::min<std::int64_t>((time + grid.length - picoseconds(1)) / grid.length, kNoEpoch));
  }
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
    int epoch = held[from] < kNoEpoch ? held[from] : 0;
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

namespace {

/// Solves a model; `plan` gets the sends of a solution.
SolveStatus solve_wish(const Instance& instance, const EpochGrid& grid, const EpochState& state, const Wish& wish,
                       std::vector<PlannedSend>& plan, SolverBudget& budget, Found& found) {
  const EpochModel model = build_model(instance, grid, state, wish);
  found.too_large = model.program.row_count() == 0;
  if (found.too_large) return SolveStatus::unknown;
  found.solved = true;
  const auto goal = wish.early ? SolveGoal::least_cost : SolveGoal::any_solution;
  const SolveResult result = solve_mixed(model.program, goal, budget);
  if (result.status == SolveStatus::feasible) plan = sends_of(model, result.values);
  return result.status;
}

/// The plan played. nullopt if that fails, also because a chunk that comes sooner than planned finds a full buffer.
std::optional<Schedule> played(const Instance& instance, const std::vector<PlannedSend>& plan) {
  auto schedule = play_plan(instance, plan);
  if (schedule && limits_buffers(instance.topology) && !verify(instance, *schedule).valid()) return std::nullopt;
  return schedule;
}

/// A plan whose hops were rounded up: played, or at its epochs if that is sooner (links that wait for nothing may take
/// a send that delays a more important one).
std::optional<Schedule> schedule_of(const Instance& instance, const EpochGrid& up,
                                    const std::vector<PlannedSend>& plan) {
  auto schedule = played(instance, plan);
  if (instance.topology.wires() != nullptr && !up.exact) return schedule;
  auto at_epochs = make_list_schedule(timed(instance, up, plan));
  if (schedule && last_arrival(instance, *schedule) <= last_arrival(instance, at_epochs)) return schedule;
  return at_epochs;
}

/// Plans of the least horizon differ in what they take in picoseconds: one whose chunks arrive early (TE-CCL's
/// objective) is often sooner. It gets a part of the nodes that are left.
void polish(const Instance& instance, const EpochGrid& up, const EpochState& state, Found& found,
            SolverBudget& budget) {
  SolverBudget part = budget.share();
  std::vector<PlannedSend> plan;
  const Wish wish{.horizon = found.epochs, .early = true, .limits = limits_buffers(instance.topology)};
  const SolveStatus status = solve_wish(instance, up, state, wish, plan, part, found);
  budget.use(part);
  if (status != SolveStatus::feasible) return;
  const auto schedule = schedule_of(instance, up, plan);
  if (schedule && last_arrival(instance, *schedule) < last_arrival(instance, *found.schedule))
    found.schedule = schedule;
}

/// Whether a share below 100 % ends the search. At 100 % the horizons decide: none is left to try.
bool is_enough(const Instance& instance, const Found& found, SimTime bound, GoodEnough enough) {
  return enough != GoodEnough{} && found.schedule && enough.reached(last_arrival(instance, *found.schedule), bound);
}

/// A switch that does not copy has nothing left of a chunk that it sent on as often as it received it; of several
/// arrivals it keeps the latest.
void forget_what_left(const Topology& topology, const EpochGrid& up, const std::vector<PlannedSend>& sends,
                      EpochState& state) {
  struct Traffic {
    int left = 0;  ///< sends less arrivals of this round
    int latest = 0;
  };
  std::map<std::pair<std::size_t, std::size_t>, Traffic> traffic;  // by chunk and switch
  const auto keeps_none = [&](VertexId vertex) {
    return !topology.is_npu(vertex) && !topology.switch_properties(vertex).copy;
  };
  for (const PlannedSend& send : sends) {
    const VertexId from = topology.source(send.link);
    const VertexId to = topology.target(send.link);
    if (keeps_none(from)) ++traffic[{send.chunk.index(), from.index()}].left;
    if (!keeps_none(to)) continue;
    Traffic& there = traffic[{send.chunk.index(), to.index()}];
    --there.left;
    there.latest = std::max(there.latest, send.epoch + up.links[send.link.index()].latency);
  }
  for (const auto& [place, what] : traffic)
    state.held_from[place.first * topology.vertices() + place.second] = what.left >= 0 ? kNoEpoch : what.latest;
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
    std::vector<PlannedSend> plan;
    const Wish wish{.horizon = next, .limits = limits_buffers(instance.topology)};
    const SolveStatus status = solve_wish(instance, up, state, wish, plan, budget, found);
    if (status == SolveStatus::unknown) break;
    if (status == SolveStatus::infeasible) {
      least = next + 1;
      budget.learn_bound(proven());
    } else {
      most = next;
      // Sends at the starts of their epochs are a schedule, and a plan of fewer epochs will be one, too.
      if (!wish.limits && (up.exact || instance.topology.wires() == nullptr)) budget.learn_time(up.length * next, next);
      found.epochs = next;
      found.schedule = schedule_of(instance, up, plan);
    }
    next = least + (most - least) / 2;
  }
  if (up.exact)
    found.bound = up.length * least;
  else if (found.schedule && !budget.spent() && !is_enough(instance, found, proven(), enough))
    polish(instance, up, state, found, budget);
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
  int most = static_cast<int>(std::min<std::int64_t>(known / length, kNoEpoch));
  const auto ended = [&] { return is_enough(instance, found, std::max(bound, length * least), enough); };
  for (int next = least; least <= most && !budget.spent() && !ended(); next = least + (most - least) / 2) {
    std::vector<PlannedSend> plan;
    const SolveStatus status = solve_wish(instance, down, state, {.horizon = next}, plan, budget, found);
    if (status == SolveStatus::unknown) break;
    if (status == SolveStatus::infeasible) {
      least = next + 1;
      budget.learn_bound(std::min(known, length * least));
      continue;
    }
    most = next - 1;
    const auto schedule = played(instance, plan);
    if (!schedule || (found.schedule && last_arrival(instance, *schedule) >= last_arrival(instance, *found.schedule)))
      continue;
    found.schedule = schedule;
    found.epochs = next;
    if (!limits_buffers(instance.topology)) budget.learn_time(last_arrival(instance, *schedule), next);
  }
  found.bound = std::min(known, length * least);
  return found;
}

Found search_unbuffered(const Instance& instance, const EpochGrid& up, int most, SolverBudget& budget) {
  const EpochState state = first_state(instance);
  Found found;
  for (int next = least_horizon(instance, up, state); next <= most && !budget.spent(); ++next) {
    std::vector<PlannedSend> plan;
    const Wish wish{.horizon = next, .limits = limits_buffers(instance.topology), .waits = false};
    const SolveStatus status = solve_wish(instance, up, state, wish, plan, budget, found);
    if (status == SolveStatus::infeasible) continue;
    if (status == SolveStatus::unknown) break;
    found.schedule = make_list_schedule(timed(instance, up, plan));
    found.epochs = next;
    break;
  }
  return found;
}

Found search_in_rounds(const Instance& instance, const EpochGrid& up, SolverBudget& budget) {
  constexpr int kMostRounds = 1000;
  constexpr int kLeastEpochs = 3;
  const auto vertices = instance.topology.vertices();
  EpochState state = first_state(instance);
  std::vector<PlannedSend> all;
  Found found;
  const int epochs = std::max(kLeastEpochs, up.longest_latency + 1);
  for (int round = 0; round < kMostRounds; ++round) {
    if (std::ranges::none_of(state.wanted, [](bool open) { return open; })) {
      found.schedule = schedule_of(instance, up, all);
      for (const PlannedSend& send : all)
        found.epochs = std::max(found.epochs, send.epoch + up.links[send.link.index()].latency);
      return found;
    }
    if (budget.spent()) return found;
    const EpochModel model = build_model(instance, up, state, {.horizon = epochs, .all = false});
    if (model.sends.empty()) return found;
    found.solved = true;
    SolverBudget of_round = budget.share();  // so that a hard round does not take all
    const SolveResult result = solve_mixed(model.program, SolveGoal::least_cost, of_round);
    budget.use(of_round);
    if (result.status != SolveStatus::feasible) return found;
    const auto sends = sends_of(model, result.values);
    if (sends.empty()) return found;
    state.under_way.clear();
    for (PlannedSend send : sends) {
      const int arrival = send.epoch + up.links[send.link.index()].latency;
      const auto to = send.chunk.index() * vertices + instance.topology.target(send.link).index();
      state.held_from[to] = std::min(state.held_from[to], arrival);
      state.wanted[to] = false;
      state.under_way.push_back({send.epoch - epochs, send.link, send.chunk});
      send.epoch += round * epochs;
      all.push_back(send);
    }
    forget_what_left(instance.topology, up, sends, state);
    for (int& epoch : state.held_from)
      if (epoch < kNoEpoch) epoch = std::max(0, epoch - epochs);
  }
  return found;
}

}  // namespace tenex::te_ccl
