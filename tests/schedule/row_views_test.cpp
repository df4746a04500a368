// Views of schedules that are read by rows, and schedules that are read by periods: every way of reading must yield the
// same sends.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "schedule/row_storage.hpp"
#include "schedule/schedule_factories.hpp"
#include "schedule/storage/periodic_link.hpp"
#include "tenex/schedule/storage/comb_schedule.hpp"
#include "tenex/schedule/storage/periodic_schedule.hpp"
#include "tenex/schedule/verifier/verifier.hpp"
#include "tenex/schedule/views/scaled.hpp"
#include "tenex/schedule/views/views.hpp"

namespace tenex {
namespace {

/// A mesh of 4 x 3 with an All-Gather of 2 chunks per NPU; the parameter says whether runs name places or list chunks.
class RowViews : public ::testing::TestWithParam<bool> {
 protected:
  static std::vector<ChunkId> some_places(bool named) {
    std::vector<ChunkId> places;
    for (std::uint32_t c = 0; named && c < 24; ++c)
      places.emplace_back(c * 5 % 24);  // 5 and 24 have no factor in common
    return places;
  }
  void expect_same(const Schedule& schedule) const {
    EXPECT_EQ(test::sends_by_rows(schedule, links_), list_sends(schedule)) << schedule.storage_kind();
  }

  const Topology topology_ = support::mesh(4, 3);
  const std::size_t links_ = topology_.links();
  const Collective all_reduce_ = support::collective(CollectiveKind::all_reduce, 12, bytes(24'000), 2);
  const Collective gather_ = all_reduce_.as(CollectiveKind::all_gather);
  const Collective scatter_ = all_reduce_.as(CollectiveKind::reduce_scatter);
  const std::vector<Send> sends_ = test::greedy_gather({topology_, gather_, Occupancy::transfer}, 11);
  const std::shared_ptr<const test::RowStorage> storage_ =
      std::make_shared<const test::RowStorage>(sends_, some_places(GetParam()));
  const Schedule by_rows_ = Schedule(storage_);
  const std::vector<LinkId> opposite_ = [&] {
    std::vector<LinkId> opposite;
    for (std::size_t l = 0; l < links_; ++l)
      opposite.push_back(test::link_between(topology_, topology_.target(LinkId::at(l)).value(),
                                            topology_.source(LinkId::at(l)).value()));
    return opposite;
  }();
  const std::vector<ChunkId> swapped_ = [] {  // the two chunks of each owner
    std::vector<ChunkId> chunks;
    for (std::uint32_t c = 0; c < 24; ++c) chunks.emplace_back(c ^ 1U);
    return chunks;
  }();
};

TEST_P(RowViews, TellTheSameSends) {
  expect_same(by_rows_);
  for (const bool renamed : {false, true}) {
    const Schedule turned = relabelled(by_rows_, opposite_, renamed ? swapped_ : std::vector<ChunkId>());
    expect_same(turned);
    const Schedule reduction = reversed({topology_, scatter_, Occupancy::transfer}, turned);
    expect_same(reduction);
    const Schedule both = then_gather({topology_, all_reduce_, Occupancy::transfer}, reduction, by_rows_);
    ASSERT_GT(both.row_time(), SimTime::zero());
    EXPECT_EQ(both.places().empty(), renamed || !GetParam());  // two numberings of places become one list
    expect_same(both);
    const auto reads = storage_->other_reads().load();
    EXPECT_TRUE(verify({topology_, all_reduce_, Occupancy::transfer}, both).valid());
    EXPECT_EQ(storage_->other_reads(), reads);
  }
}

TEST_P(RowViews, KeepTheirRowsAtAnotherPace) {
  const SimTime hop = hop_time(topology_.classes()[0], gather_.chunk_sizes()[0], Occupancy::transfer).busy;
  const Schedule quick = scaled(by_rows_, hop, hop + SimTime::of(7));
  EXPECT_EQ(quick.row_time(), by_rows_.row_time() / hop * (hop + SimTime::of(7)));
  expect_same(quick);
}

TEST_P(RowViews, AreNotOfferedWhereAPartStartsBetweenRows) {
  const Schedule odd = make_sequence_view({by_rows_, by_rows_, by_rows_.row_time() * 1000 + SimTime::of(1)});
  EXPECT_EQ(odd.row_time(), SimTime::zero());
  EXPECT_EQ(make_reversed_view({by_rows_, by_rows_.row_time() * 1000 + SimTime::of(1)}).row_time(), SimTime::zero());
}

INSTANTIATE_TEST_SUITE_P(Runs, RowViews, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "OfPlaces" : "Listed"; });

/// All sends that a storage's uses stand for, by (start, link).
std::vector<Send> sends_by_uses(const Schedule& schedule, std::size_t links) {
  const PeriodFrame& frame = *schedule.period_frame();
  std::vector<Send> sends;
  std::vector<LinkUse> uses;
  for (std::size_t link = 0; link < links; ++link) {
    schedule.read_uses(LinkId::at(link), uses);
    for (const LinkUse& use : uses)
      for (std::uint64_t chunk = use.tree; chunk < frame.chunks; chunk += frame.trees) {
        const std::int64_t period = use.periods + static_cast<std::int64_t>(chunk / frame.trees);
        sends.push_back({frame.period * period + use.residue, LinkId::at(link),
                         ChunkId(static_cast<std::uint32_t>(chunk)), use.stage});
      }
  }
  return list_sends(make_list_schedule(std::move(sends)));
}

TEST(PeriodUses, StandForTheSendsOfCombs) {
  for (const std::uint64_t chunks : {1U, 5U, 12U, 31U}) {
    const Schedule mesh = make_comb_schedule({{4, 3}, nanoseconds(10), nanoseconds(10), {3, 4}, chunks});
    EXPECT_EQ(sends_by_uses(mesh, support::mesh(4, 3).links()), list_sends(mesh)) << chunks;
    const Schedule grid = make_comb_schedule({{2, 3, 4}, nanoseconds(10), nanoseconds(15), {1, 1, 1}, chunks});
    EXPECT_EQ(sends_by_uses(grid, support::shape("grid(2,3,4)").links()), list_sends(grid)) << chunks;
  }
}

TEST(PeriodUses, StandForTheSendsOfPeriods) {
  // Two trees over two links: tree 0 crosses a period, tree 1 waits one.
  const std::vector<Send> trees{test::copy_of(0, 0, nanoseconds(15)), test::copy_of(0, 1, nanoseconds(25)),
                                test::sum_of(1, 0, nanoseconds(1)), test::sum_of(1, 1, nanoseconds(30))};
  for (const std::uint64_t chunks : {1U, 2U, 7U}) {
    const Schedule schedule = make_periodic_schedule({nanoseconds(20), 2, chunks, trees}, 2);
    EXPECT_EQ(sends_by_uses(schedule, 2), list_sends(schedule)) << chunks;
  }
}

}  // namespace
}  // namespace tenex
