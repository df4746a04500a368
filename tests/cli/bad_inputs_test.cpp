// Users' mistakes, through the binary: each is refused with a message that names the place and with its own exit code,
// and leaves no files. (Every rule of the study text alone has its own case in tests/design; these go through the whole
// program.)
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "support/process.hpp"

namespace tenex {
namespace {

namespace fs = std::filesystem;
using support::Command;
using support::run;
using support::TemporaryFolder;
using ::testing::HasSubstr;

const std::string tenex = TENEX_BINARY;

struct BadStudy {
  std::string name;
  std::string text;                ///< lines after `schema = 1`, so the first is line 2
  std::vector<std::string> words;  ///< all must be in the message
};

const std::string good_head =
    "name = \"bad\"\nseed = 1\n[[sweep]]\nalpha = \"1us\"\nbandwidth = \"1GB/s\"\n";  // lines 2-6
const std::string rest = "collective = \"all_gather\"\nsize = \"1MiB\"\nalgorithm = \"ring\"\n";

// A study whose line 7 is `line_7`. The mistake is there unless its place says otherwise.
std::string with(const std::string& line_7, const std::string& others = "topology = \"RI(4)\"\n" + rest) {
  return good_head + line_7 + "\n" + others;
}

// A sweep that trains; lines 2-6 are its first keys.
std::string training(const std::string& line_7, const std::string& others = "hp = \"16,2\"\n") {
  return "name = \"bad\"\nseed = 1\n[[sweep]]\ntopology = \"RI(4)_SW(8)\"\ntotal_bandwidth = \"100GB/s\"\n" + line_7 +
         "\n" + others;
}
const std::string gpt3 = "workload = \"gpt3\"\n";
const std::string hp = "hp = \"16,2\"\n";
const std::string perf_opt = "scheme = \"perf_opt\"\n";

std::vector<BadStudy> bad_studies() {
  const std::string t = "topology = \"RI(4)\"\n";
  return {
      {"wrong_unit", with("size = \"1us\"", t + "collective = \"all_gather\"\nalgorithm = \"ring\"\n"), {":7:", "1us"}},
      {"missing_unit",
       with("size = \"1024\"", t + "collective = \"all_gather\"\nalgorithm = \"ring\"\n"),
       {":7:", "1024", "unit"}},
      {"bare_number", with("size = 1024", t + "collective = \"all_gather\"\nalgorithm = \"ring\"\n"), {":7:", "size"}},
      {"negative_size",
       with("size = \"-1MiB\"", t + "collective = \"all_gather\"\nalgorithm = \"ring\"\n"),
       {":7:", "-1MiB"}},
      {"unknown_key", with("chunk = 2"), {":7:", "chunk", "did you mean", "chunks"}},
      {"unknown_table", with("") + "[output]\nstore = []\n", {":12:", "output", "outputs"}},
      {"objective_that_no_point_has",
       with("chunks = 1") + "[search]\nobjective = \"network_cost_usd\"\n",
       {":13:14:", "network_cost_usd", "only points that train a model have it", "tenex list objectives"}},
      {"key_that_a_formula_does_not_read",
       training("alpha = \"1us\"", gpt3 + hp + perf_opt),
       {":7:1:", "alpha", "read by no point", "libra"}},
      {"zero_npus", with("topology = \"FC(0)\"", rest), {":7:", "FC(0)"}},
      {"unknown_block", with("topology = \"RJ(4)\"", rest), {":7:", "RJ", "RI"}},
      {"open_parenthesis", with("topology = \"RI(4\"", rest), {":7:", "RI(4"}},
      {"one_npu", with("topology = \"RI(1)\"", rest), {":7:"}},
      {"size_below_npus",
       with("size = \"3B\"", t + "collective = \"all_gather\"\nalgorithm = \"ring\"\n"),
       {":7:", "4"}},
      {"zero_chunks", with("chunks = 0"), {":7:", "chunks"}},
      {"text_chunks", with("chunks = \"two\""), {":7:", "chunks"}},
      {"unknown_collective",
       with("collective = \"all_gathr\"", t + "size = \"1MiB\"\nalgorithm = \"ring\"\n"),
       {":7:", "all_gather"}},
      {"collective_that_the_algorithm_lacks",
       with("collective = \"scatter\"", t + "size = \"1MiB\"\nalgorithm = \"ring\"\n"),
       {":10:", "ring", "scatter"}},
      {"unknown_algorithm",
       with("algorithm = \"ringz\"", t + "collective = \"all_gather\"\nsize = \"1MiB\"\n"),
       {":7:", "ringz", "ring"}},
      {"unknown_occupancy", with("occupancy = \"both\""), {":7:", "both", "transfer"}},
      {"negative_bandwidth",
       "name = \"bad\"\n[[sweep]]\nalpha = \"1us\"\nbandwidth = \"-5GB/s\"\n" + t + rest,
       {":5:", "-5GB/s"}},
      {"zero_bandwidth",
       "name = \"bad\"\n[[sweep]]\nalpha = \"1us\"\nbandwidth = \"0GB/s\"\n" + t + rest,
       {":5:", "0GB/s"}},
      {"bits_not_bytes",
       with("size = \"50Gb\"", t + "collective = \"all_gather\"\nalgorithm = \"ring\"\n"),
       {":7:", "50Gb", "counts bits"}},
      {"both_bandwidths", with("npu_bandwidth = \"1GB/s\""), {"npu_bandwidth", "bandwidth"}},
      {"no_alpha", "name = \"bad\"\n[[sweep]]\nbandwidth = \"5GB/s\"\n" + t + rest, {"alpha"}},
      {"too_many_alphas",
       "name = \"bad\"\n[[sweep]]\nalpha = \"1us, 2us\"\nbandwidth = \"5GB/s\"\n" + t + rest,
       {":4:", "2 dimensions"}},
      {"group_outside", with("groups = \"0-7\""), {":7:", "7"}},
      {"npu_in_two_groups", with("groups = \"0-2; 2-3\""), {":7:", "ring", "share NPUs"}},
      {"npu_twice_in_a_group", with("groups = \"0-2,2\""), {":7:", "NPU 2"}},
      {"missing_link_removed", with("without = [[0, 2]]"), {"0", "2"}},
      {"disconnected", with("without = [[0, 1], [0, 3]]"), {"disconnected"}},
      {"range_misses_its_end", with("axes.chunks = { from = 1, to = 6, step = 2 }"), {":7:", "6"}},
      {"range_without_step", with("axes.chunks = { from = 1, to = 6 }"), {":7:"}},
      {"empty_axis", with("axes.chunks = []"), {":7:", "chunks"}},
      {"axis_given_twice", with("axes.size = [\"1MiB\"]"), {"size"}},
      {"zip_of_unequal_lengths", with("zip.chunks = [1, 2]\nzip.attempts = [1]"), {"zip"}},
      {"keep_syntax", with("keep = \"chunks = \""), {":7:"}},
      {"keep_unknown_name", with("keep = \"chnks = 1\""), {":7:", "chnks", "chunks"}},
      {"keep_wrong_kind", with("keep = \"size >= 1us\""), {":7:", "size"}},
      {"workload_beside_a_collective", with("workload = \"gpt3\"\nhp = \"2,2\""), {"collective", "workload"}},
      {"unknown_workload", training("workload = \"gtp3\"", hp + perf_opt), {":7:", "gtp3", "did you mean", "gpt3"}},
      {"workload_without_hp",
       "name = \"bad\"\n[[sweep]]\nworkload = \"gpt3\"\ntopology = \"RI(4)_SW(8)\"\nnpu_bandwidth = \"1GB/s\"\n",
       {":3:", "hp"}},
      {"hp_of_another_npu_count", training("hp = \"16,3\"", gpt3 + perf_opt), {":7:", "16,3", "32", "HP-(16,2)"}},
      {"hp_of_one_degree", training("hp = \"16\"", gpt3 + perf_opt), {":7:", "16"}},
      {"global_batch_of_a_table", training("global_batch = 512", gpt3 + hp + perf_opt), {":7:", "gpt3", "layers"}},
      {"global_batch_that_does_not_divide",
       training("hp = \"4,8\"", "workload = \"gpt3_generated\"\ncompute = \"1TFLOPS\"\nglobal_batch = 30\n" + perf_opt),
       {":7:", "30 sequences", "8 replicas", "multiple of 8"}},
      {"two_batches",
       training("global_batch = 512", "batch_rule = \"machine\"\n" + gpt3 + hp + perf_opt),
       {":7:", "global_batch", "batch_rule"}},
      {"unknown_scheme", training("scheme = \"perf_otp\"", gpt3 + hp), {":7:", "perf_otp", "perf_opt"}},
      {"constraint_column", training("constraints = \"B1 >= 1GX/s\"", gpt3 + hp + perf_opt), {":7:22:", "1GX/s"}},
      {"constraints_that_contradict",
       training("constraints = [\"B2 <= 90GB/s\", \"B1 >= 70GB/s\", \"B2 >= 40GB/s\"]", gpt3 + hp + perf_opt),
       {":7:", "B1 >= 70GB/s", "B2 >= 40GB/s", "100GB/s"}},
      {"split_beside_a_scheme", training("split = \"2:1\"", gpt3 + hp + perf_opt), {":7:", "split", "given"}},
      {"no_bandwidth_to_give", "name = \"bad\"\n[[sweep]]\ntopology = \"RI(4)_SW(8)\"\n" + gpt3 + hp, {"bandwidth"}},
      {"wrong_compute", training("compute = \"234GB/s\"", gpt3 + hp + perf_opt), {":7:", "234GB/s"}},
      {"training_key_without_workload", with("hp = \"2,2\""), {":7:", "hp", "workload"}},
      {"several_faults_for_one", with("faults = \"links 1% draw 1..3\""), {":7:25:", "several values", "axes.faults"}},
      {"window_of_an_algorithm_that_knows_none",
       with("stragglers = \"link 0-1 x2 from 1us to 2us\""),
       {":7:", "bandwidth that varies for all_gather of \"ring\"", "choose te_ccl"}},
      {"window_that_ends_before_it_begins",
       with("stragglers = \"link 0-1 x2 from 2us to 1us\""),
       {":7:", "the window of \"link 0-1 x2 from 2us to 1us\" is empty"}},
      {"fault_of_no_npu", with("faults = \"links 1%; npu 99\""), {":7:21:", "NPU 99 does not exist"}},
      {"key_not_known_yet", with("cost = \"low\""), {":7:", "cost", "not supported"}},
      {"missing_machine_file",
       with("topology = \"nowhere.toml\"", "collective = \"all_gather\"\nsize = \"1MiB\"\nalgorithm = \"ring\"\n"),
       {"nowhere.toml"}},
      {"bad_seed",
       "name = \"bad\"\nseed = \"one\"\n[[sweep]]\nalpha = \"1us\"\nbandwidth = \"1GB/s\"\n" + t + rest,
       {":3:", "seed"}},
      {"toml_syntax", "name = \"bad\nseed = 1\n", {":2:"}},
      {"duplicate_key", "name = \"bad\"\nname = \"worse\"\n", {":3:", "name"}},
      {"nothing_to_do", "name = \"bad\"\n", {"sweep"}},
  };
}

void PrintTo(const BadStudy& study, std::ostream* out) { *out << study.name; }

class BadStudyIsRefused : public ::testing::TestWithParam<BadStudy> {};

TEST_P(BadStudyIsRefused, WithItsPlaceAndNothingLeftBehind) {
  const TemporaryFolder folder;
  const auto study = folder.path() / "study.toml";
  const auto out = folder.path() / "out";
  support::write_text(study, "schema = 1\n" + GetParam().text);
  const auto finished = run({{tenex, "run", study.string(), "--out", out.string()}, {}, {}});
  EXPECT_EQ(finished.exit_code, 2) << finished.err;
  EXPECT_EQ(finished.out, "");
  for (const auto& word : GetParam().words) EXPECT_THAT(finished.err, HasSubstr(word));
  EXPECT_FALSE(fs::exists(out)) << "a refused study left a folder";
}

INSTANTIATE_TEST_SUITE_P(Catalogue, BadStudyIsRefused, ::testing::ValuesIn(bad_studies()),
                         [](const auto& info) { return info.param.name; });

TEST(BadStudies, AreRefusedWithAllTheirMistakesAtOnce) {
  const TemporaryFolder folder;
  const auto study = folder.path() / "study.toml";
  support::write_text(study, "schema = 1\n" + with("chunk = 2\nocupancy = \"transfer\"\nattempts = 0"));
  const auto finished = run({{tenex, "run", study.string(), "--out", (folder.path() / "out").string()}, {}, {}});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, HasSubstr(":7:"));
  EXPECT_THAT(finished.err, HasSubstr(":8:"));
  EXPECT_THAT(finished.err, HasSubstr(":9:"));
}

const std::string good_study = "schema = 1\n" + with("chunks = 1");

struct BadCall {
  std::string name;
  std::vector<std::string> arguments;  ///< "DIR" stands for a temporary folder with good.toml, text.h5 and foreign.h5
  int exit_code;
  std::vector<std::string> words;
};

std::vector<BadCall> bad_calls() {
  const std::vector<std::string> mesh{"--topology",  "mesh(3,3)", "--alpha",      "1us",
                                      "--bandwidth", "1GB/s",     "--collective", "all_gather"};
  const auto point = [&](std::vector<std::string> first, std::vector<std::string> last) {
    first.insert(first.end(), mesh.begin(), mesh.end());
    first.insert(first.end(), last.begin(), last.end());
    return first;
  };
  return {
      {"unknown_command", {"plam"}, 2, {"plam", "did you mean", "plan"}},
      {"unknown_option", {"plan", "DIR/good.toml", "--fast"}, 2, {"--fast"}},
      {"missing_study", {"run", "DIR/none.toml", "--out", "DIR/out"}, 2, {"none.toml"}},
      {"study_is_a_folder", {"run", "DIR", "--out", "DIR/out"}, 2, {"DIR"}},
      {"study_is_hdf5", {"run", "DIR/foreign.h5", "--out", "DIR/out"}, 2, {"foreign.h5"}},
      {"out_below_a_file", {"run", "DIR/good.toml", "--out", "DIR/good.toml/out"}, 2, {"good.toml", "no folder"}},
      {"out_is_a_file", {"run", "DIR/good.toml", "--out", "DIR/text.h5"}, 2, {"--out", "text.h5", "no folder"}},
      {"out_is_a_device", {"run", "DIR/good.toml", "--out", "/dev/null"}, 2, {"--out", "/dev/null"}},
      {"out_without_a_name", {"run", "DIR/good.toml", "--out", ""}, 2, {"--out"}},
      {"out_of_a_name_too_long", {"run", "DIR/good.toml", "--out", "DIR/" + std::string(300, 'x')}, 2, {"too long"}},
      {"out_and_study_are_wrong",
       {"run", "DIR/bad.json", "--out", "DIR/text.h5"},
       2,
       {"text.h5\" is no folder", "bad.json:1:"}},
      {"out_on_a_read_only_file_system", {"run", "DIR/good.toml", "--out", "/proc/tenex"}, 3, {"/proc/tenex"}},
      {"zero_threads", {"run", "DIR/good.toml", "--out", "DIR/out", "--threads", "0"}, 2, {"threads"}},
      {"bad_memory", {"run", "DIR/good.toml", "--out", "DIR/out", "--memory", "8"}, 2, {"--memory"}},
      {"merge_of_nothing", {"merge", "DIR/none"}, 2, {"none"}},
      {"merge_of_another_folder", {"merge", "DIR"}, 2, {"DIR"}},
      {"merge_in_no_folder", {"merge", "DIR/foreign.h5", "--out", "DIR/none/all.h5"}, 2, {"--out", "no folder"}},
      {"sbatch_is_a_folder", {"plan", "DIR/good.toml", "--sbatch", "DIR"}, 2, {"--sbatch", "is a folder"}},
      {"sbatch_in_no_folder", {"plan", "DIR/good.toml", "--sbatch", "DIR/none/job"}, 2, {"--sbatch", "no folder"}},
      {"sbatch_is_a_device", {"plan", "DIR/good.toml", "--sbatch", "/dev/null"}, 2, {"--sbatch", "/dev/null"}},
      {"completion_of_another_shell", {"completion", "tcsh"}, 2, {"tenex completion", "tcsh", "bash", "fish"}},
      {"manual_of_a_command", {"manual", "run"}, 2, {"tenex manual", "run"}},
      {"submit_of_no_study", {"plan", "--submit"}, 2, {"tenex plan", "study"}},
      {"one_shot_without_size", point({"synthesize"}, {}), 2, {"size"}},
      {"one_shot_missing_unit", point({"synthesize"}, {"--size", "100"}), 2, {"--size", "100"}},
      {"one_shot_below_npus", point({"synthesize"}, {"--size", "8B"}), 2, {"8", "9"}},
      {"synthesize_a_textbook_algorithm",
       point({"synthesize"}, {"--size", "1MiB", "--synthesizer", "ring"}),
       2,
       {"ring", "simulate"}},
      {"simulate_a_synthesizer",
       point({"simulate"}, {"--size", "1MiB", "--algorithm", "tacos"}),
       2,
       {"tacos", "synthesize"}},
      {"out_of_another_kind", point({"synthesize"}, {"--size", "1MiB", "--out", "DIR/s.txt"}), 2, {"s.txt"}},
      {"schedule_is_a_folder", point({"synthesize"}, {"--size", "1MiB", "--out", "DIR"}), 2, {"--out", "is a folder"}},
      {"schedule_without_a_name", point({"synthesize"}, {"--size", "1MiB", "--out", ""}), 2, {"--out", "empty name"}},
      {"timed_sends_without_a_name", point({"simulate"}, {"--size", "1MiB", "--out", ""}), 2, {"--out", "empty name"}},
      {"merge_without_a_name", {"merge", "DIR", "--out", ""}, 2, {"--out", "empty name"}},
      {"schedule_in_no_folder",
       point({"synthesize"}, {"--size", "1MiB", "--out", "DIR/none/s.h5"}),
       2,
       {"--out", "no folder"}},
      {"schedule_in_a_file",
       point({"simulate"}, {"--size", "1MiB", "--out", "DIR/good.toml/s.h5"}),
       2,
       {"--out", "no folder"}},
      {"does_not_fit", point({"synthesize"}, {"--size", "1MiB", "--memory", "100B"}), 2, {"100 bytes"}},
      {"bound_beyond_the_range_of_time",
       {"bound", "--topology", "RI(4)", "--alpha", "0ps", "--bandwidth", "1KB/s", "--collective", "all_gather",
        "--size", "1TiB"},
       2,
       {"1TiB", "1KB/s", "26 days"}},
      {"simulate_beyond_the_range_of_time",
       {"simulate", "--topology", "RI(4)", "--alpha", "0ps", "--bandwidth", "1KB/s", "--collective", "all_gather",
        "--size", "1TiB"},
       2,
       {"1TiB", "1KB/s", "26 days"}},
      {"bound_of_a_huge_topology",
       {"bound", "--topology", "FC(20000)", "--alpha", "1us", "--bandwidth", "1GB/s", "--collective", "all_gather",
        "--size", "1TiB"},
       2,
       {"23199480000 bytes"}},
      {"verify_missing", {"verify", "DIR/none.h5"}, 2, {"none.h5"}},
      {"verify_text", {"verify", "DIR/text.h5"}, 2, {"text.h5"}},
      {"verify_foreign_hdf5", {"verify", "DIR/foreign.h5"}, 2, {"foreign.h5"}},
      {"export_missing", {"export", "DIR/none.h5", "-o", "DIR/s.h5"}, 2, {"none.h5"}},
      {"export_nowhere", {"export", "DIR/text.h5"}, 2, {"out"}},
      {"export_into_no_folder", {"export", "DIR/text.h5", "-o", "DIR/none/s.h5"}, 2, {"--out", "no folder"}},
      {"export_to_text", {"export", "DIR/text.h5", "-o", "DIR/s.txt"}, 2, {"use .h5"}},
      {"export_of_unknown_format", {"export", "DIR/text.h5", "--format", "song", "-o", "DIR/s.h5"}, 2, {"format"}},
      {"import_missing", {"import", "machine", "DIR/none.xml"}, 2, {"none.xml"}},
      {"import_of_no_machine", {"import", "song", "DIR/bad.json"}, 2, {"song"}},
      {"import_of_json", {"import", "machine", "DIR/bad.json"}, 2, {"bad.json"}},
      {"import_of_a_built_in", {"import", "machine", "dgx1"}, 2, {"built in", "dgx1"}},
      {"verify_bad_json", {"verify", "DIR/bad.json"}, 2, {"bad.json"}},
      {"replay_beside_a_point",
       {"simulate", "--schedule", "DIR/text.h5", "--topology", "RI(4)"},
       2,
       {"--schedule", "has its own point"}},
      {"list_unknown", {"list", "planets"}, 2, {"planets"}},
  };
}

void PrintTo(const BadCall& call, std::ostream* out) { *out << call.name; }

class BadCallIsRefused : public ::testing::TestWithParam<BadCall> {};

TEST_P(BadCallIsRefused, WithAReasonAndItsExitCode) {
  const TemporaryFolder folder;
  const auto place = folder.path().string();
  support::write_text(folder.path() / "good.toml", good_study);
  support::write_text(folder.path() / "text.h5", "this is no HDF5 file");
  support::write_text(folder.path() / "bad.json", "{\"schema\": 1,");
  // An HDF5 file of another kind: a netCDF-4 file has objects that tenex does not know.
  fs::copy_file(fs::path(TENEX_SOURCE_DIR) / "tests" / "cli" / "foreign.h5", folder.path() / "foreign.h5");
  Command command{{tenex}, {}, {}};
  for (auto argument : GetParam().arguments) {
    if (argument.starts_with("DIR")) argument.replace(0, 3, place);
    command.arguments.push_back(std::move(argument));
  }
  const auto finished = run(command);
  EXPECT_EQ(finished.exit_code, GetParam().exit_code) << finished.err << finished.out;
  for (auto word : GetParam().words) {
    if (word.starts_with("DIR")) word.replace(0, 3, place);
    EXPECT_THAT(finished.err, HasSubstr(word));
  }
  EXPECT_EQ(finished.err.find("invariant"), std::string::npos) << finished.err;
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(folder.path())) files += entry.exists() ? 1 : 0;
  EXPECT_EQ(files, 4U) << "something was left behind";
}

