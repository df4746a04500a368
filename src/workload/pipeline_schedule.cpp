// Formulas of pipeline schedules, and the orders of tasks from which they follow.
#include "tenex/workload/pipeline_schedule.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "tenex/base/words.hpp"
#include "workload/saturating.hpp"

namespace tenex {
namespace {

constexpr std::array<std::string_view, 5> kNames{"gpipe", "1f1b", "interleaved", "zb_h1", "zero_bubble"};
using Kind = PipelineTask::Kind;

/// Forward tasks before the first backward one.
std::int64_t warm_up(const Pipelining& pipelining, std::int64_t stages, std::int64_t microbatches, std::int64_t stage) {
  const auto tasks = microbatches * pipelining.virtual_stages;
  switch (pipelining.schedule) {
    case PipelineSchedule::gpipe:
      return tasks;
    case PipelineSchedule::one_forward_one_backward:
    case PipelineSchedule::zb_h1:
      return std::min(stages - stage, tasks);
    case PipelineSchedule::interleaved:
      // Megatron-LM lets the forward passes go first where there is only one round of microbatches.
      if (microbatches == stages) return tasks;
      return std::min(2 * (stages - stage - 1) + (pipelining.virtual_stages - 1) * stages + 1, tasks);
    case PipelineSchedule::zero_bubble:
      return std::min(2 * (stages - stage) - 1, tasks);
  }
  return tasks;
}

/// Microbatches between a microbatch's input gradient and its weight gradient.
std::int64_t put_off(PipelineSchedule schedule, std::int64_t stage) {
  return schedule == PipelineSchedule::zero_bubble ? 2 * stage : stage;
}

/// The k-th forward task: parts take turns, each with as many microbatches as there are stages.
PipelineTask forward_task(const Pipelining& pipelining, std::int64_t stages, std::int64_t k) {
  const auto parts = pipelining.virtual_stages;
  if (parts == 1) return {Kind::forward, 0, k};
  const auto round = stages * parts;
  return {Kind::forward, k % round / stages, k / round * stages + k % stages};
}

PipelineTask backward_task(const Pipelining& pipelining, std::int64_t stages, std::int64_t k, Kind kind) {
  auto task = forward_task(pipelining, stages, k);
  return {kind, pipelining.virtual_stages - 1 - task.part, task.microbatch};
}

/// Tasks in order, with the ends of what other stages wait for.
class TaskPlayer {
 public:
  TaskPlayer(const Pipelining& pipelining, std::int64_t stages, std::int64_t microbatches, const StageTimes& times)
      : pipelining_(pipelining), stages_(stages), microbatches_(microbatches), times_(times) {
    for (std::int64_t stage = 0; stage < stages; ++stage)
      tasks_.push_back(pipeline_tasks(pipelining, stages, microbatches, stage));
    ends_.resize(static_cast<std::size_t>(2 * stages * microbatches * pipelining.virtual_stages), SimTime::of(-1));
    next_.resize(tasks_.size());
    free_.resize(tasks_.size());
    first_.resize(tasks_.size());
  }

  SimTime play() {
    for (bool progressed = true; progressed;) {
      progressed = false;
      for (std::size_t stage = 0; stage < tasks_.size(); ++stage)
        while (next_[stage] < tasks_[stage].size() && start(stage)) progressed = true;
    }
    SimTime longest;
    for (std::size_t stage = 0; stage < tasks_.size(); ++stage) {
      ensure(next_[stage] == tasks_[stage].size(), "every task of a pipeline ends");
      longest = std::max(longest, free_[stage] - first_[stage]);
    }
    return longest;
  }

 private:
  SimTime& end_of(std::int64_t stage, const PipelineTask& task) {
    const std::int64_t backward = task.kind == Kind::forward ? 0 : 1;
    const auto index =
        ((backward * stages_ + stage) * pipelining_.virtual_stages + task.part) * microbatches_ + task.microbatch;
    return ends_[static_cast<std::size_t>(index)];
  }

  /// Runs the stage's next task if what it waits for has ended.
  bool start(std::size_t stage) {
    const auto& task = tasks_[stage][next_[stage]];
    auto begin = free_[stage];
    if (const auto source = source_of(task, pipelining_, stages_, static_cast<std::int64_t>(stage)); source.exists) {
      const auto end = end_of(source.stage, source.task);
      if (end.count() < 0) return false;
      begin = std::max(begin, end);
    }
    if (next_[stage] == 0) first_[stage] = begin;
    free_[stage] = saturating_sum(begin, task_time(task, pipelining_, times_));
    if (task.kind != Kind::weight_gradient) end_of(static_cast<std::int64_t>(stage), task) = free_[stage];
    ++next_[stage];
    return true;
  }

