// Keys of the cache, and the look-ups.
#include "tenex/execution/execution_cache.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>

#include "execution/point_traits.hpp"
#include "tenex/base/hash.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/bound/certificates.hpp"
#include "tenex/execution/build.hpp"
#include "tenex/execution/plan.hpp"
#include "tenex/execution/sizes.hpp"
#include "tenex/synthesis/synthesizer.hpp"
#include "tenex/topology/transform.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex {

std::string cache_key(const DesignPoint& point, Changes changes) {
  auto key = settings_text(point, changes);
  if (!meet(changes, Changes::network)) return key;
  if (draws(point.topology.faults)) key += fmt::format(" d{}", point.seed);
  // Synthesizers get networks of their own (build_transformed_topology()): with an unwound one beside it, and without a
  // shape if links differ.
  const auto* synthesizer = find_synthesizer(point.algorithm);
  if (synthesizer != nullptr) key += synthesizer->reads.switches ? " s1" : " s0";
  return key;
}

std::optional<Topology> topology_for_bounds(const DesignPoint& point, const Topology& topology) {
  const Topology& network = physical_network(topology);
  const bool unlike = has_unlike_links(point, network) && network.shape();
  if (network.varies()) return unlike ? network.without_windows().without_shape() : network.without_windows();
  return unlike ? std::optional(network.without_shape()) : std::nullopt;
}

namespace {

std::string cache_key(const PreparedPoint& prepared, bool single_chunks) {
  return prepared.network_key + cache_key(prepared.point, kOfBoundOnNetwork) + (single_chunks ? "" : " several");
}

BoundProblem problem_of(const PreparedPoint& prepared, const Topology& bounded, bool single_chunks,
                        std::span<const StartDelay> start_delays) {
  const auto& point = prepared.point;
  return {{bounded, *prepared.collective, point.occupancy}, point.collective().overlap, single_chunks, start_delays};
}

std::size_t bytes_of_bound(const CachedBound& bound) {
  return sizeof(bound) + bound.name.size() + bound.left_out.size();
}

void leave_out(CachedBound& bound, std::string_view name) {
  bound.left_out += fmt::format("{}{}", bound.left_out.empty() ? "" : " ", name);
}

}  // namespace

void raise_by_certificates(CachedBound& bound, const BoundProblem& problem, std::uint64_t work, ExecutionCache& cache) {
  constexpr std::uint64_t kVisitsPerLink = 2;  // of the key and the stand-in
  const bool any = kVisitsPerLink * problem.topology.links() <= work;
  const auto network = any ? to_string(certificate_key(problem)) : std::string();
  std::optional<StandIn> stand_in;
  for (const auto& method : bound_methods()) {
    if (method.certify == nullptr || !method.concerns(problem.collective.kind())) continue;
    if (!any) {
      leave_out(bound, method.name);
      continue;
    }
    const auto limit = std::min(work, method.full_work);
    const auto certificate = cache.certificates.get(
        fmt::format("{} {} {}", network, method.name, limit),
        [&] {
          if (!stand_in) stand_in.emplace(problem);
          return stand_in->find(method, limit);
        },
        [](const std::optional<CertifiedBound>& found) {
          return sizeof(found) + (found ? 4 * (found->inside.size() + found->weights.size()) : 0);
        });
    if (limit < method.full_work && (!*certificate || (*certificate)->cut_short)) leave_out(bound, method.name);
    const auto time = *certificate ? method.time_of(problem, **certificate) : SimTime::zero();
    if (time > bound.time) {
      bound.time = time;
      bound.name = method.name;
    }
  }
}

namespace {

std::shared_ptr<const CachedBound> find_cheap(const std::string& key, const PreparedPoint& prepared, bool single_chunks,
                                              ExecutionCache& cache) {
  return cache.bounds.get(
      key,
      [&] {
        const auto plain = topology_for_bounds(prepared.point, prepared.topology());
        const Topology& bounded = plain ? *plain : prepared.topology();
        const auto problem = problem_of(prepared, bounded, single_chunks, prepared.start_delays);
        const auto bound = best_cheap_bound(problem);
        const auto ideal = paper_ideal(bounded, *prepared.collective);
        return CachedBound{std::string(bound.name), bound.time, ideal ? ideal->count() : -1, problem.holds_for_all()};
      },
      bytes_of_bound);
}

}  // namespace

std::shared_ptr<const CachedBound> find_cheap_bound(const PreparedPoint& prepared, bool single_chunks,
                                                    ExecutionCache& cache) {
  return find_cheap(cache_key(prepared, single_chunks), prepared, single_chunks, cache);
}

std::shared_ptr<const CachedBound> find_bound(const PreparedPoint& prepared, bool single_chunks, SimTime time,
                                              std::uint64_t work, ExecutionCache& cache) {
  const auto key = cache_key(prepared, single_chunks);
  auto cheap = find_cheap(key, prepared, single_chunks, cache);
  if (cheap->time >= time) return cheap;
  return cache.bounds.get(
      key + fmt::format(" within {}", work),
      [&] {
        const auto plain = topology_for_bounds(prepared.point, prepared.topology());
        CachedBound best = *cheap;
        raise_by_certificates(best, problem_of(prepared, plain ? *plain : prepared.topology(), single_chunks, {}), work,
                              cache);
        return best;
      },
      bytes_of_bound);
}

CachedBound bound_of_schedule(const BoundProblem& problem, ExecutionCache& cache) {
  const auto cheap = best_cheap_bound(problem);
  CachedBound best{std::string(cheap.name), cheap.time, -1, problem.holds_for_all()};
  auto timeless = problem;
  timeless.start_delays = {};
  const auto sends = sizes_of_collective(problem.collective).sends;
  raise_by_certificates(
      best, timeless, bound_work(sends * passes_of(problem.collective.kind()), problem.network.switches() == 0), cache);
  return best;
}

}  // namespace tenex
