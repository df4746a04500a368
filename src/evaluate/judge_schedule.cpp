#include <fmt/format.h>

#include <set>
#include <utility>

#include "tenex/evaluate/judged_schedule.hpp"
#include "tenex/execution/execution_cache.hpp"
#include "tenex/execution/prepared_point.hpp"
#include "tenex/schedule/verifier/symmetric_verifier.hpp"
#include "tenex/simulation/simulator.hpp"
#include "tenex/topology/routes.hpp"

namespace tenex {

void check_links(ForeignSchedule& schedule, const Topology& topology) {
  Router router(topology);
  std::set<std::pair<NpuId, NpuId>> known;
  for (const auto& transfer : schedule.transfers) {
    if (!known.emplace(transfer.source, transfer.destination).second) continue;
    const auto target = vertex_of(transfer.destination);
    VertexId at = vertex_of(transfer.source);
    std::string why;
    for (std::size_t hops = 0; at != target && why.empty(); ++hops) {
      const auto link =
          hops > topology.vertices() ? LinkId::none() : router.next_link(at, transfer.source, transfer.destination);
      if (!link.exists()) {
        why = "no way leads there";
        break;
      }
      at = topology.target(link);
      if (at != target && topology.is_npu(at)) why = fmt::format("the way leads over NPU {}", at.value());
    }
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
  const Topology& topology = prepared->topology();
  if (topology.npus() != schedule.npus)
    return input_error({"--topology", 0, 0}, fmt::format("it has {} NPUs", topology.npus()),
                       fmt::format("the schedule is for {}", schedule.npus));
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
  const auto bound = bound_of_schedule({{topology, judged->file.collective, point.occupancy}, true, false}, bounds);
  judged->bound = bound.time;
  judged->bound_name = bound.name;
  return judged;
}

}  // namespace tenex
