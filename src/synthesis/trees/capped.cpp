#include "synthesis/trees/engines.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "synthesis/compose.hpp"
#include "synthesis/trees/capped_trees.hpp"
#include "synthesis/trees/packing.hpp"
#include "synthesis/trees/player.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/base/graph/event_queue.hpp"
#include "tenex/schedule/storage/list_builder.hpp"
#include "tenex/schedule/storage/raw_array.hpp"
#include "tenex/topology/topology.hpp"
#include "tenex/topology/transform.hpp"

namespace tenex {
namespace {

constexpr std::size_t kMostKeptNodes = std::size_t{1} << 23U;  ///< of trees that are used again
constexpr std::size_t kLeastTreesPerNpu = 4;
constexpr std::size_t kBytesPerKeptNode = 12;
constexpr std::size_t kBytesPerOpenNode = 26;  ///< of chunks under way
constexpr double kLooksPerSend = 16;           ///< of trees that grow at links, for as long as a send takes

/// When chunks begin, and what is due first.
struct ChunkPace {
  SimTime per_chunk;            ///< of the busiest link
  SimTime head_start;           ///< how long before its turn the first sums of a chunk may leave
  SimTime hop;                  ///< the mean latency of links
  std::size_t open_chunks = 0;  ///< that are expected to be under way at once
};

/// An NPU in the tree of a chunk under way.
struct TreeNode {
  LinkId up;                      ///< the link to its parent
  std::uint32_t first_child = 0;  ///< of the tree's children
  std::uint16_t children = 0;
  std::uint16_t sums_left = 0;   ///< that it waits for
  std::uint16_t sum_to_end = 0;  ///< up to the root, and down to the farthest NPU, in links
  std::uint16_t height = 0;      ///< down to the farthest NPU below, in links
};

/// A link to a child.
struct TreeChild {
  LinkId down;
  std::uint32_t to_end = 0;  ///< over this link and down to the farthest NPU below, in links
};

/// A chunk under way, and its tree: that of all nodes and children that are its own.
struct OpenChunk {
  NpuId root;
  std::uint32_t copies_left = 0;
};

/// How many trees are used again and again; 0: each chunk has a new one, as there are few chunks, or because the trees
/// that fit into the memory would be too few to load links evenly.
std::size_t kept_trees(std::size_t npus, std::size_t chunks) {
  const std::size_t most = kMostKeptNodes / npus;
  return chunks > most && most >= kLeastTreesPerNpu * npus ? most : 0;
}

/// A tree for each chunk.
class TreesInTurn {
 public:
  TreesInTurn(CappedTrees packing, std::size_t npus, std::size_t chunks)
      : packing_(std::move(packing)), kept_(kept_trees(npus, chunks)) {}
  const CappedTree& next() {
    CappedTree& tree = kept_.empty() ? last_ : kept_[turn_ % kept_.size()];
    if (kept_.empty() || turn_ < kept_.size()) packing_.grow(tree);
    ++turn_;
    return tree;
  }

 private:
  CappedTrees packing_;
  std::vector<CappedTree> kept_;
  CappedTree last_;
  std::size_t turn_ = 0;
};

/// Plays an All-Reduce over trees that are grown as chunks begin. Every link takes what is due first of what is ready.
class CappedPlay {
 public:
  CappedPlay(const TreeNetwork& network, TreesInTurn& trees, std::uint32_t chunks, const ChunkPace& pace)
      : network_(network),
        topology_(network.topology()),
        trees_(trees),
        chunks_(chunks),
        pace_(pace),
        place_(chunks),
        ready_(topology_.links()),
        idle_(topology_.links(), true),
        touched_link_(topology_.links()),
        load_(topology_.links()),
        freed_(topology_.classes().size()),
        arrivals_(topology_.classes().size()),
        sends_(2 * (topology_.npus() - 1) * std::uint64_t{chunks}) {
    const std::size_t nodes = std::min<std::size_t>(chunks, pace.open_chunks) * topology_.npus();
    reserve_in_large_pages(nodes_, nodes);
    reserve_in_large_pages(children_, nodes);
    half_pace_ = static_cast<std::uint64_t>(static_cast<double>(pace.per_chunk.count()) * 0.5 /
                                            static_cast<double>(std::max<std::int64_t>(1, pace.hop.count())) *
                                            kUnitsPerHop * (1U << kPaceBits));
  }

