// Converts the content of a workload file to the layers of one parallelization.
#include "tenex/workload/workload_model.hpp"

#include <algorithm>
#include <array>
#include <utility>

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

Result<Workload> in_microbatches(const Workload& workload, std::int64_t microbatches) {
  ensure(microbatches >= 1, "an iteration has at least one microbatch");
  if (uses(workload, Scope::world))
    return input_error({"microbatches", 0, 0},
                       fmt::format("microbatches = {} for workload \"{}\"", microbatches, workload.name),
                       "its layers communicate between all NPUs, and do not say whether weights or activations",
                       fmt::format("use {}", workload.microbatches));
  const Ratio smaller{workload.microbatches, microbatches};
  auto divided = workload;
  divided.microbatches = microbatches;
  bool overflowed = false;
  for (auto& block : divided.blocks)
    for (auto& layer : block.layers)
      for (auto& work : layer.phases) {
        work.compute = Flops::of(scaled(work.compute.count(), smaller, overflowed));
        for (auto& communication : work.communications)
          if (communication.scope != Scope::data && communication.scope != Scope::expert_replicas)
            communication.size = Bytes::of(scaled(communication.size.count(), smaller, overflowed));
      }
  if (overflowed)
    return input_error({"microbatches", 0, 0},
                       fmt::format("workload \"{}\" in {} microbatches is too large", workload.name, microbatches),
                       "work and sizes are int64 FLOPs and bytes");
  return divided;
}

