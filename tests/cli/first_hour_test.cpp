// What a new user types: other spellings of options, misspelt ones, and the messages that follow.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "cli/seeing.hpp"
#include "support/process.hpp"

namespace tenex {
namespace {

using support::Finished;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::tenex;

/// The last 32 digits of a report in JSON that a key ends.
std::string key_in(const std::string& json) {
  const auto at = json.find("\"key\":\"");
  return at == std::string::npos ? json : json.substr(at + 7, 32);
}

Finished optimize(std::vector<std::string> degrees) {
  std::vector<std::string> words{"optimize", "--workload",        "gpt3",     "--topology", "RI(4)_FC(8)_RI(4)_SW(32)",
                                 "--json",   "--total-bandwidth", "1000GB/s", "--compute",  "234TFLOPS"};
  words.insert(words.end(), degrees.begin(), degrees.end());
  return tenex(words);
}

TEST(Degrees, AreAnotherSpellingOfHp) {
  EXPECT_EQ(key_in(optimize({"--tp", "16", "--dp", "256"}).out), key_in(optimize({"--hp", "16,256"}).out));
  EXPECT_EQ(key_in(optimize({"--tp", "8", "--dp", "128", "--pp", "4"}).out), key_in(optimize({"--hp", "8,128,4"}).out));
  const auto both = optimize({"--tp", "16", "--dp", "256", "--hp", "16,256"});
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_THAT(both.err, HasSubstr("\"hp\" is given twice"));
  EXPECT_EQ(optimize({"--tp", "0"}).exit_code, 2);
}

TEST(Messages, NameTheNearestOption) {
  const auto finished = tenex({"simulate", "--topology", "RI(4)", "--alpah", "1us", "--bandwidht", "1GB/s"});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err,
              HasSubstr("tenex simulate: error: unknown option \"--alpah\"\n  help: did you mean \"--alpha\"?\n"));
  EXPECT_THAT(finished.err, HasSubstr("did you mean \"--bandwidth\"?"));
}

TEST(Messages, OfAnUnknownOptionThatIsNearNothingNameTheHelp) {
  const auto finished = tenex({"plan", "study.toml", "--frobnicate"});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_EQ(finished.err,
            "tenex plan: error: unknown option \"--frobnicate\"\n  help: `tenex plan --help` shows the options\n");
}

TEST(Messages, HaveNoColoursInAFile) {
  const auto finished = tenex({"simulate", "--topology", "dgx3", "--collective", "all_gather", "--size", "1MB"});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, HasSubstr("--topology: error: unknown topology \"dgx3\"\n"));
  EXPECT_THAT(finished.err, HasSubstr("  help: did you mean \"dgx1\"?\n"));
  EXPECT_THAT(finished.err, Not(HasSubstr("\x1b")));
}

TEST(Version, HasTheLibrariesAndFormats) {
  const auto finished = tenex({"--version", "--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  for (const auto* key : {"version", "git_revision", "git_dirty", "compiler", "mpi", "hdf5", "optional_libraries",
                          "physics", "study_schema", "result_schema"})
    EXPECT_THAT(finished.out, HasSubstr(std::string("\"") + key + "\":"));
  EXPECT_THAT(finished.out, Not(HasSubstr("\"mpi\":\"\"")));
  EXPECT_THAT(finished.out, Not(HasSubstr("\"hdf5\":\"\"")));
}

TEST(List, HasTheBuiltInMachines) {
  const auto finished = tenex({"list", "machines"});
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_THAT(finished.out, HasSubstr("dgx1"));
  EXPECT_THAT(finished.out, HasSubstr("DGX1: 8 NPUs"));
}

/// The studies of `init`, each of which is run.
class Init : public ::testing::TestWithParam<std::string> {};

