// The refusals of a point that follow from its topology, groups and algorithm alone: the first checks of its
// evaluation, without the program and the simulation.
#include <utility>

#include "evaluate/cache.hpp"
#include "tenex/algorithm/algorithm.hpp"
#include "tenex/evaluate/evaluate.hpp"
#include "tenex/execution/build.hpp"
#include "tenex/execution/sizes.hpp"

namespace tenex {
namespace {

constexpr std::size_t kMostTopologyBytes = std::size_t{64} << 20;  ///< built in a fraction of a second

Diagnostics refusal_of(const DesignPoint& point) {
  const auto built = build_transformed_topology(point);
  if (!built) return built.errors();
  const auto collective = build_point_collective(with_any_chunks(point), built->topology.npus());
  if (!collective) return collective.errors();
  if (const auto reach = check_reach(point, *built, *collective); !reach) return reach.errors();
  if (const auto flows = check_flow_control(point, built->topology); !flows) return flows.errors();
  const auto* algorithm = find_algorithm(point.algorithm);
  if (point.collective().kind == CollectiveKind::all_reduce && !point.collective().overlap && !point.reads.phases)
    return {no_halves(point.algorithm)};
  if (algorithm == nullptr) return {};
  return check_fits(*algorithm, built->topology, *collective).errors();
}

}  // namespace

std::string Foresight::operator()(const DesignPoint& point) {
  if (point.trains() || planned_topology_bytes(point) > kMostTopologyBytes) return {};
  auto key = network_key(point) + settings_text(point, Changes::collective | Changes::synthesis | Changes::simulation);
  const auto [known, is_new] = known_.try_emplace(std::move(key));
  if (is_new) known->second = to_string(refusal_of(point));
  return known->second;
}

}  // namespace tenex
