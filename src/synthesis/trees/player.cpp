#include "synthesis/trees/player.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "tenex/base/csr.hpp"
#include "tenex/base/graph/event_queue.hpp"
#include "tenex/schedule/storage/list_builder.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {
namespace {

constexpr std::size_t kBytesPerPlayedSend = 44;
/// Keys hold how far it is to the end of the tree, in links, up to this.
constexpr std::uint64_t kMostHeight = 0xffff;

/// A send that is ready.
struct Ready {
  std::uint64_t key = 0;     ///< the lowest goes first
  std::uint32_t turn = 0;    ///< of copies alone, among equals: roots begin with different NPUs
  std::uint32_t number = 0;  ///< of the dealt chunk
  NpuId below;               ///< the lower end of the way
  std::uint16_t hop = 0;     ///< the link of the way
  bool copy = false;
  auto operator<=>(const Ready&) const = default;
};

/// What the player must know of a tree.
struct TreeFacts {
  Csr<NpuId> children;               ///< of copies
  std::vector<std::uint32_t> parts;  ///< how many sums arrive at each NPU
  std::vector<std::uint16_t> below;  ///< links to the farthest NPU below
  std::vector<std::uint16_t> above;  ///< of sums: links to the root, and from there to the farthest NPU
};

/// a + b, at most kMostHeight.
std::uint16_t height_above(std::uint16_t height, std::size_t links) {
  return static_cast<std::uint16_t>(std::min<std::uint64_t>(height + links, kMostHeight));
}

TreeFacts facts_of(const TreeNetwork& network, const SpanningTree& tree, bool sums) {
  const std::size_t npus = network.topology().npus();
  TreeFacts facts;
  facts.children = Csr<NpuId>::group(
      npus, npus - 1, [&](std::size_t i) { return network.source(tree.down[tree.down_order[i + 1].index()]).index(); },
      [&](std::size_t i) { return tree.down_order[i + 1]; });
  facts.below.resize(npus);
  for (auto npu = tree.down_order.rbegin(); npu != tree.down_order.rend(); ++npu) {
    if (*npu == tree.root) continue;
    const WayId way = tree.down[npu->index()];
    auto& above = facts.below[network.source(way).index()];
    above = std::max(above, height_above(facts.below[npu->index()], network.links(way).size()));
  }
  if (!sums) return facts;
  facts.parts.resize(npus);
  facts.above.resize(npus);
  for (const NpuId npu : tree.up_order) {
    const WayId up = tree.up[npu.index()];
    if (!up.exists()) {
      facts.above[npu.index()] = facts.below[npu.index()];
      continue;
    }
    ++facts.parts[network.target(up).index()];
    facts.above[npu.index()] = height_above(facts.above[network.target(up).index()], network.links(up).size());
  }
  return facts;
}

class TreePlayer {
 public:
  TreePlayer(const TreeNetwork& network, const DealtTrees& dealt, const PlayOptions& options)
      : network_(network),
        topology_(network.topology()),
        trees_(dealt.trees),
        deal_(dealt.deal),
        options_(options),
        ready_(topology_.links()),
        idle_(topology_.links(), true),
        freed_(topology_.classes().size() + 1),
        arrivals_(topology_.classes().size()) {
    facts_.reserve(trees_.size());
    for (const SpanningTree& tree : trees_) facts_.push_back(facts_of(network, tree, options.sums));
    auto delays = options.start_delays;
    std::stable_sort(delays.begin(), delays.end(),
                     [](const StartDelay& a, const StartDelay& b) { return a.time < b.time; });
    for (const StartDelay& late : delays)
      for (const LinkId link : topology_.out_links(vertex_of(late.npu))) {
        idle_[link.index()] = false;
        freed_.push(topology_.classes().size(), late.time, link);
      }
    if (options.sums)
      open_leaves();
    else
      for (std::uint32_t number = 0; number < deal_.size(); ++number) begin_copies(number, tree_of(number).root);
  }

  Played play() {
    start_sends(SimTime::zero());
    while (!freed_.empty() || !arrivals_.empty()) {
      const SimTime now = next_time();
      while (!freed_.empty() && freed_.time() == now) {
        const LinkId link = freed_.pop();
        idle_[link.index()] = true;
        touched_.push_back(link);
      }
      while (!arrivals_.empty() && arrivals_.time() == now) {
        arrive(arrivals_.pop());
        last_arrival_ = now;
      }
      start_sends(now);
    }
    return {sends_.finish(), last_arrival_};
  }

