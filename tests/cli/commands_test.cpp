// Use of the binary: one point to a file and back, a study with a machine file, merging after the folder moved.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/seeing.hpp"
#include "support/process.hpp"

namespace tenex {
namespace {

namespace fs = std::filesystem;
using support::Finished;
using support::TemporaryFolder;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::number_of;
using testing::tenex;
using testing::text_of;

const std::vector<std::string> mesh{"--topology", "mesh(3,3)", "--alpha", "0ns", "--bandwidth", "1GB/s"};

Finished on_mesh(std::string command, std::vector<std::string> others) {
  std::vector<std::string> words{std::move(command)};
  words.insert(words.end(), mesh.begin(), mesh.end());
  words.insert(words.end(), others.begin(), others.end());
  return tenex(words);
}

TEST(Synthesize, PrintsOneJsonObjectWithThePromisedKeys) {
  // 9 chunks of 1000 B at 1 GB/s: 1 us a step, 4 steps at least (a corner has 2 in-links and lacks 8 chunks).
  const auto finished =
      on_mesh("synthesize", {"--collective", "all_gather", "--size", "9000B", "--attempts", "20", "--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_TRUE(finished.out.starts_with("{\"schema\":2,")) << finished.out;
  for (const auto* key : {"npus", "links", "chunks", "sends", "steps", "engine", "collective_time_ps", "bound_ps",
                          "bound_name", "efficiency", "paper_ideal_ps", "algbw_bytes_per_s", "synthesis_seconds",
                          "memory_planned_bytes", "peak_rss_bytes", "verified", "seed"})
    EXPECT_THAT(finished.out, HasSubstr(std::string("\"").append(key).append("\":")));
  EXPECT_THAT(finished.out, HasSubstr("\"collective_time_ps\":4000000,"));
  EXPECT_THAT(finished.out, HasSubstr("\"steps\":4,"));
  EXPECT_THAT(finished.out, HasSubstr("\"verified\":true"));
  EXPECT_EQ(std::count(finished.out.begin(), finished.out.end(), '\n'), 1);
}

TEST(Synthesize, ReportsTheMetricsThatThePointHas) {
  const auto report_of = [](const std::string& collective, std::vector<std::string> others) {
    others.insert(others.end(), {"--collective", collective, "--size", "9000B", "--json"});
    return on_mesh("synthesize", others).out;
  };
  const auto gather = report_of("all_gather", {});
  for (const auto* key :
       {"with_overlap", "training_time_ps", "failed_links", "candidates", "epochs", "solver_seconds", "reason"})
    EXPECT_THAT(gather, Not(HasSubstr(key)));
  EXPECT_THAT(report_of("all_reduce", {}), HasSubstr("\"time_with_overlap_ps\":"));
  // The two directed links between a pair of NPUs; 12 pairs are joined on the mesh.
  const auto faulty = report_of("all_gather", {"--faults", "link 0-1"});
  EXPECT_THAT(faulty, HasSubstr("\"failed_links\":2,\"failed_npus\":0,"));
  EXPECT_THAT(faulty, HasSubstr("\"links\":22,"));
}

TEST(Plan, SaysWhichPointsWillBeRefusedAndWhy) {
  // 6 algorithms on 3 networks of 36 NPUs: rhd supports none of them, tto only the mesh, multitree no switches.
  const TemporaryFolder folder;
  const auto study = (folder.path() / "doomed.toml").string();
  support::write_text(study, R"toml(schema = 1
name = "doomed"
[[sweep]]
collective = "all_reduce"
size = "36MB"
alpha = "1us"
bandwidth = "50GB/s"
axes.topology = ["mesh(6,6)", "torus(6,6)", "SW(36)"]
axes.algorithm = ["ring", "direct", "rhd", "tto", "multitree", "hierarchical"]
)toml");
  ;
  const auto text = tenex({"plan", study});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, ::testing::ContainsRegex("infeasible_points +6\n"));
  EXPECT_THAT(text.out, HasSubstr("recursive halving-doubling is defined for powers of two"));
  EXPECT_THAT(text.out, HasSubstr("its three trees are laid on a two-dimensional mesh"));
  EXPECT_THAT(text.out, HasSubstr("multitree"));
  const auto json = tenex({"plan", study, "--json"});
  EXPECT_THAT(json.out, HasSubstr("\"infeasible_points\":6"));
  // The run agrees: 12 rows of 18 are ok.
  const auto run = tenex({"run", study, "--out", (folder.path() / "out").string(), "--quiet"});
  EXPECT_THAT(run.out, HasSubstr("6 not ok"));
}

TEST(ScheduleFiles, AreVerifiedAndReplayedAsTheyWereMade) {
  const TemporaryFolder folder;
  for (const auto* name : {"s.h5", "s.json"}) {
    const auto file = (folder.path() / name).string();
    ASSERT_EQ(on_mesh("synthesize", {"--collective", "all_reduce", "--size", "9000B", "--out", file}).exit_code, 0);
    const auto verified = tenex({"verify", file, "--json"});
    EXPECT_EQ(verified.exit_code, 0) << verified.err;
    EXPECT_THAT(verified.out, HasSubstr("\"verified\":true"));
    EXPECT_THAT(verified.out, HasSubstr("\"sends\":144,"));  // 72 to reduce, 72 to gather
    const auto replayed = tenex({"simulate", "--schedule", file, "--json"});
    EXPECT_EQ(replayed.exit_code, 0) << replayed.err;
  }
}

// Bounds that rows search certificates for (cut, strength) stand beside the same schedule in a file, too.
TEST(ScheduleFiles, HaveTheBoundOfTheirRows) {
  const TemporaryFolder folder;
  const auto file = (folder.path() / "s.h5").string();
  const std::string machines = TENEX_SOURCE_DIR "/experiments/machines/";
  struct Case {
    std::string topology;
    const char* collective;
    const char* synthesizer;
    const char* bound;
  };
  for (const auto& [topology, collective, synthesizer, bound] :
       std::vector<Case>{{machines + "amd_1ch.toml", "all_to_all", "pccl", "cut"},
                         {machines + "ndv2_2ch_switch.toml", "all_gather", "pccl", "entry"},
                         {machines + "dgx_h100.toml", "all_gather", "pccl", "relay"},
                         {machines + "ndv2_4ch_switch.toml", "all_reduce", "trees", "boxes"},
                         {machines + "ndv2_2ch.toml", "all_reduce", "trees", "entry"}}) {
    const auto made = tenex({"synthesize", "--topology", topology, "--collective", collective, "--size", "1GB",
                             "--synthesizer", synthesizer, "--out", file, "--json"});
    ASSERT_EQ(made.exit_code, 0) << made.err;
    const auto verified = tenex({"verify", file, "--json"});
    EXPECT_EQ(text_of(made.out, "bound_name"), bound) << topology;
    EXPECT_EQ(text_of(verified.out, "bound_name"), bound) << topology;
    for (const auto* key : {"bound_ps", "efficiency", "collective_time_ps"})
      EXPECT_EQ(number_of(verified.out, key), number_of(made.out, key)) << topology << ' ' << key;
  }
}

TEST(ScheduleFiles, OfUnwoundSwitchesArePlayedOnTheSwitches) {
  // SW(4), 1000 B at 1 GB/s: three steps of 1 us over the unwound ring; on the switch each step is two hops of 1 us.
  const TemporaryFolder folder;
  const auto file = (folder.path() / "s.h5").string();
  const auto played = (folder.path() / "played.h5").string();
  const std::vector<std::string> network{"--topology", "SW(4)", "--alpha", "0ns", "--bandwidth", "1GB/s"};
  std::vector<std::string> synthesize{"synthesize", "--collective", "all_gather", "--size",
                                      "4000B",      "--out",        file,         "--json"};
  synthesize.insert(synthesize.end(), network.begin(), network.end());
  synthesize.insert(synthesize.end(), {"--unwind", "1"});
  const auto made = tenex(synthesize);
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("\"collective_time_ps\":3000000,"));
  EXPECT_THAT(made.out, HasSubstr("\"switched_time_ps\":6000000,"));
  // A link takes three chunks of 1 us into each NPU, so that no replay ends sooner than the plan.
  const auto replayed = tenex({"simulate", "--schedule", file, "--json"});
  EXPECT_EQ(replayed.exit_code, 0) << replayed.err;
  EXPECT_THAT(replayed.out, HasSubstr("\"planned_time_ps\":3000000,\"collective_time_ps\":3000000}"));
  std::vector<std::string> play{"simulate", "--schedule", file, "--on-switches", "--out", played, "--json"};
  play.insert(play.end(), network.begin(), network.end());
  const auto finished = tenex(play);
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("\"planned_time_ps\":3000000,"));
  EXPECT_THAT(finished.out, HasSubstr("\"switched_time_ps\":6000000,"));
  EXPECT_THAT(finished.out, HasSubstr("\"verified\":true"));
  EXPECT_EQ(tenex({"verify", played}).exit_code, 0);
  play.back() = "2GB/s";
  const auto other = tenex(play);
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("not for this network"));
  EXPECT_EQ(tenex({"simulate", "--schedule", file, "--on-switches"}).exit_code, 2);
}

