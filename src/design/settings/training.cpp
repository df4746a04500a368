// The keys of a training point: its model, its parallelization, and how its collectives are timed.
#include <fmt/core.h>

#include "design/settings/entry.hpp"
#include "design/settings/training_words.hpp"

namespace tenex {
namespace {

using namespace entry;  // NOLINT: this file is entries

constexpr auto workload = [](auto& point) -> auto& { return point.training.workload; };
constexpr auto hp = [](auto& point) -> auto& { return point.training.hp; };
constexpr auto compute = [](auto& point) -> auto& { return point.training.compute; };
constexpr auto training_loop = [](auto& point) -> auto& { return point.training.training_loop; };
constexpr auto batch_rule = [](auto& point) -> auto& { return point.training.batch_rule; };
constexpr auto global_batch = [](auto& point) -> auto& { return point.training.global_batch; };
constexpr auto collective_time = [](auto& point) -> auto& { return point.training.collective_time; };
constexpr auto contention = [](auto& point) -> auto& { return point.training.contention; };
constexpr auto in_network = [](auto& point) -> auto& { return point.training.in_network; };

std::string rate_line(const PointView& view) { return compute(view) ? printed(*compute(view)) : std::string(); }

/// "1,4"; "" for none.
std::string reducing_dimensions(const PointView& view) {
  std::string list;
  for (std::size_t dimension = 0; dimension < in_network(view).size(); ++dimension)
    if (in_network(view)[dimension]) list += fmt::format("{}{}", list.empty() ? "" : ",", dimension + 1);
  return list;
}
std::string reducing_or_none(const PointView& view) {
  const std::string list = reducing_dimensions(view);
  return list.empty() && view.trains ? "none" : list;
}

/// Only this loop runs collectives concurrently.
bool may_contend(const PointView& view) {
  return synthesizes(view) && training_loop(view) == TrainingLoop::tp_dp_overlap;
}

/// A global batch says whose the batch is.
bool has_own_batch(const PointView& view) { return global_batch(view) == 0; }
std::string batch_owner(const PointView& view) {
  if (!view.trains) return {};
  return printed(has_own_batch(view) ? batch_rule(view) : BatchRule::machine);
}

std::string digest_of_workload(const PointView& view) {
  return view.trains ? to_string(workload(view).content.digest()) : std::string();
}
std::string name_of_workload(const PointView& view) { return workload(view).text; }

}  // namespace

// NOLINTNEXTLINE(readability-function-size): a table
std::vector<Setting> training_settings() {
  return {
      {.key = Key::workload,
       .name = "workload",
       .help = "the name of a built-in workload, see `tenex list workloads`, or the path of a workload file (.toml)",
       .example = "\"gpt3\"",
       .absent = "required",
       .read_by = ReadBy::training,
       .reason = "it trains a model on the topology",
       .column = text_column(),
       .changes = Changes::training,
       .parse = parse_named_file,
       .set = set<workload>,
       .canonical = digest_of_workload,
       .text = name_of_workload},
      {.key = Key::hp,
       .name = "hp",
       .help = "degrees of tensor and data parallelism, then of pipeline stages and experts; their product is the "
               "number of NPUs (experts are inside the data degree)",
       .example = "\"16,256\"",
       .absent = "required",
       .read_by = ReadBy::training,
       .reason = "it parallelizes a workload",
       .column = text_column(),
       .changes = Changes::training,
       .parse = parse_degrees,
       .set = set<hp>,
       .canonical = always<hp>,
       .text = text_if<hp, trains>},
      {.key = Key::compute,
       .name = "compute",
       .help = "FLOP/s of an NPU, such as 234TFLOPS; shipped is the workload's own rate",
       .example = "\"234TFLOPS\"",
       .fallback = "shipped",
       .read_by = ReadBy::training,
       .reason = "it says how fast an NPU computes a workload",
       .column = integer_column("FLOP/s"),
       .changes = Changes::training,
       .parse = parse_with<read_compute>,
       .set = set<compute>,
       .canonical = rate_line,
       .integer = [](const PointView& view) { return compute(view) ? compute(view)->count() : -1; }},
      {.key = Key::training_loop,
       .name = "training_loop",
       .help = "no_overlap, tp_dp_overlap (gradients are reduced beside the backward pass) or astra_sim (weight "
               "gradients are awaited by the next forward pass)",
       .example = "\"tp_dp_overlap\"",
       .words = words_to<TrainingLoop::astra_sim>(),
       .fallback = "no_overlap",
       .read_by = ReadBy::training,
       .reason = "it says which parts of a workload's iteration overlap",
       .column = text_column(),
       .changes = Changes::training,
       .parse = parse_with<parse_training_loop>,
       .set = set<training_loop>,
       .canonical = unless_default<training_loop>,
       .text = text_if<training_loop, trains>},
      {.key = Key::batch_rule,
       .name = "batch_rule",
       .help = "whether the workload's batch is that of each model replica or of the whole machine",
       .example = "\"machine\"",
       .words = words_to<BatchRule::machine>(),
       .fallback = "replica",
       .read_by = ReadBy::training,
       .reason = "it says what a workload's batch is",
       .column = text_column(),
       .changes = Changes::training,
       .parse = parse_with<parse_batch_rule>,
       .set = set<batch_rule>,
       .reset = reset<batch_rule>,
       .matters = has_own_batch,
       .canonical = unless_default<batch_rule>,
       .text = batch_owner},
      {.key = Key::global_batch,
       .name = "global_batch",
       .help = "sequences of the whole machine in one iteration, shared equally by the replicas; 0: the workload's own "
               "batch, as batch_rule says",
       .example = "512",
       .written = Written::integer,
       .counts = Counts::numbers,
       .least = 0,
       .most = kMost32,
       .fallback = "0",
       .read_by = ReadBy::training,
       .reason = "it is the batch of a workload",
       .column = integer_column(),
       .changes = Changes::training,
       .parse = parse_number,
       .set = set<global_batch, std::int64_t>,
       .canonical = unless_default<global_batch>,
       .integer = integer_if<global_batch, trains>},
      {.key = Key::collective_time,
       .name = "collective_time",
       .help =
           "how collectives are timed: libra (LIBRA's formula), libra_derated (the same with the links that a group "
           "really has), pipeline (chunk by chunk through the dimensions), themis (the same in Themis' order) or "
           "synthesized (on the real topology)",
       .example = "\"synthesized\"",
       .words = words_to<TimingModel::synthesized>(),
       .fallback = "libra",
       .read_by = ReadBy::training,
       .reason = "it says how a workload's collectives are timed",
       .column = text_column().beside_metric("collective_time_model"),
       .changes = Changes::training,
       .parse = parse_choice<TimingModel>,
       .set = set<collective_time>,
       .canonical = unless_default<collective_time>,
       .text = text_if<collective_time, trains>},
      {.key = Key::contention,
       .name = "contention",
       .help = "links: collectives that a loop runs side by side share the links (synthesized only); or none",
       .example = "\"links\"",
       .words = words_to<Contention::links>(),
       .fallback = "none",
       .read_by = ReadBy::training,
       .reason = "it lets a workload's collectives share links",
       .column = text_column(),
       .changes = Changes::training,
       .parse = parse_choice<Contention>,
       .set = set<contention>,
       .reset = reset<contention>,
       .matters = may_contend,
       .canonical = unless_default<contention>,
       .text = text_if<contention, trains>},
      {.key = Key::in_network,
       .name = "in_network",
       .help = "numbers of the dimensions whose switches reduce (and copy), separated by commas",
       .example = "\"4\"",
       .fallback = "none",
       .read_by = ReadBy::training,
       .reason = "it lets switches reduce for a workload",
       .column = text_column(),
       .changes = Changes::training,
       .parse = parse_with<read_dimensions>,
       .set = set<in_network>,
       .canonical = reducing_dimensions,
       .text = reducing_or_none},
  };
}

}  // namespace tenex
