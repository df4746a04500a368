// Watching studies through the binary: status, replay, merge of several studies, plan --sbatch, logs, and error
// messages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "cli/seeing.hpp"
#include "support/process.hpp"
#include "tenex/base/hash.hpp"
#include "tenex/evaluate/evaluate.hpp"
#include "tenex/store/store.hpp"

namespace tenex {
namespace {

namespace fs = std::filesystem;
using support::Child;
using testing::endless;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::number_of;
using testing::rings;
using testing::Seeing;
using ::testing::StartsWith;
using testing::tenex;
using testing::text_of;

TEST_F(Seeing, AFinishedStudyHasItsCountsAndBestRows) {
  run_rings();
  const auto status = tenex({"status", out(), "--json"});
  ASSERT_EQ(status.exit_code, 0) << status.err;
  EXPECT_EQ(text_of(status.out, "state"), "done");
  EXPECT_EQ(number_of(status.out, "points"), 2);
  EXPECT_EQ(number_of(status.out, "done"), 2);
  EXPECT_EQ(number_of(status.out, "failed"), 0);
  // A ring's All-Gather on a ring of 4 with all links: 3 steps one way; the bound uses both directions.
  EXPECT_THAT(status.out, HasSubstr("\"measure\":\"efficiency\""));
  EXPECT_THAT(status.out, HasSubstr("\"measure\":\"algbw_bytes_per_s\""));
  const auto text = tenex({"status", out()});
  EXPECT_THAT(text.out, HasSubstr("done: every point has a row"));
  EXPECT_THAT(text.out, HasSubstr("2 of 2 done (100 %), 0 not ok"));
  EXPECT_THAT(text.out, HasSubstr("all_gather ring on RI(4)"));
}

TEST_F(Seeing, ARunningStudyIsSeenFromOutsideAndAKilledOneAfterwards) {
  run_rings();
  const auto larger = study(rings("[\"1KiB\", \"1MiB\"]") + endless, "larger.toml");
  Child run({{TENEX_BINARY, "run", larger, "--out", out(), "--extend", "--threads", "1", "--quiet"}, {}, {}},
            folder_.path());
  std::string seen;
  for (int i = 0; i < 4000 && number_of(seen, "running") != 1; ++i) {  // until the long point has been announced
    std::this_thread::sleep_for(std::chrono::milliseconds(25));
    seen = tenex({"status", out(), "--json"}).out;
  }
  EXPECT_EQ(text_of(seen, "state"), "running") << seen << run.err();
  EXPECT_EQ(number_of(seen, "points"), 3);
  EXPECT_EQ(number_of(seen, "done"), 2);
  EXPECT_EQ(number_of(seen, "run"), 2);
  EXPECT_EQ(number_of(seen, "pid"), run.pid());
  EXPECT_THAT(seen, HasSubstr("\"what\":\"all_gather tacos on mesh(60,60)"));
  // There is no row of this run yet, and there will be none for minutes: the run reports how far its point is.
  for (int i = 0; i < 2000 && number_of(seen, "work_fraction") <= 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(25));
    seen = tenex({"status", out(), "--json"}).out;
  }
  EXPECT_EQ(number_of(seen, "finished"), 2) << seen;
  EXPECT_GT(number_of(seen, "work_fraction"), 0);
  EXPECT_LT(number_of(seen, "work_fraction"), 1);
  EXPECT_GT(number_of(seen, "seconds_left"), 0);
  EXPECT_LT(number_of(seen, "seconds_left"), 1e6);
  EXPECT_GT(number_of(seen, "running_seconds"), 0);
  EXPECT_EQ(number_of(seen, "running"), 1);
  const auto text = tenex({"status", out()}).out;
  EXPECT_THAT(text, HasSubstr("% of the work is done"));
  EXPECT_THAT(text, HasSubstr(" more  all_gather tacos on mesh(60,60)"));
  EXPECT_THAT(text, Not(HasSubstr("not known yet")));