 private:
  [[nodiscard]] SimTime next_time() const {
    if (arrivals_.empty()) return freed_.time();
    return freed_.empty() ? arrivals_.time() : std::min(freed_.time(), arrivals_.time());
  }
  [[nodiscard]] const SpanningTree& tree_of(std::uint32_t number) const { return trees_[deal_[number].tree]; }
  [[nodiscard]] const TreeFacts& facts_of_chunk(std::uint32_t number) const { return facts_[deal_[number].tree]; }
  [[nodiscard]] WayId way_of(const Ready& ready) const {
    const SpanningTree& tree = tree_of(ready.number);
    return (ready.copy ? tree.down : tree.up)[ready.below.index()];
  }
  [[nodiscard]] std::uint64_t key_of(std::uint32_t number, NpuId below, bool copy) const {
    const std::uint64_t rank = deal_[number].rank;
    const TreeFacts& facts = facts_of_chunk(number);
    const std::uint64_t nearness = kMostHeight - (copy ? facts.below : facts.above)[below.index()];
    if (options_.sums) return (rank + (copy ? options_.copy_lag : 0)) << 17U | std::uint64_t{copy} << 16U | nearness;
    return options_.longest_first ? nearness << 32U | rank : rank << 16U | nearness;
  }

  /// Lists the sums with which the NPU before each link begins, and opens the first one. They are ready at once, but
  /// opened one by one, as they wait in order.
  void open_leaves() {
    const std::size_t npus = topology_.npus();
    waiting_.resize(deal_.size() * npus);
    leaves_.resize(topology_.links());
    for (std::uint32_t number = 0; number < deal_.size(); ++number) {
      const auto& parts = facts_of_chunk(number).parts;
      const auto& up = tree_of(number).up;
      std::copy(parts.begin(), parts.end(), waiting_.begin() + static_cast<std::ptrdiff_t>(number * npus));
      for (std::size_t npu = 0; npu < npus; ++npu)
        if (parts[npu] == 0 && up[npu].exists())
          leaves_[network_.links(up[npu]).front().index()].numbers.push_back(number);
    }
    for (std::size_t link = 0; link < topology_.links(); ++link) begin_leaf(LinkId::at(link));
  }
  /// The next chunk that the NPU before the link sends there without waiting for others.
  void begin_leaf(LinkId link) {
    Leaves& leaves = leaves_[link.index()];
    if (leaves.begun == leaves.numbers.size()) return;
    begin_way({0, 0, leaves.numbers[leaves.begun++], npu_of(topology_.source(link)), 0, false});
  }

