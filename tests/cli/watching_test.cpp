// A run in progress, and a plan before it: answers to interrupts, the time left, and costs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "cli/seeing.hpp"

namespace tenex {
namespace {

using support::Child;
using testing::endless;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::number_of;
using testing::rings;
using testing::tenex;
using testing::text_of;

class Watching : public testing::Seeing {};

/// Waits until a run has written this on stderr.
void wait_for_word(Child& run, const std::string& word) {
  for (int i = 0; i < 4000 && run.running() && run.err().find(word) == std::string::npos; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(25));
}

TEST_F(Watching, AnInterruptIsAnsweredAtOnceAndASecondOneEndsTheRun) {
  Child run({{TENEX_BINARY, "run", study("schema = 1\nname = \"long\"\n" + endless), "--out", out(), "--threads", "1",
              "--quiet"},
             {},
             {}},
            folder_.path());
  for (int i = 0; i < 4000 && number_of(tenex({"status", out(), "--json"}).out, "running_seconds") <= 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(25));
  run.signal(SIGINT);
  wait_for_word(run, "Ctrl-C");
  ASSERT_TRUE(run.running()) << "the point takes minutes: " << run.err();
  EXPECT_THAT(run.err(),
              HasSubstr("interrupted: no further point begins, one running point finishes first (the longest "
                        "is expected to take "));
  EXPECT_THAT(run.err(), HasSubstr(" more); press Ctrl-C again to end now; the same command continues"));
  run.signal(SIGINT);
  const auto ended = run.wait();
  EXPECT_EQ(ended.status(), 3) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("the run ends now"));
  const auto status = tenex({"status", out(), "--json"}).out;
  EXPECT_EQ(text_of(status, "state"), "interrupted") << status;
  EXPECT_EQ(number_of(status, "interrupted"), 1);
}

TEST_F(Watching, ASignalOfTheBatchSystemIsAnsweredWithoutAWordOfKeys) {
  Child run({{TENEX_BINARY, "run", study("schema = 1\nname = \"long\"\n" + endless), "--out", out(), "--threads", "1"},
             {},
             {}},
            folder_.path());
  for (int i = 0; i < 4000 && number_of(tenex({"status", out(), "--json"}).out, "running_seconds") <= 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(25));
  run.signal(SIGUSR1);
  wait_for_word(run, "the same command continues");
  EXPECT_TRUE(run.running());
  EXPECT_THAT(run.err(), HasSubstr("asked to stop by a signal: no further point begins, one running point finishes"));
  EXPECT_THAT(run.err(), Not(HasSubstr("Ctrl-C")));
  std::string seen;
  for (int i = 0; i < 2000 && seen.find("\"draining\":true") == std::string::npos; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(25));
    seen = tenex({"status", out(), "--json"}).out;
  }
  EXPECT_THAT(seen, HasSubstr("\"draining\":true"));
}

TEST_F(Watching, APlanSaysHowLongItTakesHereAndWhatCostsMost) {
  const auto file = study(rings("[\"1KiB\", \"1MiB\"]") + "[[sweep]]\nname = \"the mesh\"\n" +
                          endless.substr(endless.find('\n') + 1));
  const auto here = tenex({"plan", file, "--threads", "1", "--json"}).out;
  const double work = number_of(here, "expected_core_seconds");
  EXPECT_GT(work, 0);
  EXPECT_NEAR(number_of(here, "expected_wall_seconds"), work, 1e-6 * work) << "one thread";
  EXPECT_EQ(number_of(here, "threads"), 1);
  EXPECT_GE(number_of(here, "cores"), 1);
  // By descending cost: the mesh by tacos, then the two rings of the first sweep, which has no name.
  const auto sweeps = here.substr(here.find("\"sweeps\":"));
  EXPECT_THAT(sweeps, HasSubstr("\"sweeps\":[{\"sweep\":\"the mesh\",\"points\":1,"));
  EXPECT_THAT(sweeps, HasSubstr("{\"sweep\":\"1\",\"points\":2,"));
  EXPECT_GT(number_of(sweeps, "share"), 0.99);
  EXPECT_THAT(sweeps, HasSubstr("\"algorithms\":[{\"algorithm\":\"tacos\",\"points\":1,"));
  EXPECT_THAT(sweeps, HasSubstr("{\"algorithm\":\"ring\",\"points\":2,"));
  const auto text = tenex({"plan", file}).out;
  EXPECT_THAT(text, HasSubstr("expected_wall_seconds"));
  EXPECT_THAT(text, HasSubstr("  sweep=the mesh points=1 expected_core_seconds="));
  EXPECT_THAT(text, HasSubstr("  algorithm=tacos points=1 expected_core_seconds="));
}

}  // namespace
}  // namespace tenex
