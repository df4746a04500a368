// Time of one training point when the work that points share is cached: LIBRA's formulas with stated bandwidths, and
// the schemes that choose them.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "evaluate/training_points.hpp"

namespace tenex::benchmarks {
namespace {

using support::Words;

/// 100 splits of 1000 GB/s on 4D-4K.
std::vector<DesignPoint> points_of(const std::string& workload, const std::string& hp, const std::string& scheme) {
  std::vector<DesignPoint> points;
  for (int which = 0; which < 100; ++which) {
    Words words{{"workload", workload},
                {"topology", "RI(4)_FC(8)_RI(4)_SW(32)"},
                {"hp", hp},
                {"scheme", scheme},
                {"total_bandwidth", std::to_string(1000 + which) + "GB/s"}};
    if (scheme == "given") words.emplace_back("split", std::to_string(which + 1) + ":13:7:3");
    points.push_back(make_point(words, vocabulary()).value());
  }
  return points;
}

/// `cold`: no split is cached.
void train(benchmark::State& state, const std::string& workload, const std::string& hp, const std::string& scheme,
           bool cold) {
  const auto points = points_of(workload, hp, scheme);
  Cache cache;
  std::size_t which = 0;
  for (auto _ : state) {
    if (cold && which % points.size() == 0) {
      state.PauseTiming();
      cache = Cache();
      (void)evaluate(points_of(workload, hp, "equal").front(), cache, {});  // caches the workload's mapping
      state.ResumeTiming();
    }
    const auto row = evaluate(points[which++ % points.size()], cache, {}).row;
    if (row.status != PointStatus::ok) state.SkipWithError(row.reason.c_str());
    benchmark::DoNotOptimize(row.training_time_ps);
  }
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK_CAPTURE(train, smoke_gpt3, "gpt3", "16,256", "given", false)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(train, msft_1t, "msft_1t", "128,32", "given", false)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(train, turing_nlg, "turing_nlg", "1,4096", "given", false)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(train, dlrm, "dlrm", "1,4096", "given", false)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(train, resnet50, "resnet50", "1,4096", "given", false)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(train, resnet50_per_layer, "resnet50_per_layer", "1,4096", "given", false)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(train, smoke_perf_opt, "gpt3", "16,256", "perf_opt", true)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace tenex::benchmarks
