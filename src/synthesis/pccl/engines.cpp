#include "synthesis/pccl/engines.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "synthesis/compose.hpp"
#include "synthesis/pccl/balanced/balanced.hpp"
#include "synthesis/pccl/grid/grid.hpp"
#include "synthesis/pccl/orbit/orbit.hpp"
#include "synthesis/pccl/paths/paths.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/schedule/timing/retime.hpp"
#include "tenex/schedule/views/views.hpp"
#include "tenex/synthesis/synthesizer.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex {
namespace {

// Groups with different collectives side by side, some of which reduce.
//
// Idea: what copies is planned on the topology, all groups together. What reduces is planned as what would copy the
// other way, all groups together, on the reversed topology, and reversed in time (the ASTRA-sim2.0 thesis, section
// 6.4.5). Both plans then begin at time zero; an All-Reduce's gather begins when its group's sums are complete. Where
// sends of both plans meet on a link, they take turns in the order of their planned starts, and all sends are re-timed.

/// One group under another kind with the same chunks.
struct GroupRole {
  GroupId group;
  CollectiveKind kind;
};

/// The kind whose time reversal is the reduction.
CollectiveKind copying_partner(CollectiveKind kind) {
  return kind == CollectiveKind::reduce ? CollectiveKind::broadcast : CollectiveKind::all_gather;
}

/// What is copied: groups that only copy, and the second half of All-Reduces.
std::vector<GroupRole> copying_roles(const Collective& collective) {
  std::vector<GroupRole> roles;
  for (std::size_t g = 0; g < collective.groups().size(); ++g) {
    const auto kind = collective.kind(GroupId::at(g));
    if (kind == CollectiveKind::all_reduce) roles.push_back({GroupId::at(g), CollectiveKind::all_gather});
    if (!reduces(kind)) roles.push_back({GroupId::at(g), kind});
  }
  return roles;
}

/// What is reduced, as the copies of which it is the time reversal.
std::vector<GroupRole> reducing_roles(const Collective& collective) {
  std::vector<GroupRole> roles;
  for (std::size_t g = 0; g < collective.groups().size(); ++g)
    if (const auto kind = collective.kind(GroupId::at(g)); reduces(kind))
      roles.push_back({GroupId::at(g), copying_partner(kind)});
  return roles;
}

Collective of_roles(const Collective& collective, const std::vector<GroupRole>& roles) {
  CollectiveRequest request;
  request.npus = collective.npus();
  for (const auto& [group, kind] : roles) {
    ProcessGroup part{collective.groups()[group.index()].members};
    part.kind = kind;
    part.size = collective.size(group);
    part.chunks = collective.chunks_per_npu(group);
    part.root = collective.root(group);
    if (const auto stored = collective.conditions(group); !stored.empty())
      part.conditions = std::make_shared<const std::vector<Condition>>(stored.begin(), stored.end());
    request.groups.push_back(std::move(part));
  }
  return Collective::make(std::move(request)).value();
}

/// One of the two plans.
struct Plan {
  std::vector<Send> sends;  ///< with the chunks of the whole collective
  SimTime time;
  std::uint32_t best_attempt = 0;
  std::uint64_t pruned_waste = 0;
  std::string left_out;
};

class SideBySide {
 public:
  SideBySide(const SynthesisProblem& problem, Gatherer gather) : problem_(problem), gather_(gather) {}

  Result<Synthesis> run(std::string_view engine) {
    auto reduction = plan(problem_.topology.mirrored(), reducing_roles(problem_.collective), true);
    if (!reduction) return reduction.errors();
    auto copies = plan(problem_.topology, copying_roles(problem_.collective), false);
    if (!copies) return copies.errors();
    Synthesis synthesis;
    synthesis.engine = std::string(engine);
    synthesis.best_attempt = copies->best_attempt;
    synthesis.pruned_waste = reduction->pruned_waste + copies->pruned_waste;
    synthesis.left_out = reduction->left_out + copies->left_out;
    delay_gathers(*reduction, *copies);
    auto sends = std::move(reduction->sends);
    sends.insert(sends.end(), copies->sends.begin(), copies->sends.end());
    synthesis.schedule = make_list_schedule(std::move(sends));
    if (!limits_buffers(problem_.topology)) synthesis.schedule = retime(problem_, synthesis.schedule);
    synthesis.without_overlap = synthesis.schedule;
    synthesis.time = synthesis.time_without_overlap = last_arrival(problem_, synthesis.schedule);
    return synthesis;
  }

