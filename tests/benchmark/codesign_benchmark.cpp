// Bandwidth splits that a core finds per second: 4 dimensions, 3 terms, without overlaps and with two, the region
// prepared for every solve.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "benchmark/splits.hpp"

namespace tenex::benchmarks {
namespace {

void split(benchmark::State& state, SplitScheme scheme, const std::vector<std::string>& texts, int overlaps) {
  const auto rates = libra_rates();
  std::vector<LinearConstraint> rows;
  for (const auto& text : texts)
    for (auto& row : rows_of(parse_constraint(text).value(), kDimensions, &rates).value()) rows.push_back(row);
  const auto models = random_models(overlaps);
  double worst_gap = 0;
  std::int64_t steps = 0;
  std::size_t which = 0;
  for (auto _ : state) {
    const auto region = make_region(kDimensions, rows);
    const auto best = split_bandwidth(scheme, models[which++ % kModels], *region, &rates);
    worst_gap = std::max(worst_gap, best->relative_gap);
    steps += best->newton_steps;
  }
  state.counters["worst_gap"] = worst_gap;
  state.counters["newton_steps"] = benchmark::Counter(static_cast<double>(steps), benchmark::Counter::kAvgIterations);
  state.SetItemsProcessed(state.iterations());
}

using enum SplitScheme;
const std::vector<std::string> kTotal{"total = 1000GB/s"};
const std::vector<std::string> kOrdered{"total = 1000GB/s", "B1 >= B2 >= B3", "25GB/s <= B3 <= 150GB/s"};
const std::vector<std::string> kBudget{"total = 1000GB/s", "cost <= 40MUSD"};
BENCHMARK_CAPTURE(split, smoke_total, perf_opt, kTotal, 0)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(split, ordered, perf_opt, kOrdered, 0)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(split, budget, perf_opt, kBudget, 0)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(split, overlap, perf_opt, kTotal, 2)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(split, smoke_product, perf_per_cost, kTotal, 0)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(split, product_overlap, perf_per_cost, kTotal, 2)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace tenex::benchmarks