  // A second run is refused and told which run is at work and what to do.
  const auto second = tenex({"run", larger, "--out", out()});
  EXPECT_EQ(second.exit_code, 3);
  EXPECT_THAT(second.err, HasSubstr("is in use"));
  EXPECT_THAT(second.err, HasSubstr("process " + std::to_string(run.pid())));
  EXPECT_THAT(second.err, HasSubstr("wait for that run, or choose another folder"));

  run.signal(SIGKILL);
  run.wait();
  const auto killed = tenex({"status", out(), "--json"});
  EXPECT_EQ(text_of(killed.out, "state"), "killed") << killed.out;
  EXPECT_EQ(number_of(killed.out, "running"), 0);
  EXPECT_EQ(number_of(killed.out, "interrupted"), 1);
  EXPECT_THAT(tenex({"status", out()}).out, HasSubstr("the same `tenex run` command continues"));
}

TEST_F(Seeing, TheTimeLeftFollowsFromWhatFinishedPointsTook) {
  // This process plays the run: four equal points, of which three took 10 s each, one after another, within 30 s of the
  // start. So the run does one second of work per second, and the fourth point takes 10 s.
  const auto file = study(rings("[\"1KiB\", \"2KiB\", \"3KiB\", \"4KiB\"]"));
  const auto parsed = read_study(file, vocabulary());
  ASSERT_TRUE(parsed.ok()) << to_string(parsed.errors());
  const auto run = ResultFolder::open(out(), *parsed, {});
  ASSERT_TRUE(run.ok()) << to_string(run.errors());
  auto writer = ShardWriter::open(out(), *parsed, 1, 0);
  ASSERT_TRUE(writer.ok());
  const auto now =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
  for (std::int64_t i = 0; i < 3; ++i) {
    Evaluation row;
    row.status = PointStatus::ok;
    row.evaluation_seconds = 10;
    ASSERT_TRUE(writer->add({static_cast<std::uint64_t>(i), row, now + 10'000 * (i + 1)}).ok());
  }
  ASSERT_TRUE(writer->flush().ok());
  const auto status = tenex({"status", out(), "--json"});
  ASSERT_EQ(status.exit_code, 0) << status.err;
  EXPECT_EQ(text_of(status.out, "state"), "running");
  EXPECT_NEAR(number_of(status.out, "seconds_left"), 10, 1.5) << status.out;
  EXPECT_NEAR(number_of(status.out, "seconds_left_low"), 10, 1.5);
  EXPECT_NEAR(number_of(status.out, "seconds_left_high"), 10, 1.5);
  EXPECT_NEAR(number_of(status.out, "points_per_second"), 0.1, 0.01);
}

TEST_F(Seeing, ARowIsEvaluatedAgainAndAgrees) {
  run_rings();
  const auto key = text_of(tenex({"status", out(), "--json"}).out, "key");
  ASSERT_EQ(key.size(), 32U);
  const auto same = tenex({"replay", out(), key, "--json"});
  EXPECT_EQ(same.exit_code, 0) << same.err << same.out;
  EXPECT_THAT(same.out, HasSubstr("\"same\":true"));
  EXPECT_THAT(same.out, HasSubstr("\"differences\":[]"));
  const auto prefix = tenex({"replay", out(), key.substr(0, 12)});
  EXPECT_EQ(prefix.exit_code, 0) << prefix.err;
  EXPECT_THAT(prefix.out, HasSubstr("algorithm=ring"));
  EXPECT_THAT(prefix.out, HasSubstr("same                       true"));
}

TEST_F(Seeing, ARowThatDiffersIsNamedColumnByColumn) {
  const auto file = study(rings("[\"1KiB\"]"));
  const auto parsed = read_study(file, vocabulary());
  ASSERT_TRUE(parsed.ok());
  Cache cache;
  auto row = evaluate(parsed->points[0], cache, {}).row;
  const auto sends = row.sends;
  row.sends += 1;  // as a defect, or another machine, might have stored it
  {
    const auto run = ResultFolder::open(out(), *parsed, {});
    auto writer = ShardWriter::open(out(), *parsed, 1, 0);
    ASSERT_TRUE(run.ok() && writer.ok() && writer->add({0, row, 1}).ok() && writer->flush().ok());
  }
  const auto differs = tenex({"replay", out(), to_string(parsed->points[0].key).substr(0, 4)});
  EXPECT_EQ(differs.exit_code, 1) << differs.out;
  EXPECT_THAT(differs.out,
              HasSubstr("column=sends stored=" + std::to_string(sends + 1) + " now=" + std::to_string(sends) + "\n"));
  EXPECT_THAT(differs.err, HasSubstr("the row differs in 1 columns"));
}

TEST_F(Seeing, APrunedRowIsNoFailureAndIsNotEvaluatedAgain) {
  // Of two sizes the smaller takes less time; the other is pruned.
  const auto file =
      study(rings("[\"1KiB\", \"1MiB\"]") +
            "[search]\nobjective = \"minimize collective_time_ps\"\nrounds = [\"coarse\"]\nkeep = \"1/2\"\n");
  const auto ran = tenex({"run", file, "--out", out()});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const auto status = tenex({"status", out(), "--json"});
  EXPECT_EQ(number_of(status.out, "pruned"), 1) << status.out;
  EXPECT_EQ(number_of(status.out, "failed"), 0);
  const auto parsed = read_study(file, vocabulary());
  ASSERT_TRUE(parsed.ok());
  const auto refused = tenex({"replay", out(), to_string(parsed->points[1].key)});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("was pruned by the search"));
  EXPECT_EQ(tenex({"replay", out(), to_string(parsed->points[0].key)}).exit_code, 0);
  EXPECT_THAT(tenex({"merge", out("both.h5"), out()}).out, HasSubstr("2 rows of 1 studies, 0 not ok"));
}

TEST_F(Seeing, AKeyThatIsNoneOrSeveralIsToldSo) {
  run_rings();
  const auto none = tenex({"replay", out(), "00000000000000000000000000000000"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("no point of the study \"rings\" has the key"));
  EXPECT_EQ(tenex({"replay", out(), "xyz"}).exit_code, 2);
  // 17 points: at least two keys begin with the same of 16 digits.
  std::string sizes;
  for (int i = 1; i <= 17; ++i) sizes += (i > 1 ? ", \"" : "\"") + std::to_string(4 * i) + "KiB\"";
  const auto many = study(rings("[" + sizes + "]"), "many.toml");
  ASSERT_EQ(tenex({"run", many, "--out", out("many")}).exit_code, 0);
  const auto parsed = read_study(many, vocabulary());
  ASSERT_TRUE(parsed.ok());
  bool several = false;
  for (const char digit : std::string("0123456789abcdef"))
    several = several ||
              tenex({"replay", out("many"), std::string(1, digit)}).err.find("give more digits") != std::string::npos;
  EXPECT_TRUE(several);
}

TEST_F(Seeing, SeveralStudiesBecomeOneFile) {
  const auto a = study(rings("[\"1KiB\", \"1MiB\"]"), "a.toml");
  const auto b = study(rings("[\"1MiB\", \"4MiB\", \"8MiB\"]"), "b.toml");
  ASSERT_EQ(tenex({"run", a, "--out", out("a")}).exit_code, 0);
  ASSERT_EQ(tenex({"run", b, "--out", out("b")}).exit_code, 0);
  // A folder and a file: both have the 1 MiB point.
  const auto both = tenex({"merge", out("a"), out("b") + "/study.h5", "--out", out("both.h5")});
  EXPECT_EQ(both.exit_code, 0) << both.err;
  EXPECT_THAT(both.out, HasSubstr("4 rows of 2 studies, 0 not ok, 1 found more than once"));
  const auto table = read_result(out("both.h5"));
  ASSERT_TRUE(table.ok()) << to_string(table.errors());
  EXPECT_EQ(table->rows.size(), 4U);
  // The first name may be the file to write, but only if it does not exist.
  EXPECT_EQ(tenex({"merge", out("new.h5"), out("a"), out("b")}).exit_code, 0);
  EXPECT_EQ(support::read_text(out("new.h5")), support::read_text(out("both.h5")));
  const auto refused = tenex({"merge", out("new.h5"), out("a"), out("b")});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--out FILE.h5"));
  // Folders of different studies cannot be gathered into one folder.
  const auto folder = tenex({"merge", out("a"), out("b"), "--out", out("c")});
  EXPECT_EQ(folder.exit_code, 2);
  EXPECT_THAT(folder.err, HasSubstr("belongs to another study"));
  EXPECT_THAT(folder.err, HasSubstr("--out FILE.h5"));
}

TEST_F(Seeing, SlicesAreSeenAsPartsAndBecomeTheWhole) {
  const auto file = study(rings("[\"1KiB\", \"1MiB\", \"4MiB\"]"));
  ASSERT_EQ(tenex({"run", file, "--out", out("whole")}).exit_code, 0);
  double points = 0;
  for (const std::string slice : {"1", "2"}) {
    const auto dir = out(("slice-" + slice).c_str());
    ASSERT_EQ(tenex({"run", file, "--out", dir, "--slice", slice + "/2"}).exit_code, 0);
    const auto status = tenex({"status", dir, "--json"});
    EXPECT_EQ(text_of(status.out, "slice"), slice + "/2");
    EXPECT_EQ(text_of(status.out, "state"), "done");
    points += number_of(status.out, "points");
  }
  EXPECT_EQ(points, 3);
  const auto merged = tenex({"merge", out("slice-1"), out("slice-2"), "--out", out("joined")});
  EXPECT_EQ(merged.exit_code, 0) << merged.err;
  const auto a = read_result(fs::path(out("whole")) / "study.h5");
  const auto b = read_result(fs::path(out("joined")) / "study.h5");
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(a->key, b->key);
  EXPECT_EQ(text_of(tenex({"status", out("joined"), "--json"}).out, "state"), "done");
}

TEST_F(Seeing, APlanBecomesAnSbatchFile) {
  const auto file = study(rings("[\"1KiB\"]"));
  const auto printed = tenex({"plan", file, "--sbatch"});
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("#!/usr/bin/env bash\n"));
  EXPECT_THAT(printed.out, HasSubstr("#SBATCH --nodes=1\n#SBATCH --ntasks-per-node=1\n#SBATCH --cpus-per-task=1\n"));
  EXPECT_THAT(printed.out, HasSubstr(rings("[\"1KiB\"]")));  // the study itself, and not its path
  EXPECT_THAT(printed.out, Not(HasSubstr(file)));
  EXPECT_THAT(printed.out, Not(HasSubstr("jobs/slurm.sh\"")));
  const auto job = out("job.sbatch");
  const auto written = tenex({"plan", file, "--sbatch", job, "--ranks", "4", "--threads", "8"});
  ASSERT_EQ(written.exit_code, 0) << written.err;
  EXPECT_EQ(written.out, job + ": 2 nodes, 4 ranks of 8 threads; submit it: sbatch " + job + "\n");
  EXPECT_THAT(support::read_text(job),
              HasSubstr("#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=2\n#SBATCH --cpus-per-task=8\n"));
  // Outside of Slurm the file says so and does nothing.
  const auto outside = support::run({{"bash", job}, {{"SLURM_JOB_ID", ""}}, {}});
  EXPECT_EQ(outside.exit_code, 2);
  EXPECT_THAT(outside.err, HasSubstr("was not started by Slurm"));
  EXPECT_EQ(tenex({"plan", "--sbatch", file}).out, printed.out);  // `file` is the study, not the file to write
  const auto wrong = tenex({"plan", file, "--sbatch", file});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("it would be overwritten"));
  EXPECT_EQ(support::read_text(file), rings("[\"1KiB\"]"));
}

TEST_F(Seeing, APlanIsSubmitted) {
  const auto file = study(rings("[\"1KiB\"]"));
  // An sbatch that keeps its standard input, and refuses jobs of two ranks.
  const fs::path tools = out("tools");
  fs::create_directories(tools);
  const auto received = out("received");
  support::write_text(tools / "sbatch", "#!/bin/bash\ncat >'" + received + "'\n! grep -q 'per-node=2' '" + received +
                                            "' || { echo 'sbatch: error: no' >&2; exit 1; }\n"
                                            "echo Submitted batch job 17\n");
  fs::permissions(tools / "sbatch", fs::perms::owner_all);
  const std::string path = tools.string() + ":" + std::getenv("PATH");
  const auto submit = [&](std::vector<std::string> words, const std::string& on_path) {
    words.insert(words.begin(), {TENEX_BINARY, "plan", file});
    return support::run({words, {{"PATH", on_path}}, {}});
  };
  const auto printed = submit({"--sbatch"}, path).out;
  const auto submitted = submit({"--submit"}, path);
  EXPECT_EQ(submitted.exit_code, 0) << submitted.err;
  EXPECT_THAT(submitted.out, StartsWith("Submitted batch job 17\nthe result will be results/"));
  EXPECT_EQ(support::read_text(received), printed);
  const auto job = out("kept.sbatch");
  EXPECT_EQ(submit({"--submit", "--sbatch", job}, path).exit_code, 0);
  EXPECT_EQ(support::read_text(job), printed);
  const auto refused = submit({"--submit", "--ranks", "2"}, path);
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, StartsWith("sbatch: error: no\nerror: no job was submitted\n"));
  fs::remove(tools / "sbatch");
  const auto nowhere = submit({"--submit"}, tools.string());
  EXPECT_EQ(nowhere.exit_code, 1);
  EXPECT_THAT(nowhere.err,
              StartsWith("error: no job was submitted\n  reason: sbatch is not on PATH\n  help: run this"));
}

TEST_F(Seeing, LogsSayWhatARankDidAndAreOffUnlessAskedFor) {
  run_rings();
  EXPECT_FALSE(fs::exists(out() + "/logs"));
  const auto file = study(rings("[\"1KiB\", \"1MiB\"]"));
  ASSERT_EQ(tenex({"run", file, "--out", out("logged"), "--log-level", "debug"}).exit_code, 0);
  const auto log = support::read_text(fs::path(out("logged")) / "logs" / "1.0.log");
  for (const auto* event :
       {"info run 1 begins: 2 points, 0 done, 1 ranks", "info lease 1 to rank 0:", "debug begins ", "debug ends ",
        "info committed 2 rows as 1-0-0.h5", "info the run is over: 2 points evaluated"})
    EXPECT_THAT(log, HasSubstr(event));
  ASSERT_EQ(tenex({"run", file, "--out", out("brief"), "--log-level", "warning"}).exit_code, 0);
  EXPECT_EQ(support::read_text(fs::path(out("brief")) / "logs" / "1.0.log"), "");
  EXPECT_EQ(tenex({"run", file, "--out", out("x"), "--log-level", "loud"}).exit_code, 2);
}

TEST_F(Seeing, EveryRankIsSeenAndHasItsLog) {
  // Long enough that the second rank starts before all is done.
  const auto file = study(
      "schema = 1\nname = \"many\"\nseed = { from = 1, to = 60, step = 1 }\n[[sweep]]\ntopology = "
      "\"mesh(12,12)\"\nalpha = "
      "\"1us\"\nbandwidth = \"1GB/s\"\ncollective = \"all_gather\"\nalgorithm = \"tacos\"\nsize = \"1MiB\"\nattempts = "
      "3\n");
  support::Command command;
  command.arguments = {"mpirun", "-n",  "2",         "--bind-to", "none",    TENEX_BINARY,  "run", file,
                       "--out",  out(), "--threads", "1",         "--quiet", "--log-level", "info"};
  command.environment = support::mpi_environment();
  const auto ran = support::run(command);
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const auto status = tenex({"status", out(), "--json"});
  EXPECT_THAT(status.out, HasSubstr("\"ranks\":[{\"rank\":0,"));
  EXPECT_THAT(status.out, HasSubstr("{\"rank\":1,"));
  EXPECT_THAT(support::read_text(fs::path(out()) / "logs" / "1.0.log"), HasSubstr("60 points, 0 done, 2 ranks"));
  const auto log = support::read_text(fs::path(out()) / "logs" / "1.1.log");
  EXPECT_THAT(log, HasSubstr("info run 1 begins: rank 1 of 2 on "));
  EXPECT_THAT(log, HasSubstr("info is done: "));
}

TEST_F(Seeing, APointThatIsGivenUpIsCountedAsSuch) {
  const auto file = study(rings("[\"1KiB\", \"1MiB\"]"));
  const auto parsed = read_study(file, vocabulary());
  ASSERT_TRUE(parsed.ok());
  {  // Two runs that the first point ended, and no row yet: the next run gives it up.
    const auto folder = ResultFolder::open(out(), *parsed, {});
    auto writer = ShardWriter::open(out(), *parsed, 1, 0);
    ASSERT_TRUE(folder.ok() && writer.ok() && writer->start(0).ok() && writer->note_crash(0, "SIGSEGV").ok() &&
                writer->note_crash(0, "SIGSEGV").ok());
  }
  EXPECT_EQ(number_of(tenex({"status", out(), "--json"}).out, "quarantined"), 0);
  ASSERT_EQ(tenex({"run", file, "--out", out()}).exit_code, 1);
  const auto status = tenex({"status", out(), "--json"});
  EXPECT_EQ(number_of(status.out, "quarantined"), 1) << status.out;
  EXPECT_EQ(number_of(status.out, "failed"), 1);
  EXPECT_EQ(number_of(status.out, "done"), 2);
  // Several folders: one line for each.
  const auto twice = tenex({"status", out(), out(), "--json"});
  EXPECT_EQ(twice.out, status.out + status.out);
}

TEST_F(Seeing, AStudyThatChangedBetweenSubmissionsIsToldWhatIsKept) {
  run_rings();
  const auto changed = study(rings("[\"1MiB\", \"4MiB\", \"8MiB\"]"), "changed.toml");
  const auto refused = tenex({"run", changed, "--out", out()});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("belongs to another study"));
  EXPECT_THAT(refused.err, HasSubstr("2 points, of which 1 are among the 3 of this one"));
  EXPECT_THAT(refused.err, HasSubstr("--extend"));
}

