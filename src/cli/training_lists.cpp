// Words of the training keys, and the built-in workloads and cost models, described from their own content.
#include "training_lists.hpp"

#include <fmt/format.h>

#include <string>
#include <variant>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/units.hpp"
#include "tenex/files/input_files.hpp"
#include "tenex/workload/npu_kinds.hpp"

namespace tenex::cli {
namespace {

std::string describe(const Workload& workload) {
  const auto layers = count_layers(workload);
  return fmt::format("table of {} {} for TP-{}{}", layers, layers == 1 ? "layer" : "layers", workload.tensor,
                     workload.measured_at.count() > 0 ? ", compute at " + to_string(workload.measured_at)
                                                      : ", compute in FLOPs: needs a rate");
}

std::string describe(const TransformerSpec& spec) {
  auto text = fmt::format("transformer of {} layers, hidden {}, sequence {}, batch {}", spec.layers, spec.hidden,
                          spec.sequence, spec.batch);
  if (spec.kv_heads > 0) text += fmt::format(", {} key-value heads", spec.kv_heads);
  if (spec.experts.count > 0) text += fmt::format(", {} experts", spec.experts.count);
  if (spec.zero_stage > 0) text += fmt::format(", ZeRO stage {}", spec.zero_stage);
  return text + ": needs a compute rate";
}

std::string describe(const GnmtSpec& spec) {
  return fmt::format("GNMT of {} + {} layers, hidden {}, batch {}: needs a compute rate", spec.encoder_layers,
                     spec.decoder_layers, spec.hidden, spec.batch);
}

double in_teraflops(ComputeRate rate) { return static_cast<double>(rate.count()) / 1e12; }

template <class T>
const T& parsed(const Result<T>& file) {
  ensure(file.ok(), "a built-in file is broken");
  return *file;
}

}  // namespace

const std::vector<Word>& scheme_words() {
  static const std::vector<Word> words{
      {"given", "the bandwidths that the point states; or its total and split"},
      {"equal", "the same bandwidth in every dimension, as much as the constraints allow"},
      {"perf_opt", "the shortest time that the constraints allow"},
      {"perf_per_cost", "the smallest product of time and cost that the constraints allow"},
  };
  return words;
}

const std::vector<Word>& collective_time_words() {
  static const std::vector<Word> words{
      {"libra", "the largest volume over bandwidth of all dimensions; a part of a dimension gets all of its bandwidth"},
      {"libra_derated", "the same, but a group on a part of a dimension gets what its links carry"},
      {"pipeline", "chunks run dimension after dimension with their bubbles, by simulation"},
      {"themis", "the same, each chunk in the order of dimensions that Themis chooses"},
      {"synthesized", "the point's algorithm or synthesizer on the real links, all groups at once"},
  };
  return words;
}

const std::vector<Word>& training_loop_words() {
  static const std::vector<Word> words{
      {"no_overlap", "every computation and communication adds up"},
      {"tp_dp_overlap",
       "a layer's data-parallel computation and communication beside its tensor-parallel communication"},
      {"astra_sim", "weight gradients are only awaited by the next iteration's forward pass"},
  };
  return words;
}

std::string list_line(std::string_view name, std::string_view description) {
  return fmt::format("  {:<24} {}\n", name, description);
}

std::string list_machines() {
  std::string text = "machines (or a machine file, see experiments/machines/README.md)\n";
  for (const auto& file : builtin_machines()) {
    const auto machine = parse_machine(file.content, std::string(file.name));
    text += list_line(file.name, fmt::format("{}: {} NPUs", parsed(machine).name, topology_of(*machine).npus()));
  }
  return text;
}

std::string list_workloads() {
  std::string text = "workloads (or a workload file, see experiments/workloads/README.md)\n";
  for (const auto& file : builtin_workloads()) {
    const auto workload = parse_workload(file.content, std::string(file.name));
    text += list_line(file.name, std::visit([](const auto& model) { return describe(model); }, parsed(workload).model));
  }
  return text;
}

std::string list_cost_models() {
  std::string text = "cost models (or a cost model file, see experiments/cost_models/README.md)\n";
  for (const auto& file : builtin_cost_models())
    text += list_line(file.name, parsed(parse_cost_model(file.content, std::string(file.name))).model.source);
  return text;
}

std::string list_npus() {
  std::string text = "NPUs (of the key npu_memory)\n";
  for (const auto& npu : npu_kinds())
    text += list_line(npu.name, fmt::format("{}, peak {}TFLOPS, matrix products {}TFLOPS", to_string(npu.memory),
                                            in_teraflops(npu.peak), in_teraflops(npu.matrix_products)));
  return text;
}

}  // namespace tenex::cli
