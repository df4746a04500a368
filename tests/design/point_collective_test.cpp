// What a point's kind, groups, matrix, conditions and shape ask to be sent.
#include "tenex/design/point_collective.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "design/design_support.hpp"

namespace tenex {
namespace {

using ::testing::HasSubstr;

Words with_more(const Words& more) {
  Words words{{"topology", "RI(8)"}, {"alpha", "1us"}, {"bandwidth", "50GB/s"}, {"algorithm", "pccl"}};
  for (const auto& [name, value] : more) {
    std::erase_if(words, [&](const auto& given) { return given.first == name; });
    words.emplace_back(name, value);
  }
  return words;
}

DesignPoint point_with(const Words& more) { return make_point(with_more(more), test_words()).value(); }

Collective collective_of(const DesignPoint& point) {
  return Collective::make(collective_request(point, point.topology.shape.npus()).value()).value();
}

TEST(PointCollective, MatrixGivesEveryPairItsShareOfTheLargestRow) {
  const auto point = point_with({{"collective", "all_to_allv"},
                                 {"groups", "0-2"},
                                 {"matrix", "0,2,2; 1,0,1; 1,0,0"},
                                 {"size", "4000B"},
                                 {"chunks", "2"}});
  const auto collective = collective_of(point);
  // Rank 0 sends most: 2 + 2 parts are S, so a part is 1000 B. Five pairs of two chunks.
  EXPECT_EQ(collective.chunks(), 10U);
  EXPECT_EQ(collective.required_deliveries(), 10U);
  EXPECT_EQ(collective.chunk_bytes(ChunkId(0)), bytes(1000));
  EXPECT_EQ(collective.owner(ChunkId(0)), NpuId(0));
  EXPECT_EQ(collective.destination(ChunkId(3)), NpuId(2));
  EXPECT_EQ(collective.chunk_bytes(ChunkId(9)), bytes(500));
  EXPECT_EQ(collective.destination(ChunkId(9)), NpuId(0));
}

TEST(PointCollective, PiecesCutEveryConditionByItsSize) {
  const auto point = point_with({{"collective", "all_to_allv"},
                                 {"groups", "0-2"},
                                 {"matrix", "0,7,3; 1,0,0; 0,2,0"},
                                 {"size", "1000B"},
                                 {"piece", "250B"}});
  const auto collective = collective_of(point);
  // A part is 100 B. 700 B are three pieces of 234 B, 300 B two of 150 B, 100 and 200 B one each.
  ASSERT_EQ(collective.chunks(), 7U);
  std::vector<std::int64_t> sizes;
  std::vector<std::uint32_t> to;
  for (std::uint32_t c = 0; c < 7; ++c) {
    sizes.push_back(collective.chunk_bytes(ChunkId(c)).count());
    to.push_back(collective.destination(ChunkId(c)).value());
  }
  EXPECT_THAT(sizes, testing::ElementsAre(234, 234, 234, 150, 150, 100, 200));
  EXPECT_THAT(to, testing::ElementsAre(1U, 1U, 1U, 2U, 2U, 0U, 1U));
  EXPECT_THAT(point.canonical, HasSubstr("piece=250"));
}

// 512 pieces of what the busiest source sends: 51,200 B of rank 0, so pieces of 100 B.
TEST(PointCollective, AutomaticPiecesArePartsOfWhatOneSourceSends) {
  const auto point = point_with({{"collective", "conditions"},
                                 {"conditions", "0 -> 1 50KB; 0 -> 2,3 1200B; 1 -> 2 160B"},
                                 {"groups", "0-3"},
                                 {"piece", "auto"}});
  const auto collective = collective_of(point);
  EXPECT_EQ(collective.chunks(), 500U + 12U + 2U);
  EXPECT_EQ(collective.chunk_bytes(ChunkId(513)), bytes(80));
  EXPECT_THAT(point.canonical, HasSubstr("piece=auto"));
}

// An All-Gather's 1000 B of each of 4 NPUs are 3 chunks of 334 B where a piece has 400 B at most, and so are an
// All-to-All's 1000 B of each pair; of a Broadcast the root has all 4000 B. All of this can be said by `chunks`, so the
// points are those.
TEST(PointCollective, PiecesOfAlikeChunksAreANumberOfChunks) {
  for (const auto& [kind, chunks] : std::vector<std::pair<std::string, std::string>>{
           {"all_gather", "3"}, {"broadcast", "10"}, {"all_to_all", "3"}}) {
    const Words plain{{"collective", kind}, {"topology", "RI(4)"}, {"size", "4000B"}};
    Words pieces = plain;
    pieces.emplace_back("piece", "400B");
    Words counted = plain;
    counted.emplace_back("chunks", chunks);
    EXPECT_EQ(point_with(pieces).canonical, point_with(counted).canonical) << kind;
  }
}

// 3 chunks of 334 B for the All-Gather's 1000 B per NPU, 2 of 400 B for the pair; the last group says 3 by itself.
TEST(PointCollective, PiecesCutEachGroupOfAMixture) {
  const auto point = point_with({{"collective", "mixed"},
                                 {"groups", "0-3 all_gather 4000B; 4-5 conditions; 6-7 all_gather 600B 3 chunks"},
                                 {"conditions", "0 -> 1 800B"},
                                 {"piece", "400B"}});
  const auto collective = collective_of(point);
  EXPECT_EQ(collective.chunks_in(GroupId(0)), 4U * 3U);
  EXPECT_EQ(collective.chunks_in(GroupId(1)), 2U);
  EXPECT_EQ(collective.chunks_in(GroupId(2)), 2U * 3U);
}

// A piece that is absent, or said to be, is the same point; what a group states of itself is kept.
TEST(PointCollective, PiecesHaveOneKeyForOnePoint) {
  const Words halo{{"topology", "RI(8)"}, {"collective", "halo_exchange"}, {"size", "1MB"}, {"algorithm", "best"}};
  Words none = halo;
  none.emplace_back("piece", "none");
  EXPECT_EQ(point_with(none).canonical, point_with(halo).canonical);
  const auto counted =
      point_with({{"collective", "all_gather"}, {"size", "4000B"}, {"groups", "0-3; 4-7"}, {"chunks", "3"}});
  for (const char* groups : {"0-3; 4-7", "0-3 all_gather 4000B; 4-7 all_gather 4000B"})
    EXPECT_EQ(
        point_with({{"collective", "all_gather"}, {"size", "4000B"}, {"groups", groups}, {"piece", "400B"}}).canonical,
        counted.canonical);
  const auto stated =
      point_with({{"collective", "all_gather"}, {"size", "4000B"}, {"groups", "0-3 1 chunks; 4-7"}, {"piece", "400B"}});
  EXPECT_EQ(collective_of(stated).chunks_in(GroupId(0)), 4U);
  EXPECT_EQ(collective_of(stated).chunks_in(GroupId(1)), 4U * 3U);
  EXPECT_FALSE(
      make_point(with_more({{"collective", "halo_exchange"}, {"size", "1MB"}, {"piece", "0B"}}), test_words()));
}

TEST(PointCollective, RefusesAPieceBesideANumberOfChunks) {
  const auto refused = make_point(
      with_more({{"collective", "halo_exchange"}, {"size", "1MB"}, {"piece", "1KB"}, {"chunks", "2"}}), test_words());
  ASSERT_FALSE(refused);
  EXPECT_THAT(to_string(refused.errors()), HasSubstr("piece = \"1KB\" and chunks = 2"));
}

// 8 NPUs send 500 MB to each of two neighbours.
TEST(PointCollective, RefusesMorePiecesThanItKeeps) {
  const auto dust =
      make_point(with_more({{"collective", "halo_exchange"}, {"size", "1GB"}, {"piece", "1B"}}), test_words());
  ASSERT_FALSE(dust);
  EXPECT_THAT(to_string(dust.errors()), HasSubstr("8000000000 pieces of up to 1B"));
}

TEST(PointCollective, KeepsAPieceBesideNoNumberOfChunks) {
  EXPECT_TRUE(make_point(
      with_more({{"collective", "halo_exchange"}, {"size", "1MB"}, {"piece", "none"}, {"chunks", "2"}}), test_words()));
}

TEST(PointCollective, MatrixOfOnesIsAnAllToAll) {
  const auto some = point_with(
      {{"collective", "all_to_allv"}, {"groups", "1-3"}, {"matrix", "1,1,1;1,1,1;1,1,1"}, {"size", "3000B"}});
  const auto all = point_with({{"collective", "all_to_all"}, {"groups", "1-3"}, {"size", "3000B"}});
  EXPECT_EQ(collective_of(some).required_deliveries(), collective_of(all).required_deliveries());
  EXPECT_EQ(collective_of(some).chunk_sizes(), collective_of(all).chunk_sizes());
}

TEST(PointCollective, HaloGoesToNeighboursAlongTheDimensions) {
  // RI(4) closes, LI(3) does not, FC(3) closes. An NPU in the middle has 2 + 2 + 2 neighbours.
  const auto point =
      point_with({{"topology", "RI(4)_LI(3)_FC(3)"}, {"collective", "halo_exchange"}, {"size", "6000B"}});
  const auto collective = collective_of(point);
  // Per NPU two along RI and FC each; along LI two in the middle row, one in the others: 36 * 4 + 12 * (1 + 2 + 1).
  EXPECT_EQ(collective.chunks(), 36U * 4U + 12U * 4U);
  EXPECT_EQ(collective.chunk_bytes(ChunkId(0)), bytes(1000));
  // NPU 0 sends to 1, 3 (RI), 4 (LI), 12, 24 (FC).
  std::vector<std::uint32_t> to;
  for (std::uint32_t c = 0; c < collective.owned_by(NpuId(0)).count; ++c)
    to.push_back(collective.destination(ChunkId(c)).value());
  EXPECT_THAT(to, testing::UnorderedElementsAre(1U, 3U, 4U, 12U, 24U));
}

TEST(PointCollective, GroupsThatDifferSayAllAndLeaveThePointMixed) {
  const auto point = point_with({{"collective", "all_gather"},
                                 {"size", "1MiB"},
                                 {"groups", "0-3; 4-7 all_to_all 4MiB 2 chunks; 0,7 broadcast root 1"}});
  EXPECT_EQ(point.collective().kind, CollectiveKind::mixed);
  EXPECT_EQ(point.collective().groups.text(),
            "0-3 all_gather 1MiB; 4-7 all_to_all 4MiB 2 chunks; 0,7 broadcast 1MiB root 1");
  EXPECT_THAT(point.canonical, testing::Not(HasSubstr("size=")));
  const auto collective = collective_of(point);
  EXPECT_EQ(collective.kind(), CollectiveKind::mixed);
  EXPECT_EQ(collective.kind(GroupId(1)), CollectiveKind::all_to_all);
  EXPECT_EQ(collective.chunks(), 4U + 4U * 4U * 2U + 1U);
  EXPECT_EQ(collective.owner(collective.first_chunk(GroupId(2))), NpuId(7));
  EXPECT_EQ(collective.memberships(NpuId(7)).size(), 2U);
}

TEST(PointCollective, WhatGroupsRepeatChangesNothing) {
  const auto plain = point_with({{"collective", "all_gather"}, {"size", "1MiB"}, {"groups", "0-3; 4-7"}});
  const auto repeated =
      point_with({{"collective", "all_gather"}, {"size", "1MiB"}, {"groups", "0-3 all_gather; 4-7 1MiB 1 chunks"}});
  EXPECT_EQ(plain.canonical, repeated.canonical);
}

TEST(PointCollective, MixtureNeedsNoSize) {
  const auto point = make_point(
      with_more({{"collective", "mixed"}, {"groups", "0-3 all_gather 1MiB; 4-7 gather 2MiB"}}), test_words());
  ASSERT_TRUE(point.ok()) << to_string(point.errors());
  EXPECT_FALSE(make_point(with_more({{"collective", "all_gather"}}), test_words()).ok());
}

TEST(PointCollective, SizesOfPointsAndOfCollectivesAgree) {
  for (const Words& words :
       {Words{{"collective", "gather"}, {"size", "1MiB"}},
        Words{{"collective", "scatter"}, {"size", "1MiB"}, {"chunks", "3"}},
        Words{{"collective", "all_to_all"}, {"size", "1MiB"}}, Words{{"collective", "broadcast"}, {"size", "1MiB"}},
        Words{{"topology", "torus(4,4)"}, {"collective", "halo_exchange"}, {"size", "1MiB"}},
        Words{{"collective", "conditions"}, {"conditions", "0 -> 1,2 4KiB; 3 -> 4"}, {"size", "1MiB"}, {"chunks", "2"}},
        Words{{"collective", "all_to_allv"}, {"groups", "0-1"}, {"matrix", "0,1;1,0"}, {"size", "1KiB"}},
        Words{{"collective", "all_to_allv"},
              {"groups", "0-1"},
              {"matrix", "0,7;3,0"},
              {"size", "1KiB"},
              {"piece", "99B"}},
        Words{{"collective", "conditions"}, {"conditions", "0 -> 1,2 5KiB; 3 -> 4 1KiB"}, {"piece", "auto"}},
        Words{{"topology", "torus(4,4)"}, {"collective", "halo_exchange"}, {"size", "1MiB"}, {"piece", "100KB"}}}) {
    const auto point = point_with(words);
    const auto collective = collective_of(point);
    const auto planned =
        group_sizes(point, ProcessGroup{collective.groups()[0].members}, collective.groups()[0].members.size());
    const auto built = group_sizes(collective, GroupId(0));
    EXPECT_EQ(planned.chunks, built.chunks) << point.canonical;
    EXPECT_EQ(planned.deliveries, built.deliveries) << point.canonical;
    EXPECT_EQ(planned.largest_chunk, built.largest_chunk) << point.canonical;
    if (planned.kind != CollectiveKind::broadcast) {
      EXPECT_EQ(static_cast<double>(collective.required_deliveries()), built.deliveries) << point.canonical;
    }
  }
}

TEST(PointCollective, RefusesGroupsAndConditionsWithoutSizes) {
  const auto refusal = [](const Words& words) {
    const auto point = make_point(with_more(words), test_words());
    return point ? std::string("accepted") : to_string(point.errors());
  };
  EXPECT_THAT(refusal({{"collective", "mixed"}, {"groups", "0-3 all_gather 1MiB; 4-7 gather"}}),
              HasSubstr("a group of gather without a size"));
  EXPECT_THAT(refusal({{"collective", "conditions"}, {"conditions", "0 -> 1 1MiB; 3 -> 4"}}),
              HasSubstr("a condition of source 3 without a size"));
  EXPECT_EQ(refusal({{"collective", "conditions"}, {"conditions", "0 -> 1 1MiB; 3 -> 4 1MiB"}}), "accepted");
}

}  // namespace
}  // namespace tenex
