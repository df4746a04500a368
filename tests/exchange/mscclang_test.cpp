// MSCCLang XML: what the interpreter finds, in the file's words.
#include <gmock/gmock.h>

#include "foreign_support.hpp"

namespace tenex {
namespace {

using namespace exchange_test;  // NOLINT
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

/// An All-Reduce of two GPUs and one chunk: GPU 1 sends its input, GPU 0 adds it and sends the sum back.
std::string pair_sum(const std::string& third = step(1, "s", "i0", "i0")) {
  return algo("allreduce", 1, 2,
              gpu_of(0, tb(0, 1, 1, step(0, "rrc", "i0", "i0") + third)) +
                  gpu_of(1, tb(0, 0, 0, step(0, "s", "i0", "i0") + step(1, "r", "i0", "i0"))));
}

TEST(Mscclang, TwoGpusAddAndReturnTheSum) {
  const auto schedule = interpreted(pair_sum());
  EXPECT_TRUE(schedule.valid());
  EXPECT_EQ(schedule.kind, CollectiveKind::all_reduce);
  // One chunk is no multiple of two NPUs, so it is two chunks of tenex, one owned by each: 1 chunk per NPU.
  EXPECT_EQ(schedule.chunks_per_npu, 1);
  ASSERT_EQ(schedule.transfers.size(), 2U);
  EXPECT_EQ(schedule.transfers[0].stage, Stage::reduce);
  EXPECT_THAT(schedule.contributors[schedule.transfers[0].contributors], ElementsAre(1U));
  EXPECT_EQ(schedule.transfers[1].stage, Stage::copy);
  EXPECT_THAT(schedule.transfers[1].after, ElementsAre(0U));
  EXPECT_THAT(schedule.transfers[1].chunks, ElementsAre(ChunkId(0), ChunkId(1)));
}

TEST(Mscclang, MissingAndDoubleContributionsAreNamedWithTheirPlace) {
  // GPU 0 stores what comes in place of adding it: its own input is lost.
  const auto lost = algo("allreduce", 1, 2,
                         gpu_of(0, tb(0, 1, 1, step(0, "r", "i0", "i0") + step(1, "s", "i0", "i0"))) +
                             gpu_of(1, tb(0, 0, 0, step(0, "s", "i0", "i0") + step(1, "r", "i0", "i0"))));
  EXPECT_THAT(verdict_on(lost), StartsWith("missing 4:2 chunk 0 of gpu 0's output lacks chunk 0 of gpu 0's input"));
  // GPU 1 adds the sum, which has its input already.
  const auto twice = algo("allreduce", 1, 2,
                          gpu_of(0, tb(0, 1, 1, step(0, "rrc", "i0", "i0") + step(1, "s", "i0", "i0"))) +
                              gpu_of(1, tb(0, 0, 0, step(0, "s", "i0", "i0") + step(1, "rrc", "i0", "i0"))));
  EXPECT_THAT(verdict_on(twice),
              StartsWith("twice 11:2 gpu 1, tb 0, step 1 (rrc) adds chunk 0 of gpu 1's input for the second time"));
}

TEST(Mscclang, ReadingBeforeWritingIsFoundWhereItReachesAResult) {
  const auto text = algo("allgather", 2, 2,
                         gpu_of(0, tb(0, 1, 1, step(0, "s", "s0", "s0") + step(1, "r", "o1", "o1")), 1) +
                             gpu_of(1, tb(0, 0, 0, step(0, "s", "o1", "o1") + step(1, "r", "o0", "o0"))));
  EXPECT_THAT(verdict_on(text), StartsWith("read_before_written 4:2 gpu 0, tb 0, step 0 (s) reads a place"));
}

TEST(Mscclang, AWaitForAStepBelowZeroWaitsForNothing) {
  // GPU 0 passes on in threadblock 0 what threadblock 1 receives. Waiting for its step 0 orders them, for step -1 does
  // not: every published step number is at least -1 from the beginning.
  const auto text = [](int of) {
    return algo(
        "allgather", 3, 3,
        gpu_of(0, tb(0, 1, -1, step(0, "s", "o2", "o2", 1, 1, of) + step(1, "s", "o0", "o0")) +
                      tb(1, -1, 2, step(0, "r", "o2", "o2", 1, -1, -1, true)) +
                      tb(2, 2, 1, step(0, "s", "o0", "o0") + step(1, "r", "o1", "o1"))) +
            gpu_of(1, tb(0, 0, -1, step(0, "s", "o1", "o1")) +
                          tb(1, 2, 0, step(0, "s", "o1", "o1") + step(1, "r", "o2", "o2") + step(2, "r", "o0", "o0"))) +
            gpu_of(2, tb(0, 0, -1, step(0, "s", "o2", "o2")) + tb(1, -1, 0, step(0, "r", "o0", "o0")) +
                          tb(2, -1, 1, step(0, "r", "o1", "o1"))));
  };
  EXPECT_EQ(verdict_on(text(0)), "valid");
  EXPECT_THAT(verdict_on(text(-1)), StartsWith("race "));
}

TEST(Mscclang, ARaceNamesBothSteps) {
  // Threadblock 1 sends what threadblock 0 receives, and does not wait for it.
  const auto text = [](const std::string& send) {
    return algo("allgather", 3, 3,
                gpu_of(0, tb(0, -1, 2, step(0, "r", "o2", "o2", 1, -1, -1, true)) + tb(1, 1, -1, send) +
                              tb(2, 1, -1, step(0, "s", "o0", "o0"), 1) + tb(3, 2, -1, step(0, "s", "o0", "o0")) +
                              tb(4, -1, 1, step(0, "r", "o1", "o1"))) +
                    gpu_of(1, tb(0, -1, 0, step(0, "r", "o2", "o2")) + tb(1, -1, 0, step(0, "r", "o0", "o0"), 1) +
                                  tb(2, 0, -1, step(0, "s", "o1", "o1")) + tb(3, 2, -1, step(0, "s", "o1", "o1"))) +
                    gpu_of(2, tb(0, 0, -1, step(0, "s", "o2", "o2")) + tb(1, -1, 0, step(0, "r", "o0", "o0")) +
                                  tb(2, -1, 1, step(0, "r", "o1", "o1"))));
  };
  EXPECT_EQ(verdict_on(text(step(0, "s", "o2", "o2", 1, 0, 0))), "valid");
  EXPECT_THAT(verdict_on(text(step(0, "s", "o2", "o2"))),
              HasSubstr("gpu 0, tb 0, step 0 (r) writes what gpu 0, tb 1, step 0 (s) reads, and nothing orders them"));
}

TEST(Mscclang, ADeadlockSaysWhoWaitsForWhom) {
  // Both receive first.
  const auto text = algo("allgather", 2, 2,
                         gpu_of(0, tb(0, 1, 1, step(0, "r", "o1", "o1") + step(1, "s", "o0", "o0"))) +
                             gpu_of(1, tb(0, 0, 0, step(0, "r", "o0", "o0") + step(1, "s", "o1", "o1"))));
  EXPECT_THAT(verdict_on(text), StartsWith("deadlock 4:2 tbs wait for each other: gpu 0, tb 0, step 0 waits for a send "
                                           "of gpu 1, tb 0; gpu 1, tb 0, step 0 waits for a send of gpu 0, tb 0"));
  // A step waits for one that does not publish (hasdep="0").
  const auto unpublished =
      algo("allgather", 2, 2,
           gpu_of(0, tb(0, -1, 1, step(0, "r", "o1", "o1")) + tb(1, 1, -1, step(0, "s", "o0", "o0", 1, 0, 0))) +
               gpu_of(1, tb(0, 0, -1, step(0, "s", "o1", "o1")) + tb(1, -1, 0, step(0, "r", "o0", "o0"))));
  EXPECT_THAT(verdict_on(unpublished), HasSubstr("waits for tb 0 to publish step 0 or a later one, which never comes"));
  const auto alone = algo("allgather", 2, 2, gpu_of(0, tb(0, 1, -1, "")) + gpu_of(1, ""));
  EXPECT_THAT(verdict_on(alone), HasSubstr("no tb of gpu 1 receives there: the connection is never set up"));
}

TEST(Mscclang, AFifoFillsAtTheSizeOfItsSlots) {
  // An exchange of 4 chunks each way, where both send before they receive: a step of 4 chunks. Simple has 2 slots of
  // 2 MiB. With 2 chunks or more in a slot it takes 2 slots or fewer, with 1 it takes 4 and hangs. A slot holds one
  // chunk where a chunk has more than 2 MiB / 2 = 1 MiB; 8 chunks in all: from 8 MiB + 1 B on.
  const auto text = [](const std::string& more) {
    return algo("allgather", 8, 2,
                gpu_of(0, tb(0, 1, 1, step(0, "s", "o0", "o0", 4) + step(1, "r", "o4", "o4", 4))) +
                    gpu_of(1, tb(0, 0, 0, step(0, "s", "o4", "o4", 4) + step(1, "r", "o0", "o0", 4))),
                "inplace=\"1\" outofplace=\"0\" minBytes=\"0\" maxBytes=\"" + more + "\"");
  };
  EXPECT_EQ(interpreted(text("0")).hangs_from, Bytes::of((8 << 20) + 1));
  EXPECT_THAT(verdict_on(text("0")), StartsWith("hang 1:2 from 8388609 bytes on it hangs"));
  EXPECT_THAT(verdict_on(text("8388609")), StartsWith("hang"));
  EXPECT_EQ(verdict_on(text("8388608")), "valid");
}

TEST(Mscclang, ExecutorsThatRefuseAFileAreNamed) {
  const auto old = algo("allreduce", 1, 2,
                        gpu_of(0, tb(0, 1, 1, step(0, "rrc", "i0", "i0") + step(1, "s", "i0", "i0"))) +
                            gpu_of(1, tb(0, 0, 0, step(0, "s", "i0", "i0") + step(1, "r", "i0", "i0"))),
                        "inplace=\"1\"");
  EXPECT_THAT(interpreted(old).notes, ElementsAre("azure refuses the file (it lacks minBytes, maxBytes, outofplace)",
                                                  "rccl refuses the file (it lacks minBytes, maxBytes, outofplace)"));
  EXPECT_THAT(interpreted(pair_sum()).notes, IsEmpty());
}

TEST(Mscclang, WhatIsNotReadHasAPlace) {
  const auto refusal = [](const std::string& text) {
    const auto schedule = interpret_schedule({"some.file", text});
    return schedule.ok() ? std::string("read") : to_string(schedule.errors());
  };
  EXPECT_THAT(refusal(algo("broadcast", 1, 2, gpu_of(0, "") + gpu_of(1, ""))),
              HasSubstr("some.file:1:2: coll is \"broadcast\""));
  EXPECT_THAT(refusal(algo("allgather", 3, 2, "")), HasSubstr("nchunksperloop is 3"));
  EXPECT_THAT(refusal(algo("allgather", 2, 2, gpu_of(1, ""))), HasSubstr("gpu 1 where gpu 0 is next"));
  EXPECT_THAT(refusal(algo("allgather", 2, 2, gpu_of(0, tb(0, 1, -1, step(0, "send", "o0", "o0"))))),
              HasSubstr("the step's type is \"send\""));
  EXPECT_THAT(refusal("<algo/>"), HasSubstr("some.file:1:"));
  EXPECT_THAT(verdict_on(pair_sum(step(1, "s", "i7", "i7"))), HasSubstr("takes chunk 7 of buffer i, which has 1"));
}

}  // namespace
}  // namespace tenex