/// Replaces a line of the folder's state.toml.
void pretend(const std::string& dir, const std::string& line, const std::string& other) {
  auto state = support::read_text(fs::path(dir) / "state.toml");
  const auto at = state.find(line);
  ASSERT_NE(at, std::string::npos) << state;
  support::write_text(fs::path(dir) / "state.toml", state.replace(at, line.size(), other));
}

TEST_F(Seeing, AnUpgradeOfTenexBetweenSubmissionsIsTold) {
  run_rings();
  const auto file = study(rings("[\"1KiB\", \"1MiB\"]"));
  const auto state = support::read_text(fs::path(out()) / "state.toml");
  const auto at = state.find("version = ");
  pretend(out(), state.substr(at, state.find('\n', at) - at), "version = \"0.0.7\"");
  const auto again = tenex({"run", file, "--out", out()});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("tenex 0.0.7 ran here last"));
  EXPECT_THAT(again.err, HasSubstr("so the rows that are done count"));
  // From now on the folder belongs to this version.
  EXPECT_THAT(tenex({"run", file, "--out", out()}).err, Not(HasSubstr("ran here last")));
}

TEST_F(Seeing, AnUpgradeThatChangesPhysicsIsRefusedByEveryCommand) {
  run_rings();
  const auto before = support::read_text(fs::path(out()) / "study.h5");
  pretend(out(), "physics = " + std::to_string(physics_version), "physics = 0");
  const auto file = study(rings("[\"1KiB\", \"1MiB\"]"));
  for (const auto& words : std::vector<std::vector<std::string>>{{"run", file, "--out", out(), "--extend"},
                                                                 {"status", out()},
                                                                 {"replay", out(), "0"},
                                                                 {"merge", out()},
                                                                 {"merge", out(), "--out", out("x.h5")}}) {
    const auto refused = tenex(words);
    EXPECT_EQ(refused.exit_code, 2) << words[0] << refused.out;
    EXPECT_THAT(refused.err, HasSubstr("was made with physics 0")) << words[0];
    EXPECT_THAT(refused.err, HasSubstr("choose another folder, or go on with tenex")) << words[0];
  }
  EXPECT_EQ(support::read_text(fs::path(out()) / "study.h5"), before);
}

