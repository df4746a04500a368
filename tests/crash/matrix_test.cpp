// The crash matrix: {worker, coordinator, whole job} x {SIGKILL, SIGTERM, disk full, torn shard, torn journal line} at
// random instants. In every case the same command continues, the result equals that of an undisturbed run, and no point
// whose row counts is evaluated again.
//
// Instants are calls that change the result folder, or moments. Every cell draws its faults from its own seed; only
// faults that happened count.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <ostream>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "crash/journals.hpp"
#include "crash/small_job.hpp"
#include "crash/undisturbed.hpp"
#include "support/draws.hpp"
#include "support/process.hpp"
#include "support/results.hpp"
#include "tenex/store/crashes.hpp"
#include "tenex/store/store.hpp"

namespace tenex {
namespace {

using namespace crash_tests;
namespace fs = std::filesystem;

constexpr int faults_per_folder = 4;  // then the study of the folder is completed
/// 15 cells: 90 in all; under the label `long` 315.
int faults_per_cell() { return support::draws(6, 21); }

enum class Victim { worker, coordinator, whole_job };
enum class Fault { sigkill, sigterm, full_disk, torn_shard, torn_journal };

const char* name_of(Victim victim) {
  static constexpr std::array names{"Worker", "Coordinator", "WholeJob"};
  return names.at(static_cast<std::size_t>(victim));
}
const char* name_of(Fault fault) {
  static constexpr std::array names{"SIGKILL", "SIGTERM", "FullDisk", "TornShard", "TornJournalLine"};
  return names.at(static_cast<std::size_t>(fault));
}
void PrintTo(Victim victim, std::ostream* out) { *out << name_of(victim); }
void PrintTo(Fault fault, std::ostream* out) { *out << name_of(fault); }
/// The value of CRASH_WHAT.
const char* word_of(Fault fault) {
  static constexpr std::array words{"SIGKILL", "SIGTERM", "full", "shards", "journal"};
  return words.at(static_cast<std::size_t>(fault));
}

/// Made only once.
const Undisturbed& truth() {
  static const Undisturbed the_truth(small_study(), points());
  return the_truth;
}

/// One folder that is disturbed several times.
class Campaign {
 public:
  Campaign(Victim victim, Fault fault, unsigned seed, bool alone)
      : victim_(victim), fault_(fault), alone_(alone), random_(seed) {}

  /// Runs the job with one fault; returns whether it happened. If not, the study of the folder is complete.
  bool disturb() {
    const bool by_moment = (fault_ == Fault::sigkill || fault_ == Fault::sigterm) && draw(0, 2) == 0;
    const auto before = keys_done();
    if (before.size() == points() && victim_ == Victim::worker) return false;  // it would have nothing to do
    const auto happened = by_moment ? disturb_at_a_moment() : disturb_at_a_call(points() - before.size());
    expect_nothing_begun_twice(before);
    if (happened) spoil_what_is_stored();
    return happened;
  }

  [[nodiscard]] std::size_t rows_damaged() const { return rows_damaged_; }

  void bring_to_its_end() {
    const auto before = keys_done();
    const support::TemporaryFolder output;
    support::Child child(command({}), output.path());
    const auto last = child.wait(support::longest_wait);
    ASSERT_EQ(last.status(), 0) << last.out << last.err;
    expect_nothing_begun_twice(before);
    support::expect_same_rows(truth().out() / "study.h5", out() / "study.h5");
    // Every point once, and once more if its shard was damaged after it counted.
    EXPECT_EQ(tally(out()).rows_committed, points() + rows_damaged_) << "rows committed";
  }

 private:
  [[nodiscard]] fs::path out() const { return folder_.path() / "out"; }
  int draw(int from, int to) { return std::uniform_int_distribution(from, to)(random_); }

  [[nodiscard]] support::Command command(Environment fault) const {
    return small_job(alone_, victim_ == Victim::coordinator ? soon : never, truth().study_file(), out(), CRASH_SHIM,
                     std::move(fault));
  }

