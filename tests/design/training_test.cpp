// Training points: their canonical text, and the settings that matter to each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "design/design_support.hpp"

namespace tenex {

namespace {

const std::string kGpt3 = to_string(digest128("layers of gpt3"));
const std::string kMsft = to_string(digest128("layers of msft_1t"));
const std::string kPrices = to_string(digest128("prices of libra"));

TEST(TrainingText, OfAPlainPoint) {
  const DesignPoint point = training_with({});
  EXPECT_EQ(point.canonical, "cost_model=" + kPrices +
                                 "\n"
                                 "hp=4,8\n"
                                 "npu_bandwidth=200000000000,100000000000\n"
                                 "physics=21\n"
                                 "seed=1\n"
                                 "topology=RI(4)_SW(8)\n"
                                 "workload=" +
                                 kGpt3);
  // XXH3-128 of the seven lines above: pinned, because stored results are found by it.
  EXPECT_EQ(to_string(point.key), "e561e982e26442b35e69e9156183cbb6");
}

// A point with synthesized collectives on chosen bandwidths, with every key it may have and none at its default.
TEST(TrainingText, OfAPointWithEverything) {
  const DesignPoint point = training_with({{"npu_bandwidth", ""},
                                           {"alpha", "0.5us, 1us"},
                                           {"collective_time", "synthesized"},
                                           {"contention", "links"},
                                           {"algorithm", "tacos_reference"},
                                           {"attempts", "8"},
                                           {"engine", "exact"},
                                           {"chunks", "4"},
                                           {"occupancy", "transfer"},
                                           {"unwind", "2"},
                                           {"compute", "234TFLOPS"},
                                           {"training_loop", "tp_dp_overlap"},
                                           {"batch_rule", "machine"},
                                           {"in_network", "2"},
                                           {"scheme", "perf_opt"},
                                           {"optimize_with", "libra_derated"},
                                           {"optimize_for", "gpt3 HP-(4,8);  msft_1t HP-(8,4) x2"},
                                           {"total_bandwidth", "1000GB/s"},
                                           {"constraints", "B1  >= B2"},
                                           {"cost_budget", "15MUSD"},
                                           {"price_level", "mid"},
                                           {"dimension_kinds", "package, pod"},
                                           {"seed", "3"}});
  EXPECT_EQ(point.canonical,
            "algorithm=tacos_reference\n"
            "alpha=500000,1000000\n"
            "attempts=8\n"
            "batch_rule=machine\n"
            "chunks=4\n"
            "collective_time=synthesized\n"
            "compute=234000000000000\n"
            "constraints=B1 >= B2\n"
            "contention=links\n"
            "cost_budget=15000000000000\n"
            "cost_model=" +
                kPrices +
                "\n"
                "dimension_kinds=package,pod\n"
                "engine=exact\n"
                "hp=4,8\n"
                "in_network=2\n"
                "occupancy=transfer\n"
                "optimize_for=" +
                kGpt3 + " HP-(4,8) x1; " + kMsft +
                " HP-(8,4) x2\n"
                "optimize_with=libra_derated\n"
                "physics=21\n"
                "price_level=mid\n"
                "scheme=perf_opt\n"
                "seed=3\n"
                "topology=RI(4)_SW(8)\n"
                "total_bandwidth=1000000000000\n"
                "training_loop=tp_dp_overlap\n"
                "unwind=2\n"
                "workload=" +
                kGpt3);
  ASSERT_TRUE(point.trains());
  ASSERT_EQ(point.training().optimize_for.size(), 2U);
  EXPECT_EQ(point.training().optimize_for[1].file.content.view(), "layers of msft_1t");
  EXPECT_EQ(point.training().optimize_for[1].degrees, (Parallelization{8, 4, 1, 1}));
  EXPECT_EQ(point.training().optimize_for[1].weight, 2);
}

TEST(TrainingText, IsEqualForEqualPoints) {
  const std::string plain = training_with({}).canonical;
  EXPECT_EQ(training_with({{"hp", "HP-(4, 8)"}}).canonical, plain);
  EXPECT_EQ(training_with({{"npu_bandwidth", "0.2TB/s,100000MB/s"}}).canonical, plain);
  EXPECT_EQ(training_with({{"scheme", "given"}, {"collective_time", "libra"}, {"contention", "none"}}).canonical,
            plain);
  // The formula reads no latency, chunks, occupancy, algorithm, engine, attempts or unwinding; another row of the sweep
  // may.
  EXPECT_EQ(first_of_training("axes.collective_time = [\"libra\", \"synthesized\"]\nalpha = \"1us\"\nchunks = 4\n"
                              "occupancy = \"transfer\"\nalgorithm = \"tacos\"\nengine = \"exact\"\nattempts = 2\n"
                              "unwind = 1\n"),
            plain);
  // Without concurrent collectives there is no contention for links.
  const Words synthesized{{"collective_time", "synthesized"}, {"alpha", "1us"}};
  Words contending = synthesized;
  contending.emplace_back("contention", "links");
  EXPECT_EQ(training_with(contending).canonical, training_with(synthesized).canonical);
  const Words chosen{{"npu_bandwidth", ""}, {"scheme", "perf_opt"}, {"total_bandwidth", "1000GB/s"}};
  Words named = chosen;
  named.emplace_back("optimize_with", "libra");  // the meaning of "auto" under `libra`
  EXPECT_EQ(training_with(named).canonical, training_with(chosen).canonical);
}

TEST(TrainingText, DiffersForDifferentPoints) {
  const Words synthesized{{"collective_time", "synthesized"}, {"alpha", "1us"}};
  Words overlapped = synthesized;
  overlapped.emplace_back("training_loop", "tp_dp_overlap");
  Words contending = overlapped;
  contending.emplace_back("contention", "links");
  const std::vector<DesignPoint> points{
      training_with({}),
      training_with({{"hp", "8,4"}}),
      training_with({{"workload", "msft_1t"}}),
      training_with({{"topology", "FC(4)_SW(8)"}}),
      training_with({{"npu_bandwidth", ""}, {"bandwidth", "200GB/s, 100GB/s"}}),
      training_with({{"npu_bandwidth", ""}, {"total_bandwidth", "300GB/s"}, {"split", "2:1"}}),
      training_with({{"npu_bandwidth", ""}, {"total_bandwidth", "300GB/s"}, {"scheme", "equal"}}),
      training_with({{"npu_bandwidth", ""}, {"total_bandwidth", "301GB/s"}, {"scheme", "equal"}}),
      training_with({{"collective_time", "libra_derated"}}),
      training_with({{"collective_time", "pipeline"}, {"alpha", "1us"}}),
      training_with({{"collective_time", "pipeline"}, {"alpha", "1us"}, {"chunks", "2"}}),
      training_with(synthesized),
      training_with(overlapped),
      training_with(contending),
      training_with({{"price_level", "high"}}),
      training_with({{"seed", "2"}})};
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t j = i + 1; j < points.size(); ++j) EXPECT_NE(points[i].key, points[j].key) << i << ' ' << j;
  }
}

