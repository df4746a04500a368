// Training points under LIBRA's formulas: the papers' numbers, costs, bounds; a row follows from its point alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "evaluate/training_points.hpp"
#include "tenex/files/input_files.hpp"
#include "tenex/workload/libra_time.hpp"
#include "tenex/workload/training.hpp"

namespace tenex {
namespace {

using support::Files;
using support::phase_text;
using support::training_point;
using support::training_row;
using support::with;
using support::Words;
using support::workload_text;

const Files kAllReduce{{"reduce.toml", workload_text(phase_text("weight_gradient", "all_reduce", "1GiB", "world"))}};

std::int64_t table_3_4(const std::string& shape, const std::string& npus) {
  return training_row({{"workload", "reduce.toml"},
                       {"topology", shape},
                       {"hp", "1," + npus},
                       {"npu_bandwidth", "1000GiB/s, 200GiB/s, 100GiB/s, 50GiB/s"}},
                      kAllReduce)
      .training_time_ps;
}

TEST(Training, GivesTheWaferStudysTimesWithoutBubbles) {
  // ASTRA-sim2.0, Table 3.4, a 1 GiB All-Reduce. RI(2): dimension 1 moves 2*(1/2) GiB at 1000 GiB/s, dimension 2
  // 2*7/16 GiB at 200 GiB/s: 4375 us. RI(4): 2*7/32/200 s. RI(8): dimension 1 2*7/8/1000 s. RI(16): 2*15/16/1000 s.
  EXPECT_EQ(table_3_4("RI(2)_FC(8)_RI(8)_SW(4)", "512"), 4'375'000'000);
  EXPECT_EQ(table_3_4("RI(2)_FC(8)_RI(8)_SW(32)", "4096"), 4'375'000'000);
  EXPECT_EQ(table_3_4("RI(4)_FC(8)_RI(8)_SW(4)", "1024"), 2'187'500'000);
  EXPECT_EQ(table_3_4("RI(8)_FC(8)_RI(8)_SW(4)", "2048"), 1'750'000'000);
  EXPECT_EQ(table_3_4("RI(16)_FC(8)_RI(8)_SW(4)", "4096"), 1'875'000'000);
}

// Two layers of 64 hidden units and 4 heads, 16 sequences of 8 tokens in a replica: 4,816,896 FLOPs per sequence
// (tests/workload). Gradients of a layer: 12 * 64^2 values of 2 B.
const Files kSmall{{"small.toml",
                    "schema = 1\nkind = \"workload\"\nname = \"small\"\nsource = \"a test\"\n[transformer]\n"
                    "layers = 2\nhidden = 64\nheads = 4\nsequence = 8\nbatch = 16\n"}};
const Words kSmallWords{{"workload", "small.toml"},
                        {"topology", "RI(4)"},
                        {"hp", "1,4"},
                        {"compute", "1TFLOPS"},
                        {"npu_bandwidth", "1000GB/s"}};

TEST(Training, SaysWhatTheMachineProcessesInASecond) {
  // Each of 4 replicas computes 16 sequences, a FLOP per ps: 77,070,336 ps. A B/ps of bandwidth carries 2 * 3/4 of the
  // 2 * 98,304 B of gradients in 294,912 ps.
  const auto row = training_row(kSmallWords, kSmall);
  EXPECT_EQ(row.training_time_ps, 77'070'336 + 294'912);
  EXPECT_DOUBLE_EQ(row.samples_per_s, 64 / 77.365248e-6);
  EXPECT_DOUBLE_EQ(row.tokens_per_s, 8 * 64 / 77.365248e-6);
  EXPECT_DOUBLE_EQ(row.model_flop_utilization, 77'070'336.0 / 77'365'248);
  // Half as many sequences of the whole machine: half the work, the same gradients.
  const auto half = training_row(with(kSmallWords, "global_batch", "32"), kSmall);
  EXPECT_EQ(half.training_time_ps, 38'535'168 + 294'912);
  EXPECT_DOUBLE_EQ(half.samples_per_s, 32 / 38.83008e-6);
  EXPECT_DOUBLE_EQ(half.model_flop_utilization, 38'535'168.0 / 38'830'080);
}

TEST(Training, AGlobalBatchMakesParallelizationsComparable) {
  // HP-(4,1) is one replica with 16 sequences; HP-(1,4) has four of them, and takes longer for four times as much.
  const auto one = training_row(with(kSmallWords, "hp", "4,1"), kSmall);
  const auto four = training_row(kSmallWords, kSmall);
  EXPECT_LT(one.training_time_ps, four.training_time_ps);
  EXPECT_LT(one.samples_per_s, four.samples_per_s);
  const auto words = with(kSmallWords, "global_batch", "64");
  const auto fair = training_row(with(words, "hp", "4,1"), kSmall);
  EXPECT_EQ(training_row(words, kSmall).training_time_ps, four.training_time_ps) << "four replicas with 16 each";
  EXPECT_GT(fair.training_time_ps, four.training_time_ps);
  EXPECT_DOUBLE_EQ(fair.samples_per_s * static_cast<double>(fair.training_time_ps), 64e12);
}

TEST(Training, ATableHasAUtilizationAndNoSequences) {
  // It computes three phases of 10951171.872 us.
  const auto row = training_row(
      {{"workload", "gpt3"}, {"topology", "RI(4)_FC(8)_RI(4)_SW(32)"}, {"hp", "16,256"}, {"npu_bandwidth", "250GB/s"}});
  EXPECT_TRUE(std::isnan(row.samples_per_s));
  EXPECT_TRUE(std::isnan(row.tokens_per_s));
  EXPECT_NEAR(row.model_flop_utilization, 3 * 10'951'171'872'000.0 / static_cast<double>(row.training_time_ps), 1e-9);
}

TEST(Training, AGlobalBatchThatCannotBeSharedIsRefused) {
  EXPECT_THAT(support::training_refusal(with(kSmallWords, "global_batch", "30"), kSmall),
              testing::HasSubstr("30 sequences of workload \"small\" for 4 replicas"));
  EXPECT_THAT(support::training_refusal({{"workload", "reduce.toml"},
                                         {"topology", "RI(4)"},
                                         {"hp", "1,4"},
                                         {"npu_bandwidth", "1GB/s"},
                                         {"global_batch", "32"}},
                                        kAllReduce),
              testing::HasSubstr("global_batch for workload \"reduce.toml\" (it is a table of layers"));
}

const Words kGpt3{
    {"workload", "gpt3"}, {"topology", "RI(4)_FC(8)_RI(4)_SW(32)"}, {"hp", "16,256"}, {"npu_bandwidth", "250GB/s"}};

TEST(Training, LaysGpt3OverTheDimensionsAsLibraDoes) {
  const auto row = training_row(kGpt3);
  EXPECT_EQ(row.npus, 4096);
  EXPECT_EQ(row.mapping,
            "tensor: 4 of 4 in dimension 1, 4 of 8 in dimension 2; data: 2 of 8 in dimension 2, 4 of 4 in dimension 3, "
            "32 of 32 in dimension 4");
  EXPECT_EQ(row.chosen_bandwidth_bytes_per_s, std::vector<std::int64_t>(4, 250'000'000'000));
  EXPECT_EQ(row.collective_time_ps, -1);
}

TEST(Training, AddsUpAnIterationOfGpt3) {
  // A block is two of 96 layers; its phases compute 2*(4*9375 + 2*781.25 + 2*37500 + 12.207) us = 228149.414 us, and 48
  // times that is 10951171.872 us.
  // Tensor All-Reduce of S = 805306368 B: 2*3/4*S at 250 GB/s in dimension 1 = 4831838208 ps (dimension 2: a quarter of
  // it); an All-Gather takes half of that. Forward 4 All-Reduces a block; input gradient 4 and 2 All-Gathers.
  // Data All-Reduce of S = 452984832 B: 2*(1/2)*S in dimension 2 = 1811939328 ps; one a block.
  const auto row = training_row(kGpt3);
  EXPECT_EQ(row.forward_compute_ps, 10'951'171'872'000);
  EXPECT_EQ(row.input_gradient_compute_ps, 10'951'171'872'000);
  EXPECT_EQ(row.weight_gradient_compute_ps, 10'951'171'872'000);
  EXPECT_EQ(row.forward_exposed_ps, 48LL * 4 * 4'831'838'208);
  EXPECT_EQ(row.input_gradient_exposed_ps, 48LL * 5 * 4'831'838'208);
  EXPECT_EQ(row.weight_gradient_exposed_ps, 48LL * 1'811'939'328);
  EXPECT_EQ(row.bubble_ps, 0);
  EXPECT_EQ(row.training_time_ps, 35'027'842'809'600);
}

TEST(Training, BoundsAnIterationByItsTotalBandwidth) {
  // With 1000 GB/s in any split: a tensor All-Reduce moves (3/2 + 3/8) S = 1509949440 B, a data All-Reduce (1 + 3/4 +
  // 31/128) S = 902430720 B, so 48 blocks take 48 * (9 * 1509949440 + 902430720) ps = 695614832640 ps and
  // 32853515616000 ps of compute.
  const auto row = training_row(kGpt3);
  EXPECT_EQ(row.bound_name, "total_bandwidth");
  EXPECT_EQ(row.bound_ps, 33'549'130'448'640);
  EXPECT_DOUBLE_EQ(row.efficiency, 33'549'130'448'640.0 / 35'027'842'809'600.0);
  EXPECT_EQ(row.verified, Verified::skipped);
}

TEST(Training, PricesTheNetwork) {
  // LIBRA's lowest prices per GB/s: links 2, 4, 4 in a chiplet, package and node; a pod 7.8 for a link, 18 for a switch
  // port and 31.6 for a NIC: 67.4 dollars for 4096 NPUs and 250 GB/s.
  const auto row = training_row(kGpt3);
  EXPECT_DOUBLE_EQ(row.network_cost_usd, 4096 * 250 * 67.4);
  EXPECT_DOUBLE_EQ(row.perf_per_cost_per_s_usd, 1 / (35.0278428096 * 4096 * 250 * 67.4));
}

TEST(Training, PricesLibrasExampleAt1722Dollars) {
  // Fig. 12: three NPUs on a pod's switch at 10 GB/s: links 7.8*3*10 = 234, ports 18*3*10 = 540, NICs 31.6*3*10 = 948.
  const auto row = training_row(
      {{"workload", "reduce.toml"}, {"topology", "SW(3)"}, {"hp", "1,3"}, {"npu_bandwidth", "10GB/s"}}, kAllReduce);
  EXPECT_DOUBLE_EQ(row.network_cost_usd, 1722);
}

TEST(Training, TakesBandwidthPerLinkPerNpuOrAsSharesOfATotal) {
  // FC(8) has 7 links, a ring 2, a switch 1: 10, 5, 10 and 30 GB/s per link are 70, 10, 20 and 30 GB/s per NPU.
  const Files files{{"small.toml", workload_text(phase_text("weight_gradient", "all_reduce", "8000B", "world"))}};
  const Words words{{"workload", "small.toml"}, {"topology", "FC(8)_RI(4)_LI(2)_SW(2)"}, {"hp", "1,128"}};
  const auto of = [&](const Words& more) {
    auto all = words;
    all.insert(all.end(), more.begin(), more.end());
    return training_row(all, files);
  };
  const auto by_link = of({{"bandwidth", "10GB/s, 5GB/s, 10GB/s, 30GB/s"}});
  EXPECT_EQ(by_link.chosen_bandwidth_bytes_per_s,
            (std::vector<std::int64_t>{70'000'000'000, 10'000'000'000, 20'000'000'000, 30'000'000'000}));
  EXPECT_EQ(of({{"npu_bandwidth", "70GB/s, 10GB/s, 20GB/s, 30GB/s"}}).training_time_ps, by_link.training_time_ps);
  EXPECT_EQ(of({{"total_bandwidth", "130GB/s"}, {"split", "7:1:2:3"}}).training_time_ps, by_link.training_time_ps);
  // 100 B/s in 3:3:1:1 is 37.5, 37.5, 12.5 and 12.5: rounded down 98 of 100, and one more for dimensions 1 and 2.
  EXPECT_EQ(of({{"total_bandwidth", "100B/s"}, {"split", "3:3:1:1"}}).chosen_bandwidth_bytes_per_s,
            (std::vector<std::int64_t>{38, 38, 12, 12}));
}

TEST(Training, DeratesAGroupOnAPartOfADimension) {
  // All-Gather of 4000 B among 4 of FC(8) at 7 GB/s: 3000 B take 428571.4 ps at the full bandwidth, and 1 us over the 3
  // of 7 links that the group has.
  const Files files{
      {"gather.toml", workload_text(phase_text("forward", "all_gather", "4000B", "tensor"), "tensor = 4\n")}};
  const Words words{{"workload", "gather.toml"}, {"topology", "FC(8)"}, {"hp", "4,2"}, {"npu_bandwidth", "7GB/s"}};
  EXPECT_EQ(training_row(words, files).training_time_ps, 428'572);
  EXPECT_EQ(training_row(with(words, "collective_time", "libra_derated"), files).training_time_ps, 1'000'000);
}

TEST(Training, ReducesInTheSwitchesWhereAsked) {
  // 8 NPUs on a switch at 1 GB/s: 2*7/8*8000 B take 14 us, reduced in the network 8000 B take 8 us.
  const Files files{{"small.toml", workload_text(phase_text("weight_gradient", "all_reduce", "8000B", "data"))}};
  const Words words{{"workload", "small.toml"}, {"topology", "SW(8)"}, {"hp", "1,8"}, {"npu_bandwidth", "1GB/s"}};
  EXPECT_EQ(training_row(words, files).training_time_ps, 14'000'000);
  EXPECT_EQ(training_row(with(words, "in_network", "1"), files).training_time_ps, 8'000'000);
}

TEST(Training, ReducesInTheSwitchesOfSimulatedAndSynthesizedCollectives) {
  // 8 chunks of 1000 B at 1 GB/s up, added, and down: 8 us where the switch passes on what comes, 9 where it stores a
  // chunk. The formula is LIBRA's.
  const Files files{{"small.toml", workload_text(phase_text("weight_gradient", "all_reduce", "8000B", "data"))}};
  const Words words{{"workload", "small.toml"}, {"topology", "SW(8)"}, {"hp", "1,8"},
                    {"npu_bandwidth", "1GB/s"}, {"alpha", "0us"},      {"chunks", "1"}};
  for (const auto* model : {"pipeline", "themis", "synthesized"}) {
    SCOPED_TRACE(model);
    const auto plain = with(words, "collective_time", model);
    EXPECT_GE(training_row(plain, files).training_time_ps, 14'000'000);
    const auto added = with(plain, "in_network", "1");
    EXPECT_EQ(training_row(added, files).training_time_ps, 9'000'000);
    EXPECT_EQ(training_row(with(added, "forwarding", "virtual_cut_through"), files).training_time_ps, 8'000'000);
  }
}

TEST(Training, ReducesInTheSwitchesOfSomeDimensionsAndOfSeveralGroups) {
  const Files files{{"small.toml", workload_text(phase_text("weight_gradient", "all_reduce", "80000B", "data"))}};
  const Words words{
      {"workload", "small.toml"}, {"hp", "1,8"}, {"npu_bandwidth", "1GB/s"}, {"alpha", "1ns"}, {"chunks", "8"}};
  for (const auto* model : {"pipeline", "synthesized"}) {
    SCOPED_TRACE(model);
    // Boxes of 2 and rails of 4: only the rails add.
    const auto rails = with(with(words, "topology", "SW(2)_SW(4)"), "collective_time", model);
    const auto row = training_row(with(rails, "in_network", "2"), files);
    EXPECT_EQ(row.verified, Verified::yes);
    EXPECT_LE(row.bound_ps, row.training_time_ps);
    EXPECT_LT(row.training_time_ps, training_row(rails, files).training_time_ps);
  }
  // Two data groups of four on one switch of eight.
  auto groups = with(with(words, "topology", "SW(8)"), "collective_time", "synthesized");
  for (auto& [name, value] : groups)
    if (name == "hp") value = "2,4";
  const Files files_of_two{
      {"small.toml", workload_text(phase_text("weight_gradient", "all_reduce", "80000B", "data"), "tensor = 2\n")}};
  const auto row = training_row(with(groups, "in_network", "1"), files_of_two);
  EXPECT_EQ(row.verified, Verified::yes);
  EXPECT_LT(row.training_time_ps, training_row(groups, files_of_two).training_time_ps);
}

// Forward 1 us; input gradient 2 us and a tensor All-Reduce; weight gradient 3 us and a data All-Reduce.
const Files kTwoGroups{
    {"two.toml", workload_text("forward = { time = \"1us\" }\n" +
                                   phase_text("input_gradient", "all_reduce", "10000B", "tensor", "2us") +
                                   phase_text("weight_gradient", "all_reduce", "4000B", "data", "3us"),
                               "tensor = 2\n")}};
const Words kTwoGroupsWords{
    {"workload", "two.toml"}, {"topology", "RI(2)_SW(2)"}, {"hp", "2,2"}, {"npu_bandwidth", "1GB/s"}};

TEST(Training, OverlapsTheGradientsOfALayerWhereTheLoopDoes) {
  // Tensor 2*1/2*10000 B: 10 us; data 4 us. No overlap: 1 + 2 + 10 + 3 + 4 = 20 us. Overlapped: 1 + 2 + max(10, 3 + 4)
  // = 13 us, of which 4 us of the weight gradient's and 10 - 7 = 3 us of the input gradient's communication are
  // exposed.
  EXPECT_EQ(training_row(kTwoGroupsWords, kTwoGroups).training_time_ps, 20'000'000);
  const auto row = training_row(with(kTwoGroupsWords, "training_loop", "tp_dp_overlap"), kTwoGroups);
  EXPECT_EQ(row.training_time_ps, 13'000'000);
  EXPECT_EQ(row.weight_gradient_exposed_ps, 4'000'000);
  EXPECT_EQ(row.input_gradient_exposed_ps, 3'000'000);
}

TEST(Training, CountsComputeAtTheRateAskedFor) {
  // Half the rate: 2 * 6 us of compute and 14 us of communication.
  const auto row = training_row(with(kTwoGroupsWords, "compute", "500GFLOPS"), kTwoGroups);
  EXPECT_EQ(row.training_time_ps, 26'000'000);
}

/// The same iteration, timed by the module workload alone.
TrainingTime reference(const DesignPoint& point, TrainingLoop loop) {
  const auto& choice = point.training();
  const auto model = parse_workload(choice.workload.content, choice.workload.path).value().model;
  const auto workload = make_workload(model, choice.hp).value();
  const auto mapping = Mapping::make(point.topology.shape, choice.hp).value();
  const auto libra = LibraTime::make(point.topology.shape, point.topology.links.bandwidth).value();
  return training_time(workload, mapping, workload.measured_at, libra, loop).value();
}

TEST(Training, EqualsTheWorkloadRoomForEveryTableAndLoop) {
  // Parallelizations to which the tables can be converted: workloads without tensor-parallel communication keep their
  // TP degree.
  const std::vector<std::pair<std::string, std::string>> workloads{
      {"gpt3", "16,256"}, {"gpt3", "128,32"},     {"msft_1t", "128,32"},           {"turing_nlg", "1,4096"},
      {"dlrm", "1,4096"}, {"resnet50", "1,4096"}, {"resnet50_per_layer", "1,4096"}};
  for (const auto& [workload, hp] : workloads)
    for (const auto loop : {TrainingLoop::no_overlap, TrainingLoop::tp_dp_overlap, TrainingLoop::astra_sim}) {
      const auto point = training_point({{"workload", workload},
                                         {"topology", "RI(4)_FC(8)_RI(4)_SW(32)"},
                                         {"hp", hp},
                                         {"npu_bandwidth", "399GB/s, 301GB/s, 200GB/s, 99GB/s"},
                                         {"training_loop", std::string(to_string(loop))}});
      ASSERT_TRUE(point.trains()) << workload;
      const auto row = support::row_of(point);
      ASSERT_EQ(row.status, PointStatus::ok) << workload << ' ' << row.reason;
      const auto expected = reference(point, loop);
      EXPECT_EQ(row.training_time_ps, expected.total().count()) << workload;
      EXPECT_EQ(row.forward_exposed_ps, expected.exposed[0].count()) << workload;
      EXPECT_EQ(row.input_gradient_exposed_ps, expected.exposed[1].count()) << workload;
      EXPECT_EQ(row.weight_gradient_exposed_ps, expected.exposed[2].count()) << workload;
      EXPECT_LE(row.bound_ps, row.training_time_ps) << workload;
    }
}

}  // namespace
}  // namespace tenex