TEST_F(Seeing, AFolderOfANewerTenexIsRefusedByEveryCommandAndKept) {
  run_rings();
  const auto file = study(rings("[\"1KiB\", \"1MiB\"]"));
  const auto result = support::read_text(fs::path(out()) / "study.h5");
  const auto state = support::read_text(fs::path(out()) / "state.toml");
  const auto refuses_all = [&](const std::string& what) {
    for (const auto& words : std::vector<std::vector<std::string>>{{"run", file, "--out", out(), "--extend"},
                                                                   {"status", out()},
                                                                   {"merge", out()},
                                                                   {"merge", out(), "--out", out("x.h5")}}) {
      const auto refused = tenex(words);
      EXPECT_NE(refused.exit_code, 0) << words[0] << refused.out;
      EXPECT_THAT(refused.err, HasSubstr(what)) << words[0];
      EXPECT_THAT(refused.err, HasSubstr("newer than this version")) << words[0];
      EXPECT_THAT(refused.err, HasSubstr("use a newer tenex")) << words[0];
    }
    EXPECT_EQ(support::read_text(fs::path(out()) / "study.h5"), result);
  };
  // A journal: its first line gives the number of the format, with its checksum.
  const auto journal = fs::path(out()) / "journal" / "7-0.log";
  const std::string header = "tenex-journal 3";
  char sum[17];
  std::snprintf(sum, sizeof sum, "%016llx", static_cast<unsigned long long>(digest64(header)));
  support::write_text(journal, "\n" + header + " " + sum);
  refuses_all("7-0.log");
  EXPECT_EQ(support::read_text(fs::path(out()) / "state.toml"), state);
  fs::remove(journal);
  // The folder as a whole.
  pretend(out(), "schema = 2", "schema = 3");
  refuses_all("folder schema 3");
  pretend(out(), "schema = 3", "schema = 2");
  const auto again = tenex({"run", file, "--out", out()});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("2 from before"));
}

