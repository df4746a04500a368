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

/// A replica's batch; under BatchRule::machine its part of the machine's batch.
Result<std::int64_t> batch_of_replica(const std::string& name, std::int64_t batch, const Parallelization& degrees,
                                      BatchRule rule) {
  if (rule == BatchRule::replica) return batch;
  if (batch % degrees.data == 0) return batch / degrees.data;
  return input_error({}, fmt::format("{} sequences of workload \"{}\" for {} replicas", batch, name, degrees.data),
                     "with the batch rule machine the file's batch is the whole machine's, and replicas take equally "
                     "many whole sequences",
                     fmt::format("{} replicas, a workload file with another batch, or the batch rule replica",
                                 suggest_divisors(batch, degrees.data)));
}

Result<Workload> make_generated(TransformerSpec spec, const Parallelization& degrees, BatchRule rule) {
  const auto batch = batch_of_replica(spec.name, spec.batch, degrees, rule);
  if (!batch) return batch.errors();
  spec.batch = *batch;
  return make_transformer(spec, degrees);
}

Result<Workload> make_generated(GnmtSpec spec, const Parallelization& degrees, BatchRule rule) {
  if (degrees.tensor != 1 || degrees.pipeline != 1 || degrees.expert != 1)
    return input_error({}, fmt::format("{} for GNMT", to_string(degrees)), "it is data parallel",
                       fmt::format("use HP-(1,{})", degrees.npus()));
  const auto batch = batch_of_replica("gnmt", spec.batch, degrees, rule);
  if (!batch) return batch.errors();
  spec.batch = *batch;
  return make_gnmt(spec);
}

}  // namespace

Result<Workload> make_workload(const WorkloadModel& model, const Parallelization& degrees, BatchRule rule) {
  if (const auto* table = std::get_if<Workload>(&model)) return restate(*table, degrees, rule);
  if (const auto* spec = std::get_if<TransformerSpec>(&model)) return make_generated(*spec, degrees, rule);
  return make_generated(std::get<GnmtSpec>(model), degrees, rule);
}

}  // namespace tenex
