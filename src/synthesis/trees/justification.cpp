#include "synthesis/trees/justification.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

#include "tenex/base/graph/event_queue.hpp"
#include "tenex/schedule/storage/list_builder.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {
namespace {

constexpr std::size_t kBytesPerTask = 84;         // of copies alone
constexpr std::size_t kBytesPerTaskOfSums = 104;  // where sums go up before copies go down
constexpr auto kNoTask = std::numeric_limits<std::uint32_t>::max();

}  // namespace

/// One play: every link takes the ready task of the lowest key, of equals the one of the lowest turn and number. Tasks
/// are met in no order that memory would like, so all that a play reads and writes of one lies side by side.
class SendGraph::Play {
 public:
  /// `key_of(task)`: an integer.
  template <class KeyOf>
  Play(const SendGraph& graph, bool backward, KeyOf&& key_of)
      : graph_(graph),
        after_(backward ? graph.before_ : graph.after_),
        steps_(graph.tasks_.size() + 1),
        ready_(graph.network_.topology().links()),
        idle_(ready_.size(), true),
        freed_(graph.network_.topology().classes().size()),
        arrivals_(graph.network_.topology().classes().size()) {
    const auto& before = backward ? graph.after_ : graph.before_;
    const auto tasks = static_cast<std::uint32_t>(graph.tasks_.size());
    std::uint32_t first = 0;
    for (std::uint32_t task = 0; task < tasks; ++task) {
      const Task& given = graph.tasks_[task];
      steps_[task] = {key_of(task), given.link, given.turn, static_cast<std::uint32_t>(before.row(task).size()), first};
      first += static_cast<std::uint32_t>(after_.row(task).size());
    }
    steps_[tasks].first = first;
    for (std::uint32_t task = 0; task < tasks; ++task)
      if (before.row(task).empty()) open(task, SimTime::zero());
  }

  SendStarts run() {
    start_tasks(SimTime::zero());
    while (!freed_.empty() || !arrivals_.empty()) {
      const SimTime now = next_time();
      while (!freed_.empty() && freed_.time() == now) {
        const LinkId link = freed_.pop();
        idle_[link.index()] = true;
        touched_.push_back(link);
      }
      while (!arrivals_.empty() && arrivals_.time() == now) finish(arrivals_.pop(), now);
      start_tasks(now);
    }
    SendStarts starts{std::vector<SimTime>(steps_.size() - 1), end_};
    for (std::size_t task = 0; task < starts.of.size(); ++task)
      starts.of[task] = SimTime::of(steps_[task].key_or_start);
    return starts;
  }

 private:
  using Ready = std::pair<std::int64_t, std::uint64_t>;  ///< key, turn and task

  struct Step {
    std::int64_t key_or_start = 0;  ///< the key until it is ready, then when it starts
    LinkId link;
    std::uint32_t turn = 0;
    std::uint32_t waiting = 0;  ///< for so many predecessors
    std::uint32_t first = 0;    ///< of the tasks after it, in after_; the next step's is their end
  };

  [[nodiscard]] SimTime next_time() const {
    if (arrivals_.empty()) return freed_.time();
    return freed_.empty() ? arrivals_.time() : std::min(freed_.time(), arrivals_.time());
  }
  void open(std::uint32_t task, SimTime now) {
    Step& step = steps_[task];
    if (!step.link.exists()) {
      step.key_or_start = now.count();
      return finish(task, now);
    }
    ready_[step.link.index()].push({step.key_or_start, std::uint64_t{step.turn} << 32U | task});
    touched_.push_back(step.link);
  }
  void finish(std::uint32_t task, SimTime now) {
    end_ = std::max(end_, now);
    for (const std::uint32_t next :
         after_.all().subspan(steps_[task].first, steps_[task + 1].first - steps_[task].first))
      if (--steps_[next].waiting == 0) open(next, now);
  }
  /// Links do not hinder each other, so their order does not matter.
  void start_tasks(SimTime now) {
    for (const LinkId link : touched_) {
      auto& ready = ready_[link.index()];
      if (!idle_[link.index()] || ready.empty()) continue;
      const auto task = static_cast<std::uint32_t>(ready.pop().second);
      idle_[link.index()] = false;
      steps_[task].key_or_start = now.count();
      const HopTime& hop = graph_.network_.hop(link);
      const std::size_t link_class = graph_.network_.topology().class_of(link);
      freed_.push(link_class, now + hop.busy, link);
      arrivals_.push(link_class, now + hop.latency, task);
    }
    touched_.clear();
  }

