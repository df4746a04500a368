// The collective time models `pipeline` and `themis`: simulation of one group's network.
//
// All groups of a scope do the same on equal and disjoint parts of the network (group_network.hpp), so one of them is
// simulated: the multi-rail algorithm `hierarchical` of LIBRA (or Themis'), its chunks pipelined over the dimensions
// with the bubbles that LIBRA's formula leaves out. It is a collective point like any other: simulated, verified if its
// stream fits, and bounded. Themis does not order an All-to-All, so both models use `hierarchical` for it.
//
// `hierarchical` has a window of two chunks per stage. Without a window, every ring would serve the first hops of all
// chunks before any second hop, and the next dimension would wait. The window is two because the longer ways of two
// chunks lead round a ring of even size in opposite directions. With it, the collective times of the ASTRA-sim2.0
// thesis (ASTRA-sim2.0, Table 3.4) are reproduced to a hundredth.
//
// Where the switches of a group's dimensions add (`in_network`), its All-Reduces are those of `trees`, whose sums are
// complete in the switches: messages of programs go from NPU to NPU.
//
// A chunk has at least one byte per NPU: small messages are sent in fewer chunks, and messages of less than a byte per
// NPU are padded. A point-to-point message passes one link per dimension that it crosses, and the slowest sets the
// pace: alpha + m/B. Through a switch it passes a second link, which adds the time of the last chunk.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tenex/execution/algorithm_table.hpp"
#include "tenex/execution/execution_cache.hpp"
#include "tenex/execution/verified_collective.hpp"
#include "tenex/topology/block.hpp"
#include "tenex/topology/timing.hpp"
#include "tenex/workload/libra_time.hpp"
#include "training/collective_models.hpp"
#include "training/group_network.hpp"

namespace tenex {
namespace {

constexpr std::uint32_t kChunksPerStage = 2;
/// The algorithms of the two models; `themis` uses the first for collectives that the second does not support.
constexpr std::string_view kMultiRail = "hierarchical";
constexpr std::string_view kBalancedMultiRail = "themis";

SimTime clamped_sum(SimTime a, SimTime b) { return a > SimTime::max() - b ? SimTime::max() : a + b; }

/// One link of a dimension with the bandwidth that LIBRA's derating and the oversubscription leave to one group's
/// messages.
LinkClass message_link(const Block& block, const DimensionShare& share, SimTime alpha, Bandwidth npu_bandwidth) {
  __extension__ using Wide = __int128;
  const auto part = derating(block, share, TrafficKind::point_to_point);
  return {alpha, Bandwidth::of(static_cast<std::int64_t>(static_cast<Wide>(npu_bandwidth.count()) * part.numerator /
                                                         part.denominator / oversubscription(block, share)))};
}

/// Links of the longest way of a group's message in a dimension: those that `part` stands for, of a ring or line one.
std::uint32_t links_of_message(const Block& block, const BlockPart& part) {
  return block.rule->through_switch ? 2 * part.climb * static_cast<std::uint32_t>(part.block.levels.size() + 1) : 1;
}

/// The time of a message in pieces over one link, and of its last piece over `links` - 1 more.
SimTime message_time(const LinkClass& link, std::uint32_t links, Bytes size, std::int64_t chunks, Occupancy occupancy) {
  if (link.bandwidth.count() < 1) return SimTime::max();
  const auto pieces = std::clamp<std::int64_t>(chunks, 1, std::max<std::int64_t>(size.count(), 1));
  const auto hop = hop_time(link, bytes(ceil_div(size.count(), pieces)), occupancy);
  auto time = hop.latency;
  for (std::uint32_t next = 1; next < links; ++next) time = clamped_sum(time, hop.latency);
  for (std::int64_t next = 1; next < pieces && time < SimTime::max(); ++next) time = clamped_sum(time, hop.busy);
  return time;
}

class PipelineTime final : public MeasuredCollectiveTime {
 public:
  PipelineTime(TrainingNetwork network, bool themis) : network_(std::move(network)), themis_(themis) {}

  [[nodiscard]] std::string_view name() const override { return themis_ ? "themis" : "pipeline"; }
  [[nodiscard]] const CollectiveEffort& effort() const override { return effort_; }

  [[nodiscard]] Result<SimTime> time(const Communication& communication, const Mapping& mapping) const override {
    const auto& point = network_.point;
    const auto group = group_network(mapping.span(communication.scope), mapping.shape(), point.topology.links.alpha,
                                     network_.bandwidth);
    if (communication.kind == TrafficKind::point_to_point) return slowest_message(communication, mapping, group);
    return simulate_collective(pipelined_point(network_, group, communication, themis_));
  }

