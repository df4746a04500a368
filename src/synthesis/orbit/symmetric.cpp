// Runs attempts on the quotient, then composes the collective of the best.

#include "synthesis/orbit/symmetric.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "synthesis/compose.hpp"
#include "synthesis/orbit/layer_network.hpp"
#include "synthesis/orbit/layer_search.hpp"
#include "synthesis/orbit/orbit_gather.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/schedule/storage/raw_array.hpp"
#include "tenex/schedule/storage/symmetric_schedule.hpp"

namespace tenex {
namespace {

constexpr double kWork = 4e6;                    // items looked at in attempts beyond those that the user asked for
constexpr std::uint32_t kMostAttempts = 200;     // the most such attempts
constexpr std::int64_t kNearEnough = 200;        // within 1/200 of the bound no further style is tried
constexpr double kWorkOfStyles = 2e7;            // items looked at with styles that are less promising
constexpr double kMostStyles = 52;               // of three dimensions: 13 weak orders
constexpr unsigned kMostBits = 34;               // of a packed item: a bitset of 2 GiB
constexpr double kWeightInOneLayer = 60e-3;      // of attempts by matching where links have several speeds
constexpr double kMostInOneLayer = 96;           // such attempts
constexpr double kBytesPerItem = 100;            // received, sends, orbits, bitsets
constexpr double kBytesPerItemInOneLayer = 120;  // and
constexpr double kBytesPerPortInOneLayer = 60;   // of an item
constexpr double kBytesPerItemReversed = 60;
constexpr double kBytesPerItemReduced = 230;

double items_of(const SynthesisProblem& problem) {
  return static_cast<double>(problem.collective.npus()) * static_cast<double>(problem.collective.chunks_per_npu());
}

struct Styles {
  std::vector<OrbitStyle> all;
  std::size_t promising = 0;  ///< the first of them
};

Styles styles_of(const OrbitSetup& setup) {
  const bool overlapping = std::any_of(setup.lanes.begin(), setup.lanes.end(),
                                       [](const OrbitLane& lane) { return lane.busy != lane.latency; });
  Styles styles;
  const auto add = [&](std::size_t first, std::size_t end, bool latest) {
    for (std::size_t ranking = first; ranking < end; ++ranking) {
      styles.all.push_back({ranking, false, latest});
      if (overlapping) styles.all.push_back({ranking, true, latest});
    }
  };
  const std::size_t promising = setup.promising_rankings;
  const std::size_t all = setup.rankings.size();
  const bool several_speeds = setup.lanes.size() > 1;
  add(0, promising, false);
  styles.promising = styles.all.size();
  if (several_speeds) {
    add(0, promising, true);
    add(promising, all, false);
    add(promising, all, true);
  }
  return styles;
}

std::vector<OrbitSend> orbits_of(const OrbitSetup& setup, const std::vector<ItemSend>& sends) {
  std::vector<OrbitSend> orbits;
  orbits.reserve(sends.size());
  advise_large_pages(orbits.data(), sends.size() * sizeof(OrbitSend));
  for (const auto& [start, item, direction] : sends)
    orbits.push_back(
        {picoseconds(start), direction, setup.offsets.offset(item), setup.offsets.number(item), Stage::copy});
  return orbits;
}

/// The number of attempts by matching, from sizes alone; 0 where one takes long, or where sends take equally long.
std::uint32_t attempts_in_one_layer(const SynthesisProblem& problem) {
  if (problem.topology.homogeneous() || problem.topology.wires() != nullptr) return 0;
  if (problem.collective.chunk_sizes().size() > 1) return 0;
  const Work one = work_of_promising_attempt(problem, static_cast<std::uint32_t>(problem.topology.npus()));
  return static_cast<std::uint32_t>(std::min(kMostInOneLayer, kWeightInOneLayer / one.weight()));
}

/// Runs the attempts, one by one, until one meets the bound.
class OrbitSearch {
 public:
  OrbitSearch(const SynthesisProblem& problem, const OrbitSetup& setup)
      : problem_(problem), setup_(setup), gather_(setup), styles_(styles_of(setup)) {}

