// The row of a training point. Each step either fills its part of the row or ends it.
#include "evaluate/evaluate_point.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "tenex/codesign/optimizer.hpp"
#include "tenex/training/memory_remedy.hpp"
#include "tenex/training/training_point.hpp"

namespace tenex {
namespace {

constexpr std::int64_t kBytesOfAnyPoint = 1 << 20;  // tables of layers, terms, the solver's matrices

void describe_training(Evaluation& row, const PreparedTraining& prepared) {
  row.npus = static_cast<std::int64_t>(prepared.npus);
  row.mapping = prepared.mapping;
  for (const auto each : prepared.bandwidth) row.chosen_bandwidth_bytes_per_s.push_back(each.count());
  row.network_cost_usd = static_cast<double>(prepared.cost.count()) * 1e-6;
  row.chosen_microbatches = prepared.microbatches;
  row.memory_per_npu_bytes = prepared.memory.total();
  row.weight_memory_bytes = prepared.memory.weights;
  row.gradient_memory_bytes = prepared.memory.gradients;
  row.optimizer_memory_bytes = prepared.memory.optimizer;
  row.activation_memory_bytes = prepared.memory.activations;
  row.buffer_memory_bytes = prepared.memory.buffers;
  if (prepared.split == nullptr) return;
  const auto& split = **prepared.split;
  row.relative_gap = split.relative_gap;
  row.objective = split.objective;
  row.split_exact = split.exact ? 1 : 0;
}

void describe_training(Evaluation& row, const TrainingTime& time) {
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
  const auto over = [&](Scope scope) { return time.exposed_over[static_cast<std::size_t>(scope)].count(); };
  row.tensor_exposed_ps = over(Scope::tensor);
  row.data_exposed_ps = over(Scope::data) + over(Scope::expert_replicas);
  row.pipeline_exposed_ps = over(Scope::pipeline);
  row.expert_exposed_ps = over(Scope::expert);
  row.world_exposed_ps = over(Scope::world);
}

/// The verification and costs of collectives that were simulated or synthesized; formulas have none.
void describe_training(Evaluation& row, const CollectiveEffort& effort) {
  row.verified = effort.verified == effort.collectives ? Verified::yes : Verified::skipped;
  row.reason = effort.left_out;
  row.memory_planned_bytes = std::max(row.memory_planned_bytes, effort.memory_planned_bytes);
  row.synthesis_seconds = effort.synthesis_seconds;
  row.simulation_seconds = effort.simulation_seconds;
  row.verification_seconds = effort.verification_seconds;
}

/// What the machine processes in a second. Model FLOP utilization is as in PaLM (Chowdhery et al., 2022, section 4.1):
/// model FLOPs per second over what all NPUs can compute.
void measure_throughput(Evaluation& row, const PreparedTraining& prepared) {
  if (row.training_time_ps <= 0) return;
  const auto seconds = static_cast<double>(row.training_time_ps) * 1e-12;
  row.samples_per_s = prepared.batch.samples / seconds;
  row.tokens_per_s = prepared.batch.tokens / seconds;
  row.mfu_rate_flop_per_s = static_cast<double>(prepared.peak.count());
  const auto peak = row.mfu_rate_flop_per_s * static_cast<double>(prepared.npus);
  row.model_flop_utilization = prepared.batch.flops / (seconds * peak);
}

void measure_iteration(Evaluation& row, const TimedIteration& timed, const PreparedTraining& prepared) {
  describe_training(row, timed.time);
  row.verified = Verified::skipped;
  if (timed.effort) describe_training(row, *timed.effort);
  row.bound_ps = timed.bound.count();
  row.bound_name = timed.bound_name;
  const auto time = static_cast<double>(row.training_time_ps);
  if (row.training_time_ps > 0) row.efficiency = static_cast<double>(row.bound_ps) / time;
  if (row.training_time_ps > 0 && row.network_cost_usd > 0)
    row.perf_per_cost_per_s_usd = 1 / (time * 1e-12 * row.network_cost_usd);
  measure_throughput(row, prepared);
}

/// Prepares the point and describes it; nullopt if that ended the row.
std::optional<PreparedTraining> prepare_training(Evaluation& row, const DesignPoint& point, TrainingCache& cache) {
  row.memory_planned_bytes = kBytesOfAnyPoint;
  auto prepared = prepare_training(point, cache);
  if (!prepared) {
    end_point(row, prepared.errors());
    return std::nullopt;
  }
  describe_training(row, *prepared);
  if (auto excess = over_npu_memory(point, *prepared, cache)) {
    end_point(row, PointStatus::over_npu_memory, to_string(*excess));
    return std::nullopt;
  }
  return *std::move(prepared);
}

}  // namespace

void fill_training_bound(Evaluation& row, const DesignPoint& point, TrainingCache& cache,
                         const ExecutionOptions& options) {
  const auto prepared = prepare_training(row, point, cache);
  if (!prepared) return;
  const auto bound = bound_iteration(point, *prepared, cache, options);
  if (!bound) return end_point(row, bound.errors());
  measure_iteration(row, *bound, *prepared);
  row.status = PointStatus::ok;
}

void fill_training(Evaluation& row, const DesignPoint& point, TrainingCache& cache, const ExecutionOptions& options) {
  const auto prepared = prepare_training(row, point, cache);
  if (!prepared) return;
  const auto timed = time_iteration(point, *prepared, cache, options);
  if (!timed) return end_point(row, timed.errors());
  measure_iteration(row, *timed, *prepared);
  if (timed->time.total() < timed->bound)
    return end_point(row, PointStatus::failed,
                     fmt::format("time {} ps is below the proven bound {} ps ({})", row.training_time_ps, row.bound_ps,
                                 row.bound_name));
  row.status = PointStatus::ok;
}

}  // namespace tenex
