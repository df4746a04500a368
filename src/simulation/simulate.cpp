// Entry of the simulators: makes the checks that they share and picks the backend.
#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "simulation/backends.hpp"
#include "simulation/pieces.hpp"
#include "simulation/shape_routes.hpp"
#include "simulation/simulation_contract.hpp"
#include "tenex/base/contract.hpp"
#include "tenex/simulation/simulator.hpp"

namespace tenex {

Diagnostic unreachable_error(const Message& message, VertexId stuck_at) {
  return input_error(
      {}, fmt::format("a message from NPU {} cannot reach NPU {}", message.source.value(), message.destination.value()),
      fmt::format("no path leads on from vertex {}", stuck_at.value()),
      "add links until the topology is connected, or leave these NPUs out of the process group");
}

Status check_constant(const Topology& topology) {
  if (!topology.varies()) return success();
  return unsupported_error({}, "links whose bandwidth varies are not simulated",
                           "a simulated hop takes equally long whenever it starts",
                           "remove the windows from stragglers; `tenex verify` checks a schedule on such links");
}

Status check_buffers(const Topology& topology) {
  for (std::size_t v = topology.npus(); v < topology.vertices(); ++v) {
    const auto buffer = topology.switch_properties(VertexId::at(v)).buffer;
    if (buffer != kUnlimitedBuffer)
      return unsupported_error(
          {}, fmt::format("messages over a switch in which at most {} chunks may wait are not simulated", buffer),
          "what waits before a full switch depends on its flow control",
          "plan the sends with pccl, which keeps to the buffer, or leave the buffer unlimited");
  }
  return success();
}

Status check_delays(const Topology& topology, const std::vector<StartDelay>& delays) {
  std::vector<bool> delayed(topology.npus(), false);
  for (const auto& delay : delays) {
    if (delay.npu.index() >= topology.npus())
      return input_error({}, fmt::format("the start of NPU {} is delayed", delay.npu.value()),
                         fmt::format("the topology has {} NPUs", topology.npus()), "delay NPUs that exist");
    if (delay.time < SimTime::zero())
      return input_error({}, fmt::format("NPU {} starts before time zero", delay.npu.value()),
                         "nothing can start earlier");
    if (delayed[delay.npu.index()])
      return input_error({}, fmt::format("the start of NPU {} is delayed twice", delay.npu.value()),
                         "an NPU starts once", "name each NPU once");
    delayed[delay.npu.index()] = true;
  }
  return success();
}

namespace {

/// Refuses what the congestion-unaware formula cannot give.
Status check_unaware(const SimulationOptions& options) {
  if (options.record_sends)
    return unsupported_error({}, "the congestion-unaware backend cannot record a schedule",
                             "its messages overlap on links", "use the congestion-aware backend, or do not record");
  if (options.utilization_bins > 0)
    return unsupported_error({}, "the congestion-unaware backend cannot give utilization over time",
                             "its messages overlap on links",
                             "use the congestion-aware backend, or ask for the bytes of links alone");
  if (options.engine != SimulationEngine::automatic)
    return unsupported_error(
        {}, fmt::format("the congestion-unaware backend has no engine \"{}\"", to_string(options.engine)),
        "engines are ways to compute congestion", "use the congestion-aware backend, or leave the engine to tenex");
  return success();
}

using Simulator = std::optional<Result<Simulation>> (*)(const Topology&, const Collective&, const Program&,
                                                        const SimulationOptions&);

/// An engine: nullopt if it cannot run the program.
struct Engine : SimulationEngineTraits {
  Simulator simulate;
};

constexpr Engine kEngines[] = {
    {{.engine = SimulationEngine::orbit,
      .needs = "it needs an intact shape of rings and fully connected blocks, a program that treats all its NPUs "
               "alike, no delayed start, and records neither sends nor arrivals",
      .records_sends = false},
     simulate_by_orbit},
    {{.engine = SimulationEngine::static_order,
      .needs = "it needs a program of cycles that do not wait for each other (in an All-Reduce by `ring` the two "
               "directions do: a sum is complete when both have arrived) and whose routes share no link and lead "
               "through no NPU that starts late, and messages that are not cut into pieces; it records neither "
               "arrivals nor utilization, and sends only where "
               "messages of several cycles are single sends of single chunks, and no link is a wire",
      .records_sends = false},
     simulate_in_static_order},
    {{.engine = SimulationEngine::trains,
      .needs = "it needs an open loop of messages of one size on one intact block, no delayed start, and records "
               "neither sends, arrivals nor utilization",
      .records_sends = false},
     simulate_in_trains},
    {{.engine = SimulationEngine::wires,
      .needs = "it needs paths over switches that cut through",
      .records_sends = true},
     simulate_over_wires},
    {{.engine = SimulationEngine::window,
      .needs = "paths over switches that cut through share links, of which it knows nothing",
      .records_sends = true},
     simulate_in_windows},
};

Result<Simulation> simulate_by_best_engine(const Topology& topology, const Collective& collective,
                                           const Program& program, const SimulationOptions& options) {
  std::string_view needs;  // of the last engine that could not run it
  for (const Engine& engine : kEngines) {
    if (options.engine != SimulationEngine::automatic && options.engine != engine.engine) continue;
    if (auto result = engine.simulate(topology, collective, program, options)) return std::move(*result);
    needs = engine.needs;
  }
  return unsupported_error(
      {}, fmt::format("the simulation engine \"{}\" cannot run this program", to_string(options.engine)),
      std::string(needs), "choose another one, or leave the engine to tenex");
}

}  // namespace

const std::vector<SimulationEngineTraits>& simulation_engines() {
  static const std::vector<SimulationEngineTraits> table(std::begin(kEngines), std::end(kEngines));
  return table;
}

const SimulationEngineTraits& traits_of(SimulationEngine engine) {
  const auto& table = simulation_engines();
  const auto found = std::ranges::find(table, engine, &SimulationEngineTraits::engine);
  ensure(found != table.end(), "every simulation engine has an entry");
  return *found;
}

Result<Simulation> simulate(const Topology& topology, const Collective& collective, const Program& program,
                            const SimulationOptions& options) {
  TENEX_EXPECTS(options.threads >= 1, "at least one thread");
  if (collective.npus() != topology.npus())
    return input_error({}, fmt::format("the collective is for {} NPUs", collective.npus()),
                       fmt::format("the topology has {}", topology.npus()), "make both for the same number of NPUs");
  if (auto constant = check_constant(topology); !constant) return constant.errors();
  if (auto valid = check_delays(topology, options.start_delays); !valid) return valid.errors();
  const bool unaware = options.backend == Backend::congestion_unaware;
  if (unaware)
    if (auto possible = check_unaware(options); !possible) return possible.errors();
  if (!unaware)
    if (auto unlimited = check_buffers(topology); !unlimited) return unlimited.errors();
  if (options.record_sends && cuts_messages(options.routes, ShapeRoutes::of(topology).has_value()))
    return unsupported_error({}, "sends of sprayed messages are not recorded",
                             "a send carries whole chunks, and these messages are cut into pieces",
                             "simulate without recording, or write routes = \"per_destination\"");
  if (!unaware && options.record_sends && program.messages() >= MessageId::none().value())
    return resource_error(fmt::format("cannot record {} messages", program.messages()), "a message id has 32 bits",
                          "simulate without recording the schedule");
  auto simulation = unaware ? simulate_congestion_unaware(topology, collective, program, options)
                            : simulate_by_best_engine(topology, collective, program, options);
  if (simulation) simulation->destination_order = program.destination_order();
  TENEX_ENSURES(!simulation || simulation->messages == program.messages(), "every message has arrived");
  TENEX_ENSURES(!simulation || has_what_is_asked(*simulation, topology, options), "what the options ask for");
  return simulation;
}

}  // namespace tenex
