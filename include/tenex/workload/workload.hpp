// Workload: one training iteration of one NPU as data, layer by layer.
//
// A layer has three phases: forward, input gradient and weight gradient. Each phase computes some FLOPs and then
// communicates in the order listed. Layers stand in blocks that repeat. Sizes follow the project's collective size S
// (nccl-tests): All-Gather's gathered output, Reduce-Scatter's input, All-Reduce's buffer, All-to-All's send buffer per
// NPU; for a point-to-point message its bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/workload/compute.hpp"
#include "tenex/workload/pipeline_schedule.hpp"

namespace tenex {

/// The parts of a layer's work, in the order of an iteration.
enum class Phase : std::uint8_t { forward, input_gradient, weight_gradient };
inline constexpr std::size_t kPhases = 3;
/// "forward", "input_gradient", "weight_gradient".
[[nodiscard]] std::string_view to_string(Phase phase);

/// The kind of a communication.
enum class TrafficKind : std::uint8_t { all_gather, reduce_scatter, all_reduce, all_to_all, point_to_point };
/// "all_gather", ..., "point_to_point".
[[nodiscard]] std::string_view to_string(TrafficKind kind);
/// Parses a name. Errors (input): an unknown name, with the nearest spelling.
[[nodiscard]] Result<TrafficKind> parse_traffic_kind(std::string_view text, const Place& place = {});
/// The collective of the same name; nullopt for a point-to-point message.
[[nodiscard]] std::optional<CollectiveKind> collective_of(TrafficKind kind);

/// The process groups of one way of parallelizing.
enum class Scope : std::uint8_t {
  tensor,           ///< the m NPUs that share a layer (TP)
  data,             ///< the n replicas of a shard (DP)
  pipeline,         ///< the same position in consecutive stages
  expert,           ///< the e replicas over which experts are spread
  expert_replicas,  ///< the n/e replicas that hold the same experts
  world,            ///< all NPUs
};
inline constexpr std::size_t kScopes = 6;
/// "tensor", "data", ...
[[nodiscard]] std::string_view to_string(Scope scope);
/// Parses a name. Errors (input): an unknown name, with the nearest spelling.
[[nodiscard]] Result<Scope> parse_scope(std::string_view text, const Place& place = {});

/// One communication of each NPU's group.
struct Communication {
  TrafficKind kind = TrafficKind::all_reduce;
  Bytes size;  ///< S of the group's collective
  Scope scope = Scope::tensor;
  bool every_microbatch = false;  ///< also where communication of its phase and scope is once per iteration
  bool operator==(const Communication&) const = default;
};

/// Work of one NPU in one phase of a layer: it computes, then communicates in the order listed.
struct PhaseWork {
  Flops compute;
  std::vector<Communication> communications;
  bool operator==(const PhaseWork&) const = default;
};

struct Layer {
  std::string name;
  std::array<PhaseWork, kPhases> phases;  ///< by Phase
  [[nodiscard]] const PhaseWork& at(Phase phase) const { return phases[static_cast<std::size_t>(phase)]; }
  [[nodiscard]] PhaseWork& at(Phase phase) { return phases[static_cast<std::size_t>(phase)]; }
  bool operator==(const Layer&) const = default;
};

/// A row of layers that is repeated.
struct LayerBlock {
  std::string name;
  std::int64_t repeat = 1;
  std::vector<Layer> layers;
  bool operator==(const LayerBlock&) const = default;
};

/// A model's training iteration. Work is that of one NPU and one microbatch. Communications over `data` and
/// `expert_replicas` in the weight-gradient phase happen once per iteration, unless they say otherwise, all others once
/// per microbatch.
struct Workload {
  std::string name;
  std::string source;                ///< where the numbers come from
  std::vector<std::string> remarks;  ///< facts that a reader of the numbers should know
  ComputeRate measured_at;           ///< the rate at which the source's compute times hold; zero: the source has none
  std::int64_t tensor = 1;           ///< the TP degree that work and sizes are for
  std::int64_t microbatches = 1;     ///< per iteration
  Pipelining pipelining;             ///< how the stages take the microbatches
  std::vector<LayerBlock> blocks;
  bool operator==(const Workload&) const = default;
};

/// Whether this communication happens once per iteration, whatever the number of microbatches.
[[nodiscard]] constexpr bool once_per_iteration(Phase phase, const Communication& communication) {
  return phase == Phase::weight_gradient && !communication.every_microbatch &&
         (communication.scope == Scope::data || communication.scope == Scope::expert_replicas);
}

/// The number of layers, with repetitions.
[[nodiscard]] std::int64_t count_layers(const Workload& workload);
/// Work of one phase over all layers and repetitions, for one microbatch. Saturates.
[[nodiscard]] Flops total_compute(const Workload& workload, Phase phase);
/// Bytes of one kind in one phase over all layers and repetitions. Saturates.
[[nodiscard]] Bytes total_bytes(const Workload& workload, Phase phase, TrafficKind kind);

/// The checks of every workload, whatever its source: at least one layer, positive repetitions and microbatches, no
/// negative work, no empty message. Errors (input) name the block and the layer.
[[nodiscard]] Diagnostics check_workload(const Workload& workload);

}  // namespace tenex
