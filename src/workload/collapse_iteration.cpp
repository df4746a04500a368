// Collapses layers into terms.
//
// Two communications load the dimensions in the same proportion when they are of one family and their groups have the
// same span. The families are reductions and gathers (an All-Reduce counts twice), All-to-All, point-to-point, and with
// in-network reduction also All-Reduce by itself. Such communications are one term, whose bytes are summed exactly
// before anything is rounded.
#include <algorithm>

#include <fmt/core.h>

#include "tenex/workload/time_model.hpp"
#include "workload/saturating.hpp"

namespace tenex {

namespace {

constexpr auto kInputPhase = Phase::input_gradient;
constexpr auto kWeightPhase = Phase::weight_gradient;

/// A sum under construction: terms by family and span.
class SumBuilder {
 public:
  SumBuilder(const Mapping& mapping, const LibraModel& model) : mapping_(mapping), model_(model) {}

  void add_constant(SimTime time, std::int64_t count) {
    constant_ = saturating_sum(constant_, saturating_product(time, count));
  }

  void add(const Communication& communication, std::int64_t count) {
    const auto& span = mapping_.span(communication.scope);
    if (span.shares.empty() || count == 0) return;
    auto kind = communication.kind;
    std::int64_t weight = 1;
    if (kind == TrafficKind::reduce_scatter) kind = TrafficKind::all_gather;
    if (kind == TrafficKind::all_reduce && !reduces_in_network(span)) {
      kind = TrafficKind::all_gather;
      weight = 2;
    }
    const auto bytes = static_cast<Wide>(communication.size.count()) * static_cast<Wide>(count * weight);
    for (auto& part : parts_)
      if (part.kind == kind && *part.span == span) {
        part.bytes += bytes;
        return;
      }
    parts_.push_back({kind, &span, bytes});
  }

  void add(const PhaseWork& work, Phase phase, ComputeRate rate, std::int64_t turns, std::int64_t iterations) {
    add_constant(compute_time(work.compute, rate), turns);
    for (const auto& communication : work.communications)
      add(communication, once_per_iteration(phase, communication) ? iterations : turns);
  }

  [[nodiscard]] bool communicates() const { return !parts_.empty(); }

  [[nodiscard]] SimTime constant() const { return constant_; }

  [[nodiscard]] TimeSum finish() const {
    TimeSum sum{static_cast<double>(constant_.count()) / 1e12, {}};
    for (const auto& part : parts_) {
      TimeTerm term{1.0, std::vector<double>(mapping_.shape().dimensions(), 0.0)};
      for (const auto& volume : libra_volumes(part.kind, *part.span, mapping_.shape(), model_))
        term.volumes[volume.dimension] = static_cast<double>(static_cast<long double>(part.bytes) *
                                                             static_cast<long double>(volume.per_byte.numerator) /
                                                             static_cast<long double>(volume.per_byte.denominator));
      sum.terms.push_back(std::move(term));
    }
    return sum;
  }

 private:
  struct Part {
    TrafficKind kind;
    const GroupSpan* span;
    Wide bytes;
  };

  [[nodiscard]] bool reduces_in_network(const GroupSpan& span) const {
    return !model_.in_network.empty() && std::any_of(span.shares.begin(), span.shares.end(), [this](const auto& share) {
      return model_.in_network[share.dimension];
    });
  }

  const Mapping& mapping_;
  const LibraModel& model_;
  SimTime constant_;
  std::vector<Part> parts_;
};

class Collapser {
 public:
  Collapser(const Workload& workload, const Mapping& mapping, ComputeRate rate, const LibraModel& model)
      : workload_(workload),
        mapping_(mapping),
        rate_(rate),
        model_(model),
        sum_(mapping, model),
        turns_(saturating_sum(workload.microbatches, mapping.degrees().pipeline - 1)) {}

  TimeModel without_overlap() {
    for (const auto& block : workload_.blocks)
      for (const auto& layer : block.layers)
        for (const auto phase : {Phase::forward, kInputPhase, kWeightPhase})
          sum_.add(layer.at(phase), phase, rate_, saturating_product(block.repeat, turns_), block.repeat);
    return finish();
  }

  TimeModel with_tp_dp_overlap() {
    for (const auto& block : workload_.blocks)
      for (const auto& layer : block.layers) {
        sum_.add(layer.at(Phase::forward), Phase::forward, rate_, saturating_product(block.repeat, turns_),
                 block.repeat);
        sum_.add_constant(compute_time(layer.at(kInputPhase).compute, rate_), saturating_product(block.repeat, turns_));
        add_backward(layer, true, block.repeat);
        add_backward(layer, false, saturating_product(block.repeat, turns_ - 1));
      }
    return finish();
  }

  [[nodiscard]] SimTime constant() const { return sum_.constant(); }

 private:
  TimeModel finish() {
    auto sum = sum_.finish();
    return {mapping_.shape().dimensions(), sum.constant, std::move(sum.terms), std::move(overlaps_)};
  }

  /// max(input-gradient communication, weight-gradient computation and communication), `count` times.
  void add_backward(const Layer& layer, bool synchronize, std::int64_t count) {
    if (count == 0) return;
    SumBuilder inputs(mapping_, model_);
    for (const auto& communication : layer.at(kInputPhase).communications) inputs.add(communication, 1);
    if (!inputs.communicates()) {
      sum_.add(layer.at(kWeightPhase), kWeightPhase, rate_, count, synchronize ? count : 0);
      return;
    }
    SumBuilder weights(mapping_, model_);
    weights.add(layer.at(kWeightPhase), kWeightPhase, rate_, 1, synchronize ? 1 : 0);
    TimeOverlap overlap{static_cast<double>(count), inputs.finish(), weights.finish()};
    for (auto& known : overlaps_)
      if (known.first == overlap.first && known.second == overlap.second) {
        known.weight += overlap.weight;
        return;
      }
    overlaps_.push_back(std::move(overlap));
  }

  const Workload& workload_;
  const Mapping& mapping_;
  ComputeRate rate_;
  const LibraModel& model_;
  SumBuilder sum_;
  std::int64_t turns_;
  std::vector<TimeOverlap> overlaps_;
};

}  // namespace

Result<TimeModel> collapse_iteration(const Workload& workload, const Mapping& mapping, ComputeRate rate,
                                     const LibraModel& model, TrainingLoop loop) {
  ensure(rate.count() > 0, "a compute rate is positive");
  ensure(model.in_network.empty() || model.in_network.size() == mapping.shape().dimensions(),
         "in-network flags are one per dimension");
  Collapser collapser(workload, mapping, rate, model);
  if (loop == TrainingLoop::astra_sim)
    return unsupported_error({}, "the loop astra_sim has no closed form in the bandwidths",
                             "the waits of its forward pass depend on the order of all layers",
                             "optimize no_overlap or tp_dp_overlap, and evaluate astra_sim at the result");
  auto model_of_time = loop == TrainingLoop::no_overlap ? collapser.without_overlap() : collapser.with_tp_dp_overlap();
  if (collapser.constant() == SimTime::max())
    return resource_error(fmt::format("an iteration of {} computes for more than 106 days", workload.name),
                          "times are int64 picoseconds");
  return model_of_time;
}

}  // namespace tenex
