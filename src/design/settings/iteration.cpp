// The keys of how NPUs share a training iteration: microbatches, the pipeline, what is kept, and the memory for it.
#include "design/settings/entry.hpp"

namespace tenex {
namespace {

using namespace entry;  // NOLINT: this file is entries

constexpr auto microbatches = [](auto& point) -> auto& { return point.training.microbatches; };
constexpr auto pipeline_schedule = [](auto& point) -> auto& { return point.training.pipeline_schedule; };
constexpr auto virtual_stages = [](auto& point) -> auto& { return point.training.virtual_stages; };
constexpr auto pipeline_timing = [](auto& point) -> auto& { return point.training.pipeline_timing; };
constexpr auto zero_stage = [](auto& point) -> auto& { return point.training.zero_stage; };
constexpr auto recomputation = [](auto& point) -> auto& { return point.training.recomputation; };
constexpr auto sequence_parallelism = [](auto& point) -> auto& { return point.training.sequence_parallelism; };
constexpr auto flash_attention = [](auto& point) -> auto& { return point.training.flash_attention; };
constexpr auto hp_order = [](auto& point) -> auto& { return point.training.hp_order; };
constexpr auto npu_memory = [](auto& point) -> auto& { return point.training.npu_memory; };

constexpr std::string_view kStages = "it says how the stages of a workload's pipeline work";
constexpr std::string_view kMemory = "it says what an NPU keeps of a workload";

bool has_parts(const PointView& view) {
  return has_stages(view) && pipeline_schedule(view) == PipelineSchedule::interleaved;
}
bool splits_tensors(const PointView& view) { return view.trains && view.training.hp.tensor > 1; }

constexpr std::int64_t kShippedStage = -1;
void set_zero_stage(const PointDraft& draft, const SettingValue& value) {
  const auto stage = value.as<std::int64_t>();
  zero_stage(draft) = stage == kShippedStage ? std::nullopt : std::optional(stage);
}
std::string zero_line(const PointView& view) { return zero_stage(view) ? printed(*zero_stage(view)) : std::string(); }
std::int64_t zero_number(const PointView& view) { return zero_stage(view).value_or(kShippedStage); }

/// In bytes, where the NPU is not named.
std::string memory_line(const PointView& view) {
  const auto& npu = npu_memory(view);
  if (!npu.limits()) return {};
  return npu.kind != nullptr ? printed(npu) : printed(npu.memory);
}

}  // namespace

// NOLINTNEXTLINE(readability-function-size): a table
std::vector<Setting> iteration_settings() {
  return {
      {.key = Key::microbatches,
       .name = "microbatches",
       .help = "microbatches of a replica in one iteration; auto (0 in its column) is the workload file's number, or "
               "else with pipeline stages as many as the batch allows up to 4 per stage (chosen_microbatches)",
       .example = "32",
       .written = Written::integer,
       .counts = Counts::numbers,
       .least = 1,
       .most = kMost32,
       .fallback = "auto",
       .read_by = ReadBy::training,
       .reason = "it divides the batch of a workload",
       .column = integer_column(),
       .changes = Changes::training,
       .parse = parse_number_or_word<0>,
       .set = set<microbatches, std::int64_t>,
       .canonical = unless_default<microbatches>,
       .integer = integer_if<microbatches, trains>},
      {.key = Key::pipeline_schedule,
       .name = "pipeline_schedule",
       .help = "the order of forward and backward passes on a pipeline's stages: gpipe, 1f1b, interleaved "
               "(virtual_stages), zb_h1 or zero_bubble (weights' gradients fill the bubble; ZB-H1 and ZB-H2)",
       .example = "\"interleaved\"",
       .words = words_to<PipelineSchedule::zero_bubble>(),
       .fallback = "1f1b",
       .read_by = ReadBy::training,
       .reason = kStages,
       .column = text_column(),
       .changes = Changes::training,
       .parse = parse_choice<PipelineSchedule>,
       .set = set<pipeline_schedule>,
       .reset = reset<pipeline_schedule>,
       .matters = has_stages,
       .canonical = unless_default<pipeline_schedule>,
       .text = text_if<pipeline_schedule, has_stages>},
      {.key = Key::virtual_stages,
       .name = "virtual_stages",
       .help = "parts of the model on each stage, of the schedule interleaved",
       .example = "4",
       .written = Written::integer,
       .counts = Counts::numbers,
       .least = 2,
       .most = 1024,
       .fallback = "2",
       .read_by = ReadBy::training,
       .reason = kStages,
       .column = integer_column(),
       .changes = Changes::training,
       .parse = parse_number,
       .set = set<virtual_stages, std::int64_t>,
       .reset = reset<virtual_stages>,
       .matters = has_parts,
       .canonical = unless_default<virtual_stages>,
       .integer = integer_if<virtual_stages, has_parts>},
      {.key = Key::pipeline_timing,
       .name = "pipeline_timing",
       .help =
           "formula: the schedule's bubble, and stages wait for messages; simulated: task by task, with messages on "
           "the real links beside computation",
       .example = "\"simulated\"",
       .words = words_to<PipelineTiming::simulated>(),
       .fallback = "formula",
       .read_by = ReadBy::training,
       .reason = kStages,
       .column = text_column(),
       .changes = Changes::training,
       .parse = parse_choice<PipelineTiming>,
       .set = set<pipeline_timing>,
       .reset = reset<pipeline_timing>,
       .matters = has_stages,
       .canonical = unless_default<pipeline_timing>,
       .text = text_if<pipeline_timing, has_stages>},
      {.key = Key::zero_stage,
       .name = "zero_stage",
       .help = "what replicas share instead of holding it each: 1 optimizer states, 2 gradients too, 3 weights too "
               "(FSDP), 0 nothing; shipped (-1 in its column) is the workload's own",
       .example = "1",
       .written = Written::integer,
       .counts = Counts::numbers,
       .least = 0,
       .most = 3,
       .fallback = "shipped",
       .read_by = ReadBy::training,
       .reason = kMemory,
       .column = integer_column(),
       .changes = Changes::training,
       .parse = parse_number_or_word<kShippedStage>,
       .set = set_zero_stage,
       .canonical = zero_line,
       .integer = zero_number},
      {.key = Key::recomputation,
       .name = "recomputation",
       .help =
           "activations that the backward pass computes again: none, selective (attention scores) or full (all of a "
           "layer but its input)",
       .example = "\"selective\"",
       .words = words_to<Recomputation::full>(),
       .fallback = "none",
       .read_by = ReadBy::training,
       .reason = kMemory,
       .column = text_column(),
       .changes = Changes::training,
       .parse = parse_choice<Recomputation>,
       .set = set<recomputation>,
       .canonical = unless_default<recomputation>,
       .text = text_if<recomputation, trains>},
      {.key = Key::sequence_parallelism,
       .name = "sequence_parallelism",
       .help = "the NPUs of a tensor group also split the activations between their layers' parts, along the sequence",
       .example = "true",
       .written = Written::boolean,
       .fallback = "false",
       .read_by = ReadBy::training,
       .reason = kMemory,
       .column = integer_column(),
       .changes = Changes::training,
       .parse = parse_flag,
       .set = set<sequence_parallelism>,
       .reset = reset<sequence_parallelism>,
       .matters = splits_tensors,
       .canonical = unless_default<sequence_parallelism>,
       .integer = integer_if<sequence_parallelism, trains>},
      {.key = Key::flash_attention,
       .name = "flash_attention",
       .help = "attention keeps no scores (FlashAttention)",
       .example = "true",
       .written = Written::boolean,
       .fallback = "false",
       .read_by = ReadBy::training,
       .reason = kMemory,
       .column = integer_column(),
       .changes = Changes::training,
       .parse = parse_flag,
       .set = set<flash_attention>,
       .canonical = unless_default<flash_attention>,
       .integer = integer_if<flash_attention, trains>},
      {.key = Key::hp_order,
       .name = "hp_order",
       .help = "the degrees of hp in the order in which they take the dimensions, the first one first; experts are a "
               "part of data",
       .example = "\"tensor,pipeline,data\"",
       .words = words_to<HpOrder::pipeline_data_tensor>(),
       .fallback = "tensor,data,pipeline",
       .read_by = ReadBy::training,
       .reason = "it lays a workload's parallelization over the dimensions",
       .column = text_column(),
       .changes = Changes::training,
       .parse = parse_choice<HpOrder>,
       .set = set<hp_order>,
       .canonical = unless_default<hp_order>,
       .text = text_if<hp_order, trains>},
      {.key = Key::npu_memory,
       .name = "npu_memory",
       .help = "the memory of an NPU, for instance 80GB, or an NPU by name (`tenex list npus`), whose rate of matrix "
               "products is compute's default; points that take more are rows that do not fit; none: no limit",
       .example = "\"a100_80gb\"",
       .fallback = "none",
       .read_by = ReadBy::training,
       .reason = kMemory,
       .column = text_column(),
       .changes = Changes::training,
       .parse = parse_with<parse_npu_choice>,
       .set = set<npu_memory>,
       .canonical = memory_line,
       .text = text_if<npu_memory, trains>},
  };
}

}  // namespace tenex
