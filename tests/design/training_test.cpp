// Training points: their canonical text, the settings that matter to each, defaults, files, and the command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <filesystem>
#include <fstream>

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
                                 "physics=4\n"
                                 "seed=1\n"
                                 "topology=RI(4)_SW(8)\n"
                                 "workload=" +
                                 kGpt3);
  // XXH3-128 of the seven lines above: pinned, because stored results are found by it.
  EXPECT_EQ(to_string(point.key), "34cf60717acb8193ec49cdb195f38b3e");
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
                "physics=4\n"
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

TEST(TrainingText, OfSynthesizedCollectivesLeavesTacosOutAndUnwindsSwitches) {
  const DesignPoint point = training_with({{"collective_time", "synthesized"}, {"alpha", "1us"}});
  EXPECT_EQ(point.algorithm, "tacos");
  EXPECT_EQ(point.family, AlgorithmFamily::synthesizer);
  EXPECT_EQ(point.topology.unwind, 1U);  // the default of synthesizers
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
  EXPECT_EQ(integer_setting(point, "compute"), 234'000'000'000'000);
  EXPECT_EQ(text_setting(point, "collective_time_setting"), "libra");
  EXPECT_EQ(setting_cell(point, "npu_bandwidth"),
            SettingCell(std::vector<std::int64_t>{200'000'000'000, 100'000'000'000}));
  EXPECT_EQ(text_setting(point, "cost_model"), "libra");
  EXPECT_EQ(integer_setting(point, "total_bandwidth"), -1);
  // The point has no collective, and no algorithm with its settings.
  for (const std::string name : {"collective", "groups_setting", "without", "algorithm", "occupancy", "backend",
                                 "engine_setting", "order", "stragglers", "simulation_engine_setting"}) {
    EXPECT_EQ(text_setting(point, name), "") << name;
  }
  for (const std::string name : {"size", "chunks", "root", "overlap", "attempts", "window", "unwind"}) {
    EXPECT_EQ(integer_setting(point, name), -1) << name;
  }
}

TEST(TrainingSettings, ShowTheSetOfWorkloadsByItsNames) {
  const DesignPoint point = training_with({{"npu_bandwidth", ""},
                                           {"scheme", "equal"},
                                           {"total_bandwidth", "1TB/s"},
                                           {"optimize_for", "gpt3 HP-(4,8); msft_1t HP-(8,4) x2"}});
  EXPECT_EQ(text_setting(point, "optimize_for"), "gpt3 HP-(4,8) x1; msft_1t HP-(8,4) x2");
  EXPECT_EQ(integer_setting(point, "total_bandwidth"), 1'000'000'000'000);
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
  EXPECT_EQ(seen, 18U);
  EXPECT_TRUE(setting_columns().back().training);
  EXPECT_FALSE(setting_columns().front().training);
}

/// A study with one sweep and these defaults.
Result<Study> training_study(const std::string& sweep, const std::string& defaults = "") {
  return parse_study(
      "schema = 1\nname = \"s\"\n[defaults]\ntopology = \"RI(4)_SW(8)\"\n" + defaults + "[[sweep]]\n" + sweep,
      "study.toml", test_words());
}

TEST(TrainingStudy, HasAxesOfParallelizationsAndSplits) {
  const auto study = training_study(R"toml(workload = "gpt3"
total_bandwidth = "900GB/s"
axes.hp = ["4,8", "HP-(8,4)"]
axes.split = ["2:1", "1:1", "1:2"]
)toml");
  ASSERT_EQ(messages_of(study), "");
  ASSERT_EQ(study->points.size(), 6U);
  const DesignPoint last = study->points[5];
  EXPECT_EQ(last.training().hp, (Parallelization{8, 4, 1, 1}));
  EXPECT_EQ(last.training().split, (std::vector<std::int64_t>{1, 2}));
}

TEST(TrainingStudy, HasRangesOfTotals) {
  // 100, 200, 400 GB/s.
  const auto study = training_study(R"toml(workload = "gpt3"
hp = "4,8"
scheme = "equal"
axes.total_bandwidth = { from = "100GB/s", to = "400GB/s", factor = 2 }
)toml");
  ASSERT_EQ(messages_of(study), "");
  ASSERT_EQ(study->points.size(), 3U);
  EXPECT_EQ(study->points[2].training().total_bandwidth, gigabytes_per_second(400));
}

