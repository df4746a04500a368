// Time of bounds on one thread: of a full search as in `tenex bound` (with `--exact`: the best weights by Clp), of the
// search that a row makes, and of the cheap bounds. The counter `time_us` is the bound.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>
#include <utility>

#include "benchmark/cases.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/bound/certificates.hpp"
#include "tenex/files/input_files.hpp"

namespace tenex::benchmarks {
namespace {

using enum CollectiveKind;

/// As make_case(), also for a machine file: 1 MiB per chunk.
Case case_of(const std::string& network, CollectiveKind kind) {
  if (!network.ends_with(".toml")) return make_case(network, kind);
  auto topology = topology_of(read_machine_file(TENEX_SOURCE_DIR "/experiments/machines/" + network).value());
  const auto npus = topology.npus();
  return {std::move(topology), support::collective(kind, npus, mebibytes(static_cast<std::int64_t>(npus)), 1)};
}

BoundProblem problem_of(const Case& given) { return {{given.topology, given.collective, Occupancy::serialization}}; }

const BoundMethod& method_of(const std::string& name) {
  return *std::ranges::find(bound_methods(), name, &BoundMethod::name);
}

template <class Bounded>
void measure(benchmark::State& state, const Bounded& bounded) {
  SimTime time;
  for (auto _ : state) {
    time = bounded();
    benchmark::DoNotOptimize(time);
  }
  state.counters["time_us"] = static_cast<double>(time.count()) / 1e6;
}

void full(benchmark::State& state, const std::string& name, const std::string& network, CollectiveKind kind) {
  const auto given = case_of(network, kind);
  const auto& method = method_of(name);
  measure(state, [&] {
    const auto found = method.certify(problem_of(given), method.full_work);
    return found ? found->time : SimTime::zero();
  });
}

/// As a row has it: within `work`, on the stand-in, checked, then evaluated for the problem.
void in_row(benchmark::State& state, const std::string& name, const std::string& network, CollectiveKind kind,
            std::uint64_t work) {
  const auto given = case_of(network, kind);
  const auto& method = method_of(name);
  measure(state, [&] {
    const auto found = StandIn(problem_of(given)).find(method, work);
    return found ? method.time_of(problem_of(given), *found) : SimTime::zero();
  });
}

void exact(benchmark::State& state, const std::string& name, const std::string& network, CollectiveKind kind) {
  const auto given = case_of(network, kind);
  const auto& method = method_of(name);
  if (method.exact == nullptr) return state.SkipWithError("built without Clp");
  measure(state, [&] {
    const auto found = method.exact(problem_of(given));
    return found ? found->time : SimTime::zero();
  });
}

void cheap(benchmark::State& state, const std::string& network, CollectiveKind kind) {
  const auto given = case_of(network, kind);
  measure(state, [&] { return best_cheap_bound(problem_of(given)).time; });
}

constexpr auto kUnit = benchmark::kMillisecond;
BENCHMARK_CAPTURE(cheap, smoke_mesh_4x4, "mesh(4,4)", all_gather)->Unit(kUnit);
BENCHMARK_CAPTURE(full, smoke_cut_mesh_4x4, "cut", "mesh(4,4)", all_gather)->Unit(kUnit);
BENCHMARK_CAPTURE(full, cut_mesh_32x32, "cut", "mesh(32,32)", all_gather)->Unit(kUnit);
BENCHMARK_CAPTURE(full, cut_mesh_200x200, "cut", "mesh(200,200)", all_gather)->Unit(kUnit);
BENCHMARK_CAPTURE(full, cut_rfs_16x16x40, "cut", "RI(16)_FC(16)_SW(40)", all_gather)->Unit(kUnit);
BENCHMARK_CAPTURE(full, strength_mesh_200x200, "strength", "mesh(200,200)", all_reduce)->Unit(kUnit);
BENCHMARK_CAPTURE(full, strength_dragonfly_16x33, "strength", "dragonfly(16,33)", all_reduce)->Unit(kUnit);
BENCHMARK_CAPTURE(full, strength_dgx1, "strength", "dgx1.toml", all_reduce)->Unit(kUnit);
BENCHMARK_CAPTURE(full, strength_dgx2_2ch, "strength", "dgx2_2ch.toml", all_reduce)->Unit(kUnit);
BENCHMARK_CAPTURE(full, strength_a100_4x8, "strength", "forestcoll_a100_4x8.toml", all_reduce)->Unit(kUnit);
BENCHMARK_CAPTURE(full, strength_mi250_2x16, "strength", "forestcoll_mi250_2x16.toml", all_reduce)->Unit(kUnit);
BENCHMARK_CAPTURE(full, flow_mesh_8x8, "flow", "mesh(8,8)", all_to_all)->Unit(kUnit);
BENCHMARK_CAPTURE(in_row, smoke_flow_mesh_4x4, "flow", "mesh(4,4)", all_to_all, 1U << 16U)->Unit(kUnit);
BENCHMARK_CAPTURE(in_row, cut_mesh_32x32, "cut", "mesh(32,32)", all_gather, 1U << 18U)->Unit(kUnit);
BENCHMARK_CAPTURE(in_row, strength_a100_4x8, "strength", "forestcoll_a100_4x8.toml", all_reduce, 1U << 16U)
    ->Unit(kUnit);
BENCHMARK_CAPTURE(exact, flow_mesh_8x8, "flow", "mesh(8,8)", all_to_all)->Unit(kUnit);
BENCHMARK_CAPTURE(exact, flow_mesh_12x12, "flow", "mesh(12,12)", all_to_all)->Unit(kUnit);
BENCHMARK_CAPTURE(exact, strength_a100_4x8, "strength", "forestcoll_a100_4x8.toml", all_reduce)->Unit(kUnit);
BENCHMARK_CAPTURE(exact, strength_dgx2_2ch, "strength", "dgx2_2ch.toml", all_reduce)->Unit(kUnit);

}  // namespace
}  // namespace tenex::benchmarks
