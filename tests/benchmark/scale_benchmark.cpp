// The engines at scale: wall time (column Time), CPU time of all cores (column CPU) and user time (counter user_s) of a
// synthesis and its verification, their cost per delivery, and the efficiency.
//
// Cases whose name begins with `large` take seconds to minutes and up to 10 GB: they exist only where a filter is
// given. One of them by hand, the median of three:
//   build/release/bin/benchmark_scale --benchmark_filter='large/coarse_mesh_200x200/synthesize/threads:2'
//       --benchmark_repetitions=3 --benchmark_report_aggregates_only=true
// All names, with large ones: build/release/bin/benchmark_scale --benchmark_list_tests --benchmark_filter=.
//
// Counters: deliveries (sends between NPUs, all of which a collective needs), deliveries_per_s, bytes_per_delivery (of
// the schedule held), efficiency (bound over time), user_s (per synthesis or verification), peak_gb (of the process so
// far: run one case at a time to read it).
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "benchmark/cases.hpp"
#include "benchmark/filtered_main.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/schedule/verifier/symmetric_verifier.hpp"
#include "tenex/schedule/verifier/verifier.hpp"

namespace tenex::benchmarks {
namespace {

struct ScaleCase {
  std::string name;
  std::string shape;
  std::string_view engine;
  CollectiveKind kind = CollectiveKind::all_gather;
  std::int64_t chunks = 1;
  Occupancy occupancy = Occupancy::transfer;
};

std::vector<ScaleCase> scale_cases() {
  constexpr std::string_view exact = "exact";
  constexpr std::string_view coarse = "coarse";
  constexpr std::string_view symmetric = "symmetric";
  using enum CollectiveKind;
  return {
      {"smoke/exact_mesh_12x12", "mesh(12,12)", exact},
      {"smoke/coarse_mesh_16x16", "mesh(16,16)", coarse},
      {"smoke/symmetric_torus_6x6", "torus(6,6)", symmetric},
      {"smoke/exact_mesh_8x8_all_reduce", "mesh(8,8)", exact, all_reduce},
      {"exact_mesh_32x32", "mesh(32,32)", exact},
      {"exact_mesh_64x64", "mesh(64,64)", exact},
      {"exact_grid_16x16x16", "grid(16,16,16)", exact},
      {"exact_mesh_32x32_2_chunks", "mesh(32,32)", exact, all_gather, 2},
      {"exact_mesh_32x32_serialization", "mesh(32,32)", exact, all_gather, 1, Occupancy::serialization},
      {"exact_mesh_32x32_all_reduce", "mesh(32,32)", exact, all_reduce},
      {"coarse_mesh_64x64", "mesh(64,64)", coarse},
      {"coarse_grid_16x16x16", "grid(16,16,16)", coarse},
      {"coarse_mesh_64x64_all_reduce", "mesh(64,64)", coarse, all_reduce},
      {"symmetric_torus_32x32x32", "torus(32,32,32)", symmetric},
      {"large/exact_mesh_200x200", "mesh(200,200)", exact},
      {"large/exact_grid_35x35x35", "grid(35,35,35)", exact},
      {"large/exact_mesh_200x200_all_reduce", "mesh(200,200)", exact, all_reduce},
      {"large/coarse_mesh_200x200", "mesh(200,200)", coarse},
      {"large/coarse_grid_35x35x35", "grid(35,35,35)", coarse},
      {"large/coarse_mesh_199x211", "mesh(199,211)", coarse},
      {"large/coarse_mesh_200x200_3_chunks", "mesh(200,200)", coarse, all_gather, 3},
      {"large/coarse_mesh_200x200_serialization", "mesh(200,200)", coarse, all_gather, 1, Occupancy::serialization},
      {"large/coarse_mesh_200x200_all_reduce", "mesh(200,200)", coarse, all_reduce},
      {"large/symmetric_torus_100x100x100", "torus(100,100,100)", symmetric},
      {"large/symmetric_torus_100x100x100_all_reduce", "torus(100,100,100)", symmetric, all_reduce},
  };
}

double peak_gigabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024e-9;
}

/// A case as a problem; owns the topology.
struct Subject {
  explicit Subject(const ScaleCase& given, int thread_count)
      : scale_case(given), problem_case(make_case(given.shape, given.kind, given.chunks)), threads(thread_count) {}

  Synthesis synthesize() const {
    return find_synthesizer("tacos")
        ->synthesize({problem_case.topology,
                      problem_case.collective,
                      scale_case.occupancy,
                      {1, 1, std::string(scale_case.engine)},
                      threads})
        .value();
  }
  Verdict check(const Schedule& schedule) const {
    if (scale_case.engine == "symmetric")
      return verify_symmetric({problem_case.topology, problem_case.collective, scale_case.occupancy}, schedule);
    VerifyOptions options;
    options.threads = threads;
    return verify({problem_case.topology, problem_case.collective, scale_case.occupancy}, schedule, options);
  }

  ScaleCase scale_case;
  Case problem_case;
  int threads;
};

void count(benchmark::State& state, const Subject& subject, const Synthesis& made, double user) {
  using benchmark::Counter;
  const auto deliveries = static_cast<double>(made.schedule.sends());
  const auto bound = best_cheap_bound(
      {subject.problem_case.topology, subject.problem_case.collective, subject.scale_case.occupancy, true});
  state.counters["deliveries"] = deliveries;
  state.counters["deliveries_per_s"] = Counter(deliveries, Counter::kIsIterationInvariantRate);
  state.counters["bytes_per_delivery"] = static_cast<double>(made.schedule.memory_bytes()) / deliveries;
  state.counters["efficiency"] = static_cast<double>(bound.time.count()) / static_cast<double>(made.time.count());
  state.counters["user_s"] = Counter(user, Counter::kAvgIterations);
  state.counters["peak_gb"] = peak_gigabytes();
}

void synthesize(benchmark::State& state, const ScaleCase& given, int threads) {
  const Subject subject(given, threads);
  std::optional<Synthesis> made;
  const double before = user_seconds();
  for (auto _ : state) {
    made.reset();  // free the schedule before the next one is made
    made = subject.synthesize();
  }
  count(state, subject, *made, user_seconds() - before);
}

void check(benchmark::State& state, const ScaleCase& given, int threads) {
  const Subject subject(given, threads);
  const Synthesis made = subject.synthesize();
  const double before = user_seconds();
  for (auto _ : state) {
    const auto verdict = subject.check(made.schedule);
    if (!verdict.valid() || verdict.collective_time != made.time) state.SkipWithError("the schedule is not valid");
  }
  count(state, subject, made, user_seconds() - before);
}

void add(const std::string& name, void (*run)(benchmark::State&, const ScaleCase&, int), const ScaleCase& given,
         int threads) {
  benchmark::RegisterBenchmark((name + "/threads:" + std::to_string(threads)).c_str(), run, given, threads)
      ->Unit(benchmark::kMillisecond)
      ->MeasureProcessCPUTime()
      ->UseRealTime();
}

void add_cases(bool with_large) {
  for (const auto& given : scale_cases()) {
    if (given.name.starts_with("large") && !with_large) continue;
    for (const int threads : {1, 2}) {
      if (given.engine == "symmetric" && threads > 1) continue;  // it uses one thread
      add(given.name + "/synthesize", synthesize, given, threads);
      add(given.name + "/verify", check, given, threads);
    }
  }
}

}  // namespace
}  // namespace tenex::benchmarks

int main(int argc, char** argv) { return tenex::benchmarks::run_benchmarks(argc, argv, tenex::benchmarks::add_cases); }