TEST(ScheduleFiles, TellWhatTheyTakeOnDisk) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "s.h5";
  const auto finished =
      on_mesh("synthesize", {"--collective", "all_gather", "--size", "9000B", "--output", file.string(), "--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("\"file_bytes\":" + std::to_string(std::filesystem::file_size(file)) + ","));
  EXPECT_THAT(finished.out, HasSubstr("\"file_bytes_per_send\":"));
  EXPECT_THAT(finished.out, HasSubstr("\"file_content\":\"list\""));
  const auto verified = tenex({"verify", file.string(), "--threads", "2", "--json"});
  EXPECT_EQ(verified.exit_code, 0) << verified.err;
  EXPECT_THAT(verified.out, HasSubstr("\"content\":\"list\""));
}

/// The value of a key in a line of JSON, as text.
std::string value_of(const std::string& json, const std::string& key) {
  const auto at = json.find('"' + key + "\":");
  if (at == std::string::npos) return "(none)";
  const auto begin = at + key.size() + 3;
  return json.substr(begin, json.find_first_of(",}", begin) - begin);
}

TEST(ScheduleFiles, OfManySendsAreRecipes) {
  // 4,608 NPUs receive 4,607 chunks each: 21,229,056 sends, more than 2^24 = 16,777,216.
  const TemporaryFolder folder;
  const auto file = folder.path() / "s.h5";
  const std::vector<std::string> words{"synthesize",  "--topology",   "torus(72,64)", "--alpha", "0ns",
                                       "--bandwidth", "1GB/s",        "--size",       "4608KB",  "--out",
                                       file.string(), "--collective", "all_gather",   "--json"};
  const auto made = tenex(words);
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_EQ(value_of(made.out, "sends"), "21229056");
  EXPECT_EQ(value_of(made.out, "file_content"), "\"recipe\"");
  EXPECT_LT(fs::file_size(file), 20'000U);
  const auto verified = tenex({"verify", file.string(), "--json"});
  EXPECT_EQ(verified.exit_code, 0) << verified.err;
  EXPECT_EQ(value_of(verified.out, "verified"), "true");
  EXPECT_EQ(value_of(verified.out, "as_recorded"), "true");
  EXPECT_EQ(value_of(verified.out, "sends"), "21229056");
  for (const auto* key : {"collective_time_ps", "schedule_hash"})
    EXPECT_EQ(value_of(verified.out, key), value_of(made.out, key));
  // A part of it is a list.
  const auto part = (folder.path() / "part.json").string();
  const auto exported =
      tenex({"export", file.string(), "--format", "list", "--npus", "5", "--to", "10us", "-o", part, "--json"});
  ASSERT_EQ(exported.exit_code, 0) << exported.err;
  EXPECT_EQ(value_of(exported.out, "sends"), "80");
  // Steps of 1 us (chunks of 1,000 B), four links each way: at most 8 sends from and to an NPU in each of ten steps.
  const auto text = support::read_text(part);
  EXPECT_THAT(text, HasSubstr("\"part\": \"from or to 5, before 10000000 ps\""));
  EXPECT_EQ(
      std::count(text.begin(), text.end(), '[') - std::count(text.begin(), text.begin() + text.find("\"sends\""), '['),
      1 + 80);
}

TEST(ScheduleFiles, AreListsOrRecipesOnRequest) {
  const TemporaryFolder folder;
  const auto machine = (fs::path(TENEX_SOURCE_DIR) / "experiments" / "machines" / "dgx1.toml").string();
  for (const auto& point : std::vector<std::vector<std::string>>{
           {"synthesize", "--topology", machine, "--synthesizer", "tacos"},
           {"simulate", "--topology", "SW(8)", "--alpha", "1us", "--bandwidth", "1GB/s", "--algorithm", "bruck"},
           {"synthesize", "--topology", "RI(8)", "--alpha", "1us", "--bandwidth", "1GB/s", "--synthesizer", "trees",
            "--stragglers", "npu 3 x2; npu 1 delay 5us", "--chunks", "2"},
           {"synthesize", "--topology", "RI(4)", "--alpha", "1us", "--bandwidth", "1GB/s", "--synthesizer", "best"}}) {
    std::string list_hash;
    for (const auto* name : {"s.h5", "s.json"})
      for (const auto* as : {"list", "recipe"}) {
        const auto file = (folder.path() / name).string();
        auto words = point;
        words.insert(words.end(), {"--collective", "all_gather", "--size", "1MB", "--as", as, "--out", file, "--json"});
        const auto made = tenex(words);
        ASSERT_EQ(made.exit_code, 0) << made.err;
        EXPECT_EQ(value_of(made.out, "file_content"), std::string("\"") + as + "\"");
        const auto verified = tenex({"verify", file, "--json"});
        EXPECT_EQ(verified.exit_code, 0) << verified.err;
        EXPECT_EQ(value_of(verified.out, "verified"), "true") << point[2];
        EXPECT_EQ(value_of(verified.out, "content"), std::string("\"") + as + "\"");
        EXPECT_EQ(value_of(verified.out, "schedule_hash"), value_of(made.out, "schedule_hash")) << point[2];
      }
  }
}

TEST(ScheduleFiles, OfSimulatedProgramsVerifyToo) {
  const TemporaryFolder folder;
  const auto file = (folder.path() / "ring.h5").string();
  ASSERT_EQ(
      on_mesh("simulate", {"--collective", "reduce_scatter", "--size", "9000B", "--algorithm", "ring", "--out", file})
          .exit_code,
      0);
  const auto verified = tenex({"verify", file, "--json"});
  EXPECT_EQ(verified.exit_code, 0) << verified.out << verified.err;
}

TEST(Verify, FindsASendThatWasMovedBeforeItsChunk) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "s.json";
  ASSERT_EQ(tenex({"synthesize", "--topology", "LI(3)", "--alpha", "0ns", "--bandwidth", "1GB/s", "--collective",
                   "broadcast", "--size", "1000B", "--out", file.string()})
                .exit_code,
            0);
  // A line of 3: NPU 0 sends at 0, NPU 1 forwards at 1 us = 1000000 ps. If that is moved to 1 ps, NPU 1 sends a chunk
  // that it does not hold yet.
  auto text = support::read_text(file);
  const std::string forwards = "[1000000, 2000000, 1, 2, ";
  const auto at = text.find(forwards);
  ASSERT_NE(at, std::string::npos) << text;
  text = text.replace(at, forwards.size(), "[1, 1000001, 1, 2, ");
  support::write_text(file, text);
  const auto verified = tenex({"verify", file.string()});
  EXPECT_EQ(verified.exit_code, 1) << verified.out;
  EXPECT_THAT(verified.out, HasSubstr("source_lacks_chunk"));
}

