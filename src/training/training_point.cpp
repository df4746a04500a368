// The steps of a training point: the workload is mapped to the shape, then follow the bandwidths, their cost, the time
// of an iteration and a bound on it.
#include "tenex/training/training_point.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "training/collective_models.hpp"
#include "training/joint_memory.hpp"
#include "training/pipeline_simulation.hpp"
#include "training/training_setup.hpp"

namespace tenex {
namespace {

/// The inputs of a point's times.
struct TimingCase {
  const DesignPoint& point;
  const TrainingSetup& setup;
  const std::vector<Bandwidth>& bandwidth;
  TrainingCache& cache;
  const ExecutionOptions& options;

  [[nodiscard]] TrainingNetwork network() const { return {point, bandwidth, options, cache}; }
  /// The loop's time by the formula of its pipeline, from the times of all communications or from a model that computes
  /// them.
  template <class Times>
  [[nodiscard]] Result<TrainingTime> loop_over(const Times& times) const {
    return setup.traffic.time_of(point.training().training_loop, times);
  }
};

/// The bytes that a virtual stage sends in a phase.
Bytes message_of(const Workload& workload, Phase phase) {
  std::int64_t sum = 0;
  for (const auto& block : workload.blocks)
    for (const auto& layer : block.layers)
      for (const auto& each : layer.at(phase).communications)
        if (each.scope == Scope::pipeline) sum += each.size.count() * block.repeat;
  return bytes(ceil_div(sum, workload.pipelining.virtual_stages));
}

/// The time of an iteration whose pipeline is simulated, from the turns of a stage without messages.
Result<TrainingTime> simulated_time(const TimingCase& given, const Result<IterationTurns>& turns) {
  if (!turns) return turns.errors();
  const auto& iteration = given.setup.traffic.iteration();
  const auto& workload = iteration.workload;
  const StageMessages messages{message_of(workload, Phase::forward), message_of(workload, Phase::input_gradient)};
  auto time = pipelined_time(*turns, workload, iteration.mapping.degrees().pipeline);
  const auto stage = turns->turn.stage();
  // Twice the formula's time with all messages in a row is beyond any schedule: the simulation stays in range.
  if (time.total() > SimTime::max() / 8) return refuse_long_iteration(workload);
  const auto run = simulate_pipeline(given.network(), iteration.mapping, workload.pipelining, workload.microbatches,
                                     stage, messages);
  if (!run) return run.errors();
  const auto work = stage.total() * workload.microbatches;
  const auto idle = std::min(run->without_messages, run->time);
  const auto with_forward = std::clamp(run->without_backward, idle, run->time);
  time.bubble = idle - work;
  time.exposed[static_cast<std::size_t>(Phase::forward)] += with_forward - idle;
  time.exposed[static_cast<std::size_t>(Phase::input_gradient)] += run->time - with_forward;
  time.exposed_over[static_cast<std::size_t>(Scope::pipeline)] = run->time - idle;
  if (time.total() == SimTime::max()) return refuse_long_iteration(workload);
  return time;
}

/// A schedule that splits backward passes, and one that is simulated, are bounded by their stages' work alone.
SimTime bounded_total(const TimingCase& given, const TrainingTime& bounded) {
  const bool simulated = given.setup.stages.has_value();
  if (!simulated && !splits_backward(given.point.training().pipeline_schedule)) return bounded.total();
  const auto work = bounded.total() - bounded.bubble;
  return simulated ? work - bounded.exposed_over[static_cast<std::size_t>(Scope::pipeline)] : work;
}

/// The loop's time if every communication took its bound.
Result<TimedIteration> bound_of(const TimingCase& given) {
  const bool formula = is_libra(given.point.training().collective_time);
  const auto loop = [&]() -> Result<TrainingTime> {
    if (formula) return given.loop_over(given.setup.traffic.total_bandwidth_times(given.bandwidth));
    const auto bounds = make_bound_time(given.network(), given.point.training().collective_time);
    if (!bounds) return bounds.errors();
    return given.loop_over(**bounds);
  };
  const auto bounded = loop();
  if (!bounded) return bounded.errors();
  return TimedIteration{*bounded, bounded_total(given, *bounded), formula ? "total_bandwidth" : "collectives",
                        std::nullopt};
}

/// Replaces the bound by the optimizer's if that is larger. The optimizer's dual bound holds for its objective in real
/// numbers (the times are that objective rounded up) and for splits that meet the constraints exactly.
void take_optimizer_bound(TimedIteration& timed, const BandwidthSplit& split) {
  if (!split.exact) return;
  constexpr double beyond_rounding = 1 - 1e-12;
  const auto proven = static_cast<std::int64_t>(std::floor(split.lower_bound * 1e12 * beyond_rounding));
  if (proven <= timed.bound.count()) return;
  timed.bound = picoseconds(proven);
  timed.bound_name = "optimizer";
}

Result<TrainingTime> time_by_formula(const TimingCase& given) {
  const auto& stages = given.setup.stages;
  if (!stages) return given.loop_over(given.setup.traffic.libra_times(given.bandwidth));
  return simulated_time(given,
                        stages->turns_of(given.point.training().training_loop, stages->libra_times(given.bandwidth)));
}

Result<std::unique_ptr<MeasuredCollectiveTime>> make_model(const TrainingNetwork& network, TimingModel timing) {
  if (timing == TimingModel::synthesized)
    return make_synthesized_time(network, network.point.training().contention == Contention::links);
  return make_pipeline_time(network, timing == TimingModel::themis);
}

Result<TrainingTime> time_by_model(const TimingCase& given, std::optional<CollectiveEffort>& effort) {
  const auto network = given.network();
  const auto model = make_model(network, given.point.training().collective_time);
  if (!model) return model.errors();
  if ((*model)->contends())
    if (auto fits = check_joint_memory(network, given.setup.traffic.iteration(), given.point.training().training_loop);
        !fits)
      return fits.errors();
  const auto& stages = given.setup.stages;
  auto time = stages ? simulated_time(given, stages->turns_of(given.point.training().training_loop, **model))
                     : given.loop_over(**model);
  effort = (*model)->effort();
  return time;
}

}  // namespace

Result<PreparedTraining> prepare_training(const DesignPoint& point, TrainingCache& cache) {
  PreparedTraining prepared;
  prepared.setup = find_setup(point, cache);
  if (!*prepared.setup) return prepared.setup->errors();
  const auto& setup = **prepared.setup;
  if (point.training().scheme) {
    prepared.split = find_split(point, setup, cache);
    if (!*prepared.split) return prepared.split->errors();
    prepared.bandwidth = (*prepared.split)->bandwidth;
  } else {
    auto stated = stated_bandwidth(point);
    if (!stated) return stated.errors();
    if (auto beyond = bandwidth_beyond_limits(setup.rates, *stated); !beyond.empty()) return beyond;
    prepared.bandwidth = *std::move(stated);
  }
  prepared.cost = network_cost(setup.rates, prepared.bandwidth);
  prepared.npus = setup.traffic.iteration().mapping.shape().npus();
  prepared.mapping = setup.described;
  prepared.batch = setup.traffic.iteration().batch;
  const auto& iteration = setup.traffic.iteration();
  const auto* const npu = point.training().npu_memory.kind;
  prepared.rate = iteration.rate;
  prepared.peak = npu != nullptr ? npu->peak : iteration.rate;
  prepared.memory = iteration.memory;
  prepared.microbatches = iteration.workload.microbatches;
  return prepared;
}

Result<TimedIteration> time_iteration(const DesignPoint& point, const PreparedTraining& prepared, TrainingCache& cache,
                                      const ExecutionOptions& options) {
  const TimingCase given{point, **prepared.setup, prepared.bandwidth, cache, options};

  std::optional<CollectiveEffort> effort;
  const auto time =
      is_libra(given.point.training().collective_time) ? time_by_formula(given) : time_by_model(given, effort);
  if (!time) return time.errors();
  auto timed = bound_of(given);
  if (!timed) return timed.errors();
  timed->time = *time;
  timed->effort = std::move(effort);
  if (prepared.split != nullptr && point.training().scheme == SplitScheme::perf_opt &&
      optimizes_itself(point, given.setup))
    take_optimizer_bound(*timed, **prepared.split);
  return timed;
}

Result<TimedIteration> bound_iteration(const DesignPoint& point, const PreparedTraining& prepared, TrainingCache& cache,
                                       const ExecutionOptions& options) {
  return bound_of({point, **prepared.setup, prepared.bandwidth, cache, options});
}

}  // namespace tenex
