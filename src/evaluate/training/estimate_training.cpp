// Costs of training points from their sizes: neither the workload nor the bandwidths are looked at, so that a plan of a
// million points takes no time. Seconds as measured on one core of a 2-core machine.
#include "estimate_training.hpp"

#include <algorithm>

#include "choice_words.hpp"
#include "collective_models.hpp"
#include "group_network.hpp"
#include "training_setup.hpp"

namespace tenex {
namespace {

constexpr double seconds_per_formula = 5e-6;
constexpr double seconds_per_time_split = 100e-6;  // perf_opt, and what equal shares with it
constexpr double seconds_per_product_split = 0.05;
constexpr std::size_t bytes_of_formula = 1 << 20;
constexpr double collectives_per_scope = 2;        // distinct ones, in the models of experiments/workloads
constexpr std::int64_t bytes_per_chunk = 1 << 20;  // of a collective that stands for them

double solver_seconds(const std::string& scheme) {
  if (scheme == "given") return 0;
  return scheme == "perf_per_cost" ? seconds_per_product_split : seconds_per_time_split;
}

/// A collective of one group in place of the workload's, on links that are all alike.
DesignPoint stand_in(const DesignPoint& point, const Mapping& mapping, const GroupSpan& span, TimingModel timing) {
  const auto& shape = mapping.shape();
  const std::vector<Bandwidth> bandwidth(shape.dimensions(), gigabytes_per_second(100));
  auto alpha = point.topology.links.alpha;
  if (alpha.size() != 1 && alpha.size() != shape.dimensions()) alpha = {microseconds(1)};
  const auto group = group_network(span, shape, alpha, bandwidth);
  const auto size = bytes(std::max<std::int64_t>(point.chunks, 1) * span.members() * bytes_per_chunk);
  const Communication communication{TrafficKind::all_reduce, size, Scope::world};
  auto made = pipelined_point({point, bandwidth, {}, nullptr}, group, communication, timing == TimingModel::themis);
  if (timing != TimingModel::synthesized) return made;
  made.algorithm = point.algorithm;
  made.family = point.family;
  return made;
}

/// Groups that a synthesized collective has on the lines of the dimensions that one of them spans.
double groups_together(const GroupSpan& span) {
  double groups = 1;
  for (const auto& share : span.shares) groups *= static_cast<double>(share.extent) / share.members;
  return groups;
}

}  // namespace

Estimate estimate_training(const DesignPoint& point, const std::function<Estimate(const DesignPoint&)>& of_collective) {
  const auto& choice = *point.training;
  Estimate whole{seconds_per_formula + solver_seconds(choice.scheme), bytes_of_formula, false};
  const auto timing = parse_timing_model(choice.collective_time);
  const auto degrees = parse_parallelization(choice.hp);
  if (!timing || !degrees) return {};
  if (is_libra(*timing)) return whole;
  const auto mapping = Mapping::make(point.topology.shape, *degrees);
  if (!mapping) return {};
  for (const auto scope : {Scope::tensor, Scope::data, Scope::expert}) {
    const auto& span = mapping->span(scope);
    if (span.shares.empty()) continue;
    const auto one = of_collective(stand_in(point, *mapping, span, *timing));
    const double groups = *timing == TimingModel::synthesized ? groups_together(span) : 1;
    whole.seconds += one.seconds * collectives_per_scope * groups;
    whole.bytes = std::max(whole.bytes, static_cast<std::size_t>(static_cast<double>(one.bytes) * groups));
    whole.threaded |= one.threaded;
  }
  return whole;
}

}  // namespace tenex
