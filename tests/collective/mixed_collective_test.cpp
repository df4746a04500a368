// Groups with collectives of their own, new kinds and stored conditions: every accessor against the definition, written
// out pair by pair.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <utility>

#include "support/collectives.hpp"
#include "tenex/collective/collective.hpp"

namespace tenex {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Collective made(std::string_view groups, CollectiveKind kind = CollectiveKind::mixed, std::size_t npus = 8) {
  CollectiveRequest request;
  request.kind = kind;
  request.npus = npus;
  request.groups = parse_groups(groups, npus).value();
  request.size = bytes(4800);
  return Collective::make(std::move(request)).value();
}

TEST(MixedCollective, GatherAndScatterAreWhatTheySay) {
  auto request = CollectiveRequest{CollectiveKind::gather, 4, {}, 2, bytes(800), 3};
  const auto gather = Collective::make(request).value();
  // Chunk 5 is the second chunk of rank 2, and goes to rank 3.
  EXPECT_EQ(gather.chunks(), 8U);
  EXPECT_EQ(gather.chunk_bytes(ChunkId(5)), bytes(100));
  EXPECT_EQ(gather.source(ChunkId(5)), NpuId(2));
  EXPECT_EQ(gather.destination(ChunkId(5)), NpuId(3));
  EXPECT_EQ(gather.required_deliveries(), 6U);
  request.kind = CollectiveKind::scatter;
  const auto scatter = Collective::make(request).value();
  EXPECT_EQ(scatter.source(ChunkId(5)), NpuId(3));
  EXPECT_EQ(scatter.destination(ChunkId(5)), NpuId(2));
  EXPECT_EQ(scatter.held_by(scatter.memberships(NpuId(3)).front()).count, 8U);
  EXPECT_EQ(scatter.held_by(scatter.memberships(NpuId(0)).front()).count, 0U);
  EXPECT_EQ(scatter.required_deliveries(), 6U);
  EXPECT_TRUE(gather.is_unicast() && scatter.is_unicast());
}

TEST(MixedCollective, IsMixedWhereGroupsDifferOrShareNpus) {
  EXPECT_EQ(made("0-3; 4-7", CollectiveKind::all_gather).kind(), CollectiveKind::all_gather);
  EXPECT_EQ(made("0-3 all_gather; 4-7 all_gather").kind(), CollectiveKind::all_gather);
  EXPECT_EQ(made("0-3; 4-7 2 chunks", CollectiveKind::all_gather).kind(), CollectiveKind::mixed);
  EXPECT_EQ(made("0-3; 4-7 1KiB", CollectiveKind::all_gather).kind(), CollectiveKind::mixed);
  EXPECT_EQ(made("0-3; 3-7", CollectiveKind::all_gather).kind(), CollectiveKind::mixed);
  EXPECT_EQ(made("0-3; 4-7 root 1", CollectiveKind::broadcast).kind(), CollectiveKind::mixed);
}

TEST(MixedCollective, OneGroupAloneKeepsWhatItRuns) {
  const auto both = made("0-3 all_reduce 480B 2 chunks; 2-5 scatter 960B root 2");
  const auto alone = both.only(GroupId(1));
  EXPECT_EQ(alone.kind(), CollectiveKind::scatter);
  EXPECT_EQ(alone.root(), 2U);
  EXPECT_EQ(alone.chunk_bytes(ChunkId(0)), bytes(240));
  EXPECT_EQ(alone.source(ChunkId(0)), NpuId(4));
}

TEST(MixedCollective, RefusesConditionsThatDoNotFit) {
  const auto refusal = [](std::vector<Condition> conditions) {
    CollectiveRequest request{CollectiveKind::conditions, 4, {{}}, 2, bytes(100), 0};
    request.groups[0].conditions = std::make_shared<const std::vector<Condition>>(std::move(conditions));
    const auto collective = Collective::make(std::move(request));
    return collective ? std::string("accepted") : to_string(collective.errors());
  };
  EXPECT_EQ(refusal({{0, {1, 2}, bytes(10)}}), "accepted");
  EXPECT_THAT(refusal({{0, {4}, bytes(10)}}), HasSubstr("names rank 4 of a group of 4 NPUs"));
  EXPECT_THAT(refusal({{5, {1}, bytes(10)}}), HasSubstr("names rank 5"));
  EXPECT_THAT(refusal({{0, {1, 1}, bytes(10)}}), HasSubstr("names destination 1 twice"));
  EXPECT_THAT(refusal({{0, {0}, bytes(10)}}), HasSubstr("is its own destination"));
  EXPECT_THAT(refusal({{0, {}, bytes(10)}}), HasSubstr("without destinations"));
  EXPECT_THAT(refusal({{0, {1}, bytes(1)}}), HasSubstr("every chunk holds a byte at least"));
  EXPECT_THAT(refusal({}), HasSubstr("without conditions"));
}

/// What a chunk's definition says: who holds it at first, who contributes, who must end with it.
struct Defined {
  std::set<std::uint32_t> start, contribute, end;
};

/// By group, chunk for chunk in the order of the encoding.
std::vector<Defined> define(const Collective& collective, GroupId group) {
  const auto& members = collective.groups()[group.index()].members;
  const auto n = members.size();
  const auto c = static_cast<std::size_t>(collective.chunks_per_npu(group));
  std::set<std::uint32_t> everyone;
  for (const auto member : members) everyone.insert(member.value());
  const auto at = [&](std::size_t rank) { return std::set{members[rank].value()}; };
  const auto root = at(collective.root(group));
  std::vector<Defined> chunks;
  const auto add = [&](const Defined& defined) { chunks.insert(chunks.end(), c, defined); };
  switch (collective.kind(group)) {
    case CollectiveKind::all_gather:
      for (std::size_t i = 0; i < n; ++i) add({at(i), {}, everyone});
      break;
    case CollectiveKind::reduce_scatter:
      for (std::size_t i = 0; i < n; ++i) add({{}, everyone, at(i)});
      break;
    case CollectiveKind::all_reduce:
      for (std::size_t i = 0; i < n; ++i) add({{}, everyone, everyone});
      break;
    case CollectiveKind::broadcast:
      add({root, {}, everyone});
      break;
    case CollectiveKind::reduce:
      add({{}, everyone, root});
      break;
    case CollectiveKind::all_to_all:
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) add({at(i), {}, at(j)});
      break;
    case CollectiveKind::gather:
      for (std::size_t i = 0; i < n; ++i) add({at(i), {}, root});
      break;
    case CollectiveKind::scatter:
      for (std::size_t i = 0; i < n; ++i) add({root, {}, at(i)});
      break;
    default:
      for (const Condition& condition : collective.conditions(group)) {
        Defined defined{at(condition.source), {}, {}};
        for (const auto rank : condition.destinations) defined.end.insert(members[rank].value());
        add(defined);
      }
  }
  return chunks;
}