TEST_P(Init, PrintsAStudyThatRuns) {
  const support::TemporaryFolder folder;
  const auto study = folder.path() / "study.toml";
  const auto printed = tenex({"init", GetParam()});
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(printed.out, ::testing::StartsWith("# "));
  support::write_text(study, printed.out);
  const auto out = (folder.path() / "out").string();
  const auto run = tenex({"run", study.string(), "--out", out, "--quiet"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const auto table = tenex({"show", out});
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(table.out, ::testing::StartsWith("key "));
}

INSTANTIATE_TEST_SUITE_P(EachStudy, Init, ::testing::Values("fabric", "chunks", "hp", "pareto", "machine"),
                         [](const auto& each) { return each.param; });

TEST(Init, ListsItsStudiesWithTheirQuestions) {
  const auto finished = tenex({"init"});
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_THAT(finished.out, HasSubstr("fabric     Which fabric"));
  EXPECT_EQ(tenex({"init", "fabrics"}).exit_code, 2);
}

TEST(Init, ComparesParallelizationsByTheSameWork) {
  // 1024 sequences of 2048 tokens in every row; without the key, a replica takes 16, and plan and run warn.
  const support::TemporaryFolder folder;
  const auto study = (folder.path() / "study.toml").string();
  auto text = tenex({"init", "hp"}).out;
  support::write_text(study, text);
  const auto out = (folder.path() / "out").string();
  const auto run = tenex({"run", study, "--out", out, "--quiet"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, Not(HasSubstr("different batches")));
  const auto rows = tenex({"show", out, "--columns", "training_time_ps,samples,tokens", "--csv"});
  ASSERT_EQ(rows.exit_code, 0) << rows.err;
  std::istringstream lines(rows.out);
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "training_time_ps,samples_per_s,tokens_per_s");
  for (std::size_t row = 0; row < 8; ++row) {
    ASSERT_TRUE(std::getline(lines, line));
    double time = 0;
    double samples = 0;
    double tokens = 0;
    ASSERT_EQ(std::sscanf(line.c_str(), "%lf,%lf,%lf", &time, &samples, &tokens), 3) << line;
    EXPECT_NEAR(time * 1e-12 * samples, 1024, 1e-6) << line;
    EXPECT_NEAR(tokens / samples, 2048, 1e-6) << line;
  }
  EXPECT_THAT(tenex({"status", out}).out, HasSubstr("gpt3_generated HP-(8,16,2) perf_opt on RI(4)_FC(8)_SW(8)"));
  for (const auto* key : {"global_batch", "microbatches"}) {
    const auto at = text.find(key);
    text.erase(at, text.find('\n', at) - at);
  }
  support::write_text(study, text);
  EXPECT_THAT(tenex({"plan", study}).err, HasSubstr("an iteration of HP-(8,8,4) processes 8, one of HP-(8,16,2) 16"));
  EXPECT_THAT(tenex({"run", study, "--out", (folder.path() / "other").string(), "--quiet"}).err,
              HasSubstr("compares different batches"));
}

TEST(Throughput, IsWhatTheMachineProcesses) {
  // The work of a table's NPU over the time.
  const auto table = optimize({"--hp", "16,256"});
  EXPECT_THAT(table.out, HasSubstr("\"samples_per_s\":null"));
  EXPECT_THAT(table.out, HasSubstr("\"model_flop_utilization\":0."));
  const auto generated =
      tenex({"optimize", "--workload", "gpt3_generated", "--topology", "RI(4)_FC(8)_RI(4)_SW(32)", "--hp", "16,256",
             "--total-bandwidth", "1000GB/s", "--compute", "234TFLOPS", "--global-batch", "1024", "--json"});
  EXPECT_EQ(generated.exit_code, 0) << generated.err;
  EXPECT_THAT(generated.out, HasSubstr("\"global_batch\":1024"));
  EXPECT_THAT(generated.out, Not(HasSubstr("\"tokens_per_s\":null")));
}

/// A result of the study `fabric`.
class Show : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = std::make_unique<support::TemporaryFolder>();
    const auto study = folder->path() / "study.toml";
    support::write_text(study, tenex({"init", "fabric"}).out);
    ASSERT_EQ(tenex({"run", study.string(), "--out", dir(), "--quiet"}).exit_code, 0);
  }
  static void TearDownTestSuite() { folder.reset(); }
  static std::string dir() { return (folder->path() / "out").string(); }
  static Finished show(std::vector<std::string> words) {
    words.insert(words.begin(), {"show", dir()});
    return tenex(words);
  }
  /// The lines of a text.
  static std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> list;
    for (std::size_t at = 0; at < text.size();) {
      const auto end = text.find('\n', at);
      list.push_back(text.substr(at, end - at));
      at = end + 1;
    }
    return list;
  }

  static std::unique_ptr<support::TemporaryFolder> folder;
};
std::unique_ptr<support::TemporaryFolder> Show::folder;

