// One training point from words to a row: the workload laid over the shape, the bandwidths, their cost, the time of an
// iteration, a bound on it. Each step either fills its part of the row or ends it, in the order in which a user would
// ask.
#include "evaluate_training.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "collective_models.hpp"
#include "evaluate/row_status.hpp"
#include "joint_memory.hpp"
#include "training_setup.hpp"

namespace tenex {
namespace {

constexpr std::int64_t kBytesOfAnyPoint = 1 << 20;  // tables of layers, terms, the solver's matrices

/// Bandwidths, and what is known of how they were chosen.
struct ChosenBandwidth {
  std::vector<Bandwidth> bandwidth;
  std::shared_ptr<const Result<BandwidthSplit>> split;  ///< null where the point states them
};

Result<ChosenBandwidth> choose_bandwidth(const DesignPoint& point, const TrainingSetup& setup, TrainingCache& cache) {
  if (!point.training().scheme) {
    auto stated = stated_bandwidth(point);
    if (!stated) return stated.errors();
    return ChosenBandwidth{*std::move(stated), nullptr};
  }
  auto split = find_split(point, setup, cache);
  if (!*split) return split->errors();
  return ChosenBandwidth{(*split)->bandwidth, std::move(split)};
}

void describe(Evaluation& row, const TrainingSetup& setup, const ChosenBandwidth& chosen) {
  row.npus = static_cast<std::int64_t>(setup.plan.iteration().mapping.shape().npus());
  row.mapping = setup.described;
  for (const auto each : chosen.bandwidth) row.chosen_bandwidth_bytes_per_s.push_back(each.count());
  row.network_cost_usd = static_cast<double>(network_cost(setup.rates, chosen.bandwidth).count()) * 1e-6;
  if (chosen.split == nullptr) return;
  const auto& split = **chosen.split;
  row.relative_gap = split.relative_gap;
  row.objective = split.objective;
  row.split_exact = split.exact ? 1 : 0;
}

void describe(Evaluation& row, const TrainingTime& time) {
  constexpr auto forward = static_cast<std::size_t>(Phase::forward);
  constexpr auto input = static_cast<std::size_t>(Phase::input_gradient);
  constexpr auto weight = static_cast<std::size_t>(Phase::weight_gradient);
  row.training_time_ps = time.total().count();
  row.forward_compute_ps = time.compute[forward].count();
  row.input_gradient_compute_ps = time.compute[input].count();
  row.weight_gradient_compute_ps = time.compute[weight].count();
  row.forward_exposed_ps = time.exposed[forward].count();
  row.input_gradient_exposed_ps = time.exposed[input].count();
  row.weight_gradient_exposed_ps = time.exposed[weight].count();
  row.bubble_ps = time.bubble.count();
}

/// What a simulating model did; formulas have nothing to verify.
void describe(Evaluation& row, const CollectiveEffort& effort) {
  row.verified = effort.verified == effort.collectives ? Verified::yes : Verified::skipped;
  row.reason = effort.left_out;
  row.memory_planned_bytes = std::max(row.memory_planned_bytes, effort.memory_planned_bytes);
  row.synthesis_seconds = effort.synthesis_seconds;
  row.simulation_seconds = effort.simulation_seconds;
  row.verification_seconds = effort.verification_seconds;
}

/// The iteration's time and a bound on it.
struct TimedIteration {
  TrainingTime time;
  SimTime bound;
  std::string_view bound_name;
  std::optional<CollectiveEffort> effort;
};

/// What a point's times are asked of.
struct TimingCase {
  const DesignPoint& point;
  const TrainingSetup& setup;
  const std::vector<Bandwidth>& bandwidth;
  Cache::Impl& cache;
  const EvaluateOptions& options;

