// The events of a simulated pipeline: tasks that end, and messages that reach a vertex.
#include "training/pipeline_simulation.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "tenex/base/graph/least_first.hpp"
#include "tenex/execution/execution_cache.hpp"
#include "tenex/topology/hand_over.hpp"
#include "tenex/topology/routes.hpp"
#include "tenex/topology/timing.hpp"
#include "training/dimension_network.hpp"
#include "training/synthesized_time.hpp"

namespace tenex {
namespace {

using Kind = PipelineTask::Kind;

/// The network of a pipeline's groups, and the routes between their stages.
struct PipelineNetwork {
  const Topology& topology;
  const std::vector<ProcessGroup>& groups;
  Occupancy occupancy;
};

class PipelinePlayer {
 public:
  PipelinePlayer(const PipelineNetwork& network, const Pipelining& pipelining, std::int64_t stages,
                 std::int64_t microbatches, const StageTimes& times, const StageMessages& messages)
      : network_(network),
        pipelining_(pipelining),
        stages_(stages),
        microbatches_(microbatches),
        times_(times),
        messages_(messages),
        router_(network.topology),
        stage_(network.groups.size() * static_cast<std::size_t>(stages)),
        link_free_(network.topology.links()) {
    for (std::int64_t stage = 0; stage < stages; ++stage)
      tasks_.push_back(pipeline_tasks(pipelining, stages, microbatches, stage));
    arrivals_.assign(stage_.size() * slots(), SimTime::of(-1));
    for (std::size_t group = 0; group < network.groups.size(); ++group)
      for (std::int64_t stage = 0; stage < stages; ++stage)
        for (const bool forward : {true, false}) routes_.push_back(route_from(group, stage, forward));
  }

  SimTime play() {
    for (std::size_t which = 0; which < stage_.size(); ++which) advance(which);
    while (!events_.empty()) {
      const auto event = events_.pop();
      if (event.hop == kTaskEnds)
        end_task(event);
      else
        move_on(event);
    }
    SimTime longest;
    for (std::size_t which = 0; which < stage_.size(); ++which) {
      const auto& stage = stage_[which];
      ensure(stage.next == tasks_[which % tasks_.size()].size(), "every task of a pipeline ends");
      longest = std::max(longest, stage.free - stage.first);
    }
    return longest;
  }

 private:
  static constexpr std::int32_t kTaskEnds = -1;

  struct StageState {
    std::size_t next = 0;
    SimTime free;
    SimTime first;
  };

  /// A task of a stage that ends, or its message at the begin of a hop.
  struct Event {
    SimTime time;
    std::uint64_t number = 0;  // events of one instant go in the order in which they were made
    std::size_t stage = 0;     // of all groups
    PipelineTask task;
    std::int32_t hop = kTaskEnds;
    bool operator<(const Event& other) const { return std::tie(time, number) < std::tie(other.time, other.number); }
  };

  /// Inputs of a stage's tasks: by direction, part and microbatch.
  [[nodiscard]] std::size_t slots() const {
    return static_cast<std::size_t>(2 * pipelining_.virtual_stages * microbatches_);
  }
  [[nodiscard]] SimTime& arrival_at(std::size_t stage, const PipelineTask& task) {
    const std::int64_t backward = task.kind == Kind::forward ? 0 : 1;
    const auto slot = (backward * pipelining_.virtual_stages + task.part) * microbatches_ + task.microbatch;
    return arrivals_[stage * slots() + static_cast<std::size_t>(slot)];
  }

  [[nodiscard]] std::vector<LinkId> route_from(std::size_t group, std::int64_t stage, bool forward) {
    const auto& members = network_.groups[group].members;
    const auto other = (stage + (forward ? 1 : stages_ - 1)) % stages_;
    return router_.route(members[static_cast<std::size_t>(stage)], members[static_cast<std::size_t>(other)]);
  }

  /// Starts the tasks of a stage whose inputs are there.
  void advance(std::size_t which) {
    auto& stage = stage_[which];
    const auto index = static_cast<std::int64_t>(which % tasks_.size());
    const auto& tasks = tasks_[static_cast<std::size_t>(index)];
    for (; stage.next < tasks.size(); ++stage.next) {
      const auto& task = tasks[stage.next];
      auto begin = stage.free;
      if (source_of(task, pipelining_, stages_, index).exists) {
        const auto arrival = arrival_at(which, task);
        if (arrival.count() < 0) return;
        begin = std::max(begin, arrival);
      }
      if (stage.next == 0) stage.first = begin;
      stage.free = saturating_sum(begin, task_time(task, pipelining_, times_));
      if (task.kind != Kind::weight_gradient) events_.push({stage.free, number_++, which, task, kTaskEnds});
    }
  }

