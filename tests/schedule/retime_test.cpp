// Re-timing. The line of three NPUs is that of verifier_test.cpp: 2 us over links 0 and 1, 6 us over links 2 and 3.
#include "tenex/schedule/timing/retime.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "schedule/schedule_factories.hpp"
#include "support/verdicts.hpp"
#include "tenex/schedule/verifier/verifier.hpp"
#include "tenex/topology/slow_windows.hpp"

namespace tenex {
namespace {

using test::copy_of;
using test::hop_of;
using test::link_between;
using test::sum_of;
using ::testing::ElementsAre;

TEST(Retiming, ClosesGapsAndKeepsTheOrderOnEachLink) {
  // Everything 1 ms late. Link 1: chunk 1 at once, chunk 2 when it reaches NPU 1; link 2: chunk 1 first, as planned.
  const auto topology = support::line3_heterogeneous();
  const auto gather = support::collective(CollectiveKind::all_gather, 3, bytes(12'000));
  const SimTime late = microseconds(1000);
  const Schedule plan =
      make_list_schedule({copy_of(0, 0, late), copy_of(1, 1, late), copy_of(1, 2, late), copy_of(2, 3, late),
                          copy_of(2, 1, late + microseconds(50)), copy_of(0, 2, late + microseconds(70))});
  EXPECT_THAT(
      list_sends(retime({topology, gather, Occupancy::transfer}, plan)),
      ElementsAre(copy_of(0, 0, microseconds(0)), copy_of(1, 1, microseconds(0)), copy_of(1, 2, microseconds(0)),
                  copy_of(2, 3, microseconds(0)), copy_of(2, 1, microseconds(6)), copy_of(0, 2, microseconds(6))));
  // Under serialization link 2 is free again after 4 us.
  EXPECT_EQ(list_sends(retime({topology, gather, Occupancy::serialization}, plan))[4], copy_of(0, 2, microseconds(4)));
  // Half the speed on link 2 until 4 us: 2 us of chunk 1's bytes by then, 2 us after it and 2 us of latency.
  const Topology varied =
      with_slow_windows(topology, {{VertexId(1), VertexId(2), {SimTime::zero(), microseconds(4), 2000}}}).value();
  EXPECT_EQ(list_sends(retime({varied, gather, Occupancy::transfer}, plan))[5], copy_of(0, 2, microseconds(8)));
}

TEST(Retiming, LetsAGatherBeginWhenItsOwnSumIsComplete) {
  // Sums are complete at 8 us (chunks 0 and 2) and 12 us (chunk 1); the gather, 14 us long, follows at 12: 26 us.
  // Re-timed: link 0: chunk 0 at 8 -> 10. Link 1: chunk 1 at 12 -> 14, chunk 2 at 18 -> 20. Link 2 (free at 8): chunk 0
  // at 10 -> 16, chunk 1 at 16 -> 22. Link 3 (free at 12): chunk 2 at 12 -> 18. So 22 us.
  const auto topology = support::line3_heterogeneous();
  const auto all_reduce = support::collective(CollectiveKind::all_reduce, 3, bytes(12'000));
  const std::vector<Send> reduction{sum_of(2, 0, microseconds(0)), sum_of(0, 3, microseconds(0)),
                                    sum_of(1, 0, microseconds(2)), sum_of(2, 2, microseconds(2)),
                                    sum_of(0, 1, microseconds(6)), sum_of(1, 3, microseconds(6))};
  const std::vector<Send> gather{copy_of(0, 0, microseconds(0)), copy_of(1, 1, microseconds(0)),
                                 copy_of(2, 3, microseconds(0)), copy_of(0, 2, microseconds(2)),
                                 copy_of(2, 1, microseconds(6)), copy_of(1, 2, microseconds(8))};
  const Schedule plan = then_gather({topology, all_reduce, Occupancy::transfer}, make_list_schedule(reduction),
                                    make_list_schedule(gather));
  const Verdict planned = verify({topology, all_reduce, Occupancy::transfer}, plan);
  ASSERT_TRUE(planned.valid());
  EXPECT_EQ(planned.collective_time, microseconds(26));
  const Schedule overlapped = retime({topology, all_reduce, Occupancy::transfer}, plan);
  auto expected = reduction;
  for (const auto& send :
       {copy_of(0, 0, microseconds(8)), copy_of(0, 2, microseconds(10)), copy_of(1, 1, microseconds(12)),
        copy_of(2, 3, microseconds(12)), copy_of(1, 2, microseconds(16)), copy_of(2, 1, microseconds(18))})
    expected.push_back(send);
  EXPECT_EQ(list_sends(overlapped), expected);
  const Verdict sooner = verify({topology, all_reduce, Occupancy::transfer}, overlapped);
  EXPECT_TRUE(sooner.valid());
  EXPECT_EQ(sooner.collective_time, microseconds(22));
}

TEST(Retiming, NeverLetsASumCarryMoreThanPlanned) {
  // Two NPUs, chunks of 1,000 B at 1 GB/s and alpha 1 us: 2 us each. Chunk 0 is exchanged (both send their part at 4
  // us); chunk 1 goes to NPU 1 at 0 and comes back as a final value at 6. As soon as possible, link 0 sends chunk 0 at
  // 2 us. If link 1 sent it at 0, it would arrive at 2, and link 0 would carry NPU 1's part back to NPU 1. It must
  // arrive after 2 us: start at 1 ps.
  const auto topology = support::line(2, microseconds(1), gigabytes_per_second(1));
  const auto all_reduce = support::collective(CollectiveKind::all_reduce, 2, bytes(2000));
  const auto out = link_between(topology, 0, 1).value();
  const auto back = link_between(topology, 1, 0).value();
  const Schedule plan = make_list_schedule({sum_of(1, out, microseconds(0)), sum_of(0, out, microseconds(4)),
                                            sum_of(0, back, microseconds(4)), copy_of(1, back, microseconds(6))});
  ASSERT_TRUE(verify({topology, all_reduce, Occupancy::transfer}, plan).valid());
  const Schedule sooner = retime({topology, all_reduce, Occupancy::transfer}, plan);
  EXPECT_THAT(list_sends(sooner),
              ElementsAre(sum_of(1, out, microseconds(0)), sum_of(0, back, SimTime::of(1)),
                          sum_of(0, out, microseconds(2)), copy_of(1, back, microseconds(2) + SimTime::of(1))));
  EXPECT_TRUE(verify({topology, all_reduce, Occupancy::transfer}, sooner).valid());
}

TEST(Retiming, MovesTheHopsOfMessagesTogether) {
  // 2 us per hop: up at 0, down at 2.
  const auto topology = test::star(3, {}, microseconds(1), gigabytes_per_second(1));
  const auto broadcast = support::collective(CollectiveKind::broadcast, 3, bytes(1000), 1, "0,1");
  const Schedule plan = make_list_schedule(
      {hop_of(copy_of(0, 0, microseconds(10)), 5, 1), hop_of(copy_of(0, 3, microseconds(20)), 5, 1)});
  EXPECT_THAT(list_sends(retime({topology, broadcast, Occupancy::transfer}, plan)),
              ElementsAre(hop_of(copy_of(0, 0, microseconds(0)), 5, 1), hop_of(copy_of(0, 3, microseconds(2)), 5, 1)));
}

TEST(Retiming, KeepsTheOrderOfPartialSumsInASwitch) {
  // Group 1-3 reduces to NPU 1, and NPU 3's part goes to NPU 2 first, which adds its own. The switch passes NPU 3's
  // part to NPU 2 and NPU 2's sum (with 3's part in it) to NPU 1, in that order; both are planned late.
  const auto topology = test::star(4, {}, microseconds(1), gigabytes_per_second(1));
  const auto reduce = support::collective(CollectiveKind::reduce, 4, bytes(1000), 1, "1-3");
  const Schedule plan = make_list_schedule({sum_of(0, 6, microseconds(10)), sum_of(0, 5, microseconds(20)),
                                            sum_of(0, 4, microseconds(30)), sum_of(0, 3, microseconds(40))});
  ASSERT_TRUE(verify({topology, reduce, Occupancy::transfer}, plan).valid());
  const Schedule sooner = retime({topology, reduce, Occupancy::transfer}, plan);
  EXPECT_THAT(list_sends(sooner), ElementsAre(sum_of(0, 6, microseconds(0)), sum_of(0, 5, microseconds(2)),
                                              sum_of(0, 4, microseconds(4)), sum_of(0, 3, microseconds(6))));
  EXPECT_TRUE(verify({topology, reduce, Occupancy::transfer}, sooner).valid());
}

TEST(Retiming, KeepsAnEmptyScheduleEmpty) {
  const auto topology = support::ring(3);
  const auto gather = support::collective(CollectiveKind::all_gather, 3, bytes(3000));
  EXPECT_EQ(retime({topology, gather, Occupancy::transfer}, Schedule()).sends(), 0U);
}

/// The sends of each link, in order, without their times.
std::map<LinkId, std::vector<Send>> order_on_links(const Schedule& schedule) {
  std::map<LinkId, std::vector<Send>> orders;
  for (Send send : list_sends(schedule)) {
    send.start = SimTime::zero();
    orders[send.link].push_back(send);
  }
  return orders;
}

/// The starts of each link, in order.
std::map<LinkId, std::vector<SimTime>> starts_on_links(const Schedule& schedule) {
  std::map<LinkId, std::vector<SimTime>> starts;
  for (const Send& send : list_sends(schedule)) starts[send.link].push_back(send.start);
  return starts;
}

void expect_no_send_later(const Schedule& sooner, const Schedule& plan) {
  EXPECT_EQ(order_on_links(sooner), order_on_links(plan));
  const auto planned = starts_on_links(plan);
  for (const auto& [link, starts] : starts_on_links(sooner))
    for (std::size_t i = 0; i < starts.size(); ++i) EXPECT_LE(starts[i], planned.at(link)[i]);
}

class RetimingOfAnyCollective : public ::testing::TestWithParam<CollectiveKind> {};

TEST_P(RetimingOfAnyCollective, IsValidAndNowhereLaterThanThePlan) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const auto topology = support::random_connected_topology(seed, 8, seed % 2 == 0);
    const auto collective = support::collective(GetParam(), topology.npus(), bytes(80'000), 2);
    // A schedule built under `transfer` may be replayed under either occupancy; one built under `serialization` only
    // under that.
    for (const auto& [built, replayed] :
         {std::pair(Occupancy::transfer, Occupancy::transfer), std::pair(Occupancy::transfer, Occupancy::serialization),
          std::pair(Occupancy::serialization, Occupancy::serialization)}) {
      const Schedule plan = test::greedy_schedule({topology, collective, built}, seed);
      const Schedule sooner = retime({topology, collective, replayed}, plan);
      const Verdict verdict = verify({topology, collective, replayed}, sooner);
      EXPECT_TRUE(verdict.valid()) << support::first_finding(verdict);
      expect_no_send_later(sooner, plan);
      EXPECT_EQ(schedule_hash(retime({topology, collective, replayed}, sooner)),
                schedule_hash(sooner));  // nothing left to gain
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, RetimingOfAnyCollective,
                         ::testing::Values(CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
                                           CollectiveKind::all_reduce, CollectiveKind::broadcast,
                                           CollectiveKind::reduce),
                         [](const auto& info) { return std::string(to_string(info.param)); });

/// The same sends, each as a message of one hop: the meaning is the same, but re-timing takes the general path.
std::vector<Send> as_messages(const Topology& topology, std::vector<Send> sends) {
  std::uint32_t message = 0;
  for (Send& send : sends) send = hop_of(send, message++, topology.target(send.link).value());
  return sends;
}

TEST(Retiming, OfPlainSendsIsThatOfMessagesOfOneHop) {
  using enum CollectiveKind;
  for (const auto kind : {all_gather, reduce_scatter, all_reduce, broadcast, reduce})
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      const auto topology = support::random_connected_topology(seed, 9, seed % 3 != 0);
      const auto collective = support::collective(kind, topology.npus(), bytes(80'000), 3);
      const auto occupancy = seed % 2 == 0 ? Occupancy::transfer : Occupancy::serialization;
      const auto plan = list_sends(test::greedy_schedule({topology, collective, occupancy}, seed));
      const Schedule plain = retime({topology, collective, occupancy}, make_list_schedule(plan));
      const Schedule general =
          retime({topology, collective, occupancy}, make_list_schedule(as_messages(topology, plan)));
      auto expected = list_sends(general);
      for (Send& send : expected) send.message = MessageId::none(), send.destination = NpuId::none();
      EXPECT_EQ(list_sends(plain), list_sends(make_list_schedule(expected))) << to_string(kind) << ", seed " << seed;
    }
}

TEST(Retiming, RestoresTheTimesOfAStretchedSchedule) {
  // All starts doubled: the plan stays valid, and re-timing closes its gaps. (The greedy starts every send as soon as
  // it can.)
  const auto topology = support::mesh(4, 4);
  const auto gather = support::collective(CollectiveKind::all_gather, 16, bytes(16'000));
  const auto sends = test::greedy_gather({topology, gather, Occupancy::transfer}, 3);
  auto stretched = sends;
  for (auto& send : stretched) send.start *= 2;
  ASSERT_TRUE(verify({topology, gather, Occupancy::transfer}, make_list_schedule(stretched)).valid());
  EXPECT_EQ(schedule_hash(retime({topology, gather, Occupancy::transfer}, make_list_schedule(stretched))),
            schedule_hash(make_list_schedule(sends)));
}

TEST(Retiming, OfRecursiveDoublingStaysValid) {
  const auto topology = support::shape("hypercube(3)");
  const auto all_reduce = support::collective(CollectiveKind::all_reduce, 8, bytes(8000));
  for (const auto occupancy : {Occupancy::serialization, Occupancy::transfer}) {
    const Schedule plan = make_list_schedule(test::recursive_doubling({topology, all_reduce, occupancy}));
    ASSERT_TRUE(verify({topology, all_reduce, occupancy}, plan).valid());
    const Schedule sooner = retime({topology, all_reduce, occupancy}, plan);
    EXPECT_TRUE(verify({topology, all_reduce, occupancy}, sooner).valid());
    expect_no_send_later(sooner, plan);
  }
}

}  // namespace
}  // namespace tenex