TEST(TrainingStudy, RowsThatDoNotReadAKeyAreOnePoint) {
  // perf_opt reads no split and `libra` no contention: of 2 schemes x 2 splits, 1 + 2 points are left.
  const auto study = training_study(R"toml(workload = "gpt3"
hp = "4,8"
total_bandwidth = "900GB/s"
axes.scheme = ["given", "perf_opt"]
axes.split = ["2:1", "1:1"]
)toml");
  ASSERT_EQ(messages_of(study), "");
  EXPECT_EQ(study->points.size(), 3U);
  EXPECT_EQ(study->duplicates, 1U);
}

TEST(TrainingStudy, TakesSeveralConstraintsAsAnArray) {
  const auto study = training_study(R"toml(workload = "gpt3"
hp = "4,8"
scheme = "perf_opt"
axes.constraints = [["B1 + B2 = 500GB/s", "B1 >= B2"], "total = 1TB/s"]
)toml");
  ASSERT_EQ(messages_of(study), "");
  ASSERT_EQ(study->points.size(), 2U);
  EXPECT_EQ(text_setting(study->points[0], "constraints"), "B1 + B2 = 500GB/s; B1 >= B2");
  EXPECT_EQ(text_setting(study->points[1], "constraints"), "total = 1TB/s");
}

TEST(TrainingStudy, ComparesBudgetsInAnExpression) {
  const auto study = training_study(R"toml(workload = "gpt3"
hp = "4,8"
scheme = "perf_opt"
total_bandwidth = "1TB/s"
axes.cost_budget = ["5MUSD", "$20,000,000"]
keep = "cost_budget <= 15MUSD"
)toml");
  ASSERT_EQ(messages_of(study), "");
  ASSERT_EQ(study->points.size(), 1U);
  EXPECT_EQ(study->points[0].training().cost_budget, dollars(5'000'000));
}

TEST(TrainingStudy, SharesDefaultsWithSweepsOfCollectives) {
  // Each kind of sweep ignores the defaults of the other: size and algorithm here, hp and compute there.
  const auto study = training_study(R"toml(workload = "gpt3"
[[sweep]]
collective = "all_reduce"
)toml",
                                    R"toml(alpha = "1us"
npu_bandwidth = "100GB/s"
size = "1MiB"
groups = "0-15; 16-31"
algorithm = "ring"
hp = "4,8"
compute = "234TFLOPS"
)toml");
  ASSERT_EQ(messages_of(study), "");
  ASSERT_EQ(study->points.size(), 2U);
  const DesignPoint trains = study->points[0];
  ASSERT_TRUE(trains.trains());
  EXPECT_EQ(trains.training().compute, teraflops(234));
  const DesignPoint runs = study->points[1];
  ASSERT_FALSE(runs.trains());
  EXPECT_EQ(runs.collective().groups.text(), "0-15; 16-31");
}

TEST(TrainingStudy, ASweepWithItsOwnCollectiveDropsADefaultWorkload) {
  const auto study = training_study(R"toml(collective = "all_reduce"
size = "1MiB"
algorithm = "ring"
alpha = "1us"
[[sweep]]
hp = "4,8"
)toml",
                                    "npu_bandwidth = \"100GB/s\"\nworkload = \"gpt3\"\n");
  ASSERT_EQ(messages_of(study), "");
  ASSERT_EQ(study->points.size(), 2U);
  EXPECT_FALSE(study->points[0].trains());
  EXPECT_TRUE(study->points[1].trains());
}

TEST(TrainingStudy, KeepSeesTrainingKeys) {
  const auto study = training_study(R"toml(workload = "gpt3"
axes.scheme = ["equal", "perf_opt"]
axes.hp = ["HP-(4,8)", "8,4"]
axes.total_bandwidth = ["1TB/s", "2TB/s"]
keep = ["hp = '4,8' or scheme = equal", "total_bandwidth >= 2TB/s", "compute = shipped"]
)toml");
  ASSERT_EQ(messages_of(study), "");
  // Of 2 schemes x 2 HP at 2 TB/s all but (perf_opt, 8,4).
  EXPECT_EQ(study->points.size(), 3U);
}

TEST(TrainingStudy, OutputsConditionsAreOfCollectivesOnly) {
  const auto study = training_study(R"toml(workload = "gpt3"
hp = "4,8"
npu_bandwidth = "1GB/s"
[outputs]
schedule = "size = 1MiB"
where = "collective = all_gather"
)toml");
  ASSERT_EQ(messages_of(study), "");
  EXPECT_EQ(study->store_schedule, std::vector<bool>{false});
  EXPECT_EQ(study->store_where, std::vector<bool>{false});
}

