#include "synthesis/trees/engines.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "synthesis/trees/packing.hpp"
#include "synthesis/trees/player.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/base/graph/least_first.hpp"
#include "tenex/schedule/storage/periodic_schedule.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {
namespace {

// Trees as a periodic schedule: when each link carries which tree's sums and copies (modulo scheduling).
//
// Every period starts all trees with new chunks, so a send takes its link at the same time of every period. Sends are
// placed in the order in which they become ready, each at the first time that is free in all periods. Sends of a link
// stand on a raster of the time that a chunk keeps it busy, so that a link that is full has no gaps.

struct Pipeline {
  PeriodicSchedule schedule;
  SimTime time;            ///< the last arrival
  SimTime rate_time = {};  ///< as in Synthesis; for the caller to fill in
};

/// The raster of a link: which of its slots of a period are taken.
class LinkRaster {
 public:
  /// Takes the first free slot at or after `ready` and returns its time. Some slot must be free.
  SimTime take(SimTime ready, SimTime period, SimTime busy) {
    if (taken_.empty()) {
      origin_ = ready - period * (ready / period);
      taken_.assign(static_cast<std::size_t>(period / busy), false);
    }
    const std::int64_t slots = static_cast<std::int64_t>(taken_.size());
    const SimTime since = ready + period - origin_;  // not negative
    std::int64_t periods = since / period;
    std::int64_t slot = ceil_div((since - period * periods).count(), busy.count());
    for (std::int64_t tried = 0; tried <= slots; ++tried, ++slot) {
      if (slot >= slots) {
        slot = 0;
        ++periods;
      }
      if (taken_[static_cast<std::size_t>(slot)]) continue;
      taken_[static_cast<std::size_t>(slot)] = true;
      return origin_ + period * (periods - 1) + busy * slot;
    }
    ensure(false, "a period has a slot for each of a link's sends");
    return {};
  }

 private:
  SimTime origin_;
  std::vector<bool> taken_;
};

/// The sends of one period, placed as they become ready.
class Placement {
 public:
  Placement(const TreeNetwork& network, const std::vector<SpanningTree>& trees, SimTime period)
      : network_(network), topology_(network.topology()), trees_(trees), period_(period), rasters_(topology_.links()) {
    const std::size_t npus = topology_.npus();
    waiting_.resize(trees.size() * npus);
    up_height_.resize(trees.size() * npus);
    down_height_.resize(trees.size() * npus);
    complete_.resize(trees.size() * npus);
    for (std::uint32_t t = 0; t < trees.size(); ++t) measure(t);
  }

  std::vector<Send> place() {
    while (!open_.empty()) {
      const auto [ready, copies, less_height, tree, npu] = open_.pop();
      if (copies != 0)
        copy_to(tree, NpuId(npu), ready);
      else
        add_from(tree, NpuId(npu), ready);
    }
    return std::move(sends_);
  }
  /// Of each tree's first chunk.
  [[nodiscard]] const std::vector<SimTime>& last_arrivals() const { return last_; }

 private:
  /// Ready time, sums before copies, the longest remaining way first, tree, NPU below the link.
  using Entry = std::tuple<SimTime, int, std::int64_t, std::uint32_t, std::uint32_t>;

  [[nodiscard]] std::size_t at(std::uint32_t tree, NpuId npu) const { return tree * topology_.npus() + npu.index(); }
  [[nodiscard]] NpuId up_parent(std::uint32_t tree, NpuId npu) const {
    return network_.target(trees_[tree].up[npu.index()]);
  }
  [[nodiscard]] NpuId down_parent(std::uint32_t tree, NpuId npu) const {
    return network_.source(trees_[tree].down[npu.index()]);
  }

  /// Counts children and heights (of the subtree below each NPU, in hops), and opens the leaves.
  void measure(std::uint32_t t) {
    const SpanningTree& tree = trees_[t];
    last_.push_back(SimTime::zero());
    const auto raise = [](std::int64_t& above, std::int64_t own) { above = std::max(above, own + 1); };
    for (auto npu = tree.up_order.rbegin(); npu != tree.up_order.rend(); ++npu) {
      if (*npu == tree.root) continue;
      ++waiting_[at(t, up_parent(t, *npu))];
      raise(up_height_[at(t, up_parent(t, *npu))], up_height_[at(t, *npu)]);
    }
    for (auto npu = tree.down_order.rbegin(); npu != tree.down_order.rend(); ++npu)
      if (*npu != tree.root) raise(down_height_[at(t, down_parent(t, *npu))], down_height_[at(t, *npu)]);
    children_.push_back(Csr<NpuId>::group(
        topology_.npus(), tree.down_order.size() - 1,
        [&](std::size_t i) { return down_parent(t, tree.down_order[i + 1]).index(); },
        [&](std::size_t i) { return tree.down_order[i + 1]; }));
    for (const NpuId npu : tree.up_order)
      if (waiting_[at(t, npu)] == 0) open_.push({SimTime::zero(), 0, 0, t, npu.value()});
  }

