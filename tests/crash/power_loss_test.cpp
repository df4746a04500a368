// The power fails during a job: writes that no fsync made durable are lost, or kept in part. Rows that the journals
// commit are kept, and the same command ends with the rows of an undisturbed run.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "crash/journals.hpp"
#include "crash/platter.hpp"
#include "crash/study.hpp"
#include "crash/undisturbed.hpp"
#include "support/process.hpp"
#include "support/results.hpp"
#include "tenex/files/schedule_file.hpp"
#include "tenex/store/crashes.hpp"
#include "tenex/store/store.hpp"

namespace tenex {
namespace {

using namespace crash_tests;
namespace fs = std::filesystem;

constexpr std::size_t points = 480;  // 80 seeds of 6
constexpr std::size_t ranks = 3;
// A run alone commits 80 shards, of which 64 are joined; three ranks commit 40 each.
constexpr std::size_t rows_of_a_shard_alone = 6;
constexpr std::size_t rows_of_a_shard = 12;
const std::string with_schedule = "algorithm = ring and collective = all_gather and seed <= 20";

/// Runs a Python script. Functions of `os` call open(), fsync() and rename() directly.
void run_python(const std::string& script, const fs::path& folder, const Platter& platter) {
  const support::TemporaryFolder beside;
  support::write_text(beside.path() / "script.py", script);
  const auto end = support::run(
      {{"python3", (beside.path() / "script.py").string(), folder.string()},
       {{"LD_PRELOAD", CRASH_POWER_SHIM}, {"CRASH_FOLDER", folder.string()}, {"CRASH_PLATTER", platter.dir().string()}},
       {}});
  ASSERT_EQ(end.status(), 0) << end.err;
}

TEST(ThePlatter, HasWhatWasSyncedUnderNamesThatWereSynced) {
  const support::TemporaryFolder beside;
  const auto folder = beside.path() / "out";
  const Platter platter(folder, beside.path() / "platter");
  run_python(R"PYTHON(import os, sys
def put(name, text, synced):
    file = os.open(sys.argv[1] + "/" + name, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(file, text)
    if synced: os.fsync(file)
put("whole", b"one", True)
put("empty", b"one", False)
put("old", b"one", True)
os.fsync(os.open(sys.argv[1], os.O_RDONLY))
put("whole", b" two", False)
put("unnamed", b"one", True)
os.rename(sys.argv[1] + "/old", sys.argv[1] + "/new")
)PYTHON",
             folder, platter);
  EXPECT_EQ(support::read_text(folder / "whole"), "one two");
  platter.lose_power(Fate::worst());
  EXPECT_EQ(support::read_text(folder / "whole"), "one") << "bytes that were not synced";
  EXPECT_TRUE(fs::exists(folder / "empty")) << "its name was synced";
  EXPECT_EQ(support::read_text(folder / "empty"), "") << "its bytes were not";
  EXPECT_FALSE(fs::exists(folder / "unnamed")) << "a name that was not synced";
  EXPECT_EQ(support::read_text(folder / "old"), "one");
  EXPECT_FALSE(fs::exists(folder / "new")) << "a rename that was not synced";
}

/// Made only once.
const Undisturbed& truth() {
  static const Undisturbed the_truth(cheap_points(points / 6) + "\n[outputs]\nschedule = \"" + with_schedule + "\"\n",
                                     points);
  return the_truth;
}

/// One folder on a host that loses its power several times.
class Campaign {
 public:
  Campaign(bool alone, unsigned seed) : alone_(alone), random_(seed), platter_(out(), folder_.path() / "platter") {}

  /// Runs the job; returns whether the power failed while it ran.
  bool lose_power() {
    const auto note = folder_.path() / "note";
    fs::remove(note);
    const auto end = run({{"CRASH_RANK", std::to_string(alone_ ? 0 : draw(0, ranks - 1))},
                          {"CRASH_AT", std::to_string(draw_call())},
                          {"CRASH_WHAT", "SIGKILL"},
                          {"CRASH_SCOPE", "group"},
                          {"CRASH_NOTE", note.string()}});
    ++runs_;
    leave_no_rank(end.out);
    if (!fs::exists(note)) return false;
    const auto before = points_done();
    platter_.lose_power(Fate::drawn(static_cast<unsigned>(random_())));
    expect_promises_kept(before);
    return true;
  }

  void bring_to_its_end() {
    const auto last = run({});
    ASSERT_EQ(last.status(), 0) << last.out << last.err;
    EXPECT_EQ(tally(out()).rows_committed, points) << "a row that counts was lost or evaluated again";
    platter_.lose_power(Fate::worst());
    support::expect_same_rows(truth().out() / "study.h5", out() / "study.h5");
  }

