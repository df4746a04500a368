// Routes, orders and times.
#include "synthesis/synthesizers.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "synthesis/compose.hpp"
#include "synthesis/solvers/plan_player.hpp"
#include "synthesis/taccl/routing.hpp"

namespace tenex {
namespace {

constexpr std::size_t kMostColumns = 60'000;

/// A send, and how far its chunk still has to go and has come, in links.
struct PlacedSend {
  ChunkId chunk;
  LinkId link;
  int ahead = 0;
  int behind = 0;
};

/// The sends of all chunks, those that links prefer first.
std::vector<PlacedSend> in_order(const Instance& instance, const taccl::Routes& routes) {
  std::vector<PlacedSend> places;
  std::vector<int> ahead(instance.topology.vertices()), behind(instance.topology.vertices());
  for (std::size_t c = 0; c < routes.size(); ++c) {
    std::ranges::fill(ahead, 0);
    behind[instance.collective.source(ChunkId::at(c)).index()] = 0;
    const auto source = [&](LinkId link) { return instance.topology.source(link).index(); };
    const auto target = [&](LinkId link) { return instance.topology.target(link).index(); };
    for (auto link = routes[c].rbegin(); link != routes[c].rend(); ++link)
      ahead[source(*link)] = std::max(ahead[source(*link)], ahead[target(*link)] + 1);
    for (const LinkId link : routes[c]) {
      behind[target(link)] = behind[source(link)] + 1;
      places.push_back({ChunkId::at(c), link, ahead[target(link)], behind[source(link)]});
    }
  }
  std::ranges::stable_sort(places, {}, [](const PlacedSend& place) { return std::tuple(-place.ahead, place.behind); });
  return places;
}

/// Each link's sends in their order, each as early as it can be.
std::optional<Schedule> timed(const Instance& instance, const taccl::Routes& routes) {
  std::vector<PlannedSend> plan;
  for (const PlacedSend& place : in_order(instance, routes))
    plan.push_back({.epoch = static_cast<int>(plan.size()), .link = place.link, .chunk = place.chunk});
  return play_plan(instance, plan);
}

Result<Gathered> gather_by_taccl(const SynthesisProblem& problem) {
  if (const auto columns = taccl::most_columns(problem); columns > kMostColumns)
    return unsupported_error({}, fmt::format("{} columns are too many for taccl", columns),
                             fmt::format("it takes up to {}: chunks times links and NPUs", kMostColumns),
                             "choose fewer chunks, or another algorithm");
  if (const auto pair = taccl::unreachable_npus(problem))
    return input_error({},
                       fmt::format("NPU {} cannot be reached from NPU {}", pair->second.value(), pair->first.value()),
                       "no path of links leads there", "add links, or put the NPUs into different process groups");
  auto budget = SolverBudget::of(problem);
  const auto routing = taccl::best_routing(problem, budget);
  const auto schedule = timed(problem, routing.routes);
  ensure(schedule.has_value(), "a tree of links brings its chunk to each of its NPUs");
  auto gathered = without_waste(problem, *schedule);
  gathered.engine = routing.by_solver ? taccl_maker::milp : taccl_maker::shortest;
  gathered.solver = report_of(budget);
  return gathered;
}

}  // namespace

Result<Synthesis> synthesize_taccl(const SynthesisProblem& problem) {
  if (!problem.topology.direct())
    return input_error({}, "the topology has switches", "taccl sends only over direct links between NPUs",
                       "unwind the switches to a degree, for example 1");
  auto made = compose(problem, gather_by_taccl, taccl_maker::milp);
  if (!made) return made;
  // The best routes are proven best under relaxed bandwidth alone, so what is proven of the schedule is a bound's.
  const SimTime bound = quick_bound(problem);
  auto& report = made->solver.emplace(made->solver.value_or(SolverReport()));
  state_proof(report, made->time, bound);
  tell_end(problem.solver_progress, report, made->time);
  return made;
}

std::size_t taccl_bytes(const SynthesisProblem& problem) {
  constexpr double kBytesPerColumn = 4000;
  const auto columns = static_cast<double>(std::min(taccl::most_columns(problem), kMostColumns));
  return static_cast<std::size_t>(kBytesPerColumn * columns + 280 * sends_of_one_pass(problem.collective));
}

Work taccl_work(const SynthesisProblem& problem) {
  return within_limit(problem, {WorkUnit::taccl_column, static_cast<double>(taccl::most_columns(problem))});
}

}  // namespace tenex