  /// The arrival of what is ready at the beginning of a way.
  SimTime put(WayId way, std::uint32_t tree, SimTime ready, Stage stage) {
    for (const LinkId link : network_.links(way)) {
      const HopTime& hop = network_.hop(link);
      const SimTime start = rasters_[link.index()].take(ready, period_, hop.busy);
      sends_.push_back({start, link, ChunkId(tree), stage});
      ready = start + hop.latency;
    }
    return ready;
  }

  /// The sum of an NPU goes to its parent.
  void add_from(std::uint32_t t, NpuId npu, SimTime ready) {
    if (npu == trees_[t].root) return begin_copies(t, npu, ready);
    const SimTime arrival = put(trees_[t].up[npu.index()], t, ready, Stage::reduce);
    const NpuId above = up_parent(t, npu);
    auto& complete = complete_[at(t, above)];
    complete = std::max(complete, arrival);
    if (--waiting_[at(t, above)] == 0) open_.push({complete, 0, -up_height_[at(t, above)], t, above.value()});
  }
  void begin_copies(std::uint32_t t, NpuId npu, SimTime ready) {
    last_[t] = std::max(last_[t], ready);
    for (const NpuId child : children_[t].row(npu.index()))
      open_.push({ready, 1, -down_height_[at(t, child)], t, child.value()});
  }
  /// The result goes from an NPU's parent to it.
  void copy_to(std::uint32_t t, NpuId npu, SimTime ready) {
    begin_copies(t, npu, put(trees_[t].down[npu.index()], t, ready, Stage::copy));
  }

  const TreeNetwork& network_;
  const Topology& topology_;
  const std::vector<SpanningTree>& trees_;
  const SimTime period_;
  std::vector<LinkRaster> rasters_;
  std::vector<Csr<NpuId>> children_;
  std::vector<std::uint32_t> waiting_;     ///< children whose sums have not arrived, per tree and NPU
  std::vector<std::int64_t> up_height_;    ///< hops to the farthest NPU below, in the tree of sums
  std::vector<std::int64_t> down_height_;  ///< and in that of copies
  std::vector<SimTime> complete_;          ///< last arrival of a sum
  std::vector<SimTime> last_;
  std::vector<Send> sends_;
  LeastFirst<Entry> open_;
};

/// The All-Reduce of `chunks` chunks over `trees`, in periods of `period` (at least packing_period()). O(S log S) for S
/// sends of a period, and the search for free times.
Pipeline pipeline_all_reduce(const TreeNetwork& network, const std::vector<SpanningTree>& trees, SimTime period,
                             std::uint64_t chunks) {
  Placement placement(network, trees, period);
  Pipeline made;
  made.schedule.period = period;
  made.schedule.trees = static_cast<std::uint32_t>(trees.size());
  made.schedule.chunks = chunks;
  made.schedule.sends = placement.place();
  for (std::size_t tree = 0; tree < trees.size() && tree < chunks; ++tree) {
    const auto last_period = static_cast<std::int64_t>((chunks - 1 - tree) / trees.size());
    made.time = std::max(made.time, period * last_period + placement.last_arrivals()[tree]);
  }
  return made;
}

constexpr std::array<std::uint32_t, 14> kTreeNumbers = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 128, 256};
constexpr std::array<double, 3> kDepthWeights = {0, 0.02, 0.2};
/// Periods are tried at the least length and a little longer, where sends wait less for free times.
constexpr std::array<std::int64_t, 3> kSlackShares = {0, 32, 16};  ///< one part in so many; 0: none
constexpr std::uint64_t kMostSends = 4'000'000;                    ///< of one period
constexpr double kMostPlacedSends = 16'000'000;                    ///< over all tries
constexpr std::size_t kBytesPerPackedSend = 160;

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
  return sends * kBytesPerPackedSend + problem.topology.links() * 64 + (std::size_t{1} << 20);
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
