// Views of schedules that can be read link by link: both ways of reading must yield the same sends, and the right ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "schedule/link_major_storage.hpp"
#include "schedule/schedule_factories.hpp"
#include "tenex/schedule/timing/retime.hpp"
#include "tenex/schedule/verifier/verifier.hpp"
#include "tenex/schedule/views/views.hpp"

namespace tenex {
namespace {

using ::testing::ElementsAre;

/// All sends as read tile by tile and link by link; tiles must follow each other in time.
std::vector<Send> sends_by_link(const Schedule& schedule, std::size_t links) {
  std::vector<Send> sends;
  SendBuffer buffer;
  SimTime tile_begin;
  for (std::size_t tile = 0; tile < schedule.tiles(); ++tile) {
    SimTime last = tile_begin;
    for (std::size_t link = 0; link < links; ++link) {
      schedule.read_link(tile, LinkId::at(link), buffer);
      for (std::size_t i = 0; i < buffer.batch.size(); ++i) {
        sends.push_back(buffer.batch[i]);
        EXPECT_EQ(sends.back().link, LinkId::at(link));
        EXPECT_GE(sends.back().start, tile_begin);
        if (i > 0) {
          EXPECT_LT(sends[sends.size() - 2].start, sends.back().start);
        }
        last = std::max(last, sends.back().start);
      }
    }
    tile_begin = last + SimTime::of(1);
  }
  std::ranges::sort(sends, {}, [](const Send& send) { return std::tuple(send.start, send.link); });
  return sends;
}

/// A mesh of 4 x 3 with an All-Gather of 2 chunks per NPU, as a list and link by link.
class LinkViews : public ::testing::TestWithParam<Occupancy> {
 protected:
  const Topology topology_ = support::mesh(4, 3);
  const std::size_t links_ = topology_.links();
  const Collective all_reduce_ = support::collective(CollectiveKind::all_reduce, 12, bytes(24'000), 2);
  const Collective gather_ = all_reduce_.as(CollectiveKind::all_gather);
  const Collective scatter_ = all_reduce_.as(CollectiveKind::reduce_scatter);
  const std::vector<Send> sends_ = test::greedy_gather({topology_, gather_, GetParam()}, 11);
  const Schedule list_ = make_list_schedule(sends_);
  const Schedule by_link_ = test::LinkMajor(sends_).schedule();
  const std::vector<LinkId> opposite_ = [&] {
    std::vector<LinkId> opposite;
    for (std::size_t l = 0; l < links_; ++l)
      opposite.push_back(test::link_between(topology_, topology_.target(LinkId::at(l)).value(),
                                            topology_.source(LinkId::at(l)).value()));
    return opposite;
  }();
};

TEST_P(LinkViews, ReversalTellsTheSameSendsBothWays) {
  const Schedule reversal = reversed({topology_, gather_, GetParam()}, by_link_);
  EXPECT_EQ(reversal.storage_kind(), "reversed");
  EXPECT_EQ(reversal.sends(), list_.sends());
  // By the definition: starts are T - arrival, and all are partial sums.
  const SimTime end = last_arrival({topology_, gather_, GetParam()}, list_);
  const SimTime latency = hop_time(topology_.classes()[0], gather_.chunk_sizes()[0], GetParam()).latency;
  auto expected = sends_;
  for (Send& send : expected) {
    send.start = end - (send.start + latency);
    send.stage = Stage::reduce;
  }
  EXPECT_EQ(list_sends(reversal), list_sends(make_list_schedule(expected)));
  EXPECT_EQ(sends_by_link(reversal, links_), list_sends(reversal));
}

TEST_P(LinkViews, RelabellingTellsTheSameSendsBothWays) {
  std::vector<ChunkId> chunks(gather_.chunks());
  for (std::size_t c = 0; c < chunks.size(); ++c) chunks[c] = ChunkId::at(c ^ 1U);  // the two chunks of each owner
  const Schedule renamed = relabelled(by_link_, opposite_, chunks);
  auto expected = sends_;
  for (Send& send : expected) {
    send.link = opposite_[send.link.index()];
    send.chunk = chunks[send.chunk.index()];
  }
  EXPECT_EQ(list_sends(renamed), list_sends(make_list_schedule(expected)));
  EXPECT_EQ(sends_by_link(renamed, links_), list_sends(renamed));
  EXPECT_EQ(list_sends(relabelled(list_, opposite_, chunks)), list_sends(renamed));
}

TEST_P(LinkViews, AnAllReduceOfOneGatherIsValidLinkByLinkAndInTimeOrder) {
  const Schedule reduction = reversed({topology_, scatter_, GetParam()}, relabelled(by_link_, opposite_));
  EXPECT_TRUE(verify({topology_, scatter_, GetParam()}, reduction).valid());
  const Schedule both = then_gather({topology_, all_reduce_, GetParam()}, reduction, by_link_);
  EXPECT_EQ(both.tiles(), 2 * by_link_.tiles());
  EXPECT_EQ(sends_by_link(both, links_), list_sends(both));
  const Verdict by_link = verify({topology_, all_reduce_, GetParam()}, both);
  const Verdict by_time = verify({topology_, all_reduce_, GetParam()}, make_list_schedule(list_sends(both)));
  for (const Verdict& verdict : {by_link, by_time}) {
    EXPECT_TRUE(verdict.valid()) << (verdict.findings.empty() ? "" : verdict.findings[0].message);
    EXPECT_EQ(verdict.sends, 2U * 24U * 11U);  // every chunk to or from 11 others, twice
    EXPECT_EQ(verdict.collective_time, last_arrival({topology_, all_reduce_, GetParam()}, both));
    EXPECT_EQ(verdict.reduction_check, "in_tree");
  }
}

TEST_P(LinkViews, ASequenceWithAListOffersNoTiles) {
  const Schedule reduction = reversed({topology_, scatter_, GetParam()}, relabelled(by_link_, opposite_));
  EXPECT_EQ(then_gather({topology_, all_reduce_, GetParam()}, reduction, list_).tiles(), 0U);
}

TEST_P(LinkViews, ReadIntoABufferThatWasUsedBefore) {
  const Schedule reduction = reversed({topology_, scatter_, GetParam()}, relabelled(by_link_, opposite_));
  const Schedule both = then_gather({topology_, all_reduce_, GetParam()}, reduction, by_link_);
  EXPECT_EQ(sends_by_link(both, links_), sends_by_link(both, links_));
  EXPECT_EQ(schedule_hash(both), schedule_hash(make_list_schedule(list_sends(both))));
}

INSTANTIATE_TEST_SUITE_P(Occupancies, LinkViews, ::testing::Values(Occupancy::transfer, Occupancy::serialization),
                         [](const auto& info) { return std::string(to_string(info.param)); });

TEST(Relabelling, PutsTheSendsOfOneStartInTheOrderOfTheirNewLinks) {
  // Three links, exchanged 0 <-> 2: sends of links 0 and 2 at 0s, of links 0 and 1 at 1us.
  const std::vector<Send> sends{test::copy_of(7, 0, microseconds(0)), test::copy_of(8, 2, microseconds(0)),
                                test::copy_of(9, 0, microseconds(1)), test::copy_of(7, 1, microseconds(1))};
  const Schedule renamed = relabelled(test::LinkMajor(sends).schedule(), {LinkId(2), LinkId(1), LinkId(0)});
  EXPECT_THAT(list_sends(renamed),
              ElementsAre(test::copy_of(8, 0, microseconds(0)), test::copy_of(7, 2, microseconds(0)),
                          test::copy_of(7, 1, microseconds(1)), test::copy_of(9, 2, microseconds(1))));
}

TEST(Relabelling, KeepsSendsThatCollideOnALink) {
  const std::vector<Send> sends{test::copy_of(1, 0, microseconds(0)), test::copy_of(0, 0, microseconds(0))};
  const Schedule renamed = relabelled(test::LinkMajor(sends).schedule(), {LinkId(1), LinkId(0)});
  EXPECT_THAT(list_sends(renamed),
              ElementsAre(test::copy_of(0, 1, microseconds(0)), test::copy_of(1, 1, microseconds(0))));
}

/// A ring of n NPUs, chunks going round in one direction, link by link or as a list.
struct RingAllReduce {
  explicit RingAllReduce(std::uint32_t n, bool tiles = true)
      : ring(support::ring(n)),
        collective(support::collective(CollectiveKind::all_reduce, n, bytes(1000 * n))),
        gather(part(ring, tiles)),
        reduction(reversed({ring, collective.as(CollectiveKind::reduce_scatter), Occupancy::transfer},
                           part(ring.reversed(), tiles))) {}
  Schedule part(const Topology& topology, bool tiles) const {
    const auto sends = test::ring_gather({topology, collective.as(CollectiveKind::all_gather), Occupancy::transfer});
    return tiles ? test::LinkMajor(sends).schedule() : make_list_schedule(sends);
  }
  SimTime limit() const { return retiming_limit({ring, collective, Occupancy::transfer}, reduction, gather); }
  /// The time of a send over any link: 500 ns + 1000 B / 50 GB/s.
  static constexpr SimTime kStep = nanoseconds(520);
  Topology ring;
  Collective collective;
  Schedule gather;
  Schedule reduction;
};

TEST(RetimingLimit, ProvesThatAFullRingGainsNothing) {
  // Each used link is busy in every one of the n - 1 steps of each half. The last partial sum over link i -> i+1
  // completes chunk i+1, which i+1 then sends first.
  for (const bool tiles : {true, false}) EXPECT_EQ(RingAllReduce(5, tiles).limit(), RingAllReduce::kStep * 8);
}

TEST(RetimingLimit, DoesNotCountAPauseOfTheReduction) {
  RingAllReduce given(5);
  auto sends = list_sends(given.reduction);
  for (Send& send : sends) send.start += nanoseconds(10);  // nothing happens in the first 10 ns
  given.reduction = test::LinkMajor(sends).schedule();
  EXPECT_EQ(given.limit(), RingAllReduce::kStep * 8);  // while the plan takes 10 ns more
}

TEST(RetimingLimit, ProvesNothingWhereTheGatherBeginsWithAnotherChunk) {
  // The first sends carry the chunk of the next NPU: no valid gather, but the proof must not hold for it.
  RingAllReduce given(5);
  auto sends = list_sends(given.gather);
  const SimTime step = sends[5].start;
  for (Send& send : sends) send.chunk = ChunkId((send.chunk.value() + (send.start < step ? 1U : 0U)) % 5);
  given.gather = test::LinkMajor(sends).schedule();
  EXPECT_EQ(given.limit(), SimTime::zero());
}

TEST(RetimingLimit, IsNeverAboveARetimedTime) {
  std::size_t found = 0;
  for (const auto occupancy : {Occupancy::transfer, Occupancy::serialization})
    for (const auto& topology : {support::ring(4), support::mesh(3, 3), support::mesh(2, 5), support::torus(3, 3)})
      for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const auto n = topology.npus();
        const auto collective =
            support::collective(CollectiveKind::all_reduce, n, bytes(static_cast<std::int64_t>(2000 * n)));
        const auto gathering = collective.as(CollectiveKind::all_gather);
        const Schedule gather = make_list_schedule(test::greedy_gather({topology, gathering, occupancy}, seed));
        const Schedule reduction =
            reversed({topology, collective.as(CollectiveKind::reduce_scatter), occupancy},
                     make_list_schedule(test::greedy_gather({topology.reversed(), gathering, occupancy}, seed)));
        const SimTime limit = retiming_limit({topology, collective, occupancy}, reduction, gather);
        const Schedule plan = then_gather({topology, collective, occupancy}, reduction, gather);
        const Schedule sooner = retime({topology, collective, occupancy}, plan);
        EXPECT_GE(last_arrival({topology, collective, occupancy}, sooner), limit);
        found += limit > SimTime::zero() ? 1 : 0;
      }
  EXPECT_GT(found, 20U);
}

}  // namespace
}  // namespace tenex