INSTANTIATE_TEST_SUITE_P(Catalogue, BadCallIsRefused, ::testing::ValuesIn(bad_calls()),
                         [](const auto& info) { return info.param.name; });

TEST(APlaceThatIsTaken, IsRefusedByMergeAndKept) {
  const TemporaryFolder folder;
  const auto study = folder.path() / "study.toml";
  const auto results = (folder.path() / "results").string();
  support::write_text(study, good_study);
  support::write_text(folder.path() / "taken", "text");
  fs::create_directory(folder.path() / "taken.h5");
  ASSERT_EQ(run({{tenex, "run", study.string(), "--out", results}, {}, {}}).exit_code, 0);
  const auto into_file = run({{tenex, "merge", results, "--out", (folder.path() / "taken").string()}, {}, {}});
  EXPECT_EQ(into_file.exit_code, 2) << into_file.err;
  EXPECT_THAT(into_file.err, HasSubstr("taken\" is no folder"));
  EXPECT_EQ(support::read_text(folder.path() / "taken"), "text");
  const auto into_folder = run({{tenex, "merge", results, "--out", (folder.path() / "taken.h5").string()}, {}, {}});
  EXPECT_EQ(into_folder.exit_code, 2) << into_folder.err;
  EXPECT_THAT(into_folder.err, HasSubstr("taken.h5\" is a folder"));
  EXPECT_TRUE(fs::is_empty(folder.path() / "taken.h5"));
}