  /// The task that waits for this one, and its stage; a part of -1: there is none.
  [[nodiscard]] std::pair<std::int64_t, PipelineTask> next_of(std::int64_t stage, const PipelineTask& task) const {
    const auto parts = pipelining_.virtual_stages;
    if (task.kind == Kind::forward) {
      if (stage < stages_ - 1) return {stage + 1, task};
      if (task.part < parts - 1) return {0, {Kind::forward, task.part + 1, task.microbatch}};
      return {stage, {Kind::backward, task.part, task.microbatch}};
    }
    if (stage > 0) return {stage - 1, task};
    return {stages_ - 1, {task.kind, task.part - 1, task.microbatch}};
  }

  void end_task(const Event& event) {
    const auto stages = tasks_.size();
    const auto [target, task] = next_of(static_cast<std::int64_t>(event.stage % stages), event.task);
    if (task.part < 0) return;
    const auto size = event.task.kind == Kind::forward ? messages_.forward : messages_.backward;
    const auto which = event.stage / stages * stages + static_cast<std::size_t>(target);
    if (which != event.stage && size.count() > 0)
      return move_on({event.time, event.number, event.stage, event.task, 0});
    deliver(which, task, event.time);
  }

  void deliver(std::size_t which, const PipelineTask& task, SimTime time) {
    arrival_at(which, task) = time;
    advance(which);
  }

  /// Sends a message over its next link, or delivers it.
  void move_on(const Event& event) {
    const bool forward = event.task.kind == Kind::forward;
    const auto& route = routes_[event.stage * 2 + (forward ? 0 : 1)];
    if (static_cast<std::size_t>(event.hop) == route.size()) {
      const auto stages = tasks_.size();
      const auto [target, task] = next_of(static_cast<std::int64_t>(event.stage % stages), event.task);
      return deliver(event.stage / stages * stages + static_cast<std::size_t>(target), task, event.time);
    }
    const auto link = route[static_cast<std::size_t>(event.hop)];
    const auto& topology = network_.topology;
    const auto size = forward ? messages_.forward : messages_.backward;
    const auto hop = hop_time(topology.classes()[topology.class_of(link)], size, network_.occupancy);
    auto& free = link_free_[link.index()];
    const auto begin = std::max(event.time, free);
    free = saturating_sum(begin, hop.busy);
    auto there = saturating_sum(begin, hop.latency);
    if (passes_on_early(topology, topology.target(link)))
      there -= hand_over_lead(topology, link, route[static_cast<std::size_t>(event.hop) + 1], size);
    events_.push({there, number_++, event.stage, event.task, event.hop + 1});
  }

  const PipelineNetwork& network_;
  const Pipelining& pipelining_;
  std::int64_t stages_;
  std::int64_t microbatches_;
  const StageTimes& times_;
  StageMessages messages_;
  Router router_;
  std::vector<std::vector<PipelineTask>> tasks_;  // by stage; equal for all groups
  std::vector<std::vector<LinkId>> routes_;       // by group, stage and direction
  std::vector<StageState> stage_;                 // by group and stage
  std::vector<SimTime> arrivals_;
  std::vector<SimTime> link_free_;
  LeastFirst<Event> events_;
  std::uint64_t number_ = 0;
};

}  // namespace

Result<PipelineRun> simulate_pipeline(const TrainingNetwork& network, const Mapping& mapping,
                                      const Pipelining& pipelining, std::int64_t microbatches, const StageTimes& times,
                                      const StageMessages& messages) {
  const auto dimensions = dimensions_of(mapping.span(Scope::pipeline));
  const Communication any{TrafficKind::all_reduce, bytes(1), Scope::pipeline};
  const auto built = find_topology_within(synthesized_point(network, dimensions, any),
                                          network.options.memory_limit_bytes, network.cache.execution);
  if (!*built) return built->errors();
  const auto groups = groups_within(mapping, Scope::pipeline, dimensions);
  const auto stages = mapping.degrees().pipeline;
  const double tasks = static_cast<double>(groups.size()) * static_cast<double>(stages) *
                       static_cast<double>(microbatches) * static_cast<double>(pipelining.virtual_stages);
  constexpr double bytes_of_task = 2 * sizeof(SimTime) + 3 * sizeof(PipelineTask) + 96;  // inputs, order, an event
  if (const auto needed = tasks * bytes_of_task; needed > static_cast<double>(network.options.memory_limit_bytes))
    return resource_error(fmt::format("a simulated pipeline of {:.0f} tasks", tasks),
                          fmt::format("it takes {:.0f} bytes", needed),
                          "raise --memory, use fewer microbatches, or pipeline_timing = \"formula\"");
  const PipelineNetwork links{(*built)->topology, groups, network.point.occupancy};
  const auto run = [&](const StageMessages& sent) {
    return PipelinePlayer(links, pipelining, stages, microbatches, times, sent).play();
  };
  PipelineRun result;
  result.time = run(messages);
  result.without_backward = messages.backward.count() > 0 ? run({messages.forward, Bytes::zero()}) : result.time;
  result.without_messages = pipeline_time_by_tasks(pipelining, stages, microbatches, times);
  return result;
}

}  // namespace tenex