  void push(const Ready& ready) {
    const LinkId link = network_.links(way_of(ready))[ready.hop];
    ready_[link.index()].push(ready);
    touched_.push_back(link);
  }
  void begin_way(Ready ready) {
    ready.key = key_of(ready.number, ready.below, ready.copy);
    if (!options_.sums) {
      const auto npus = static_cast<std::uint32_t>(topology_.npus());
      ready.turn = (ready.below.value() + npus - tree_of(ready.number).root.value()) % npus;
    }
    push(ready);
  }
  void begin_copies(std::uint32_t number, NpuId npu) {
    for (const NpuId child : facts_of_chunk(number).children.row(npu.index()))
      begin_way({0, 0, number, child, 0, true});
  }
  void arrive(Ready arrived) {
    const WayId way = way_of(arrived);
    if (++arrived.hop < network_.links(way).size()) return push(arrived);
    if (arrived.copy) return begin_copies(arrived.number, arrived.below);
    const NpuId above = network_.target(way);
    if (--waiting_[std::size_t{arrived.number} * topology_.npus() + above.index()] > 0) return;
    if (above == tree_of(arrived.number).root) return begin_copies(arrived.number, above);
    begin_way({0, 0, arrived.number, above, 0, false});
  }
  /// Starts the first ready send of every link that is idle, link by link.
  void start_sends(SimTime now) {
    std::sort(touched_.begin(), touched_.end());
    link_.clear();
    chunk_.clear();
    stage_.clear();
    for (const LinkId link : touched_) {
      auto& ready = ready_[link.index()];
      if (!idle_[link.index()] || ready.empty()) continue;
      const Ready taken = ready.pop();
      idle_[link.index()] = false;
      const HopTime& hop = network_.hop(link);
      freed_.push(topology_.class_of(link), now + hop.busy, link);
      arrivals_.push(topology_.class_of(link), now + hop.latency, taken);
      link_.push_back(link);
      chunk_.push_back(deal_[taken.number].chunk);
      stage_.push_back(options_.sums && !taken.copy ? Stage::reduce : Stage::copy);
      if (!taken.copy && taken.hop == 0 && facts_of_chunk(taken.number).parts[taken.below.index()] == 0)
        begun_.push_back(link);
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

  /// The dealt chunks with which a link begins, and how many have begun.
  struct Leaves {
    std::vector<std::uint32_t> numbers;
    std::size_t begun = 0;
  };

  const TreeNetwork& network_;
  const Topology& topology_;
  const std::vector<SpanningTree>& trees_;
  const std::vector<DealtChunk>& deal_;
  const PlayOptions& options_;
  std::vector<TreeFacts> facts_;
  std::vector<Leaves> leaves_;          ///< per link; of sums
  std::vector<std::uint16_t> waiting_;  ///< per chunk and NPU: sums that have not arrived
  std::vector<LeastFirst<Ready>> ready_;
  std::vector<bool> idle_;
  EventLanes<LinkId> freed_;  ///< by class; the last lane: links of late NPUs
  EventLanes<Ready> arrivals_;
  std::vector<LinkId> touched_;
  std::vector<LinkId> begun_;
  std::vector<LinkId> link_;
  std::vector<ChunkId> chunk_;
  std::vector<Stage> stage_;
  ListBuilder sends_;
  SimTime last_arrival_;
};

}  // namespace

SimTime rate_time(const TreeNetwork& network, const std::vector<SpanningTree>& trees,
                  const std::vector<std::uint64_t>& chunks) {
  std::vector<std::uint64_t> load(network.topology().links());
  for (std::size_t tree = 0; tree < trees.size(); ++tree)
    for (const auto* ways : {&trees[tree].up, &trees[tree].down})
      for (const WayId way : *ways)
        if (way.exists())
          for (const LinkId link : network.links(way)) load[link.index()] += chunks[tree];
  SimTime time;
  for (std::size_t link = 0; link < load.size(); ++link)
    time = std::max(time, network.hop(LinkId::at(link)).busy * static_cast<std::int64_t>(load[link]));
  return time;
}

SimTime rate_time(const TreeNetwork& network, const DealtTrees& dealt) {
  std::vector<std::uint64_t> chunks(dealt.trees.size());
  for (const DealtChunk& each : dealt.deal) ++chunks[each.tree];
  return rate_time(network, dealt.trees, chunks);
}

Played play_trees(const TreeNetwork& network, const DealtTrees& dealt, const PlayOptions& options) {
  return TreePlayer(network, dealt, options).play();
}

std::uint64_t links_per_way(const Topology& topology) {
  std::vector<std::uint64_t> level(topology.vertices(), std::numeric_limits<std::uint64_t>::max());
  std::vector<VertexId> open;
  for (std::size_t npu = 0; npu < topology.npus(); ++npu) {
    level[npu] = 0;
    open.push_back(VertexId::at(npu));
  }
  std::uint64_t highest = 0;
  for (std::size_t head = 0; head < open.size(); ++head) {
    const VertexId vertex = open[head];
    highest = level[vertex.index()];
    for (const LinkId link : topology.out_links(vertex)) {
      const VertexId next = topology.target(link);
      if (level[next.index()] != std::numeric_limits<std::uint64_t>::max()) continue;
      level[next.index()] = level[vertex.index()] + 1;
      open.push_back(next);
    }
  }
  return std::max<std::uint64_t>(1, 2 * highest);
}

std::size_t play_bytes(const Topology& topology, std::uint64_t sends) {
  return static_cast<std::size_t>(sends) * kBytesPerPlayedSend + topology.links() * 128 + (std::size_t{1} << 20);
}

std::size_t played_schedule_bytes(std::uint64_t sends) { return static_cast<std::size_t>(sends) * kBytesOfListedSend; }

Work play_work(std::uint64_t sends) { return {WorkUnit::played_send, static_cast<double>(sends)}; }

}  // namespace tenex
