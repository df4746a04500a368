// Hops per second of the simulators: every engine on the programs that it is made for, textbook programs with little
// and with much congestion, and the replay of large schedules.
//
// Cases whose name begins with `large` take seconds to minutes: they exist only where a filter is given. One of them by
// hand, the median of three:
//   build/release/bin/benchmark_simulation --benchmark_filter='large/ring_all_reduce_40000/window/threads:2'
//       --benchmark_repetitions=3 --benchmark_report_aggregates_only=true
// All names, with large ones: build/release/bin/benchmark_simulation --benchmark_list_tests --benchmark_filter=.
//
// Counters: hops, hops_per_s, messages_per_s, user_s (of all threads, per simulation), peak_mb (of the process so far:
// run one case at a time to read it), collective_time_ps (simulated).
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "benchmark/cases.hpp"
#include "benchmark/filtered_main.hpp"
#include "tenex/algorithm/algorithm.hpp"
#include "tenex/simulation/simulator.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex::benchmarks {
namespace {

struct SimulationCase {
  std::string name;
  std::string shape;
  std::string algorithm;
  CollectiveKind kind = CollectiveKind::all_gather;
  SimulationEngine engine = SimulationEngine::window;
  std::vector<int> threads = {1};
  std::int64_t chunks = 1;
  bool record = false;  ///< record the sends, otherwise every NPU's finish
  DestinationOrder order = DestinationOrder::relative;
};

/// The shape; its switches cut through where the engine is made for them.
Topology network_of(const SimulationCase& given) {
  auto topology = support::shape(given.shape);
  if (given.engine != SimulationEngine::wires) return topology;
  return wires_of(topology.with_switches(SwitchProperties{.forwarding = Forwarding::cut_through})).value();
}

std::vector<SimulationCase> simulation_cases() {
  using enum SimulationEngine;
  using enum CollectiveKind;
  const std::string ring = "ring_unidirectional";
  return {
      {"smoke/ring_8", "RI(8)", "ring", all_reduce, window, {1}, 1, true},
      {"smoke/direct_ring_16/trains", "RI(16)", "direct", all_gather, trains},
      {"smoke/direct_torus_4x4/orbit", "torus(4,4)", "direct", all_gather, orbit},
      {"smoke/ring_all_reduce_16/static_order", "RI(16)", ring, all_reduce, static_order},
      {"ring_all_reduce_512/window", "RI(512)", "ring", all_reduce},
      {"direct_all_reduce_torus_8x8x8/window", "torus(8,8,8)", "direct", all_reduce},
      {"direct_all_reduce_torus_8x8x8/recorded", "torus(8,8,8)", "direct", all_reduce, window, {1}, 1, true},
      {"direct_fc_1024/trains", "FC(1024)", "direct", all_gather, trains},
      {"direct_fc_1024/window", "FC(1024)", "direct"},
      {"direct_ring_1024/trains", "RI(1024)", "direct", all_gather, trains},
      {"direct_ring_1024/orbit", "RI(1024)", "direct", all_gather, orbit},
      {"direct_switch_4096/trains", "SW(4096)", "direct", all_gather, trains},
      {"direct_exchange_switches_8x64/wires", "SW(8)_SW(64)", "direct", all_to_all, wires},
      {"direct_exchange_switches_8x64/recorded", "SW(8)_SW(64)", "direct", all_to_all, wires, {1}, 1, true},
      {"direct_exchange_switch_4096/wires", "SW(4096)", "direct", all_to_all, wires},
      {"ring_all_reduce_switch_64/wires", "SW(64)", ring, all_reduce, wires, {1}, 64},
      {"ring_all_gather_4096/window", "RI(4096)", ring, all_gather, window, {1, 2}},
      {"ring_all_gather_4096/static_order", "RI(4096)", ring, all_gather, static_order},
      {"ring_all_reduce_40000/static_order", "RI(40000)", ring, all_reduce, static_order},
      {"ring_all_reduce_40000/orbit", "RI(40000)", ring, all_reduce, orbit},
      {"direct_torus_32x32x32/orbit", "torus(32,32,32)", "direct", all_gather, orbit},
      {"direct_torus_8x8x8_absolute/window",
       "torus(8,8,8)",
       "direct",
       all_gather,
       window,
       {1},
       1,
       false,
       DestinationOrder::absolute},
      {"rhd_torus_32x32x32/window", "torus(32,32,32)", "rhd", all_reduce, window, {1, 2}},
      {"hierarchical_torus_32x32x32/window", "torus(32,32,32)", "hierarchical", all_reduce, window, {1, 2}},
      {"large/direct_ring_1024/window", "RI(1024)", "direct", all_gather, window, {1, 2}},
      {"large/rhd_torus_32x32x32_64_chunks/window", "torus(32,32,32)", "rhd", all_reduce, window, {2}, 64},
      {"large/hierarchical_torus_32x32x32_64_chunks/window",
       "torus(32,32,32)",
       "hierarchical",
       all_reduce,
       window,
       {2},
       64},
      {"large/ring_all_reduce_40000/window", "RI(40000)", ring, all_reduce, window, {2}},
  };
}

void count(benchmark::State& state, const Simulation& simulation, double user) {
  using benchmark::Counter;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto hops = static_cast<double>(simulation.hops);
  state.counters["hops"] = hops;
  state.counters["hops_per_s"] = Counter(hops, Counter::kIsIterationInvariantRate);
  state.counters["messages_per_s"] =
      Counter(static_cast<double>(simulation.messages), Counter::kIsIterationInvariantRate);
  state.counters["user_s"] = Counter(user, Counter::kAvgIterations);
  state.counters["peak_mb"] = static_cast<double>(usage.ru_maxrss) / 1024;
  state.counters["collective_time_ps"] = static_cast<double>(simulation.finish.count());
}

void run_simulation(benchmark::State& state, const SimulationCase& given, int threads) {
  const auto topology = network_of(given);
  const auto npus = static_cast<std::int64_t>(topology.npus());
  const auto collective = support::collective(given.kind, topology.npus(), mebibytes(npus), given.chunks);
  AlgorithmOptions made;
  made.order = given.order;
  const auto program = find_algorithm(given.algorithm)->make(topology, collective, made).value();
  SimulationOptions options;
  options.engine = given.engine;
  options.threads = threads;
  options.record_sends = given.record;
  options.record_npu_finish = !given.record;
  std::optional<Simulation> simulation;
  const double before = user_seconds();
  for (auto _ : state) {
    simulation.reset();
    simulation = simulate(topology, collective, *program, options).value();
  }
  count(state, *simulation, user_seconds() - before);
}

struct ReplayCase {
  std::string name;
  std::string shape;
  std::string_view engine;
  Replay mode;
};

std::vector<ReplayCase> replay_cases() {
  constexpr std::string_view exact = "exact";
  constexpr std::string_view coarse = "coarse";
  using enum Replay;
  return {
      {"smoke/replay_mesh_12x12", "mesh(12,12)", exact, as_soon_as_possible},
      {"replay_mesh_64x64/timed", "mesh(64,64)", exact, timed},
      {"replay_mesh_64x64/as_soon_as_possible", "mesh(64,64)", exact, as_soon_as_possible},
      {"large/replay_mesh_200x200/timed", "mesh(200,200)", exact, timed},
      {"large/replay_mesh_200x200/as_soon_as_possible", "mesh(200,200)", exact, as_soon_as_possible},
      {"large/replay_coarse_mesh_200x200/timed", "mesh(200,200)", coarse, timed},
  };
}

/// Replays a schedule; its synthesis is not timed.
void run_replay(benchmark::State& state, const ReplayCase& given, int threads) {
  const auto problem = make_case(given.shape);
  const auto plan =
      find_synthesizer("tacos")
          ->synthesize(
              {problem.topology, problem.collective, Occupancy::transfer, {1, 1, std::string(given.engine)}, threads})
          .value();
  SimulationOptions options;
  options.occupancy = Occupancy::transfer;
  options.threads = threads;
  options.record_npu_finish = true;
  std::optional<Simulation> simulation;
  const double before = user_seconds();
  for (auto _ : state)
    simulation = replay(problem.topology, problem.collective, plan.schedule, given.mode, options).value();
  if (simulation->finish > plan.time) state.SkipWithError("the replay ends later than the plan");
  count(state, *simulation, user_seconds() - before);
}

template <class Given>
void add(const Given& given, void (*run)(benchmark::State&, const Given&, int), int threads) {
  benchmark::RegisterBenchmark((given.name + "/threads:" + std::to_string(threads)).c_str(), run, given, threads)
      ->Unit(benchmark::kMillisecond)
      ->MeasureProcessCPUTime()
      ->UseRealTime();
}

void add_cases(bool with_large) {
  for (const auto& given : simulation_cases())
    for (const int threads : given.threads)
      if (with_large || !given.name.starts_with("large")) add(given, run_simulation, threads);
  for (const auto& given : replay_cases())
    for (const int threads : {1, 2})
      if (with_large || !given.name.starts_with("large")) add(given, run_replay, threads);
}

}  // namespace
}  // namespace tenex::benchmarks

int main(int argc, char** argv) { return tenex::benchmarks::run_benchmarks(argc, argv, tenex::benchmarks::add_cases); }
