// Chunks, owners, preconditions and postconditions.
#include "tenex/collective/collective.hpp"

#include <limits>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "support/topologies.hpp"

namespace tenex {
namespace {

using support::collective;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using enum CollectiveKind;

CollectiveRequest request(CollectiveKind kind, std::size_t npus, std::int64_t chunks, Bytes size) {
  CollectiveRequest made;
  made.kind = kind;
  made.npus = npus;
  made.chunks = chunks;
  made.size = size;
  return made;
}

std::string refusal(const CollectiveRequest& wanted) {
  const auto made = Collective::make(wanted);
  return made ? "accepted" : to_string(made.errors());
}

TEST(CollectiveKinds, NamesAreReadBack) {
  EXPECT_THAT(collective_names(),
              ElementsAre("all_gather", "reduce_scatter", "all_reduce", "broadcast", "reduce", "all_to_all", "gather",
                          "scatter", "all_to_allv", "halo_exchange", "conditions", "mixed"));
  for (const auto name : collective_names()) EXPECT_EQ(to_string(parse_collective_kind(name).value()), name);
}

TEST(CollectiveKinds, NearSpellingsAreSuggested) {
  const auto unknown = parse_collective_kind("all-gather", {"study.toml", 2, 5});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(to_string(unknown.errors()),
            "study.toml:2:5: unknown collective \"all-gather\" (it is one of all_gather, reduce_scatter, all_reduce, "
            "broadcast, reduce, all_to_all, gather, scatter, all_to_allv, halo_exchange, conditions, mixed) "
            "did you "
            "mean \"all_gather\"?");
  EXPECT_EQ(parse_collective_kind("barrier_network").errors().front().suggestion, "");
}

TEST(CollectiveKinds, BusFactorsAreThoseOfNcclTests) {
  EXPECT_DOUBLE_EQ(bus_factor(all_reduce, 4), 1.5);  // 2 * 3/4
  EXPECT_DOUBLE_EQ(bus_factor(all_gather, 4), 0.75);
  EXPECT_DOUBLE_EQ(bus_factor(reduce_scatter, 4), 0.75);
  EXPECT_DOUBLE_EQ(bus_factor(all_to_all, 4), 0.75);
  EXPECT_DOUBLE_EQ(bus_factor(broadcast, 4), 1);
  EXPECT_DOUBLE_EQ(bus_factor(reduce, 4), 1);
}

TEST(Collective, NumbersChunksByOwner) {
  // 4 NPUs with 2 chunks each: chunk i*2 + k belongs to NPU i.
  const Collective gather = collective(all_gather, 4, bytes(800), 2);
  EXPECT_EQ(gather.chunks(), 8U);
  EXPECT_EQ(gather.owner(ChunkId(0)), NpuId(0));
  EXPECT_EQ(gather.owner(ChunkId(1)), NpuId(0));
  EXPECT_EQ(gather.owner(ChunkId(5)), NpuId(2));
  EXPECT_EQ(gather.chunk_bytes(ChunkId(5)), bytes(100));
}

TEST(Collective, PadsChunksUpward) {
  // ceil(1001 / (4*2)) = 126; a Broadcast of 3 chunks has ceil(1000 / 3) = 334.
  EXPECT_EQ(collective(all_gather, 4, bytes(1001), 2).chunk_bytes(ChunkId(0)), bytes(126));
  EXPECT_EQ(collective(broadcast, 4, bytes(1000), 3).chunk_bytes(ChunkId(0)), bytes(334));
}

TEST(Collective, AllGatherStartsWithOwnersAndEndsWithEveryone) {
  const Collective gather = collective(all_gather, 3, bytes(3));
  EXPECT_TRUE(gather.holds_at_start(NpuId(1), ChunkId(1)));
  EXPECT_FALSE(gather.holds_at_start(NpuId(0), ChunkId(1)));
  EXPECT_TRUE(gather.must_hold(NpuId(0), ChunkId(1)));
  EXPECT_FALSE(gather.contributes(NpuId(0), ChunkId(1)));
  EXPECT_EQ(gather.required_deliveries(), 6U);  // 3 chunks to 2 others each
}

TEST(Collective, ReduceScatterStartsWithContributionsAndEndsWithOwners) {
  const Collective scatter = collective(reduce_scatter, 3, bytes(3));
  EXPECT_FALSE(scatter.holds_at_start(NpuId(1), ChunkId(1)));
  EXPECT_TRUE(scatter.contributes(NpuId(0), ChunkId(1)));
  EXPECT_TRUE(scatter.must_hold(NpuId(1), ChunkId(1)));
  EXPECT_FALSE(scatter.must_hold(NpuId(0), ChunkId(1)));
  EXPECT_EQ(scatter.required_deliveries(), 3U);  // each sum at its owner
}

TEST(Collective, AllReduceEndsWithEverySumEverywhere) {
  const Collective reduction = collective(all_reduce, 3, bytes(6), 2);
  EXPECT_FALSE(reduction.holds_at_start(NpuId(0), ChunkId(0)));
  EXPECT_TRUE(reduction.contributes(NpuId(2), ChunkId(0)));
  EXPECT_TRUE(reduction.must_hold(NpuId(2), ChunkId(0)));
  EXPECT_EQ(reduction.required_deliveries(), 18U);  // 6 chunks at 3 NPUs
}

TEST(Collective, AllToAllNumbersChunksBySourceAndDestination) {
  // 3 NPUs, 2 chunks per pair: chunk (i*3 + j)*2 + k goes from NPU i to NPU j; 1'800 bytes of each are cut into 3*2.
  const Collective exchange = collective(all_to_all, 3, bytes(1800), 2);
  EXPECT_EQ(exchange.chunks(), 18U);
  EXPECT_EQ(exchange.chunk_bytes(ChunkId(17)), bytes(300));
  const ChunkId from_2_to_0((2 * 3 + 0) * 2 + 1);
  EXPECT_EQ(exchange.owner(from_2_to_0), NpuId(2));
  EXPECT_EQ(exchange.destination(from_2_to_0), NpuId(0));
  EXPECT_TRUE(exchange.holds_at_start(NpuId(2), from_2_to_0));
  EXPECT_FALSE(exchange.holds_at_start(NpuId(0), from_2_to_0));
  EXPECT_TRUE(exchange.must_hold(NpuId(0), from_2_to_0));
  EXPECT_FALSE(exchange.must_hold(NpuId(1), from_2_to_0));
  EXPECT_FALSE(exchange.must_hold(NpuId(2), from_2_to_0));
  EXPECT_FALSE(exchange.contributes(NpuId(0), from_2_to_0));
  EXPECT_EQ(exchange.required_deliveries(), 12U);  // 3*2 pairs of different NPUs, 2 chunks each
}

TEST(Collective, AllToAllOfGroupsNumbersGroupByGroup) {
  // Groups {0, 1} and {2, 3, 4}: the first has 2*2 chunks, so chunk 4 + (1*3 + 2) goes from NPU 3 to NPU 4.
  auto wanted = request(all_to_all, 5, 1, bytes(60));
  wanted.groups = {{{NpuId(0), NpuId(1)}}, {{NpuId(2), NpuId(3), NpuId(4)}}};
  const Collective exchange = Collective::make(wanted).value();
  EXPECT_EQ(exchange.chunks(), 13U);
  EXPECT_EQ(exchange.owner(ChunkId(9)), NpuId(3));
  EXPECT_EQ(exchange.destination(ChunkId(9)), NpuId(4));
  EXPECT_EQ(exchange.chunk_bytes(ChunkId(9)), bytes(20));
  EXPECT_EQ(exchange.chunk_bytes(ChunkId(3)), bytes(30));
}

TEST(Collective, AllToAllOfTooManyNpusHasNoChunkIds) {
  // 65'536^2 chunks are more than 32-bit ids can number, because one id is reserved for "no chunk".
  EXPECT_THAT(
      refusal(request(all_to_all, 65'536, 1, bytes(1 << 20))),
      testing::HasSubstr("65536 * 65536 * 1 = 4294967296 chunks cannot be addressed (32-bit ids address at most "
                         "4294967294 chunks)"));
  EXPECT_EQ(refusal(request(all_to_all, 65'535, 1, bytes(1 << 20))), "accepted");
}

TEST(Collective, SaysHowManyChunksAreTooMany) {
  // The totals: 4 * 2^31 = 2^33; (2 + 3) * 2^30 for groups of 2 and 3 NPUs; 2^32 for a kind with a root.
  using testing::HasSubstr;
  EXPECT_THAT(refusal(request(all_gather, 4, std::int64_t{1} << 31, bytes(1 << 20))),
              HasSubstr("4 * 2147483648 = 8589934592 chunks cannot be addressed"));
  auto wanted = request(reduce_scatter, 5, std::int64_t{1} << 30, bytes(1 << 20));
  wanted.groups = {{{NpuId(0), NpuId(1)}}, {{NpuId(2), NpuId(3), NpuId(4)}}};
  EXPECT_THAT(refusal(wanted), HasSubstr("5368709120 chunks cannot be addressed"));
  EXPECT_THAT(refusal(request(broadcast, 4, std::int64_t{1} << 32, bytes(1 << 20))),
              HasSubstr("4294967296 chunks cannot be addressed"));
}

TEST(Collective, BroadcastAndReduceHaveARoot) {
  auto wanted = request(broadcast, 4, 3, bytes(300));
  wanted.root = 2;
  const Collective cast = Collective::make(wanted).value();
  EXPECT_EQ(cast.chunks(), 3U);
  EXPECT_EQ(cast.owner(ChunkId(2)), NpuId(2));
  EXPECT_TRUE(cast.holds_at_start(NpuId(2), ChunkId(0)));
  EXPECT_TRUE(cast.must_hold(NpuId(0), ChunkId(0)));
  EXPECT_EQ(cast.required_deliveries(), 9U);  // 3 chunks to 3 others
  wanted.kind = reduce;
  const Collective sum = Collective::make(wanted).value();
  EXPECT_TRUE(sum.contributes(NpuId(0), ChunkId(0)));
  EXPECT_TRUE(sum.must_hold(NpuId(2), ChunkId(0)));
  EXPECT_FALSE(sum.must_hold(NpuId(0), ChunkId(0)));
  EXPECT_EQ(sum.required_deliveries(), 3U);
}

TEST(Collective, GroupsWorkSideBySide) {
  // Groups of NPUs 0, 2, 4 and of NPUs 5, 3, with two chunks per NPU; NPU 1 is in no group. Chunks 0..5 and 6..9.
  const Collective gather = collective(all_gather, 6, bytes(120), 2, "0,2,4; 5,3");
  EXPECT_EQ(gather.groups().size(), 2U);
  EXPECT_EQ(gather.chunks(), 10U);
  EXPECT_EQ(gather.first_chunk(GroupId(1)), ChunkId(6));
  EXPECT_EQ(gather.chunks_in(GroupId(0)), 6U);
  EXPECT_EQ(gather.chunks_in(GroupId(1)), 4U);
  EXPECT_EQ(gather.group_of(ChunkId(5)), GroupId(0));
  EXPECT_EQ(gather.group_of(ChunkId(6)), GroupId(1));
  EXPECT_EQ(gather.group_of(ChunkId(9)), GroupId(1));
  EXPECT_EQ(gather.owner(ChunkId(4)), NpuId(4));
  EXPECT_EQ(gather.owner(ChunkId(6)), NpuId(5));
  EXPECT_EQ(gather.owner(ChunkId(9)), NpuId(3));
  EXPECT_EQ(gather.group_of(NpuId(1)), GroupId::none());
  EXPECT_EQ(gather.rank_of(NpuId(3)), 1U);
  EXPECT_FALSE(gather.must_hold(NpuId(1), ChunkId(0)));
  EXPECT_FALSE(gather.must_hold(NpuId(5), ChunkId(0)));
  EXPECT_TRUE(gather.must_hold(NpuId(3), ChunkId(6)));
  // Each group has its own S: 120 / (3*2) = 20 and 120 / (2*2) = 30.
  EXPECT_THAT(gather.chunk_sizes(), ElementsAre(bytes(20), bytes(30)));
  EXPECT_EQ(gather.chunk_bytes(ChunkId(5)), bytes(20));
  EXPECT_EQ(gather.chunk_bytes(ChunkId(6)), bytes(30));
  EXPECT_EQ(gather.required_deliveries(), 6U * 2 + 4 * 1);
}

TEST(Collective, GroupsOfOneSizeShareTheirChunkSize) {
  const Collective gather = collective(all_gather, 8, bytes(80), 1, "0-3; 4-7");
  EXPECT_THAT(gather.chunk_sizes(), ElementsAre(bytes(20)));
  EXPECT_EQ(gather.size_class(ChunkId(7)), 0U);
}

TEST(Collective, BystandersContributeNothing) {
  const Collective sum = collective(reduce_scatter, 4, bytes(8), 1, "0,1");
  EXPECT_FALSE(sum.contributes(NpuId(2), ChunkId(0)));
  EXPECT_FALSE(sum.must_hold(NpuId(2), ChunkId(0)));
}

TEST(Collective, NoGroupsMeanOneOfEveryone) {
  const Collective gather = Collective::make(request(all_gather, 3, 1, bytes(3))).value();
  ASSERT_EQ(gather.groups().size(), 1U);
  EXPECT_THAT(gather.groups()[0].members, ElementsAre(NpuId(0), NpuId(1), NpuId(2)));
}

TEST(Collective, RefusesSizesBelowAByteAChunk) {
  // 4 NPUs of 3 chunks need 12 B.
  EXPECT_EQ(refusal(request(all_gather, 4, 3, bytes(11))),
            "a collective size of 11B is too small (every chunk holds a byte at least: n*c = 4*3) use 12B or more");
  EXPECT_EQ(refusal(request(all_gather, 4, 3, bytes(12))), "accepted");
  EXPECT_THAT(refusal(request(broadcast, 4, 3, bytes(2))), HasSubstr("use 3B or more"));
  EXPECT_EQ(refusal(request(broadcast, 4, 3, bytes(3))), "accepted");
  EXPECT_THAT(refusal(request(all_gather, 4, 1, bytes(0))), HasSubstr("too small"));
  // The largest group decides.
  auto groups = request(all_reduce, 5, 2, bytes(5));
  groups.groups = parse_groups("0,1; 2-4", 5).value();
  EXPECT_THAT(refusal(groups), HasSubstr("n*c = 3*2"));
}

TEST(Collective, RefusesChunkCountsOutOfRange) {
  EXPECT_THAT(refusal(request(all_gather, 4, 0, bytes(100))), HasSubstr("0 chunks"));
  EXPECT_THAT(refusal(request(all_gather, 4, -1, bytes(100))), HasSubstr("-1 chunks"));
  const Bytes huge = bytes(std::numeric_limits<std::int64_t>::max());
  // 2^32 - 2 chunks are the most: 4 * 1,073,741,823 = 4,294,967,292 fit, 4 * 1,073,741,824 do not.
  EXPECT_EQ(refusal(request(all_gather, 4, 1'073'741'823, huge)), "accepted");
  const auto refused = Collective::make(request(all_gather, 4, 1'073'741'824, huge));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.errors().front().fault, Fault::resource);
  EXPECT_FALSE(Collective::make(request(all_gather, 4, std::numeric_limits<std::int64_t>::max(), huge)));
}

TEST(Collective, RefusesRootsOutsideAGroup) {
  auto wanted = request(reduce, 5, 1, bytes(10));
  wanted.groups = parse_groups("0,1; 2-4", 5).value();
  wanted.root = 1;
  EXPECT_EQ(refusal(wanted), "accepted");
  wanted.root = 2;
  EXPECT_THAT(refusal(wanted), HasSubstr("root 2 of a group of 2 NPUs"));
  wanted.kind = all_reduce;  // has no root
  EXPECT_EQ(refusal(wanted), "accepted");
}

TEST(Collective, RefusesBadGroups) {
  auto wanted = request(all_gather, 4, 1, bytes(100));
  wanted.groups = {{{NpuId(0), NpuId(1)}}, {{NpuId(1), NpuId(2), NpuId(1)}}};
  EXPECT_THAT(refusal(wanted), HasSubstr("NPU 1 is twice in a process group"));
  wanted.groups = {{{NpuId(0), NpuId(4)}}};
  EXPECT_THAT(refusal(wanted), HasSubstr("NPU 4 of a process group does not exist"));
  wanted.groups = {{{NpuId(0)}}};
  EXPECT_THAT(refusal(wanted), HasSubstr("a process group of 1 NPUs"));
  EXPECT_THAT(refusal(request(all_gather, 1, 1, bytes(100))), HasSubstr("a process group has at least two"));
}

TEST(Collective, TurnsIntoItsPartsWithTheSameChunks) {
  const Collective whole = collective(all_reduce, 6, bytes(120), 2, "0,2,4; 5,3");
  const Collective gather = whole.as(all_gather);
  const Collective scatter = whole.as(reduce_scatter);
  EXPECT_EQ(gather.kind(), all_gather);
  EXPECT_EQ(scatter.as(all_reduce).kind(), all_reduce);
  for (std::uint32_t chunk = 0; chunk < whole.chunks(); ++chunk) {
    EXPECT_EQ(gather.owner(ChunkId(chunk)), whole.owner(ChunkId(chunk)));
    EXPECT_EQ(scatter.chunk_bytes(ChunkId(chunk)), whole.chunk_bytes(ChunkId(chunk)));
    EXPECT_TRUE(gather.holds_at_start(whole.owner(ChunkId(chunk)), ChunkId(chunk)));
  }
  EXPECT_THROW((void)whole.as(broadcast), InvariantError);
  EXPECT_EQ(collective(reduce, 4, bytes(4)).as(broadcast).kind(), broadcast);
}

RC_GTEST_PROP(CollectiveProperties, RequiredDeliveriesCountThePostcondition, ()) {
  const auto kind = *rc::gen::element(all_gather, reduce_scatter, all_reduce, broadcast, reduce);
  const auto chunks = *rc::gen::inRange<std::int64_t>(1, 4);
  const auto groups = *rc::gen::element<std::string>("all", "0,1", "0,2,4; 5,3", "0-4:2; 1-7:6; 3,5,6");
  const Collective sample = collective(kind, 8, bytes(*rc::gen::inRange<std::int64_t>(24, 1000)), chunks, groups);
  std::uint64_t counted = 0;
  for (std::uint32_t npu = 0; npu < 8; ++npu) {
    for (std::uint32_t chunk = 0; chunk < sample.chunks(); ++chunk) {
      const bool needs = sample.must_hold(NpuId(npu), ChunkId(chunk));
      counted += needs && !sample.holds_at_start(NpuId(npu), ChunkId(chunk)) ? 1U : 0U;
      RC_ASSERT(!needs || sample.group_of(NpuId(npu)) == sample.group_of(ChunkId(chunk)));
    }
  }
  RC_ASSERT(counted == sample.required_deliveries());
}

RC_GTEST_PROP(CollectiveProperties, ChunksCoverTheSizeWithLessThanAByteOfPaddingEach, ()) {
  const auto chunks = *rc::gen::inRange<std::int64_t>(1, 5);
  const auto size = *rc::gen::inRange<std::int64_t>(40, 100'000);
  const Collective gather = collective(all_gather, 8, bytes(size), chunks);
  const std::int64_t total = gather.chunk_bytes(ChunkId(0)).count() * static_cast<std::int64_t>(gather.chunks());
  RC_ASSERT(total >= size);
  RC_ASSERT(total - size < static_cast<std::int64_t>(gather.chunks()));
}

TEST(Collective, OwnedChunksAreThoseWhoseOwnerTheNpuIs) {
  for (const auto kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce,
                          CollectiveKind::broadcast, CollectiveKind::reduce, CollectiveKind::all_to_all}) {
    const auto made = Collective::make({kind, 7, parse_groups("1-3; 4,0,6", 7).value(), 2, bytes(1000), 1}).value();
    for (std::size_t npu = 0; npu < 7; ++npu) {
      const auto [first, count] = made.owned_by(NpuId::at(npu));
      for (std::size_t chunk = 0; chunk < made.chunks(); ++chunk)
        EXPECT_EQ(made.owner(ChunkId::at(chunk)) == NpuId::at(npu), chunk >= first && chunk < first + count)
            << to_string(kind) << npu << chunk;
    }
  }
}

}  // namespace
}  // namespace tenex
