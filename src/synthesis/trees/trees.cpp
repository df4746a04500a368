// The registry entry `trees`: an engine for the whole collective. `auto` takes the first that suits, or a later one
// that is better: it tries those that are fast, and slower ones as long as the best schedule so far is far from its
// bound.

#include "synthesis/trees/trees.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "synthesis/compose.hpp"
#include "synthesis/trees/engines.hpp"
#include "synthesis/trees/player.hpp"
#include "synthesis/trees/tree_network.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/synthesis/synthesizer.hpp"
#include "tenex/topology/distance.hpp"
#include "tenex/topology/transform.hpp"

namespace tenex {
namespace {

// A problem without the NPUs that have no links: those that have failed. Trees span all NPUs of a topology.

/// The problem on the NPUs that have links, in the order of their ids, where all others have failed and are in no
/// group. Links and chunks keep their ids, so its schedules are schedules of the given problem.
class WithoutIsolated {
 public:
  /// `given` must outlive it. O(vertices + links) where an NPU has no links, else O(NPUs).
  explicit WithoutIsolated(const SynthesisProblem& given);
  /// The given problem itself where every NPU has a link.
  [[nodiscard]] const SynthesisProblem& problem() const { return smaller_ ? smaller_->problem : given_; }

  /// An NPU of problem() by its id in the given problem.
  [[nodiscard]] NpuId given_npu(NpuId npu) const { return smaller_ ? NpuId(kept_[npu.index()].value()) : npu; }

 private:
  struct Smaller {
    Smaller(Topology of, Collective what, const SynthesisProblem& given)
        : topology(std::move(of)),
          collective(std::move(what)),
          problem(Instance{topology, collective, given.occupancy}, given, given.threads) {}
    Topology topology;
    Collective collective;
    SynthesisProblem problem;
  };