TEST(TrainingText, OfASimulatedModelHasLatencyAndChunksButNoAlgorithm) {
  const std::string canonical = first_of_training(
      "axes.collective_time = [\"themis\", \"synthesized\"]\nalpha = \"1us\"\nchunks = 64\nalgorithm = \"ring\"\n"
      "attempts = 4\n");
  EXPECT_THAT(canonical, testing::HasSubstr("alpha=1000000\nchunks=64\ncollective_time=themis\n"));
  EXPECT_THAT(canonical, testing::Not(testing::AnyOf(testing::HasSubstr("algorithm"), testing::HasSubstr("attempts"))));
}

TEST(TrainingText, OfSynthesizedCollectivesLeavesTacosOutAndKeepsSwitches) {
  const DesignPoint point = training_with({{"collective_time", "synthesized"}, {"alpha", "1us"}});
  EXPECT_EQ(point.algorithm, "tacos");
  EXPECT_EQ(point.family, AlgorithmFamily::synthesizer);
  EXPECT_EQ(point.topology.unwind, 0U);  // its schedules are played on the switches
  EXPECT_EQ(point.canonical.find("algorithm"), std::string::npos);
  const DesignPoint ring = training_with({{"collective_time", "synthesized"}, {"alpha", "1us"}, {"algorithm", "ring"}});
  EXPECT_EQ(ring.topology.unwind, 0U);  // programs run over switches
  EXPECT_THAT(ring.canonical, testing::StartsWith("algorithm=ring\n"));
}

