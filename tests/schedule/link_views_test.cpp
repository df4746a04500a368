// Views of schedules that can be read link by link: both ways of reading must yield the same sends, and the right ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "schedule/link_major_storage.hpp"
#include "schedule/schedule_factories.hpp"
#include "support/verdicts.hpp"
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
    EXPECT_TRUE(verdict.valid()) << support::first_finding(verdict);
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

}  // namespace
}  // namespace tenex