TEST(APlaceThatIsTaken, IsRefusedByOneShotCommandsBeforeTheyWork) {
  // The limit of 100 bytes refuses every point: that message would come first if the point were built.
  const TemporaryFolder folder;
  const auto taken = folder.path() / "taken.h5";
  fs::create_directory(taken);
  for (const std::string command : {"synthesize", "simulate"}) {
    const auto finished =
        run({{tenex, command, "--topology", "RI(4)", "--alpha", "1us", "--bandwidth", "1GB/s", "--collective",
              "all_gather", "--size", "1MiB", "--memory", "100B", "--out", taken.string()},
             {},
             {}});
    EXPECT_EQ(finished.exit_code, 2) << finished.err;
    EXPECT_THAT(finished.err, HasSubstr("--out: error: \"" + taken.string() + "\" is a folder"));
    EXPECT_THAT(finished.err, ::testing::Not(HasSubstr("100 bytes")));
  }
}

// Whether a schedule is too large for JSON is known from the sizes: n NPUs receive n-1 chunks each (in an All-Reduce
// they also send as many before).
TEST(AScheduleTooLargeForJson, IsRefusedBeforeItIsMade) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "s.json";
  const auto refused = [&](const std::string& command, const std::vector<std::string>& words) {
    Command call{
        {tenex, command, "--alpha", "1us", "--bandwidth", "1GB/s", "--size", "1GiB", "--out", file.string()}, {}, {}};
    // No synthesis or simulation fits in this limit, and starting one would fail with that error.
    call.arguments.insert(call.arguments.end(), {"--memory", "100B"});
    call.arguments.insert(call.arguments.end(), words.begin(), words.end());
    const auto finished = run(call);
    EXPECT_EQ(finished.exit_code, 2) << finished.err;
    EXPECT_EQ(finished.out, "");
    EXPECT_FALSE(fs::exists(file));
    return finished.err;
  };
  for (const auto& [command, words, sends] :
       std::vector<std::tuple<std::string, std::vector<std::string>, std::string>>{
           {"synthesize", {"--topology", "RI(1001)", "--collective", "all_gather"}, "1001000"},
           {"synthesize", {"--topology", "mesh(200,200)", "--collective", "all_reduce"}, "3199920000"},
           {"synthesize", {"--topology", "RI(8)", "--collective", "broadcast", "--chunks", "142858"}, "1000006"},
           {"synthesize",
            {"--topology", "RI(8)", "--collective", "all_gather", "--chunks", "50000", "--groups", "0-3;4-7"},
            "1200000"},
           {"simulate",
            {"--topology", "FC(101)", "--collective", "all_to_all", "--chunks", "100", "--algorithm", "direct"},
            "1010000"},
           {"simulate", {"--topology", "RI(1001)", "--collective", "reduce_scatter", "--algorithm", "ring"}, "1001000"},
       }) {
    const auto message = refused(command, words);
    EXPECT_THAT(message, HasSubstr("a schedule of at least " + sends + " sends is too large for JSON"));
    EXPECT_THAT(message, HasSubstr("use a name that ends in .h5"));
    EXPECT_THAT(message, ::testing::Not(HasSubstr("100 bytes")));
  }
  // A schedule small enough for JSON is evaluated.
  EXPECT_THAT(refused("synthesize", {"--topology", "RI(1000)", "--collective", "all_gather"}), HasSubstr("100 bytes"));
}

