// Runs attempts on layers, and writes out the best.
#include "synthesis/tacos/symmetric/layered.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "synthesis/tacos/symmetric/layer_gather.hpp"
#include "synthesis/tacos/symmetric/layer_network.hpp"
#include "synthesis/tacos/symmetric/weak_orders.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/schedule/symmetric_schedule.hpp"

namespace tenex {

namespace {

constexpr std::uint64_t kMostDeliveries = std::uint64_t{1} << 20U;
constexpr double kWork = 0.15;  // expected seconds of attempts beyond those that the user asked for
constexpr double kMostAttempts = 400;
constexpr double kSecondsPerDelivery = 0.1e-6;  // of one attempt, on layers
constexpr double kSecondsPerCandidate = 2e-9;   // that a port looks at
constexpr double kSecondsPerSend = 120e-9;      // to write one out
constexpr double kBytesPerItem = 64;            // of a layer, without its ports
constexpr double kBytesPerCandidate = 20;       // of a port
constexpr double kBytesPerSend = 32 + 16;

std::vector<HopTime> hops_of(const SynthesisProblem& problem) {
  std::vector<HopTime> hops;
  for (const LinkClass& each : problem.topology.classes())
    hops.push_back(hop_time(each, problem.collective.chunk_sizes().front(), problem.occupancy));
  return hops;
}

/// Dimensions by the latency of their fastest link.
std::vector<std::uint32_t> ranks_by_speed(const LayerNetwork& network, const std::vector<HopTime>& hops) {
  std::vector<SimTime> fastest(network.dimensions(), SimTime::max());
  for (std::uint32_t layer = 0; layer < network.layers(); ++layer)
    for (const LayerPort& port : network.ports(layer))
      fastest[port.dimension] = std::min(fastest[port.dimension], hops[port.link_class].latency);
  return dense_ranks(fastest);
}

/// By rank of dimensions, those by speed first, and in turn with the preferences of items; scarce ones last.
std::vector<LayerStyle> styles_of(const LayerNetwork& network, const std::vector<HopTime>& hops) {
  std::vector<std::vector<std::uint32_t>> rankings = {ranks_by_speed(network, hops)};
  for (auto& order : weak_orders(network.dimensions()))
    if (order != rankings.front()) rankings.push_back(std::move(order));
  const bool overlapping =
      std::any_of(hops.begin(), hops.end(), [](const HopTime& hop) { return hop.busy != hop.latency; });
  std::vector<LayerStyle> styles;
  for (const bool scarce : {false, true})
    for (const auto& rank : rankings)
      for (const bool wanted : {false, true})
        for (const bool latest : {false, true})
          for (const bool lockstep : {false, true}) {
            const bool ranked = *std::max_element(rank.begin(), rank.end()) > 0;
            if ((lockstep && !overlapping) || (latest && !ranked)) continue;
            styles.push_back({rank, lockstep, latest, wanted, scarce});
          }
  return styles;
}

/// Expected seconds of one attempt, from sizes alone: each delivery into a layer is looked at by every port while it
/// waits, about an eighth of all that the layer needs at a time.
double seconds_of_attempt(const SynthesisProblem& problem, std::uint32_t positions) {
  const auto npus = static_cast<double>(problem.topology.npus());
  const double items = npus * static_cast<double>(problem.collective.chunks_per_npu());
  const double deliveries = npus / positions * items;
  const double ports = static_cast<double>(problem.topology.links()) / npus;
  return deliveries * ((1 + ports) * kSecondsPerDelivery + items / 8 * kSecondsPerCandidate);
}

std::uint32_t attempts_of(const SynthesisProblem& problem, std::uint32_t positions) {
  const double affordable = std::clamp(kWork / seconds_of_attempt(problem, positions), 1.0, kMostAttempts);
  return std::max(problem.attempts, static_cast<std::uint32_t>(affordable));
}

/// Runs the attempts, one by one, until one meets the bound.
class Search {
 public:
  Search(const SynthesisProblem& problem, const LayerNetwork& network)
      : problem_(problem),
        network_(network),
        hops_(hops_of(problem)),
        gather_(network, hops_, static_cast<std::uint32_t>(problem.collective.chunks_per_npu())),
        styles_(styles_of(network, hops_)) {}

