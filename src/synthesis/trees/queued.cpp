#include "synthesis/trees/engines.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "synthesis/compose.hpp"
#include "synthesis/trees/cut_packing.hpp"
#include "synthesis/trees/justification.hpp"
#include "synthesis/trees/packing.hpp"
#include "synthesis/trees/player.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/topology/transform.hpp"

namespace tenex {
namespace {

constexpr std::uint64_t kMostQueuedSends = std::uint64_t{1} << 25U;
/// Sends of all plays but the first two.
constexpr std::uint64_t kMostSendsToReplay = std::uint64_t{1} << 20U;
constexpr std::uint64_t kMostSendsToJustify = std::uint64_t{1} << 20U;   ///< of one play
constexpr std::uint64_t kMostJustifiedSends = 12 * kMostSendsToJustify;  ///< of all plays
/// A schedule is not justified if it is longer than the time in which links carry all chunks by less than this share.
constexpr std::int64_t kLeastFilling = 512;
constexpr int kOrderRounds = 3;           ///< of every order of the best packings
constexpr int kLastRounds = 6;            ///< of the best order
constexpr std::size_t kBestPackings = 3;  ///< whose orders are justified for every lag
constexpr int kCutPackings = 3;
constexpr std::size_t kMostNpusOfCutPackings = 32;
constexpr std::array<std::uint32_t, 4> kCopyLags = {0, 1, 4, 16};  ///< as shares of all ranks
constexpr std::uint64_t kMostTreeSends = 4'000'000;                ///< of one chunk on every tree
constexpr std::uint64_t kMostWeighings = 2'000'000;                ///< of links, over all trees of a packing
/// Packings that are tried: growths of weights and preferences for shallow trees.
constexpr std::array<PackingOptions, 8> kPackings = {{{1, 0.2, 2},
                                                      {1, 0, 2},
                                                      {1, 0.2, 0.7},
                                                      {1, 0.2, 0.25},
                                                      {1, 0.02, 0.25},
                                                      {1, 1, 0.25},
                                                      {1, 0.2, 0.08},
                                                      {1, 0.01, 0.08}}};

/// Those that leave room on links over switches, and how much: PackingOptions::idle_times.
constexpr std::array<PackingOptions, 8> kRoomyPackings = {{{1, 0.02, 0.08},
                                                           {1, 0.2, 0.08},
                                                           {1, 0.2, 0.25},
                                                           {1, 0.02, 0.25},
                                                           {1, 0.2, 0.7},
                                                           {1, 0.2, 2},
                                                           {1, 0, 2},
                                                           {1, 0.01, 0.08}}};
constexpr std::array<double, 2> kIdleTimes = {6, 2};

/// Orders of sends that are justified.
struct JustifiedOrder {
  std::uint32_t lag_share = 0;  ///< of copies, in 32nds of all ranks
  std::int64_t margin = 0;      ///< of due times; 0: by ranks
};
constexpr std::uint32_t kLagShares = 32;
constexpr std::array<JustifiedOrder, 1> kFirstOrders = {{{1, 4}}};  ///< of all packings
constexpr std::array<JustifiedOrder, 5> kOtherOrders = {
    {{1, 6}, {0, 3}, {0, 0}, {2, 4}, {8, 0}}};                     ///< of the best ones
constexpr std::array<JustifiedOrder, 1> kLastOrders = {{{2, 0}}};  ///< of all, as long as plays are left

/// How trees meet NPUs that start late. With the latest one as its root a tree has all sums there when that NPU starts,
/// and only copies are left to send, so that links are weighed one way. As a leaf a late NPU forwards nothing, and
/// sends each chunk once.
struct LateTrees {
  bool from_latest = false;
  bool as_leaves = false;
};
constexpr std::array<LateTrees, 4> kLateTrees = {{{true, false}, {true, true}, {false, false}, {false, true}}};

std::uint64_t sends_in_all(const SynthesisProblem& problem) {
  return 2 * (problem.topology.npus() - 1) * problem.collective.chunks() * links_per_way(problem.topology);
}
/// As many trees as chunks if they are few; else a multiple of the NPUs, so that each can be the root of as many.
std::uint32_t trees_of(const SynthesisProblem& problem) {
  const std::uint64_t npus = problem.topology.npus();
  const std::uint64_t most = std::min({problem.collective.chunks(), kMostTreeSends / (2 * npus),
                                       kMostWeighings / std::max<std::uint64_t>(1, problem.topology.links())});
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(1, most < npus ? most : most / npus * npus));
}

std::uint64_t packings_of(const SynthesisProblem& problem) {
  return std::clamp<std::uint64_t>(kMostWeighings / (trees_of(problem) * problem.topology.links()), 2,
                                   kPackings.size());
}

/// Kinds of trees that are tried: more where NPUs start late.
std::size_t kinds_of_trees(const SynthesisProblem& problem) {
  return problem.start_delays.empty() ? 1 : kLateTrees.size();
}

/// Whether the out-trees of an All-Gather, used both ways, are tried. They are packed exactly, which takes time.
bool tries_cut_packing(const SynthesisProblem& problem) {
  return problem.topology.npus() <= kMostNpusOfCutPackings && opposite_links(problem.topology).has_value();
}

std::uint64_t plays_of(const SynthesisProblem& problem) {
  const std::uint64_t sends = sends_in_all(problem);
  const std::uint64_t kinds = kinds_of_trees(problem);
  return kinds * std::clamp<std::uint64_t>(
                     kMostSendsToReplay / sends, 2 * sends <= kMostQueuedSends ? 2 : 1,
                     kCopyLags.size() * (packings_of(problem) + (tries_cut_packing(problem) ? kCutPackings : 0)));
}

/// Whether all other NPUs reach each other and `leaves` if no way leads through these.
bool connected_without(const Topology& topology, const std::vector<NpuId>& leaves) {
  std::vector<bool> is_leaf(topology.vertices());
  for (const NpuId leaf : leaves) is_leaf[leaf.index()] = true;
  const auto first = std::find(is_leaf.begin(), is_leaf.begin() + static_cast<std::ptrdiff_t>(topology.npus()), false);
  const auto start = VertexId::at(static_cast<std::size_t>(first - is_leaf.begin()));
  if (start.index() >= topology.npus()) return false;
  for (const bool backward : {false, true}) {
    std::vector<bool> reached(topology.vertices());
    std::size_t npus = 0;
    std::vector<VertexId> open = {start};
    reached[start.index()] = true;
    while (!open.empty()) {
      const VertexId vertex = open.back();
      open.pop_back();
      if (topology.is_npu(vertex)) ++npus;
      if (is_leaf[vertex.index()]) continue;
      for (const LinkId link : backward ? topology.in_links(vertex) : topology.out_links(vertex)) {
        const VertexId next = backward ? topology.source(link) : topology.target(link);
        if (!reached[next.index()]) open.push_back(next);
        reached[next.index()] = true;
      }
    }
    if (npus < topology.npus()) return false;
  }
  return true;
}

/// What is tried.
struct Packing {
  SimTime least;  ///< in which links could carry all chunks
  DealtTrees dealt;
  std::size_t kind = 0;  ///< of kLateTrees
  std::size_t turn = 0;  ///< among those of its kind
  bool weighted = true;  ///< not the out-trees of an All-Gather
};

/// Trees under multiplicative weights, chunks in turn.
DealtTrees weighted_trees(const SynthesisProblem& problem, TreeNetwork& network, PackingOptions options) {
  options.trees = trees_of(problem);
  DealtTrees dealt{pack_trees(network, options), {}};
  for (std::uint32_t chunk = 0; chunk < problem.collective.chunks(); ++chunk)
    dealt.deal.push_back({ChunkId(chunk), chunk % options.trees, chunk});
  return dealt;
}

/// Out-trees of an All-Gather, and their links back for sums.
std::optional<DealtTrees> trees_of_gather(CutPacking& packing, TreeNetwork& network) {
  auto dealt = packing.next();
  if (!dealt) return std::nullopt;
  for (SpanningTree& tree : dealt->trees) {
    tree.up_order = tree.down_order;
    for (const WayId way : tree.down) tree.up.push_back(way.exists() ? network.opposite_way(way) : way);
  }
  std::stable_sort(dealt->deal.begin(), dealt->deal.end(),
                   [](const DealtChunk& a, const DealtChunk& b) { return a.rank < b.rank; });
  for (std::uint32_t i = 0; i < dealt->deal.size(); ++i) dealt->deal[i].rank = i;
  return dealt;
}

/// NPUs that start late, the latest first.
std::vector<NpuId> late_npus(const SynthesisProblem& problem) {
  auto delays = problem.start_delays;
  std::stable_sort(delays.begin(), delays.end(),
                   [](const StartDelay& a, const StartDelay& b) { return a.time > b.time; });
  std::vector<NpuId> late;
  for (const StartDelay& each : delays)
    if (each.time > SimTime::zero()) late.push_back(each.npu);
  return late;
}

/// Every kind of trees where NPUs start late, under the same options.
void add_late_packings(const SynthesisProblem& problem, TreeNetwork& network, const PackingOptions& given,
                       std::vector<Packing>& made) {
  const auto late = late_npus(problem);
  for (std::size_t kind = 0; kind < kLateTrees.size(); ++kind) {
    const LateTrees& how = kLateTrees[kind];
    if (how.as_leaves && !connected_without(problem.topology, late)) continue;
    PackingOptions options = given;
    options.by_direction = how.from_latest;
    if (how.from_latest) options.root = late.front();
    if (how.as_leaves) options.leaves = late;
    DealtTrees dealt = weighted_trees(problem, network, options);
    const SimTime least = rate_time(network, dealt);
    made.push_back({least, std::move(dealt), kind});
  }
}

/// Puts the best use of links first, and kinds in turn.
void sort_by_turn(std::vector<Packing>& made) {
  std::stable_sort(made.begin(), made.end(), [](const Packing& a, const Packing& b) { return a.least < b.least; });
  std::array<std::size_t, kLateTrees.size()> turns = {};
  for (Packing& each : made) each.turn = turns[each.kind]++;
  std::stable_sort(made.begin(), made.end(), [](const Packing& a, const Packing& b) { return a.turn < b.turn; });
}

/// What is tried, of every kind the packings that use the links best first.
std::vector<Packing> packings(const SynthesisProblem& problem, TreeNetwork& network) {
  std::vector<Packing> made;
  const auto add = [&](DealtTrees dealt, bool weighted) {
    const SimTime least = rate_time(network, dealt);
    made.push_back({least, std::move(dealt), 0, 0, weighted});
  };
  for (std::size_t i = 0; i < packings_of(problem); ++i)
    if (problem.start_delays.empty())
      add(weighted_trees(problem, network, kPackings[i]), true);
    else
      add_late_packings(problem, network, kPackings[i], made);
  if (tries_cut_packing(problem)) {
    CutPacking packing(problem, network, false);
    for (int i = 0; i < kCutPackings; ++i)
      if (auto dealt = trees_of_gather(packing, network)) add(*std::move(dealt), false);
  }
  sort_by_turn(made);
  return made;
}

std::uint32_t ranks_of(const Packing& packing) { return packing.dealt.deal.back().rank + 1; }
SimTime pace_of(const Packing& packing) { return packing.least / std::int64_t{ranks_of(packing)}; }
std::uint32_t lag_of(const Packing& packing, std::uint32_t share, std::uint32_t shares) {
  return static_cast<std::uint32_t>(std::uint64_t{ranks_of(packing)} * share / shares);
}

/// Plays the packings of one turn under every lag, as long as plays are left, and keeps the best.
void play_turn(const SynthesisProblem& problem, const TreeNetwork& network, std::span<const Packing> turn,
               std::uint64_t& plays, Synthesis& made) {
  for (const std::uint32_t share : kCopyLags)
    for (const Packing& packing : turn) {
      if (plays == 0) return;
      --plays;
      auto played = play_trees(network, packing.dealt,
                               {true, lag_of(packing, share, kCopyLags.back()), false, problem.start_delays});
      if (made.schedule.sends() > 0 && played.time >= made.time) continue;
      made.schedule = std::move(played.schedule);
      made.time = played.time;
      made.rate_time = packing.least;
    }
}

/// Exchanges weighted trees for others that leave room on links over switches, which begin late and end early. Those
/// that leave most come first.
void leave_room(const SynthesisProblem& problem, TreeNetwork& network, std::vector<Packing>& packings) {
  if (!has_idle_links(network)) return;
  const SimTime span = packings.front().least;
  std::vector<Packing> roomy;
  for (std::size_t i = 0; i < packings_of(problem); ++i)
    for (const double idle_times : kIdleTimes) {
      PackingOptions options = kRoomyPackings[i];
      options.span = span;
      options.idle_times = idle_times;
      auto dealt = weighted_trees(problem, network, options);
      const SimTime least = rate_time(network, dealt);
      roomy.push_back({least, std::move(dealt)});
    }
  for (Packing& packing : packings)
    if (!packing.weighted) roomy.push_back(std::move(packing));
  packings = std::move(roomy);
}

/// Justifies orders of packings: each packing with one order, the best ones with others, the best of all again, and
/// each packing with another order. Each step may use a part of the plays.
class Justified {
 public:
  Justified(const TreeNetwork& network, SimTime bound, GoodEnough good_enough)
      : network_(network), bound_(bound), good_enough_(good_enough) {}