TEST(Bound, PrintsEveryBoundThatApplies) {
  const auto finished = on_mesh("bound", {"--collective", "all_gather", "--size", "9000B"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("bound_name      ejection"));
  EXPECT_THAT(finished.out, HasSubstr("name=eccentricity time_ps=4000000"));  // corner to corner: 4 hops of 1 us
}

TEST(Bound, PrintsCertificates) {
  // mesh(3,3) with chunks of 1000 B: 8 chunks over the 2 in-links of corner 0, which all others send.
  const auto gather = on_mesh("bound", {"--collective", "all_gather", "--size", "9000B"});
  EXPECT_THAT(gather.out, HasSubstr("name=cut time_ps=4000000 (4us) densest=true inside=1-8"));
  const auto json = on_mesh("bound", {"--collective", "all_gather", "--size", "9000B", "--json"});
  EXPECT_THAT(json.out, HasSubstr(R"("certificate":{"densest":true,"inside":"1-8"})"));
  // Each of 9 chunks crosses the 24 links between single NPUs 2 * 8 times: 6 steps.
  const auto all_reduce = on_mesh("bound", {"--collective", "all_reduce", "--size", "9000B"});
  EXPECT_THAT(all_reduce.out, HasSubstr("name=strength time_ps=6000000 (6us) densest=true link_weights=1x24"));
}

TEST(Bound, HoldsOnAShapeWithSlowLinks) {
  // All links of NPU 0 take 100 times as long. Bounds that take the other NPUs' links for as slow would exceed the time
  // of a schedule.
  const auto number = [](const std::string& json, const std::string& key) {
    const auto at = json.find('"' + key + "\":");
    return at == std::string::npos ? -1L : std::stol(json.substr(at + key.size() + 3));
  };
  for (const auto* collective : {"all_gather", "all_reduce"}) {
    const std::vector<std::string> words{"--topology",     "torus(4,4)",   "--alpha",  "0us",    "--bandwidth",
                                         "50GB/s, 25GB/s", "--collective", collective, "--size", "16MB",
                                         "--stragglers",   "npu 0 x100",   "--json"};
    auto bound = words;
    bound.insert(bound.begin(), "bound");
    auto tacos = words;
    tacos.insert(tacos.begin(), "synthesize");
    const auto bounded = tenex(bound);
    const auto made = tenex(tacos);
    ASSERT_EQ(bounded.exit_code + made.exit_code, 0) << bounded.err << made.err;
    EXPECT_LE(number(bounded.out, "bound_ps"), number(made.out, "collective_time_ps"));
    EXPECT_GE(number(bounded.out, "bound_ps"), number(made.out, "bound_ps"));
  }
}

TEST(Bound, FindsTheBestWeightsWhereItIsBuiltWithASolver) {
  // mesh(8,8): 32 * 32 chunks each way over the eight links in the middle: 128 steps. Multiplicative weights come near.
  const std::vector<std::string> words{"bound", "--topology",   "mesh(8,8)",  "--alpha", "0us",    "--bandwidth",
                                       "1GB/s", "--collective", "all_to_all", "--size",  "64000B", "--json"};
  auto exact = words;
  exact.emplace_back("--exact");
  const auto found = tenex(exact);
  if (found.exit_code != 0) {
    EXPECT_THAT(found.err, HasSubstr("it was built without COIN-OR Clp"));
    GTEST_SKIP() << "no solver";
  }
  EXPECT_THAT(found.out, HasSubstr("{\"name\":\"flow\",\"time_ps\":128000000,"));
  EXPECT_THAT(tenex(words).out, Not(HasSubstr("{\"name\":\"flow\",\"time_ps\":128000000,")));
}

TEST(Bound, OfASwitchHoldsForTheSwitch) {
  // 8 NPUs, 64 KiB, 50 GB/s: a chunk of 8 KiB takes ceil(8192e12 / 50e9) = 163,840 ps. An NPU receives 7 chunks over
  // one in-link, and the first comes over two hops: any schedule takes at least alpha + 7 * 163,840 = 1,646,880 ps.
  // Direct takes no less than the bound.
  const std::vector<std::string> words{"--topology",   "SW(8)",      "--alpha", "0.5us", "--bandwidth", "50GB/s",
                                       "--collective", "all_gather", "--size",  "64KiB", "--json"};
  const auto number = [](const std::string& json, const std::string& key) {
    const auto at = json.find('"' + key + "\":");
    return at == std::string::npos ? -1L : std::stol(json.substr(at + key.size() + 3));
  };
  auto bound = words;
  bound.insert(bound.begin(), "bound");
  auto direct = words;
  direct.insert(direct.begin(), "simulate");
  direct.insert(direct.end(), {"--algorithm", "direct"});
  const auto bounded = tenex(bound);
  const auto simulated = tenex(direct);
  ASSERT_EQ(bounded.exit_code + simulated.exit_code, 0) << bounded.err << simulated.err;
  EXPECT_EQ(number(bounded.out, "unwound_degree"), 0);
  EXPECT_GE(number(bounded.out, "bound_ps"), 1'646'880);
  EXPECT_LE(number(bounded.out, "bound_ps"), number(simulated.out, "collective_time_ps"));
  EXPECT_EQ(number(bounded.out, "bound_ps"), number(simulated.out, "bound_ps"));
}

TEST(List, NamesEveryRegistry) {
  const auto finished = tenex({"list"});
  for (const auto* name : {"mesh(a,b,..)", "all_reduce", "ring_unidirectional", "direct", "tacos", "tacos_reference",
                           "ejection", "collective_time_ps"})
    EXPECT_THAT(finished.out, HasSubstr(name));
}

TEST(Help, HasAnExampleForEveryCommand) {
  for (const auto* command : {"run", "plan", "merge", "status", "replay", "synthesize", "simulate", "optimize",
                              "verify", "export", "import", "bound", "list", "schema"}) {
    const auto finished = tenex({command, "--help"});
    EXPECT_EQ(finished.exit_code, 0) << command;
    EXPECT_THAT(finished.out, HasSubstr("Example")) << command;
    EXPECT_THAT(finished.out, HasSubstr(std::string("tenex ") + command)) << command;
  }
}

constexpr auto machine_study = R"TOML(schema = 1
name = "machine"
[[sweep]]
topology = "box.toml"
axes.collective = ["all_gather", "all_reduce"]
axes.algorithm = ["tacos", "ring"]
size = "8MB"
[outputs]
store = ["link_bytes", "group_times"]
schedule = "algorithm = tacos"
)TOML";

