// The main() of benchmark programs whose cases are made at run time.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <string_view>

namespace tenex::benchmarks {

/// Runs the cases that `add_cases(filtered)` adds; `filtered`: the user named a filter, so that large cases may be
/// among them. Returns the exit code.
template <class AddCases>
int run_benchmarks(int argc, char** argv, AddCases&& add_cases) {
  const bool filtered = std::any_of(
      argv, argv + argc, [](const char* word) { return std::string_view(word).starts_with("--benchmark_filter"); });
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  add_cases(filtered);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}

}  // namespace tenex::benchmarks