namespace {

/// Sends messages to the next stage once for each virtual stage.
void repeat_boundaries(PhaseWork& work, std::int64_t parts) {
  std::vector<Communication> repeated;
  for (const auto& each : work.communications)
    repeated.insert(repeated.end(), each.scope == Scope::pipeline ? static_cast<std::size_t>(parts) : 1, each);
  work.communications = std::move(repeated);
}

/// A replica's batch: the model's own, or its part of the machine's.
Result<std::int64_t> batch_of_replica(const std::string& name, std::int64_t batch, const Parallelization& degrees,
                                      const IterationChoices& choices) {
  const bool global = choices.global_batch > 0;
  if (!global && choices.rule == BatchRule::replica) return batch;
  const auto whole = global ? choices.global_batch : batch;
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

constexpr std::int64_t kMicrobatchesPerStage = 4;

/// The most microbatches of equally many sequences, up to 4 per stage; for interleaved stages a multiple of the stages,
/// if there is one.
std::int64_t automatic_microbatches(std::int64_t batch, std::int64_t stages, bool interleaved) {
  if (stages == 1) return 1;
  const auto most = std::min(batch, saturating_product(stages, kMicrobatchesPerStage));
  if (interleaved)
    for (auto count = most / stages * stages; count > 0; count -= stages)
      if (batch % count == 0) return count;
  auto count = most;
  while (batch % count != 0) --count;
  return count;
}

Result<TransformerSpec> with_choices(TransformerSpec spec, const Parallelization& degrees,
                                     const IterationChoices& choices) {
  const auto batch = batch_of_replica(spec.name, spec.batch, degrees, choices);
  if (!batch) return batch.errors();
  spec.batch = *batch;
  spec.pipelining = degrees.pipeline > 1 ? choices.pipelining : Pipelining{};
  if (choices.microbatches > 0)
    spec.microbatches = choices.microbatches;
  else if (spec.microbatches == 0)
    spec.microbatches =
        automatic_microbatches(spec.batch, degrees.pipeline, spec.pipelining.schedule == PipelineSchedule::interleaved);
  if (choices.zero_stage) spec.zero_stage = *choices.zero_stage;
  spec.recomputation = choices.recomputation;
  spec.sequence_parallelism = choices.sequence_parallelism && degrees.tensor > 1;
  spec.flash_attention = choices.flash_attention;
  return spec;
}

Result<Workload> make_generated(const TransformerSpec& spec, const Parallelization& degrees,
                                const IterationChoices& choices) {
  const auto chosen = with_choices(spec, degrees, choices);
  if (!chosen) return chosen.errors();
  return make_transformer(*chosen, degrees);
}

/// Refuses choices that only the dimensions of a transformer can follow.
Diagnostics check_without_dimensions(const std::string& name, std::string_view what, const IterationChoices& choices) {
  Diagnostics errors;
  const auto refuse = [&](std::string_view key, bool given) {
    if (!given) return;
    errors.push_back(input_error({std::string(key), 0, 0}, fmt::format("{} for workload \"{}\"", key, name),
                                 fmt::format("{}, whose work and communication are fixed", what),
                                 "use a workload with [transformer], for instance gpt3_generated, or remove it"));
  };
  refuse("zero_stage", choices.zero_stage.has_value());
  refuse("recomputation", choices.recomputation != Recomputation::none);
  refuse("sequence_parallelism", choices.sequence_parallelism);
  refuse("flash_attention", choices.flash_attention);
  return errors;
}

Result<Workload> make_generated(GnmtSpec spec, const Parallelization& degrees, const IterationChoices& choices) {
  auto errors = check_without_dimensions("gnmt", "it is made of LSTM layers", choices);
  if (!errors.empty()) return errors;
  if (degrees.tensor != 1 || degrees.pipeline != 1 || degrees.expert != 1)
    return input_error({}, fmt::format("{} for GNMT", to_string(degrees)), "it is data parallel",
                       fmt::format("use HP-(1,{})", degrees.npus()));
  const auto batch = batch_of_replica("gnmt", spec.batch, degrees, choices);
  if (!batch) return batch.errors();
  spec.batch = *batch;
  const auto microbatches = std::max<std::int64_t>(choices.microbatches, 1);
  if (spec.batch % microbatches != 0)
    return input_error({"microbatches", 0, 0},
                       fmt::format("number of microbatches {} does not divide {} pairs of sentences of a replica",
                                   microbatches, spec.batch),
                       "each part is equally large", suggest_divisors(spec.batch, microbatches));
  spec.batch /= microbatches;
  auto workload = make_gnmt(spec);
  if (workload) workload->microbatches = microbatches;
  return workload;
}

Result<Workload> make_restated(const Workload& table, const Parallelization& degrees, const IterationChoices& choices) {
  auto errors = check_without_dimensions(table.name, "it is a table of layers", choices);
  if (!errors.empty()) return errors;
  auto restated = restate(table, degrees, choices.rule);
  if (!restated) return restated;
  if (choices.microbatches > 0 && choices.microbatches != restated->microbatches) {
    restated = in_microbatches(*restated, choices.microbatches);
    if (!restated) return restated;
  }
  if (degrees.pipeline == 1) return restated;
  restated->pipelining = choices.pipelining;
  const auto parts = choices.pipelining.virtual_stages;
  if (parts == 1) return restated;
  if (restated->microbatches % degrees.pipeline != 0)
    return input_error(
        {"microbatches", 0, 0},
        fmt::format("{} microbatches for {} interleaved stages", restated->microbatches, degrees.pipeline),
        "stages take as many microbatches in a row as there are stages",
        fmt::format("use a multiple of {}, or the schedule 1f1b", degrees.pipeline));
  for (auto& block : restated->blocks)
    for (auto& layer : block.layers)
      for (auto& work : layer.phases) repeat_boundaries(work, parts);
  return restated;
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
                              const IterationChoices& choices) {
  const auto batch = batch_of_replica(name, spec.batch, degrees, choices);
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

Result<Workload> make_workload(const WorkloadModel& model, const Parallelization& degrees,
                               const IterationChoices& choices) {
  ensure(choices.global_batch == 0 || states_batch(model), "a table of layers has no sequences to share");
  if (const auto* table = std::get_if<Workload>(&model)) return make_restated(*table, degrees, choices);
  if (const auto* spec = std::get_if<TransformerSpec>(&model)) return make_generated(*spec, degrees, choices);
  return make_generated(std::get<GnmtSpec>(model), degrees, choices);
}

Result<std::optional<TransformerSpec>> chosen_transformer(const WorkloadModel& model, const Parallelization& degrees,
                                                          const IterationChoices& choices) {
  const auto* spec = std::get_if<TransformerSpec>(&model);
  if (spec == nullptr) return std::optional<TransformerSpec>();
  auto chosen = with_choices(*spec, degrees, choices);
  if (!chosen) return chosen.errors();
  return std::optional(*std::move(chosen));
}

Result<MachineBatch> machine_batch(const WorkloadModel& model, const Parallelization& degrees,
                                   const IterationChoices& choices) {
  if (const auto* spec = std::get_if<TransformerSpec>(&model))
    return batch_of(*spec, spec->name, spec->sequence, degrees, choices);
  if (const auto* spec = std::get_if<GnmtSpec>(&model))
    return batch_of(*spec, "gnmt", 2 * spec->sequence, degrees, choices);
  const auto workload = make_workload(model, degrees, choices);
  if (!workload) return workload.errors();
  MachineBatch batch;
  batch.flops = flops_of(*workload) * static_cast<double>(workload->microbatches) * static_cast<double>(degrees.npus());
  return batch;
}

}  // namespace tenex
