// Estimates of many points. Points that cost the same are estimated once.
#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "evaluate/cache.hpp"
#include "evaluate/choices.hpp"
#include "tenex/evaluate/evaluate.hpp"
#include "tenex/execution/algorithm_table.hpp"
#include "tenex/execution/build.hpp"
#include "tenex/execution/execution_cache.hpp"
#include "tenex/execution/plan.hpp"
#include "tenex/execution/prepared_point.hpp"
#include "tenex/execution/sizes.hpp"
#include "tenex/topology/block.hpp"
#include "tenex/training/estimate.hpp"

namespace tenex {
namespace {

bool is_plain_shape(const DesignPoint& point) { return point.topology.machine_file.empty(); }

Cost cost_by_building(const DesignPoint& point, std::size_t memory_limit_bytes, ExecutionCache& cache) {
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;
  const auto topology_bytes = planned_topology_bytes(point);
  if (is_plain_shape(point) && topology_bytes > most_bytes) return guess_synthesis(point);
  const auto prepared = prepare(point, ExecutionOptions{}.memory_limit_bytes, cache);
  // What cannot run takes nothing; plans may take it for granted that every NPU of a group is reached.
  if (!prepared || !check_reach(*prepared)) return {};
  return cost_of_point(*prepared, memory_limit_bytes);
}

template <class T>
const T& pick(const std::vector<T>& values, std::size_t dimension) {
  return values[std::min(dimension, values.size() - 1)];
}

/// A stand-in for a point that costs the same: the links of each dimension are one of few kinds, and all chunks have
/// the same size. `text` is equal for points with equal stand-ins. Points that differ only in size, speed or seed share
/// one.
struct SizeTwin {
  std::string text;
  std::vector<SimTime> alpha;
  std::vector<Bandwidth> bandwidth;
};

SizeTwin stand_in_for(const DesignPoint& point) {
  const auto& choice = point.topology;
  SizeTwin result;
  result.text = cache_key(point, Changes::network | Changes::collective | Changes::chunks | Changes::synthesis |
                                     Changes::simulation | Changes::bound);
  if (!is_plain_shape(point)) return result;
  constexpr auto fastest = gigabytes_per_second(1000);
  std::vector<LinkClass> kinds;
  for (std::size_t i = 0; i < choice.shape.dimensions(); ++i) {
    const LinkClass given{pick(choice.links.alpha, i), pick(choice.links.bandwidth, i)};
    const auto kind = static_cast<std::size_t>(std::ranges::find(kinds, given) - kinds.begin());
    if (kind == kinds.size()) kinds.push_back(given);
    result.alpha.push_back(given.alpha == SimTime::zero() ? SimTime::zero() : microseconds(1));
    result.bandwidth.push_back(fastest / static_cast<std::int64_t>(kind + 1));
    result.text += fmt::format(" {}{}", kind, given.alpha == SimTime::zero() ? "z" : "");
  }
  if (choice.links.per_npu) result.text += " per NPU";
  return result;
}

DesignPoint put_in(DesignPoint point, SizeTwin stand_in) {
  constexpr std::int64_t bytes_per_chunk = 1'000'000;
  if (!is_plain_shape(point)) return point;
  point.topology.links.alpha = std::move(stand_in.alpha);
  point.topology.links.bandwidth = std::move(stand_in.bandwidth);
  const auto chunks = static_cast<std::int64_t>(sizes_of_shape(point).collective.chunks);
  point.collective().size = std::max(point.collective().size, bytes(chunks * bytes_per_chunk));
  return point;
}

}  // namespace

Cost Estimator::remember(const std::string& text, const std::function<Cost()>& make) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = known_.find(text); known != known_.end()) return known->second;
  }
  const auto made = make();
  const std::lock_guard lock(mutex_);
  known_.emplace(text, made);
  return made;
}

Estimate Estimator::operator()(const DesignPoint& point) { return cost(point).estimate(); }

std::string Estimator::sharing_key(const DesignPoint& point) {
  return stand_in_for(point).text + std::to_string(point.seed);
}

Cost Estimator::cost(const DesignPoint& point) {
  if (point.trains()) {
    if (auto quick = cost_of_formula(point)) return *std::move(quick);
    return remember(cache_key(point, kOfTrainingCost), [&] {
      return cost_of_training(
          point, [this](const DesignPoint& collective) { return cost(collective); }, workloads_.impl().training,
          memory_limit_bytes_);
    });
  }
  if (leaves_choice(point)) return cost_of_choice(point, *this, memory_limit_bytes_);
  if (is_plain_shape(point) && is_program(point)) return cost_of_program(point, memory_limit_bytes_);
  auto stand_in = stand_in_for(point);
  const auto text = stand_in.text;
  return remember(text, [&]() -> Cost {
    try {
      return cost_by_building(put_in(point, std::move(stand_in)), memory_limit_bytes_, workloads_.impl().execution);
    } catch (const std::bad_alloc&) {
      return is_plain_shape(point) ? guess_synthesis(point) : Cost{};
    }
  });
}

Estimate estimate(const DesignPoint& point, std::size_t memory_limit_bytes) {
  return Estimator(memory_limit_bytes)(point);
}

}  // namespace tenex