  int draw_rank() {
    if (alone_ || victim_ == Victim::coordinator) return 0;
    return victim_ == Victim::worker ? draw(1, ranks - 1) : draw(0, ranks - 1);
  }

  bool disturb_at_a_call(std::size_t points_left) {
    const auto note = folder_.path() / "note";
    fs::remove(note);
    const int rank = draw_rank();
    const support::TemporaryFolder output;
    support::Child child(
        command({{"CRASH_RANK", std::to_string(rank)},
                 {"CRASH_AT", std::to_string(draw_call(calls_for(alone_, rank, points_left), random_))},
                 {"CRASH_WHAT", word_of(fault_)},
                 {"CRASH_SCOPE", victim_ == Victim::whole_job ? "group" : "self"},
                 {"CRASH_NOTE", note.string()}}),
        output.path());
    const auto end = child.wait(support::longest_wait);
    EXPECT_TRUE(end.finished) << "the job hangs: " << end.out << end.err;
    leave_no_rank(end.out);
    const bool happened = fs::exists(note);
    if (happened) expect_end(end);
    return happened;
  }

  bool disturb_at_a_moment() {
    const support::TemporaryFolder output;
    support::Child child(command({}), output.path());
    std::this_thread::sleep_for(std::chrono::microseconds(draw(1'000, support::draws(100'000, 300'000))));
    const int signal = fault_ == Fault::sigkill ? SIGKILL : SIGTERM;
    bool happened = child.running();
    if (victim_ == Victim::whole_job) {
      if (happened) child.signal_group(signal);
    } else {
      const auto pid = pid_of(draw_rank(), child.out());
      happened = happened && pid > 0 && ::kill(pid, 0) == 0 && !is_zombie(pid);
      if (happened) ::kill(pid, signal);
    }
    const auto end = child.wait(support::longest_wait);
    EXPECT_TRUE(end.finished) << "the job hangs: " << end.out << end.err;
    leave_no_rank(end.out);
    return happened;
  }

  static bool is_zombie(pid_t pid) {
    const auto stat = support::read_text("/proc/" + std::to_string(pid) + "/stat");
    const auto name_end = stat.rfind(')');
    return name_end == std::string::npos || stat.substr(name_end + 2, 1) == "Z";
  }

  /// If a worker died, the others complete the study. A full disk is reported.
  void expect_end(const support::Finished& end) const {
    const bool dies = fault_ != Fault::sigterm && fault_ != Fault::full_disk;
    if (victim_ == Victim::worker && dies) {
      EXPECT_EQ(end.status(), 0) << end.out << end.err;
      EXPECT_NE(end.out.find("lost_ranks 1"), std::string::npos) << end.out;
    }
    if (fault_ == Fault::full_disk && end.status() != 0) {
      EXPECT_NE(end.err.find("No space left on device"), std::string::npos) << end.err;
    }
  }

  /// The points with a row that counts, as the store reports them.
  [[nodiscard]] std::set<std::string> keys_done() const {
    std::set<std::string> keys;
    for (const auto& [incarnation, rank] : tally(out()).writers) {
      const auto trace = read_trace(out(), truth().study(), incarnation, rank);
      EXPECT_TRUE(trace.ok()) << to_string(trace.errors());
      for (const auto point : trace->committed) keys.insert(to_string(truth().study().points.key(point)));
    }
    last_incarnation_ = keys_last_incarnation();
    return keys;
  }
  [[nodiscard]] unsigned keys_last_incarnation() const {
    const auto writers = tally(out()).writers;
    return writers.empty() ? 0 : writers.rbegin()->first;
  }

  /// A run begins no point that had a row before.
  void expect_nothing_begun_twice(const std::set<std::string>& before) const {
    for (const auto& [incarnation, keys] : tally(out()).begun) {
      if (incarnation <= last_incarnation_) continue;
      for (const auto& key : keys) EXPECT_FALSE(before.contains(key)) << key << " begun again in run " << incarnation;
    }
  }

  /// Tears files as only a crash of the host does: a committed shard is shortened, a journal loses its end.
  void spoil_what_is_stored() {
    if (fault_ == Fault::torn_shard) shorten_a_shard();
    if (fault_ == Fault::torn_journal) shorten_a_journal();
  }

  void shorten_a_shard() {
    const auto live = tally(out()).live;
    if (live.empty() || draw(0, 1) == 0) return;
    const auto chosen = std::next(live.begin(), draw(0, static_cast<int>(live.size()) - 1));
    const auto file = out() / "shards" / chosen->first;
    if (spoiled_.contains(chosen->first) || !fs::exists(file)) return;
    fs::resize_file(file, static_cast<std::uintmax_t>(draw(0, static_cast<int>(fs::file_size(file)) - 1)));
    spoiled_.insert(chosen->first);
    rows_damaged_ += chosen->second;
  }

  void shorten_a_journal() {
    std::vector<fs::path> journals;
    for (const auto& journal : fs::directory_iterator(out() / "journal")) journals.push_back(journal.path());
    std::ranges::sort(journals);
    if (journals.empty() || draw(0, 1) == 0) return;
    const auto& journal = journals[static_cast<std::size_t>(draw(0, static_cast<int>(journals.size()) - 1))];
    const auto text = support::read_text(journal);
    const auto line = text.rfind('\n');
    // Shards are removed only once the line that replaces them is durable, so such a line cannot be lost.
    if (line == std::string::npos || line == 0 || text.substr(line + 1, 8) == "replaces") return;
    fs::resize_file(journal,
                    static_cast<std::uintmax_t>(draw(static_cast<int>(line), static_cast<int>(text.size()) - 1)));
  }

  Victim victim_;
  Fault fault_;
  bool alone_;
  std::mt19937 random_;
  support::TemporaryFolder folder_;
  std::set<std::string> spoiled_;
  std::size_t rows_damaged_ = 0;
  mutable unsigned last_incarnation_ = 0;  ///< at the last call of keys_done()
};

class CrashMatrix : public ::testing::TestWithParam<std::tuple<Victim, Fault>> {};

TEST_P(CrashMatrix, ResumesToTheSameRowsAndEvaluatesNothingTwice) {
  const auto [victim, fault] = GetParam();
  (void)truth();
  const int wanted = faults_per_cell();
  std::atomic<int> faults = 0;
  std::atomic<unsigned> next =
      support::first_seed(1000U * (5U * static_cast<unsigned>(victim) + static_cast<unsigned>(fault)));
  const unsigned first = next;
  std::atomic<std::size_t> damaged = 0;
  const auto enough = [&] { return faults >= wanted && (fault != Fault::torn_shard || damaged > 0); };
  const auto go_on = [&, victim = victim, fault = fault] {
    while (!enough() && !::testing::Test::HasFailure()) {
      const auto seed = next++;
      ASSERT_LT(seed - first, 100U) << "faults do not happen, or no committed shard is shortened";
      Campaign campaign(victim, fault, seed, victim == Victim::whole_job && seed % 2 == 0);
      bool happened = true;
      for (int i = 0; i < faults_per_folder && happened && !enough(); ++i) {
        happened = campaign.disturb();
        faults += happened ? 1 : 0;
      }
      campaign.bring_to_its_end();
      damaged += campaign.rows_damaged();
      if (::testing::Test::HasFailure()) std::printf("campaign with seed %u\n", seed);
    }
  };
  std::thread beside(go_on);  // jobs spend much of their time waiting
  go_on();
  beside.join();
  std::printf("%d faults in %u folders, %zu committed rows damaged\n", faults.load(), next - first, damaged.load());
}

INSTANTIATE_TEST_SUITE_P(All, CrashMatrix,
                         ::testing::Combine(::testing::Values(Victim::worker, Victim::coordinator, Victim::whole_job),
                                            ::testing::Values(Fault::sigkill, Fault::sigterm, Fault::full_disk,
                                                              Fault::torn_shard, Fault::torn_journal)),
                         [](const auto& cell) {
                           return std::string(name_of(std::get<0>(cell.param))) + name_of(std::get<1>(cell.param));
                         });

}  // namespace
}  // namespace tenex