TEST(AStudyOfAMachineFile, RunsStoresSchedulesAndMergesAfterTheFolderMoved) {
  const TemporaryFolder folder;
  fs::copy_file(fs::path(TENEX_SOURCE_DIR) / "experiments" / "machines" / "dgx1.toml", folder.path() / "box.toml");
  support::write_text(folder.path() / "study.toml", machine_study);
  const auto ran = tenex({"run", (folder.path() / "study.toml").string(), "--out", (folder.path() / "out").string()});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("4 points: 4 evaluated now"));

  std::size_t schedules = 0;
  for (const auto& entry : fs::directory_iterator(folder.path() / "out" / "schedules")) {
    ++schedules;
    EXPECT_EQ(tenex({"verify", entry.path().string()}).exit_code, 0) << entry.path();
  }
  EXPECT_EQ(schedules, 2U);

  const auto before = support::read_text(folder.path() / "out" / "study.h5");
  fs::remove(folder.path() / "box.toml");
  fs::rename(folder.path() / "out", folder.path() / "moved");
  const auto merged = tenex({"merge", (folder.path() / "moved").string()});
  ASSERT_EQ(merged.exit_code, 0) << merged.err;
  EXPECT_THAT(merged.out, HasSubstr("4 rows, 0 missing, 0 not ok"));
  EXPECT_EQ(support::read_text(folder.path() / "moved" / "study.h5"), before) << "merging twice changed the file";
}