  const SendGraph& graph_;
  const Csr<std::uint32_t>& after_;
  std::vector<Step> steps_;  ///< by task, and one beyond
  std::vector<LeastFirst<Ready>> ready_;
  std::vector<bool> idle_;
  EventLanes<LinkId> freed_;            ///< by class
  EventLanes<std::uint32_t> arrivals_;  ///< by class
  std::vector<LinkId> touched_;
  SimTime end_;
};

SendGraph::SendGraph(const TreeNetwork& network, const DealtTrees& dealt, bool sums)
    : network_(network), dealt_(dealt), sums_(sums) {
  std::vector<Arc> arcs;
  tasks_.reserve(tasks_of(dealt.deal));
  arcs.reserve(tasks_.capacity());
  for (std::uint32_t number = 0; number < dealt.deal.size(); ++number) add_chunk(number, arcs);
  before_ = Csr<std::uint32_t>::group(
      tasks_.size(), arcs.size(), [&](std::size_t i) { return arcs[i].second; },
      [&](std::size_t i) { return arcs[i].first; });
  after_ = Csr<std::uint32_t>::group(
      tasks_.size(), arcs.size(), [&](std::size_t i) { return arcs[i].first; },
      [&](std::size_t i) { return arcs[i].second; });
}

/// No less than the tasks of these chunks. O(chunks + trees * NPUs).
std::size_t SendGraph::tasks_of(const std::vector<DealtChunk>& chunks) const {
  std::vector<std::size_t> of_tree;
  for (const SpanningTree& tree : dealt_.trees) {
    std::size_t links = 1;  // and the moment at which a sum is complete
    for (const NpuId npu : tree.down_order) {
      if (npu == tree.root) continue;
      links += network_.links(tree.down[npu.index()]).size();
      if (sums_) links += network_.links(tree.up[npu.index()]).size();
    }
    of_tree.push_back(links);
  }
  std::size_t tasks = 0;
  for (const DealtChunk& chunk : chunks) tasks += of_tree[chunk.tree];
  return tasks;
}

std::uint32_t SendGraph::add(const Task& task) {
  tasks_.push_back(task);
  return static_cast<std::uint32_t>(tasks_.size() - 1);
}

/// The sends of a way, in their order. Returns the last one.
std::uint32_t SendGraph::add_way(WayId way, Task like, const std::vector<std::uint32_t>& before,
                                 std::vector<Arc>& arcs) {
  std::uint32_t last = kNoTask;
  for (const LinkId link : network_.links(way)) {
    like.link = link;
    const std::uint32_t own = add(like);
    if (last != kNoTask)
      arcs.emplace_back(last, own);
    else
      for (const std::uint32_t each : before) arcs.emplace_back(each, own);
    last = own;
  }
  return last;
}

void SendGraph::add_chunk(std::uint32_t number, std::vector<Arc>& arcs) {
  const SpanningTree& tree = dealt_.trees[dealt_.deal[number].tree];
  const auto npus = static_cast<std::uint32_t>(network_.topology().npus());
  std::vector<std::vector<std::uint32_t>> arrivals(network_.topology().npus());  // what an NPU waits for
  if (sums_) {
    for (auto npu = tree.up_order.rbegin(); npu != tree.up_order.rend(); ++npu) {
      if (*npu == tree.root) continue;
      const WayId up = tree.up[npu->index()];
      const auto last = add_way(up, {LinkId::none(), number, false}, arrivals[npu->index()], arcs);
      arrivals[network_.target(up).index()].push_back(last);
    }
    const std::uint32_t complete = add({LinkId::none(), number, true});
    for (const std::uint32_t each : arrivals[tree.root.index()]) arcs.emplace_back(each, complete);
    arrivals[tree.root.index()] = {complete};
  }
  for (const NpuId npu : tree.down_order) {
    if (npu == tree.root) continue;
    const WayId down = tree.down[npu.index()];
    const std::uint32_t turn = sums_ ? 0 : (npu.value() + npus - tree.root.value()) % npus;
    arrivals[npu.index()] = {
        add_way(down, {LinkId::none(), number, true, turn}, arrivals[network_.source(down).index()], arcs)};
  }
}

