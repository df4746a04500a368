#include "synthesis/trees/engines.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "synthesis/compose.hpp"
#include "synthesis/trees/cut_packing.hpp"
#include "synthesis/trees/justification.hpp"
#include "synthesis/trees/player.hpp"
#include "tenex/schedule/timing/retime.hpp"

namespace tenex {
namespace {

constexpr std::uint64_t kMostPlayedSends = std::uint64_t{1} << 25U;
constexpr std::uint64_t kMostSendsToRetry = std::uint64_t{1} << 22U;  ///< of all tries but the first
constexpr std::size_t kMostPackings = 3;
constexpr std::uint64_t kMostCutSendsToJustify = std::uint64_t{1} << 21U;  ///< of one play
constexpr std::uint64_t kMostJustifiedCutSends = std::uint64_t{1} << 20U;  ///< of all plays but the first
constexpr std::uint64_t kFirstPlays = 3;
constexpr int kRounds = 2;  ///< backward and forward, of each order
/// A schedule is not justified if it is longer than its busiest link is busy by less than this share.
constexpr std::int64_t kLeastCutFilling = 512;

/// Orders of sends.
struct RateOrder {
  std::int64_t margin = 0;  ///< of due times; 0: by ranks
  bool longest_first = false;
};
constexpr std::array<RateOrder, 5> kOrders = {{{2}, {1}, {0}, {0, true}, {4}}};

std::uint64_t sends_of(const SynthesisProblem& problem) {
  return problem.collective.chunks() * (problem.topology.npus() - 1) * links_per_way(problem.topology);
}

/// Whether sends are played backward and forward, too. Not those of an All-Reduce, whose halves may then overlap less,
/// nor late starts, which plays backward do not know.
bool justifies_cut_rate(const SynthesisProblem& problem) {
  return problem.start_delays.empty() && problem.collective.kind() != CollectiveKind::all_reduce &&
         sends_of(problem) <= kMostCutSendsToJustify;
}

class CutRate {
 public:
  CutRate(const SynthesisProblem& problem, bool justifies)
      : problem_(problem), network_(problem), justifies_(justifies) {}

  Result<Gathered> gather() {
    CutPacking packing(problem_, network_, justifies_);
    std::size_t packings = 0;
    while (packings < kMostPackings && (packings == 0 || sends_of(problem_) <= kMostSendsToRetry)) {
      if (justifies_ && packings > 0 && spent_ > kMostJustifiedCutSends) break;
      const auto dealt = packing.next();
      if (!dealt) break;
      ++packings;
      play(*dealt);
    }
    if (packings == 0 && packing.gave_up())
      return input_error({}, "no out-trees are packed over so many switches",
                         "their links are split in pairs, and the flows that each pair needs would take minutes",
                         "use `pccl`, or leave the engine to `auto`");
    if (packings == 0)
      return input_error({}, "no out-trees can be packed over the switches",
                         "some vertex has more bandwidth in than out, or out than in, so switches cannot be split into "
                         "links between NPUs",
                         "use `pccl`, or make links equal both ways");
    return std::move(best_);
  }

 private:
  void play(const DealtTrees& dealt) {
    if (justifies_) return justify(dealt);
    for (const bool longest_first : {false, true}) {
      PlayOptions options;
      options.longest_first = longest_first;
      options.start_delays = problem_.start_delays;
      auto played = play_trees(network_, dealt, options);
      if (best_.schedule.sends() > 0 && played.time >= best_.time) continue;
      best_.schedule = std::move(played.schedule);
      best_.time = played.time;
    }
  }
  /// Plays forward and backward in several orders.
  void justify(const DealtTrees& dealt) {
    const SimTime least = rate_time(network_, dealt);
    const SendGraph graph(network_, dealt, false);
    std::uint32_t ranks = 1;
    for (const DealtChunk& each : dealt.deal) ranks = std::max(ranks, each.rank + 1);
    std::optional<SendStarts> best;
    const auto keep = [&](const SendStarts& starts) {
      if (best_.schedule.sends() > 0 && starts.time >= best_.time) return;
      if (!best || starts.time < best->time) best = starts;
    };
    const auto filled = [&] { return best && best->time - least < SimTime::of(least.count() / kLeastCutFilling); };
    for (const RateOrder& order : kOrders) {
      if (filled() || !spend(1, graph.sends())) break;
      PlayOptions options;
      options.longest_first = order.longest_first;
      SendStarts last =
          order.margin > 0 ? graph.play_by_due({least / std::int64_t{ranks}, order.margin, 0}) : graph.play(options);
      keep(last);
      for (int round = 0; round < kRounds && !filled() && spend(2, graph.sends()); ++round) {
        const SimTime before = last.time;
        last = graph.justified(last);
        keep(last);
        if (last.time >= before) break;
      }
    }
    if (!best) return;
    best_.schedule = graph.schedule(*best);
    best_.time = best->time;
  }
  /// Whether plays of so many sends may be made.
  [[nodiscard]] bool spend(std::uint64_t plays, std::uint64_t sends) {
    plays_ += plays;
    spent_ += plays * sends;
    return plays_ <= kFirstPlays || spent_ <= kMostJustifiedCutSends;
  }