  [[nodiscard]] TrainingNetwork network() const { return {point, bandwidth, options, &cache}; }
  /// The loop over the times of all communications, or over a model that is asked for them.
  template <class Times>
  [[nodiscard]] Result<TrainingTime> loop_over(const Times& times) const {
    return setup.plan.time_of(point.training().training_loop, times);
  }
};

/// The loop over bounds in place of times, as if they were reached.
Result<TimedIteration> bound_iteration(const TimingCase& given) {
  const bool formula = is_libra(given.point.training().collective_time);
  const auto loop = [&]() -> Result<TrainingTime> {
    if (formula) return given.loop_over(given.setup.plan.total_bandwidth_times(given.bandwidth));
    const auto bounds = make_bound_time(given.network(), given.point.training().collective_time);
    if (!bounds) return bounds.errors();
    return given.loop_over(**bounds);
  };
  const auto bounded = loop();
  if (!bounded) return bounded.errors();
  return TimedIteration{*bounded, bounded->total(), formula ? "total_bandwidth" : "collectives", std::nullopt};
}

/// The optimizer's dual bound holds for its own objective in real numbers, whose times are rounded up, and for splits
/// that meet the constraints exactly.
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
    if (auto fits = check_joint_memory(network, given.setup.plan.iteration(), given.point.training().training_loop);
        !fits)
      return fits.errors();
  auto time = given.loop_over(**model);
  effort = (*model)->effort();
  return time;
}

Result<TimedIteration> time_iteration(const TimingCase& given) {
  std::optional<CollectiveEffort> effort;
  const auto time = is_libra(given.point.training().collective_time)
                        ? given.loop_over(given.setup.plan.libra_times(given.bandwidth))
                        : time_by_model(given, effort);
  if (!time) return time.errors();
  auto timed = bound_iteration(given);
  if (!timed) return timed.errors();
  timed->time = *time;
  timed->effort = std::move(effort);
  return timed;
}

void measure(Evaluation& row, const TimedIteration& timed) {
  describe(row, timed.time);
  row.verified = Verified::skipped;
  if (timed.effort) describe(row, *timed.effort);
  row.bound_ps = timed.bound.count();
  row.bound_name = timed.bound_name;
  const auto time = static_cast<double>(row.training_time_ps);
  if (row.training_time_ps > 0) row.efficiency = static_cast<double>(row.bound_ps) / time;
  if (row.training_time_ps > 0 && row.network_cost_usd > 0)
    row.perf_per_cost = 1 / (time * 1e-12 * row.network_cost_usd);
}

/// A point whose bandwidths are known.
struct PreparedPoint {
  std::shared_ptr<const Result<TrainingSetup>> setup;
  ChosenBandwidth chosen;
};

/// Nothing where the row has ended.
std::optional<PreparedPoint> prepare(Evaluation& row, const DesignPoint& point, TrainingCache& cache) {
  row.memory_planned_bytes = kBytesOfAnyPoint;
  auto setup = find_setup(point, cache);
  if (!*setup) {
    end_point(row, setup->errors());
    return std::nullopt;
  }
  auto chosen = choose_bandwidth(point, **setup, cache);
  if (!chosen) {
    end_point(row, chosen.errors());
    return std::nullopt;
  }
  describe(row, **setup, *chosen);
  return PreparedPoint{std::move(setup), *std::move(chosen)};
}

}  // namespace

void fill_training_bound(Evaluation& row, const DesignPoint& point, Cache::Impl& cache,
                         const EvaluateOptions& options) {
  const auto prepared = prepare(row, point, cache.training);
  if (!prepared) return;
  const auto bound = bound_iteration({point, **prepared->setup, prepared->chosen.bandwidth, cache, options});
  if (!bound) return end_point(row, bound.errors());
  measure(row, *bound);
  row.status = PointStatus::ok;
}

void fill_training(Evaluation& row, const DesignPoint& point, Cache::Impl& cache, const EvaluateOptions& options) {
  const auto prepared = prepare(row, point, cache.training);
  if (!prepared) return;
  const auto& setup = **prepared->setup;
  const auto& chosen = prepared->chosen;
  auto timed = time_iteration({point, setup, chosen.bandwidth, cache, options});
  if (!timed) return end_point(row, timed.errors());
  if (chosen.split != nullptr && point.training().scheme == SplitScheme::perf_opt && optimizes_itself(point, setup))
    take_optimizer_bound(*timed, **chosen.split);
  measure(row, *timed);
  if (timed->time.total() < timed->bound)
    return end_point(row, PointStatus::failed,
                     fmt::format("time {} ps is below the proven bound {} ps ({})", row.training_time_ps, row.bound_ps,
                                 row.bound_name));
  row.status = PointStatus::ok;
}

}  // namespace tenex
