#include <gtest/gtest.h>

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

std::vector<Message> started(const Program& program, std::uint32_t npu) {
  std::vector<Message> out;
  program.begin()->start(NpuId(npu), out);
  return out;
}

TEST(DirectAlgorithm, GathersToThePeersInRelativeOrder) {
  const auto program =
      support::program_of("direct", support::ring(4), support::collective(CollectiveKind::all_gather, 4, bytes(8), 2));
  // NPU 2 owns chunks 4 and 5; its peers in relative order are 3, 0, 1.
  EXPECT_EQ(started(*program, 2), (std::vector{copy(2, 3, 4), copy(2, 0, 4), copy(2, 1, 4),  //
                                               copy(2, 3, 5), copy(2, 0, 5), copy(2, 1, 5)}));
  EXPECT_EQ(program->destination_order(), "relative");
}

TEST(DirectAlgorithm, SendsContributionsStraightToTheOwners) {
  const auto program = support::program_of("direct", support::ring(3),
                                           support::collective(CollectiveKind::reduce_scatter, 3, bytes(6), 2));
  // Owners: chunks 0, 1 NPU 0; 2, 3 NPU 1; 4, 5 NPU 2. NPU 1's peers in relative order are 2, 0.
  EXPECT_EQ(started(*program, 1), (std::vector{sum(1, 2, 4), sum(1, 0, 0), sum(1, 2, 5), sum(1, 0, 1)}));
}

TEST(DirectAlgorithm, BeginsAChunksGatherWhenAllContributionsHaveArrived) {
  const auto program =
      support::program_of("direct", support::ring(3), support::collective(CollectiveKind::all_reduce, 3, bytes(3)));
  const auto state = program->begin();
  std::vector<Message> out;
  state->arrive(sum(0, 1, 1), out);
  EXPECT_TRUE(out.empty());
  state->arrive(sum(2, 1, 1), out);
  EXPECT_EQ(out, (std::vector{copy(1, 2, 1), copy(1, 0, 1)}));
  out.clear();
  state->arrive(copy(2, 1, 2), out);
  EXPECT_TRUE(out.empty());
}

TEST(DirectAlgorithm, AddressesGroupMembersOnly) {
  const auto program = support::program_of(
      "direct", support::ring(6), support::collective(CollectiveKind::all_gather, 6, bytes(60), 1, "0,2,4; 1,3"));
  // The chunks of the second group follow the three of the first.
  EXPECT_EQ(started(*program, 3), (std::vector{copy(3, 1, 4)}));
  EXPECT_TRUE(started(*program, 5).empty());
}

}  // namespace
}  // namespace tenex
