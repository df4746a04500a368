// Networks and mappings for tests of the synthesized collective times.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "evaluate/cache.hpp"
#include "tenex/evaluate/evaluate.hpp"
#include "tenex/workload/parallelization.hpp"
#include "training/collective_models.hpp"

namespace tenex::support {

/// A training point's network: a shape with one bandwidth per NPU and dimension, no latency unless said.
struct SynthesizedNetwork {
  DesignPoint point;
  std::vector<Bandwidth> bandwidth;
  Cache cache;
  std::vector<Cache> caches_of_one;  ///< for models that share nothing
  EvaluateOptions options;

  explicit SynthesizedNetwork(const std::string& shape, const std::string& algorithm = "tacos",
                              SimTime alpha = SimTime::zero()) {
    point.topology.shape = parse_shape(shape).value();
    point.topology.links.alpha = {alpha};
    point.algorithm = algorithm;
    bandwidth.assign(point.topology.shape.dimensions(), gigabytes_per_second(2));
  }

  [[nodiscard]] TrainingNetwork network(bool cached = true) {
    return {point, bandwidth, options, (cached ? cache : caches_of_one.emplace_back()).impl().training};
  }
  [[nodiscard]] Mapping mapping(const std::string& hp) const {
    return Mapping::make(point.topology.shape, parse_parallelization(hp).value()).value();
  }
};

inline Communication gather(Scope scope, std::int64_t size) { return {TrafficKind::all_gather, bytes(size), scope}; }

}  // namespace tenex::support