  void run() {
    const double work = static_cast<double>(setup_.required) * static_cast<double>(setup_.steps.size());
    const auto affordable = static_cast<std::uint32_t>(std::clamp<double>(kWork / work, 1, kMostAttempts));
    const std::uint32_t most = std::max(problem_.attempts, affordable);
    const auto styles = static_cast<std::uint32_t>(std::clamp(
        kWorkOfStyles / work, static_cast<double>(styles_.promising), static_cast<double>(styles_.all.size())));
    for (std::uint32_t attempt = 0; attempt < most || (attempt < styles && far_off()); ++attempt) {
      if (best_time == setup_.bound) return;
      const std::int64_t time = gather_.run(styles_.all[attempt % styles_.all.size()], numbers(attempt));
      if (attempt > 0 && time >= best_time) continue;
      best_time = time;
      best_attempt = attempt;
      best = gather_.take_sends();
    }
    if (far_off()) match_in_one_layer(std::max(most, styles));
  }

  std::vector<ItemSend> best;
  std::int64_t best_time = -1;
  std::uint32_t best_attempt = 0;

 private:
  [[nodiscard]] bool far_off() const { return best_time - setup_.bound > setup_.bound / kNearEnough; }

  /// All NPUs are the positions of one layer: LayerGather takes longer, and often ends sooner.
  void match_in_one_layer(std::uint32_t attempts_before) {
    const std::uint32_t attempts = attempts_in_one_layer(problem_);
    const auto network = attempts > 0 ? LayerNetwork::of(problem_.topology) : std::nullopt;
    if (!network || network->layers() > 1) return;
    const SimTime bound = best_cheap_bound({problem_.topology, problem_.collective, problem_.occupancy, true}).time;
    const std::uint32_t promising = std::min(attempts, promising_styles(problem_));
    const LayerPlan plan =
        search_layers(problem_, *network, {promising, attempts - promising}, bound, picoseconds(best_time));
    if (plan.sends.empty()) return;
    best_time = plan.time.count();
    best_attempt = attempts_before + plan.attempt;
    best.clear();
    for (const LayerSend& send : plan.sends) {
      const std::uint32_t direction = setup_.group.departure(network->link(0, send.port, 0)).direction;
      best.push_back(
          {send.start.count(),
           setup_.offsets.packed(network->npu(0, send.item % network->positions()), send.item / network->positions()),
           direction});
    }
    std::stable_sort(best.begin(), best.end(), [](const ItemSend& a, const ItemSend& b) { return a.start < b.start; });
  }

  /// Every style is tried without random numbers first.
  std::optional<Random> numbers(std::uint32_t attempt) {
    if (attempt < styles_.all.size()) return std::nullopt;
    if (!key_) key_ = synthesis_key(problem_);
    return attempt_stream(problem_.seed, *key_, attempt);
  }