TEST(TrainingText, SealingTwiceChangesNothing) {
  DesignPoint point = training_with({{"collective_time", "synthesized"}, {"alpha", "1us"}, {"attempts", "3"}});
  const DesignPoint before = point;
  normalise(point);
  seal(point);
  EXPECT_EQ(point.canonical, before.canonical);
  EXPECT_EQ(point.key, before.key);
}

TEST(TrainingSettings, OfAPointThatTrains) {
  const DesignPoint point = training_with({{"hp", "HP-(4,8)"}, {"compute", "234TFLOPS"}});
  EXPECT_EQ(text_setting(point, "workload"), "gpt3");
  EXPECT_EQ(text_setting(point, "hp"), "4,8");
  EXPECT_EQ(std::get<std::int64_t>(setting_cell(point, "compute")), 234'000'000'000'000);
  EXPECT_EQ(text_setting(point, "collective_time_setting"), "libra");
  EXPECT_EQ(setting_cell(point, "npu_bandwidth"),
            SettingCell(std::vector<std::int64_t>{200'000'000'000, 100'000'000'000}));
  EXPECT_EQ(text_setting(point, "cost_model"), "libra");
  EXPECT_EQ(std::get<std::int64_t>(setting_cell(point, "total_bandwidth")), -1);
  // The point has no collective, and no algorithm with its settings.
  for (const std::string name : {"collective", "groups_setting", "without", "algorithm", "occupancy", "backend",
                                 "engine_setting", "order", "stragglers", "simulation_engine_setting"}) {
    EXPECT_EQ(text_setting(point, name), "") << name;
  }
  for (const std::string name : {"size", "chunks", "root", "overlap", "attempts", "window", "unwind"}) {
    EXPECT_EQ(std::get<std::int64_t>(setting_cell(point, name)), -1) << name;
  }
}

TEST(TrainingSettings, ShowTheSetOfWorkloadsByItsNames) {
  const DesignPoint point = training_with({{"npu_bandwidth", ""},
                                           {"scheme", "equal"},
                                           {"total_bandwidth", "1TB/s"},
                                           {"optimize_for", "gpt3 HP-(4,8); msft_1t HP-(8,4) x2"}});
  EXPECT_EQ(text_setting(point, "optimize_for"), "gpt3 HP-(4,8) x1; msft_1t HP-(8,4) x2");
  EXPECT_EQ(std::get<std::int64_t>(setting_cell(point, "total_bandwidth")), 1'000'000'000'000);
}