  const Pipelining& pipelining_;
  std::int64_t stages_;
  std::int64_t microbatches_;
  const StageTimes& times_;
  std::vector<std::vector<PipelineTask>> tasks_;
  std::vector<SimTime> ends_;  // by direction, stage, part, microbatch; -1: not yet
  std::vector<std::size_t> next_;
  std::vector<SimTime> free_;
  std::vector<SimTime> first_;
};

}  // namespace

std::string_view to_string(PipelineSchedule schedule) { return kNames[static_cast<std::size_t>(schedule)]; }
Result<PipelineSchedule> parse_pipeline_schedule(std::string_view text, const Place& place) {
  return parse_name<PipelineSchedule>(text, kNames, "pipeline schedule", place);
}

SimTime StageTimes::total() const { return saturating_sum(forward, saturating_sum(input_gradient, weight_gradient)); }

bool has_bubble_formula(PipelineSchedule schedule, std::int64_t stages, std::int64_t microbatches,
                        const StageTimes& times) {
  if (!splits_backward(schedule) || stages == 1) return true;
  return microbatches >= 2 * stages - 1 && times.weight_gradient <= times.forward &&
         times.weight_gradient <= times.input_gradient;
}

SimTime pipeline_bubble(const Pipelining& pipelining, std::int64_t stages, std::int64_t microbatches,
                        const StageTimes& times) {
  const auto turn = times.total();
  if (stages == 1) return SimTime::zero();
  if (!splits_backward(pipelining.schedule)) {
    const auto fill = saturating_product(turn, stages - 1);
    return fill == SimTime::max() ? fill : SimTime::of(ceil_div(fill.count(), pipelining.virtual_stages));
  }
  const auto work = saturating_product(turn, microbatches);
  if (work == SimTime::max()) return work;
  if (!has_bubble_formula(pipelining.schedule, stages, microbatches, times))
    return pipeline_time_by_tasks(pipelining, stages, microbatches, times) - work;
  const std::int64_t saved = pipelining.schedule == PipelineSchedule::zero_bubble ? 2 : 1;
  const auto left = times.forward + times.input_gradient - saturating_product(times.weight_gradient, saved);
  return saturating_product(std::max(left, SimTime::zero()), stages - 1);
}

std::int64_t kept_parts(const Pipelining& pipelining, std::int64_t stages, std::int64_t microbatches,
                        std::int64_t stage) {
  if (!splits_backward(pipelining.schedule)) return warm_up(pipelining, stages, microbatches, stage);
  // The weights' gradients end what a microbatch keeps, and wait for put_off() microbatches.
  const auto later = put_off(pipelining.schedule, stage);
  return std::min(warm_up(pipelining, stages, microbatches, stage) + later, microbatches);
}

std::vector<PipelineTask> pipeline_tasks(const Pipelining& pipelining, std::int64_t stages, std::int64_t microbatches,
                                         std::int64_t stage) {
  const auto count = microbatches * pipelining.virtual_stages;
  const bool splits = splits_backward(pipelining.schedule);
  const auto later = put_off(pipelining.schedule, stage);
  const auto kind = splits ? Kind::input_gradient : Kind::backward;
  std::vector<PipelineTask> tasks;
  tasks.reserve(static_cast<std::size_t>(splits ? 3 * count : 2 * count));
  std::int64_t forward = 0;
  const auto add_forward = [&] {
    if (forward < count) tasks.push_back(forward_task(pipelining, stages, forward++));
  };
  const auto add_weights = [&](std::int64_t k) { tasks.push_back({Kind::weight_gradient, 0, k}); };
  const auto first = warm_up(pipelining, stages, microbatches, stage);
  for (std::int64_t k = 0; k < first; ++k) add_forward();
  for (std::int64_t k = 0; k < count; ++k) {
    tasks.push_back(backward_task(pipelining, stages, k, kind));
    if (splits && k >= later) add_weights(k - later);
    add_forward();
  }
  if (splits)
    for (auto k = std::max<std::int64_t>(count - later, 0); k < count; ++k) add_weights(k);
  return tasks;
}

SimTime task_time(const PipelineTask& task, const Pipelining& pipelining, const StageTimes& times) {
  const auto whole = [&] {
    switch (task.kind) {
      case Kind::forward:
        return times.forward;
      case Kind::input_gradient:
        return times.input_gradient;
      case Kind::weight_gradient:
        return times.weight_gradient;
      case Kind::backward:
        break;
    }
    return saturating_sum(times.input_gradient, times.weight_gradient);
  }();
  const auto parts = pipelining.virtual_stages;
  return SimTime::of(whole.count() / parts + (task.part < whole.count() % parts ? 1 : 0));
}

TaskSource source_of(const PipelineTask& task, const Pipelining& pipelining, std::int64_t stages, std::int64_t stage) {
  if (task.kind == Kind::weight_gradient) return {};  // its input gradient is earlier on the same stage
  if (task.kind == Kind::forward) {
    if (stage > 0) return {true, stage - 1, task};
    if (task.part > 0) return {true, stages - 1, {task.kind, task.part - 1, task.microbatch}};
    return {};
  }
  if (stage < stages - 1) return {true, stage + 1, task};
  if (task.part < pipelining.virtual_stages - 1) return {true, 0, {task.kind, task.part + 1, task.microbatch}};
  return {true, stage, {Kind::forward, task.part, task.microbatch}};
}

SimTime pipeline_time_by_tasks(const Pipelining& pipelining, std::int64_t stages, std::int64_t microbatches,
                               const StageTimes& times) {
  return TaskPlayer(pipelining, stages, microbatches, times).play();
}

}  // namespace tenex