  const SynthesisProblem& problem_;
  const OrbitSetup& setup_;
  OrbitGather gather_;
  Styles styles_;
  std::optional<Digest> key_;
};

}  // namespace

namespace {

std::string unsuitable_with(bool over_wires, const SynthesisProblem& problem) {
  if (problem.collective.kind() != CollectiveKind::all_gather)
    return "a symmetric schedule has no root: it is made for All-Gather, Reduce-Scatter and All-Reduce";
  if (!moves_with_npus(problem.collective)) return "a symmetric schedule serves one group of all NPUs in their order";
  std::optional<TranslationGroup> group;
  if (over_wires || problem.topology.wires() == nullptr)
    group = TranslationGroup::of(problem.topology, LinkPorts::shared);
  if (!group)
    return fmt::format(
        "one NPU's sends stand for all only where every NPU sees the same network: each dimension is RI, FC, a line of "
        "two or an {} SW, whose links are all alike",
        over_wires ? "unwound or cut-through" : "unwound");
  if (group->directions().empty()) return "there is no other NPU to exchange chunks with";
  const auto chunks = static_cast<std::uint64_t>(problem.collective.chunks_per_npu());
  if (PackedOffsets(*group).bits() + static_cast<unsigned>(std::bit_width(chunks)) > kMostBits)
    return "there are more chunks than a symmetric schedule can number";
  return {};
}

}  // namespace

std::string symmetric_unsuitable(const SynthesisProblem& problem) { return unsuitable_with(false, problem); }
std::string symmetric_over_ports_unsuitable(const SynthesisProblem& problem) { return unsuitable_with(true, problem); }

Result<Gathered> gather_symmetric(const SynthesisProblem& problem) {
  const auto group = TranslationGroup::of(problem.topology, LinkPorts::shared);
  ensure(group.has_value(), "a symmetric synthesis without a translation group");
  const OrbitSetup setup(problem, *group);
  OrbitSearch search(problem, setup);
  search.run();
  Gathered gathered;
  gathered.schedule = make_symmetric_schedule(*group, setup.chunks, orbits_of(setup, search.best));
  gathered.time = picoseconds(search.best_time);
  gathered.best_attempt = search.best_attempt;
  return gathered;
}

Result<Synthesis> synthesize_symmetric(const SynthesisProblem& problem) {
  // A collective of a million NPUs is copied only if it must become another one.
  const bool gathers = problem.collective.kind() == CollectiveKind::all_gather;
  const std::optional<Collective> other =
      gathers ? std::nullopt : std::optional(problem.collective.as(CollectiveKind::all_gather));
  auto gathered = gather_symmetric({{problem.topology, gathers ? problem.collective : *other, problem.occupancy},
                                    {problem.seed, problem.attempts, problem.engine},
                                    problem.threads});
  if (!gathered) return gathered.errors();
  Synthesis synthesis;
  synthesis.engine = "symmetric";
  synthesis.best_attempt = gathered->best_attempt;
  synthesis.time = synthesis.time_without_overlap = gathered->time;
  synthesis.without_overlap = gathered->schedule;
  if (reduces(problem.collective.kind())) synthesis.without_overlap = reversed_symmetric(problem, gathered->schedule);
  synthesis.schedule = synthesis.without_overlap;
  if (problem.collective.kind() != CollectiveKind::all_reduce) return synthesis;
  synthesis.without_overlap = then_gather_symmetric(synthesis.without_overlap, gathered->schedule, gathered->time);
  synthesis.time_without_overlap = gathered->time + gathered->time;
  synthesis.schedule = retime_symmetric(problem, synthesis.without_overlap);
  synthesis.time = last_arrival_symmetric(problem, synthesis.schedule);
  synthesis.overlap_method = synthesis.time < synthesis.time_without_overlap ? "retimed" : "no_gain";
  return synthesis;
}

std::size_t symmetric_bytes(const SynthesisProblem& problem) {
  const auto kind = problem.collective.kind();
  double per_item = kBytesPerItem;
  if (reduces(kind)) per_item += kBytesPerItemReversed;
  if (kind == CollectiveKind::all_reduce) per_item += kBytesPerItemReduced;
  if (attempts_in_one_layer(problem) > 0) {
    const double ports = static_cast<double>(problem.topology.links()) / static_cast<double>(problem.topology.npus());
    per_item += kBytesPerItemInOneLayer + ports * kBytesPerPortInOneLayer;
  }
  return static_cast<std::size_t>(items_of(problem) * per_item);
}

Work symmetric_work(const SynthesisProblem& problem) {
  const double links =
      static_cast<double>(problem.topology.links()) * static_cast<double>(problem.collective.chunks_per_npu());
  const double passes = problem.collective.kind() == CollectiveKind::all_reduce ? 6 : 1;
  double attempts = std::max<double>(problem.attempts, 1 + kWork / std::max(1.0, links));
  const bool one_speed = problem.topology.homogeneous();
  if (!one_speed) attempts = std::max(attempts, std::min(kMostStyles, kWorkOfStyles / std::max(1.0, links)));
  // Where links are alike, the first attempt mostly meets the bound.
  const Work looks = one_speed ? Work(WorkUnit::orbit_look, attempts * links) +
                                     Work(WorkUnit::orbit_visit, std::max<double>(problem.attempts, 1) * links)
                               : Work(WorkUnit::orbit_look_unlike, attempts * links);
  return looks +
         attempts_in_one_layer(problem) *
             work_of_promising_attempt(problem, static_cast<std::uint32_t>(problem.topology.npus())) +
         Work(WorkUnit::orbit_send, passes * items_of(problem));
}

// Writes out the best attempt on layers.

namespace {

constexpr std::uint64_t kMostDeliveries = std::uint64_t{1} << 20U;
constexpr double kLayerWork = 0.15;          // weight of attempts beyond those that the user asked for
constexpr double kLayerWorkOfSpeeds = 0.25;  // more of them where links have several speeds
constexpr double kMostLayerAttempts = 400;
constexpr double kBytesPerLayerItem = 96;  // of a layer, without its ports
constexpr double kBytesPerCandidate = 40;  // of a port
constexpr double kBytesPerOrbitSend = 32 + 16;

LayerAttempts layer_attempts(const SynthesisProblem& problem, std::uint32_t positions) {
  const auto affordable = [](double work, double one, double most) {
    return static_cast<std::uint32_t>(std::clamp(work / one, 1.0, most));
  };
  LayerAttempts attempts;
  if (const std::uint32_t styles = promising_styles(problem); styles > 0)
    attempts.promising = affordable(kLayerWorkOfSpeeds, work_of_promising_attempt(problem, positions).weight(), styles);
  attempts.others = problem.attempts - 1;
  if (positions > 1)
    attempts.others =
        std::max(problem.attempts,
                 affordable(kLayerWork, work_of_layer_attempt(problem, positions).weight(), kMostLayerAttempts));
  return attempts;
}

std::vector<Send> all_sends(const SynthesisProblem& problem, const LayerNetwork& network,
                            const std::vector<LayerSend>& sends) {
  const std::uint32_t positions = network.positions();
  const auto chunks = static_cast<std::uint32_t>(problem.collective.chunks_per_npu());
  std::vector<Send> all;
  all.reserve(sends.size() * positions);
  for (const LayerSend& send : sends) {
    const std::uint32_t owner = send.item / positions;
    for (std::uint32_t position = 0; position < positions; ++position) {
      const NpuId from = network.npu(owner / chunks, network.origin(position, send.item % positions));
      const auto chunk = ChunkId::at(problem.collective.owned_by(from).first + owner % chunks);
      all.push_back({send.start, network.link(send.layer, send.port, position), chunk});
    }
  }
  std::sort(all.begin(), all.end(),
            [](const Send& a, const Send& b) { return a.start != b.start ? a.start < b.start : a.link < b.link; });
  return all;
}

}  // namespace

std::string layered_unsuitable(const SynthesisProblem& problem) {
  if (problem.collective.kind() != CollectiveKind::all_gather)
    return "a schedule by layers has no root: it is made for All-Gather, Reduce-Scatter and All-Reduce";
  if (!moves_with_npus(problem.collective)) return "a schedule by layers serves one group of all NPUs in their order";
  if (problem.collective.chunk_sizes().size() > 1) return "a schedule by layers has chunks of one size";
  if (problem.collective.required_deliveries() > kMostDeliveries)
    return "a schedule by layers has up to 2^20 deliveries";
  const auto network = LayerNetwork::of(problem.topology);
  if (!network || network->layers() == 1 || (network->positions() == 1 && problem.topology.homogeneous()))
    return "a schedule by layers needs dimensions that differ: lines of three or more beside RI, FC or unwound SW, or "
           "dimensions of different speeds; all links of a dimension must be alike";
  return {};
}

Result<Gathered> gather_layered(const SynthesisProblem& problem) {
  const auto network = LayerNetwork::of(problem.topology);
  if (!network)
    return input_error({}, "the engine `symmetric` cannot make this schedule", layered_unsuitable(problem),
                       "leave the engine to `auto`");
  const SimTime bound = best_cheap_bound({problem.topology, problem.collective, problem.occupancy, true}).time;
  LayerPlan plan =
      search_layers(problem, *network, layer_attempts(problem, network->positions()), bound, SimTime::max());
  Gathered gathered;
  gathered.schedule = make_list_schedule(all_sends(problem, *network, plan.sends));
  gathered.time = plan.time;
  gathered.best_attempt = plan.attempt;
  return gathered;
}

std::size_t layered_bytes(const SynthesisProblem& problem) {
  const auto network = LayerNetwork::of(problem.topology);
  const double positions = network ? network->positions() : 1;
  const double items =
      static_cast<double>(problem.collective.required_deliveries()) + static_cast<double>(problem.collective.chunks());
  const double ports = static_cast<double>(problem.topology.links()) / static_cast<double>(problem.topology.npus());
  return static_cast<std::size_t>(items / positions * (kBytesPerLayerItem + kBytesPerCandidate * ports) +
                                  items * kBytesPerOrbitSend + static_cast<double>(problem.topology.links()) * 200);
}

Work layered_work(const SynthesisProblem& problem) {
  const auto network = LayerNetwork::of(problem.topology);
  const std::uint32_t positions = network ? network->positions() : 1;
  const LayerAttempts attempts = layer_attempts(problem, positions);
  return attempts.promising * work_of_promising_attempt(problem, positions) +
         attempts.others * work_of_layer_attempt(problem, positions) +
         Work(WorkUnit::layer_send, static_cast<double>(problem.collective.required_deliveries()));
}

}  // namespace tenex