 private:
  [[nodiscard]] Result<SimTime> slowest_message(const Communication& communication, const Mapping& mapping,
                                                const GroupNetwork& group) const {
    const auto& point = network_.point;
    const auto& shares = mapping.span(communication.scope).shares;
    SimTime slowest;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const auto& [dimension, extent, members, stride] = shares[i];
      const auto& block = mapping.shape().blocks[dimension];
      const auto part = block.rule->part(block, {extent, members, stride});
      const auto alpha = group.links.alpha[i] / std::int64_t{part.climb};
      const auto link = message_link(block, shares[i], alpha, network_.bandwidth[dimension]);
      const auto time =
          message_time(link, links_of_message(block, part), communication.size, point.chunks, point.occupancy);
      slowest = std::max(slowest, time);
    }
    if (slowest < SimTime::max()) return slowest;
    return resource_error("a point-to-point message takes more than 106 days", "times are int64 picoseconds");
  }

  [[nodiscard]] Result<SimTime> simulate_collective(const DesignPoint& group_point) const {
    const auto made = network_.cache.pipelined.get(
        cache_key(group_point, kOfPipelined), [&] { return run(group_point); },
        [](const Result<VerifiedCollective>& value) {
          return sizeof(value) + (value ? value->left_out.size() : to_string(value.errors()).size());
        });
    ++effort_.collectives;
    if (!*made) return refusal(made->errors(), group_point);
    const auto& collective = **made;
    effort_.memory_planned_bytes = std::max(effort_.memory_planned_bytes, collective.memory_planned_bytes);
    if (collective.verified)
      ++effort_.verified;
    else if (effort_.left_out.empty())
      effort_.left_out = collective.left_out;
    return collective.time;
  }

  /// Simulates and verifies a collective of one group, and compares its time with its bound. Adds the seconds to
  /// effort_.
  [[nodiscard]] Result<VerifiedCollective> run(const DesignPoint& group_point) const {
    auto& cache = network_.cache.execution;
    ExecutionOptions options;
    options.threads = network_.options.threads;
    options.memory_limit_bytes = network_.options.memory_limit_bytes;
    options.time_only = network_.options.time_only;
    const auto built = find_topology_within(group_point, options.memory_limit_bytes, cache);
    if (!*built) return built->errors();
    const std::shared_ptr<const PointTopology> network(built, &**built);
    auto made = time_collective(group_point, network, {}, options, false, cache);
    if (!made) return made;
    const auto bound =
        find_cheap_bound(prepare_with(group_point, network, made->collective), sends_single_chunks(group_point), cache);
    ensure(made->time >= bound->time, "a simulated collective takes at least its bound");
    effort_.simulation_seconds += made->simulation_seconds;
    effort_.verification_seconds += made->verification_seconds;
    made->collective.reset();
    return made;
  }

  /// The errors of a collective that could not be run, as an error of the training point.
  static Diagnostic refusal(const Diagnostics& errors, const DesignPoint& group_point) {
    Diagnostic error;
    error.fault = errors.front().fault;
    error.problem = std::string(to_string(group_point.collective().kind)) + " on " +
                    to_string(group_point.topology.shape) + ": " + to_string(errors);
    return error;
  }

  TrainingNetwork network_;
  bool themis_;
  mutable CollectiveEffort effort_;
};

}  // namespace

DesignPoint pipelined_point(const TrainingNetwork& network, const GroupNetwork& group,
                            const Communication& communication, bool themis) {
  auto point = group_point(network, group, communication);
  const auto npus = static_cast<std::int64_t>(group.shape.npus());
  point.collective().size = std::max(point.collective().size, bytes(npus));
  point.chunks = std::min(point.chunks, point.collective().size.count() / npus);
  if (reduces_in_network(point)) {
    name_algorithm(point, traits_of(kInNetwork));
    return point;
  }
  const bool balanced = themis && traits_of(kBalancedMultiRail).makes(point.collective().kind);
  name_algorithm(point, traits_of(balanced ? kBalancedMultiRail : kMultiRail));
  point.collective().window = balanced ? 0 : kChunksPerStage;
  return point;
}

Result<std::unique_ptr<MeasuredCollectiveTime>> make_pipeline_time(const TrainingNetwork& network, bool themis) {
  const auto& [alpha, bandwidth, per_npu] = network.point.topology.links;
  const auto dimensions = network.point.topology.shape.dimensions();
  const auto* model = themis ? "themis" : "pipeline";
  if (network.point.chunks < 1)
    return input_error({"chunks", 0, 0}, "chunks is less than 1", std::string(model) + " moves at least one chunk");
  if (alpha.size() != 1 && alpha.size() != dimensions)
    return input_error({"alpha", 0, 0}, std::string(model) + " without alpha",
                       "its messages take the latency of their links", "write for instance alpha = \"0.5us\"");
  return std::unique_ptr<MeasuredCollectiveTime>(std::make_unique<PipelineTime>(network, themis));
}

}  // namespace tenex
