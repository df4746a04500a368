// Time of TACOS and of the engine `paths` of pccl on one thread, and bound over collective time (counter `efficiency`).
#include <benchmark/benchmark.h>

#include <string>

#include "benchmark/cases.hpp"
#include "synthesis/pccl/paths/paths.hpp"
#include "tenex/bound/bound.hpp"

namespace tenex::benchmarks {
namespace {

void synthesize(benchmark::State& state, const std::string& shape, CollectiveKind kind, std::int64_t chunks) {
  const auto given = make_case(shape, kind, chunks);
  const auto bound = best_cheap_bound({given.topology, given.collective, Occupancy::transfer, true});
  std::uint64_t sends = 0;
  SimTime time;
  for (auto _ : state) {
    const auto made = synthesize_case(given);
    sends = made.schedule.sends();
    time = made.time;
    benchmark::DoNotOptimize(sends);
  }
  state.counters["sends"] = static_cast<double>(sends);
  state.counters["sends_per_s"] =
      benchmark::Counter(static_cast<double>(sends), benchmark::Counter::kIsIterationInvariantRate);
  state.counters["efficiency"] = static_cast<double>(bound.time.count()) / static_cast<double>(time.count());
}

/// The engine `paths` of pccl.
void plan(benchmark::State& state, const std::string& shape, CollectiveKind kind, std::int64_t chunks) {
  const auto given = make_case(shape, kind, chunks);
  const Instance instance{given.topology, given.collective, Occupancy::transfer};
  const auto bound = best_cheap_bound({instance, true});
  PathsPlan made;
  for (auto _ : state) {
    made = plan_paths({instance, {1, 1}}).value();
    benchmark::DoNotOptimize(made.gathered.time);
  }
  state.counters["sends"] = static_cast<double>(made.gathered.schedule.sends());
  state.counters["efficiency"] =
      static_cast<double>(bound.time.count()) / static_cast<double>(made.gathered.time.count());
}

using enum CollectiveKind;
BENCHMARK_CAPTURE(plan, smoke_paths_grid_3x3x3, "grid(3,3,3)", all_to_all, 1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(plan, paths_grid_8x8x8, "grid(8,8,8)", all_to_all, 1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(plan, paths_grid_10x10x10, "grid(10,10,10)", all_to_all, 1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(plan, paths_mesh_32x32, "mesh(32,32)", all_to_all, 1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(plan, paths_grid_4x4x4_64_chunks, "grid(4,4,4)", all_to_all, 64)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(plan, paths_mesh_8x8_64_chunks, "mesh(8,8)", all_to_all, 64)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(plan, paths_all_gather_torus_32x32, "torus(32,32)", all_gather, 1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(synthesize, smoke_mesh_4x4, "mesh(4,4)", all_gather, 1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(synthesize, mesh_16x16, "mesh(16,16)", all_gather, 1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(synthesize, mesh_32x32, "mesh(32,32)", all_gather, 1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(synthesize, torus_8x8x8, "torus(8,8,8)", all_gather, 1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(synthesize, smoke_torus_4x4, "torus(4,4)", all_gather, 1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(synthesize, torus_100x100x100, "torus(100,100,100)", all_gather, 1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(synthesize, all_reduce_torus_100x100x100, "torus(100,100,100)", all_reduce, 1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(synthesize, mesh_64x64, "mesh(64,64)", all_gather, 1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(synthesize, grid_16x16x16, "grid(16,16,16)", all_gather, 1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(synthesize, rfs_4x8x8, "RI(4)_FC(8)_SW(8)", all_gather, 1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(synthesize, mesh_10x10_2_chunks, "mesh(10,10)", all_gather, 2)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(synthesize, all_reduce_mesh_16x16, "mesh(16,16)", all_reduce, 1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tenex::benchmarks
