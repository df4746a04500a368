// Choices of levels take turns, and with them paces and rarity.
#include "synthesis/tacos/event_driven/by_dimension.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "synthesis/relays.hpp"
#include "synthesis/tacos/event_driven/dimension_levels.hpp"
#include "synthesis/tacos/event_driven/event_driven.hpp"
#include "synthesis/tacos/event_driven/gather_engine.hpp"
#include "synthesis/tacos/event_driven/replay_sends.hpp"
#include "tenex/bound/bound.hpp"

namespace tenex {
namespace {

/// The settings of an attempt: levels turn fastest, then rarity.
struct Turn {
  std::size_t levels = 0;
  Pace pace = Pace::as_it_is;
  bool rare_first = false;
};

Turn turn_of(const SynthesisProblem& problem, std::size_t levels, std::uint32_t attempt) {
  const std::size_t round = attempt / levels;
  Turn turn{attempt % levels, Pace::as_it_is, round % 2 == 1};
  // Where alpha lets sends overlap, steps in lockstep often fit together better.
  if (problem.occupancy == Occupancy::serialization && attempt % 2 == 0) turn.pace = Pace::until_arrival;
  return turn;
}

}  // namespace

std::string by_dimension_unsuitable(const SynthesisProblem& problem) {
  if (problem.collective.kind() != CollectiveKind::all_gather) return "one chunk has no other to leave links to";
  if (dimension_levels(problem).empty()) return "the topology is no product of unlike dimensions";
  return {};
}

Result<Gathered> gather_by_dimension(const SynthesisProblem& problem) {
  auto participants = find_participants(problem.topology, problem.collective);
  if (!participants) return participants.errors();
  const auto levels = dimension_levels(problem);
  const GatherSetup as_it_is(problem, *participants);
  const SimTime bound = best_cheap_bound({problem.topology, problem.collective, problem.occupancy, true}).time;
  const Digest key = synthesis_key(problem);
  Gathered best;
  best.time = SimTime::max();
  std::vector<TentativeSend> best_sends;
  for (std::uint32_t attempt = 0; attempt < std::max(1U, problem.attempts) && best.time > bound; ++attempt) {
    const Turn turn = turn_of(problem, levels.size(), attempt);
    const GatherSetup setup(problem, *participants, as_it_is.relays ? Pace::as_it_is : turn.pace, levels[turn.levels]);
    GatherEngine engine(setup);
    SimTime time = engine.run(attempt_stream(problem.seed, key, attempt), Reach::cluster, turn.rare_first);
    if (turn.pace != Pace::as_it_is && !as_it_is.relays) time = replay_sends(as_it_is, engine.sends());
    if (time >= best.time) continue;
    best.time = time;
    best.best_attempt = attempt;
    best_sends.swap(engine.sends());
  }
  best.schedule = make_list_schedule(to_sends(std::move(best_sends)));
  if (!as_it_is.relays) return best;
  Gathered pruned = without_waste(problem, best.schedule);
  pruned.best_attempt = best.best_attempt;
  return pruned;
}

std::size_t by_dimension_bytes(const SynthesisProblem& problem) { return 4 * event_driven_bytes(problem); }

Work by_dimension_work(const SynthesisProblem& problem) {
  if (!problem.topology.homogeneous()) return event_driven_work(problem);
  const double passes = problem.collective.kind() == CollectiveKind::all_reduce ? 2 : 1;
  return event_driven_work(problem) +
         Work(WorkUnit::event_send_by_levels, passes * problem.attempts * sends_of_one_pass(problem.collective));
}

}  // namespace tenex
