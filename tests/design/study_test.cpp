// Good studies: their points and the order of these.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "design/design_support.hpp"

namespace tenex {

namespace {

using testing::ElementsAre;

constexpr const char* kFull = R"toml(schema = 1
name = "degraded-256"
seed = [1, 2]

[defaults]
alpha = "0.5us"
occupancy = "transfer"
attempts = 8

[[sweep]]
name = "collectives"
axes.collective = ["all_gather", "all_reduce"]
axes.size = { from = "1KiB", to = "1GiB", factor = 32 }
axes.chunks = { from = 1, to = 3, step = 1 }
axes.algorithm = ["tacos", "ring"]
axes.groups = ["all", "0-127; 128-255"]
axes.faults = ["none"]
zip.topology  = ["torus(16,16)", "RI(4)_FC(8)_SW(8)"]
zip.bandwidth = ["50GB/s", "200GB/s, 100GB/s, 25GB/s"]
keep = ["chunks = 1 or size >= 1MiB", "algorithm != ring or groups = all"]

[outputs]
store = ["group_times", "link_bytes"]
schedule = "algorithm = tacos and size = 1GiB"
)toml";

TEST(Study, EnumeratesTheFormatsExample) {
  const auto study = parse_study(kFull, "study.toml", test_words());
  ASSERT_EQ(messages_of(study), "");
  EXPECT_EQ(study->name, "degraded-256");
  EXPECT_EQ(study->text, kFull);
  // 2 seeds * 2 collectives * 5 sizes (1KiB, 32KiB, 1MiB, 32MiB, 1GiB) * 3 chunks * 2 algorithms * 2 groups * 2 of zip.
  EXPECT_EQ(study->rows_before_keep, 480U);
  // (size, chunks): 2 small sizes with 1 chunk + 3 sizes with 3 = 11. (algorithm, groups): tacos with 2, ring with 1
  // = 3. 2 * 2 * 11 * 3 * 2 = 264.
  EXPECT_EQ(study->points.size(), 264U);
  EXPECT_EQ(study->duplicates, 0U);
  EXPECT_THAT(study->outputs.store, ElementsAre("group_times", "link_bytes"));
  // tacos at 1GiB: 2 seeds * 2 collectives * 3 chunks * 2 groups * 2 of zip = 48.
  EXPECT_EQ(std::count(study->store_schedule.begin(), study->store_schedule.end(), true), 48);
  ASSERT_EQ(study->store_schedule.size(), study->points.size());
}

TEST(Study, TurnsTheLastAxisFastestAndSeedsSlowest) {
  const auto study = parse_study(kFull, "study.toml", test_words());
  ASSERT_EQ(messages_of(study), "");
  const auto& points = study->points;
  EXPECT_EQ(points[0].topology.text, "torus(16,16)");
  EXPECT_EQ(points[1].topology.text, "RI(4)_FC(8)_SW(8)");
  EXPECT_EQ(points[1].collective().groups.text(), "all");
  EXPECT_EQ(points[2].collective().groups.text(), "0-127; 128-255");
  EXPECT_EQ(points[3].algorithm, "tacos");
  EXPECT_EQ(points[4].algorithm, "ring");  // kept only with groups = all, so it has two rows
  EXPECT_EQ(points[5].collective().size, kibibytes(1));
  EXPECT_EQ(points[6].collective().size, kibibytes(32));                // chunks 2 and 3 of 1KiB are not kept
  EXPECT_EQ(points[65].collective().kind, CollectiveKind::all_gather);  // 11 * 3 * 2 = 66 of each
  EXPECT_EQ(points[66].collective().kind, CollectiveKind::all_reduce);
  EXPECT_EQ(points[131].seed, 1U);
  EXPECT_EQ(points[132].seed, 2U);
}

TEST(Study, ResolvesEveryFieldOfAPoint) {
  const auto study = parse_study(kFull, "study.toml", test_words());
  ASSERT_EQ(messages_of(study), "");
  const DesignPoint& point = study->points[1];
  EXPECT_EQ(to_string(point.topology.shape), "RI(4)_FC(8)_SW(8)");
  EXPECT_THAT(point.topology.links.alpha, ElementsAre(nanoseconds(500)));
  EXPECT_THAT(point.topology.links.bandwidth,
              ElementsAre(gigabytes_per_second(200), gigabytes_per_second(100), gigabytes_per_second(25)));
  EXPECT_FALSE(point.topology.links.per_npu);
  EXPECT_EQ(point.occupancy, Occupancy::transfer);
  EXPECT_EQ(point.attempts, 8U);
  EXPECT_EQ(point.family, AlgorithmFamily::synthesizer);
  EXPECT_EQ(study->points[4].attempts, 1U);  // ring reads no attempts
}

TEST(Study, PutsZipWhereItsFirstKeyStands) {
  const auto study =
      study_with("zip.size = [\"1KiB\", \"2KiB\"]\naxes.chunks = [1, 2]\nzip.alpha = [\"1us\", \"2us\"]\n");
  ASSERT_EQ(messages_of(study), "");
  std::vector<std::pair<std::int64_t, std::int64_t>> rows;
  for (const auto& point : study->points) rows.emplace_back(point.collective().size.count() >> 10, point.chunks);
  EXPECT_THAT(rows, ElementsAre(std::pair(1, 1), std::pair(1, 2), std::pair(2, 1), std::pair(2, 2)));
  EXPECT_EQ(study->points[2].topology.links.alpha.front(), microseconds(2));
}

TEST(Study, TakesInlineAndDottedTablesAlike) {
  const auto dotted = study_with("axes.chunks = [1, 2]\naxes.size = [\"1KiB\", \"2KiB\"]\n");
  const auto inlined = study_with("axes = { chunks = [1, 2], size = [\"1KiB\", \"2KiB\"] }\n");
  const auto headed = study_with("[sweep.axes]\nchunks = [1, 2]\nsize = [\"1KiB\", \"2KiB\"]\n");
  ASSERT_EQ(messages_of(dotted) + messages_of(inlined) + messages_of(headed), "");
  EXPECT_EQ(canonical_texts(*dotted), canonical_texts(*inlined));
  EXPECT_EQ(canonical_texts(*dotted), canonical_texts(*headed));
  EXPECT_EQ(dotted->points.size(), 4U);
}

TEST(Study, RangesIncludeBothEnds) {
  const auto study = study_with("axes.chunks = { from = 2, to = 8, step = 3 }\n");
  ASSERT_EQ(messages_of(study), "");
  std::vector<std::int64_t> chunks;
  for (const auto& point : study->points) chunks.push_back(point.chunks);
  EXPECT_THAT(chunks, ElementsAre(2, 5, 8));
  const auto alphas = study_with("axes.alpha = { from = \"0.5us\", to = \"1.5us\", step = \"500ns\" }\n");
  ASSERT_EQ(messages_of(alphas), "");
  EXPECT_EQ(alphas->points.size(), 3U);
  EXPECT_EQ(alphas->points[1].topology.links.alpha.front(), microseconds(1));
  const auto single = study_with("axes.chunks = { from = 4, to = 4, factor = 2 }\n");
  ASSERT_EQ(messages_of(single), "");
  EXPECT_EQ(single->points.size(), 1U);
}

TEST(Study, RangesMayEndAtTheLargestInteger) {
  // 2^62 doubled would leave the integers: the range ends there and is complete.
  const auto study = study_with("axes.seed = { from = 1, to = 4611686018427387904, factor = 2 }\n");
  ASSERT_EQ(messages_of(study), "");
  EXPECT_EQ(study->points.size(), 63U);
}

TEST(Study, RunsPointsOfEqualKeyOnce) {
  // mesh, grid and LI_LI are one shape; "all" and "0-3" of the 2x2 mesh are the same group: 3 * 2 = 6 rows, 1 point.
  const auto study =
      study_with("axes.topology = [\"mesh(2,2)\", \"grid(2,2)\", \"LI(2)_LI(2)\"]\naxes.groups = [\"all\", \"0-3\"]\n");
  ASSERT_EQ(messages_of(study), "");
  EXPECT_EQ(study->points.size(), 1U);
  EXPECT_EQ(study->duplicates, 5U);
  EXPECT_EQ(study->points[0].topology.text, "mesh(2,2)");  // the first one stays
}

TEST(Study, StoresAScheduleThatAnyOfEqualRowsAsksFor) {
  const auto study =
      study_with("axes.topology = [\"mesh(2,2)\", \"grid(2,2)\"]\n[outputs]\nschedule = \"topology = 'grid(2,2)'\"");
  ASSERT_EQ(messages_of(study), "");
  EXPECT_THAT(study->store_schedule, ElementsAre(true));
}

TEST(Study, SweepsOverrideDefaultsAndFollowEachOther) {
  const auto study = study_with("npu_bandwidth = \"7GB/s\"\n[[sweep]]\nsize = \"2MiB\"\nsynthesizer = \"tacos\"\n");
  ASSERT_EQ(messages_of(study), "");
  ASSERT_EQ(study->points.size(), 2U);
  // The sweep's `npu_bandwidth` replaces the default `bandwidth`.
  EXPECT_TRUE(study->points[0].topology.links.per_npu);
  EXPECT_EQ(study->points[0].topology.links.bandwidth.front(), gigabytes_per_second(7));
  EXPECT_FALSE(study->points[1].topology.links.per_npu);
  EXPECT_EQ(study->points[1].collective().size, mebibytes(2));
  EXPECT_EQ(study->points[1].algorithm, "tacos");
}

TEST(Study, SweepsMayHaveSeedsOfTheirOwn) {
  const auto study =
      parse_study("seed = [1, 2]\n" + base_study() + "axes.seed = [7, 8, 9]\n[[sweep]]\nsize = \"2MiB\"\n",
                  "study.toml", test_words());
  ASSERT_EQ(messages_of(study), "");
  std::vector<std::uint64_t> seeds;
  for (const auto& point : study->points) seeds.push_back(point.seed);
  EXPECT_THAT(seeds, ElementsAre(7, 8, 9, 1, 2));
}

TEST(Study, KeepSeesEveryKeyWithItsOwnKind) {
  const auto study = study_with(R"toml(axes.size = ["1KiB", "1MiB"]
axes.without = [[], [[3, 0]]]
axes.alpha = ["1us", "2us"]
keep = ["without = none or size > 1KiB", "npus = 4 and chunks = 1 and groups = all and seed = 1 and overlap = true",
        "alpha < 1.5us", "bandwidth = 50GB/s", "topology = 'RI(4)'", "synthesizer = ring", "root < npus",
        "occupancy = serialization and backend = congestion_aware and attempts = 1 and unwind = 0"]
)toml");
  ASSERT_EQ(messages_of(study), "");
  // alpha 1us: (1KiB, none), (1MiB, none), (1MiB, [[0,3]]).
  EXPECT_EQ(study->points.size(), 3U);
}

TEST(Study, KeyOrderInsideASweepChangesTheOrderOfRowsOnly) {
  std::vector<std::string> lines{"axes.size = [\"1KiB\", \"1MiB\"]\n", "axes.chunks = [1, 2, 3]\n",
                                 "axes.topology = [\"RI(4)\", \"RI(8)\"]\n", "axes.algorithm = [\"ring\", \"tacos\"]\n",
                                 "keep = \"chunks = 1 or size > 1KiB\"\n"};
  std::sort(lines.begin(), lines.end());
  std::vector<std::string> first;
  std::size_t orders = 0;
  do {
    std::string text;
    for (const auto& line : lines) text += line;
    const auto study = study_with(text);
    ASSERT_EQ(messages_of(study), "");
    // (size, chunks): 1 + 3 = 4, times 2 topologies, times 2 algorithms.
    ASSERT_EQ(study->points.size(), 16U);
    if (first.empty()) first = sorted_texts(*study);
    ASSERT_EQ(sorted_texts(*study), first) << text;
    ++orders;
  } while (std::next_permutation(lines.begin(), lines.end()));
  EXPECT_EQ(orders, 120U);
}

TEST(Study, DigestTellsPointsAndOutputsApartButNotNames) {
  const auto digest = [](std::string text) {
    const auto study = parse_study(text, "study.toml", test_words());
    EXPECT_EQ(messages_of(study), "");
    return study->digest;
  };
  const std::string base = base_study() + "axes.chunks = [1, 2]\n";
  std::string renamed = base;
  renamed.replace(renamed.find("\"s\""), 3, "\"other\"");
  EXPECT_EQ(digest(base), digest(renamed));
  EXPECT_NE(digest(base), digest(base_study() + "axes.chunks = [2, 1]\n"));
  EXPECT_NE(digest(base), digest(base + "[outputs]\nstore = \"link_bytes\"\n"));
  EXPECT_NE(digest(base), digest(base + "[outputs]\nschedule = \"chunks = 1\"\n"));
}

TEST(Study, SurvivesAnyTextThatIsAlmostAStudy) {
  // One byte is replaced, removed or doubled, at places drawn from a fixed seed: the outcome is always a study or
  // messages with text.
  const std::string full = kFull;
  std::mt19937 random(20240601);
  const std::string letters = "0123456789[]{}=\",.;-abkz\n ";
  std::size_t refused = 0;
  for (int trial = 0; trial < 300; ++trial) {
    std::string text = full;
    const std::size_t at = random() % text.size();
    const std::size_t what = random() % 3;
    if (what == 0) text[at] = letters[random() % letters.size()];
    if (what == 1) text.erase(at, 1);
    if (what == 2) text.insert(at, 1, text[at]);
    const auto study = parse_study(text, "study.toml", test_words());
    if (study.ok()) continue;
    ++refused;
    for (const Diagnostic& error : study.errors()) EXPECT_FALSE(error.problem.empty()) << text;
  }
  EXPECT_GT(refused, 100U);
}

std::string file_text(const std::string& path) {
  std::ifstream stream(std::string(TENEX_SOURCE_DIR) + "/experiments/" + path);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

/// The first TOML block after a heading of a page of experiments/guide.
std::string example_after(const std::string& name, const std::string& heading) {
  const std::string page = "\n" + file_text("guide/" + name);
  const std::string begin = "```toml\n";
  const auto from = page.find(begin, page.find("\n" + heading)) + begin.size();
  return page.substr(from, page.find("```", from) - from);
}

TEST(Study, IsTheOneThatTheTutorialPrints) {
  const std::string study = file_text("fabric/study.toml");
  EXPECT_EQ(example_after("tutorial.md", "# Tutorial"), study.substr(study.find("schema = 1")))
      << "below its first comment";
}

TEST(Study, ReadsTheExampleOfItsReference) {
  const auto study = parse_study(example_after("studies.md", "## An example"), "studies.md", test_words());
  ASSERT_EQ(messages_of(study), "");
  // 2 seeds * 3 topologies * 2 collectives * 5 sizes * (tacos with 3 chunks + two others with 1) = 60 * 5.
  EXPECT_EQ(study->points.size(), 300U);
}

TEST(Study, RefusesTheEngineOfAnotherSynthesizer) {
  Vocabulary words = test_words();
  SettingReads reads = kReadsAll;
  reads.window = {};
  reads.order = false;
  const AlgorithmTraits paths{
      .name = "paths", .family = AlgorithmFamily::synthesizer, .reads = reads, .engines = {"layers"}};
  words.algorithms.push_back(&paths);
  const auto messages = [&](const std::string& lines) {
    return messages_of(parse_study(base_study() + lines, "study.toml", words));
  };
  EXPECT_EQ(messages("algorithm = \"paths\"\nengine = \"layers\"\n"), "");
  EXPECT_EQ(messages("algorithm = \"paths\"\nengine = \"exact\"\n"),
            "study.toml:12:10: \"paths\" has no engine \"exact\" (its engines are layers) choose one of them, or auto");
  EXPECT_EQ(messages("axes.algorithm = [\"ring\", \"tacos\", \"paths\"]\nengine = \"exact\"\n"),
            "study.toml:12:10: \"paths\" has no engine \"exact\" (its engines are layers) choose one of them, or auto, "
            "or leave such rows out with keep = \"engine = auto or algorithm != paths\"");
}

TEST(Study, EnumeratesAHundredThousandRowsQuickly) {
  const auto study = study_with(
      "axes.seed = { from = 1, to = 20000, step = 1 }\naxes.chunks = [1, 2, 3, 4, 5]\n"
      "keep = \"chunks < 5\"\n");
  ASSERT_EQ(messages_of(study), "");
  EXPECT_EQ(study->rows_before_keep, 100'000U);
  EXPECT_EQ(study->points.size(), 80'000U);
}

/// A machine of eight NPUs in a circle.
const std::string kBox = R"toml(schema = 1
kind = "machine"
name = "box"
source = "a test"
npus = 8
[[links]]
kind = "cable"
bandwidth = "1GB/s"
alpha = "1us"
pairs = [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7], [7, 0]]
)toml";

/// A folder with a machine file for a study, removed afterwards.
class StudyWithMachine : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("tenex_design_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_ / "machines");
    std::ofstream(folder_ / "machines" / "box.toml") << kBox;
    std::ofstream(folder_ / "machines" / "copy.toml") << kBox;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Result<Study> read(const std::string& sweep) const {
    std::ofstream(folder_ / "study.toml") << "schema = 1\nname = \"m\"\n[[sweep]]\ncollective = \"all_gather\"\n"
                                             "size = \"1MiB\"\nalgorithm = \"ring\"\n"
                                          << sweep;
    return read_study(folder_ / "study.toml", test_words());
  }

  std::filesystem::path folder_;
};

TEST_F(StudyWithMachine, ReadsItBesideTheStudyOnce) {
  const auto study = read("axes.topology = [\"machines/box.toml\", \"machines/copy.toml\"]\n");
  ASSERT_EQ(messages_of(study), "");
  // Two paths with the same content: one point.
  ASSERT_EQ(study->points.size(), 1U);
  EXPECT_EQ(study->duplicates, 1U);
  const TopologyChoice& choice = study->points[0].topology;
  EXPECT_EQ(choice.text, "machines/box.toml");
  EXPECT_EQ(choice.machine_file, (folder_ / "machines/box.toml").string());
  EXPECT_EQ(choice.machine_content.view(), kBox);
  EXPECT_THAT(study->points[0].canonical, testing::HasSubstr("topology=machine:" + to_string(digest128(kBox))));
  // Another reader of the text needs both files, though no point shows the second path.
  ASSERT_EQ(study->machines.size(), 2U);
  EXPECT_EQ(study->machines.at("machines/copy.toml").view(), kBox);
}

TEST_F(StudyWithMachine, ChecksRowsAgainstItsNpus) {
  EXPECT_THAT(messages_of(read("topology = \"machines/box.toml\"\ngroups = \"0-8\"\n")),
              testing::HasSubstr("study.toml:8:11: NPU 8 does not exist in groups \"0-8\""));
  EXPECT_THAT(messages_of(read("topology = \"machines/box.toml\"\nunwind = 1\n")),
              testing::HasSubstr("unwind = 1 without a switch"));
  EXPECT_EQ(messages_of(read("topology = \"machines/box.toml\"\nkeep = \"npus = 8\"\n")), "");
}

TEST_F(StudyWithMachine, RefusesAlphaAndBandwidth) {
  const std::string text =
      messages_of(read("topology = \"machines/box.toml\"\nalpha = \"1us\"\nbandwidth = \"1GB/s\"\n"));
  EXPECT_THAT(text,
              testing::HasSubstr("study.toml:8:9: \"alpha\" for the machine file \"machines/box.toml\" (a machine "
                                 "file states alpha and bandwidth of its links)"));
  EXPECT_THAT(text, testing::HasSubstr("study.toml:9:13: \"bandwidth\" for the machine file"));
}

/// A file that names a shape, as the TOML of its network and as the keys of a study.
const std::string kShapedBox =
    "schema = 1\nkind = \"machine\"\nname = \"b\"\nsource = \"by hand\"\nshape = \"multi_rail(4,2)\"\n"
    "alpha = \"1us, 2us\"\nbandwidth = \"40GB/s, 5GB/s\"\n";

TEST_F(StudyWithMachine, ThatNamesAShapeIsThatShape) {
  std::ofstream(folder_ / "machines" / "shaped.toml") << kShapedBox;
  const auto by_file = read("topology = \"machines/shaped.toml\"\nkeep = \"npus = 8\"\n");
  const auto by_hand = read("topology = \"SW(4)_SW(2)\"\nalpha = \"1us,2us\"\nbandwidth = \"40GB/s,5GB/s\"\n");
  ASSERT_EQ(messages_of(by_file), "");
  ASSERT_EQ(messages_of(by_hand), "");
  EXPECT_EQ(by_file->points[0].canonical, by_hand->points[0].canonical);
  EXPECT_EQ(by_file->points[0].topology.text, "machines/shaped.toml");
  EXPECT_EQ(by_file->machines.at("machines/shaped.toml").view(), kShapedBox);
}

TEST_F(StudyWithMachine, ThatNamesAShapeStatesItsLinks) {
  std::ofstream(folder_ / "machines" / "shaped.toml") << kShapedBox;
  EXPECT_THAT(messages_of(read("topology = \"machines/shaped.toml\"\nalpha = \"1us\"\n")),
              testing::HasSubstr("study.toml:8:9: \"alpha\" for the machine file \"machines/shaped.toml\""));
  EXPECT_THAT(messages_of(read("topology = \"machines/shaped.toml\"\ngroups = \"0-8\"\n")),
              testing::HasSubstr("NPU 8 does not exist"));
}

TEST_F(StudyWithMachine, TellsWhatIsWrongInTheFile) {
  std::ofstream(folder_ / "machines" / "bad.toml") << "nothing\n";
  EXPECT_THAT(messages_of(read("topology = \"machines/bad.toml\"\n")), testing::HasSubstr("machines/bad.toml:1:8: "));
}

TEST_F(StudyWithMachine, SaysHowItReadsBandwidthsInBits) {
  std::string text = kShapedBox;
  const auto at = text.find("bandwidth = \"") + 13;
  text.replace(at, text.find('"', at) - at, "400Gb/s, 40Gb/s");
  std::ofstream(folder_ / "machines" / "bits.toml") << text;
  const auto study = read("topology = \"machines/bits.toml\"\n");
  ASSERT_TRUE(study.ok()) << messages_of(study);
  EXPECT_THAT(study->warnings, ElementsAre("machines/bits.toml: 400Gb/s is read as 50GB/s (8 bits are a byte)",
                                           "machines/bits.toml: 40Gb/s is read as 5GB/s (8 bits are a byte)"));
}

TEST(Study, SaysHowItReadsBandwidthsInBits) {
  // 400e9 / 8 = 50e9 and 100e9 / 8 = 12.5e9; each spelling is told once.
  const auto study = study_with("axes.bandwidth = [\"400Gb/s\", \"50GB/s\", \"100Gbps\"]\nchunks = 2\n");
  ASSERT_TRUE(study.ok()) << messages_of(study);
  EXPECT_EQ(study->points.size(), 2U);  // 400Gb/s and 50GB/s are the same point
  EXPECT_THAT(study->warnings, testing::ElementsAre("bandwidth: 400Gb/s is read as 50GB/s (8 bits are a byte)",
                                                    "bandwidth: 100Gbps is read as 12.5GB/s (8 bits are a byte)"));
  EXPECT_THAT(study_with("bandwidth = \"50GB/s\"\n")->warnings, testing::IsEmpty());
}

}  // namespace

}  // namespace tenex
