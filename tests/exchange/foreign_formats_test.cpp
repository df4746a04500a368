// mscclpp plans, ForestColl trees and TE-CCL outputs: what the interpreters find, in the file's words.
#include <gmock/gmock.h>

#include "foreign_support.hpp"

namespace tenex {
namespace {

using namespace exchange_test;  // NOLINT
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// A plan for an All-Gather in place of two GPUs: each puts its chunks into the other's output, a range for each.
/// `before` the put stands the handshake, `after` the operations behind it.
std::string gather_plan(const std::string& before, const std::string& after, const std::string& put = "put",
                        int chunks = 1) {
  std::string text =
      "{\"name\": \"g\", \"collective\": \"allgather\", \"protocol\": \"Simple\", \"inplace\": true, \"gpus\": [\n";
  for (int rank = 0; rank < 2; ++rank) {
    std::string from;
    std::string to;
    for (int chunk = rank * chunks; chunk < (rank + 1) * chunks; ++chunk) {
      const auto rest = ", \"index\": " + std::to_string(chunk) + ", \"size\": 1}";
      from += (from.empty() ? "{\"type\": \"o\"" : ", {\"type\": \"o\"") + rest;
      to += (to.empty() ? "{\"buffer_id\": 0" : ", {\"buffer_id\": 0") + rest;
    }
    const auto peer = std::to_string(1 - rank);
    text += "{\"id\": " + std::to_string(rank) + ", \"input_chunks\": " + std::to_string(chunks) +
            ", \"output_chunks\": " + std::to_string(2 * chunks) +
            ", \"scratch_chunks\": 0, \"threadblocks\": [{\"id\": 0, \"ops\": [\n" + before + "{\"name\": \"" + put +
            "\", \"src_buff\": [" + from + "], \"dst_buff\": [" + to + "], \"channel_type\": \"memory\"},\n" + after +
            "], \"channels\": [{\"channel_type\": \"memory\", \"channel_ids\": [0]}], \"remote_buffer_refs\": "
            "[{\"access_channel_type\": \"memory\", \"remote_buffer_ids\": [0]}]}], \"channels\": [{\"channel_type\": "
            "\"memory\", \"connected_to\": [" +
            peer + "]}], \"remote_buffers\": [{\"rank\": " + peer +
            ", \"type\": \"o\", \"access_channel_types\": [\"memory\"]}], \"semaphores\": []}" +
            (rank == 0 ? ",\n" : "");
  }
  return text + "]}";
}
/// The same plan over port channels.
std::string over_ports(std::string plan) {
  for (auto at = plan.find("memory"); at != std::string::npos; at = plan.find("memory", at))
    plan.replace(at, 6, "port");
  return plan;
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

TEST(MscclppPlan, APortsSignalFollowsThePutsOfItsOwnThread) {
  const auto wait = op("wait") + ",\n" + op("nop");
  const auto told = wait + ",\n" + op("rlxsignal") + ",\n" + op("rlxwait");
  // Each of two ranges is pushed by a thread of its own: only after a nop does the signal follow both.
  const auto valid = gather_plan(kHandshake, op("nop") + ",\n" + op("signal") + ",\n" + told, "put", 2);
  EXPECT_EQ(verdict_on(over_ports(valid)), "valid");
  EXPECT_THAT(verdict_on(over_ports(gather_plan(kHandshake, op("signal") + ",\n" + wait, "put", 2))),
              HasSubstr("writes buffers of gpu 0, whose launch may end before"));
  // One range and the signal are of one thread.
  EXPECT_EQ(verdict_on(over_ports(gather_plan(kHandshake, op("signal") + ",\n" + told))), "valid");
  EXPECT_EQ(verdict_on(over_ports(gather_plan(kHandshake, told, "pws"))), "valid");
  // Each range of a put with signal signals.
  EXPECT_THAT(verdict_on(over_ports(gather_plan(kHandshake, told, "pws", 2))),
              HasSubstr("which never waits for it: the next launch would take it for its own"));
}

TEST(MscclppPlan, ALaunchEndsWhenAPortHasReadItsSource) {
  const auto wait = op("wait") + ",\n" + op("nop");
  const auto note = HasSubstr("the launch can end while a port channel still reads its source");
  EXPECT_THAT(interpreted(over_ports(gather_plan(kHandshake, wait, "pws"))).notes, Contains(note));
  const auto told = wait + ",\n" + op("rlxsignal") + ",\n" + op("rlxwait");
  EXPECT_THAT(interpreted(over_ports(gather_plan(kHandshake, told, "pws"))).notes, Not(Contains(note)));
  EXPECT_THAT(interpreted(over_ports(gather_plan(kHandshake, wait, "pwsf"))).notes,
              ElementsAre(HasSubstr("pwsf reads its source at a wrong offset")));
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

// An All-to-All of three GPUs in a line 1 - 2 - 3 (switch 0 is none of them). What 1 has for 3 goes over 2 in two
// parts, 0.4 and 0.6; what 3 has for 1 whole. Each flow over 2 takes what came first.
std::string divided(const std::string& last) {
  return output(
      "\"Chunk 1 from 1 traveled over 1->2 with volume 1.0 in epoch 0\",\n"
      "\"Chunk 0 from 2 traveled over 2->1 with volume 1.0 in epoch 0 via switches 0\",\n"
      "\"Chunk 2 from 2 traveled over 2->3 with volume 1.0 in epoch 0\",\n"
      "\"Chunk 1 from 3 traveled over 3->2 with volume 1.0 in epoch 0\",\n"
      "\"Chunk 2 from 1 traveled over 1->2 with volume 0.4 in epoch 1\",\n"
      "\"Chunk 2 from 1 traveled over 1->2 with volume 0.6 in epoch 2\",\n"
      "\"Chunk 0 from 3 traveled over 3->2 with volume 1.0 in epoch 1\",\n"
      "\"Chunk 0 from 3 traveled over 2->1 with volume 0.9999995 in epoch 2\",\n" +
      last);
}

TEST(TeCclOutput, VolumesAreFollowedAsPieces) {
  const std::string whole = "\"Chunk 2 from 1 traveled over 2->3 with volume 1.0 in epoch 3\"";
  const auto schedule = interpreted(divided(whole));
  ASSERT_TRUE(schedule.valid()) << schedule.wrong.front().message;
  EXPECT_EQ(schedule.kind, CollectiveKind::all_to_all);
  EXPECT_EQ(schedule.npus, 3U);
  EXPECT_EQ(schedule.chunks_per_npu, 1);
  // Pieces by source and destination; NPUs 0, 1, 2 are GPUs 1, 2, 3.
  EXPECT_THAT(schedule.pieces,
              ElementsAre(ForeignPiece{0, 1, 1'000'000}, ForeignPiece{0, 2, 400'000}, ForeignPiece{0, 2, 600'000},
                          ForeignPiece{1, 0, 1'000'000}, ForeignPiece{1, 2, 1'000'000}, ForeignPiece{2, 0, 1'000'000},
                          ForeignPiece{2, 1, 1'000'000}));
  EXPECT_EQ(schedule.transfers.size(), 10U);  // the two pieces and chunk 0 of GPU 3 take two hops each
  // Of 3 GB of each GPU a chunk has 1 GB.
  const auto collective = collective_of(schedule, Bytes::of(3'000'000'000));
  ASSERT_TRUE(collective.ok()) << to_string(collective.errors());
  EXPECT_EQ(collective->chunks(), 7U);
  EXPECT_FALSE(collective_of(schedule, Bytes::of(3)).ok());
}

TEST(TeCclOutput, VolumesThatHaveNotComeAreNotSent) {
  // By epoch 2 only 0.4 of the chunk has come to GPU 2.
  EXPECT_THAT(verdict_on(divided("\"Chunk 2 from 1 traveled over 2->3 with volume 1.0 in epoch 2\"")),
              HasSubstr("GPU 2 does not have as much of the chunk by then"));
  EXPECT_THAT(verdict_on(divided("\"Chunk 2 from 1 traveled over 2->3 with volume 0.7 in epoch 3\"")),
              HasSubstr("GPU 3 gets 0.700000 of chunk 2 of GPU 1: 1 of 6 demands are not met"));
  EXPECT_THAT(verdict_on(divided("\"Chunk 0 from 1 traveled over 1->2 with volume 1.0 in epoch 3\"")),
              HasSubstr("that chunk is for its own source"));
}

// A chunk that goes to and fro 1,200 times and arrives in 1,000 parts would be 1.2 million transfers of a small file.
TEST(TeCclOutput, PiecesOfLongWaysAreBounded) {
  std::string flows;
  for (int epoch = 0; epoch < 1200; ++epoch)
    flows += std::string("\"Chunk 2 from 1 traveled over ") + (epoch % 2 == 0 ? "1->2" : "2->1") +
             " with volume 1.0 in epoch " + std::to_string(epoch) + "\",\n";
  for (int part = 0; part < 1000; ++part)
    flows += "\"Chunk 2 from 1 traveled over 1->3 with volume 0.001 in epoch 1200\",\n";
  for (const auto* const other :
       {"1 from 1 traveled over 1->2", "0 from 2 traveled over 2->1", "2 from 2 traveled over 2->3",
        "0 from 3 traveled over 3->1", "1 from 3 traveled over 3->2"})
    flows += std::string("\"Chunk ") + other + " with volume 1.0 in epoch 0\",\n";
  flows.resize(flows.size() - 2);
  const auto read = interpret_schedule({"flows.json", output(flows)});
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(to_string(read.errors()), HasSubstr("the flows are too many to follow"));
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
