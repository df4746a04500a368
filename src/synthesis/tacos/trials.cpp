// Which engines are tried, at which cost.

#include "synthesis/tacos/trials.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>

#include "synthesis/compose.hpp"
#include "synthesis/synthesizers.hpp"
#include "synthesis/tacos/engines.hpp"
#include "synthesis/tacos/event_driven/event_driven.hpp"
#include "tenex/base/contract.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/schedule/storage/list_builder.hpp"
#include "tenex/schedule/timing/retime.hpp"
#include "tenex/schedule/views/views.hpp"
#include "tenex/topology/transform.hpp"

namespace tenex {
namespace {

// The expected bytes of an All-Reduce: while its gather is made, then while it is re-timed beside the gather, which is
// kept. The bytes were measured on a 2-core machine (MemoryPlan.* in tests/evaluate).

constexpr double kBytesOfPauses = 8;  ///< of a send, where a step table has more rows than the engine plans
constexpr std::size_t kBytesOfView = std::size_t{1} << 18;    ///< and of what small gathers have beside their sends
constexpr std::size_t kBytesOfTrials = std::size_t{2} << 20;  ///< what trials leave on the heap
/// A schedule that is larger than it was planned is still re-timed where the problem's limit leaves this share more.
constexpr std::size_t kUnplannedShare = 4;

/// In a chunk-exact gather over links that are alike, on an intact shape, with one chunk per NPU and links kept until
/// arrival, no send waits without need: its critical path has no pause, forwards and backwards.
bool expected_to_gain_nothing(const SynthesisProblem& problem, std::string_view engine) {
  return engine == tacos_engine::exact && problem.occupancy == Occupancy::transfer && problem.topology.homogeneous() &&
         problem.topology.shape().has_value() && problem.collective.chunks_per_npu() == 1;
}

/// Whether an All-Reduce made of this engine's gathers is expected to be re-timed.
bool may_gain(const SynthesisProblem& problem, std::string_view engine) {
  return problem.collective.kind() == CollectiveKind::all_reduce && !expected_to_gain_nothing(problem, engine);
}

Work retiming_work(const SynthesisProblem& problem, std::string_view engine) {
  if (!may_gain(problem, engine)) return {};
  return {WorkUnit::tree_send_retimed, 2 * sends_of_one_pass(problem.collective)};
}

constexpr double kWeightOfMoreAttempts = 4e-3;  // what attempts beyond the problem's may take, by engine
constexpr double kWeightByDimension =
    0.1;  // what an attempt with levels by dimension, which often gain a third, may take
constexpr double kWeightOfLevels = 20e-3;    // what all these attempts may take, but for the first three
constexpr double kWeightPerAttempt = 30e-6;  // at least: engines begin with tables of links and chunks
constexpr std::size_t kBytesOfRelays = std::size_t{64} << 20;  // for sends that no plan counts
constexpr std::uint32_t kMostTrialAttempts = 32;
constexpr double kAttemptsByArrival = 16;
constexpr double kMostTrialSends = 1 << 20;  // no engine makes more in the time to try

/// More attempts of the event-driven engine, in which long dimensions leave chunks to short ones.
const TacosEngine kByDimension{tacos_engine::event_driven,
                               "event_driven",
                               "event by event, with levels by dimension",
                               by_dimension_unsuitable,
                               false,
                               gather_by_dimension,
                               by_dimension_bytes,
                               by_dimension_work};

/// More attempts where links differ, delivery by delivery.
const TacosEngine kByArrival{
    tacos_engine::event_driven, "event_driven", "delivery by delivery, the earliest arrival first",
    by_arrival_unsuitable,      false,          gather_by_arrival,
    by_arrival_bytes,           by_arrival_work};

Collective gather_collective(const Collective& collective) {
  const auto kind = collective.kind();
  const bool rooted = kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce;
  return collective.as(rooted ? CollectiveKind::broadcast : CollectiveKind::all_gather);
}

SynthesisProblem named(SynthesisProblem problem, std::string_view engine, std::uint32_t attempts) {
  problem.engine = engine;
  problem.attempts = attempts;
  return problem;
}

double weight_of_attempt(const SynthesisProblem& problem, const TacosEngine& engine) {
  return std::max(kWeightPerAttempt, work_of(named(problem, engine.choice, 1), engine).weight());
}

std::uint32_t attempts_of(const SynthesisProblem& problem, const TacosEngine& engine) {
  if (engine.whole != nullptr) return problem.attempts;  // it makes more by itself
  const double one = weight_of_attempt(problem, engine);
  const double affordable = std::min<double>(kMostTrialAttempts, kWeightOfMoreAttempts / one);
  return std::max(problem.attempts, static_cast<std::uint32_t>(affordable));
}

/// Whether the named engine would repeat what `first` has done.
bool done_by(const TacosEngine& first, const EngineTrial& trial, std::uint32_t attempts) {
  if (trial.engine->choice == first.choice) return trial.attempts <= attempts;
  return std::find(first.tries.begin(), first.tries.end(), trial.engine->choice) != first.tries.end();
}

std::size_t bytes_of_list(const SynthesisProblem& problem) {
  return static_cast<std::size_t>(sends_of_one_pass(problem.collective)) * kBytesOfListedSend;
}

/// Bytes of the engine's gather as it is kept. Step tables and blocks are smaller than lists.
std::size_t kept_bytes(const SynthesisProblem& problem, const TacosEngine& engine) {
  const bool steps = engine.choice == tacos_engine::exact || engine.choice == kAutomaticEngine;
  const double pauses = steps ? sends_of_one_pass(problem.collective) * kBytesOfPauses : 0;
  return std::min(engine.bytes(GatherPart(problem).problem()), bytes_of_list(problem) + kBytesOfView) +
         static_cast<std::size_t>(pauses);
}

/// Whether an All-Reduce needs two gathers, as its reduction is not the mirror image of the other one.
bool gathers_twice(const SynthesisProblem& problem) {
  return problem.collective.kind() == CollectiveKind::all_reduce && !opposite_links(problem.topology).has_value();
}

/// Bytes of the gathers, without re-timing. The first of two is kept meanwhile.
std::size_t gathers_bytes(const SynthesisProblem& problem, const TacosEngine& engine) {
  return engine.bytes(GatherPart(problem).problem()) + (gathers_twice(problem) ? kept_bytes(problem, engine) : 0);
}

/// Bytes of the reduction beside its gather: a gather of its own, and a list, or a view with names of its own.
std::size_t reduction_bytes(const SynthesisProblem& problem, const TacosEngine& engine) {
  const std::size_t own = gathers_twice(problem) ? kept_bytes(problem, engine) : 0;
  if (!reverses_as_view(problem))
    return own + static_cast<std::size_t>(sends_of_one_pass(problem.collective) * kBytesOfMirroredSend);
  return own + kBytesOfView + sizeof(LinkId) * problem.topology.links() + sizeof(ChunkId) * problem.collective.chunks();
}

/// Whether some NPU is in no group, and so may relay.
bool may_relay(const Collective& collective) {
  std::size_t members = 0;
  for (const auto& group : collective.groups()) members += group.members.size();
  return members < collective.npus();
}

/// The most bytes of the gathers and of their re-timing, one after the other.
std::size_t bytes_with_retiming(const SynthesisProblem& problem, const TacosEngine& engine) {
  const std::size_t gathers = gathers_bytes(problem, engine);
  if (!may_gain(problem, engine.choice)) return gathers;
  const auto sends = static_cast<std::uint64_t>(2 * sends_of_one_pass(problem.collective));
  return std::max(gathers,
                  kept_bytes(problem, engine) + reduction_bytes(problem, engine) + retime_bytes(problem, sends));
}

/// Bytes of a result while others are made: an All-Reduce has both of its schedules.
std::size_t result_bytes(const SynthesisProblem& problem) {
  const bool both = problem.collective.kind() == CollectiveKind::all_reduce;
  return kBytesOfView + (both ? 4 : 1) * bytes_of_list(problem);
}

/// Whether the memory is planned with re-timing.
bool retimes(const SynthesisProblem& problem, const TacosEngine& engine) {
  return bytes_with_retiming(problem, engine) <= problem.memory_limit_bytes;
}

std::size_t bytes_of(const SynthesisProblem& problem, const EngineTrial& trial) {
  return bytes_of(named(problem, trial.engine->choice, trial.attempts), *trial.engine);
}

}  // namespace

GatherPart::GatherPart(const SynthesisProblem& problem)
    : whole_(problem), gather_(gather_collective(problem.collective)) {}

SynthesisProblem GatherPart::problem() const {
  SynthesisProblem part{
      {whole_.topology, gather_, whole_.occupancy}, {whole_.seed, whole_.attempts, whole_.engine}, whole_.threads};
  part.memory_limit_bytes = whole_.memory_limit_bytes;
  return part;
}

std::size_t bytes_of(const SynthesisProblem& problem, const TacosEngine& engine) {
  if (engine.whole != nullptr) return engine.bytes(problem);
  return retimes(problem, engine) ? bytes_with_retiming(problem, engine) : gathers_bytes(problem, engine);
}

Work work_of(const SynthesisProblem& problem, const TacosEngine& engine) {
  if (engine.whole != nullptr || engine.choice == tacos_engine::event_driven) return engine.work(problem);
  return engine.work(GatherPart(problem).problem()) + retiming_work(problem, engine.choice);
}

Result<Synthesis> synthesize_with(const SynthesisProblem& problem, const TacosEngine& engine) {
  TENEX_EXPECTS(engine.unsuitable(GatherPart(problem).problem()).empty(), "a problem that suits the engine");
  if (engine.whole != nullptr) return engine.whole(problem);
  auto planned = problem;
  if (planned.memory_limit_bytes < std::numeric_limits<std::size_t>::max()) {
    planned.memory_limit_bytes = bytes_of(problem, engine);  // no more than was planned, even if more would fit
    // Relays through NPUs outside all groups are not foreseen, and a re-timing takes their sends, too.
    std::size_t more = may_gain(problem, engine.choice) ? planned.memory_limit_bytes / kUnplannedShare : 0;
    if (may_relay(problem.collective)) more += kBytesOfRelays;
    if (retimes(problem, engine))
      planned.memory_limit_bytes = std::min(problem.memory_limit_bytes, planned.memory_limit_bytes + more);
  }
  return compose(planned, engine.gather, engine.name);
}

std::vector<EngineTrial> trials_beside(const SynthesisProblem& problem, const TacosEngine& first) {
  std::vector<EngineTrial> trials;
  if (problem.engine != kAutomaticEngine || sends_of_one_pass(problem.collective) > kMostTrialSends) return trials;
  const GatherPart part(problem);
  const SynthesisProblem gather = part.problem();
  for (const TacosEngine& engine : engines()) {
    if (engine.choice == kAutomaticEngine || !engine.unsuitable(gather).empty()) continue;
    const bool known = std::any_of(trials.begin(), trials.end(),
                                   [&](const EngineTrial& trial) { return trial.engine->choice == engine.choice; });
    if (known || work_of(problem, engine).weight() > engine.weight_to_try) continue;
    const std::uint32_t most = attempts_of(problem, engine);
    std::vector<EngineTrial> of_engine{{&engine, most}};
    // More attempts make a gather no worse, but an All-Reduce of the best gather may overlap less.
    if (problem.collective.kind() == CollectiveKind::all_reduce && most > problem.attempts)
      of_engine.insert(of_engine.begin(), {&engine, problem.attempts});
    for (const EngineTrial& trial : of_engine)
      if (!done_by(first, trial, problem.attempts)) trials.push_back(trial);
  }
  const double one = weight_of_attempt(problem, kByDimension);
  if (one <= kWeightByDimension && kByDimension.unsuitable(gather).empty())
    trials.push_back(
        {&kByDimension, static_cast<std::uint32_t>(std::clamp<double>(kWeightOfLevels / one, 3, kMostTrialAttempts))});
  const double of_arrivals = weight_of_attempt(problem, kByArrival);
  if (of_arrivals <= kWeightOfLevels && kByArrival.unsuitable(gather).empty())
    trials.push_back({&kByArrival, static_cast<std::uint32_t>(
                                       std::clamp<double>(kWeightOfLevels / of_arrivals, 2, kAttemptsByArrival))});
  while (!trials.empty() && bytes_with(problem, first, trials) > problem.memory_limit_bytes) trials.pop_back();
  return trials;
}

std::size_t bytes_with(const SynthesisProblem& problem, const TacosEngine& first,
                       const std::vector<EngineTrial>& trials) {
  std::vector<std::size_t> bytes{bytes_of(problem, first), 0};
  for (const EngineTrial& trial : trials) bytes.push_back(bytes_of(problem, trial));
  std::partial_sort(bytes.begin(), bytes.begin() + 2, bytes.end(), std::greater<>());
  return bytes[0] + std::min(bytes[1], result_bytes(problem)) + (trials.empty() ? 0 : kBytesOfTrials);
}

Work work_with(const SynthesisProblem& problem, const TacosEngine& first, const std::vector<EngineTrial>& trials) {
  Work work = work_of(problem, first);
  for (const EngineTrial& trial : trials)
    work += work_of(named(problem, trial.engine->choice, trial.attempts), *trial.engine);
  return work;
}

Synthesis best_of(const SynthesisProblem& problem, Synthesis first_made, const std::vector<EngineTrial>& trials) {
  Synthesis best = std::move(first_made);
  if (trials.empty()) return best;
  const SimTime bound = best_cheap_bound({problem.topology, problem.collective, problem.occupancy}).time;
  for (const EngineTrial& trial : trials) {
    if (best.time <= bound || problem.good_enough.reached(best.time, bound)) break;
    auto made = synthesize_with(named(problem, trial.engine->choice, trial.attempts), *trial.engine);
    if (made && made->time < best.time) best = std::move(*made);
  }
  return best;
}

}  // namespace tenex