SendStarts SendGraph::play(const PlayOptions& options) const {
  constexpr std::int64_t kMostLinks = 0xffff;
  std::vector<std::int64_t> links(tasks_.size());  // from a task's start to the end
  for (std::size_t i = tasks_.size(); i-- > 0;) {
    for (const std::uint32_t next : after_.row(i)) links[i] = std::max(links[i], links[next]);
    if (tasks_[i].link.exists()) links[i] = std::min(links[i] + 1, kMostLinks);
  }
  return Play(*this, false,
              [&](std::uint32_t i) {
                const Task& task = tasks_[i];
                const bool second = sums_ && task.copy;
                const std::int64_t rank = std::int64_t{dealt_.deal[task.number].rank} + (second ? options.copy_lag : 0);
                const std::int64_t nearness = kMostLinks - links[i];
                return !sums_ && options.longest_first ? nearness << 32 | rank
                                                       : rank << 17 | (second ? 1 : 0) << 16 | nearness;
              })
      .run();
}

SendStarts SendGraph::play_by_due(const DueTimes& due) const {
  constexpr SimTime kLongest = SimTime::of(std::int64_t{1} << 57U);  // so that products fit
  std::vector<SimTime> left(tasks_.size());                          // from a task's start to the end
  for (std::size_t i = tasks_.size(); i-- > 0;) {
    const Task& task = tasks_[i];
    for (const std::uint32_t next : after_.row(i)) left[i] = std::max(left[i], left[next]);
    if (task.link.exists()) left[i] = std::min(saturating_sum(left[i], network_.hop(task.link).latency), kLongest);
  }
  return Play(*this, false,
              [&](std::uint32_t i) {
                const Task& task = tasks_[i];
                const std::int64_t rank =
                    std::int64_t{dealt_.deal[task.number].rank} + (sums_ && task.copy ? due.copy_lag : 0);
                return (due.pace * rank - left[i] * due.margin).count();
              })
      .run();
}

SendStarts SendGraph::justified(const SendStarts& before) const {
  const SendStarts backward = Play(*this, true, [&](std::uint32_t i) { return -before.of[i].count(); }).run();
  return Play(*this, false, [&](std::uint32_t i) { return -backward.of[i].count(); }).run();
}

Schedule SendGraph::schedule(const SendStarts& starts) const {
  std::vector<std::uint32_t> order(tasks_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::erase_if(order, [&](std::uint32_t task) { return !tasks_[task].link.exists(); });
  const auto place = [&](std::uint32_t task) { return std::tuple(starts.of[task], tasks_[task].link); };
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return place(a) < place(b); });
  ListBuilder sends(order.size());
  std::vector<LinkId> link;
  std::vector<ChunkId> chunk;
  std::vector<Stage> stage;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Task& task = tasks_[order[i]];
    link.push_back(task.link);
    chunk.push_back(dealt_.deal[task.number].chunk);
    stage.push_back(sums_ && !task.copy ? Stage::reduce : Stage::copy);
    if (i + 1 < order.size() && starts.of[order[i + 1]] == starts.of[order[i]]) continue;
    SendBatch batch;
    batch.link = link;
    batch.chunk = chunk;
    batch.stage = stage;
    batch.at = starts.of[order[i]];
    sends.append(batch);
    link.clear();
    chunk.clear();
    stage.clear();
  }
  return sends.finish();
}

std::size_t justification_bytes(std::uint64_t sends, bool sums) {
  constexpr std::size_t kOnce = std::size_t{2} << 20;  // queues by link, and what repeated plays leave on the heap
  return kOnce + static_cast<std::size_t>(sends) * (sums ? kBytesPerTaskOfSums : kBytesPerTask);
}

Work justification_work(std::uint64_t sends) { return {WorkUnit::justified_send, static_cast<double>(sends)}; }

}  // namespace tenex