  const SynthesisProblem& given_;
  std::vector<VertexId> kept_;  ///< the given vertices, by their ids in `smaller_`
  std::unique_ptr<const Smaller> smaller_;
};

/// The vertices that stay, by their new ids: all switches, and the NPUs with links.
std::vector<VertexId> vertices_with_links(const Topology& topology) {
  std::vector<VertexId> kept;
  for (std::size_t v = 0; v < topology.vertices(); ++v)
    if (v >= topology.npus() || !is_isolated(topology, VertexId::at(v))) kept.push_back(VertexId::at(v));
  return kept;
}

/// The collective of one group whose members have other names.
Collective renamed(const Collective& collective, std::size_t npus, const std::vector<VertexId>& name) {
  auto groups = collective.groups();
  for (NpuId& member : groups.front().members) member = NpuId(name[member.index()].value());
  return Collective::make({collective.kind(), npus, std::move(groups), collective.chunks_per_npu(), collective.size(),
                           collective.root()})
      .value();
}

WithoutIsolated::WithoutIsolated(const SynthesisProblem& given) : given_(given) {
  const Topology& topology = given.topology;
  const Collective& collective = given.collective;
  const bool plain = topology.wires() == nullptr && !topology.varies() && !stores_conditions(collective.kind());
  if (!plain || collective.groups().size() != 1) return;
  if (collective.groups().front().members.size() == topology.npus()) return;
  const auto kept = vertices_with_links(topology);
  if (kept.size() == topology.vertices()) return;
  std::vector<VertexId> name(topology.vertices(), VertexId::none());
  for (std::size_t v = 0; v < kept.size(); ++v) name[kept[v].index()] = VertexId::at(v);
  const auto has_name = [&](NpuId npu) { return name[npu.index()].exists(); };
  if (!std::ranges::all_of(collective.groups().front().members, has_name)) return;
  auto without = keep_vertices(topology, kept);
  auto of_rest = renamed(collective, without.npus(), name);
  auto smaller = std::make_unique<Smaller>(std::move(without), std::move(of_rest), given);
  smaller->problem.memory_limit_bytes = given.memory_limit_bytes;
  smaller->problem.solver_progress = given.solver_progress;
  for (const StartDelay& delay : given.start_delays)
    if (has_name(delay.npu))
      smaller->problem.start_delays.push_back({NpuId(name[delay.npu.index()].value()), delay.time});
  kept_ = kept;
  smaller_ = std::move(smaller);
}

}  // namespace

const std::vector<SynthesisEngine>& trees_engines() {
  static const std::vector<SynthesisEngine> table = {
      {trees_engine::combs, combs_unsuitable, synthesize_combs, combs_bytes, combs_work, combs_period_sends},
      {trees_engine::capped, capped_unsuitable, synthesize_capped, capped_bytes, capped_work},
      {trees_engine::queued, queued_unsuitable, synthesize_queued, queued_bytes, queued_work},
      {trees_engine::packed, packed_unsuitable, synthesize_packed, packed_bytes, packed_work, packed_period_sends},
      {trees_engine::in_switch, in_switch_unsuitable, synthesize_in_switch, in_switch_bytes, in_switch_work},
      {trees_engine::cut_rate, cut_rate_unsuitable, synthesize_cut_rate, cut_rate_bytes, cut_rate_work},
  };
  return table;
}

namespace {

/// What a further engine may weigh to be tried. By estimates from sizes alone, so that the choice is the same
/// everywhere.
constexpr double kWeightToTry = 3.2;
/// The same while the best schedule so far is far from its bound.
constexpr double kWeightWhileFar = 40;
/// A schedule is near its bound if the bound is at least this part of its time.
constexpr std::int64_t kNearPercent = 98;

/// Beside `capped`, `packed` has won only where no schedule comes near its bound: where latency rules
/// (experiments/all_reduce: 64 KiB on torus(8,8,8), and in 64 chunks on trn2_ultraserver, 5 and 19 % shorter).
constexpr std::int64_t kPackedBelowPercent = 80;

bool is_near(SimTime time, SimTime bound, std::int64_t percent = kNearPercent) { return time / 100 * percent <= bound; }

bool contains(const std::vector<const SynthesisEngine*>& engines, std::string_view name) {
  return std::ranges::find(engines, name, &SynthesisEngine::name) != engines.end();
}

/// The engines that suit and that the problem does not exclude by a name. The last one if none does, so that estimates
/// never fail.
std::vector<const SynthesisEngine*> suitable_engines(const SynthesisProblem& problem) {
  std::vector<const SynthesisEngine*> engines;
  for (const SynthesisEngine& engine : trees_engines()) {
    if (problem.engine != kAutomaticEngine && problem.engine != engine.name) continue;
    if (!engine.unsuitable(problem)) engines.push_back(&engine);
  }
  // Where `capped` suits, `queued` is left out if it does not justify.
  if (contains(engines, trees_engine::capped) && !queued_justifies(problem))
    std::erase_if(engines, [](const auto* each) { return each->name == trees_engine::queued; });
  if (engines.empty()) engines.push_back(&trees_engines().back());
  return engines;
}

/// Whether an engine after the first may be tried: it takes neither too long, nor more memory than is left beside the
/// schedule of the first.
bool may_try(const SynthesisProblem& problem, const SynthesisEngine& first, const SynthesisEngine& engine) {
  return engine.work(problem).weight() <= kWeightWhileFar &&
         first.bytes(problem) + engine.bytes(problem) <= problem.memory_limit_bytes;
}

/// The first that suits, and those after it that may be tried.
std::vector<const SynthesisEngine*> engines_to_run(const SynthesisProblem& problem) {
  auto engines = suitable_engines(problem);
  const SynthesisEngine& first = *engines.front();
  std::erase_if(engines, [&](const auto* each) { return each != &first && !may_try(problem, first, *each); });
  return engines;
}

/// Tries the engines after the first one, and keeps the best schedule. Says which might have made a better one, but
/// were not tried.
void improve(const SynthesisProblem& problem, const SynthesisEngine* first, Result<Synthesis>& best) {
  const auto engines = suitable_engines(problem);
  if (engines.size() == 1) return;
  const SimTime bound = best_cheap_bound({problem, true, true, problem.start_delays}).time;
  const bool packed_late = contains(engines, trees_engine::capped);
  std::string left_out;
  for (const SynthesisEngine* engine : engines) {
    if (!best || engine == first || problem.good_enough.reached(best->time, bound)) continue;
    if (packed_late && engine->name == trees_engine::packed && is_near(best->time, bound, kPackedBelowPercent))
      continue;
    if (is_near(best->time, bound) && engine->work(problem).weight() > kWeightToTry) continue;
    if (!may_try(problem, *first, *engine)) {
      left_out += fmt::format("{}the engine {} was not tried: it is expected to take {:.0f} s and {} bytes",
                              left_out.empty() ? "" : "; ", engine->name, engine->work(problem).seconds(),
                              engine->bytes(problem));
      continue;
    }
    auto made = engine->synthesize(problem);
    if (made && made->time < best->time) best = std::move(made);
  }
  if (best && !is_near(best->time, bound)) best->left_out = left_out;
}

}  // namespace

Result<Synthesis> synthesize_trees(const SynthesisProblem& given) {
  for (const auto& [npu, time] : given.start_delays)
    if (npu.index() >= given.topology.npus())
      return input_error({}, fmt::format("late NPU {} does not exist", npu.value()),
                         fmt::format("the topology has {} NPUs", given.topology.npus()), "name another one");
  const WithoutIsolated left(given);
  const SynthesisProblem& problem = left.problem();
  // NPUs that cannot be reached are told before any engine is.
  if (const auto pair = find_unreachable_npus(problem))
    return input_error({},
                       fmt::format("NPU {} cannot be reached from NPU {}", left.given_npu(pair->second).value(),
                                   left.given_npu(pair->first).value()),
                       "no path of links leads there, and trees need one",
                       "add links, or put the NPUs into different process groups");
  const auto engine = choose_engine(trees_engines(), problem);
  if (!engine) return engine.errors();
  auto best = (*engine)->synthesize(problem);
  improve(problem, *engine, best);
  return best;
}

/// Engines run one after another while the best schedule so far is held, with an All-Reduce's schedule in halves.
std::size_t trees_bytes(const SynthesisProblem& given) {
  const WithoutIsolated left(given);
  const SynthesisProblem& problem = left.problem();
  std::array<std::size_t, 2> largest = {0, 0};
  for (const SynthesisEngine* engine : engines_to_run(problem)) {
    const std::size_t bytes = engine->bytes(problem);
    largest = {std::max(largest[0], bytes), std::max(largest[1], std::min(largest[0], bytes))};
  }
  const double passes = problem.collective.kind() == CollectiveKind::all_reduce ? 3 : 1;
  const double sends =
      passes * sends_of_one_pass(problem.collective) * static_cast<double>(links_per_way(problem.topology));
  const std::size_t held = (std::size_t{1} << 20) + played_schedule_bytes(static_cast<std::uint64_t>(sends));
  return largest[0] + std::min(largest[1], held);
}

Work trees_work(const SynthesisProblem& given) {
  const WithoutIsolated left(given);
  const SynthesisProblem& problem = left.problem();
  Work work;
  for (const SynthesisEngine* engine : engines_to_run(problem)) work += engine->work(problem);
  return work;
}

std::optional<double> trees_period_sends(const SynthesisProblem& given) {
  const WithoutIsolated left(given);
  const SynthesisProblem& problem = left.problem();
  double most = 0;
  for (const SynthesisEngine* engine : engines_to_run(problem)) {
    if (engine->checked_sends == nullptr) return std::nullopt;
    most = std::max(most, engine->checked_sends(problem));
  }
  return most;
}

}  // namespace tenex
