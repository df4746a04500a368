// A study that draws and prunes its points, run by the real program under a real mpirun: it gives the same rows for any
// ranks, and after kills.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "coordinator/merged_rows.hpp"
#include "support/process.hpp"
#include "tenex/files/column_file.hpp"
#include "tenex/store/store.hpp"

namespace tenex {
namespace {

namespace fs = std::filesystem;
using support::TemporaryFolder;
using ::testing::HasSubstr;

constexpr auto search_study = R"TOML(schema = 1
name = "search"
seed = 7
[defaults]
alpha = "0.5us"
bandwidth = "50GB/s"
[[sweep]]
sampler = "sobol"
points = 600
axes.topology = ["mesh(3,3)", "torus(3,3)", "RI(3)_FC(3)", "SW(9)", "RI(9)"]
axes.size = { from = "64KiB", to = "16MiB", step = "64KiB" }
axes.chunks = [1, 2, 4]
axes.algorithm = ["ring", "direct", "tacos"]
collective = "all_gather"
[search]
objective = "algbw"
rounds = ["bound", "coarse"]
keep = ["2/3", "1/2"]
per = "topology"
pareto = ["collective_time_ps", "sends"]
)TOML";

support::Command run_command(const fs::path& folder, int ranks, const std::string& out) {
  support::Command command;
  command.environment = support::mpi_environment();
  command.environment.emplace_back("OMP_NUM_THREADS", "1");
  if (ranks > 1) command.arguments = {TENEX_MPIRUN, "-n", std::to_string(ranks), "--bind-to", "none"};
  for (const auto& word : {std::string(TENEX_BINARY), std::string("run"), (folder / "study.toml").string(),
                           std::string("--out"), (folder / out).string(), std::string("--quiet")})
    command.arguments.push_back(word);
  return command;
}

support::Finished run(const fs::path& folder, int ranks, const std::string& out) {
  const TemporaryFolder output;
  support::Child job(run_command(folder, ranks, out), output.path());
  auto finished = job.wait(support::longest_wait);
  EXPECT_EQ(finished.status(), 0) << finished.err;
  return finished;
}

/// Every result column of every row, and the front.
std::vector<std::string> rows_in(const fs::path& dir) {
  std::vector<std::string> rows;
  const auto table = read_result(dir / "study.h5");
  const auto file = ColumnFileReader::open(dir / "study.h5");
  if (!table.ok() || !file.ok()) {
    ADD_FAILURE() << "no result in " << dir;
    return rows;
  }
  const auto front = file->read<std::int8_t>("/pareto");
  for (std::size_t i = 0; i < table->rows.size(); ++i) {
    std::string row = table->key[i] + (front.value()[i] != 0 ? " on the front" : "");
    for (std::size_t c = 0; c < metric_columns().size(); ++c) {
      if (metric_columns()[c].measured) continue;
      row += "; " + testing::cell_text(metric_value(table->rows[i], c));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

TEST(SearchUnderMpi, GivesTheSameRowsForAnyRanksAndAfterKills) {
  const TemporaryFolder folder;
  support::write_text(folder.path() / "study.toml", search_study);
  EXPECT_THAT(run(folder.path(), 1, "alone").out, HasSubstr(" pruned"));
  const auto truth = rows_in(folder.path() / "alone");
  EXPECT_EQ(truth.size(), 600U);
  (void)run(folder.path(), 3, "three");
  EXPECT_EQ(rows_in(folder.path() / "three"), truth);
  for (const int milliseconds : {60, 110, 180, 300}) {  // of some 400: during the rounds, and during the evaluation
    const TemporaryFolder output;
    support::Child job(run_command(folder.path(), 1, "killed"), output.path());
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    job.signal(SIGKILL);
    (void)job.wait(std::chrono::seconds(10));
  }
  (void)run(folder.path(), 2, "killed");
  EXPECT_EQ(rows_in(folder.path() / "killed"), truth);
}

}  // namespace
}  // namespace tenex
