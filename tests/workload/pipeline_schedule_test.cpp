// The formulas of pipeline schedules against their tasks, and against numbers counted by hand.
#include "tenex/workload/pipeline_schedule.hpp"

#include <algorithm>
#include <random>
#include <set>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/draws.hpp"

namespace tenex {
namespace {

using Kind = PipelineTask::Kind;

constexpr PipelineSchedule kSchedules[] = {PipelineSchedule::gpipe, PipelineSchedule::one_forward_one_backward,
                                           PipelineSchedule::interleaved, PipelineSchedule::zb_h1,
                                           PipelineSchedule::zero_bubble};

struct Drawn {
  Pipelining pipelining;
  std::int64_t stages = 1;
  std::int64_t microbatches = 1;
  StageTimes times;
};

Drawn draw(std::mt19937& random) {
  const auto from = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  Drawn drawn;
  drawn.pipelining.schedule = kSchedules[from(0, 4)];
  drawn.stages = from(1, 8);
  const bool in_parts = drawn.pipelining.schedule == PipelineSchedule::interleaved;
  drawn.pipelining.virtual_stages = in_parts ? from(2, 4) : 1;
  drawn.microbatches = in_parts ? drawn.stages * from(1, 4) : from(1, 24);
  const auto parts = drawn.pipelining.virtual_stages;
  drawn.times = {picoseconds(parts * from(1, 9)), picoseconds(parts * from(1, 9)), picoseconds(parts * from(1, 9))};
  return drawn;
}

TEST(PipelineSchedule, FormulasAreTheTimesOfTheTasks) {
  // For splits of the backward pass the formula is used only where it holds; so this compares it with the tasks there,
  // and the tasks with themselves elsewhere. The number of cases with a formula is counted.
  std::mt19937 random(support::first_seed(1));
  int by_formula = 0;
  for (int i = 0; i < support::draws(2'000, 100'000); ++i) {
    const auto [pipelining, stages, microbatches, times] = draw(random);
    by_formula += has_bubble_formula(pipelining.schedule, stages, microbatches, times) ? 1 : 0;
    const auto time = pipeline_time_by_tasks(pipelining, stages, microbatches, times);
    ASSERT_EQ(time - times.total() * microbatches, pipeline_bubble(pipelining, stages, microbatches, times))
        << to_string(pipelining.schedule) << " P=" << stages << " M=" << microbatches
        << " V=" << pipelining.virtual_stages << " F=" << times.forward.count() << " B=" << times.input_gradient.count()
        << " W=" << times.weight_gradient.count();
  }
  EXPECT_GT(by_formula, 1'000);
}

TEST(PipelineSchedule, FourStagesWithEightMicrobatchesByHand) {
  // F = 1, B = 1, W = 1, P = 4: 1F1B idles 3 * 3 = 9, interleaved with V = 2 half of it (4.5, rounded up), ZB-H1
  // 3 * (1 + 1 - 1) = 3, ZB-H2 3 * (1 + 1 - 2) = 0 (Qi et al., table 1: a third, and none).
  const StageTimes ones{picoseconds(1), picoseconds(1), picoseconds(1)};
  const auto bubble = [&](PipelineSchedule schedule, std::int64_t parts = 1) {
    return pipeline_bubble({schedule, parts}, 4, 8, ones).count();
  };
  EXPECT_EQ(bubble(PipelineSchedule::gpipe), 9);
  EXPECT_EQ(bubble(PipelineSchedule::one_forward_one_backward), 9);
  EXPECT_EQ(bubble(PipelineSchedule::interleaved, 2), 5);
  EXPECT_EQ(bubble(PipelineSchedule::zb_h1), 3);
  EXPECT_EQ(bubble(PipelineSchedule::zero_bubble), 0);
}

/// The most microbatches' parts that a stage holds at a time, counted task by task.
std::int64_t counted_parts(const Pipelining& pipelining, std::int64_t stages, std::int64_t microbatches,
                           std::int64_t stage) {
  std::int64_t held = 0;
  std::int64_t most = 0;
  for (const auto& task : pipeline_tasks(pipelining, stages, microbatches, stage)) {
    if (task.kind == Kind::forward) ++held;
    if (task.kind == Kind::backward || task.kind == Kind::weight_gradient) --held;
    most = std::max(most, held);
  }
  EXPECT_EQ(held, 0);
  return most;
}

TEST(PipelineSchedule, KeepsAsManyActivationsAsItsTasksNeed) {
  std::mt19937 random(support::first_seed(2));
  for (int i = 0; i < support::draws(500, 20'000); ++i) {
    const auto [pipelining, stages, microbatches, times] = draw(random);
    for (std::int64_t stage = 0; stage < stages; ++stage)
      ASSERT_EQ(kept_parts(pipelining, stages, microbatches, stage),
                counted_parts(pipelining, stages, microbatches, stage))
          << to_string(pipelining.schedule) << " P=" << stages << " M=" << microbatches << " stage " << stage;
    // What the table of the header says of the first stage.
    const auto parts = pipelining.virtual_stages;
    const auto kept = kept_parts(pipelining, stages, microbatches, 0);
    switch (pipelining.schedule) {
      case PipelineSchedule::gpipe:
        ASSERT_EQ(kept, microbatches);
        break;
      case PipelineSchedule::one_forward_one_backward:
      case PipelineSchedule::zb_h1:
        ASSERT_EQ(kept, std::min(microbatches, stages));
        break;
      case PipelineSchedule::interleaved:
        ASSERT_EQ(kept, std::min(microbatches * parts, stages * parts + stages - 1));
        break;
      case PipelineSchedule::zero_bubble:
        ASSERT_EQ(kept, std::min(microbatches, 2 * stages - 1));
        break;
    }
  }
}

TEST(PipelineSchedule, EveryStageDoesEveryTaskOnce) {
  std::mt19937 random(support::first_seed(3));
  for (int i = 0; i < support::draws(200, 5'000); ++i) {
    const auto [pipelining, stages, microbatches, times] = draw(random);
    const auto stage = std::uniform_int_distribution<std::int64_t>(0, stages - 1)(random);
    const auto tasks = pipeline_tasks(pipelining, stages, microbatches, stage);
    std::set<std::tuple<Kind, std::int64_t, std::int64_t>> seen;
    SimTime work;
    for (const auto& task : tasks) {
      ASSERT_TRUE(seen.insert({task.kind, task.part, task.microbatch}).second);
      work += task_time(task, pipelining, times);
    }
    const std::size_t kinds = splits_backward(pipelining.schedule) ? 3 : 2;
    ASSERT_EQ(tasks.size(), kinds * static_cast<std::size_t>(microbatches * pipelining.virtual_stages));
    ASSERT_EQ(work, times.total() * microbatches);
  }
}

TEST(PipelineSchedule, PartsOfAStageTakeItsTimeTogether) {
  // 7 ps over 3 parts: 3 + 2 + 2.
  const Pipelining pipelining{PipelineSchedule::interleaved, 3};
  const StageTimes times{picoseconds(7), picoseconds(4), picoseconds(5)};
  const auto forward = [&](std::int64_t part) {
    return task_time({Kind::forward, part, 0}, pipelining, times).count();
  };
  EXPECT_EQ(forward(0), 3);
  EXPECT_EQ(forward(1), 2);
  EXPECT_EQ(forward(2), 2);
  EXPECT_EQ(task_time({Kind::backward, 0, 0}, pipelining, times).count(), 3);
}

TEST(PipelineSchedule, NamesAreKnown) {
  for (const auto schedule : kSchedules) EXPECT_EQ(*parse_pipeline_schedule(to_string(schedule)), schedule);
  EXPECT_THAT(to_string(parse_pipeline_schedule("1f2b").errors()), testing::HasSubstr("did you mean \"1f1b\"?"));
}

}  // namespace
}  // namespace tenex