  Played play() {
    SimTime last;
    while (begun_ < chunks_ || !freed_.empty() || !arrivals_.empty()) {
      const SimTime now = next_time();
      for (; begun_ < chunks_ && begins(begun_) <= now; ++begun_) begin(begun_);
      while (!freed_.empty() && freed_.time() == now) {
        const LinkId link = freed_.pop();
        idle_[link.index()] = true;
        touch(link);
      }
      while (!arrivals_.empty() && arrivals_.time() == now) {
        const auto [link, tag] = arrivals_.pop();
        fetch_ahead(topology_.class_of(link));
        arrive(link, tag);
        last = now;
      }
      start_sends(now);
    }
    return {sends_.finish(), last};
  }
  [[nodiscard]] SimTime rate_time() const {
    SimTime most;
    for (std::size_t link = 0; link < load_.size(); ++link)
      most = std::max(most, network_.hop(LinkId::at(link)).busy * std::int64_t{load_[link]});
    return most;
  }

 private:
  /// A chunk's number and, in the lowest bit, whether it is a copy.
  using Tag = std::uint32_t;
  static constexpr std::size_t kFetchedNodes = 16;  ///< arrivals ahead
  static constexpr std::size_t kFetchedChildren = 8;
  static constexpr std::uint64_t kUnitsPerHop = 16;
  static constexpr unsigned kPaceBits = 20;
  static constexpr std::uint64_t kMostToEnd = 0x20000;

  [[nodiscard]] SimTime begins(std::uint32_t chunk) const {
    return std::max(SimTime::zero(), pace_.per_chunk * std::int64_t{chunk} - pace_.head_start);
  }
  [[nodiscard]] SimTime next_time() const {
    SimTime next = begun_ < chunks_ ? begins(begun_) : SimTime::max();
    if (!freed_.empty()) next = std::min(next, freed_.time());
    return arrivals_.empty() ? next : std::min(next, arrivals_.time());
  }
  /// What is due first is least. Half the pace: chunks that began later are served sooner than their turn.
  [[nodiscard]] std::uint64_t key_of(Tag tag, std::uint32_t to_end) const {
    const std::uint64_t turn = std::uint64_t{tag >> 1U} * half_pace_ >> kPaceBits;
    return (turn + kUnitsPerHop * (kMostToEnd - to_end)) << 32U | tag;
  }
  void touch(LinkId link) {
    if (touched_link_[link.index()]) return;
    touched_link_[link.index()] = true;
    touched_.push_back(link);
  }
  void push(LinkId link, std::uint64_t entry) {
    ready_[link.index()].push(entry);
    if (idle_[link.index()]) touch(link);
  }

  void begin(std::uint32_t chunk) {
    const std::size_t npus = topology_.npus();
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(open_.size()));
      open_.emplace_back();
      nodes_.resize(open_.size() * npus);
      children_.resize(open_.size() * npus);
    }
    const std::uint32_t place = place_[chunk] = free_.back();
    free_.pop_back();
    const CappedTree& tree = trees_.next();
    open_[place] = {tree.root, static_cast<std::uint32_t>(npus - 1)};
    prepare(tree, &nodes_[place * npus], &children_[place * npus]);
    const TreeNode* const nodes = &nodes_[place * npus];
    for (const NpuId npu : tree.order)
      if (nodes[npu.index()].sums_left == 0 && npu != tree.root) send_sum(nodes[npu.index()], chunk << 1U);
  }
  void prepare(const CappedTree& tree, TreeNode* nodes, TreeChild* children) const {
    const auto parent = [&](NpuId npu) { return npu_of(topology_.source(tree.above[npu.index()])); };
    std::fill_n(nodes, topology_.npus(), TreeNode{});
    const auto below_root = std::span(tree.order).subspan(1);
    for (const NpuId npu : below_root) ++nodes[parent(npu).index()].children;
    std::uint32_t first = 0;
    for (const NpuId npu : tree.order) {
      TreeNode& node = nodes[npu.index()];
      node.sums_left = node.children;
      first += node.children;
      node.first_child = first;  // moved back child by child
    }
    for (auto each = below_root.rbegin(); each != below_root.rend(); ++each) {
      const NpuId npu = *each;
      TreeNode& above = nodes[parent(npu).index()];
      const auto to_end = static_cast<std::uint16_t>(nodes[npu.index()].height + 1);
      children[--above.first_child] = {tree.above[npu.index()], to_end};
      above.height = std::max(above.height, to_end);
      nodes[npu.index()].up = network_.opposite(tree.above[npu.index()]);
    }
    const std::uint16_t height = nodes[tree.root.index()].height;
    for (const NpuId npu : tree.order)
      nodes[npu.index()].sum_to_end = static_cast<std::uint16_t>(height + tree.depth[npu.index()]);
  }