 private:
  [[nodiscard]] Result<Plan> plan(const Topology& topology, const std::vector<GroupRole>& roles, bool reverse) const {
    if (roles.empty()) return Plan{};
    const Collective collective = of_roles(problem_.collective, roles);
    SynthesisProblem part{{topology, collective, problem_.occupancy}, problem_, problem_.threads};
    part.memory_limit_bytes = problem_.memory_limit_bytes;
    auto gathered = gather_(part);
    if (!gathered) return gathered.errors();
    if (reverse) *gathered = keep_rest(*gathered, without_waste(part, gathered->schedule));
    const Instance forward{problem_.topology, collective, problem_.occupancy};
    const Schedule schedule = reverse ? reversed(forward, gathered->schedule) : gathered->schedule;
    Plan made{list_sends(schedule), gathered->time, gathered->best_attempt, gathered->pruned_waste,
              std::move(gathered->left_out)};
    for (Send& send : made.sends) {
      const auto [group, kind] = roles[collective.group_of(send.chunk).index()];
      send.chunk = ChunkId(send.chunk.value() - collective.first_chunk(collective.group_of(send.chunk)).value() +
                           problem_.collective.first_chunk(group).value());
    }
    return made;
  }

  static Gathered keep_rest(const Gathered& made, Gathered pruned) {
    pruned.best_attempt = made.best_attempt;
    pruned.left_out = made.left_out;
    return pruned;
  }

  /// The gather of an All-Reduce begins when the sums of its group are complete. Over switches all copies begin after
  /// all reductions: the two plans may share links only where re-timing puts sends in turn that overlap, which it does
  /// for direct links alone.
  void delay_gathers(const Plan& reduction, Plan& copies) const {
    const auto& collective = problem_.collective;
    const bool in_turn = !problem_.topology.direct();
    std::vector<SimTime> complete(collective.groups().size(), in_turn ? reduction.time : SimTime::zero());
    for (const Send& send : reduction.sends) {
      const auto hop = hop_time(problem_.topology.classes()[problem_.topology.class_of(send.link)],
                                collective.chunk_bytes(send.chunk), problem_.occupancy);
      auto& last = complete[collective.group_of(send.chunk).index()];
      last = std::max(last, send.start + hop.latency);
    }
    for (Send& send : copies.sends) send.start += complete[collective.group_of(send.chunk).index()];
  }

