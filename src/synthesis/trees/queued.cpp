#include "synthesis/trees/queued.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "synthesis/trees/packing.hpp"
#include "tenex/base/csr.hpp"
#include "tenex/schedule/list_builder.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {
namespace {

constexpr std::uint64_t kMostQueuedSends = std::uint64_t{1} << 25U;
constexpr std::uint64_t kMostTrees = 256;
constexpr std::uint64_t kMostTreeSends = 4'000'000;  ///< of one chunk on every tree
/// Preferences for shallow trees that are tried, while all tries together have no more than kMostQueuedSends sends.
constexpr std::array<double, 2> kQueuedDepthWeights = {0.2, 0};
constexpr std::size_t kBytesPerQueuedSend = 40;
constexpr double kSecondsPerQueuedSend = 0.4e-6;

std::uint64_t sends_in_all(const SynthesisProblem& problem) {
  return 2 * (problem.topology.npus() - 1) * problem.collective.chunks();
}
std::uint32_t trees_of(const SynthesisProblem& problem) {
  const std::uint64_t fit = kMostTreeSends / (2 * problem.topology.npus());
  return static_cast<std::uint32_t>(
      std::min({kMostTrees, problem.collective.chunks(), std::max<std::uint64_t>(1, fit)}));
}

/// A send that is ready: lower chunks first, sums before copies. Packed, as many wait at once.
class Ready {
 public:
  Ready() = default;
  Ready(std::uint32_t chunk, bool copy, NpuId below)
      : bits_((std::uint64_t{chunk} << 33U) | (std::uint64_t{copy} << 32U) | below.value()) {}
  [[nodiscard]] std::uint32_t chunk() const { return static_cast<std::uint32_t>(bits_ >> 33U); }
  [[nodiscard]] bool copy() const { return ((bits_ >> 32U) & 1U) != 0; }
  [[nodiscard]] NpuId below() const { return NpuId(static_cast<std::uint32_t>(bits_)); }  ///< the link's lower end
  auto operator<=>(const Ready&) const = default;

 private:
  std::uint64_t bits_ = 0;
};

/// Plays all chunks over the trees.
class Player {
 public:
  Player(const Topology& topology, const TreeLinks& links, const std::vector<SpanningTree>& trees, std::uint32_t chunks)
      : topology_(topology),
        links_(links),
        trees_(trees),
        chunks_(chunks),
        ready_(topology.links()),
        idle_(topology.links(), true) {
    const std::size_t npus = topology.npus();
    std::vector<std::pair<LinkId, std::uint32_t>> leaves;  // the link of a tree's leaf, and the tree
    for (std::uint32_t t = 0; t < trees.size(); ++t) {
      const SpanningTree& tree = trees[t];
      children_.push_back(Csr<NpuId>::group(
          npus, npus - 1,
          [&](std::size_t i) { return topology.source(tree.down[tree.down_order[i + 1].index()]).index(); },
          [&](std::size_t i) { return tree.down_order[i + 1]; }));
      std::vector<std::uint32_t> parts(npus);
      for (const LinkId up : tree.up)
        if (up.exists()) ++parts[topology.target(up).index()];
      for (std::size_t npu = 0; npu < npus; ++npu)
        if (parts[npu] == 0 && tree.up[npu].exists()) leaves.emplace_back(tree.up[npu], t);
      parts_.push_back(std::move(parts));
    }
    leaves_ = Csr<std::uint32_t>::group(
        topology.links(), leaves.size(), [&](std::size_t i) { return leaves[i].first.index(); },
        [&](std::size_t i) { return leaves[i].second; });
    waiting_.resize(std::size_t{chunks} * npus);
    for (std::uint32_t chunk = 0; chunk < chunks; ++chunk)
      std::ranges::copy(parts_[tree_of(chunk)], waiting_.begin() + static_cast<std::ptrdiff_t>(chunk * npus));
    next_leaf_.resize(topology.links());
    for (std::size_t link = 0; link < topology.links(); ++link) begin_leaf(LinkId::at(link));
  }

  Schedule play() {
    for (std::size_t link = 0; link < topology_.links(); ++link) touched_.push_back(LinkId::at(link));
    start_sends(SimTime::zero());
    while (!events_.empty()) {
      const SimTime now = std::get<SimTime>(events_.top());
      while (!events_.empty() && std::get<SimTime>(events_.top()) == now) {
        const auto [time, link, frees, arrived] = events_.top();
        events_.pop();
        if (frees) {
          idle_[link.index()] = true;
          touched_.push_back(link);
        } else {
          arrive(arrived);
        }
      }
      last_arrival_ = std::max(last_arrival_, now);
      start_sends(now);
    }
    return sends_.finish();
  }
  [[nodiscard]] SimTime time() const { return last_arrival_; }

 private:
  /// Time, link, whether it becomes free (else `Ready` has arrived).
  using Event = std::tuple<SimTime, LinkId, bool, Ready>;

  [[nodiscard]] std::size_t tree_of(std::uint32_t chunk) const { return chunk % trees_.size(); }