TEST(TrainingStudy, AsksOncePerChoiceAndShape) {
  Vocabulary words = test_words();
  std::size_t asked = 0;
  words.check_training = [&](const DesignPoint& point) {
    ++asked;
    return test_check_training(point);
  };
  const auto study = parse_study(R"toml(schema = 1
name = "s"
seed = [1, 2, 3]
[[sweep]]
topology = "RI(4)_SW(8)"
workload = "gpt3"
total_bandwidth = "900GB/s"
axes.hp = ["4,8", "8,4"]
axes.split = ["2:1", "1:1", "1:2"]
)toml",
                                 "study.toml", words);
  ASSERT_EQ(messages_of(study), "");
  EXPECT_EQ(study->points.size(), 18U);
  EXPECT_EQ(asked, 2U);  // per HP only: the split of a stated total does not matter to the check
}

class TrainingFiles : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("tenex_training_" + std::to_string(getpid()) + "_" +
                                                        testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) { std::ofstream(folder_ / name) << text; }

  Result<Study> study_of(const std::string& sweep) {
    write("study.toml",
          "schema = 1\nname = \"s\"\n[defaults]\ntopology = \"RI(4)_SW(8)\"\nhp = \"4,8\"\n"
          "npu_bandwidth = \"1GB/s\"\n[[sweep]]\n" +
              sweep);
    return read_study(folder_ / "study.toml", test_words());
  }

  std::filesystem::path folder_;
};

TEST_F(TrainingFiles, AreKnownByContentNotByPath) {
  write("a.toml", "layers of gpt3");
  write("b.toml", "other layers");
  write("prices.toml", "prices of libra");
  const auto study = study_of("axes.workload = [\"a.toml\", \"gpt3\", \"b.toml\"]\ncost_model = \"prices.toml\"\n");
  ASSERT_EQ(messages_of(study), "");
  ASSERT_EQ(study->points.size(), 2U);  // a.toml and gpt3 hold the same
  const DesignPoint first = study->points[0];
  EXPECT_EQ(first.training().workload.text, "a.toml");
  EXPECT_EQ(first.training().workload.path, (folder_ / "a.toml").string());
  EXPECT_EQ(first.training().workload.content.view(), "layers of gpt3");
  // Another reader of the text needs the three files, but not the built-in ones.
  ASSERT_EQ(study->machines.size(), 3U);
  EXPECT_EQ(study->machines.at("b.toml").view(), "other layers");
  EXPECT_EQ(study->machines.at("prices.toml").view(), "prices of libra");
}

TEST_F(TrainingFiles, OfAResultFolderComeFirst) {
  write("a.toml", "changed since");
  Vocabulary words = test_words();
  words.stored_file = [](const std::string& path) -> std::optional<std::string> {
    return path == "a.toml" ? std::optional<std::string>("as it was") : std::nullopt;
  };
  write("study.toml",
        "schema = 1\nname = \"s\"\n[[sweep]]\ntopology = \"RI(4)\"\nhp = \"4,1\"\n"
        "npu_bandwidth = \"1GB/s\"\nworkload = \"a.toml\"\n");
  const auto study = read_study(folder_ / "study.toml", words);
  ASSERT_EQ(messages_of(study), "");
  EXPECT_EQ(study->points[0].training().workload.content.view(), "as it was");
}

TEST_F(TrainingFiles, ThatCannotBeReadAreToldOncePerPlace) {
  const auto study = study_of("workload = \"absent.toml\"\n");
  ASSERT_FALSE(study.ok());
  EXPECT_EQ(study.errors().size(), 1U);
  EXPECT_EQ(study.errors()[0].fault, Fault::environment);
  EXPECT_THAT(messages_of(study), testing::HasSubstr("study.toml:8:12: cannot read \""));
}

TEST_F(TrainingFiles, KeepThePlacesOfTheirOwnMistakes) {
  write("bad.toml", "bad");
  const auto study = study_of("workload = \"bad.toml\"\naxes.seed = [1, 2]\n");
  EXPECT_EQ(messages_of(study), (folder_ / "bad.toml").string() + ":1:1: bad");
}

