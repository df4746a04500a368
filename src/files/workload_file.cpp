// Workload files: reads them, and reports every mistake at its own place.
//
// A phase gives its work as `flops`, or as `time` at the file's `measured_at` rate. (The work is then time * rate, so
// another rate gives another time.) `communicate` is one communication or a list of them.
#include "tenex/files/input_files.hpp"

#include <optional>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "tenex/files/atomic_write.hpp"
#include "tenex/spec/document.hpp"
#include "tenex/spec/table_reader.hpp"

namespace tenex {
namespace {

/// An optional integer of at least `least`.
std::int64_t count_or(TableReader& reader, std::string_view key, std::int64_t fallback, std::int64_t least) {
  const auto value = reader.integer(key);
  if (value && *value < least)
    reader.fail(input_error(reader.find(key)->place(), fmt::format("{} = {}", key, *value),
                            fmt::format("it is at least {}", least)));
  return value && *value >= least ? *value : fallback;
}

/// The same for a required key.
std::int64_t require_count(TableReader& reader, std::string_view key) {
  (void)reader.require(key);
  return count_or(reader, key, 1, 1);
}

std::optional<ComputeRate> read_rate(TableReader& reader) {
  const auto text = reader.string("measured_at");
  if (!text) return std::nullopt;
  const auto rate = parse_compute_rate(*text, reader.find("measured_at")->text_place());
  if (rate) return *rate;
  reader.fail(rate.errors());
  return std::nullopt;
}

/// Reads the [[block]] tables.
class LayerReader {
 public:
  explicit LayerReader(std::optional<ComputeRate> rate) : rate_(rate) {}

  LayerBlock read_block(const Node& node) {
    TableReader reader(node, "a [[block]]", {"name", "repeat", "layer"});
    LayerBlock block{reader.string_or("name", ""), count_or(reader, "repeat", 1, 1), {}};
    if (reader.require("layer") != nullptr)
      for (const auto& layer : reader.array("layer")) block.layers.push_back(read_layer(layer));
    take(reader);
    return block;
  }

  [[nodiscard]] Diagnostics take_errors() { return std::move(errors_); }

 private:
  Layer read_layer(const Node& node) {
    TableReader reader(node, "a [[block.layer]]", {"name", "forward", "input_gradient", "weight_gradient"});
    Layer layer;
    (void)reader.require("name");
    layer.name = reader.string_or("name", "");
    for (const auto phase : {Phase::forward, Phase::input_gradient, Phase::weight_gradient})
      if (const auto* work = reader.find(to_string(phase))) layer.at(phase) = read_work(*work, to_string(phase));
    take(reader);
    return layer;
  }

  PhaseWork read_work(const Node& node, std::string_view phase) {
    TableReader reader(node, std::string(phase), {"time", "flops", "communicate"});
    PhaseWork work;
    const auto time = reader.time("time");
    const auto* time_node = reader.find("time");
    if (reader.find("flops") != nullptr) work.compute = Flops::of(count_or(reader, "flops", 0, 0));
    if (time_node != nullptr && reader.find("flops") != nullptr)
      reader.fail(input_error(time_node->place(), "a phase with both time and flops", "each says how much it computes",
                              "keep one"));
    else if (time && rate_)
      work.compute = work_of(*time, *rate_);
    else if (time && !rate_)
      reader.fail(input_error(time_node->place(), "a compute time without a rate",
                              "the file names no `measured_at`, the rate at which its times hold",
                              "write for instance measured_at = \"234TFLOPS\", or flops in place of time"));
    if (const auto* messages = reader.find("communicate")) read_communications(*messages, work);
    take(reader);
    return work;
  }

  void read_communications(const Node& node, PhaseWork& work) {
    if (!node.is(NodeKind::array)) {
      read_communication(node, work);
      return;
    }
    for (const auto& item : node.items()) read_communication(item, work);
  }

