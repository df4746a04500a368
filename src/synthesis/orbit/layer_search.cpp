// Which styles are tried, and in which order.
#include "synthesis/orbit/layer_search.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "synthesis/compose.hpp"
#include "synthesis/orbit/weak_orders.hpp"

namespace tenex {

namespace {

constexpr double kWaiting = 1.0 / 8;   // of all that a layer needs, at a time
constexpr double kWaitingForSlow = 4;  // the same of all ports together, where slow ones leave much to others

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

bool ranked(const std::vector<std::uint32_t>& rank) { return *std::max_element(rank.begin(), rank.end()) > 0; }

/// What ports prefer, beside ranks.
struct Preference {
  bool latest = false;
  bool far = false;
  bool wanted = false;
  bool scarce = false;
};

constexpr std::array<Preference, 4> kPromising = {{
    {.far = true, .scarce = true},
    {.latest = true},
    {.latest = true, .scarce = true},
    {.far = true, .wanted = true, .scarce = true},
}};

/// The dimension with the fastest links below all others.
std::vector<std::uint32_t> fastest_below(std::vector<std::uint32_t> by_speed) {
  for (std::uint32_t& rank : by_speed) rank = std::min(rank, 1U);
  return by_speed;
}

std::vector<std::vector<std::uint32_t>> rankings_of(const LayerNetwork& network, const std::vector<HopTime>& hops) {
  std::vector<std::vector<std::uint32_t>> rankings = {ranks_by_speed(network, hops)};
  for (auto& order : weak_orders(network.dimensions()))
    if (order != rankings.front()) rankings.push_back(std::move(order));
  return rankings;
}

bool overlapping(const std::vector<HopTime>& hops) {
  return std::any_of(hops.begin(), hops.end(), [](const HopTime& hop) { return hop.busy != hop.latency; });
}

/// Ranks by speed, and with the fastest dimension alone below the others: these were the best, or near it, on nearly
/// all products of three blocks with unequal links (experiments/products).
std::vector<LayerStyle> promising_of(const LayerNetwork& network, const std::vector<HopTime>& hops) {
  std::vector<LayerStyle> styles;
  const auto by_speed = ranks_by_speed(network, hops);
  for (const Preference& each : kPromising)
    for (const auto& rank : {by_speed, fastest_below(by_speed)})
      for (const auto pace : {LayerPace::ahead, LayerPace::as_it_is})
        if (overlapping(hops) || pace == LayerPace::as_it_is)
          styles.push_back({rank, pace, each.latest, each.far, false, each.wanted, each.scarce});
  return styles;
}

/// By rank of dimensions, those by speed first, and in turn with the preferences of items; scarce ones last.
std::vector<LayerStyle> layer_styles(const LayerNetwork& network, const std::vector<HopTime>& hops) {
  const auto rankings = rankings_of(network, hops);
  std::vector<LayerStyle> styles;
  for (const bool scarce : {false, true})
    for (const auto& rank : rankings)
      for (const bool wanted : {false, true})
        for (const bool latest : {false, true})
          for (const auto pace : {LayerPace::as_it_is, LayerPace::lockstep}) {
            if ((pace != LayerPace::as_it_is && !overlapping(hops)) || (latest && !ranked(rank))) continue;
            styles.push_back({rank, pace, latest, false, ranked(rank), wanted, scarce});
          }
  return styles;
}

/// Runs the attempts, one by one, until one meets the bound.
class LayerSearch {
 public:
  LayerSearch(const SynthesisProblem& problem, const LayerNetwork& network, SimTime limit)
      : problem_(problem),
        network_(network),
        hops_(hops_of(problem)),
        gather_(network, hops_, static_cast<std::uint32_t>(problem.collective.chunks_per_npu())) {
    best_.time = limit;
  }

  LayerPlan run(LayerAttempts attempts, SimTime bound) {
    if (attempts.promising > 0) run_all(promising_of(network_, hops_), attempts.promising, bound);
    if (best_.time > bound) run_all(layer_styles(network_, hops_), attempts.others, bound);
    return std::move(best_);
  }

 private:
  /// Every style is tried without random numbers first.
  void run_all(const std::vector<LayerStyle>& styles, std::uint32_t attempts, SimTime bound) {
    for (std::uint32_t attempt = 0; attempt < attempts && best_.time > bound; ++attempt, ++made_) {
      std::optional<Random> numbers;
      if (attempt >= styles.size()) {
        if (!key_) key_ = synthesis_key(problem_);
        numbers = attempt_stream(problem_.seed, *key_, attempt);
      }
      if (const auto time = gather_.run(styles[attempt % styles.size()], numbers, best_.time))
        best_ = {*time, made_, gather_.sends()};
    }
  }

  const SynthesisProblem& problem_;
  const LayerNetwork& network_;
  std::vector<HopTime> hops_;
  LayerGather gather_;
  LayerPlan best_;
  std::uint32_t made_ = 0;
  std::optional<Digest> key_;
};

Work work_of(const SynthesisProblem& problem, std::uint32_t positions, double waiting) {
  const auto npus = static_cast<double>(problem.topology.npus());
  const double items = npus * static_cast<double>(problem.collective.chunks_per_npu());
  const double deliveries = npus / positions * items;
  const double ports = static_cast<double>(problem.topology.links()) / npus;
  return Work(WorkUnit::layer_delivery, deliveries * (1 + ports)) +
         Work(WorkUnit::layer_candidate, deliveries * items * waiting);
}

}  // namespace

std::uint32_t promising_styles(const SynthesisProblem& problem) {
  if (problem.topology.homogeneous()) return 0;
  const auto styles = static_cast<std::uint32_t>(2 * kPromising.size());
  return problem.occupancy == Occupancy::serialization ? 2 * styles : styles;
}

LayerPlan search_layers(const SynthesisProblem& problem, const LayerNetwork& network, LayerAttempts attempts,
                        SimTime bound, SimTime limit) {
  return LayerSearch(problem, network, limit).run(attempts, bound);
}

Work work_of_promising_attempt(const SynthesisProblem& problem, std::uint32_t positions) {
  return work_of(problem, positions, kWaitingForSlow);
}

Work work_of_layer_attempt(const SynthesisProblem& problem, std::uint32_t positions) {
  return work_of(problem, positions, kWaiting);
}

}  // namespace tenex
