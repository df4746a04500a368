#include "synthesis/trees/cut_rate.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "synthesis/compose.hpp"
#include "synthesis/trees/edge_splitting.hpp"
#include "synthesis/trees/out_trees.hpp"
#include "synthesis/trees/player.hpp"

namespace tenex {
namespace {

constexpr std::uint64_t kMostPlayedSends = std::uint64_t{1} << 25U;
constexpr std::uint64_t kMostSendsToRetry = std::uint64_t{1} << 22U;  ///< of all tries but the first
constexpr std::size_t kMostNpus = 128;
/// How much longer than the least the time is in which links carry all chunks, as one part in so many; 0: no longer.
constexpr std::array<std::int64_t, 9> kExtraTimeShares = {0, 512, 128, 32, 16, 8, 4, 2, 1};
constexpr std::size_t kMostPackings = 3;

/// The copying collective that is planned: chunks per root.
RootChunks roots_of(const SynthesisProblem& problem) {
  const Collective& collective = problem.collective;
  RootChunks roots(problem.topology.npus());
  for (std::size_t npu = 0; npu < roots.size(); ++npu)
    roots[npu] = static_cast<std::int64_t>(collective.owned_by(NpuId::at(npu)).count);
  return roots;
}

std::uint64_t sends_of(const SynthesisProblem& problem) {
  return problem.collective.chunks() * (problem.topology.npus() - 1) * links_per_way(problem.topology);
}

/// Deals each root's chunks to its trees in turn, in proportion to the trees' numbers.
std::vector<DealtChunk> deal_chunks(const SynthesisProblem& problem, const std::vector<OutTrees>& packed) {
  std::vector<std::vector<std::tuple<double, std::uint32_t>>> turns(problem.topology.npus());
  for (std::uint32_t t = 0; t < packed.size(); ++t)
    for (std::int64_t i = 0; i < packed[t].chunks; ++i)
      turns[packed[t].tree.root.index()].emplace_back(
          (static_cast<double>(i) + 0.5) / static_cast<double>(packed[t].chunks), t);
  std::vector<DealtChunk> deal;
  for (std::size_t npu = 0; npu < turns.size(); ++npu) {
    std::sort(turns[npu].begin(), turns[npu].end());
    const std::size_t first = problem.collective.owned_by(NpuId::at(npu)).first;
    for (std::uint32_t i = 0; i < turns[npu].size(); ++i)
      deal.push_back({ChunkId::at(first + i), std::get<1>(turns[npu][i]), i});
  }
  return deal;
}

class CutRate {
 public:
  explicit CutRate(const SynthesisProblem& problem) : problem_(problem), network_(problem), roots_(roots_of(problem)) {}

  Result<Gathered> gather() {
    const SimTime least = least_rate_time(network_, roots_);
    std::size_t packings = 0;
    for (const std::int64_t share : kExtraTimeShares) {
      if (packings == kMostPackings || (packings > 0 && sends_of(problem_) > kMostSendsToRetry)) break;
      const SimTime time = share == 0 ? least : least + SimTime::of(ceil_div(least.count(), share));
      const auto edges = split_switches(network_, roots_, time);
      if (!edges) continue;
      const auto packed = pack_out_trees(network_, *edges, roots_);
      if (!packed) continue;
      ++packings;
      play(*packed);
    }
    if (packings == 0)
      return input_error({}, "no out-trees can be packed over the switches",
                         "some vertex has more bandwidth in than out, or out than in, so switches cannot be split into "
                         "links between NPUs",
                         "use `pccl`, or make links equal both ways");
    return std::move(best_);
  }

 private:
  void play(const std::vector<OutTrees>& packed) {
    std::vector<SpanningTree> trees;
    for (const OutTrees& each : packed) trees.push_back(each.tree);
    const auto deal = deal_chunks(problem_, packed);
    for (const bool longest_first : {false, true}) {
      PlayOptions options;
      options.longest_first = longest_first;
      auto played = play_trees(network_, trees, deal, options);
      if (best_.schedule.sends() > 0 && played.time >= best_.time) continue;
      best_.schedule = std::move(played.schedule);
      best_.time = played.time;
    }
  }

  const SynthesisProblem& problem_;
  TreeNetwork network_;
  RootChunks roots_;
  Gathered best_;
};

Result<Gathered> gather_cut_rate(const SynthesisProblem& problem) { return CutRate(problem).gather(); }

}  // namespace

std::optional<std::string> cut_rate_unsuitable(const SynthesisProblem& problem) {
  if (auto reason = tree_network_unsuitable(problem)) return reason;
  if (problem.topology.npus() > kMostNpus) return "it takes up to 128 NPUs";
  if (sends_of(problem) > kMostPlayedSends) return "it takes up to 2^25 sends";
  return std::nullopt;
}

Result<Synthesis> synthesize_cut_rate(const SynthesisProblem& problem) {
  if (auto reason = cut_rate_unsuitable(problem))
    return input_error({}, "the engine `cut_rate` cannot make this schedule", *std::move(reason),
                       "leave the engine to `auto`");
  return compose(problem, gather_cut_rate, "cut_rate");
}

std::size_t cut_rate_bytes(const SynthesisProblem& problem) {
  const std::size_t halves = problem.collective.kind() == CollectiveKind::all_reduce ? 4 : 2;
  const std::size_t npus = problem.topology.npus();
  return halves * play_bytes(problem.topology, sends_of(problem)) + npus * npus * 1024;
}

double cut_rate_seconds(const SynthesisProblem& problem) {
  const std::uint64_t sends = sends_of(problem);
  const double plays = sends > kMostSendsToRetry ? 2 : 2.0 * kMostPackings;
  const auto npus = static_cast<double>(problem.topology.npus());
  const auto links = static_cast<double>(problem.topology.links());
  return 1e-3 + plays * play_seconds(sends) + 3 * npus * npus * links * 0.2e-6;
}

}  // namespace tenex
