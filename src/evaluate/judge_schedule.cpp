#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "tenex/evaluate/judged_schedule.hpp"
#include "tenex/execution/execution_cache.hpp"
#include "tenex/execution/prepared_point.hpp"
#include "tenex/schedule/verifier/symmetric_verifier.hpp"
#include "tenex/simulation/simulator.hpp"
#include "tenex/topology/given_routes.hpp"
#include "tenex/topology/routes.hpp"

namespace tenex {

namespace {

/// Why messages from one NPU do not come to another over switches alone, on the ways that they take; empty if they do.
std::string why_not_joined(const Topology& topology, Router& router, NpuId source, NpuId destination) {
  const auto target = vertex_of(destination);
  VertexId at = vertex_of(source);
  for (std::size_t hops = 0; at != target; ++hops) {
    const auto link = hops > topology.vertices() ? LinkId::none() : router.next_link(at, source, destination);
    if (!link.exists()) return "no way leads there";
    at = topology.target(link);
    if (at != target && topology.is_npu(at)) return fmt::format("the way leads over NPU {}", at.value());
  }
  return {};
}

/// The switches between two NPUs on a way of the fewest links over switches alone; nullopt if there is none.
std::optional<std::vector<VertexId>> way_over_switches(const Topology& topology, NpuId source, NpuId destination) {
  const VertexId from = vertex_of(source);
  const VertexId to = vertex_of(destination);
  std::vector<VertexId> before(topology.vertices(), VertexId::none());
  std::vector<VertexId> reached{from};
  for (std::size_t next = 0; next < reached.size() && !before[to.index()].exists(); ++next)
    for (const LinkId link : topology.out_links(reached[next])) {
      const VertexId vertex = topology.target(link);
      if (before[vertex.index()].exists() || vertex == from || (vertex != to && topology.is_npu(vertex))) continue;
      before[vertex.index()] = reached[next];
      reached.push_back(vertex);
    }
  if (!before[to.index()].exists()) return std::nullopt;
  std::vector<VertexId> between;
  for (VertexId vertex = before[to.index()]; vertex != from; vertex = before[vertex.index()]) between.push_back(vertex);
  std::ranges::reverse(between);
  return between;
}

/// What a transfer of a schedule says goes from NPU to NPU, so no third one passes it on: where the usual way leads
/// over one and another way over switches alone, the network is given that as the pair's route. nullopt: nothing to
/// give.
Result<std::optional<Topology>> with_ways_over_switches(const ForeignSchedule& schedule, const Topology& topology) {
  if (topology.route_table() != nullptr || topology.wires() != nullptr) return std::optional<Topology>();
  Router router(topology);
  std::set<std::pair<NpuId, NpuId>> known;
  GivenRoutes given;
  for (const auto& transfer : schedule.transfers) {
    const auto [source, destination] = std::pair(transfer.source, transfer.destination);
    if (!known.emplace(source, destination).second) continue;
    if (why_not_joined(topology, router, source, destination).empty()) continue;
    if (auto between = way_over_switches(topology, source, destination))
      given.routes.push_back({transfer.place,
                              {source.value(), source.value()},
                              {destination.value(), destination.value()},
                              *std::move(between),
                              {}});
  }
  if (given.empty()) return std::optional<Topology>();
  auto routed = with_routes(topology, given);
  if (!routed) return routed.errors();
  return std::optional(*std::move(routed));
}

}  // namespace

void check_links(ForeignSchedule& schedule, const Topology& topology) {
  Router router(topology);
  std::set<std::pair<NpuId, NpuId>> known;
  for (const auto& transfer : schedule.transfers) {
    if (!known.emplace(transfer.source, transfer.destination).second) continue;
    const auto why = why_not_joined(topology, router, transfer.source, transfer.destination);
    if (why.empty()) continue;
    schedule.wrong.push_back({Wrong::no_link, transfer.place,
                              fmt::format("{} goes from NPU {} to NPU {}, which the topology does not join: {}",
                                          transfer.name, transfer.source.value(), transfer.destination.value(), why)});
    if (schedule.wrong.size() >= 16) return;
  }
}

namespace {

/// The schedule as it runs on the topology, verified; without a bound.
Result<JudgedSchedule> run(const ForeignSchedule& schedule, const Topology& topology, const DesignPoint& point,
                           const SimulationOptions& options, const VerifyOptions& checking) {
  auto collective = collective_of(schedule, point.collective().size);
  if (!collective) return collective.errors();
  const auto program = make_transfer_program(schedule);
  auto simulation = simulate(topology, *collective, *program, options);
  if (!simulation) return simulation.errors();
  auto verdict = verify_by_size({topology, *collective, point.occupancy}, simulation->sends, checking);
  const auto time = verdict.valid() ? verdict.collective_time : simulation->finish;
  return JudgedSchedule{
      {topology, *std::move(collective), point.occupancy, std::move(simulation->sends), schedule.format, {}},
      time,
      std::move(verdict),
      {},
      {}};
}

}  // namespace

Result<JudgedSchedule> judge_schedule(ForeignSchedule& schedule, const DesignPoint& point,
                                      const ExecutionOptions& options) {
  ExecutionCache cache(std::size_t{64} << 20);
  const DesignPoint network = with_any_chunks(point);  // what is prepared refers to it
  const auto prepared = prepare(network, options.memory_limit_bytes, cache);
  if (!prepared) return prepared.errors();
  const Topology& plain = prepared->topology();
  if (plain.npus() != schedule.npus)
    return input_error({"--topology", 0, 0}, fmt::format("it has {} NPUs", plain.npus()),
                       fmt::format("the schedule is for {}", schedule.npus));
  const auto routed = with_ways_over_switches(schedule, plain);
  if (!routed) return routed.errors();
  const Topology& topology = *routed ? **routed : plain;
  check_links(schedule, topology);
  if (!schedule.valid())
    return input_error(schedule.wrong.front().place, schedule.wrong.front().message, "the schedule cannot run there");
  SimulationOptions simulation_options;
  simulation_options.occupancy = point.occupancy;
  simulation_options.routes = point.collective().routes;
  simulation_options.threads = options.threads;
  simulation_options.record_sends = true;
  VerifyOptions checking;
  checking.memory_limit_bytes = options.memory_limit_bytes;
  checking.threads = options.threads;
  ForeignSchedule messages = schedule;
  join_relays(messages);
  auto judged = run(messages, topology, point, simulation_options, checking);
  if (!judged) return judged;
  if (judged->verdict.outcome == Verification::invalid) {
    // A sum that leaves an NPU in other pieces than it came in is no message that is forwarded: each transfer is then
    // a message of its own.
    judged = run(schedule, topology, point, simulation_options, checking);
    if (!judged) return judged;
  }
  ExecutionCache bounds(0);
  const auto bound = bound_of_schedule({{plain, judged->file.collective, point.occupancy}, true, false}, bounds);
  judged->bound = bound.time;
  judged->bound_name = bound.name;
  return judged;
}

}  // namespace tenex
