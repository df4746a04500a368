// Converts the content of a workload file to the layers of one parallelization.
#include "tenex/workload/workload_model.hpp"

#include <array>

#include <fmt/core.h>

#include "tenex/base/words.hpp"
#include "workload/exact_arithmetic.hpp"
#include "workload/saturating.hpp"

namespace tenex {

namespace {

constexpr std::array<std::string_view, 2> kRuleNames{"replica", "machine"};

bool uses(const Workload& workload, Scope scope) {
  for (const auto& block : workload.blocks)
    for (const auto& layer : block.layers)
      for (const auto& work : layer.phases)
        for (const auto& communication : work.communications)
          if (communication.scope == scope) return true;
  return false;
}

/// Whether all communication is between all NPUs, so that no degree changes it.
bool spans_the_machine(const Workload& workload) {
  for (const auto scope : {Scope::tensor, Scope::data, Scope::pipeline, Scope::expert, Scope::expert_replicas})
    if (uses(workload, scope)) return false;
  return uses(workload, Scope::world);
}

/// A factor under the new degrees: numerator / denominator.
struct Ratio {
  std::int64_t numerator = 1;
  std::int64_t denominator = 1;
};

struct Ratios {
  Ratio work;
  Ratio activations;
  Ratio weights;
};

Ratios ratios_of(std::int64_t made_for, std::int64_t asked, BatchRule rule) {
  const Ratio shrunk{made_for, asked};
  if (rule == BatchRule::replica) return {shrunk, {1, 1}, shrunk};
  return {{1, 1}, {asked, made_for}, shrunk};
}

std::int64_t scaled(std::int64_t value, Ratio ratio, bool& overflowed) {
  const auto result = scaled_up(value, ratio.numerator, ratio.denominator);
  overflowed |= result == kMostInt64;
  return result;
}

Diagnostics check_restatement(const Workload& workload, const Parallelization& degrees) {
  ensure(degrees.tensor >= 1 && workload.tensor >= 1, "degrees are positive");
  Diagnostics errors;
  const auto refuse = [&](std::string problem, std::string why, std::string suggestion) {
    errors.push_back(input_error({}, std::move(problem), std::move(why), std::move(suggestion)));
  };
  if (degrees.tensor != workload.tensor && !uses(workload, Scope::tensor) && !spans_the_machine(workload))
    refuse(fmt::format("{} for workload \"{}\"", to_string(degrees), workload.name),
           fmt::format("its layers are for TP-{} and have no tensor-parallel communication", workload.tensor),
           fmt::format("use TP-{}", workload.tensor));
  if (degrees.pipeline != 1 && !uses(workload, Scope::pipeline))
    refuse(fmt::format("{} pipeline stages for workload \"{}\"", degrees.pipeline, workload.name),
           "its layers send nothing from stage to stage", "use 1 stage, or a [transformer] that is generated");
  if (degrees.expert != 1 && !uses(workload, Scope::expert))
    refuse(fmt::format("expert degree {} for workload \"{}\"", degrees.expert, workload.name),
           "its layers have no experts", "use expert degree 1, or a [transformer] with experts");
  return errors;
}

}  // namespace

std::string_view to_string(BatchRule rule) { return kRuleNames[static_cast<std::size_t>(rule)]; }
Result<BatchRule> parse_batch_rule(std::string_view text, const Place& place) {
  return parse_name<BatchRule>(text, kRuleNames, "batch rule", place);
}

Result<Workload> restate(const Workload& workload, const Parallelization& degrees, BatchRule rule) {
  auto errors = check_restatement(workload, degrees);
  if (!errors.empty()) return errors;
  auto restated = workload;
  if (degrees.tensor == workload.tensor || spans_the_machine(workload)) return restated;
  const auto ratios = ratios_of(workload.tensor, degrees.tensor, rule);
  restated.tensor = degrees.tensor;
  bool overflowed = false;
  for (auto& block : restated.blocks)
    for (auto& layer : block.layers)
      for (auto& work : layer.phases) {
        work.compute = Flops::of(scaled(work.compute.count(), ratios.work, overflowed));
        for (auto& communication : work.communications) {
          if (communication.scope == Scope::world) continue;
          const bool weights = communication.scope == Scope::data || communication.scope == Scope::expert_replicas;
          communication.size =
              Bytes::of(scaled(communication.size.count(), weights ? ratios.weights : ratios.activations, overflowed));
        }
      }
  if (overflowed)
    return input_error({}, fmt::format("workload \"{}\" under {} is too large", workload.name, to_string(degrees)),
                       "work and sizes are int64 FLOPs and bytes");
  return restated;
}

namespace {

/// Who states the batch, and whose it is.
struct BatchChoice {
  BatchRule rule = BatchRule::replica;
  std::int64_t global = 0;  ///< sequences of the whole machine; 0: the model's batch, under the rule
};

/// A replica's batch: the model's own, or its part of the machine's.
Result<std::int64_t> batch_of_replica(const std::string& name, std::int64_t batch, const Parallelization& degrees,
                                      BatchChoice choice) {
  const bool global = choice.global > 0;
  if (!global && choice.rule == BatchRule::replica) return batch;
  const auto whole = global ? choice.global : batch;
  if (whole % degrees.data == 0) return whole / degrees.data;
  // Of replicas that share the sequences, those that can share the NPUs, too.
  const auto help = suggest_divisors(std::gcd(whole, degrees.npus() / degrees.pipeline), degrees.data);
  return input_error({}, fmt::format("{} sequences of workload \"{}\" for {} replicas", whole, name, degrees.data),
                     fmt::format("{} is the whole machine's, and replicas take equally many whole sequences",
                                 global ? "global_batch" : "with the batch rule machine the file's batch"),
                     fmt::format("{} replica{}, {}", help, help.ends_with(" 1") ? "" : "s",
                                 global ? fmt::format("or a global_batch that is a multiple of {}", degrees.data)
                                        : "a workload file with another batch, or the batch rule replica"));
}

Result<Workload> make_generated(TransformerSpec spec, const Parallelization& degrees, BatchChoice choice) {
  const auto batch = batch_of_replica(spec.name, spec.batch, degrees, choice);
  if (!batch) return batch.errors();
  spec.batch = *batch;
  return make_transformer(spec, degrees);
}

Result<Workload> make_generated(GnmtSpec spec, const Parallelization& degrees, BatchChoice choice) {
  if (degrees.tensor != 1 || degrees.pipeline != 1 || degrees.expert != 1)
    return input_error({}, fmt::format("{} for GNMT", to_string(degrees)), "it is data parallel",
                       fmt::format("use HP-(1,{})", degrees.npus()));
  const auto batch = batch_of_replica("gnmt", spec.batch, degrees, choice);
  if (!batch) return batch.errors();
  spec.batch = *batch;
  return make_gnmt(spec);
}

/// The work of one NPU for one microbatch.
double flops_of(const Workload& workload) {
  double flops = 0;
  for (const auto phase : {Phase::forward, Phase::input_gradient, Phase::weight_gradient})
    flops += static_cast<double>(total_compute(workload, phase).count());
  return flops;
}

/// The batch of a generated model: what one sequence takes on one NPU, times the sequences. No degree changes that.
template <class Spec>
Result<MachineBatch> batch_of(Spec spec, const std::string& name, std::int64_t tokens, const Parallelization& degrees,
                              BatchChoice choice) {
  const auto batch = batch_of_replica(name, spec.batch, degrees, choice);
  if (!batch) return batch.errors();
  spec.batch = 1;
  if constexpr (requires { spec.microbatches; }) spec.microbatches = 1;
  const auto one = make_generated(spec, {1, 1}, {});
  if (!one) return one.errors();
  const auto samples = static_cast<double>(*batch) * static_cast<double>(degrees.data);
  return MachineBatch{samples, samples * static_cast<double>(tokens), samples * flops_of(*one)};
}

}  // namespace

bool states_batch(const WorkloadModel& model) { return !std::holds_alternative<Workload>(model); }

Result<Workload> make_workload(const WorkloadModel& model, const Parallelization& degrees, BatchRule rule,
                               std::int64_t global_batch) {
  ensure(global_batch == 0 || states_batch(model), "a table of layers has no sequences to share");
  if (const auto* table = std::get_if<Workload>(&model)) return restate(*table, degrees, rule);
  if (const auto* spec = std::get_if<TransformerSpec>(&model))
    return make_generated(*spec, degrees, {rule, global_batch});
  return make_generated(std::get<GnmtSpec>(model), degrees, {rule, global_batch});
}

Result<MachineBatch> machine_batch(const WorkloadModel& model, const Parallelization& degrees, BatchRule rule,
                                   std::int64_t global_batch) {
  if (const auto* spec = std::get_if<TransformerSpec>(&model))
    return batch_of(*spec, spec->name, spec->sequence, degrees, {rule, global_batch});
  if (const auto* spec = std::get_if<GnmtSpec>(&model))
    return batch_of(*spec, "gnmt", 2 * spec->sequence, degrees, {rule, global_batch});
  const auto workload = make_workload(model, degrees, rule, global_batch);
  if (!workload) return workload.errors();
  MachineBatch batch;
  batch.flops = flops_of(*workload) * static_cast<double>(workload->microbatches) * static_cast<double>(degrees.npus());
  return batch;
}

}  // namespace tenex
