#include <gtest/gtest.h>

#include <map>

#include "algorithm/untimed_run.hpp"
#include "support/topologies.hpp"

namespace tenex {
namespace {

Message copy(std::uint32_t from, std::uint32_t to, std::uint32_t chunk) {
  return {NpuId(from), NpuId(to), ChunkId(chunk), Stage::copy};
}
Message sum(std::uint32_t from, std::uint32_t to, std::uint32_t chunk) {
  return {NpuId(from), NpuId(to), ChunkId(chunk), Stage::reduce};
}

std::vector<Message> start(ProgramState& state, std::uint32_t npu) {
  std::vector<Message> out;
  state.start(NpuId(npu), out);
  return out;
}
std::vector<Message> arrive(ProgramState& state, const Message& message) {
  std::vector<Message> out;
  state.arrive(message, out);
  return out;
}

class RingAlgorithm : public testing::Test {
 protected:
  ProgramState& begin(std::string_view algorithm, CollectiveKind kind, std::uint32_t npus, std::int64_t chunks = 1) {
    program_ = support::program_of(algorithm, support::ring(npus), support::collective(kind, npus, bytes(100), chunks));
    state_ = program_->begin();
    return *state_;
  }

 private:
  std::shared_ptr<const Program> program_;
  std::unique_ptr<ProgramState> state_;
};

TEST_F(RingAlgorithm, GathersBothWaysUntilTheEndsMeet) {
  auto& state = begin("ring", CollectiveKind::all_gather, 4);
  // n = 4: clockwise ceil(3/2) = 2 hops, counter-clockwise floor(3/2) = 1 hop. Chunk 0: 0 -> 1 -> 2 and 0 -> 3.
  EXPECT_EQ(start(state, 0), (std::vector{copy(0, 1, 0), copy(0, 3, 0)}));
  EXPECT_EQ(arrive(state, copy(0, 1, 0)), (std::vector{copy(1, 2, 0)}));
  EXPECT_TRUE(arrive(state, copy(1, 2, 0)).empty());
  EXPECT_TRUE(arrive(state, copy(0, 3, 0)).empty());
}

TEST_F(RingAlgorithm, LetsTheChunksOfAnNpuTakeTurnsWithTheLongerWay) {
  auto& state = begin("ring", CollectiveKind::all_gather, 4, 2);
  // NPU 0 owns chunks 0 and 1. Chunk 1 goes clockwise 1 hop (to 1) and counter-clockwise 2 (to 3, then 2). Each way,
  // the chunk that goes farther leaves first.
  EXPECT_EQ(start(state, 0), (std::vector{copy(0, 1, 0), copy(0, 1, 1), copy(0, 3, 1), copy(0, 3, 0)}));
  EXPECT_TRUE(arrive(state, copy(0, 1, 1)).empty());
  EXPECT_EQ(arrive(state, copy(0, 3, 1)), (std::vector{copy(3, 2, 1)}));
  EXPECT_TRUE(arrive(state, copy(3, 2, 1)).empty());
}

TEST_F(RingAlgorithm, ReducesAlongTheGatherReversedInTime) {
  auto& state = begin("ring", CollectiveKind::reduce_scatter, 4);
  // Chunk 0 is gathered 0 -> 1 -> 2 and 0 -> 3; its sum runs 2 -> 1 -> 0 and 3 -> 0. NPU 2 is also the
  // counter-clockwise neighbour of owner 3, so it begins chunk 3's short branch.
  EXPECT_EQ(start(state, 2), (std::vector{sum(2, 3, 3), sum(2, 1, 0)}));
  EXPECT_EQ(start(state, 3), (std::vector{sum(3, 0, 0), sum(3, 2, 1)}));
  EXPECT_EQ(arrive(state, sum(2, 1, 0)), (std::vector{sum(1, 0, 0)}));
  EXPECT_TRUE(arrive(state, sum(1, 0, 0)).empty());
  EXPECT_TRUE(arrive(state, sum(3, 0, 0)).empty());
}

TEST_F(RingAlgorithm, BeginsAChunksGatherWhenItsLastBranchHasArrived) {
  auto& state = begin("ring", CollectiveKind::all_reduce, 4);
  EXPECT_TRUE(arrive(state, sum(3, 0, 0)).empty());
  EXPECT_EQ(arrive(state, sum(1, 0, 0)), (std::vector{copy(0, 1, 0), copy(0, 3, 0)}));
  EXPECT_EQ(arrive(state, copy(0, 1, 0)), (std::vector{copy(1, 2, 0)}));
}

TEST_F(RingAlgorithm, OfTwoNpusSendsEachChunkOnce) {
  auto& state = begin("ring", CollectiveKind::all_reduce, 2, 2);
  // Chunks 0, 1 belong to NPU 0, chunks 2, 3 to NPU 1. NPU 0 sends its part of 2 and 3; no message is passed on.
  EXPECT_EQ(start(state, 0), (std::vector{sum(0, 1, 3), sum(0, 1, 2)}));
  EXPECT_EQ(arrive(state, sum(1, 0, 0)), (std::vector{copy(0, 1, 0)}));
  EXPECT_EQ(arrive(state, sum(1, 0, 1)), (std::vector{copy(0, 1, 1)}));
  EXPECT_TRUE(arrive(state, copy(1, 0, 2)).empty());
}

TEST_F(RingAlgorithm, OneWayGoesClockwiseOnly) {
  auto& gather = begin("ring_unidirectional", CollectiveKind::all_gather, 4);
  EXPECT_EQ(start(gather, 3), (std::vector{copy(3, 0, 3)}));
  EXPECT_EQ(arrive(gather, copy(3, 0, 3)), (std::vector{copy(0, 1, 3)}));
  EXPECT_EQ(arrive(gather, copy(0, 1, 3)), (std::vector{copy(1, 2, 3)}));
  EXPECT_TRUE(arrive(gather, copy(1, 2, 3)).empty());
}

TEST_F(RingAlgorithm, OneWayReducesClockwiseTooSoThatOneWayLinksSuffice) {
  auto& state = begin("ring_unidirectional", CollectiveKind::all_reduce, 4);
  // The sum of chunk 0 begins at 1, the rank after its owner: 1 -> 2 -> 3 -> 0.
  EXPECT_EQ(start(state, 1), (std::vector{sum(1, 2, 0)}));
  EXPECT_EQ(arrive(state, sum(1, 2, 0)), (std::vector{sum(2, 3, 0)}));
  EXPECT_EQ(arrive(state, sum(2, 3, 0)), (std::vector{sum(3, 0, 0)}));
  EXPECT_EQ(arrive(state, sum(3, 0, 0)), (std::vector{copy(0, 1, 0)}));
}

TEST_F(RingAlgorithm, FollowsTheOrderOfTheGroupNotOfTheIds) {
  CollectiveRequest request;
  request.kind = CollectiveKind::all_gather;
  request.npus = 5;
  request.groups = {{{NpuId(4), NpuId(0), NpuId(2)}}};
  request.size = bytes(3);
  const auto program = support::program_of("ring_unidirectional", support::ring(5), Collective::make(request).value());
  const auto state = program->begin();
  EXPECT_EQ(start(*state, 4), (std::vector{copy(4, 0, 0)}));
  EXPECT_EQ(start(*state, 2), (std::vector{copy(2, 4, 2)}));
  EXPECT_TRUE(start(*state, 1).empty());  // an NPU in no group
}

TEST_F(RingAlgorithm, LoadsBothDirectionsAlikeWhereTheChunksAreEven) {
  const auto collective = support::collective(CollectiveKind::all_gather, 8, bytes(1000), 2);
  const auto program = support::program_of("ring", support::ring(8), collective);
  std::map<bool, int> messages;
  for (const auto& message : support::run_untimed(*program, collective, 1).messages)
    ++messages[message.destination.value() == (message.source.value() + 1) % 8];
  // 8 NPUs x (4 + 3) hops each way.
  EXPECT_EQ(messages[true], 56);
  EXPECT_EQ(messages[false], 56);
}

}  // namespace
}  // namespace tenex