TEST(TrainingSettings, AreNumbersWhereTheyAreQuantities) {
  const DesignPoint given =
      training_with({{"npu_bandwidth", ""}, {"total_bandwidth", "1TB/s"}, {"split", "4:2"}, {"compute", "shipped"}});
  EXPECT_EQ(setting_cell(given, "split"), SettingCell(std::vector<std::int64_t>{2, 1})) << "without a common factor";
  EXPECT_EQ(setting_cell(given, "compute"), SettingCell(std::int64_t{-1})) << "the workload's own";
  EXPECT_TRUE(std::isnan(std::get<double>(setting_cell(given, "cost_budget")))) << "none";
  const DesignPoint chosen = training_with(
      {{"npu_bandwidth", ""}, {"scheme", "equal"}, {"total_bandwidth", "1TB/s"}, {"cost_budget", "15USD"}});
  EXPECT_EQ(setting_cell(chosen, "cost_budget"), SettingCell(15.0)) << "dollars";
  EXPECT_EQ(setting_cell(chosen, "npu_bandwidth"), SettingCell(std::vector<std::int64_t>()));
}

TEST(TrainingSettings, OfACollectiveAreAbsent) {
  const auto point = make_point({{"topology", "RI(4)"},
                                 {"alpha", "1us"},
                                 {"bandwidth", "1GB/s"},
                                 {"collective", "all_gather"},
                                 {"size", "1MiB"},
                                 {"algorithm", "ring"}},
                                test_words());
  ASSERT_TRUE(point.ok());
  std::size_t seen = 0;
  for (const SettingColumn& setting : setting_columns()) {
    if (!setting.training) continue;
    ++seen;
    EXPECT_EQ(cell_text(setting_cell(*point, setting.name)), cell_text(absent_cell(setting.kind))) << setting.name;
  }
  EXPECT_EQ(seen, 29U);
  EXPECT_TRUE(setting_columns().back().training);
  EXPECT_FALSE(setting_columns().front().training);
}

TEST(GlobalBatch, StandsInPlaceOfTheRule) {
  const DesignPoint point = training_with({{"global_batch", "512"}});
  EXPECT_THAT(point.canonical, testing::HasSubstr("cost_model=" + kPrices + "\nglobal_batch=512\nhp=4,8\n"));
  EXPECT_EQ(point.training().global_batch, 512);
  EXPECT_EQ(setting_cell(point, "global_batch"), SettingCell(std::int64_t{512}));
  EXPECT_EQ(setting_cell(point, "batch_rule"), SettingCell(std::string("machine")));
  EXPECT_EQ(training_with({{"global_batch", "0"}}).canonical, training_with({}).canonical);
  EXPECT_EQ(setting_cell(training_with({}), "global_batch"), SettingCell(std::int64_t{0}));
  EXPECT_EQ(refusal_of({{"global_batch", "-1"}}), "--global_batch: \"global_batch\" is -1 (it is at least 0)");
  EXPECT_THAT(first_of_training("global_batch = 512\nbatch_rule = \"machine\"\n"),
              testing::HasSubstr("study.toml:8:1: \"global_batch\" and \"batch_rule\" exclude each other"));
}

TEST(IterationKeys, StandInTheTextOnlyWhereTheyMatter) {
  const auto plain = training_with({}).canonical;
  EXPECT_EQ(training_with({{"microbatches", "auto"}}).canonical, plain);
  EXPECT_THAT(training_with({{"microbatches", "4"}}).canonical, testing::HasSubstr("\nmicrobatches=4\n"));
  EXPECT_EQ(setting_cell(training_with({}), "microbatches"), SettingCell(std::int64_t{0}));
  // Without stages there is no pipeline, and only interleaved stages are virtual.
  for (const auto* key : {"pipeline_schedule", "pipeline_timing", "virtual_stages"}) {
    const std::string value = key == std::string("pipeline_schedule") ? "gpipe"
                              : key == std::string("pipeline_timing") ? "simulated"
                                                                      : "4";
    EXPECT_EQ(training_with({{key, value}}).canonical, plain) << key;
  }
  const auto stages = training_with({{"hp", "4,4,2"}, {"pipeline_schedule", "interleaved"}, {"virtual_stages", "4"}});
  EXPECT_THAT(stages.canonical, testing::HasSubstr("\npipeline_schedule=interleaved\n"));
  EXPECT_THAT(stages.canonical, testing::HasSubstr("\nvirtual_stages=4\n"));
  EXPECT_EQ(stages.training().iteration().pipelining, (Pipelining{PipelineSchedule::interleaved, 4}));
  EXPECT_EQ(training_with({{"zero_stage", "shipped"}}).canonical, plain);
  EXPECT_THAT(training_with({{"zero_stage", "0"}}).canonical, testing::HasSubstr("\nzero_stage=0"));
  EXPECT_THAT(training_with({{"npu_memory", "80GB"}}).canonical, testing::HasSubstr("\nnpu_memory=80000000000\n"));
  EXPECT_THAT(training_with({{"npu_memory", "a100_80gb"}}).canonical, testing::HasSubstr("\nnpu_memory=a100_80gb\n"));
  EXPECT_EQ(refusal_of({{"microbatches", "0"}}), "--microbatches: \"microbatches\" is 0 (it is at least 1)");
  EXPECT_THAT(refusal_of({{"microbatches", "many"}}), testing::HasSubstr("it is a number, or \"auto\""));
  EXPECT_THAT(refusal_of({{"zero_stage", "4"}}), testing::HasSubstr("it is at most 3"));
}

