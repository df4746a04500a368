// Studies of training points: axes and defaults, the files that they name, and what the command line refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <filesystem>
#include <fstream>

#include "design/design_support.hpp"

namespace tenex {

namespace {

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
