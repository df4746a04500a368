// The window engine: one event per hop, store-and-forward, one FIFO per directed link, for any program.
//
// A message that enters a link at t starts at max(t, free), holds the link for its busy time and arrives at start +
// alpha + beta*m (the ASTRA-sim2.0 thesis, section 3.4.2). Arrivals at a vertex are handled by (time, in-port rank,
// FIFO). Handling them changes only the vertex's out-links, so vertices are independent until the least hop time has
// passed.
//
// The engine uses that: time is cut into windows of 2^k <= the least hop time, so nothing handled in a window can
// arrive in it. Each link's FIFO is in order of arrival already; a calendar holds the heads. For each window, the
// engine goes through its vertices and merges the arrivals at each. Threads own contiguous vertices and meet after each
// window, and the results do not depend on the number of threads. Ids are given at injection and renumbered at the end
// in the order (time of injection, NPU, order there), which does not depend on the windows.
//
// A switch with virtual cut-through passes a message on before its whole arrival. When depends on the next link
// (tenex/topology/hand_over.hpp), which routes tell beforehand: a flight's arrival is the time from which on it may go
// on. Those of one link keep their order: a message is ready before all of it has left the link, and the next one not
// before its own first byte is there. Over a link without alpha that may be at the instant at which it starts. Then
// windows are one picosecond long, and are taken in rounds until none of their messages is left.
//
// Of an open loop, where each NPU hangs on a switch by one link and only finishes and loads are asked for, an NPU's
// messages are generated one by one: the next one enters the link when the one before arrives at the switch. All were
// at the link at time zero, so they take it at the same times; but memory holds those on the way only.
#include <algorithm>
#include <deque>
#include <exception>
#include <memory>
#include <numeric>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "simulation/backends.hpp"
#include "simulation/window_network.hpp"
#include "simulation/window_worker.hpp"

namespace tenex {
namespace {

constexpr std::int64_t stop = -1;

/// Runs the workers until no message is under way.
void run_together(std::vector<WindowWorker*>& workers) {
  WindowBarrier barrier(static_cast<int>(workers.size()));
  std::vector<std::exception_ptr> broken(workers.size());
  const auto guarded = [&](std::size_t thread, auto&& work) {
    try {
      const auto next = work();
      return workers[thread]->failure ? stop : next;
    } catch (...) {
      broken[thread] = std::current_exception();
      return stop;
    }
  };
  const auto run_one = [&](std::size_t thread) {
    auto mine = guarded(thread, [&] { return workers[thread]->begin(); });
    for (auto window = barrier.meet(mine); window != WindowBarrier::no_window && window != stop;
         window = barrier.meet(mine))
      mine = guarded(thread, [&] { return workers[thread]->step(workers, window); });
  };
  {
    // Not OpenMP's threads: all of them must run at the same time, even if the caller is a thread of a team itself.
    std::vector<std::jthread> others;
    for (std::size_t thread = 1; thread < workers.size(); ++thread) others.emplace_back(run_one, thread);
    run_one(0);
  }
  for (const auto& error : broken)
    if (error) std::rethrow_exception(error);
}

void add_up(Simulation& total, WindowWorker& part) {
  total.finish = std::max(total.finish, part.finish);
  total.messages += part.messages;
  total.hops += part.hops;
  if (total.npu_finish.empty()) total.npu_finish.swap(part.npu_finish);
  for (std::size_t npu = 0; npu < part.npu_finish.size(); ++npu)
    total.npu_finish[npu] = std::max(total.npu_finish[npu], part.npu_finish[npu]);
  if (total.links.empty()) total.links.swap(part.links);
  for (std::size_t link = 0; link < part.links.size(); ++link) {
    total.links[link].bytes += part.links[link].bytes;
    total.links[link].busy += part.links[link].busy;
  }
}

Result<Simulation> run(const Topology& topology, const Collective& collective, const Program& program,
                       const SimulationOptions& options, const std::optional<SimTime>& finish) {
  WindowNetwork network(topology, collective, program, options);
  const auto state = program.begin();
  std::deque<WindowWorker> workers;
  std::vector<WindowWorker*> all;
  std::optional<UtilizationBins> bins;
  if (finish) bins.emplace(*finish, options.utilization_bins);
  for (int thread = 0; thread < network.threads(); ++thread)
    all.push_back(&workers.emplace_back(network, *state, thread, bins));
  run_together(all);
  Simulation result;
  for (auto* worker : all) {
    if (worker->failure) return *worker->failure;
    add_up(result, *worker);
  }
  if (bins) result.utilization = workers[0].utilization->result();
  if (options.record_arrivals) result.arrivals = make_arrivals(std::move(workers[0].delivered), program);
  if (options.record_sends) {
    auto sends = make_record(std::move(workers[0].sends), workers[0].injections, collective, program);
    if (!sends) return sends.errors();
    result.sends = std::move(*sends);
  }
  return result;
}

Result<Simulation> run_windows(const Topology& topology, const Collective& collective, const Program& program,
                               const SimulationOptions& options) {
  if (topology.links() == 0 && program.messages() == 0) return Simulation{};
  auto first = options;
  first.utilization_bins = 0;
  if (options.utilization_bins == 0) {
    auto result = run(topology, collective, program, options, std::nullopt);
    if (result || options.threads <= 1) return result;
    first.threads = 1;  // so that of several failures, the one that a single thread meets first is reported
    return run(topology, collective, program, first, std::nullopt);
  }
  // The width of the bins is only known from the finish.
  first.record_sends = first.record_arrivals = first.record_links = first.record_npu_finish = false;
  const auto rehearsal = run_windows(topology, collective, program, first);
  if (!rehearsal) return rehearsal.errors();
  return run(topology, collective, program, options, rehearsal->finish);
}

}  // namespace

std::optional<Result<Simulation>> simulate_in_windows(const Topology& topology, const Collective& collective,
                                                      const Program& program, const SimulationOptions& options) {
  if (topology.wires() != nullptr) return std::nullopt;
  return run_windows(topology, collective, program, options);
}

}  // namespace tenex
