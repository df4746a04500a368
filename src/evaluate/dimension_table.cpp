// The dimensions of a training point's network.
#include "tenex/evaluate/dimension_table.hpp"

#include "evaluate/cache.hpp"
#include "tenex/design/divide_bandwidth.hpp"
#include "tenex/training/training_point.hpp"

namespace tenex {

Result<DimensionTable> dimension_table(const DesignPoint& point, Cache& cache) {
  const auto prepared = prepare_training(point, cache.impl().training);
  if (!prepared) return prepared.errors();
  auto total = Bandwidth::zero();
  for (const auto each : prepared->bandwidth) total += each;
  auto chosen = network_use(point, *prepared, prepared->bandwidth);
  if (!chosen) return chosen.errors();
  auto equal = network_use(point, *prepared, divide_bandwidth(total, {}, prepared->bandwidth.size()));
  if (!equal) return equal.errors();
  const auto& kinds = point.training().dimension_kinds;
  return DimensionTable{kinds.empty() ? default_dimension_kinds(prepared->bandwidth.size()) : kinds, *std::move(chosen),
                        *std::move(equal)};
}

}  // namespace tenex