  const SynthesisProblem& problem_;
  Gatherer gather_;
};

/// Synthesizes groups of any kinds with a gatherer that plans any collective that copies. Errors: the gatherer's.
Result<Synthesis> compose_side_by_side(const SynthesisProblem& problem, Gatherer gather, std::string_view engine) {
  return SideBySide(problem, gather).run(engine);
}

/// Routes one condition after the other, with the relays and passes that the problem asks for.
Result<Gathered> gather_with(const SynthesisProblem& problem, PathsOptions options) {
  const auto improves = [&](Improvement one) { return problem.improve == one || problem.improve == Improvement::all; };
  options.outside = problem.relays == Relays::any;
  options.retime = improves(Improvement::retime);
  if (!improves(Improvement::reroute)) options.reroute_effort = 0;
  auto plan = plan_paths(problem, options);
  if (!plan) return plan.errors();
  for (const PathsPass& pass : plan->report.passes) {
    auto& run = plan->gathered.run;
    if (run.searched_time_ps < 0) {
      run.searched_time_ps = pass.before.count();
      run.retime_gain_ps = run.reroute_gain_ps = run.rerouted = 0;
    }
    const bool reroutes = pass.name == "reroute";
    if (reroutes) run.rerouted = static_cast<std::int64_t>(pass.work);
    (reroutes ? run.reroute_gain_ps : run.retime_gain_ps) += (pass.before - pass.after).count();
  }
  return std::move(plan->gathered);
}

/// Plans near the bound are improved, too.
Result<Gathered> gather_to_the_end(const SynthesisProblem& problem) {
  return gather_with(problem, {.close_to_bound = 2000});
}

Result<Gathered> gather_as_asked(const SynthesisProblem& problem) { return gather_with(problem, {}); }

/// What a search may weigh whose plans are improved though they are near the bound: they take no time to speak of.
constexpr double kWeightToTheEnd = 0.1;

/// Not half of an All-Reduce: what is gained near its bound may be less than what halves then lose by overlapping less
/// (SW(8), 64 KiB in 16 chunks: a quarter of the time).
bool goes_to_the_end(const SynthesisProblem& problem) {
  return problem.collective.kind() != CollectiveKind::all_reduce && paths_work(problem).weight() <= kWeightToTheEnd;
}

Result<Synthesis> synthesize_paths(const SynthesisProblem& problem) {
  const auto& collective = problem.collective;
  if (collective.kind() == CollectiveKind::mixed && collective.has_sums())
    return compose_side_by_side(problem, gather_as_asked, pccl_engine::paths);
  return compose(problem, goes_to_the_end(problem) ? gather_to_the_end : gather_as_asked, pccl_engine::paths);
}

Result<Synthesis> synthesize_grid(const SynthesisProblem& problem) {
  return compose(problem, grid_all_to_all, pccl_engine::grid);
}

Result<Synthesis> synthesize_balanced(const SynthesisProblem& problem) {
  return compose(problem, balance_unicasts, pccl_engine::balanced);
}

/// Whether only members may relay although others could. The engines that move one plan and the one that balances ways
/// take all NPUs as relays, and have only members where one group has them all.
std::optional<std::string> forbids_relays(const SynthesisProblem& problem) {
  const auto& groups = problem.collective.groups();
  const bool all = groups.size() == 1 && groups.front().members.size() == problem.topology.npus();
  if (problem.relays == Relays::any || all) return std::nullopt;
  return "it does not keep to the members of process groups";
}

std::optional<std::string> orbit_refusal(const SynthesisProblem& problem) {
  if (auto reason = forbids_relays(problem)) return reason;
  return pccl_orbit_unsuitable(problem);
}

std::optional<std::string> balanced_refusal(const SynthesisProblem& problem) {
  if (auto reason = forbids_relays(problem)) return reason;
  return balanced_unsuitable(problem);
}

}  // namespace

const std::vector<SynthesisEngine>& pccl_engines() {
  static const std::vector<SynthesisEngine> table = {
      {pccl_engine::orbit, orbit_refusal, synthesize_pccl_orbit, pccl_orbit_bytes, pccl_orbit_work},
      {pccl_engine::grid, grid_unsuitable, synthesize_grid, grid_bytes, grid_work},
      {pccl_engine::balanced, balanced_refusal, synthesize_balanced, balanced_bytes, balanced_work},
      {pccl_engine::paths, paths_unsuitable, synthesize_paths, paths_bytes, paths_work},
  };
  return table;
}

// The registry entry `pccl`: an engine for the whole collective.
//
// `auto` takes the first engine that suits. Small problems are also routed condition by condition, which may be a
// little better where a plan for all NPUs must round, and again in more orders than were asked for; the best one is
// kept, the first among equals.

