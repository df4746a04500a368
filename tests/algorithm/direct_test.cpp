#include <gtest/gtest.h>

#include "algorithm/textbook.hpp"
#include "algorithm/untimed_run.hpp"
#include "support/collectives.hpp"
#include "support/topologies.hpp"

namespace tenex {
namespace {

Message direct_copy(std::uint32_t from, std::uint32_t to, std::uint32_t chunk) {
  return {NpuId(from), NpuId(to), ChunkId(chunk), Stage::copy};
}
Message direct_sum(std::uint32_t from, std::uint32_t to, std::uint32_t chunk) {
  return {NpuId(from), NpuId(to), ChunkId(chunk), Stage::reduce};
}

std::vector<Message> messages_started(const Program& program, std::uint32_t npu) {
  std::vector<Message> out;
  program.begin()->start(NpuId(npu), out);
  return out;
}

TEST(DirectAlgorithm, GathersToThePeersInRelativeOrder) {
  const auto program =
      support::program_of("direct", support::ring(4), support::collective(CollectiveKind::all_gather, 4, bytes(8), 2));
  // NPU 2 owns chunks 4 and 5; its peers in relative order are 3, 0, 1.
  EXPECT_EQ(messages_started(*program, 2),
            (std::vector{direct_copy(2, 3, 4), direct_copy(2, 0, 4), direct_copy(2, 1, 4),  //
                         direct_copy(2, 3, 5), direct_copy(2, 0, 5), direct_copy(2, 1, 5)}));
  EXPECT_EQ(program->destination_order(), "relative");
}

TEST(DirectAlgorithm, SendsContributionsStraightToTheOwners) {
  const auto program = support::program_of("direct", support::ring(3),
                                           support::collective(CollectiveKind::reduce_scatter, 3, bytes(6), 2));
  // Owners: chunks 0, 1 NPU 0; 2, 3 NPU 1; 4, 5 NPU 2. NPU 1's peers in relative order are 2, 0.
  EXPECT_EQ(messages_started(*program, 1),
            (std::vector{direct_sum(1, 2, 4), direct_sum(1, 0, 0), direct_sum(1, 2, 5), direct_sum(1, 0, 1)}));
}

TEST(DirectAlgorithm, BeginsAChunksGatherWhenAllContributionsHaveArrived) {
  const auto program =
      support::program_of("direct", support::ring(3), support::collective(CollectiveKind::all_reduce, 3, bytes(3)));
  const auto state = program->begin();
  std::vector<Message> out;
  state->arrive(direct_sum(0, 1, 1), out);
  EXPECT_TRUE(out.empty());
  state->arrive(direct_sum(2, 1, 1), out);
  EXPECT_EQ(out, (std::vector{direct_copy(1, 2, 1), direct_copy(1, 0, 1)}));
  out.clear();
  state->arrive(direct_copy(2, 1, 2), out);
  EXPECT_TRUE(out.empty());
}

TEST(DirectAlgorithm, AddressesGroupMembersOnly) {
  const auto program = support::program_of(
      "direct", support::ring(6), support::collective(CollectiveKind::all_gather, 6, bytes(60), 1, "0,2,4; 1,3"));
  // The chunks of the second group follow the three of the first.
  EXPECT_EQ(messages_started(*program, 3), (std::vector{direct_copy(3, 1, 4)}));
  EXPECT_TRUE(messages_started(*program, 5).empty());
}

Collective request(CollectiveKind kind, std::size_t npus, std::uint32_t root, std::int64_t chunks,
                   std::vector<Condition> conditions = {}) {
  CollectiveRequest request{kind, npus, parse_groups("all", npus).value(), chunks, bytes(1000), root};
  if (!conditions.empty())
    request.groups[0].conditions = std::make_shared<const std::vector<Condition>>(std::move(conditions));
  return Collective::make(std::move(request)).value();
}

TEST(DirectAlgorithm, GoesStraightToAndFromTheRoot) {
  const auto ring = support::ring(4);
  // Broadcast: chunks 0 and 1 from NPU 2, first to the next one. All others only receive.
  const auto broadcast = support::program_of("direct", ring, request(CollectiveKind::broadcast, 4, 2, 2));
  EXPECT_EQ(messages_started(*broadcast, 2),
            (std::vector{direct_copy(2, 3, 0), direct_copy(2, 0, 0), direct_copy(2, 1, 0),  //
                         direct_copy(2, 3, 1), direct_copy(2, 0, 1), direct_copy(2, 1, 1)}));
  EXPECT_TRUE(messages_started(*broadcast, 3).empty());
  EXPECT_EQ(broadcast->messages(), 6U);
  // Scatter: chunk 2 * NPU + k is for that NPU.
  const auto scatter = support::program_of("direct", ring, request(CollectiveKind::scatter, 4, 2, 2));
  EXPECT_EQ(messages_started(*scatter, 2),
            (std::vector{direct_copy(2, 3, 6), direct_copy(2, 0, 0), direct_copy(2, 1, 2),  //
                         direct_copy(2, 3, 7), direct_copy(2, 0, 1), direct_copy(2, 1, 3)}));
  // Gather: an NPU's own chunks; Reduce: its contributions to all of the root's.
  const auto gather = support::program_of("direct", ring, request(CollectiveKind::gather, 4, 2, 2));
  EXPECT_EQ(messages_started(*gather, 3), (std::vector{direct_copy(3, 2, 6), direct_copy(3, 2, 7)}));
  EXPECT_TRUE(messages_started(*gather, 2).empty());
  EXPECT_EQ(gather->messages(), 6U);
  const auto reduce = support::program_of("direct", ring, request(CollectiveKind::reduce, 4, 2, 2));
  EXPECT_EQ(messages_started(*reduce, 3), (std::vector{direct_sum(3, 2, 0), direct_sum(3, 2, 1)}));
}

TEST(DirectAlgorithm, SendsStoredConditionsInTheOrderOfPeers) {
  // Sorted by source: condition 0 from NPU 0, conditions 1 and 2 from NPU 1; chunks 2q and 2q + 1 are condition q's.
  const auto collective =
      request(CollectiveKind::conditions, 4, 0, 2, {{1, {0, 2}, bytes(8)}, {0, {1}, bytes(4)}, {1, {3}, bytes(2)}});
  const auto relative = support::program_of("direct", support::ring(4), collective);
  EXPECT_EQ(messages_started(*relative, 1),
            (std::vector{direct_copy(1, 2, 2), direct_copy(1, 3, 4), direct_copy(1, 0, 2),  //
                         direct_copy(1, 2, 3), direct_copy(1, 3, 5), direct_copy(1, 0, 3)}));
  EXPECT_TRUE(messages_started(*relative, 2).empty());
  const auto absolute = support::program_of("direct", support::ring(4), collective, {0, DestinationOrder::absolute, 1});
  EXPECT_EQ(messages_started(*absolute, 1),
            (std::vector{direct_copy(1, 0, 2), direct_copy(1, 2, 2), direct_copy(1, 3, 4),  //
                         direct_copy(1, 0, 3), direct_copy(1, 2, 3), direct_copy(1, 3, 5)}));
  EXPECT_EQ(relative->messages(), 8U);
}

TEST(DirectAlgorithm, DoesTheGroupsOfAMixtureOneAfterAnother) {
  CollectiveRequest mixture;
  mixture.npus = 4;
  mixture.groups = parse_groups("0-2 all_reduce 9B; 1-3 gather 3B root 2; 0,1 all_gather 2B", 4).value();
  const auto program = support::program_of("direct", support::ring(4), Collective::make(std::move(mixture)).value());
  // NPU 1 contributes to chunks 2 (of NPU 2) and 0, sends chunk 3 to the root, NPU 3, and chunk 7 to NPU 0.
  EXPECT_EQ(messages_started(*program, 1),
            (std::vector{direct_sum(1, 2, 2), direct_sum(1, 0, 0), direct_copy(1, 3, 3), direct_copy(1, 0, 7)}));
  EXPECT_FALSE(program->open_loop());
  // All-Reduce 2 * 3 * 2, Gather 2, All-Gather 2.
  EXPECT_EQ(program->messages(), 16U);
  const auto state = program->begin();
  std::vector<Message> out;
  state->arrive(direct_sum(0, 1, 1), out);
  state->arrive(direct_copy(0, 1, 6), out);
  EXPECT_TRUE(out.empty());
  state->arrive(direct_sum(2, 1, 1), out);
  EXPECT_EQ(out, (std::vector{direct_copy(1, 2, 1), direct_copy(1, 0, 1)}));
}

/// The messages of both programs when they arrive in the same order, first in, first out.
void expect_same_messages(const Program& one, const Program& other, std::size_t npus) {
  const auto state = one.begin();
  const auto other_state = other.begin();
  std::vector<Message> sent;
  std::vector<Message> other_sent;
  for (std::size_t npu = 0; npu < npus; ++npu) {
    state->start(NpuId::at(npu), sent);
    other_state->start(NpuId::at(npu), other_sent);
  }
  for (std::size_t arrived = 0; arrived < sent.size(); ++arrived) {
    ASSERT_EQ(sent, other_sent);
    const auto message = sent[arrived];
    state->arrive(message, sent);
    other_state->arrive(message, other_sent);
  }
  ASSERT_EQ(one.messages(), sent.size());
  ASSERT_EQ(other.messages(), sent.size());
}

TEST(DirectAlgorithm, IsTheSameByGroupWhereAllNpusAreAlike) {
  for (const auto& [shape, groups] :
       {std::pair("RI(6)", "all"), std::pair("RI(3)_FC(4)", "all"), std::pair("LI(3)_LI(2)", "5,2,4; 0,3"),
        std::pair("RI(2)_RI(3)_SW(2)", "0-5; 6,8,9"), std::pair("FC(5)", "4,3,2,1,0")})
    for (const auto kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce,
                            CollectiveKind::all_to_all})
      for (const auto order : {DestinationOrder::relative, DestinationOrder::absolute})
        for (const std::int64_t chunks : {1, 3}) {
          SCOPED_TRACE(std::string(shape) + " " + groups + " " + std::string(to_string(kind)));
          const auto topology = support::shape(shape);
          const auto collective = support::collective(kind, topology.npus(), bytes(10000), chunks, groups);
          const AlgorithmOptions options{0, order, 1};
          expect_same_messages(*make_direct(topology, collective, options).value(),
                               *make_direct_by_group(topology, collective, options).value(), topology.npus());
          if (HasFailure()) return;
        }
}

}  // namespace
}  // namespace tenex
