// Programs in steps: Swing, PAT and Bruck with a radix, messages by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "algorithm/swing.hpp"
#include "algorithm/untimed_run.hpp"
#include "support/collectives.hpp"
#include "support/topologies.hpp"

namespace tenex {
namespace {

using support::started;
using support::triggered;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using enum CollectiveKind;

Collective of(CollectiveKind kind, std::size_t npus, std::int64_t chunks = 1) {
  return support::any_collective(kind, npus, bytes(10'000), chunks);
}

std::vector<std::uint32_t> chunks_of(const Program& program, const Message& message) {
  std::vector<ChunkId> chunks;
  program.chunks_of(message, chunks);
  std::vector<std::uint32_t> numbers;
  for (const auto chunk : chunks) numbers.push_back(chunk.value());
  return numbers;
}

/// All messages of an NPU in order, where every message arrives as soon as possible.
std::vector<Message> sent_by(const Program& program, const Collective& collective, std::uint32_t npu) {
  std::vector<Message> sent;
  for (const auto& message : support::run_untimed(program, collective, 1).messages)
    if (message.source == NpuId(npu)) sent.push_back(message);
  return sent;
}

// rho = 1, -1, 3. NPU 0 reduces with 1, then 7, then 3. What 1 sums in the end is its own chunk and those of whom it
// meets later: 1 - (-1) = 2, 1 - 3 = 6, and 2 + 3 = 5 by way of 2. What 7 sums: its own and 7 - 3 = 4.
TEST(Swing, ReducesNearestFirstByTheDistancesOfThePaper) {
  const auto collective = of(reduce_scatter, 8);
  const auto program = support::program_of("swing", support::ring(8), collective);
  EXPECT_EQ(program->messages(), 24U);
  EXPECT_THAT(program->message_sizes(), ElementsAre(1U, 2U, 4U));
  const auto sent = sent_by(*program, collective, 0);
  ASSERT_EQ(sent.size(), 3U);
  EXPECT_EQ(sent[0].destination, NpuId(1));
  EXPECT_THAT(chunks_of(*program, sent[0]), ElementsAre(1, 2, 5, 6));
  EXPECT_EQ(sent[1].destination, NpuId(7));
  EXPECT_THAT(chunks_of(*program, sent[1]), ElementsAre(4, 7));
  EXPECT_EQ(sent[2].destination, NpuId(3));
  EXPECT_THAT(chunks_of(*program, sent[2]), ElementsAre(3));
}

// 6 NPUs, farthest first: 3 positions, then 1 back, then 1 on. NPU 0 has 0; then 0 and 3; then 0, 2, 3, 5, of which NPU
// 1, which has 1, 4, 2, 5, lacks 0 and 3. The second slice goes the other way round.
TEST(Swing, SendsEveryChunkOnceWhereTheNumberIsNoPowerOfTwo) {
  const auto collective = of(all_gather, 6, 2);
  const auto program = support::program_of("swing", support::ring(6), collective);
  EXPECT_EQ(program->messages(), 2U * 6 * 3);
  EXPECT_THAT(program->message_sizes(), ElementsAre(1U, 2U));
  std::vector<std::vector<std::uint32_t>> lists[2];
  std::vector<std::uint32_t> partners[2];
  for (const auto& message : sent_by(*program, collective, 0)) {
    const auto chunks = chunks_of(*program, message);
    lists[chunks[0] % 2].push_back(chunks);
    partners[chunks[0] % 2].push_back(message.destination.value());
  }
  EXPECT_THAT(partners[0], ElementsAre(3, 5, 1));
  EXPECT_THAT(lists[0], ElementsAre(std::vector{0U}, std::vector{0U, 6U}, std::vector{0U, 6U}));
  EXPECT_THAT(partners[1], ElementsAre(3, 1, 5));
}

// 5 NPUs: NPU 4 exchanges chunks with each other one, beside the first step of the four others.
TEST(Swing, LetsTheLastOfAnOddNumberExchangeDirectly) {
  const auto collective = of(all_gather, 5);
  const auto program = support::program_of("swing", support::ring(5), collective);
  EXPECT_EQ(program->messages(), 4U + 4 + 4 * 2);
  EXPECT_EQ(sent_by(*program, collective, 4).size(), 4U);
  const auto state = program->begin();
  const auto first = started(*state, 2);
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(first[0].destination, NpuId(4));
  EXPECT_EQ(first[1].destination, NpuId(1));
  EXPECT_THAT(triggered(*state, started(*state, 4)[2]), IsEmpty());
  const auto second = triggered(*state, started(*state, 1)[1]);
  ASSERT_EQ(second.size(), 1U);
  EXPECT_EQ(second[0].destination, NpuId(3));
  EXPECT_THAT(chunks_of(*program, second[0]), ElementsAre(1, 2));
}

// RI(4)_RI(4) has four plans. The first begins with dimension 1, the third with dimension 2, and the dimensions take
// turns: NPU 5 = (1, 1) meets (0, 1), (1, 0), then (1 + 1, 1), (1, 1 + 1); by the third (1, 0) first.
TEST(Swing, TakesTurnsAmongDimensionsAndDirections) {
  const auto collective = of(reduce_scatter, 16, 4);
  const auto program = support::program_of("swing", support::shape("RI(4)_RI(4)"), collective);
  std::vector<std::uint32_t> partners[4];
  for (const auto& message : sent_by(*program, collective, 5))
    partners[chunks_of(*program, message)[0] % 4].push_back(message.destination.value());
  EXPECT_THAT(partners[0], ElementsAre(4, 1, 6, 9));
  EXPECT_THAT(partners[1], ElementsAre(6, 9, 4, 1));
  EXPECT_THAT(partners[2], ElementsAre(1, 4, 9, 6));
  EXPECT_THAT(partners[3], ElementsAre(9, 6, 1, 4));
}

// Section 3 of the paper: the distances are 1, 1, 3, 5, 11, 21, .., those of recursive doubling 1, 2, 4, 8, 16, 32.
TEST(Swing, StaysNearerThanRecursiveDoubling) {
  const SwingPlan plan({64}, 0, false, SwingOrder::nearest_first);
  std::vector<std::uint32_t> distances;
  for (std::uint32_t step = 0; step < plan.steps(); ++step)
    distances.push_back(std::min(plan.destination(0, step), 64 - plan.destination(0, step)));
  EXPECT_THAT(distances, ElementsAre(1, 1, 3, 5, 11, 21));
}

TEST(SwingWhole, StatesWhoseInputsASumHas) {
  const auto collective = of(all_reduce, 8);
  const auto program = support::program_of("swing_whole", support::ring(8), collective);
  EXPECT_EQ(program->messages(), 24U);
  const auto sent = sent_by(*program, collective, 2);
  ASSERT_EQ(sent.size(), 3U);
  std::vector<std::uint32_t> ranks;
  program->contributors_of(sent[2], ranks);
  EXPECT_EQ(sent[2].destination, NpuId(5));
  EXPECT_EQ(sent[2].chunks, 8U);
  EXPECT_THAT(ranks, ElementsAre(0, 1, 2, 3));  // 2 met 3, then 1, which had met 0
}

// n - 1 chunks per NPU in ceil(log2 n) messages, of which the farthest has one.
TEST(Pat, SendsOneChunkFarAndHalfOfAllToTheNeighbour) {
  const auto collective = of(all_gather, 8);
  const auto program = support::program_of("pat", support::ring(8), collective);
  const auto sent = sent_by(*program, collective, 0);
  ASSERT_EQ(sent.size(), 3U);
  EXPECT_EQ(sent[0].destination, NpuId(4));
  EXPECT_THAT(chunks_of(*program, sent[0]), ElementsAre(0));
  EXPECT_EQ(sent[1].destination, NpuId(2));
  EXPECT_THAT(chunks_of(*program, sent[1]), ElementsAre(0, 4));
  EXPECT_EQ(sent[2].destination, NpuId(1));
  EXPECT_THAT(chunks_of(*program, sent[2]), ElementsAre(0, 2, 4, 6));
}

// 7 NPUs: 4 positions on, which offsets 4, then 2 (of 0 and 4: 2 and 6), then 1 (of 0, 2, 4: 1, 3, 5; 6 + 1 is no NPU).
// The Reduce-Scatter is the reverse: 1, 2, 4 back, sums for the NPU there and those from which it would have chunks.
TEST(Pat, LeavesOutWhatDoesNotExistAndReversesForSums) {
  const auto gather = of(all_gather, 7);
  const auto program = support::program_of("pat", support::ring(7), gather);
  const auto sent = sent_by(*program, gather, 3);
  ASSERT_EQ(sent.size(), 3U);
  EXPECT_THAT(chunks_of(*program, sent[1]), ElementsAre(3, 6));     // from 3 and 3 - 4
  EXPECT_THAT(chunks_of(*program, sent[2]), ElementsAre(1, 3, 6));  // and from 3 - 2
  const auto scatter = of(reduce_scatter, 7);
  const auto reverse = support::program_of("pat", support::ring(7), scatter);
  const auto sums = sent_by(*reverse, scatter, 4);
  ASSERT_EQ(sums.size(), 3U);
  EXPECT_EQ(sums[0].destination, NpuId(3));
  EXPECT_EQ(sums[0].stage, Stage::reduce);
  EXPECT_THAT(chunks_of(*reverse, sums[0]), ElementsAre(1, 3, 6));
  EXPECT_EQ(sums[1].destination, NpuId(2));
  EXPECT_EQ(sums[2].destination, NpuId(0));
}

AlgorithmOptions with_radix(std::uint32_t radix) {
  AlgorithmOptions options;
  options.radix = radix;
  return options;
}

// Radix 4, 10 NPUs: first to 1, 2 and 3 back with one chunk each; then to 4 back with four, and to 8 back with two.
TEST(Bruck, TakesARadix) {
  const auto gather = of(all_gather, 10);
  const auto program = support::program_of("bruck", support::fully_connected(10), gather, with_radix(4));
  EXPECT_EQ(program->messages(), 10U * 5);
  EXPECT_THAT(program->message_sizes(), ElementsAre(1U, 2U, 4U));
  const auto sent = sent_by(*program, gather, 9);
  ASSERT_EQ(sent.size(), 5U);
  EXPECT_EQ(sent[2].destination, NpuId(6));
  EXPECT_EQ(sent[3].destination, NpuId(5));
  EXPECT_THAT(chunks_of(*program, sent[3]), ElementsAre(0, 1, 2, 9));
  EXPECT_EQ(sent[4].destination, NpuId(1));
  EXPECT_THAT(chunks_of(*program, sent[4]), ElementsAre(0, 9));
  // All-to-All with radix 3, 8 NPUs: chunks that have 2, 5 (2 + 3) or none (8) to go move by 2 in the first round.
  const auto exchange = of(all_to_all, 8);
  const auto pairs = support::program_of("bruck", support::fully_connected(8), exchange, with_radix(3));
  const auto of_npu = sent_by(*pairs, exchange, 0);
  ASSERT_EQ(of_npu.size(), 4U);
  EXPECT_EQ(of_npu[1].destination, NpuId(2));
  EXPECT_THAT(chunks_of(*pairs, of_npu[1]), ElementsAre(2, 5));
}

TEST(Bruck, EndsWithEveryPostconditionForAnyRadix) {
  for (const std::uint32_t radix : {3U, 4U, 5U, 256U})
    for (const auto kind : {all_gather, all_to_all})
      for (std::uint32_t npus = 2; npus <= 17; ++npus) {
        const auto collective = of(kind, npus, 2);
        const auto program =
            support::program_of("bruck", support::fully_connected(npus), collective, with_radix(radix));
        const auto run = support::run_untimed(*program, collective, npus);
        ASSERT_EQ(program->messages(), run.messages.size());
        for (std::uint32_t n = 0; n < npus; ++n)
          for (std::uint32_t c = 0; c < collective.chunks(); ++c)
            if (collective.must_hold(NpuId(n), ChunkId(c))) {
              ASSERT_THAT(run.held[n][c], ::testing::Not(IsEmpty())) << radix << ' ' << npus;
            }
      }
}

}  // namespace
}  // namespace tenex