namespace {

/// By estimates from sizes alone, so that the choice is the same everywhere.
constexpr double kWeightToTryPaths = 0.25;
/// Over plain switches that cut through the plan for all NPUs is near the bound of their ports, and a search looks at
/// every physical link that a path shares, which its estimate does not count. Only the search uses switches that copy
/// or add.
constexpr double kWeightToTryPathsOverWires = 0.005;
/// Over switches that store and forward the plan for all NPUs loses nothing where they copy, and does not exist where
/// they could add and copy. Trees that grow destination by destination take some times their estimate.
constexpr double kWeightToTryPathsOverSwitches = 0.05;

bool any_copies_or_adds(const Topology& network) {
  for (std::size_t v = network.npus(); v < network.vertices(); ++v) {
    const SwitchProperties& properties = network.switch_properties(VertexId::at(v));
    if (properties.copy || properties.reduce) return true;
  }
  return false;
}

double most_weight_to_try_paths(const Topology& topology) {
  if (topology.switches() > 0) return kWeightToTryPathsOverSwitches;
  const Wires* wires = topology.wires();
  return wires != nullptr && !any_copies_or_adds(wires->network()) ? kWeightToTryPathsOverWires : kWeightToTryPaths;
}

/// Balanced ways are whole, and their order on links is left to chance. The search, which takes some ten times as long,
/// is tried after them at more weight while they are farther from the bound than one part in so many; at still more
/// where it is waiting that makes them long: by more than one part in so many of the busiest link's time.
constexpr double kWeightToTryPathsWhileFar = 1;
constexpr std::int64_t kNearBound = 100;
constexpr double kWeightToTryPathsWhileWaiting = 20;
constexpr std::int64_t kLittleWaiting = 20;

/// The weight up to which the search is tried after a schedule.
double weight_to_try_paths_after(const SynthesisProblem& problem, const Synthesis& made, SimTime bound) {
  if (made.time <= bound + bound / kNearBound) return most_weight_to_try_paths(problem.topology);
  const SimTime least = std::max(bound, made.rate_time);
  // Amounts that are much alike come to switches at about one instant, where balanced ways wait.
  if (problem.topology.switches() > 0)
    return made.time <= least + least / kNearBound ? most_weight_to_try_paths(problem.topology)
                                                   : kWeightToTryPathsWhileFar;
  return made.time <= least + least / kLittleWaiting ? kWeightToTryPathsWhileFar : kWeightToTryPathsWhileWaiting;
}

/// More attempts where the search is the engine that suits: they take about as long again as the one before.
constexpr double kWeightOfMorePathAttempts = 0.03;
/// The attempts of `auto`, in orders that the same seed draws.
constexpr std::uint32_t kAttemptsOfAuto = 8;

/// The problems that `auto` also routes condition by condition: with its attempts, and with more where they take no
/// time to speak of. A plan of more attempts is no worse before it is improved; after that it may be, so both are made.
std::vector<SynthesisProblem> problems_for_paths(const SynthesisProblem& problem, const SynthesisEngine& chosen) {
  std::vector<SynthesisProblem> problems;
  if (problem.engine != kAutomaticEngine || paths_unsuitable(problem)) return problems;
  const bool routes = chosen.name == pccl_engine::paths;
  const double few = std::max(most_weight_to_try_paths(problem.topology), routes ? kWeightOfMorePathAttempts : 0);
  // A Scatter or Gather is at the bound of its root.
  const bool balances = chosen.name == pccl_engine::balanced && !has_root(problem.collective.kind());
  const double while_waiting =
      problem.topology.switches() > 0 ? kWeightToTryPathsWhileFar : kWeightToTryPathsWhileWaiting;
  const double first = balances ? while_waiting : few;
  for (const std::uint32_t attempts : {problem.attempts, kAttemptsOfAuto}) {
    const bool again = (routes || !problems.empty()) && attempts <= problem.attempts;
    if (again) continue;
    SynthesisProblem routed = problem;
    routed.attempts = attempts;
    const double most_weight = attempts == problem.attempts ? first : few;
    if (paths_work(routed).weight() <= most_weight && paths_bytes(routed) <= problem.memory_limit_bytes)
      problems.push_back(std::move(routed));
  }
  return problems;
}

}  // namespace

Result<Synthesis> synthesize_pccl(const SynthesisProblem& problem) {
  const auto engine = choose_engine(pccl_engines(), problem);
  if (!engine) return engine.errors();
  auto made = (*engine)->synthesize(problem);
  if (!made) return made;
  const SimTime bound = best_cheap_bound({problem, true}).time;
  for (const SynthesisProblem& other : problems_for_paths(problem, **engine)) {
    if (made->time <= bound) break;
    if (paths_work(other).weight() > weight_to_try_paths_after(problem, *made, bound)) continue;
    auto routed = pccl_engines().back().synthesize(other);
    if (routed && routed->time < made->time) made = std::move(routed);
  }
  return made;
}

std::size_t pccl_bytes(const SynthesisProblem& problem) {
  const auto chosen = choose_engine(pccl_engines(), problem);
  const SynthesisEngine& engine = chosen ? **chosen : pccl_engines().back();
  // Of what the engine took, its schedule is kept while paths are searched: about a half.
  const std::size_t bytes = engine.bytes(problem);
  std::size_t most = bytes;
  for (const auto& other : problems_for_paths(problem, engine)) most = std::max(most, bytes / 2 + paths_bytes(other));
  return most;
}

Work pccl_work(const SynthesisProblem& problem) {
  const auto chosen = choose_engine(pccl_engines(), problem);
  const SynthesisEngine& engine = chosen ? **chosen : pccl_engines().back();
  Work work = engine.work(problem);
  for (const auto& other : problems_for_paths(problem, engine)) work += paths_work(other);
  return work;
}

}  // namespace tenex
