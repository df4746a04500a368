// How many sends per second the verifier replays.
#include <benchmark/benchmark.h>

#include <string>

#include "benchmark/cases.hpp"
#include "tenex/schedule/verifier.hpp"

namespace tenex::benchmarks {
namespace {

void verify_schedule(benchmark::State& state, const std::string& shape, CollectiveKind kind) {
  const auto given = make_case(shape, kind);
  const auto made = synthesize_case(given);
  for (auto _ : state) {
    const auto verdict = verify(given.topology, given.collective, Occupancy::transfer, made.schedule);
    if (!verdict.valid()) state.SkipWithError("the schedule is not valid");
  }
  state.counters["sends_per_s"] = benchmark::Counter(static_cast<double>(made.schedule.sends()),
                                                     benchmark::Counter::kIsIterationInvariantRate);
}

using enum CollectiveKind;
BENCHMARK_CAPTURE(verify_schedule, smoke_mesh_4x4, "mesh(4,4)", all_reduce)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(verify_schedule, gather_mesh_32x32, "mesh(32,32)", all_gather)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(verify_schedule, scatter_mesh_32x32, "mesh(32,32)", reduce_scatter)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(verify_schedule, all_reduce_mesh_32x32, "mesh(32,32)", all_reduce)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(verify_schedule, gather_rfs_4x8x8, "RI(4)_FC(8)_SW(8)", all_gather)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tenex::benchmarks
