// Costs of training points: the costs of the distinct communications of their workloads, each as the collective point
// that the time model makes of it, and of the pairs of streams that share links. Bandwidths are not read, so many
// splits of one network have one estimate.
#include "tenex/training/estimate.hpp"
#include "tenex/execution/algorithm_table.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "training/collective_models.hpp"
#include "training/dimension_network.hpp"
#include "training/group_network.hpp"
#include "training/joint_memory.hpp"
#include "training/synthesized_time.hpp"
#include "training/training_setup.hpp"

namespace tenex {
namespace {

constexpr double share_of_chosen_sends = 0.25;  // the fastest algorithm often sends less than the largest
constexpr std::size_t bytes_of_formula = 1 << 20;

/// The unit of the split of bandwidth that the point asks for, if any. perf_opt, and the steps that `equal` has in
/// common with it, minimize the time.
std::optional<WorkUnit> split_of(const DesignPoint& point) {
  const BandwidthScheme& scheme = point.training().scheme;
  if (!scheme) return std::nullopt;
  return scheme == SplitScheme::perf_per_cost ? WorkUnit::product_split : WorkUnit::time_split;
}

Cost without_collectives(const DesignPoint& point) {
  Work work(WorkUnit::formula, 1);
  if (const auto split = split_of(point)) work.add(*split, 1);
  const double weight = work.weight();
  return {std::move(work), weight, bytes_of_formula, false};
}

/// The part of a collective's work that an iteration has, too: it is neither hashed nor bounded by certificates, nor
/// played on switches.
Work within_iteration(Work work) {
  for (const WorkUnit unit :
       {WorkUnit::hashed_send, WorkUnit::hashed_cell, WorkUnit::certificate_visit, WorkUnit::switched_hop})
    work.drop(unit);
  return work;
}

/// The point with one alpha for all dimensions or one for each; another number of alphas is replaced.
DesignPoint with_plain_links(DesignPoint point) {
  auto& alpha = point.topology.links.alpha;
  const auto dimensions = point.topology.shape.dimensions();
  if (alpha.size() != 1 && alpha.size() != dimensions) alpha = {microseconds(1)};
  return point;
}

/// The collectives of a training point, as collective points.
class CollectivePoints {
 public:
  CollectivePoints(const TrainingNetwork& network, const Mapping& mapping, TimingModel timing)
      : network_(network), mapping_(mapping), timing_(timing) {}

  [[nodiscard]] DesignPoint of(const Communication& communication) const {
    const auto& span = mapping_.span(communication.scope);
    if (timing_ != TimingModel::synthesized)
      return pipelined_point(
          network_, group_network(span, mapping_.shape(), network_.point.topology.links.alpha, network_.bandwidth),
          communication, timing_ == TimingModel::themis);
    const auto dimensions = dimensions_of(span);
    auto point = synthesized_point(network_, dimensions, communication);
    fit_chunks(point, span.members());
    point.collective().groups = {groups_within(mapping_, communication.scope, dimensions), point.topology.shape.npus()};
    return point;
  }

 private:
  const TrainingNetwork& network_;
  const Mapping& mapping_;
  TimingModel timing_;
};

/// Adds the cost of concurrent communications.
void add_joint(Cost& whole, const TrainingNetwork& network, const Iteration& iteration, TrainingLoop loop) {
  const auto limit = network.options.memory_limit_bytes;
  for (const auto& pair : joint_pairs(iteration, loop)) {
    if (!may_share(iteration.mapping, pair)) continue;
    const auto need = joint_need(network, iteration.mapping, pair, SendCount::expected);
    if (need.limit() > limit) {
      whole.bytes = std::max(whole.bytes, need.limit());
      continue;  // refused
    }
    const double share = tries_all(network.point) ? share_of_chosen_sends : 1;
    const Work sends(WorkUnit::joint_send, need.sends * share);
    whole.work += sends;
    whole.weight += sends.weight();
    whole.bytes = std::max(whole.bytes, need.held_bytes + std::max(need.spread_bytes, need.replay_bytes));
  }
}

}  // namespace

std::optional<Cost> cost_of_formula(const DesignPoint& point) {
  if (!is_libra(point.training().collective_time)) return std::nullopt;
  return without_collectives(point);
}

Cost cost_of_training(const DesignPoint& given, const std::function<Cost(const DesignPoint&)>& of_collective,
                      TrainingCache& cache, std::size_t memory_limit_bytes) {
  auto whole = without_collectives(given);
  const auto& choice = given.training();
  const auto point = with_plain_links(given);
  const auto found = find_setup(point, cache);
  if (!*found) return {};
  const auto& setup = **found;
  const auto& iteration = setup.traffic.iteration();
  ExecutionOptions options;
  options.memory_limit_bytes = memory_limit_bytes;
  const std::vector<Bandwidth> bandwidth(iteration.mapping.shape().dimensions(), gigabytes_per_second(100));
  const TrainingNetwork network{point, bandwidth, options, cache};
  const bool contention = choice.collective_time == TimingModel::synthesized && choice.contention == Contention::links;
  if (contention && !check_joint_memory(network, iteration, choice.training_loop)) {  // refused before any work
    add_joint(whole, network, iteration, choice.training_loop);
    return whole;
  }
  const CollectivePoints points(network, iteration.mapping, choice.collective_time);
  for (const auto& [communication, family, turns, once, volume] : setup.traffic.communications()) {
    if (!collective_of(communication.kind)) continue;
    auto one = of_collective(points.of(communication));
    whole.work += within_iteration(std::move(one.work));
    whole.weight += one.weight;
    whole.bytes = std::max(whole.bytes, one.bytes);
    whole.threaded |= one.threaded;
  }
  if (contention) add_joint(whole, network, iteration, choice.training_loop);
  return whole;
}

}  // namespace tenex
