// A collective time model that returns proven lower bounds.
//
// `synthesized`: the bound of the same collective for all groups of the scope, on the whole network. It holds for
// schedules that use any link, though the model's schedules keep to the dimensions of their groups. Above 4,096 NPUs,
// bounds that search the whole network for paths are left out: they take seconds per collective instead of
// milliseconds. Those on lengths of paths are then computed on the groups' own dimensions, as a path through other
// dimensions is only longer. A message between stages is bounded by the fastest path. `pipeline`, `themis`: the bound
// on the group's own network, which these models simulate; a message's formula is its own bound. Certificates (cuts,
// partitions, flows) are searched for a millisecond. Concurrent streams are bounded by the bounds of each alone.
#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "tenex/bound/bound.hpp"
#include "tenex/execution/algorithm_table.hpp"
#include "tenex/execution/execution_cache.hpp"
#include "training/collective_models.hpp"
#include "training/dimension_network.hpp"
#include "training/message_path.hpp"
#include "training/synthesized_time.hpp"

namespace tenex {
namespace {

/// Bounds search for paths on up to this many NPUs.
constexpr std::size_t kMostSearchedNpus = 4096;

/// The largest of the bounds that do not search for paths.
SimTime counted_bound(const BoundProblem& problem) {
  SimTime largest;
  for (const auto& method : bound_methods())
    if (method.compute != nullptr && !method.searches_paths)
      largest = std::max(largest, method.compute(problem).value_or(SimTime::zero()));
  return largest;
}

SimTime bound_on_lengths(const BoundProblem& problem) {
  return largest_bound_with(&BoundMethod::lengths_alone, problem);
}

/// Link visits of the search for a collective's bound: a millisecond.
constexpr std::uint64_t kBoundWork = std::uint64_t{1} << 16;

class BoundTime : public CollectiveTime {
 public:
  explicit BoundTime(const TrainingNetwork& network) : network_(network), cache_(network.cache.execution) {}

  [[nodiscard]] std::string_view name() const override { return "bound"; }

 protected:
  [[nodiscard]] std::shared_ptr<const Result<PointTopology>> topology_of(const DesignPoint& point) const {
    return find_topology_within(point, network_.options.memory_limit_bytes, cache_);
  }

  /// The bound stored under the point's key and `words`, computed by `compute` if it is not stored yet.
  template <class Compute>
  [[nodiscard]] Result<SimTime> remembered(const DesignPoint& point, const std::string& words,
                                           Compute&& compute) const {
    Diagnostics errors;
    const auto bound = cache_.bounds.get(
        cache_key(point, kOfNetwork | kOfBoundOnNetwork) + words + (sends_single_chunks(point) ? "" : " several"),
        [&]() -> CachedBound {
          const Result<SimTime> made = compute();
          errors = made.errors();
          return {"", made ? *made : SimTime::zero(), -1};
        },
        [](const CachedBound& value) { return sizeof(value); });
    if (!errors.empty()) return errors;
    return bound->time;
  }

  /// The result of `judge` for the point's collective on its topology.
  template <class Judge>
  [[nodiscard]] Result<SimTime> judged(const DesignPoint& point, std::vector<ProcessGroup> groups,
                                       Judge&& judge) const {
    const auto built = topology_of(point);
    if (!*built) return built->errors();
    const auto& topology = (*built)->topology;
    const auto collective = Collective::make(
        {point.collective().kind, topology.npus(), std::move(groups), point.chunks, point.collective().size, 0});
    if (!collective) return collective.errors();
    return judge(
        BoundProblem{topology, *collective, point.occupancy, point.collective().overlap, sends_single_chunks(point)});
  }

  /// The best bound, cheap or with a certificate.
  [[nodiscard]] SimTime best_bound(const BoundProblem& problem) const {
    const auto cheap = best_cheap_bound(problem);
    CachedBound bound{std::string(cheap.name), cheap.time, -1};
    raise_by_certificates(bound, problem, kBoundWork, cache_);
    return bound.time;
  }

  TrainingNetwork network_;
  ExecutionCache& cache_;
};

class SynthesizedBound final : public BoundTime {
 public:
  using BoundTime::BoundTime;

  [[nodiscard]] Result<SimTime> time(const Communication& communication, const Mapping& mapping) const override {
    const auto& span = mapping.span(communication.scope);
    if (!collective_of(communication.kind)) return message(communication, span);
    Dimensions all(mapping.shape().dimensions());
    for (std::size_t dimension = 0; dimension < all.size(); ++dimension) all[dimension] = dimension;
    auto point = synthesized_point(network_, all, communication);
    fit_chunks(point, span.members());
    std::string words = " of";
    for (const auto& share : span.shares)
      words += fmt::format(" {}:{}:{}", share.dimension, share.members, share.stride);
    return remembered(point, words, [&]() -> Result<SimTime> {
      if (mapping.shape().npus() <= kMostSearchedNpus)
        return judged(point, mapping.groups(communication.scope),
                      [&](const BoundProblem& problem) { return best_bound(problem); });
      const auto counted = judged(point, mapping.groups(communication.scope), counted_bound);
      if (!counted) return counted.errors();
      const auto own = dimensions_of(span);
      auto inside = synthesized_point(network_, own, communication);
      fit_chunks(inside, span.members());
      const auto reach = judged(inside, groups_within(mapping, communication.scope, own), bound_on_lengths);
      if (!reach) return reach.errors();
      return std::max(*counted, *reach);
    });
  }

 private:
  [[nodiscard]] Result<SimTime> message(const Communication& communication, const GroupSpan& span) const {
    const Communication any{TrafficKind::all_reduce, communication.size, communication.scope};
    const auto built = topology_of(synthesized_point(network_, dimensions_of(span), any));
    if (!*built) return built->errors();
    return least_message_time((*built)->topology, span, communication.size);
  }
};

class PipelineBound final : public BoundTime {
 public:
  PipelineBound(const TrainingNetwork& network, bool themis, std::unique_ptr<MeasuredCollectiveTime> model)
      : BoundTime(network), themis_(themis), model_(std::move(model)) {}

  [[nodiscard]] Result<SimTime> time(const Communication& communication, const Mapping& mapping) const override {
    if (!collective_of(communication.kind)) return model_->time(communication, mapping);
    const auto group = group_network(mapping.span(communication.scope), mapping.shape(),
                                     network_.point.topology.links.alpha, network_.bandwidth);
    const auto point = pipelined_point(network_, group, communication, themis_);
    return remembered(point, " alone", [&] {
      return judged(point, {}, [&](const BoundProblem& problem) { return best_bound(problem); });
    });
  }

 private:
  bool themis_;
  std::unique_ptr<MeasuredCollectiveTime> model_;
};

}  // namespace

Result<std::unique_ptr<CollectiveTime>> make_bound_time(const TrainingNetwork& network, TimingModel collective_time) {
  if (is_synthesized(collective_time))
    return std::unique_ptr<CollectiveTime>(std::make_unique<SynthesizedBound>(network));
  const bool themis = collective_time == TimingModel::themis;
  ensure(themis || collective_time == TimingModel::pipeline, "a formula has no collectives to bound");
  auto model = make_pipeline_time(network, themis);
  if (!model) return model.errors();
  return std::unique_ptr<CollectiveTime>(std::make_unique<PipelineBound>(network, themis, *std::move(model)));
}

}  // namespace tenex
