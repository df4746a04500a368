#include "synthesis/trees/packed.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "synthesis/trees/packing.hpp"
#include "synthesis/trees/pipeline.hpp"
#include "synthesis/trees/player.hpp"

namespace tenex {
namespace {

constexpr std::array<std::uint32_t, 14> kTreeNumbers = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 128, 256};
constexpr std::array<double, 3> kDepthWeights = {0, 0.02, 0.2};
/// Periods are tried at the least length and a little longer, where sends wait less for free times.
constexpr std::array<std::int64_t, 3> kSlackShares = {0, 32, 16};  ///< one part in so many; 0: none
constexpr std::uint64_t kMostSends = 4'000'000;                    ///< of one period
constexpr double kMostPlacedSends = 16'000'000;                    ///< over all tries
constexpr std::size_t kBytesPerSend = 160;

std::uint64_t sends_of(const SynthesisProblem& problem, std::uint32_t trees) {
  return 2 * (problem.topology.npus() - 1) * std::uint64_t{trees} * links_per_way(problem.topology);
}

/// The numbers of trees to try, within the limits.
std::vector<std::uint32_t> tree_numbers(const SynthesisProblem& problem) {
  std::vector<std::uint32_t> numbers;
  double placed = 0;
  for (const std::uint32_t trees : kTreeNumbers) {
    const std::uint64_t sends = sends_of(problem, trees);
    placed += static_cast<double>(sends * kDepthWeights.size() * kSlackShares.size());
    if (trees > problem.collective.chunks() || sends > kMostSends || placed > kMostPlacedSends) break;
    numbers.push_back(trees);
  }
  return numbers;
}

/// The chunks of each tree: they are dealt in turn.
std::vector<std::uint64_t> chunks_of_trees(const SynthesisProblem& problem, std::uint32_t trees) {
  std::vector<std::uint64_t> chunks(trees);
  for (std::uint32_t tree = 0; tree < trees; ++tree)
    chunks[tree] = (problem.collective.chunks() + trees - 1 - tree) / trees;
  return chunks;
}

}  // namespace

std::optional<std::string> packed_unsuitable(const SynthesisProblem& problem) {
  if (auto reason = packing_unsuitable(problem)) return reason;
  if (!problem.start_delays.empty()) return "its timetable has no late NPUs";
  if (tree_numbers(problem).empty()) return "the network is too large";
  return std::nullopt;
}

Result<Synthesis> synthesize_packed(const SynthesisProblem& problem) {
  if (auto reason = packed_unsuitable(problem))
    return input_error({}, "the engine `packed` cannot make this schedule", *std::move(reason),
                       "leave the engine to `auto`");
  const auto& topology = problem.topology;
  TreeNetwork network(problem);
  const auto numbers = tree_numbers(problem);
  std::optional<Pipeline> best;
  for (const double depth_weight : kDepthWeights) {
    const auto trees = pack_trees(network, {numbers.back(), depth_weight});
    for (const std::uint32_t number : numbers) {
      const std::vector<SpanningTree> first(trees.begin(), trees.begin() + number);
      const SimTime least = rate_time(network, first, std::vector<std::uint64_t>(number, 1));
      for (const std::int64_t share : kSlackShares) {
        const SimTime period = share == 0 ? least : least + SimTime::of(ceil_div(least.count(), share));
        auto made = pipeline_all_reduce(network, first, period, problem.collective.chunks());
        if (best && made.time >= best->time) continue;
        made.rate_time = rate_time(network, first, chunks_of_trees(problem, number));
        best = std::move(made);
      }
    }
  }
  Synthesis made;
  made.time = best->time;
  made.rate_time = best->rate_time;
  made.schedule = make_periodic_schedule(std::move(best->schedule), topology.links());
  made.engine = "packed";
  made.overlap_method = "trees";
  return made;
}

std::size_t packed_bytes(const SynthesisProblem& problem) {
  const auto numbers = tree_numbers(problem);
  const std::uint64_t sends = numbers.empty() ? 0 : sends_of(problem, numbers.back());
  return sends * kBytesPerSend + problem.topology.links() * 64 + (std::size_t{1} << 20);
}

Work packed_work(const SynthesisProblem& problem) {
  double sends = 0;
  for (const std::uint32_t trees : tree_numbers(problem))
    sends += static_cast<double>(sends_of(problem, trees) * kDepthWeights.size() * kSlackShares.size());
  return Work(WorkUnit::packing, 1) + Work(WorkUnit::packed_send, sends);
}

double packed_period_sends(const SynthesisProblem& problem) {
  const auto numbers = tree_numbers(problem);
  return numbers.empty() ? 0 : static_cast<double>(sends_of(problem, numbers.back()));
}

}  // namespace tenex