TEST_F(Seeing, AStudyThatNeedsMoreMemoryIsToldWhatToDo) {
  // 64 MiB are too few to record which of 10,000 NPUs have which of 10,000 chunks (10^8 pairs), and in which order they
  // came.
  const auto ran =
      tenex({"run",
             study(rings("[\"1MiB\"]") +
                   "[[sweep]]\ntopology = \"mesh(100,100)\"\nalpha = \"1us\"\nbandwidth = \"1GB/s\"\n"
                   "collective = \"all_gather\"\nalgorithm = \"tacos\"\nengine = \"exact\"\nsize = \"1GiB\"\n"),
             "--out", out(), "--threads", "1", "--memory", "64MiB"});
  EXPECT_EQ(ran.exit_code, 1) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("not ok: 1 out_of_memory; the column `reason` says why"));
  EXPECT_THAT(ran.out, HasSubstr("out of memory, the largest point takes "));
  EXPECT_THAT(ran.out, HasSubstr("give a rank more with --memory, fewer ranks on a node, or a larger one, and "
                                 "--retry-failed"));
}

TEST_F(Seeing, AFullDiskIsToldWithWhatToDo) {
  const auto file = study(rings("[\"1KiB\", \"1MiB\"]"));
  const auto full = support::run({{TENEX_BINARY, "run", file, "--out", out()}, {}, 2048});
  EXPECT_EQ(full.exit_code, 3) << full.err;
  EXPECT_THAT(full.err, HasSubstr("raise the limit (ulimit -f), then run the same command again"));
  const auto status = tenex({"status", out(), "--json"});
  EXPECT_EQ(text_of(status.out, "state"), "interrupted") << status.err;
  EXPECT_EQ(number_of(status.out, "done"), 0);
}

TEST_F(Seeing, WhatIsNoResultFolderIsToldSo) {
  for (const auto* command : {"status", "merge"}) {
    const auto refused = tenex({command, folder_.path().string()});
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr("is no result folder"));
  }
  EXPECT_EQ(tenex({"replay", folder_.path().string(), "0"}).exit_code, 2);
}

}  // namespace
}  // namespace tenex
