// Folders and files of results of schema 1: their rows are of physics 2, so runs and merges refuse them, and readers
// show them as if they had today's schema. tests/cli/schema_1.tar.gz was made by tenex 0.1.0. Its `mixed` has one of
// two slices of a study whose points run collectives or train. Its `search` has all rows of a study that prunes by a
// metric under its former name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/process.hpp"
#include "support/results.hpp"
#include "tenex/files/column_file.hpp"

namespace tenex {
namespace {

using ::testing::HasSubstr;

namespace fs = std::filesystem;

support::Finished run_on_one_thread(std::vector<std::string> words) {
  words.insert(words.begin(), TENEX_BINARY);
  return support::run({words, {{"OMP_NUM_THREADS", "1"}}, {}});
}

class SchemaOne : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto unpacked =
        support::run({{"tar", "-xzf", TENEX_SOURCE_DIR "/tests/cli/schema_1.tar.gz", "-C", dir().string()}, {}, {}});
    ASSERT_EQ(unpacked.exit_code, 0) << unpacked.err;
    fs::copy_file(result("mixed"), dir() / "mixed.h5");
    fs::copy_file(result("search"), dir() / "search.h5");
  }

  [[nodiscard]] const fs::path& dir() const { return folder_.path(); }
  [[nodiscard]] std::string in(const std::string& name) const { return (dir() / name).string(); }
  [[nodiscard]] fs::path result(const std::string& name) const { return dir() / name / "study.h5"; }

  /// Runs the study of a folder in a new folder. Rows of `tacos` were those of unwound switches without being asked.
  void run_anew(const std::string& name, const std::string& into, const std::string& slice = "1/1") {
    auto text = support::read_text(in(name) + "/study.toml");
    const std::string axis = "axes.algorithm = [\"ring\", \"tacos\"]";
    if (const auto at = text.find(axis); name == "mixed" && at != std::string::npos)
      text.replace(at, axis.size(), "zip.algorithm = [\"ring\", \"tacos\"]\nzip.unwind = [0, 1]");
    const auto study = in("new_" + name + ".toml");
    support::write_text(study, text);
    const auto ran = run_on_one_thread({"run", study, "--out", in(into), "--slice", slice, "--quiet"});
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
  }

 private:
  support::TemporaryFolder folder_;
};

TEST_F(SchemaOne, IsRefusedBecauseOfItsPhysics) {
  const auto key = read_result(result("mixed"))->key.front();
  const std::vector<std::vector<std::string>> all{{"status", in("mixed")},
                                                  {"run", in("mixed") + "/study.toml", "--out", in("mixed")},
                                                  {"merge", in("mixed")},
                                                  {"replay", in("mixed"), key},
                                                  {"merge", in("mixed.h5"), in("search.h5"), "--out", in("both.h5")}};
  for (const auto& words : all) {
    const auto refused = run_on_one_thread(words);
    EXPECT_EQ(refused.exit_code, 2) << words[0];
    EXPECT_THAT(refused.err, HasSubstr("made with physics 2")) << words[0];
  }
}

/// Cells of today's columns are read from texts and former names. Bounds are of another physics, and so are keys.
TEST_F(SchemaOne, IsReadAsToday) {
  for (const std::string name : {"mixed", "search"}) {
    run_anew(name, "new_" + name, name == "mixed" ? "1/2" : "1/1");
    const auto former = read_result(result(name));
    const auto today = read_result(result("new_" + name));
    ASSERT_TRUE(former.ok()) << to_string(former.errors());
    ASSERT_TRUE(today.ok()) << to_string(today.errors());
    ASSERT_EQ(former->point, today->point);
    ASSERT_GE(former->rows.size(), 7U);
    for (std::size_t row = 0; row < former->rows.size(); ++row) {
      EXPECT_EQ(former->rows[row].status, today->rows[row].status) << name << ' ' << row;
      EXPECT_EQ(former->rows[row].collective_time_ps, today->rows[row].collective_time_ps) << name << ' ' << row;
      EXPECT_EQ(former->rows[row].schedule_hash, today->rows[row].schedule_hash) << name << ' ' << row;
      EXPECT_EQ(former->rows[row].chosen_bandwidth_bytes_per_s, today->rows[row].chosen_bandwidth_bytes_per_s)
          << name << ' ' << row;
    }
  }
}

TEST_F(SchemaOne, OpensInTheAnalysisReaderAsToday) {
  run_anew("mixed", "new", "1/2");
  support::Command command;
  command.arguments = {
      "/usr/bin/python3", "-c",
      "import sys, tenex_analysis\n"
      "from pandas.testing import assert_frame_equal\n"
      "former, today = (tenex_analysis.open_study(path) for path in sys.argv[1:])\n"
      "old, new = former.frame(), today.frame()\n"
      "physics = {'key', 'canonical', 'bound_ps', 'bound_name', 'bound_seconds', 'efficiency'}\n"
      "physics |= {'simulation_engine'}  # static_order has learned to keep sends\n"
      "runs = {name for name in old if name.endswith('_seconds') or name in ('rank', 'host')}\n"
      "runs |= {'synthesis_seconds', 'memory_planned_bytes', 'peak_rss_bytes', 'threads', 'version'}\n"
      "runs -= {'collective_time_seconds', 'training_time_seconds'}\n"
      "same = [name for name in old.columns if name not in physics | runs]\n"
      "assert len(same) > 40, same\n"
      "assert_frame_equal(old[same], new[same], check_like=True)\n"
      "younger = set(today.points.variables) - set(former.points.variables)\n"
      "assert set(former.points.variables) <= set(today.points.variables)\n"
      "metrics = {'switched_time_ps', 'switched_bound_ps', 'failed_links', 'failed_npus', 'chosen_chunks'}\n"
      "metrics |= {'rate_loss', 'filling_loss', 'epochs', 'epoch_ps', 'optimal', 'optimality_gap'}\n"
      "metrics |= {'clock_ended', 'solver_seconds', 'samples_per_s', 'tokens_per_s', 'model_flop_utilization'}\n"
      "metrics |= {'bound_class', 'unwound_time_ps', 'link_imbalance', 'mfu_rate_flop_per_s', 'chosen_microbatches'}\n"
      "metrics |= {part + '_memory_bytes' for part in ('weight', 'gradient', 'optimizer', 'activation', 'buffer')}\n"
      "metrics |= {'memory_per_npu_bytes'}\n"
      "metrics |= {part + '_exposed_ps' for part in ('tensor', 'data', 'pipeline', 'expert', 'world')}\n"
      "younger -= metrics  # of later versions, too\n"
      "for name in younger:  # keys that schema 1 never had: their defaults, nothing where a point has no such key\n"
      "    assert len(set(new[name].fillna('')) - {'', -1}) <= 1, name\n"
      "assert set(former.points.coords) <= set(today.points.coords)\n"
      "for name in ('alpha', 'split', 'chosen_bandwidth_bytes_per_s'):\n"
      "    assert (former.points[name].values == today.points[name].values).all(), name\n",
      in("mixed.h5"), result("new").string()};
  command.environment = {{"PYTHONPATH", std::string(TENEX_SOURCE_DIR) + "/analysis"}};
  const auto finished = support::run(command);
  EXPECT_EQ(finished.exit_code, 0) << finished.out << finished.err;
}

}  // namespace
}  // namespace tenex