TEST(GlobalBatch, ASweepThatComparesOtherBatchesIsWarnedOf) {
  const auto warnings = [](const std::string& lines) {
    const auto study =
        parse_study("schema = 1\nname = \"s\"\n[[sweep]]\nnpu_bandwidth = \"200GB/s, 100GB/s\"\n" + lines, "study.toml",
                    test_words());
    EXPECT_EQ(messages_of(study), "");
    return study ? study->warnings : std::vector<std::string>();
  };
  const std::string gpt3 = "workload = \"gpt3\"\n";
  const std::string shape = "topology = \"RI(4)_SW(8)\"\n" + gpt3;
  const std::string two = shape + "axes.hp = [\"4,8\", \"4,2,4\"]\n";
  EXPECT_THAT(
      warnings(two),
      testing::ElementsAre(
          "study.toml:3:1: sweep 1 compares different batches (every replica takes the workload's batch: an "
          "iteration of HP-(4,2,4) processes 2, one of HP-(4,8) 8) write global_batch (sequences of the whole "
          "machine) or batch_rule = \"machine\", or compare samples_per_s; batch_rule = \"replica\" says that it "
          "is meant"));
  EXPECT_THAT(warnings(two + "batch_rule = \"machine\"\n"), testing::IsEmpty());
  EXPECT_THAT(warnings(two + "global_batch = 64\n"), testing::IsEmpty());
  EXPECT_THAT(warnings(two + "batch_rule = \"replica\"\n"), testing::IsEmpty()) << "it is meant";
  EXPECT_THAT(warnings(two + "axes.global_batch = [0, 64]\n"), testing::SizeIs(1));
  EXPECT_THAT(warnings(shape + "axes.hp = [\"4,8\", \"2,8,2\"]\n"), testing::IsEmpty()) << "eight replicas each";
  EXPECT_THAT(
      warnings("topology = \"RI(4)_SW(8)\"\nzip.workload = [\"gpt3\", \"msft_1t\"]\nzip.hp = [\"4,8\", \"8,4\"]\n"),
      testing::IsEmpty())
      << "each model has its own";
  EXPECT_THAT(warnings(two + "keep = \"hp = '4,8'\"\n"), testing::IsEmpty()) << "a condition chooses";
  EXPECT_THAT(warnings(two + "keep = \"npus = 32\"\n"), testing::SizeIs(1));
  EXPECT_THAT(warnings(gpt3 + "zip.topology = [\"RI(4)_SW(8)\", \"RI(4)_SW(16)\"]\nzip.hp = [\"4,8\", \"4,16\"]\n"),
              testing::IsEmpty())
      << "a larger machine has more to do";
}

}  // namespace

}  // namespace tenex
