// Simulated pipelines: examples by hand, equality with the formulas, and a slow twin on links of their own.
#include "training/pipeline_simulation.hpp"

#include <map>
#include <random>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evaluate/training_points.hpp"
#include "support/draws.hpp"
#include "tenex/evaluate/evaluate.hpp"
#include "tenex/execution/execution_cache.hpp"
#include "tenex/training/training_cache.hpp"

namespace tenex {
namespace {

using support::Files;
using support::training_row;
using support::with;
using support::Words;

// Forward and input gradient take 10 us each and send 1000 B.
const Files kStageFiles{
    {"stages.toml",
     support::workload_text(support::phase_text("forward", "point_to_point", "1000B", "pipeline", "10us") +
                                support::phase_text("input_gradient", "point_to_point", "1000B", "pipeline", "10us"),
                            "microbatches = 2\n")}};
const Words kStageWords{
    {"workload", "stages.toml"}, {"topology", "RI(2)"}, {"hp", "1,1,2"}, {"npu_bandwidth", "1GB/s"}};

TEST(PipelineSimulation, SendsMessagesBesideComputation) {
  // By formula a stage waits 1 us for each message: (M + P - 1) (11 + 11) = 66 us.
  EXPECT_EQ(training_row(kStageWords, kStageFiles).training_time_ps, 66'000'000);
  // 1F1B with messages of 1 us and 1 us of latency: stage 0 computes F0 and F1 in [0, 20) us; F0 is at stage 1 at 12,
  // which does F0 until 22, B0 until 32, F1 until 42, B1 until 52; B0 is back at 34, B1 at 54 and done at 64. Without
  // messages it would be 60 us, 40 of work; with forward ones alone 62.
  const auto words = with(with(kStageWords, "pipeline_timing", "simulated"), "alpha", "1us");
  const auto row = training_row(words, kStageFiles);
  EXPECT_EQ(row.training_time_ps, 64'000'000);
  EXPECT_EQ(row.bubble_ps, 20'000'000);
  EXPECT_EQ(row.pipeline_exposed_ps, 4'000'000);
  EXPECT_EQ(row.forward_exposed_ps, 2'000'000);
  EXPECT_EQ(row.input_gradient_exposed_ps, 2'000'000);
  EXPECT_EQ(row.bound_ps, 40'000'000);
  EXPECT_THAT(support::training_refusal(with(kStageWords, "pipeline_timing", "simulated"), kStageFiles),
              testing::HasSubstr("pipeline_timing \"simulated\" needs the latency of its links"));
}

// As above with D per message: 60 + 2 D. Over a switch without latency D is 2 us where it stores and 1 us where it
// passes bytes on while they arrive.
TEST(PipelineSimulation, MessagesGoOverSwitchesAsTheseForward) {
  const auto words = with(with(with(kStageWords, "pipeline_timing", "simulated"), "alpha", "0us"), "topology", "SW(2)");
  EXPECT_EQ(training_row(words, kStageFiles).training_time_ps, 64'000'000);
  EXPECT_EQ(training_row(with(words, "forwarding", "virtual_cut_through"), kStageFiles).training_time_ps, 62'000'000);
}

TEST(PipelineSimulation, MessagesOfSeveralPipelinesShareLinks) {
  // Four pipelines of two stages on a ring of 8, neighbours of a stage next to each other: NPU i sends to i + 4 over
  // four links (a tie goes up), and four messages start on every link at once: the last hop of NPU 0's message, 3 -> 4,
  // carries those of NPUs 0 to 3. With alpha = 0 and 1 us per hop (links of 1 GB/s), all hops of all pipelines keep
  // pace: message i takes link i + k in [k, k + 1) us, so no two meet, and it arrives after 4 us.
  const Words words{{"workload", "stages.toml"}, {"topology", "RI(8)"}, {"hp", "1,4,2"},
                    {"npu_bandwidth", "2GB/s"},  {"alpha", "0us"},      {"pipeline_timing", "simulated"}};
  const auto row = training_row(words, kStageFiles);
  // As above with 4 us per message: forward twice on the way to B1's end, 60 + 2 * 4.
  EXPECT_EQ(row.training_time_ps, 68'000'000);
  // On a line the way is the same, but pipelines of neighbouring stages lie side by side: 4 members each of two
  // pipelines of four stages, "1,2,4" on RI(8): NPU i sends to i + 2 over 2 links.
  const auto four = training_row(with(words, "hp", "1,2,4"), kStageFiles);
  EXPECT_GT(four.pipeline_exposed_ps, 0);
  EXPECT_EQ(four.training_time_ps, four.bubble_ps + 40'000'000 + four.pipeline_exposed_ps);
}

/// A slow twin for stages that are joined by links of their own, one each way: task times are raised until nothing
/// changes.
SimTime twin(const Pipelining& pipelining, std::int64_t stages, std::int64_t microbatches, const StageTimes& times,
             SimTime forward, SimTime backward, SimTime alpha) {
  using Id = std::tuple<std::int64_t, int, std::int64_t, std::int64_t>;  // stage, kind, part, microbatch
  const auto id = [](std::int64_t stage, const PipelineTask& task) {
    return Id{stage,
              task.kind == PipelineTask::Kind::forward           ? 0
              : task.kind == PipelineTask::Kind::weight_gradient ? 2
                                                                 : 1,
              task.part, task.microbatch};
  };
  std::map<Id, SimTime> ends;
  std::map<Id, SimTime> sent;  // when the message of a task has left
  SimTime longest;
  for (bool changed = true; changed;) {
    changed = false;
    longest = SimTime::zero();
    for (std::int64_t stage = 0; stage < stages; ++stage) {
      SimTime free;
      SimTime first;
      std::map<std::int64_t, SimTime> link;  // to a stage
      bool begun = false;
      for (const auto& task : pipeline_tasks(pipelining, stages, microbatches, stage)) {
        auto begin = free;
        if (const auto source = source_of(task, pipelining, stages, stage); source.exists) {
          const auto of = id(source.stage, source.task);
          begin = std::max(begin, source.stage == stage ? ends[of] : sent[of] + alpha);
        }
        if (!begun) first = begin, begun = true;
        free = begin + task_time(task, pipelining, times);
        auto& end = ends[id(stage, task)];
        changed |= end != free;
        end = free;
        if (task.kind == PipelineTask::Kind::weight_gradient) continue;
        const bool ahead = task.kind == PipelineTask::Kind::forward;
        auto& line = link[(stage + (ahead ? 1 : stages - 1)) % stages];
        // The last message forward and the first backward go nowhere.
        const auto parts = pipelining.virtual_stages;
        if (ahead && stage == stages - 1 && task.part == parts - 1) continue;
        if (!ahead && stage == 0 && task.part == 0) continue;
        line = std::max(line, free) + (ahead ? forward : backward);
        auto& leaves = sent[id(stage, task)];
        changed |= leaves != line;
        leaves = line;
      }
      longest = std::max(longest, free - first);
    }
  }
  return longest;
}

TEST(PipelineSimulation, AgreesWithTheTwinAndTheFormula) {
  std::mt19937 random(support::first_seed(4));
  const auto from = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  Cache evaluation_cache;
  ExecutionCache execution(std::size_t{1} << 24);
  TrainingCache cache(std::size_t{1} << 24, execution);
  for (int i = 0; i < support::draws(60, 3'000); ++i) {
    const auto schedule = static_cast<PipelineSchedule>(from(0, 4));
    const bool in_parts = schedule == PipelineSchedule::interleaved;
    const Pipelining pipelining{schedule, in_parts ? from(2, 3) : 1};
    // In FC(k) with k > 2 any two stages have links of their own.
    const auto stages = from(3, 6);
    const auto microbatches = in_parts ? stages * from(1, 3) : from(1, 12);
    const auto parts = pipelining.virtual_stages;
    const StageTimes times{picoseconds(parts * from(1, 9) * 100), picoseconds(parts * from(1, 9) * 100),
                           picoseconds(parts * from(1, 9) * 100)};
    auto point = support::training_point({{"workload", "stages.toml"},
                                          {"topology", "FC(" + std::to_string(stages) + ")"},
                                          {"hp", "1,1," + std::to_string(stages)},
                                          {"npu_bandwidth", std::to_string(stages - 1) + "000GB/s"},
                                          {"pipeline_timing", "simulated"},
                                          {"alpha", "50ps"}},
                                         kStageFiles);
    const std::vector<Bandwidth> bandwidth{gigabytes_per_second((stages - 1) * 1000)};
    const TrainingNetwork network{point, bandwidth, {}, cache};
    const auto mapping = Mapping::make(point.topology.shape, point.training().hp).value();
    // 1 TB/s: a byte per picosecond.
    const StageMessages messages{bytes(from(1, 1500)), bytes(from(1, 1500))};
    const auto run = simulate_pipeline(network, mapping, pipelining, microbatches, times, messages).value();
    EXPECT_EQ(run.time, twin(pipelining, stages, microbatches, times, picoseconds(messages.forward.count()),
                             picoseconds(messages.backward.count()), picoseconds(50)))
        << to_string(schedule) << " P=" << stages << " M=" << microbatches;
    // Without messages it is the formula's time, with any it is no less.
    const auto none = simulate_pipeline(network, mapping, pipelining, microbatches, times, {}).value();
    EXPECT_EQ(none.time, none.without_messages);
    EXPECT_EQ(none.time, times.total() * microbatches + pipeline_bubble(pipelining, stages, microbatches, times));
    EXPECT_GE(run.time, none.time) << to_string(schedule);
  }
}

}  // namespace
}  // namespace tenex