  Gathered run() {
    const SimTime bound = best_cheap_bound({problem_.topology, problem_.collective, problem_.occupancy, true}).time;
    const std::uint32_t attempts = attempts_of(problem_, network_.positions());
    Gathered best;
    best.time = SimTime::max();
    for (std::uint32_t attempt = 0; attempt < attempts && best.time > bound; ++attempt) {
      const auto time = gather_.run(styles_[attempt % styles_.size()], numbers(attempt), best.time);
      if (!time) continue;
      best.time = *time;
      best.best_attempt = attempt;
      sends_ = gather_.sends();
    }
    best.schedule = make_list_schedule(all_sends());
    return best;
  }

 private:
  /// Every style is tried without random numbers first.
  std::optional<Random> numbers(std::uint32_t attempt) {
    if (attempt < styles_.size()) return std::nullopt;
    if (!key_) key_ = synthesis_key(problem_);
    return attempt_stream(problem_.seed, *key_, attempt);
  }
  std::vector<Send> all_sends() const {
    const std::uint32_t positions = network_.positions();
    const auto chunks = static_cast<std::uint32_t>(problem_.collective.chunks_per_npu());
    std::vector<Send> all;
    all.reserve(sends_.size() * positions);
    for (const LayerSend& send : sends_) {
      const std::uint32_t owner = send.item / positions;
      for (std::uint32_t position = 0; position < positions; ++position) {
        const NpuId from = network_.npu(owner / chunks, network_.origin(position, send.item % positions));
        const auto chunk = ChunkId::at(problem_.collective.owned_by(from).first + owner % chunks);
        all.push_back({send.start, network_.link(send.layer, send.port, position), chunk});
      }
    }
    std::sort(all.begin(), all.end(),
              [](const Send& a, const Send& b) { return a.start != b.start ? a.start < b.start : a.link < b.link; });
    return all;
  }

  const SynthesisProblem& problem_;
  const LayerNetwork& network_;
  std::vector<HopTime> hops_;
  LayerGather gather_;
  std::vector<LayerStyle> styles_;
  std::vector<LayerSend> sends_;
  std::optional<Digest> key_;
};

}  // namespace

std::string layered_unsuitable(const SynthesisProblem& problem) {
  if (problem.collective.kind() != CollectiveKind::all_gather)
    return "a schedule by layers has no root: it is made for All-Gather, Reduce-Scatter and All-Reduce";
  if (!moves_with_npus(problem.collective)) return "a schedule by layers serves one group of all NPUs in their order";
  if (problem.collective.chunk_sizes().size() > 1) return "a schedule by layers has chunks of one size";
  if (problem.collective.required_deliveries() > kMostDeliveries)
    return "a schedule by layers has up to 2^20 deliveries";
  if (!LayerNetwork::of(problem.topology))
    return "a symmetric schedule needs a shape of RI and FC blocks, of lines of two and of unwound SW blocks, or of "
           "these and lines, whose links are alike in each dimension";
  return {};
}

Result<Gathered> gather_layered(const SynthesisProblem& problem) {
  const auto network = LayerNetwork::of(problem.topology);
  if (!network)
    return input_error({}, "the engine `symmetric` cannot make this schedule", layered_unsuitable(problem),
                       "leave the engine to `auto`");
  return Search(problem, *network).run();
}

std::size_t layered_bytes(const SynthesisProblem& problem) {
  const auto network = LayerNetwork::of(problem.topology);
  const double positions = network ? network->positions() : 1;
  const double items =
      static_cast<double>(problem.collective.required_deliveries()) + static_cast<double>(problem.collective.chunks());
  const double ports = static_cast<double>(problem.topology.links()) / static_cast<double>(problem.topology.npus());
  return static_cast<std::size_t>(items / positions * (kBytesPerItem + kBytesPerCandidate * ports) +
                                  items * kBytesPerSend + static_cast<double>(problem.topology.links()) * 200);
}

double layered_seconds(const SynthesisProblem& problem) {
  const auto network = LayerNetwork::of(problem.topology);
  const std::uint32_t positions = network ? network->positions() : 1;
  return attempts_of(problem, positions) * seconds_of_attempt(problem, positions) +
         static_cast<double>(problem.collective.required_deliveries()) * kSecondsPerSend;
}

}  // namespace tenex