  /// Fetches what arrivals will soon read: the trees of all chunks under way do not fit into fast caches. Inlined,
  /// since GCC drops calls of a function that does nothing else.
  [[gnu::always_inline]] void fetch_ahead(std::size_t link_class) const {
    if (const auto* const later = arrivals_.ahead(link_class, kFetchedNodes)) __builtin_prefetch(&node_of(*later), 1);
    if (const auto* const later = arrivals_.ahead(link_class, kFetchedChildren))
      __builtin_prefetch(&children_[place_[later->second >> 1U] * topology_.npus() + node_of(*later).first_child]);
  }
  [[nodiscard]] const TreeNode& node_of(const std::pair<LinkId, Tag>& arrival) const {
    return nodes_[place_[arrival.second >> 1U] * topology_.npus() + topology_.target(arrival.first).index()];
  }
  void send_sum(const TreeNode& node, Tag tag) { push(node.up, key_of(tag, node.sum_to_end)); }
  void arrive(LinkId link, Tag tag) {
    const std::uint32_t place = place_[tag >> 1U];
    const NpuId npu = npu_of(topology_.target(link));
    TreeNode& node = nodes_[place * topology_.npus() + npu.index()];
    OpenChunk& open = open_[place];
    const bool copy = (tag & 1U) != 0;
    if (copy && --open.copies_left == 0) free_.push_back(place);
    if (!copy) {
      if (--node.sums_left > 0) return;
      if (npu != open.root) return send_sum(node, tag);
    }
    const TreeChild* const children = &children_[place * topology_.npus() + node.first_child];
    for (std::uint16_t i = 0; i < node.children; ++i) push(children[i].down, key_of(tag | 1U, children[i].to_end));
  }
  /// Starts the first ready send of every link that is idle, link by link.
  void start_sends(SimTime now) {
    std::sort(touched_.begin(), touched_.end());
    link_.clear();
    chunk_.clear();
    stage_.clear();
    for (const LinkId link : touched_) {
      touched_link_[link.index()] = false;
      auto& ready = ready_[link.index()];
      if (!idle_[link.index()] || ready.empty()) continue;
      const auto tag = static_cast<Tag>(ready.pop());
      idle_[link.index()] = false;
      ++load_[link.index()];
      const HopTime& hop = network_.hop(link);
      freed_.push(topology_.class_of(link), now + hop.busy, link);
      arrivals_.push(topology_.class_of(link), now + hop.latency, {link, tag});
      link_.push_back(link);
      chunk_.push_back(ChunkId(tag >> 1U));
      stage_.push_back((tag & 1U) != 0 ? Stage::copy : Stage::reduce);
    }
    touched_.clear();
    if (link_.empty()) return;
    SendBatch batch;
    batch.link = link_;
    batch.chunk = chunk_;
    batch.stage = stage_;
    batch.at = now;
    sends_.append(batch);
  }

  const TreeNetwork& network_;
  const Topology& topology_;
  TreesInTurn& trees_;
  const std::uint32_t chunks_;
  const ChunkPace pace_;
  std::uint64_t half_pace_;  ///< in units of a key
  std::uint32_t begun_ = 0;
  std::vector<OpenChunk> open_;
  std::vector<TreeNode> nodes_;       ///< by place and NPU
  std::vector<TreeChild> children_;   ///< by place
  std::vector<std::uint32_t> free_;   ///< of open_
  std::vector<std::uint32_t> place_;  ///< in open_, per chunk
  std::vector<LeastFirst<std::uint64_t>> ready_;
  std::vector<char> idle_;
  std::vector<char> touched_link_;
  std::vector<std::uint32_t> load_;
  EventLanes<LinkId> freed_;
  EventLanes<std::pair<LinkId, Tag>> arrivals_;
  std::vector<LinkId> touched_;
  std::vector<LinkId> link_;
  std::vector<ChunkId> chunk_;
  std::vector<Stage> stage_;
  ListBuilder sends_;
};

constexpr std::uint64_t kLoadOfTrial = 40;
constexpr std::uint64_t kMostTreesOfTrial = 2048;
constexpr std::uint64_t kMostCappedSends = std::uint64_t{1} << 28U;
std::uint64_t sends_in_all(const SynthesisProblem& problem) {
  return 2 * (problem.topology.npus() - 1) * problem.collective.chunks();
}

/// As many as put some tens of chunks on each link, by which slacks differ.
std::uint32_t trees_of_trial(const SynthesisProblem& problem) {
  const std::uint64_t per_link = kLoadOfTrial * problem.topology.links() / (2 * problem.topology.npus());
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(per_link, 1, kMostTreesOfTrial));
}

/// Sums that leave much earlier than others need them only fill queues. Trees of few hops load links less evenly in a
/// short time, so that more of them have to be under way.
std::int64_t hops_of_head_start(std::int64_t across) { return std::max(3 * across, 200 - 3 * across); }