TEST(TrainingRefusals, OfTheCommandLineNameTheOption) {
  EXPECT_EQ(refusal_of({{"hp", "4,4"}}), "--hp: HP-(4,4) is for 16 NPUs choose another one");
  EXPECT_EQ(refusal_of({{"hp", ""}}), "\"hp\" is missing (every workload needs one) give --hp");
  EXPECT_EQ(refusal_of({{"npu_bandwidth", ""}}),
            "--topology: the shape \"RI(4)_SW(8)\" has no bandwidth (with scheme \"given\" it is stated) write for "
            "instance npu_bandwidth = \"500GB/s\", or total_bandwidth and split, or scheme = \"perf_opt\"");
  EXPECT_EQ(
      refusal_of({{"size", "1MiB"}}),
      "--size: \"size\" beside \"workload\" (the workload says which collectives it runs, and how large they are) "
      "remove it, or use a sweep of its own");
  EXPECT_EQ(refusal_of({{"workload", "gpt4"}}),
            "--workload: unknown workload \"gpt4\" (the built-in ones are gpt3, msft_1t) did you mean \"gpt3\"?");
}

TEST_F(TrainingFiles, AMachineFileIsNoShape) {
  write("box.toml",
        "schema = 1\nkind = \"machine\"\nname = \"box\"\nsource = \"a test\"\nnpus = 2\n[[links]]\nkind = \"cable\"\n"
        "bandwidth = \"1GB/s\"\nalpha = \"1us\"\npairs = [[0, 1]]\n");
  EXPECT_EQ(messages_of(study_of("workload = \"gpt3\"\ntopology = \"box.toml\"\n")),
            (folder_ / "study.toml").string() +
                ":9:12: the machine file \"box.toml\" beside a workload (a parallelization is laid over the dimensions "
                "of a shape) write a shape, for instance \"RI(4)_SW(8)\", or a file that names one");
}

TEST_F(TrainingFiles, AMachineFileThatNamesAShapeStatesItsLinks) {
  write("box.toml",
        "schema = 1\nkind = \"machine\"\nname = \"box\"\nsource = \"a test\"\nshape = \"RI(4)_SW(8)\"\n"
        "alpha = \"1us\"\nnpu_bandwidth = \"5GB/s, 2GB/s\"\n");
  const auto read = [&](const std::string& keys) {
    write("study.toml", "schema = 1\nname = \"s\"\n[[sweep]]\nhp = \"4,8\"\nworkload = \"gpt3\"\n" + keys);
    return read_study(folder_ / "study.toml", test_words());
  };
  const auto by_file = read("topology = \"box.toml\"\n");
  const auto by_hand = read("topology = \"RI(4)_SW(8)\"\nnpu_bandwidth = \"5GB/s,2GB/s\"\n");
  ASSERT_EQ(messages_of(by_file), "");
  ASSERT_EQ(messages_of(by_hand), "");
  EXPECT_EQ(by_file->points[0].canonical, by_hand->points[0].canonical);
  for (const std::string key : {"npu_bandwidth = \"1GB/s\"", "bandwidth = \"1GB/s\"", "alpha = \"1us\""})
    EXPECT_THAT(messages_of(read("topology = \"box.toml\"\n" + key + "\ncollective_time = \"themis\"\n")),
                testing::HasSubstr(":7:" + std::to_string(key.find('"') + 1) + ": \"" + key.substr(0, key.find(' ')) +
                                   "\" for the machine file \"box.toml\""));
  EXPECT_THAT(messages_of(read("topology = \"box.toml\"\ntotal_bandwidth = \"9GB/s\"\nscheme = \"equal\"\n")),
              testing::AllOf(testing::HasSubstr("\"scheme\" for the machine file"),
                             testing::HasSubstr("\"total_bandwidth\" for the machine file"),
                             testing::HasSubstr("write the shape that the file names")));
}

TEST(TrainingRefusals, OfModelsThatSimulateWithoutLatency) {
  EXPECT_EQ(refusal_of({{"collective_time", "themis"}}),
            "--topology: the shape \"RI(4)_SW(8)\" has no alpha (collective_time \"themis\" needs the latency of its "
            "links) write for instance alpha = \"0.5us\"");
  EXPECT_EQ(refusal_of({{"collective_time", "pipeline"}, {"alpha", "1us, 1us, 1us"}}),
            "--alpha: \"1us, 1us, 1us\" is for 3 dimensions (\"RI(4)_SW(8)\" has 2) give one value for all, or 2");
}

}  // namespace

}  // namespace tenex
