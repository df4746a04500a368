// How many hops per second the simulators process: textbook programs with little and with much congestion.
#include <benchmark/benchmark.h>

#include <string>

#include "benchmark/cases.hpp"
#include "tenex/algorithm/algorithm.hpp"
#include "tenex/simulation/simulator.hpp"

namespace tenex::benchmarks {
namespace {

void simulate_program(benchmark::State& state, const std::string& shape, const std::string& algorithm, bool record) {
  const auto topology = support::shape(shape);
  const auto collective = support::collective(CollectiveKind::all_reduce, topology.npus(),
                                              mebibytes(static_cast<std::int64_t>(topology.npus())));
  const auto program = find_algorithm(algorithm)->make(topology, collective).value();
  SimulationOptions options;
  options.record_sends = record;
  std::uint64_t hops = 0;
  for (auto _ : state) hops = simulate(topology, collective, *program, options).value().hops;
  state.counters["hops"] = static_cast<double>(hops);
  state.counters["hops_per_s"] =
      benchmark::Counter(static_cast<double>(hops), benchmark::Counter::kIsIterationInvariantRate);
}

BENCHMARK_CAPTURE(simulate_program, smoke_ring_8, "RI(8)", "ring", true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulate_program, ring_on_ring_512, "RI(512)", "ring", false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulate_program, direct_on_ring_128, "RI(128)", "direct", false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulate_program, direct_on_fc_256, "FC(256)", "direct", false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulate_program, direct_on_torus_8x8x8, "torus(8,8,8)", "direct", false)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulate_program, direct_on_torus_8x8x8_recorded, "torus(8,8,8)", "direct", true)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulate_program, direct_on_switch_256, "SW(256)", "direct", false)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tenex::benchmarks
