#include "synthesis/trees/queued.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "synthesis/trees/packing.hpp"
#include "synthesis/trees/player.hpp"

namespace tenex {
namespace {

constexpr std::uint64_t kMostQueuedSends = std::uint64_t{1} << 25U;
constexpr std::uint64_t kMostTrees = 256;
constexpr std::uint64_t kMostTreeSends = 4'000'000;  ///< of one chunk on every tree
/// Preferences for shallow trees that are tried, while all tries together have no more than kMostQueuedSends sends.
constexpr std::array<double, 2> kQueuedDepthWeights = {0.2, 0};

std::uint64_t sends_in_all(const SynthesisProblem& problem) {
  return 2 * (problem.topology.npus() - 1) * problem.collective.chunks() * links_per_way(problem.topology);
}
std::uint32_t trees_of(const SynthesisProblem& problem) {
  const std::uint64_t fit = kMostTreeSends / (2 * problem.topology.npus());
  return static_cast<std::uint32_t>(
      std::min({kMostTrees, problem.collective.chunks(), std::max<std::uint64_t>(1, fit)}));
}

}  // namespace

std::optional<std::string> queued_unsuitable(const SynthesisProblem& problem) {
  if (auto reason = packing_unsuitable(problem)) return reason;
  if (sends_in_all(problem) > kMostQueuedSends || problem.collective.chunks() > (std::uint64_t{1} << 30U))
    return "it takes up to 2^25 sends";
  if (problem.topology.npus() > std::size_t{1} << 16U) return "it takes up to 65,536 NPUs";
  return std::nullopt;
}

Result<Synthesis> synthesize_queued(const SynthesisProblem& problem) {
  if (auto reason = queued_unsuitable(problem))
    return input_error({}, "the engine `queued` cannot make this schedule", *std::move(reason),
                       "leave the engine to `auto`");
  TreeNetwork network(problem);
  std::vector<DealtChunk> deal(problem.collective.chunks());
  for (std::uint32_t chunk = 0; chunk < deal.size(); ++chunk)
    deal[chunk] = {ChunkId(chunk), chunk % trees_of(problem), chunk};
  Synthesis made;
  std::uint64_t sends = 0;
  for (const double depth_weight : kQueuedDepthWeights) {
    sends += sends_in_all(problem);
    if (sends > kMostQueuedSends && made.schedule.sends() > 0) break;
    const auto trees = pack_trees(network, {trees_of(problem), depth_weight});
    auto played = play_trees(network, trees, deal, {true});
    if (made.schedule.sends() > 0 && played.time >= made.time) continue;
    made.schedule = std::move(played.schedule);
    made.time = played.time;
  }
  made.engine = "queued";
  made.overlap_method = "trees";
  return made;
}

std::size_t queued_bytes(const SynthesisProblem& problem) {
  const std::size_t trees = trees_of(problem) * problem.topology.npus() * 64;
  return play_bytes(problem.topology, sends_in_all(problem)) + trees;
}

double queued_seconds(const SynthesisProblem& problem) {
  const auto sends = sends_in_all(problem);
  const double tries = 2 * sends <= kMostQueuedSends ? 2 : 1;
  return 1e-3 + tries * play_seconds(sends);
}

}  // namespace tenex