TEST(Simulate, ChoosesTheBestAlgorithmAndPrintsWhatIsObserved) {
  const auto finished =
      on_mesh("simulate", {"--collective", "all_reduce", "--size", "9000B", "--algorithm", "auto", "--stragglers",
                           "npu 8 x2", "--observe", "link_bytes,utilization,arrivals", "--bins", "3", "--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  for (const auto* words : {"\"chosen_algorithm\":\"", "\"candidates\":", "\"simulation_engine\":\"window\"",
                            "\"destination_order\":", "\"link_loads\":[{\"source\":0",
                            "\"utilization\":[{\"start_ps\":0", "\"arrivals\":[{\"time_ps\":", "\"verified\":true"})
    EXPECT_THAT(finished.out, HasSubstr(words));
}

TEST(Simulate, TimesAloneWhenAsked) {
  const auto finished = on_mesh(
      "simulate", {"--collective", "all_gather", "--size", "9000B", "--algorithm", "direct", "--time-only", "--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("\"verified\":\"skipped\""));
  EXPECT_THAT(finished.out, HasSubstr("only the time was asked for"));
}

TEST(List, SaysWhatEachAlgorithmIsForAndNeeds) {
  const auto finished = tenex({"list", "algorithms"});
  ASSERT_EQ(finished.exit_code, 0);
  EXPECT_THAT(finished.out, HasSubstr("for all_gather, all_to_all"));     // bruck
  EXPECT_THAT(finished.out, HasSubstr("needs groups of powers of two"));  // rhd
  EXPECT_THAT(finished.out, HasSubstr("tried by auto up to 256 NPUs"));   // multitree, blink, rings
}