 private:
  using Environment = std::vector<std::pair<std::string, std::string>>;

  [[nodiscard]] fs::path out() const { return folder_.path() / "out"; }
  int draw(int from, int to) { return std::uniform_int_distribution(from, to)(random_); }

  /// Alone a run makes some 700 calls that change the folder; from the 450th on they join 64 shards. One of three ranks
  /// makes some 400.
  int draw_call() {
    if (alone_ && runs_ == 0) return draw(430, 560);
    return draw(1, draw(0, 3) == 0 ? 40 : alone_ ? 650 : 350);
  }

  [[nodiscard]] support::Finished run(Environment fault) const {
    support::Command command;
    if (alone_)
      command.arguments = {TENEX_BINARY, "run", truth().study_file(), "--out", out().string(), "--quiet"};
    else
      command.arguments = {CRASH_RANK_JOB, std::to_string(ranks), truth().study_file(), out().string()};
    command.environment = std::move(fault);
    command.environment.insert(
        command.environment.end(),
        {{"LD_PRELOAD", std::string(CRASH_POWER_SHIM) + ":" + CRASH_SHIM},
         {"OMP_NUM_THREADS", "1"},
         {"CRASH_FOLDER", out().string()},
         {"CRASH_PLATTER", platter_.dir().string()},
         {"TENEX_FLUSH_ROWS", std::to_string(alone_ ? rows_of_a_shard_alone : rows_of_a_shard)}});
    const support::TemporaryFolder output;
    support::Child child(command, output.path());
    auto end = child.wait(std::chrono::seconds(60));
    EXPECT_TRUE(end.finished) << "the job hangs: " << end.out << end.err;
    return end;
  }

  static void leave_no_rank(const std::string& out) {
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const auto word = "pid " + std::to_string(rank) + " ";
      if (const auto at = out.find(word); at != std::string::npos)
        support::wait_until_dead(std::stoi(out.substr(at + word.size())));
    }
  }

  /// The points with a row that counts, as the store reports them.
  [[nodiscard]] std::set<std::uint64_t> points_done() const {
    std::set<std::uint64_t> done;
    for (const auto& [incarnation, rank] : tally(out()).writers) {
      const auto trace = read_trace(out(), truth().study(), incarnation, rank);
      EXPECT_TRUE(trace.ok()) << to_string(trace.errors());
      done.insert(trace->committed.begin(), trace->committed.end());
    }
    return done;
  }

  /// Every shard that a journal still names is whole, and only rows of a line that was being written are lost.
  void expect_promises_kept(const std::set<std::uint64_t>& before) const {
    const auto after = points_done();
    std::size_t named = 0;
    for (const auto& [shard, rows] : tally(out()).live) named += rows;
    EXPECT_EQ(after.size(), named) << "a journal names shards that are not there, or not whole";
    const auto lost = std::ranges::count_if(before, [&](auto point) { return !after.contains(point); });
    EXPECT_LE(static_cast<std::size_t>(lost), alone_ ? rows_of_a_shard_alone : ranks * rows_of_a_shard)
        << "rows are gone that counted";
    for (const auto point : after) expect_schedule(point);
  }

  /// A row that counts has its schedule if the study asks for one: it is never made later.
  void expect_schedule(std::uint64_t point) const {
    const auto& study = truth().study();
    if (!study.store_schedule[point]) return;
    const auto file = out() / "schedules" / (to_string(study.points.key(point)) + ".h5");
    const auto schedule = read_schedule_file(file);
    EXPECT_TRUE(schedule.ok()) << to_string(schedule.errors());
  }

  bool alone_;
  std::mt19937 random_;
  int runs_ = 0;
  support::TemporaryFolder folder_;
  Platter platter_;
};

class PowerLoss : public ::testing::TestWithParam<bool> {};

TEST_P(PowerLoss, LosesNoRowThatCountsAndResumesToTheSameRows) {
  const bool alone = GetParam();
  const int losses_wanted = alone ? 12 : 20;
  constexpr int losses_per_folder = 4;
  int losses = 0;
  for (unsigned number = 0; losses < losses_wanted && !HasFailure(); ++number) {
    ASSERT_LT(number, 30U) << "the power does not fail";
    Campaign campaign(alone, (alone ? 0U : 1000U) + number);
    for (int i = 0; i < losses_per_folder && losses < losses_wanted; ++i) losses += campaign.lose_power() ? 1 : 0;
    campaign.bring_to_its_end();
    if (HasFailure()) std::printf("campaign number %u\n", number);
  }
}

INSTANTIATE_TEST_SUITE_P(OfAJob, PowerLoss, ::testing::Values(true, false),
                         [](const auto& job) { return job.param ? "Alone" : "OfThreeRanks"; });

}  // namespace
}  // namespace tenex
