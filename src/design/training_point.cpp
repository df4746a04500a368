// Words for the choices of a training point.
#include "tenex/design/training_point.hpp"

namespace tenex {

std::string_view to_string(TimingModel model) {
  switch (model) {
    case TimingModel::libra:
      return "libra";
    case TimingModel::libra_derated:
      return "libra_derated";
    case TimingModel::pipeline:
      return "pipeline";
    case TimingModel::themis:
      return "themis";
    case TimingModel::synthesized:
      return "synthesized";
  }
  return "libra";
}

std::string_view to_string(const BandwidthScheme& scheme) { return scheme ? to_string(*scheme) : "given"; }

std::string_view to_string(Contention contention) { return contention == Contention::none ? "none" : "links"; }

std::string_view to_string(PipelineTiming timing) {
  return timing == PipelineTiming::formula ? "formula" : "simulated";
}

IterationChoices TrainingPoint::iteration() const {
  IterationChoices choices;
  choices.rule = batch_rule;
  choices.global_batch = global_batch;
  choices.microbatches = microbatches;
  const bool in_parts = pipeline_schedule == PipelineSchedule::interleaved;
  choices.pipelining = {pipeline_schedule, in_parts ? virtual_stages : 1};
  choices.zero_stage = zero_stage;
  choices.recomputation = recomputation;
  choices.sequence_parallelism = sequence_parallelism;
  choices.flash_attention = flash_attention;
  return choices;
}

}  // namespace tenex