TEST(Run, StoresSchedulesOfSeveralChunks) {
  // Bruck's messages carry several chunks.
  const TemporaryFolder folder;
  support::write_text(
      folder.path() / "s.toml",
      "schema = 1\nname = \"s\"\n[[sweep]]\ntopology = \"RI(4)\"\nalpha = \"1us\"\nbandwidth = \"1GB/s\"\n"
      "collective = \"all_gather\"\naxes.algorithm = [\"ring\", \"bruck\", \"auto\"]\nsize = \"4KB\"\n"
      "[outputs]\nschedule = \"size = 4KB\"\nstore = [\"utilization\", \"arrivals\"]\nwhere = \"algorithm = ring\"\n");
  const auto out = folder.path() / "out";
  const auto ran = tenex({"run", (folder.path() / "s.toml").string(), "--out", out.string()});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("3 points: 3 evaluated now"));
  std::size_t schedules = 0;
  for (const auto& entry : fs::directory_iterator(out / "schedules")) {
    ++schedules;
    const auto verified = tenex({"verify", entry.path().string()});
    EXPECT_EQ(verified.exit_code, 0) << verified.out << verified.err;
  }
  EXPECT_EQ(schedules, 3U);
}

TEST(Run, RefusesAFolderOfAnotherStudyUnlessExtended) {
  const TemporaryFolder folder;
  const auto study = [](const char* sizes) {
    return std::string(
               "schema = 1\nname = \"s\"\n[[sweep]]\ntopology = \"RI(4)\"\nalpha = \"1us\"\nbandwidth = \"1GB/s\"\n") +
           "collective = \"all_gather\"\nalgorithm = \"ring\"\naxes.size = " + sizes + "\n";
  };
  support::write_text(folder.path() / "a.toml", study("[\"1KiB\"]"));
  support::write_text(folder.path() / "b.toml", study("[\"1KiB\", \"1MiB\"]"));
  const auto out = (folder.path() / "out").string();
  ASSERT_EQ(tenex({"run", (folder.path() / "a.toml").string(), "--out", out}).exit_code, 0);
  const auto refused = tenex({"run", (folder.path() / "b.toml").string(), "--out", out});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--extend"));
  const auto extended = tenex({"run", (folder.path() / "b.toml").string(), "--out", out, "--extend"});
  EXPECT_EQ(extended.exit_code, 0) << extended.err;
  EXPECT_THAT(extended.out, HasSubstr("2 points: 1 evaluated now"));
}

}  // namespace
}  // namespace tenex