// Root may write everywhere, so these tests run as `nobody` when started by root.
class WithoutPermission : public ::testing::Test {
 protected:
  WithoutPermission() {
    fs::permissions(folder_.path(), fs::perms::all);
    // A copy that `nobody` can reach: the checkout may be in a home folder that is closed to others.
    fs::copy_file(tenex, folder_.path() / "tenex");
    support::write_text(study(), good_study);
    fs::create_directory(folder_.path() / "closed");
    fs::permissions(folder_.path() / "closed", fs::perms::owner_all | fs::perms::group_exec | fs::perms::others_exec);
  }
  [[nodiscard]] fs::path study() const { return folder_.path() / "study.toml"; }
  [[nodiscard]] support::Finished as_nobody(std::vector<std::string> words) const {
    words.insert(words.begin(), (folder_.path() / "tenex").string());
    Command command{words, {}, {}};
    command.unprivileged = true;
    return run(command);
  }
  TemporaryFolder folder_;
};

TEST_F(WithoutPermission, ToWriteARunSaysSoAndLeavesNothing) {
  const auto out = folder_.path() / "closed" / "out";
  const auto finished = as_nobody({"run", study().string(), "--out", out.string()});
  EXPECT_EQ(finished.exit_code, 3) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr(out.string()));
  EXPECT_THAT(finished.err, HasSubstr("Permission denied"));
  EXPECT_FALSE(fs::exists(out));
}