  const SynthesisProblem& problem_;
  TreeNetwork network_;
  bool justifies_;
  std::uint64_t plays_ = 0;
  std::uint64_t spent_ = 0;  ///< sends of all plays
  Gathered best_;
};

/// How long the busiest link is busy. O(sends).
SimTime busiest_link_time(const SynthesisProblem& problem, const Schedule& schedule) {
  const TreeNetwork network(problem);
  std::vector<std::int64_t> load(problem.topology.links());
  SendBuffer buffer;
  for (std::size_t segment = 0; segment < schedule.segments(); ++segment) {
    schedule.read(segment, buffer);
    for (const LinkId link : buffer.batch.link) ++load[link.index()];
  }
  SimTime time;
  for (std::size_t link = 0; link < load.size(); ++link)
    time = std::max(time, network.hop(LinkId::at(link)).busy * load[link]);
  return time;
}

Result<Gathered> gather_justified(const SynthesisProblem& problem) { return CutRate(problem, true).gather(); }
Result<Gathered> gather_cut_rate(const SynthesisProblem& problem) { return CutRate(problem, false).gather(); }

}  // namespace

std::optional<std::string> cut_rate_unsuitable(const SynthesisProblem& problem) {
  if (auto reason = tree_network_unsuitable(problem)) return reason;
  const auto kind = problem.collective.kind();
  if (!problem.start_delays.empty() && kind != CollectiveKind::all_gather && kind != CollectiveKind::broadcast)
    return "where NPUs start late, it makes only All-Gathers and Broadcasts: it reverses the others in time";
  if (problem.topology.npus() > kMostCutPackingNpus) return fmt::format("it takes up to {} NPUs", kMostCutPackingNpus);
  if (sends_of(problem) > kMostPlayedSends) return "it takes up to 2^25 sends";
  return std::nullopt;
}

Result<Synthesis> synthesize_cut_rate(const SynthesisProblem& problem) {
  if (auto reason = cut_rate_unsuitable(problem))
    return input_error({}, "the engine `cut_rate` cannot make this schedule", *std::move(reason),
                       "leave the engine to `auto`");
  auto made = compose(problem, justifies_cut_rate(problem) ? gather_justified : gather_cut_rate, "cut_rate");
  if (made) made->rate_time = busiest_link_time(problem, made->schedule);
  return made;
}

namespace {

/// Bytes of a packing: bandwidth between NPUs, links or ways over switches, and the trees.
std::size_t packing_bytes(const SynthesisProblem& problem) {
  constexpr std::size_t kBytesPerPairOfNpus = 64;
  constexpr std::size_t kBytesPerWay = 256;
  constexpr std::size_t kBytesPerPlace = 28;    // an NPU in a tree
  constexpr std::size_t kMostTreesPerRoot = 4;  // as they are used; chunks of a root share them
  const std::size_t npus = problem.topology.npus();
  const std::size_t ways = problem.topology.switches() > 0 ? npus * npus : problem.topology.links();
  const std::size_t trees = std::min<std::size_t>(problem.collective.chunks(), kMostTreesPerRoot * npus);
  return npus * npus * kBytesPerPairOfNpus + ways * kBytesPerWay + trees * npus * kBytesPerPlace;
}

}  // namespace

std::size_t cut_rate_bytes(const SynthesisProblem& problem) {
  const Topology& topology = problem.topology;
  const bool all_reduce = problem.collective.kind() == CollectiveKind::all_reduce;
  const std::uint64_t sends = sends_of(problem);
  // The best schedule so far is held while sends are played again, in one way or the other.
  const std::size_t again = justifies_cut_rate(problem) ? justification_bytes(sends, false) : 0;
  const std::size_t made = played_schedule_bytes(sends) + std::max(play_bytes(topology, sends), again);
  const std::size_t overlapped = all_reduce ? 2 * played_schedule_bytes(sends) + retime_bytes(problem, 2 * sends) : 0;
  return std::max(made, overlapped) + packing_bytes(problem);
}

Work cut_rate_work(const SynthesisProblem& problem) {
  const std::uint64_t sends = sends_of(problem);
  const std::uint64_t packings = sends > kMostSendsToRetry ? 1 : kMostPackings;
  const std::uint64_t plays = packings * kOrders.size() * (1 + 2 * kRounds);
  const Work played =
      justifies_cut_rate(problem)
          ? justification_work(std::min(plays * sends, std::max(kFirstPlays * sends, kMostJustifiedCutSends)))
          : 2.0 * static_cast<double>(packings) * play_work(sends);
  return Work(WorkUnit::packing, 1) + played + static_cast<double>(packings) * cut_packing_work(problem.topology);
}

}  // namespace tenex
