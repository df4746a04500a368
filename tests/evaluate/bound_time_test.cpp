// Lower bounds in place of collective times.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "evaluate/synthesized_networks.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/workload/collective_time.hpp"

namespace tenex {
namespace {

using support::gather;
using support::SynthesizedNetwork;

constexpr std::array kTraffic{TrafficKind::all_gather, TrafficKind::reduce_scatter, TrafficKind::all_reduce,
                              TrafficKind::all_to_all, TrafficKind::point_to_point};

TEST(BoundTime, IsNeverAboveTheTimeItBounds) {
  for (const std::string shape : {"RI(4)_FC(4)_SW(2)", "LI(4)_RI(8)", "FC(4)_SW(4)_RI(2)"})
    for (const std::string hp : {"4,8", "8,4", "2,8,2"})
      for (const auto timing : {TimingModel::synthesized, TimingModel::pipeline, TimingModel::themis})
        for (const auto kind : kTraffic)
          for (const auto scope : {Scope::tensor, Scope::data, Scope::pipeline}) {
            SynthesizedNetwork given(shape, "auto", nanoseconds(70));
            given.point.chunks = 2;
            const auto mapping = given.mapping(hp);
            if (mapping.span(scope).shares.empty()) continue;
            const auto model = is_synthesized(timing)
                                   ? make_synthesized_time(given.network(), false)
                                   : make_pipeline_time(given.network(), timing == TimingModel::themis);
            const auto bounds = make_bound_time(given.network(), timing);
            const Communication communication{kind, bytes(64000), scope};
            const auto time = (*model)->time(communication, mapping);
            const auto bound = (*bounds)->time(communication, mapping);
            ASSERT_TRUE(time.ok()) << to_string(time.errors());
            ASSERT_TRUE(bound.ok()) << to_string(bound.errors());
            EXPECT_LE(*bound, *time) << shape << ' ' << hp << ' ' << to_string(timing) << ' ' << to_string(kind);
            EXPECT_GT(*bound, SimTime::zero());
          }
}

TEST(BoundTime, IsMetByAGatherOfTwo) {
  // 1000 bytes over a link of 2 GB/s.
  SynthesizedNetwork given("RI(2)");
  const auto bounds = make_bound_time(given.network(), TimingModel::synthesized).value();
  EXPECT_EQ(bounds->time(gather(Scope::tensor, 2000), given.mapping("2,1")).value(), nanoseconds(500));
}

TEST(BoundTime, IsNoLargerThanTheBoundOnTheGroupsOwnDimensions) {
  // More links never raise a lower bound. For a scope that spans all dimensions, the whole network is the group's own.
  SynthesizedNetwork given("RI(4)_FC(4)", "tacos", nanoseconds(50));
  SynthesizedNetwork row("RI(4)", "tacos", nanoseconds(50));
  for (const auto kind : {TrafficKind::all_gather, TrafficKind::all_reduce, TrafficKind::all_to_all})
    for (const std::int64_t chunks : {1, 4}) {
      given.point.chunks = row.point.chunks = chunks;
      const auto whole = make_bound_time(given.network(), TimingModel::synthesized).value();
      const auto inside = make_bound_time(row.network(), TimingModel::synthesized).value();
      const Communication communication{kind, bytes(64000), Scope::tensor};
      const auto all = whole->time(communication, given.mapping("4,4")).value();
      const auto own = inside->time(communication, row.mapping("4,1")).value();
      EXPECT_LE(all, own) << to_string(kind) << ' ' << chunks;
      EXPECT_EQ(inside->time({kind, bytes(64000), Scope::world}, row.mapping("4,1")).value(), own);
    }
}

TEST(BoundTime, LeavesOutSearchesOnLargeNetworksAndStaysABound) {
  // 5,120 NPUs: the bound is at most the largest of all bounds, and at least the eccentricity of the groups' own
  // dimensions: across RI(16)_RI(16) 16 hops of 50 ns and a chunk's 4000 / 256 = 16 bytes (rounded up) at 1 GB/s.
  SynthesizedNetwork given("RI(16)_RI(16)_FC(20)", "tacos", nanoseconds(50));
  const auto mapping = given.mapping("256,20");
  const auto communication = gather(Scope::tensor, 4000);
  const auto bound =
      make_bound_time(given.network(), TimingModel::synthesized).value()->time(communication, mapping).value();
  EXPECT_GE(bound, nanoseconds(16 * (50 + 16)));
  ShapeLinks links{{nanoseconds(50)}, given.bandwidth, true};
  const auto topology = build_topology(mapping.shape(), links).value();
  const auto collective = Collective::make(*collective_request(communication, mapping, 1)).value();
  EXPECT_LE(bound, best_cheap_bound({topology, collective, Occupancy::serialization, true, true}).time);
}

TEST(BoundTime, AddsUpStreamsAsIfEachWereAlone) {
  SynthesizedNetwork given("SW(4)", "direct");
  const auto bounds = make_bound_time(given.network(), TimingModel::synthesized).value();
  EXPECT_FALSE(bounds->contends());
  const auto model = make_synthesized_time(given.network(), true).value();
  const std::array tensor{gather(Scope::tensor, 2000)};
  const std::array data{gather(Scope::data, 2000)};
  const auto least = bounds->concurrent(tensor, data, nanoseconds(100), given.mapping("2,2")).value();
  const auto actual = model->concurrent(tensor, data, nanoseconds(100), given.mapping("2,2")).value();
  EXPECT_LE(least.first, actual.first);
  EXPECT_LT(least.second, actual.second);
}

TEST(BoundTime, IsNotForFormulas) {
  SynthesizedNetwork given("RI(4)");
  EXPECT_THROW((void)make_bound_time(given.network(), TimingModel::libra), InvariantError);
}

}  // namespace
}  // namespace tenex