TEST_F(WithoutPermission, ToReadAStudyIsRefused) {
  fs::permissions(study(), fs::perms::owner_read);
  const auto finished = as_nobody({"plan", study().string()});
  EXPECT_EQ(finished.exit_code, 2) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("Permission denied"));
}

TEST_F(WithoutPermission, ToWriteAScheduleLeavesNothing) {
  const auto file = folder_.path() / "closed" / "s.h5";
  const auto finished = as_nobody({"synthesize", "--topology", "RI(4)", "--alpha", "1us", "--bandwidth", "1GB/s",
                                   "--collective", "all_gather", "--size", "1MiB", "--out", file.string()});
  EXPECT_EQ(finished.exit_code, 1) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("Permission denied"));
  EXPECT_TRUE(fs::is_empty(folder_.path() / "closed"));
}

TEST(StandardOutput, ThatIsFullIsNoSuccess) {
  const auto finished = run({{"sh", "-c", tenex + " list > /dev/full"}, {}, {}});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.err, HasSubstr("cannot write to standard output"));
}

TEST(AFullDisk, EndsARunResumablyAndLeavesNoHalfFile) {
  const TemporaryFolder folder;
  const auto study = folder.path() / "study.toml";
  const auto out = folder.path() / "out";
  support::write_text(study, good_study);
  // No file may grow beyond 2 KiB: the first shard does not fit.
  const std::vector<std::string> words{tenex, "run", study.string(), "--out", out.string()};
  const auto full = run({words, {}, 2048});
  EXPECT_EQ(full.exit_code, 3) << full.err;
  EXPECT_THAT(full.err, HasSubstr("out"));
  EXPECT_FALSE(fs::exists(out / "study.h5"));
  for (const auto& entry : fs::recursive_directory_iterator(out))
    EXPECT_NE(entry.path().extension(), ".h5") << "half-written: " << entry.path();
  // When there is room again, the same command completes the study.
  const auto mended = run({words, {}, {}});
  EXPECT_EQ(mended.exit_code, 0) << mended.err;
  EXPECT_TRUE(fs::exists(out / "study.h5"));
}

TEST(AFullDisk, KeepsAScheduleFileFromBeingHalfWritten) {
  const TemporaryFolder folder;
  for (const auto* name : {"s.h5", "s.json"}) {
    const auto finished =
        run({{tenex, "synthesize", "--topology", "mesh(8,8)", "--alpha", "1us", "--bandwidth", "1GB/s", "--collective",
              "all_gather", "--size", "1MiB", "--out", (folder.path() / name).string()},
             {},
             2048});
    EXPECT_EQ(finished.exit_code, 1) << finished.err;
    EXPECT_THAT(finished.err, HasSubstr(name));
    EXPECT_TRUE(fs::is_empty(folder.path()));
  }
}

}  // namespace
}  // namespace tenex
