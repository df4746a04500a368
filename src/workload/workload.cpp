// Names, totals and checks of a workload.
#include "tenex/workload/workload.hpp"

#include <array>
#include <utility>

#include <fmt/core.h>

#include "tenex/base/words.hpp"
#include "workload/saturating.hpp"

namespace tenex {

namespace {

constexpr std::array<std::string_view, kPhases> kPhaseNames{"forward", "input_gradient", "weight_gradient"};
constexpr std::array<std::string_view, 5> kTrafficNames{"all_gather", "reduce_scatter", "all_reduce", "all_to_all",
                                                        "point_to_point"};
constexpr std::array<std::string_view, kScopes> kScopeNames{"tensor",          "data", "pipeline", "expert",
                                                            "expert_replicas", "world"};

/// More layers than this in an iteration are taken for a mistake, because the training loops walk over each.
constexpr std::int64_t kMostLayers = std::int64_t{1} << 24;

template <class Add>
void for_each_phase(const Workload& workload, Phase phase, const Add& add) {
  for (const auto& block : workload.blocks)
    for (const auto& layer : block.layers) add(layer.at(phase), block.repeat);
}

void check_layer(const LayerBlock& block, const Layer& layer, Diagnostics& errors) {
  const auto refuse = [&](std::string problem, std::string why) {
    errors.push_back(input_error({}, fmt::format("layer \"{}\" of block \"{}\" {}", layer.name, block.name, problem),
                                 std::move(why)));
  };
  for (const auto& work : layer.phases) {
    if (work.compute.count() < 0) refuse("computes a negative amount", "work is at least 0 FLOP");
    for (const auto& communication : work.communications)
      if (communication.size.count() < 1)
        refuse(fmt::format("has an {} of {} bytes", to_string(communication.kind), communication.size.count()),
               "a communication has at least one byte");
  }
}

}  // namespace

std::string_view to_string(Phase phase) { return kPhaseNames[static_cast<std::size_t>(phase)]; }
std::string_view to_string(TrafficKind kind) { return kTrafficNames[static_cast<std::size_t>(kind)]; }
std::string_view to_string(Scope scope) { return kScopeNames[static_cast<std::size_t>(scope)]; }

Result<TrafficKind> parse_traffic_kind(std::string_view text, const Place& place) {
  return parse_name<TrafficKind>(text, kTrafficNames, "communication", place);
}
Result<Scope> parse_scope(std::string_view text, const Place& place) {
  return parse_name<Scope>(text, kScopeNames, "group", place);
}

std::optional<CollectiveKind> collective_of(TrafficKind kind) {
  switch (kind) {
    case TrafficKind::all_gather:
      return CollectiveKind::all_gather;
    case TrafficKind::reduce_scatter:
      return CollectiveKind::reduce_scatter;
    case TrafficKind::all_reduce:
      return CollectiveKind::all_reduce;
    case TrafficKind::all_to_all:
      return CollectiveKind::all_to_all;
    case TrafficKind::point_to_point:
      break;
  }
  return std::nullopt;
}

std::int64_t count_layers(const Workload& workload) {
  std::int64_t layers = 0;
  for (const auto& block : workload.blocks)
    layers = saturating_sum(layers, saturating_product(block.repeat, static_cast<std::int64_t>(block.layers.size())));
  return layers;
}

Flops total_compute(const Workload& workload, Phase phase) {
  Flops total;
  for_each_phase(workload, phase, [&](const PhaseWork& work, std::int64_t repeat) {
    total = saturating_sum(total, saturating_product(work.compute, repeat));
  });
  return total;
}

Bytes total_bytes(const Workload& workload, Phase phase, TrafficKind kind) {
  Bytes total;
  for_each_phase(workload, phase, [&](const PhaseWork& work, std::int64_t repeat) {
    for (const auto& communication : work.communications)
      if (communication.kind == kind) total = saturating_sum(total, saturating_product(communication.size, repeat));
  });
  return total;
}

Diagnostics check_workload(const Workload& workload) {
  Diagnostics errors;
  for (const auto& block : workload.blocks) {
    if (block.repeat < 1)
      errors.push_back(input_error({}, fmt::format("block \"{}\" has repeat = {}", block.name, block.repeat),
                                   "a block occurs at least once"));
    if (block.layers.empty())
      errors.push_back(input_error({}, fmt::format("block \"{}\" is empty", block.name), "a block has layers"));
    for (const auto& layer : block.layers) check_layer(block, layer, errors);
  }
  if (workload.blocks.empty()) errors.push_back(input_error({}, "a workload without blocks", "there is no work in it"));
  if (workload.tensor < 1)
    errors.push_back(input_error({}, fmt::format("tensor = {}", workload.tensor), "a degree is at least 1"));
  if (workload.microbatches < 1)
    errors.push_back(
        input_error({}, fmt::format("microbatches = {}", workload.microbatches), "an iteration has at least one"));
  if (errors.empty() && count_layers(workload) > kMostLayers)
    errors.push_back(input_error({}, fmt::format("{} layers", count_layers(workload)),
                                 fmt::format("an iteration has at most {}", kMostLayers)));
  return errors;
}

}  // namespace tenex