TEST_F(Show, ChoosesAndSortsRows) {
  const auto finished = show({"--where", "size = 1GiB and algorithm = rhd", "--sort", "collective_time", "--columns",
                              "topology,size,collective_time_ps", "--csv"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const auto rows = lines(finished.out);
  ASSERT_EQ(rows.size(), 7U);  // a heading and six topologies
  EXPECT_EQ(rows[0], "topology,size,collective_time_ps");
  std::vector<std::int64_t> times;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    EXPECT_THAT(rows[i], HasSubstr(",1073741824,"));
    times.push_back(std::stoll(rows[i].substr(rows[i].rfind(',') + 1)));
  }
  EXPECT_TRUE(std::is_sorted(times.begin(), times.end()));
}

TEST_F(Show, GroupsAndPrintsSizesAsTheyWereWritten) {
  const auto finished =
      show({"--group-by", "topology", "--where", "algorithm = ring", "--descending", "--sort", "size"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, ::testing::StartsWith("topology = ring(64)\nkey "));
  EXPECT_THAT(finished.out, HasSubstr("\n\ntopology = torus(8,8)\n"));
  EXPECT_THAT(lines(finished.out)[2], HasSubstr(" 1GiB "));
  EXPECT_THAT(lines(finished.out)[3], HasSubstr(" 32MiB "));
}

// Values have their units in tables for people, so that names have none; files for programs keep both apart.
TEST_F(Show, NamesColumnsWithoutTheirUnits) {
  const auto table = show({});
  ASSERT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(lines(table.out)[0], ::testing::AllOf(HasSubstr(" collective_time "), HasSubstr(" algbw "),
                                                    HasSubstr(" busbw"), Not(HasSubstr("_ps"))));
  EXPECT_EQ(lines(show({"--columns", "busbw,bound", "--csv"}).out)[0], "busbw_bytes_per_s,bound_ps");
}

TEST_F(Show, PrintsOneObject) {
  const auto finished = show({"--columns", "topology,efficiency", "--where", "size = 1MiB", "--json"});
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_THAT(finished.out,
              ::testing::StartsWith("{\"schema\":2,\"rows\":[{\"topology\":\"ring(64)\",\"efficiency\":0."));
}

TEST_F(Show, ExplainsARow) {
  const auto key =
      lines(show({"--where", "size = 1GiB and algorithm = rhd and topology = 'ring(64)'", "--columns", "key", "--csv"})
                .out)[1];
  const auto finished = show({key.substr(0, 10)});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  for (const auto* word : {"status ", "engine ", "bound_name ", "pipeline", "limited_by ", "the network for 16.4 % of"})
    EXPECT_THAT(finished.out, HasSubstr(word));
  EXPECT_THAT(finished.out, Not(HasSubstr("stragglers")));  // a default explains nothing
}

TEST_F(Show, RefusesWhatItDoesNotKnow) {
  EXPECT_THAT(show({"--columns", "topolgy"}).err, HasSubstr("did you mean \"topology\"?"));
  EXPECT_THAT(show({"--sort", "speed"}).err, HasSubstr("unknown column \"speed\""));
  EXPECT_THAT(show({"--where", "topology = ring(64)"}).err, HasSubstr("put it in quotes: 'ring(64)'"));
  EXPECT_THAT(show({"--where", "size = 1us"}).err, HasSubstr("--where:1:8: error: "));
  EXPECT_THAT(show({"ffffffffffff"}).err, HasSubstr("no rows have a key"));
  EXPECT_EQ(tenex({"show", "/nowhere"}).exit_code, 2);
}

TEST(ShowFamilies, FindsRowsByTheirAlphaAndBandwidth) {
  const support::TemporaryFolder folder;
  const auto study = (folder.path() / "study.toml").string();
  support::write_text(study, R"TOML(schema = 1
name = "families"
[[sweep]]
axes.topology = ["dragonfly(2,3)", "fat_tree(4)", "leaf_spine(2,2,2)", "RI(4)"]
axes.alpha = ["0.5us", "1us"]
axes.bandwidth = ["50GB/s", "100GB/s"]
collective = "all_gather"
size = "1MiB"
algorithm = "ring"
)TOML");
  const auto out = (folder.path() / "out").string();
  ASSERT_EQ(tenex({"run", study, "--out", out, "--quiet"}).exit_code, 0);
  const auto found = tenex(
      {"show", out, "--where", "bandwidth = 50GB/s and alpha = 1us", "--columns", "topology,alpha,bandwidth", "--csv"});
  ASSERT_EQ(found.exit_code, 0) << found.err;
  // A dragonfly has two levels of links, a fat tree three, a leaf-spine network two.
  EXPECT_EQ(found.out,
            "topology,alpha,bandwidth\n"
            "\"dragonfly(2,3)\",1000000,50000000000\n"
            "fat_tree(4),1000000,50000000000\n"
            "\"leaf_spine(2,2,2)\",1000000,50000000000\n"
            "RI(4),1000000,50000000000\n");
}

}  // namespace
}  // namespace tenex
