// The steps of a training point: the workload is mapped to the shape, then follow the bandwidths, their cost, the time
// of an iteration and a bound on it.
#include "tenex/training/training_point.hpp"

#include <cmath>
#include <utility>

#include "training/collective_models.hpp"
#include "training/joint_memory.hpp"
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
  /// The loop's time, from the times of all communications or from a model that computes them.
  template <class Times>
  [[nodiscard]] Result<TrainingTime> loop_over(const Times& times) const {
    return setup.traffic.time_of(point.training().training_loop, times);
  }
};

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
  return TimedIteration{*bounded, bounded->total(), formula ? "total_bandwidth" : "collectives", std::nullopt};
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
  auto time = given.loop_over(**model);
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
    prepared.bandwidth = *std::move(stated);
  }
  prepared.cost = network_cost(setup.rates, prepared.bandwidth);
  prepared.npus = setup.traffic.iteration().mapping.shape().npus();
  prepared.mapping = setup.described;
  prepared.batch = setup.traffic.iteration().batch;
  prepared.rate = setup.traffic.iteration().rate;
  return prepared;
}

Result<TimedIteration> time_iteration(const DesignPoint& point, const PreparedTraining& prepared, TrainingCache& cache,
                                      const ExecutionOptions& options) {
  const TimingCase given{point, **prepared.setup, prepared.bandwidth, cache, options};

  std::optional<CollectiveEffort> effort;
  const auto time = is_libra(given.point.training().collective_time)
                        ? given.loop_over(given.setup.traffic.libra_times(given.bandwidth))
                        : time_by_model(given, effort);
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