RC_GTEST_PROP(MixedCollective, AgreesWithItsDefinition, ()) {
  const auto npus = 2 + static_cast<std::uint32_t>(*rc::gen::resize(100, rc::gen::inRange(0, 7)));
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  Random random(seed, 1);
  const auto kind = static_cast<CollectiveKind>(random.below(static_cast<std::uint32_t>(collective_names().size())));
  const auto collective =
      support::any_collective(kind, npus, bytes(4800), 1 + random.below(3), support::drawn_groups(npus, random), seed);
  std::uint64_t deliveries = 0;
  std::size_t next = 0;
  for (std::size_t g = 0; g < collective.groups().size(); ++g) {
    for (const Defined& defined : define(collective, GroupId::at(g))) {
      const auto chunk = ChunkId::at(next++);
      RC_ASSERT(collective.group_of(chunk) == GroupId::at(g));
      std::set<std::uint32_t> visited;
      collective.for_each_destination(chunk, [&](NpuId npu) { visited.insert(npu.value()); });
      RC_ASSERT(visited == defined.end);
      for (std::uint32_t npu = 0; npu < npus; ++npu) {
        RC_ASSERT(collective.holds_at_start(NpuId(npu), chunk) == defined.start.contains(npu));
        RC_ASSERT(collective.contributes(NpuId(npu), chunk) == defined.contribute.contains(npu));
        RC_ASSERT(collective.must_hold(NpuId(npu), chunk) == defined.end.contains(npu));
        bool held = false;
        for (const auto& member : collective.memberships(NpuId(npu))) {
          const auto [first, count] = collective.held_by(member);
          held = held || (chunk.index() >= first && chunk.index() < first + count);
        }
        RC_ASSERT(held == (defined.start.contains(npu) || defined.contribute.contains(npu)));
        deliveries += defined.end.contains(npu) && !defined.start.contains(npu) ? 1 : 0;
      }
      if (defined.end.size() == 1) RC_ASSERT(defined.end.contains(collective.destination(chunk).value()));
    }
  }
  RC_ASSERT(next == collective.chunks());
  RC_ASSERT(deliveries == collective.required_deliveries());
}

}  // namespace
}  // namespace tenex
