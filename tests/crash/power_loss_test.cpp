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
#include "crash/small_job.hpp"
#include "crash/undisturbed.hpp"
#include "support/draws.hpp"
#include "support/process.hpp"
#include "support/results.hpp"
#include "tenex/files/schedule_file.hpp"
#include "tenex/store/crashes.hpp"
#include "tenex/store/store.hpp"

namespace tenex {
namespace {

using namespace crash_tests;
namespace fs = std::filesystem;

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
  // One of 24 points has a schedule.
  static const Undisturbed the_truth(
      small_study() + "\n[outputs]\nschedule = \"algorithm = ring and collective = all_gather and seed <= " +
          std::to_string(points() / 24) + "\"\n",
      points());
  return the_truth;
}

/// One folder on a host that loses its power several times.
class Campaign {
 public:
  Campaign(bool alone, unsigned seed) : alone_(alone), random_(seed), platter_(out(), folder_.path() / "platter") {}

  /// Runs the job; returns whether the power failed while it ran. If not, the study is complete.
  bool lose_power() {
    const auto note = folder_.path() / "note";
    fs::remove(note);
    const int rank = alone_ ? 0 : draw(0, ranks - 1);
    const bool joins = alone_ && runs_ == 0;
    const auto end = run({{"CRASH_RANK", std::to_string(rank)},
                          {"CRASH_FROM", joins ? joined_shard() : ""},
                          {"CRASH_AT", std::to_string(joins ? draw_call_of_joining() : draw_call_of_run(rank))},
                          {"CRASH_WHAT", "SIGKILL"},
                          {"CRASH_SCOPE", "group"},
                          {"CRASH_NOTE", note.string()}});
    ++runs_;
    leave_no_rank(end.out);
    if (!fs::exists(note)) return false;
    if (joins) {
      EXPECT_EQ(tally(out()).rows_committed, shards_to_join() * rows_of_a_shard_alone) << "it does not join shards";
    }
    const auto before = points_done();
    platter_.lose_power(Fate::drawn(static_cast<unsigned>(random_())));
    expect_promises_kept(before);
    return true;
  }

  void bring_to_its_end() {
    const auto last = run({});
    ASSERT_EQ(last.status(), 0) << last.out << last.err;
    EXPECT_EQ(tally(out()).rows_committed, points()) << "a row that counts was lost or evaluated again";
    platter_.lose_power(Fate::worst());
    support::expect_same_rows(truth().out() / "study.h5", out() / "study.h5");
  }

 private:
  [[nodiscard]] fs::path out() const { return folder_.path() / "out"; }
  int draw(int from, int to) { return std::uniform_int_distribution(from, to)(random_); }

  /// The first run alone fails while it joins shards. It writes this one and names it in the journal, with 8 calls, and
  /// removes the others.
  static std::string joined_shard() { return "/1-0-" + std::to_string(shards_to_join()) + ".h5"; }
  int draw_call_of_joining() { return draw(1, draw(0, 1) == 0 ? 9 : 8 + static_cast<int>(shards_to_join())); }

  int draw_call_of_run(int rank) {
    const auto done = points_done();
    const auto& study = truth().study();
    std::size_t schedules = 0;
    for (std::uint64_t point = 0; point < points(); ++point)
      schedules += study.store_schedule[point] && !done.contains(point) ? 1 : 0;
    constexpr int calls_for_a_schedule = 26;
    const auto own = static_cast<int>(alone_ ? schedules : schedules / ranks);
    return draw_call(calls_for(alone_, rank, points() - done.size()) + calls_for_a_schedule * own, random_);
  }

  [[nodiscard]] support::Finished run(Environment fault) const {
    fault.emplace_back("CRASH_PLATTER", platter_.dir().string());
    const auto command = small_job(alone_, never, truth().study_file(), out(),
                                   std::string(CRASH_POWER_SHIM) + ":" + CRASH_SHIM, std::move(fault));
    const support::TemporaryFolder output;
    support::Child child(command, output.path());
    auto end = child.wait(support::longest_wait);
    EXPECT_TRUE(end.finished) << "the job hangs: " << end.out << end.err;
    return end;
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
    EXPECT_LE(static_cast<std::size_t>(lost), alone_ ? rows_of_a_shard_alone : ranks * rows_of_a_shard())
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
  const int losses_wanted = alone ? support::draws(8, 12) : support::draws(12, 20);
  constexpr int losses_per_folder = 4;
  const unsigned first = support::first_seed(alone ? 0 : 1000);
  int losses = 0;
  for (unsigned seed = first; losses < losses_wanted && !HasFailure(); ++seed) {
    ASSERT_LT(seed - first, 30U) << "the power does not fail";
    Campaign campaign(alone, seed);
    bool failed = true;
    for (int i = 0; i < losses_per_folder && failed && losses < losses_wanted; ++i) {
      failed = campaign.lose_power();
      losses += failed ? 1 : 0;
    }
    campaign.bring_to_its_end();
    if (HasFailure()) std::printf("campaign with seed %u\n", seed);
  }
}

INSTANTIATE_TEST_SUITE_P(OfAJob, PowerLoss, ::testing::Values(true, false),
                         [](const auto& job) { return job.param ? "Alone" : "OfThreeRanks"; });

}  // namespace
}  // namespace tenex
