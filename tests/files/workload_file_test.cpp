// Workload files: the schema, its mistakes at their places, and the built-in models.
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenex/files/input_files.hpp"
#include "tenex/workload/libra_time.hpp"
#include "tenex/workload/time_model.hpp"
#include "tenex/workload/training.hpp"
#include "tenex/workload/workload_model.hpp"

namespace tenex {
namespace {

using ::testing::HasSubstr;

const std::string kHeader = "schema = 1\nkind = \"workload\"\nname = \"w\"\nsource = \"nowhere\"\n";

std::string problem_of(const std::string& text) {
  const auto file = parse_workload(text, "w.toml");
  return file.ok() ? "" : to_string(file.errors());
}

Workload workload_of(const std::string& text) { return std::get<Workload>(parse_workload(text, "w.toml")->model); }

Workload shipped(const std::string& name) {
  const auto path = std::filesystem::path(TENEX_SOURCE_DIR) / "experiments" / "workloads" / (name + ".toml");
  const auto file = read_workload_file(path);
  ensure(file.ok(), to_string(file.errors()).c_str());
  return std::get<Workload>(file->model);
}

TEST(WorkloadFile, LayersHaveTimesOrFlopsAndCommunications) {
  const auto workload = workload_of(kHeader + R"(
measured_at = "2TFLOPS"
tensor = 4
[[block]]
name = "b"
repeat = 3
[[block.layer]]
name = "l"
forward = { time = "1us" }
input_gradient = { flops = 7, communicate = { collective = "all_to_all", size = "1KiB", over = "expert" } }
[block.layer.weight_gradient]
communicate = [
  { collective = "reduce_scatter", size = "8B", over = "data" },
  { collective = "all_gather", size = "9B", over = "data" },
]
)");
  EXPECT_EQ(workload.tensor, 4);
  EXPECT_EQ(workload.measured_at, teraflops(2));
  ASSERT_EQ(workload.blocks.size(), 1U);
  EXPECT_EQ(workload.blocks[0].repeat, 3);
  const auto& layer = workload.blocks[0].layers.at(0);
  // 1 us at 2e12 FLOP/s.
  EXPECT_EQ(layer.at(Phase::forward).compute, flops(2'000'000));
  EXPECT_EQ(layer.at(Phase::input_gradient),
            (PhaseWork{flops(7), {{TrafficKind::all_to_all, bytes(1024), Scope::expert}}}));
  EXPECT_EQ(layer.at(Phase::weight_gradient), (PhaseWork{flops(0),
                                                         {{TrafficKind::reduce_scatter, bytes(8), Scope::data},
                                                          {TrafficKind::all_gather, bytes(9), Scope::data}}}));
}

TEST(WorkloadFile, DimensionsMakeGeneratedModels) {
  const auto transformer = parse_workload(kHeader + R"(
[transformer]
layers = 24
hidden = 1024
heads = 16
kv_heads = 4
feed_forward = 2816
gated = true
dropout = false
sequence = 512
batch = 8
zero_stage = 2
experts = { count = 64, per_token = 2, every = 2, feed_forward = 512 }
)",
                                          "w.toml");
  ASSERT_TRUE(transformer.ok()) << to_string(transformer.errors());
  const auto& spec = std::get<TransformerSpec>(transformer->model);
  EXPECT_EQ(spec.name, "w");
  EXPECT_EQ(spec.zero_stage, 2);
  EXPECT_EQ(spec.experts, (ExpertSpec{64, 2, 2, 512}));
  EXPECT_EQ(spec.groups(), 4);
  EXPECT_EQ(spec.units(), 2'816);
  EXPECT_TRUE(spec.gated);
  EXPECT_FALSE(spec.dropout);
  EXPECT_EQ(spec.bytes_per_value, 2);
  const auto gnmt = parse_workload(kHeader + "[gnmt]\nbatch = 32\n", "w.toml");
  ASSERT_TRUE(gnmt.ok());
  EXPECT_EQ(std::get<GnmtSpec>(gnmt->model).batch, 32);
  EXPECT_EQ(std::get<GnmtSpec>(gnmt->model).hidden, 1024);
}

TEST(WorkloadFile, MistakesAreReportedTogetherAtTheirPlaces) {
  const auto text = problem_of(kHeader + R"(measured_at = "fast"
tensor = 0
[[block]]
repeat = 0
[[block.layer]]
name = "l"
forward = { time = "1us", flops = 5 }
backward = { time = "1us" }
weight_gradient = { communicate = { collective = "all_reduces", size = "0B", over = "datas" } }
)");
  EXPECT_THAT(text, HasSubstr("w.toml:5:16: \"fast\" is no compute rate"));
  EXPECT_THAT(text, HasSubstr("w.toml:6:10: tensor = 0"));
  EXPECT_THAT(text, HasSubstr("w.toml:8:10: repeat = 0"));
  EXPECT_THAT(text, HasSubstr("w.toml:11:20: a phase with both time and flops"));
  EXPECT_THAT(text, HasSubstr("w.toml:12:1: unknown key \"backward\""));
  EXPECT_THAT(text, HasSubstr("w.toml:13:51: unknown communication \"all_reduces\""));
  EXPECT_THAT(text, HasSubstr("did you mean \"all_reduce\"?"));
  EXPECT_THAT(text, HasSubstr("w.toml:13:72: a communication of 0 bytes"));
  EXPECT_THAT(text, HasSubstr("w.toml:13:86: unknown group \"datas\""));
}

TEST(WorkloadFile, ATimeNeedsARate) {
  const auto text = problem_of(kHeader + "[[block]]\n[[block.layer]]\nname = \"l\"\nforward = { time = \"1us\" }\n");
  EXPECT_THAT(text, HasSubstr("w.toml:8:20: a compute time without a rate"));
  EXPECT_THAT(text, HasSubstr("measured_at = \"234TFLOPS\""));
}

TEST(WorkloadFile, ThereIsExactlyOneModel) {
  EXPECT_THAT(problem_of(kHeader), HasSubstr("a workload without a model"));
  EXPECT_THAT(problem_of(kHeader + "[gnmt]\n[transformer]\n"), HasSubstr("both transformer and gnmt"));
  EXPECT_THAT(problem_of(kHeader + "tensor = 2\n[gnmt]\n"), HasSubstr("tensor beside [gnmt]"));
  EXPECT_THAT(problem_of(kHeader + "[transformer]\n"), HasSubstr("the key \"layers\" is missing"));
  EXPECT_THAT(problem_of(kHeader + "[[block]]\nlayer = []\n"), HasSubstr("block \"\" is empty"));
  EXPECT_THAT(problem_of("schema = 2\nkind = \"machine\"\n"), HasSubstr("schema 2 is not known"));
  EXPECT_THAT(problem_of("schema = 2\nkind = \"machine\"\n"), HasSubstr("no workload"));
}

TEST(WorkloadFile, ContentStandsForTheFile) {
  EXPECT_EQ(parse_workload(kHeader + "[gnmt]\n", "a")->content, parse_workload(kHeader + "[gnmt]\n", "b")->content);
  EXPECT_NE(parse_workload(kHeader + "[gnmt]\n", "a")->content, parse_workload(kHeader + "[gnmt] \n", "a")->content);
}

/// A phase's time at the file's own rate, over one repetition.
SimTime time_once(Workload workload, Phase phase) {
  SimTime total;
  for (const auto& layer : workload.blocks.at(0).layers)
    total += compute_time(layer.at(phase).compute, workload.measured_at);
  return total;
}

struct Totals {
  const char* name;
  std::int64_t forward_ns, input_ns, weight_ns;
  std::int64_t tensor;
};

TEST(ShippedWorkloads, HaveTheirSourcesComputeTimes) {
  // The sums of the columns of LIBRA's files.
  for (const auto& [name, forward, input, weight, tensor] :
       {Totals{"turing_nlg", 109'049'554, 109'049'554, 109'049'554, 1},
        Totals{"gpt3", 228'149'414, 228'149'414, 228'149'414, 16},
        Totals{"msft_1t", 56'665'038, 56'665'038, 56'665'038, 128}, Totals{"dlrm", 1'399'259, 980'128, 979'838, 1},
        Totals{"resnet50", 380'038, 377'463, 337'813, 1}, Totals{"resnet50_per_layer", 380'038, 377'463, 337'813, 1}}) {
    const auto workload = shipped(name);
    EXPECT_EQ(time_once(workload, Phase::forward), nanoseconds(forward)) << name;
    EXPECT_EQ(time_once(workload, Phase::input_gradient), nanoseconds(input)) << name;
    EXPECT_EQ(time_once(workload, Phase::weight_gradient), nanoseconds(weight)) << name;
    EXPECT_EQ(workload.tensor, tensor) << name;
  }
}

TEST(ShippedWorkloads, HaveTheirSourcesCommunication) {
  const auto once = [](const Workload& workload, Phase phase, TrafficKind kind) {
    return total_bytes(workload, phase, kind).count() / workload.blocks.at(0).repeat;
  };
  // Two layers of GPT-3: 4 All-Reduces of 16*2048*12288*2 B each way, 2 All-Gathers of that as output, and the
  // gradients of 24*12288^2 weights of 2 B over 16 NPUs.
  const auto gpt3 = shipped("gpt3");
  EXPECT_EQ(once(gpt3, Phase::forward, TrafficKind::all_reduce), 4 * 805'306'368LL);
  EXPECT_EQ(once(gpt3, Phase::input_gradient, TrafficKind::all_reduce), 4 * 805'306'368LL);
  EXPECT_EQ(once(gpt3, Phase::input_gradient, TrafficKind::all_gather), 2 * 805'306'368LL);
  EXPECT_EQ(once(gpt3, Phase::weight_gradient, TrafficKind::all_reduce), 452'984'832);
  EXPECT_EQ(gpt3.blocks[0].repeat * 2, 96);
  const auto msft = shipped("msft_1t");
  EXPECT_EQ(once(msft, Phase::input_gradient, TrafficKind::all_gather), 2 * 805'306'368LL);
  EXPECT_EQ(once(msft, Phase::weight_gradient, TrafficKind::all_reduce), 226'492'416);
  // Turing-NLG: 2 * 12 * 4256^2 weights of 2 B. The file keeps the tensor traffic of TP-1.
  const auto turing = shipped("turing_nlg");
  EXPECT_EQ(once(turing, Phase::weight_gradient, TrafficKind::all_reduce), 869'449'728);
  EXPECT_EQ(once(turing, Phase::input_gradient, TrafficKind::all_gather), 139'460'608);
  const auto dlrm = shipped("dlrm");
  EXPECT_EQ(once(dlrm, Phase::forward, TrafficKind::all_to_all), 4'194'304);
  EXPECT_EQ(once(dlrm, Phase::weight_gradient, TrafficKind::all_reduce), 114'823'168);
  for (const auto* name : {"resnet50", "resnet50_per_layer"})
    EXPECT_EQ(once(shipped(name), Phase::weight_gradient, TrafficKind::all_reduce), 51'005'824) << name;
}

TEST(ShippedWorkloads, Gpt3On4D4KTakesWhatLibraAddsUp) {
  // EqualBW at 1,000 GB/s per NPU: 250 GB/s each. TP-16 takes 4 x 4: All-Reduce 1.5 S, All-Gather 0.75 S in dimension
  // 1, S = 805306368 B: 8 * 1.5 + 2 * 0.75 = 13.5 S = 10871635968 B: 43486.543872 us per two layers. DP takes 2 x 4 x
  // 32: dimension 2 moves S' = 452984832 B: 1811.939328 us. Compute 3 * 228149.414 us. All of this 48 times.
  const auto shape = parse_shape("RI(4)_FC(8)_RI(4)_SW(32)").value();
  const auto gpt3 = shipped("gpt3");
  const auto mapping = Mapping::make(shape, {16, 256}).value();
  const auto libra = LibraTime::make(shape, {gigabytes_per_second(250)}).value();
  const auto time = training_time(gpt3, mapping, gpt3.measured_at, libra, TrainingLoop::no_overlap).value();
  const auto communication = 48 * (43'486'543'872 + 1'811'939'328);
  EXPECT_EQ(time.communication(), picoseconds(communication));
  EXPECT_EQ(time.total(), picoseconds(communication + 48 * 3 * 228'149'414'000));
  // At 234 TFLOPS computation takes 65.97069766656/234 of that time, rounded up once per layer and phase.
  const auto fast = training_time(gpt3, mapping, teraflops(234), libra, TrainingLoop::no_overlap).value();
  EXPECT_NEAR(static_cast<double>((fast.total() - fast.communication()).count()),
              48 * 3 * 228'149'414e3 * 65.97069766656 / 234, 48 * 54);
}

/// Bytes that an NPU moves in one repetition, over all dimensions, on 4D-4K as TP-m times DP-4096/m at a fixed
/// minibatch.
double moved(const Workload& workload, std::int64_t tensor) {
  const auto shape = parse_shape("RI(4)_FC(8)_RI(4)_SW(32)").value();
  const Parallelization degrees{tensor, 4096 / tensor};
  const auto restated = restate(workload, degrees, BatchRule::machine).value();
  const auto terms = collapse_iteration(restated, Mapping::make(shape, degrees).value(), workload.measured_at, {},
                                        TrainingLoop::no_overlap);
  double bytes = 0;
  for (const auto& term : terms->terms)
    for (const auto volume : term.volumes) bytes += volume;
  return bytes / static_cast<double>(workload.blocks[0].repeat);
}

TEST(ShippedWorkloads, Msft1tMovesLeastNearHp32128) {
  // LIBRA, VI-E: at a fixed minibatch the total communication is least at HP-(32,128). Here 8 All-Reduces and 2
  // All-Gathers of m/128 * 805306368 B over m NPUs move 9 * 2 * 6291456 (m-1) B. One All-Reduce of 128/m * 226492416 B
  // over n = 4096/m NPUs moves 2 * 28991029248/m * (n-1)/n B. m = 32: 3510632448 + 1797783552; m = 16: 1698693120 +
  // 3609722880, the same sum.
  const auto model = shipped("msft_1t");
  EXPECT_EQ(moved(model, 32), 5'308'416'000.0);
  EXPECT_EQ(moved(model, 16), 5'308'416'000.0);
  for (const std::int64_t tensor : {8, 64, 128, 256}) EXPECT_GT(moved(model, tensor), 7e9) << tensor;
}

TEST(ShippedWorkloads, AllOfThemAreSound) {
  const auto folder = std::filesystem::path(TENEX_SOURCE_DIR) / "experiments" / "workloads";
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".toml") continue;
    ++files;
    const auto file = read_workload_file(entry.path());
    ASSERT_TRUE(file.ok()) << to_string(file.errors());
    EXPECT_EQ(file->name, entry.path().stem().string());
    if (const auto* spec = std::get_if<TransformerSpec>(&file->model)) {
      EXPECT_TRUE(make_workload(*spec, {4, 16}).ok());
    }
  }
  EXPECT_GE(files, 9U);
}

}  // namespace
}  // namespace tenex
