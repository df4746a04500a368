// The refusals of a point that follow from its topology, groups and algorithm alone: the first checks of its
// evaluation, without the program and the simulation.
#include <utility>

#include "evaluate/cache.hpp"
#include "tenex/evaluate/evaluate.hpp"
#include "tenex/execution/build.hpp"
#include "tenex/execution/prepared_point.hpp"

namespace tenex {
namespace {

constexpr std::size_t kMostTopologyBytes = std::size_t{64} << 20;  ///< built in a fraction of a second

std::string refusal_of(const DesignPoint& point, ExecutionCache& cache) {
  const auto any = with_any_chunks(point);
  const auto prepared = prepare(any, kMostTopologyBytes, cache);
  return to_string(prepared ? check_support(*prepared).errors() : prepared.errors());
}

}  // namespace

std::string Foresight::operator()(const DesignPoint& point) {
  if (point.trains()) return {};
  if (planned_topology_bytes(point) > kMostTopologyBytes) return {};
  auto key = cache_key(point, kOfNetwork | Changes::collective | Changes::synthesis | Changes::simulation);
  const auto [known, is_new] = known_.try_emplace(std::move(key));
  if (is_new) known->second = refusal_of(point, topologies_.impl().execution);
  return known->second;
}

}  // namespace tenex
