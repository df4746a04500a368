// Ownership of a lock: two processes find a dead run's lock at the same time, the lock belongs to another run by now, a
// child was forked meanwhile.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string>
#include <utility>

#include "store/rows.hpp"
#include "support/draws.hpp"
#include "support/process.hpp"
#include "tenex/base/random.hpp"
#include "tenex/store/store.hpp"

namespace tenex {
namespace {

using support::TemporaryFolder;
using test::study_of;

/// Starts a process that waits for a byte on `begin`, tries to take the folder and reports the result on `says`. After
/// a byte on `end` it ends as if killed.
pid_t start_taker(const std::filesystem::path& folder, int begin, int says, const std::array<int, 2>& end,
                  useconds_t delay) {
  const auto study = study_of(1);
  const auto child = ::fork();
  if (child != 0) return child;
  ::close(end[1]);  // so that a failed test does not leave it waiting
  char word = 0;
  if (::read(begin, &word, 1) != 1) ::_exit(1);
  ::usleep(delay);
  const auto held = ResultFolder::open(folder, study, {});
  word = held.ok() ? 'y' : 'n';
  if (::write(says, &word, 1) != 1 || ::read(end[0], &word, 1) != 1) ::_exit(1);
  ::_exit(0);
}

TEST(ResultFolder, OfADeadProcessGoesToOneOfTwoThatTryAtOnce) {
  const TemporaryFolder folder;
  std::array<int, 2> begin{};
  std::array<int, 2> says{};
  std::array<int, 2> end{};
  ASSERT_TRUE(::pipe(begin.data()) == 0 && ::pipe(says.data()) == 0 && ::pipe(end.data()) == 0);
  Random random(2026);
  // From the second round on the folder has the lock of the round before, whose process is dead.
  for (int round = 0; round < support::draws(60, 300); ++round) {
    std::array<pid_t, 2> takers{};
    for (auto& taker : takers)
      taker = start_taker(folder.path(), begin[0], says[1], end, static_cast<useconds_t>(random.below(400)));
    ASSERT_EQ(::write(begin[1], "go", 2), 2);
    std::string answers;
    for (char word = 0; answers.size() < 2 && ::read(says[0], &word, 1) == 1;) answers += word;
    ASSERT_TRUE(answers == "yn" || answers == "ny") << "round " << round << ": " << answers;
    ASSERT_EQ(::write(end[1], "go", 2), 2);
    for (const auto taker : takers) ::waitpid(taker, nullptr, 0);
  }
}

TEST(ResultFolder, LeavesALockAloneThatIsAnotherRunsByNow) {
  const TemporaryFolder folder;
  const std::string another = "elsewhere\n1\n0\n12345\n";
  {
    const auto opened = ResultFolder::open(folder.path(), study_of(1), {});
    ASSERT_TRUE(opened.ok());
    support::write_text(folder.path() / "lock", another);
  }
  EXPECT_EQ(support::read_text(folder.path() / "lock"), another);
}

TEST(ResultFolder, StaysWithTheParentOfAForkedChild) {
  const TemporaryFolder folder;
  auto opened = ResultFolder::open(folder.path(), study_of(1), {});
  ASSERT_TRUE(opened.ok());
  const auto child = ::fork();
  if (child == 0) {
    ::alarm(5);  // a child that joined the heartbeat's thread, which it does not have, would wait for ever
    { const auto gone = std::move(*opened); }
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "the child hangs";
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "lock"));
  EXPECT_FALSE(ResultFolder::open(folder.path(), study_of(1), {}).ok());
}

}  // namespace
}  // namespace tenex
