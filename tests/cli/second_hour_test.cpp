// What a user meets after the first hour: mistakes whose message must say what to do, help, and a schedule's sends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "../../src/cli/report.hpp"
#include "cli/seeing.hpp"
#include "support/process.hpp"
#include "support/terminal.hpp"

namespace tenex {
namespace {

using support::Finished;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;
using testing::tenex;

std::vector<std::string> page_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

struct Mistake {
  std::string name;
  std::vector<std::string> words;
  std::string message;  ///< all of stderr
};

void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.name; }

/// A point on a mesh of 16 NPUs, with other words in place of those of the same options.
std::vector<std::string> point(const std::vector<std::pair<std::string, std::string>>& others) {
  std::vector<std::pair<std::string, std::string>> options{{"--topology", "mesh(4,4)"},
                                                           {"--collective", "all_gather"},
                                                           {"--alpha", "0.5us"},
                                                           {"--bandwidth", "50GB/s"},
                                                           {"--size", "1MiB"}};
  for (const auto& [option, value] : others) {
    const auto known = std::ranges::find(options, option, &std::pair<std::string, std::string>::first);
    if (known != options.end())
      known->second = value;
    else
      options.emplace_back(option, value);
  }
  std::vector<std::string> words{"synthesize"};
  for (const auto& [option, value] : options) words.insert(words.end(), {option, value});
  return words;
}

const std::string blocks =
    "  reason: blocks and aliases are RI, FC, SW, LI, ring, fully_connected, switch, line, mesh, grid, torus, "
    "hypercube, "
    "hyperx, flattened_butterfly, multi_rail, dragonfly, fat_tree, leaf_spine, rail_spine, slim_fly, "
    "twisted_torus\n";

std::vector<Mistake> mistakes() {
  return {
      {"option_near_a_required_one",
       {"run", "study.toml", "--outt", "x"},
       "tenex run: error: unknown option \"--outt\"\n  help: did you mean \"--out\"?\n"},
      {"size_without_unit", point({{"--size", "1048576"}}),
       "--size: error: \"1048576\" has no unit\n  reason: a size is a number and one of B, KB, MB, GB, TB, KiB, MiB, "
       "GiB, TiB\n  help: write \"1048576B\" or \"1MiB\"\n"},
      {"negative_size", point({{"--size", "-1MiB"}}),
       "--size: error: \"-1MiB\" is negative\n  reason: a size is written without a sign\n  help: write \"1MiB\"\n"},
      {"letter_of_two_bytes", point({{"--topology", "mësh(4,4)"}}),
       "--topology: error: unknown block \"mësh\" in shape \"mësh(4,4)\"\n  help: did you mean \"mesh\"?\n"},
      {"network_of_another_name", point({{"--topology", "clos(4,4)"}}),
       "--topology: error: unknown block \"clos\" in shape \"clos(4,4)\"\n" + blocks +
           "  help: write fat_tree(k) or leaf_spine(n,l,s), or state the links in a machine file; `tenex list "
           "topologies` explains\n"},
      {"too_many_npus", point({{"--topology", "mesh(100000,100000)"}}),
       "--topology: error: too many NPUs in shape \"mesh(100000,100000)\"\n  reason: the sizes make 10000000000, and "
       "at "
       "most 2^31 = 2147483648 are addressed\n  help: make the sizes smaller; `tenex plan` says which memory and time "
       "a "
       "network needs\n"},
      {"groups_beyond_the_npus", point({{"--groups", "0-20"}}),
       "--groups: error: NPU 20 does not exist in groups \"0-20\" over \"mesh(4,4)\"\n  reason: NPUs are 0 to 15\n  "
       "help: name NPUs below 16, or take a topology with 21 or more\n"},
      {"missing_study",
       {"plan", "/nowhere/study.toml"},
       "error: cannot read \"/nowhere/study.toml\"\n  reason: No such file or directory\n  help: give the path of a "
       "study (.toml); `tenex init` prints one to begin with\n"},
      {"unknown_topic",
       {"list", "foo"},
       "tenex list: error: unknown topic \"foo\"\n  reason: it is one of all, topologies, machines, collectives, "
       "algorithms, synthesizers, bounds, workloads, cost_models, npus, schemes, collective_times, training_loops, "
       "samplers, objectives, columns\n  help: give one of them\n"},
      {"topic_near_another",
       {"list", "algorithm"},
       "tenex list: error: unknown topic \"algorithm\"\n  reason: it is one of all, topologies, machines, collectives, "
       "algorithms, synthesizers, bounds, workloads, cost_models, npus, schemes, collective_times, training_loops, "
       "samplers, objectives, columns\n  help: did you mean \"algorithms\"?\n"},
      {"missing_file_of_another_tool", point({{"--topology", "net.yml"}}),
       "--topology: error: cannot read \"net.yml\"\n  reason: No such file or directory\n  help: paths are relative to "
       "the study's folder, then to the working directory\n"},
      {"degree_that_cannot_divide",
       {"optimize", "--workload", "gpt3_generated", "--topology", "RI(4)_FC(8)_RI(4)_SW(32)", "--hp", "64,64",
        "--total-bandwidth", "1000GB/s", "--compute", "234TFLOPS"},
       "--hp: error: TP degree 64 does not divide 96 heads\n  reason: each part is equally large\n  help: use 32, so "
       "that "
       "the degrees still multiply to 4096\n"},
      {"search_of_other_npus",
       {"optimize", "--workload", "gpt3_generated", "--npus", "64", "--topology", "SW(8)_SW(4)", "--npu-memory", "80GB",
        "--npu-bandwidth", "50GB/s", "--compute", "234TFLOPS"},
       "--npus: error: --npus 64\n  reason: SW(8)_SW(4) has 32\n  help: give one of the two\n"},
      {"search_without_an_answer",
       {"optimize", "--workload", "gpt3_generated", "--npus", "8", "--npu-memory", "1GB", "--compute", "234TFLOPS"},
       "--npu-memory: error: none of 4779 parallelizations fits into 1GB\n  reason: the least takes 350GB\n  help: use "
       "more NPUs, or NPUs with more memory\n"},
      {"number_out_of_range",
       {"run", "study.toml", "--out", "x", "--threads", "0"},
       "--threads: error: \"0\" is out of range\n  reason: it is from 1 to 1024\n  help: give a number in this "
       "range\n"},
      {"result_that_is_none",
       {"show", "/nowhere"},
       "error: \"/nowhere\" is no result folder\n  reason: it has no state.toml\n  help: name the folder that a run "
       "was "
       "given with --out\n"},
  };
}

class AMistake : public ::testing::TestWithParam<Mistake> {};

TEST_P(AMistake, IsToldWithItsReasonAndItsRemedy) {
  const auto finished = tenex(GetParam().words);
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_EQ(finished.err, GetParam().message);
  EXPECT_EQ(finished.out, "");
}

INSTANTIATE_TEST_SUITE_P(Catalogue, AMistake, ::testing::ValuesIn(mistakes()),
                         [](const auto& each) { return each.param.name; });

TEST(AMissingStudy, MayBeOneOfThese) {
  const support::TemporaryFolder folder;
  support::write_text(folder.path() / "study.toml", "schema = 1\n");
  const auto of_folder = tenex({"plan", folder.path().string()});
  EXPECT_THAT(of_folder.err, HasSubstr("did you mean \"" + (folder.path() / "study.toml").string() + "\"?"));
  const auto of_stem = tenex({"plan", (folder.path() / "study").string()});
  EXPECT_THAT(of_stem.err, HasSubstr("did you mean \"" + (folder.path() / "study.toml").string() + "\"?"));
}

TEST(BandwidthInBits, IsReadAndTold) {
  const auto finished = tenex(point({{"--bandwidth", "400Gb/s"}}));
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_EQ(finished.err, "warning: --bandwidth: 400Gb/s is read as 50GB/s (8 bits are a byte)\n");
  const auto same = tenex(point({}));
  EXPECT_EQ(finished.out.substr(finished.out.rfind("key ")), same.out.substr(same.out.rfind("key ")));
}

TEST(HelpPages, AreWhatTheProgramAloneAndHelpPrint) {
  const auto alone = tenex({});
  EXPECT_EQ(alone.exit_code, 2);  // a script whose words got lost must not go on
  EXPECT_THAT(alone.out, AllOf(HasSubstr("Usage: tenex COMMAND [options]"), HasSubstr("\n  synthesize")));
  const auto help = tenex({"help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_EQ(help.out, alone.out);
  EXPECT_EQ(tenex({"--help"}).out, help.out);
  EXPECT_EQ(tenex({"help", "run"}).out, tenex({"run", "--help"}).out);
  EXPECT_THAT(tenex({"help", "rum"}).err, HasSubstr("did you mean \"run\"?"));
}

TEST(HelpPages, HaveGroupsAndFitTheWidth) {
  const auto page = support::run({{TENEX_BINARY, "help", "synthesize"}, {{"COLUMNS", "72"}}, {}}).out;
  std::size_t at = 0;
  for (const auto* group :
       {"\nNetwork:\n  --topology", "\nCollective:\n", "\nAlgorithm:\n", "\nThreads and memory:\n", "\nOutput:\n"}) {
    EXPECT_THAT(page, HasSubstr(group));
    EXPECT_GT(page.find(group), at);
    at = page.find(group);
  }
  EXPECT_THAT(page, Not(HasSubstr("--npu_bandwidth")));  // the other spelling of --npu-bandwidth
  for (const auto& line : page_lines(page.substr(0, page.find("Example")))) EXPECT_LE(line.size(), 72U) << line;
  const auto narrow = support::run_on_terminal({TENEX_BINARY, "help"}, 60);
  EXPECT_EQ(narrow.exit_code, 0);
  EXPECT_THAT(narrow.out, HasSubstr("\n  run "));
  for (const auto& line : page_lines(narrow.out.substr(0, narrow.out.find("Each command"))))
    EXPECT_LE(line.size(), 61U);
}

/// An All-Gather of 4 KB on a ring of 4: every NPU sends its 1000 B to both neighbours, then passes one on.
class ScheduleSends : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto made = tenex({"synthesize", "--topology", "RI(4)", "--alpha", "1us", "--bandwidth", "1GB/s",
                             "--collective", "all_gather", "--size", "4KB", "--out", file()});
    ASSERT_EQ(made.exit_code, 0) << made.err;
  }
  [[nodiscard]] std::string file() const { return (folder_.path() / "s.h5").string(); }
  Finished show(std::vector<std::string> words) {
    words.insert(words.begin(), {"show", file()});
    return tenex(words);
  }
  support::TemporaryFolder folder_;
};

TEST_F(ScheduleSends, AreListedInTheOrderOfTheirStarts) {
  const auto all = show({});
  ASSERT_EQ(all.exit_code, 0) << all.err;
  const auto lines = page_lines(all.out);
  // 4 NPUs receive 3 chunks each. A send of 1000 B at 1 GB/s takes 1 us and 1 us of latency.
  ASSERT_THAT(lines, SizeIs(13));
  EXPECT_EQ(lines[0], "     start     arrival  link                           bytes   stage  chunk");
  EXPECT_EQ(lines[1], "       0ps         2us  NPU 0 > NPU 1                    1KB    copy  0");
  EXPECT_THAT(lines[12], HasSubstr("       2us         4us  NPU "));
}

TEST_F(ScheduleSends, AreChosenByNpuChunkAndTime) {
  // Of NPU 3: two sends and two arrivals in the first step.
  const auto at_start = page_lines(show({"--npu", "3", "--at", "0.5us"}).out);
  EXPECT_THAT(at_start, SizeIs(5));
  for (std::size_t i = 1; i < at_start.size(); ++i) EXPECT_THAT(at_start[i], HasSubstr("NPU 3"));
  EXPECT_THAT(page_lines(show({"--chunk", "2", "--csv"}).out), SizeIs(4));  // to 3 other NPUs
  EXPECT_THAT(page_lines(show({"--at", "4us"}).out), SizeIs(1));            // everything has arrived
  EXPECT_THAT(show({"--npu", "9"}).err, HasSubstr("--npu: error: \"9\" is no range"));
  EXPECT_THAT(show({"--at", "4"}).err, HasSubstr("--at: error: \"4\" has no unit"));
}

TEST_F(ScheduleSends, EndAtTheLimit) {
  const auto two = show({"--limit", "2", "--csv"});
  EXPECT_EQ(two.out,
            "start_ps,arrival_ps,source,target,link,chunks,bytes,stage\n0,2000000,0,1,0,0,1000,copy\n"
            "0,2000000,0,3,1,0,1000,copy\n");  // in the order of links
  EXPECT_EQ(two.err, "the first 2 sends of 12 in the file; there are more (--limit)\n");
  EXPECT_EQ(show({"--limit", "12"}).err, "");
  EXPECT_THAT(
      show({"--limit", "1", "--json"}).out,
      AllOf(StartsWith("{\"schema\":2,\"sends\":[{\"start_ps\":0,\"arrival_ps\":2000000,\"source\":0,\"target\":1,"),
            EndsWith("\"chunks\":[0],\"bytes\":1000,\"stage\":\"copy\"}]}\n")));
}

TEST_F(ScheduleSends, HaveNoRows) {
  const auto refused = show({"--where", "size = 1MiB"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("this is a schedule, and the options are for rows of a result"));
  EXPECT_THAT(refused.err, HasSubstr("--npu, --chunk, --at and --limit"));
}

TEST_F(ScheduleSends, AreReplayedUnderObservation) {
  const auto replayed = tenex({"simulate", "--schedule", file(), "--json", "--bins", "2", "--observe",
                               "link_bytes,arrivals,group_times,utilization"});
  ASSERT_EQ(replayed.exit_code, 0) << replayed.err;
  // 12 sends of 1000 B over 8 links in 4 us; 12 arrivals; one group.
  EXPECT_THAT(replayed.out, HasSubstr("\"link_loads\":[{\"source\":0,\"destination\":1,\"bytes\":"));
  EXPECT_THAT(replayed.out, HasSubstr("\"group_times\":[{\"time_ps\":4000000}]"));
  EXPECT_THAT(replayed.out, HasSubstr("\"arrivals\":[{\"time_ps\":2000000,\"npu\":"));
  EXPECT_THAT(replayed.out, HasSubstr("\"utilization\":[{\"start_ps\":0,\"busy_ps\":8000000,\"utilization\":0.5}"));
  // As a point of its own, observed.
  const auto on_switches =
      tenex({"simulate", "--schedule", file(), "--on-switches", "--topology", "SW(4)", "--observe", "arrivals"});
  EXPECT_EQ(on_switches.exit_code, 2);
}

TEST_F(ScheduleSends, GoThroughThePagerOnATerminalAlone) {
  EXPECT_EQ(support::run({{TENEX_BINARY, "show", file()}, {{"PAGER", "false"}}, {}}).out, show({}).out);
  const auto paged =
      support::run_on_terminal({"env", "PAGER=sed -n 's/NPU 0 > NPU 1/paged/p'", TENEX_BINARY, "show", file()}, 80);
  EXPECT_EQ(paged.exit_code, 0);
  EXPECT_THAT(paged.out, HasSubstr("  paged  "));
  EXPECT_THAT(paged.out, Not(HasSubstr("start")));
  // A reader who leaves early ends the listing without a word.
  const auto left = support::run_on_terminal({"env", "PAGER=head -n 1", TENEX_BINARY, "show", file()}, 80);
  EXPECT_EQ(left.exit_code, 0);
  EXPECT_THAT(page_lines(left.out), SizeIs(1));
  const auto unpaged = support::run_on_terminal({"env", "PAGER=cat", TENEX_BINARY, "show", file(), "--limit", "0"}, 80);
  EXPECT_THAT(unpaged.out, HasSubstr("start"));
}

/// A folder whose run ended early.
TEST(ShowOfUnmergedRows, NamesTheMerge) {
  const support::TemporaryFolder folder;
  const auto study = folder.path() / "study.toml";
  support::write_text(study, tenex({"init", "chunks"}).out);
  const auto out = (folder.path() / "out").string();
  ASSERT_EQ(tenex({"run", study.string(), "--out", out, "--quiet"}).exit_code, 0);
  std::filesystem::remove(folder.path() / "out" / "study.h5");
  const auto refused = tenex({"show", out});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err,
              AllOf(HasSubstr("this folder has no merged result"), HasSubstr("`tenex merge " + out + "`")));
  ASSERT_EQ(tenex({"merge", out}).exit_code, 0);
  const auto limited = tenex({"show", out, "--limit", "1"});
  EXPECT_THAT(page_lines(limited.out), SizeIs(2));
  EXPECT_THAT(limited.err, AllOf(StartsWith("the first 1 of "), EndsWith("rows (--limit)\n")));
  EXPECT_THAT(tenex({"show", out, "--npu", "1"}).err, HasSubstr("are for schedule files"));
}

TEST(AmountsForPeople, HaveFewDigitsAndMemoryHasBinaryUnits) {
  EXPECT_EQ(cli::size_text(1 << 30), "1GiB");
  EXPECT_EQ(cli::size_text(400'000), "400KB");
  EXPECT_EQ(cli::size_text(100), "100B");
  EXPECT_EQ(cli::size_text(2'098'062), "2.1MB");     // 2098062B is no size that somebody wrote
  EXPECT_EQ(cli::size_text(21'979'136), "22MB");     // nor is 21464KiB
  EXPECT_EQ(cli::memory_text(21'979'136), "21MiB");  // 21,979,136 / 2^20 = 20.96
  EXPECT_EQ(cli::memory_text(4'398'121'811), "4.1GiB");
  EXPECT_EQ(cli::memory_text(1023 << 20), "0.999GiB");
  EXPECT_EQ(cli::memory_text(0), "0B");
  // One unit for one figure, in a report and in a table.
  const auto report = tenex(point({}));
  EXPECT_THAT(report.out, ::testing::ContainsRegex("memory_planned_bytes +[0-9]+ \\([0-9.]+MiB\\)"));
  EXPECT_THAT(report.out, ::testing::ContainsRegex("peak_rss_bytes +[0-9]+ \\([0-9.]+MiB\\)"));
}

TEST(ProgressOnATerminal, FitsIt) {
  const support::TemporaryFolder folder;
  const auto study = folder.path() / "study.toml";
  support::write_text(study, tenex({"init", "fabric"}).out);
  const auto ran =
      support::run_on_terminal({TENEX_BINARY, "run", study.string(), "--out", (folder.path() / "out").string()}, 50);
  ASSERT_EQ(ran.exit_code, 0);
  EXPECT_THAT(ran.out, HasSubstr(" points"));
  EXPECT_THAT(ran.out, Not(HasSubstr(", 0 points/s")));
  // The share of the work that is done never shrinks, although what is left may grow.
  int before = 0;
  const std::string share = "% of the work";
  for (auto at = ran.out.find(share); at != std::string::npos; at = ran.out.find(share, at + 1)) {
    const int percent = std::stoi(ran.out.substr(ran.out.rfind(' ', at) + 1));
    EXPECT_GE(percent, before);
    before = percent;
  }
  // Every state of the line is drawn from its start; the last column stays free.
  const auto bar = ran.out.substr(0, ran.out.find('\n'));
  for (std::size_t at = 0; at < bar.size();) {
    const auto end = std::min(bar.find('\r', at), bar.size());
    EXPECT_LT(end - at, 50U) << bar.substr(at, end - at);
    at = end + 1;
  }
}

// A row that does not meet its bound must not look as if it did: 7,046,931 of 7,046,932 ps are 99.99999 %.
TEST(Percents, AreAllOnlyWhereTheShareIs) {
  EXPECT_EQ(cli::percent_text(1), "100.0 %");
  EXPECT_EQ(cli::percent_text(7'046'931.0 / 7'046'932.0), "99.9 %");
  EXPECT_EQ(cli::percent_text(0.98765), "98.8 %");
  EXPECT_EQ(cli::percent_text(0), "0.0 %");
}

// Whoever names no algorithm hears what may be shorter. tacos takes 16 us for an All-Reduce on 4x4 NPUs, where the
// bound is 13, and as long as the bound on 3x3.
TEST(Synthesize, SaysWhatComparesAllWhereNoAlgorithmIsNamed) {
  const auto told = [](const char* command, const char* topology, const std::vector<std::string>& others) {
    std::vector<std::string> words{command, "--topology",   topology,     "--alpha", "0ns", "--bandwidth",
                                   "1GB/s", "--collective", "all_reduce", "--size",  "16KB"};
    words.insert(words.end(), others.begin(), others.end());
    return tenex(words).err;
  };
  EXPECT_THAT(
      told("synthesize", "mesh(4,4)", {}),
      HasSubstr("no algorithm was named, so this is tacos; \"--algorithm best\" compares all of them, and numbers "
                "of chunks (expected: "));
  EXPECT_THAT(told("synthesize", "mesh(4,4)", {"--chunks", "1"}), HasSubstr("compares all of them (expected: "));
  EXPECT_THAT(told("simulate", "mesh(4,4)", {}), HasSubstr("so this is ring; \"--algorithm auto\""));
  EXPECT_EQ(told("synthesize", "mesh(3,3)", {}), "");
  EXPECT_EQ(told("synthesize", "mesh(4,4)", {"--algorithm", "tacos"}), "");
  EXPECT_EQ(told("synthesize", "mesh(4,4)", {"--json"}), "");
}

}  // namespace
}  // namespace tenex