  void read_communication(const Node& node, PhaseWork& work) {
    TableReader reader(node, "communicate", {"collective", "size", "over"});
    (void)reader.require("collective");
    (void)reader.require("size");
    (void)reader.require("over");
    Communication communication;
    if (const auto text = reader.string("collective")) {
      const auto kind = parse_traffic_kind(*text, reader.find("collective")->text_place());
      if (kind) communication.kind = *kind;
      if (!kind) reader.fail(kind.errors());
    }
    if (const auto text = reader.string("over")) {
      const auto scope = parse_scope(*text, reader.find("over")->text_place());
      if (scope) communication.scope = *scope;
      if (!scope) reader.fail(scope.errors());
    }
    if (const auto size = reader.size("size")) {
      communication.size = *size;
      if (size->count() == 0)
        reader.fail(input_error(reader.find("size")->place(), "a communication of 0 bytes", "it has at least one",
                                "leave it out"));
    }
    work.communications.push_back(communication);
    take(reader);
  }

  void take(TableReader& reader) { append(errors_, reader.take_errors()); }

  std::optional<ComputeRate> rate_;
  Diagnostics errors_;
};

Workload read_layers(TableReader& document) {
  Workload workload;
  const auto rate = read_rate(document);
  workload.measured_at = rate.value_or(ComputeRate::zero());
  workload.tensor = count_or(document, "tensor", 1, 1);
  workload.microbatches = count_or(document, "microbatches", 1, 1);
  // A wrong rate is reported once, not again at every time.
  const bool unreadable = !rate && document.find("measured_at") != nullptr;
  LayerReader layers(unreadable ? std::optional(flops_per_second(1)) : rate);
  for (const auto& block : document.array("block")) workload.blocks.push_back(layers.read_block(block));
  document.fail(layers.take_errors());
  return workload;
}

ExpertSpec read_experts(const Node& node, TableReader& parent) {
  TableReader reader(node, "experts", {"count", "per_token", "every", "feed_forward"});
  const ExpertSpec experts{require_count(reader, "count"), count_or(reader, "per_token", 1, 1),
                           count_or(reader, "every", 1, 1), count_or(reader, "feed_forward", 0, 1)};
  parent.fail(reader.take_errors());
  return experts;
}

TransformerSpec read_transformer(const Node& node, TableReader& document) {
  TableReader reader(
      node, "[transformer]",
      {"layers", "hidden", "heads", "kv_heads", "feed_forward", "gated", "dropout", "sequence", "vocabulary", "batch",
       "microbatches", "bytes_per_value", "gradient_bytes", "optimizer_bytes", "zero_stage", "experts"});
  TransformerSpec spec;
  spec.layers = require_count(reader, "layers");
  spec.hidden = require_count(reader, "hidden");
  spec.heads = require_count(reader, "heads");
  spec.kv_heads = count_or(reader, "kv_heads", 0, 1);
  spec.feed_forward = count_or(reader, "feed_forward", 0, 1);
  spec.gated = reader.boolean_or("gated", false);
  spec.dropout = reader.boolean_or("dropout", true);
  spec.sequence = require_count(reader, "sequence");
  spec.batch = require_count(reader, "batch");
  spec.vocabulary = count_or(reader, "vocabulary", 0, 0);
  spec.microbatches = count_or(reader, "microbatches", 0, 1);
  spec.bytes_per_value = count_or(reader, "bytes_per_value", 2, 1);
  spec.gradient_bytes = count_or(reader, "gradient_bytes", spec.bytes_per_value, 1);
  // Adam has two moments in 4 bytes each, and where weights are smaller a copy of them in 4 bytes.
  spec.optimizer_bytes = count_or(reader, "optimizer_bytes", spec.bytes_per_value < 4 ? 12 : 8, 0);
  spec.zero_stage = count_or(reader, "zero_stage", 0, 0);
  if (spec.zero_stage > 3)
    reader.fail(input_error(reader.find("zero_stage")->place(), fmt::format("zero_stage = {}", spec.zero_stage),
                            "ZeRO has stages 0 to 3"));
  if (const auto* experts = reader.find("experts")) spec.experts = read_experts(*experts, reader);
  document.fail(reader.take_errors());
  return spec;
}

GnmtSpec read_gnmt(const Node& node, TableReader& document) {
  TableReader reader(
      node, "[gnmt]",
      {"encoder_layers", "decoder_layers", "hidden", "vocabulary", "batch", "sequence", "bytes_per_value"});
  GnmtSpec spec;
  spec.encoder_layers = count_or(reader, "encoder_layers", spec.encoder_layers, 2);
  spec.decoder_layers = count_or(reader, "decoder_layers", spec.decoder_layers, 1);
  spec.hidden = count_or(reader, "hidden", spec.hidden, 1);
  spec.vocabulary = count_or(reader, "vocabulary", spec.vocabulary, 1);
  spec.batch = count_or(reader, "batch", spec.batch, 1);
  spec.sequence = count_or(reader, "sequence", spec.sequence, 1);
  spec.bytes_per_value = count_or(reader, "bytes_per_value", spec.bytes_per_value, 1);
  document.fail(reader.take_errors());
  return spec;
}

/// Exactly one of the three ways to describe a model; a default one after recording that there are none or several.
WorkloadModel read_model(const Node& node, TableReader& document) {
  std::vector<std::string_view> found;
  for (const auto key : {"block", "transformer", "gnmt"})
    if (document.find(key) != nullptr) found.emplace_back(key);
  if (found.size() != 1) {
    document.fail(input_error(
        node.place(), found.empty() ? "a workload without a model" : fmt::format("both {} and {}", found[0], found[1]),
        "a file has [[block]] tables, or [transformer], or [gnmt]"));
    return Workload{};
  }
  if (found[0] != "block")
    for (const auto key : {"measured_at", "tensor", "microbatches"})
      if (const auto* value = document.find(key))
        document.fail(input_error(value->place(), fmt::format("{} beside [{}]", key, found[0]),
                                  "it describes a table of layers"));
  if (found[0] == "transformer") return read_transformer(*document.find("transformer"), document);
  if (found[0] == "gnmt") return read_gnmt(*document.find("gnmt"), document);
  return read_layers(document);
}

}  // namespace

Result<WorkloadFile> parse_workload(std::string_view text, const std::string& file) {
  const auto document = parse_toml(text, file);
  if (!document) return document.errors();
  TableReader reader(*document, "",
                     {"schema", "kind", "name", "source", "remarks", "measured_at", "tensor", "microbatches", "block",
                      "transformer", "gnmt"});
  check_file_header(reader, "workload");
  const auto require_text = [&reader](std::string_view key) {
    return reader.require(key) == nullptr ? std::string() : reader.string_or(key, "");
  };
  auto name = require_text("name");
  auto source = require_text("source");
  auto remarks = reader.strings("remarks");
  auto model = read_model(*document, reader);
  if (reader.failed()) return reader.take_errors();
  if (auto* transformer = std::get_if<TransformerSpec>(&model)) {
    transformer->name = name;
    transformer->source = source;
  }
  if (auto* workload = std::get_if<Workload>(&model)) {
    workload->name = name;
    workload->source = std::move(source);
    workload->remarks = std::move(remarks);
    auto errors = check_workload(*workload);
    for (auto& error : errors) error.place = document->place();
    if (!errors.empty()) return errors;
  }
  return WorkloadFile{std::move(name), std::move(model), digest128(text)};
}

Result<WorkloadFile> read_workload_file(const std::filesystem::path& path) {
  const auto bytes = read_file(path);
  if (!bytes) return bytes.errors();
  return parse_workload(text_of(*bytes), path.string());
}

}  // namespace tenex