  /// The next chunk of which the link's source is a leaf becomes ready: at once, but one by one, as they wait in order.
  void begin_leaf(LinkId link) {
    const auto own = leaves_.row(link.index());
    std::uint64_t& next = next_leaf_[link.index()];
    if (own.empty()) return;
    const std::uint64_t chunk = next / own.size() * trees_.size() + own[next % own.size()];
    if (chunk >= chunks_) return;
    ++next;
    push(link, Ready(static_cast<std::uint32_t>(chunk), false, npu_of(topology_.source(link))));
  }
  void push(LinkId link, Ready ready) {
    ready_[link.index()].push(ready);
    touched_.push_back(link);
  }
  void begin_copies(std::uint32_t chunk, NpuId npu) {
    const std::size_t t = tree_of(chunk);
    for (const NpuId child : children_[t].row(npu.index()))
      push(trees_[t].down[child.index()], Ready(chunk, true, child));
  }
  void arrive(Ready arrived) {
    const std::uint32_t chunk = arrived.chunk();
    if (arrived.copy()) return begin_copies(chunk, arrived.below());
    const SpanningTree& tree = trees_[tree_of(chunk)];
    const NpuId above = npu_of(topology_.target(tree.up[arrived.below().index()]));
    if (--waiting_[std::size_t{chunk} * topology_.npus() + above.index()] > 0) return;
    if (above == tree.root) return begin_copies(chunk, above);
    push(tree.up[above.index()], Ready(chunk, false, above));
  }
  /// Starts the lowest ready send of every link that is idle, link by link.
  void start_sends(SimTime now) {
    std::ranges::sort(touched_);
    link_.clear();
    chunk_.clear();
    stage_.clear();
    for (const LinkId link : touched_) {
      auto& ready = ready_[link.index()];
      if (!idle_[link.index()] || ready.empty()) continue;
      const Ready taken = ready.top();
      ready.pop();
      idle_[link.index()] = false;
      const HopTime& hop = links_.hop[link.index()];
      events_.push({now + hop.busy, link, true, {}});
      events_.push({now + hop.latency, link, false, taken});
      link_.push_back(link);
      chunk_.push_back(ChunkId(taken.chunk()));
      stage_.push_back(taken.copy() ? Stage::copy : Stage::reduce);
      if (!taken.copy() && parts_[tree_of(taken.chunk())][taken.below().index()] == 0) begun_.push_back(link);
    }
    touched_.clear();
    for (const LinkId link : begun_) begin_leaf(link);
    begun_.clear();
    if (link_.empty()) return;
    SendBatch batch;
    batch.link = link_;
    batch.chunk = chunk_;
    batch.stage = stage_;
    batch.at = now;
    sends_.append(batch);
  }

  const Topology& topology_;
  const TreeLinks& links_;
  const std::vector<SpanningTree>& trees_;
  const std::uint32_t chunks_;
  std::vector<Csr<NpuId>> children_;               ///< per tree, of copies
  std::vector<std::vector<std::uint32_t>> parts_;  ///< per tree: how many sums arrive at each NPU
  Csr<std::uint32_t> leaves_;                      ///< per link: the trees in which its source is a leaf
  std::vector<std::uint64_t> next_leaf_;           ///< per link: how many of these have begun
  std::vector<std::uint16_t> waiting_;             ///< per chunk and NPU: sums that have not arrived
  std::vector<std::priority_queue<Ready, std::vector<Ready>, std::greater<>>> ready_;
  std::vector<bool> idle_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<LinkId> touched_;
  std::vector<LinkId> begun_;
  std::vector<LinkId> link_;
  std::vector<ChunkId> chunk_;
  std::vector<Stage> stage_;
  ListBuilder sends_;
  SimTime last_arrival_;
};

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
  const TreeLinks links = tree_links(problem);
  const auto chunks = static_cast<std::uint32_t>(problem.collective.chunks());
  Synthesis made;
  std::uint64_t played = 0;
  for (const double depth_weight : kQueuedDepthWeights) {
    played += sends_in_all(problem);
    if (played > kMostQueuedSends && made.schedule.sends() > 0) break;
    const auto trees = pack_trees(problem, links, {trees_of(problem), depth_weight});
    Player player(problem.topology, links, trees, chunks);
    auto schedule = player.play();
    if (made.schedule.sends() > 0 && player.time() >= made.time) continue;
    made.schedule = std::move(schedule);
    made.time = player.time();
  }
  made.engine = "queued";
  made.overlap_method = "trees";
  return made;
}

std::size_t queued_bytes(const SynthesisProblem& problem) {
  const std::size_t trees = trees_of(problem) * problem.topology.npus() * 40;
  return static_cast<std::size_t>(sends_in_all(problem)) * kBytesPerQueuedSend + trees +
         problem.topology.links() * 128 + (std::size_t{1} << 20);
}

double queued_seconds(const SynthesisProblem& problem) {
  const auto sends = sends_in_all(problem);
  const double tries = 2 * sends <= kMostQueuedSends ? 2 : 1;
  return 1e-3 + tries * static_cast<double>(sends) * kSecondsPerQueuedSend;
}

}  // namespace tenex