  void run(const std::vector<Packing>& packings) {
    std::vector<std::pair<SimTime, const Packing*>> ranking;
    most_spent_ = kMostJustifiedSends / 3;
    for (const Packing& packing : packings) ranking.emplace_back(attempt(packing, kFirstOrders, 1), &packing);
    if (best_ == nullptr) return;
    std::stable_sort(ranking.begin(), ranking.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    most_spent_ = kMostJustifiedSends / 3 * 2;
    for (std::size_t i = 0; i < std::min(kBestPackings, ranking.size()); ++i)
      attempt(*ranking[i].second, kOtherOrders, kOrderRounds);
    most_spent_ = kMostJustifiedSends;
    repeat(*best_, SendGraph(network_, best_->dealt, true), starts_, kLastRounds);
    for (const Packing& packing : packings) attempt(packing, kLastOrders, 1);
  }
  [[nodiscard]] SimTime time() const { return starts_.time; }
  [[nodiscard]] bool found() const { return best_ != nullptr; }
  [[nodiscard]] Schedule schedule() const { return SendGraph(network_, best_->dealt, true).schedule(starts_); }
  [[nodiscard]] SimTime rate_time() const { return best_->least; }

 private:
  /// The least time; SimTime::max() where there is none.
  SimTime attempt(const Packing& packing, std::span<const JustifiedOrder> orders, int rounds) {
    SimTime least = SimTime::max();
    if (done()) return least;
    const SendGraph graph(network_, packing.dealt, true);
    for (const JustifiedOrder& order : orders) {
      if (!spend(graph.sends())) break;
      const std::uint32_t lag = lag_of(packing, order.lag_share, kLagShares);
      const SendStarts first =
          order.margin == 0 ? graph.play({true, lag}) : graph.play_by_due({pace_of(packing), order.margin, lag});
      least = std::min(least, repeat(packing, graph, first, rounds));
    }
    return least;
  }
  /// Justifies an order again and again. The least time.
  SimTime repeat(const Packing& packing, const SendGraph& graph, SendStarts last, int rounds) {
    SimTime least = SimTime::max();
    for (int round = 0; round < rounds && spend(2 * graph.sends()); ++round) {
      last = graph.justified(last);
      if (last.time >= least) break;
      least = last.time;
      keep(packing, last);
    }
    return least;
  }
  void keep(const Packing& packing, const SendStarts& starts) {
    if (best_ != nullptr && starts.time >= starts_.time) return;
    best_ = &packing;
    starts_ = starts;
  }
  [[nodiscard]] bool done() const { return best_ != nullptr && good_enough_.reached(starts_.time, bound_); }
  /// Whether plays of so many sends may be made.
  [[nodiscard]] bool spend(std::uint64_t sends) {
    if (done() || spent_ + sends > most_spent_) return false;
    spent_ += sends;
    return true;
  }

  const TreeNetwork& network_;
  SimTime bound_;
  GoodEnough good_enough_;
  std::uint64_t most_spent_ = 0;
  std::uint64_t spent_ = 0;
  const Packing* best_ = nullptr;
  SendStarts starts_;
};

/// Exchanges the schedule for a justified one that is faster.
void justify(const SynthesisProblem& problem, TreeNetwork& network, std::vector<Packing> tried, Synthesis& made) {
  const SimTime least = tried.front().least;
  const SimTime bound = best_cheap_bound({problem, true, true}).time;
  if (made.time - least < SimTime::of(least.count() / kLeastFilling)) return;
  if (problem.good_enough.reached(made.time, bound)) return;
  leave_room(problem, network, tried);
  Justified search(network, bound, problem.good_enough);
  search.run(tried);
  if (!search.found() || search.time() >= made.time) return;
  made.schedule = search.schedule();
  made.time = search.time();
  made.rate_time = search.rate_time();
}

}  // namespace

// Late starts are not justified: plays backward do not know them.
bool queued_justifies(const SynthesisProblem& problem) {
  return problem.start_delays.empty() && sends_in_all(problem) <= kMostSendsToJustify;
}

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
  Synthesis made;
  std::uint64_t plays = plays_of(problem);
  auto tried = packings(problem, network);
  for (auto first = tried.begin(); first != tried.end();) {
    const auto end = std::find_if(first, tried.end(), [&](const Packing& each) { return each.turn != first->turn; });
    play_turn(problem, network, {first, end}, plays, made);
    first = end;
  }
  if (queued_justifies(problem)) justify(problem, network, std::move(tried), made);
  made.engine = "queued";
  made.overlap_method = "trees";
  return made;
}