/// How many hops a chunk is under way, from when its first sums may leave.
std::int64_t hops_under_way(std::int64_t across, std::int64_t slack) {
  return hops_of_head_start(across) + 4 * (across + slack);
}

/// What links need for a chunk, on average.
HopTime mean_hop(const TreeNetwork& network) {
  HopTime mean{};
  const auto links = static_cast<std::int64_t>(network.topology().links());
  for (std::size_t link = 0; link < network.topology().links(); ++link) {
    mean.busy += network.hop(LinkId::at(link)).busy;
    mean.latency += network.hop(LinkId::at(link)).latency;
  }
  return {mean.busy / links, std::max(SimTime::of(1), mean.latency / links)};
}

ChunkPace pace_of(const TreeNetwork& network, const std::vector<TreeRoot>& roots, std::uint32_t slack,
                  std::uint32_t trees) {
  ChunkPace pace;
  pace.per_chunk = std::max(SimTime::of(1), rate_of(network, roots, trees, slack) / std::int64_t{trees});
  pace.hop = mean_hop(network).latency;
  const std::int64_t across = *std::ranges::max_element(roots.front().hops);
  pace.head_start = pace.hop * hops_of_head_start(across);
  pace.open_chunks = static_cast<std::size_t>(pace.hop * hops_under_way(across, slack) / pace.per_chunk);
  return pace;
}

/// The chunks that will be under way at once, where trees share links evenly.
std::size_t open_chunks(const SynthesisProblem& problem) {
  const HopTime hop = mean_hop(TreeNetwork(problem));
  const std::int64_t across = radius(problem.topology);
  const double shares = static_cast<double>(problem.topology.links()) /
                        (2 * static_cast<double>(problem.topology.npus())) * static_cast<double>(hop.latency.count()) /
                        static_cast<double>(std::max<std::int64_t>(1, hop.busy.count()));
  const double open = shares * static_cast<double>(hops_under_way(across, across / 2 + 2));
  return static_cast<std::size_t>(std::min(open, static_cast<double>(problem.collective.chunks())));
}

}  // namespace

std::optional<std::string> capped_unsuitable(const SynthesisProblem& problem) {
  if (auto reason = packing_unsuitable(problem)) return reason;
  if (problem.topology.vertices() > problem.topology.npus()) return "it takes direct links alone";
  if (!opposite_links(problem.topology)) return "some links have no equal one the other way";
  if (!problem.start_delays.empty()) return "it has no late NPUs";
  if (sends_in_all(problem) > kMostCappedSends) return "it takes up to 2^28 sends";
  if (problem.topology.npus() > std::size_t{1} << 16U) return "it takes up to 65,536 NPUs";
  if (problem.topology.npus() < 2) return "it takes at least two NPUs";
  return std::nullopt;
}

Result<Synthesis> synthesize_capped(const SynthesisProblem& problem) {
  if (auto reason = capped_unsuitable(problem))
    return input_error({}, "the engine `capped` cannot make this schedule", *std::move(reason),
                       "leave the engine to `auto`");
  const TreeNetwork network(problem);
  const auto roots = central_roots(problem.topology);
  const auto chunks = static_cast<std::uint32_t>(problem.collective.chunks());
  const auto slack = enough_slack(network, roots, trees_of_trial(problem));
  const ChunkPace pace = pace_of(network, roots, slack, trees_of_trial(problem));
  TreesInTurn trees(CappedTrees(network, roots, slack), problem.topology.npus(), chunks);
  CappedPlay play(network, trees, chunks, pace);
  auto played = play.play();
  Synthesis made;
  made.schedule = std::move(played.schedule);
  made.time = played.time;
  made.rate_time = play.rate_time();
  made.engine = "capped";
  made.overlap_method = "trees";
  return made;
}

std::size_t capped_bytes(const SynthesisProblem& problem) {
  const std::size_t npus = problem.topology.npus();
  return played_schedule_bytes(sends_in_all(problem)) + open_chunks(problem) * npus * kBytesPerOpenNode +
         kept_trees(npus, problem.collective.chunks()) * npus * kBytesPerKeptNode + problem.topology.links() * 250 +
         (std::size_t{1} << 20U);
}

Work capped_work(const SynthesisProblem& problem) {
  // A tree looks at all links while it grows, which takes a part of what a send does.
  const double looks = static_cast<double>(problem.collective.chunks()) * static_cast<double>(problem.topology.links());
  return Work(WorkUnit::packing, 1) +
         Work(WorkUnit::capped_send, static_cast<double>(sends_in_all(problem)) + looks / kLooksPerSend);
}

}  // namespace tenex
