// mscclpp plans, ForestColl trees and TE-CCL outputs: what the interpreters find, in the file's words.
#include <gmock/gmock.h>

#include "foreign_support.hpp"

namespace tenex {
namespace {

using namespace exchange_test;  // NOLINT
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// A plan for an All-Gather in place of two GPUs: each puts its chunk into the other's output. `before` the put stands
/// the handshake, `after` the operations behind it.
std::string gather_plan(const std::string& before, const std::string& after) {
  std::string text =
      "{\"name\": \"g\", \"collective\": \"allgather\", \"protocol\": \"Simple\", \"inplace\": true, \"gpus\": [\n";
  for (int rank = 0; rank < 2; ++rank) {
    const auto own = std::to_string(rank);
    const auto peer = std::to_string(1 - rank);
    text += "{\"id\": " + own +
            ", \"input_chunks\": 1, \"output_chunks\": 2, \"scratch_chunks\": 0, \"threadblocks\": [{\"id\": 0, "
            "\"ops\": [\n" +
            before + "{\"name\": \"put\", \"src_buff\": [{\"type\": \"o\", \"index\": " + own +
            ", \"size\": 1}], \"dst_buff\": [{\"buffer_id\": 0, \"index\": " + own +
            ", \"size\": 1}], \"channel_type\": \"memory\"},\n" + after +
            "], \"channels\": [{\"channel_type\": \"memory\", \"channel_ids\": [0]}], \"remote_buffer_refs\": "
            "[{\"access_channel_type\": \"memory\", \"remote_buffer_ids\": [0]}]}], \"channels\": [{\"channel_type\": "
            "\"memory\", \"connected_to\": [" +
            peer + "]}], \"remote_buffers\": [{\"rank\": " + peer +
            ", \"type\": \"o\", \"access_channel_types\": [\"memory\"]}], \"semaphores\": []}" +
            (rank == 0 ? ",\n" : "");
  }
  return text + "]}";
}
std::string op(const std::string& name) {
  if (name == "nop") return "{\"name\": \"nop\"}";
  return "{\"name\": \"" + name + "\", \"channel_ids\": [0], \"channel_type\": \"memory\"}";
}
const std::string kHandshake = op("rlxsignal") + ",\n" + op("rlxwait") + ",\n" + op("nop") + ",\n";  // NOLINT

TEST(MscclppPlan, AHandshakePutsAndSignals) {
  const auto end = op("nop") + ",\n" + op("signal") + ",\n" + op("wait") + ",\n" + op("nop");
  EXPECT_EQ(verdict_on(gather_plan(kHandshake, end)), "valid");
  const auto schedule = interpreted(gather_plan(kHandshake, end));
  ASSERT_EQ(schedule.transfers.size(), 2U);
  for (const auto& transfer : schedule.transfers)
    EXPECT_THAT(transfer.chunks, ElementsAre(ChunkId(transfer.source.value())));
}

TEST(MscclppPlan, WhatIsNotOrderedRaces) {
  const auto end = op("nop") + ",\n" + op("signal") + ",\n" + op("wait") + ",\n" + op("nop");
  EXPECT_THAT(verdict_on(gather_plan("", end)), HasSubstr("before anything says that its launch has begun"));
  // Without a nop the signal may be seen before the put is done, so nothing says that the output is there.
  EXPECT_THAT(verdict_on(gather_plan(kHandshake, op("signal") + ",\n" + op("wait") + ",\n" + op("nop"))),
              HasSubstr("writes buffers of gpu 0, whose launch may end before"));
  EXPECT_THAT(verdict_on(gather_plan(kHandshake, op("nop") + ",\n" + op("signal"))),
              HasSubstr("which never waits for it: the next launch would take it for its own"));
  EXPECT_THAT(
      verdict_on(gather_plan(kHandshake, op("wait") + ",\n" + op("nop"))),
      HasSubstr("2 threadblocks wait for what never comes: gpu 0, threadblock 0, op 4 (wait) waits for a signal "
                "of gpu 1 on their memory channel 0"));
}

TEST(MscclppPlan, OlderSchemasAndLimitsAreRefused) {
  const auto old = interpret_schedule({"old.json",
                                       "{\"name\": \"s\", \"protocol\": \"Simple\", \"gpus\": [{\"id\": 0, "
                                       "\"inputChunks\": 1}]}"});
  EXPECT_THAT(to_string(old.errors()), HasSubstr("an older plan schema"));
  std::string many;
  for (int i = 0; i < 64; ++i) many += op("nop") + ",\n";
  EXPECT_THAT(verdict_on(gather_plan(kHandshake + many, op("nop"))),
              HasSubstr("mscclpp refuses it: it has 69 ops, at most 64 are run"));
}

std::string tree(const std::string& root, const std::string& sends) {
  return "<tree root=\"" + root + "\" index=\"0\" nchunks=\"1\" height=\"1\">\n" + sends + "</tree>\n";
}
std::string send(const std::string& from, const std::string& to) {
  return "<send src=\"" + from + "\" dst=\"" + to + "\" path=\"\"/>\n";
}

TEST(ForestcollTrees, EveryTreeReachesAllFromItsRoot) {
  const std::string a = "(0, 'GPU', 0)";
  const std::string b = "(0, 'GPU', 1)";
  const std::string c = "(1, 'GPU', 0)";
  const auto head = std::string("<Algo nchunkspernode=\"1\">\n");
  const auto others = tree(b, send(b, c) + send(c, a)) + tree(c, send(c, a) + send(a, b)) + "</Algo>\n";
  const auto good = head + tree(a, send(a, b) + send(b, c)) + others;
  EXPECT_EQ(verdict_on(good), "valid");
  const auto schedule = interpreted(good);
  EXPECT_EQ(schedule.npus, 3U);
  EXPECT_THAT(schedule.transfers[1].after, ElementsAre(0U));
  EXPECT_THAT(verdict_on(head + tree(a, send(b, c) + send(a, b)) + others),
              StartsWith("read_before_written 3:2 the send from (0, 'GPU', 1) to (1, 'GPU', 0)"));
  EXPECT_THAT(verdict_on(head + tree(a, send(a, b)) + others), HasSubstr("does not reach (1, 'GPU', 0)"));
  EXPECT_THAT(verdict_on(head + tree(a, send(a, b) + send(b, c) + send(a, c)) + others), HasSubstr("reached before"));
  EXPECT_THAT(verdict_on(head + others), HasSubstr("the trees of root (0, 'GPU', 0) carry 0 of its 1 chunks"));
}

std::string output(const std::string& flows) {
  return "{\"1-Epoch_Duration\": 1.0, \"4-Collective_Finish_Time\": 2.0, \"5-Algo_Bandwidth\": 3.0,\n\"7-Flows\": [\n" +
         flows + "]}";
}

TEST(TeCclOutput, FlowsMayOnlyPassOnWhatCameInAnEarlierEpoch) {
  const std::string first =
      "\"Chunk 0 from 0 traveled over 0->1 in epoch 0\",\n"
      "\"Chunk 0 from 1 traveled over 1->0 in epoch 0\",\n"
      "\"Chunk 0 from 2 traveled over 2->1 in epoch 0 via switches 3\",\n"
      "\"Chunk 0 from 1 traveled over 1->2 in epoch 0\",\n"
      "\"Chunk 0 from 0 traveled over 1->2 in epoch 1\",\n";
  const auto good = output(first + "\"Chunk 0 from 2 traveled over 1->0 in epoch 1\"");
  EXPECT_EQ(verdict_on(good), "valid");
  const auto schedule = interpreted(good);
  EXPECT_EQ(schedule.own_size, Bytes::of(6'000'000'000));  // 3 GB/s for 2 s
  EXPECT_EQ(schedule.own_time, picoseconds(2'000'000'000'000));
  EXPECT_THAT(
      verdict_on(output(first + "\"Chunk 0 from 2 traveled over 1->0 in epoch 0\"")),
      StartsWith("read_before_written 8:1 \"Chunk 0 from 2 traveled over 1->0 in epoch 0\": GPU 1 does not have"));
}

TEST(TeCclOutput, AGpuThatTheFlowsTakeForASwitchGetsNothing) {
  // Three NPUs of which the flows use 1 and 2, as upstream's NDv2 outputs leave out GPU 0: 2 of 6 pairs are met.
  const auto text = output(
      "\"Chunk 0 from 1 traveled over 1->2 in epoch 0 via switches 0\",\n"
      "\"Chunk 0 from 2 traveled over 2->1 in epoch 0\"");
  EXPECT_EQ(verdict_on(text), "valid");
  EXPECT_THAT(verdict_on(text, 3), HasSubstr("2 of 6 pairs are met; GPU 0 neither sends nor receives"));
}

}  // namespace
}  // namespace tenex