std::size_t queued_bytes(const SynthesisProblem& problem) {
  const std::size_t trees =
      kinds_of_trees(problem) * packings_of(problem) * trees_of(problem) * problem.topology.npus() * 28;
  const std::uint64_t sends = sends_in_all(problem);
  const std::size_t best = plays_of(problem) > 1 ? played_schedule_bytes(sends) : 0;  // beside the next one
  const std::size_t played = best + play_bytes(problem.topology, sends) + trees;
  if (!queued_justifies(problem)) return played;
  // Other trees are packed in place of the first ones where some links are over switches.
  const std::size_t roomy = problem.topology.vertices() > problem.topology.npus() ? kIdleTimes.size() + 1 : 1;
  return std::max(played, played_schedule_bytes(sends) + justification_bytes(sends, true) + roomy * trees);
}

Work queued_work(const SynthesisProblem& problem) {
  // Few sends and small packings are tried more often, up to the limits.
  const auto in_all = [](double each, double tries, double limit) {
    return std::min(tries * each, std::max(limit, 2 * each));
  };
  const double tries = static_cast<double>(kPackings.size());
  const double weighings = static_cast<double>(trees_of(problem)) * static_cast<double>(problem.topology.links());
  const double sends = in_all(static_cast<double>(sends_in_all(problem)), 2 * tries, kMostSendsToReplay);
  const Work cuts = tries_cut_packing(problem) ? kCutPackings * cut_packing_work(problem.topology) : Work();
  const auto kinds = static_cast<double>(kinds_of_trees(problem));
  const double plays_of_one = 6 * (kIdleTimes.size() * tries + kCutPackings) +
                              (1 + 2 * kOrderRounds) * kBestPackings * kOtherOrders.size() + 2 * kLastRounds;
  const Work justified = queued_justifies(problem)
                             ? justification_work(static_cast<std::uint64_t>(std::min<double>(
                                   static_cast<double>(sends_in_all(problem)) * plays_of_one, kMostJustifiedSends)))
                             : Work();
  const double packings = queued_justifies(problem) ? 1 + kIdleTimes.size() : kinds;
  return Work(WorkUnit::packing, 1) +
         Work(WorkUnit::weighed_link, packings * in_all(weighings, tries, kMostWeighings)) + cuts +
         kinds * play_work(static_cast<std::uint64_t>(sends)) + justified;
}

}  // namespace tenex
