// Sends per second that the verifier replays.
#include <benchmark/benchmark.h>

#include <string>

#include "benchmark/cases.hpp"
#include "tenex/schedule/verifier/symmetric_verifier.hpp"
#include "tenex/schedule/verifier/verifier.hpp"
#include "tenex/schedule/views/scaled.hpp"
#include "tenex/topology/timing.hpp"

namespace tenex::benchmarks {
namespace {

void verify_schedule(benchmark::State& state, const std::string& shape, CollectiveKind kind, int threads = 1) {
  const auto given = make_case(shape, kind);
  const auto made = synthesize_case(given);
  VerifyOptions options;
  options.threads = threads;
  for (auto _ : state) {
    const auto verdict = verify({given.topology, given.collective, Occupancy::transfer}, made.schedule, options);
    if (!verdict.valid()) state.SkipWithError("the schedule is not valid");
  }
  state.counters["sends_per_s"] =
      benchmark::Counter(static_cast<double>(made.schedule.sends()), benchmark::Counter::kIsIterationInvariantRate);
}

/// A schedule made for chunks of 1 MiB, scaled to another size: the difference from verify_schedule is the cost of the
/// scaling view.
void verify_scaled(benchmark::State& state, const std::string& shape, CollectiveKind kind) {
  const auto given = make_case(shape, kind);
  const auto npus = given.topology.npus();
  const auto larger = support::collective(kind, npus, bytes(1'234'567) * static_cast<std::int64_t>(npus));
  const auto hop_of = [&](const Collective& collective) {
    return hop_time(given.topology.classes()[0], collective.chunk_sizes()[0], Occupancy::transfer).busy;
  };
  const auto schedule = scaled(synthesize_case(given).schedule, hop_of(given.collective), hop_of(larger));
  for (auto _ : state) {
    const auto verdict = verify({given.topology, larger, Occupancy::transfer}, schedule);
    if (!verdict.valid()) state.SkipWithError("the schedule is not valid");
  }
  state.counters["sends_per_s"] =
      benchmark::Counter(static_cast<double>(schedule.sends()), benchmark::Counter::kIsIterationInvariantRate);
}

/// The orbit check: one NPU's sends represent those of all.
void verify_orbits(benchmark::State& state, const std::string& shape, CollectiveKind kind) {
  const auto given = make_case(shape, kind);
  const auto made = synthesize_case(given);
  for (auto _ : state) {
    const auto verdict = verify_symmetric({given.topology, given.collective, Occupancy::transfer}, made.schedule);
    if (!verdict.valid()) state.SkipWithError("the schedule is not valid");
  }
  state.counters["sends"] = static_cast<double>(made.schedule.sends());
}

using enum CollectiveKind;
BENCHMARK_CAPTURE(verify_orbits, smoke_torus_4x4, "torus(4,4)", all_reduce)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(verify_orbits, gather_torus_100x100x100, "torus(100,100,100)", all_gather)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(verify_orbits, all_reduce_torus_100x100x100, "torus(100,100,100)", all_reduce)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(verify_schedule, smoke_mesh_4x4, "mesh(4,4)", all_reduce)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(verify_schedule, gather_mesh_32x32, "mesh(32,32)", all_gather)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(verify_schedule, scatter_mesh_32x32, "mesh(32,32)", reduce_scatter)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(verify_schedule, all_reduce_mesh_32x32, "mesh(32,32)", all_reduce)->Unit(benchmark::kMillisecond);
// A schedule of 16.8e6 (33.5e6) sends that is read link by link.
BENCHMARK_CAPTURE(verify_schedule, gather_mesh_64x64, "mesh(64,64)", all_gather)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(verify_schedule, gather_mesh_64x64_2_threads, "mesh(64,64)", all_gather, 2)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(verify_schedule, all_reduce_mesh_64x64, "mesh(64,64)", all_reduce)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(verify_scaled, smoke_mesh_4x4, "mesh(4,4)", all_reduce)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(verify_scaled, gather_mesh_64x64, "mesh(64,64)", all_gather)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(verify_scaled, all_reduce_mesh_64x64, "mesh(64,64)", all_reduce)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(verify_schedule, gather_rfs_4x8x8, "RI(4)_FC(8)_SW(8)", all_gather)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tenex::benchmarks
