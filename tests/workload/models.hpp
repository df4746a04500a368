// Small workloads and mappings for the tests of this module.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "tenex/workload/libra_time.hpp"
#include "tenex/workload/parallelization.hpp"
#include "tenex/workload/training.hpp"
#include "tenex/workload/workload.hpp"

namespace tenex::support {

inline Shape shape_of(std::string_view text) { return parse_shape(text).value(); }

inline Mapping mapping(std::string_view shape, std::string_view degrees) {
  return Mapping::make(shape_of(shape), parse_parallelization(degrees).value()).value();
}

inline LibraTime libra(std::string_view shape, std::vector<Bandwidth> bandwidth, LibraModel model = {}) {
  return LibraTime::make(shape_of(shape), std::move(bandwidth), std::move(model)).value();
}

/// The messages of a result's errors, as users read them.
template <class T>
std::string problem_of(const Result<T>& result) {
  return result.ok() ? "" : to_string(result.errors());
}

/// Times in microseconds at 1 TFLOPS: 1e6 FLOPs each.
inline PhaseWork work(std::int64_t microseconds, std::vector<Communication> communications = {}) {
  return {flops(microseconds * 1'000'000), std::move(communications)};
}

inline Communication all_reduce(Bytes size, Scope scope) { return {TrafficKind::all_reduce, size, scope}; }

inline Workload of_layers(std::vector<Layer> layers, std::int64_t repeat = 1) {
  Workload workload;
  workload.name = "test";
  workload.blocks.push_back({"layers", repeat, std::move(layers)});
  return workload;
}

/// Where HP-(2,2) has one dimension for either scope.
inline constexpr std::string_view kShape = "SW(2)_SW(2)";

/// On kShape as HP-(2,2) with 1 GB/s an All-Reduce over two NPUs moves its own size: 1 us per kB.
inline Communication sum(std::int64_t microseconds, Scope scope) {
  return {TrafficKind::all_reduce, bytes(microseconds * 1'000), scope};
}

/// Forward 10 then TP 3; input gradient 20 then TP `inputs`; weight gradient `compute` then DP 7.
inline Layer layer(std::int64_t inputs = 8, std::int64_t compute = 5) {
  return {"one",
          {work(10, {sum(3, Scope::tensor)}), work(20, {sum(inputs, Scope::tensor)}),
           work(compute, {sum(7, Scope::data)})}};
}

inline std::vector<std::int64_t> in_microseconds(const std::array<SimTime, kPhases>& parts) {
  std::vector<std::int64_t> result;
  for (const auto part : parts) result.push_back(part.count() / 1'000'000);
  return result;
}

}  // namespace tenex::support
