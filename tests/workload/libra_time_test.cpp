// LIBRA's formulas against numbers of the papers and by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/topologies.hpp"
#include "workload/models.hpp"

namespace tenex {
namespace {

using support::libra;
using support::mapping;
using support::problem_of;
using support::shape_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// B in GiB/s of the wafer-scale study: 1,000, 200, 100 and 50 per dimension.
std::vector<Bandwidth> wafer() {
  return {gibibytes_per_second(1000), gibibytes_per_second(200), gibibytes_per_second(100), gibibytes_per_second(50)};
}

/// 1 GiB All-Reduce over all NPUs of Ring_FC_Ring_Switch.
SimTime table_3_4(std::string_view shape) {
  const auto npus = static_cast<std::int64_t>(shape_of(shape).npus());
  const auto all = Mapping::make(shape_of(shape), {1, npus}).value();
  return libra(shape, wafer()).time({TrafficKind::all_reduce, gibibytes(1), Scope::world}, all).value();
}

TEST(LibraTime, GivesTheWaferStudysTimesWithoutLatencyAndBubbles) {
  // ASTRA-sim2.0: message sizes as its Table 3.4 prints them. RI(2)_FC(8)_RI(8)_SW(4): dimension 1 moves 2*1024*(1/2) =
  // 1024 MiB at 1000 GiB/s: 1000 us; dimension 2 2*1024*7/16 = 896 MiB at 200 GiB/s: 0.875/200 s = 4375 us; dimensions
  // 3 and 4 112 and 12 MiB: 1093.75 and 234.375 us.
  EXPECT_EQ(table_3_4("RI(2)_FC(8)_RI(8)_SW(4)"), microseconds(4'375));
  EXPECT_EQ(table_3_4("RI(2)_FC(8)_RI(8)_SW(8)"), microseconds(4'375));
  EXPECT_EQ(table_3_4("RI(2)_FC(8)_RI(8)_SW(16)"), microseconds(4'375));
  EXPECT_EQ(table_3_4("RI(2)_FC(8)_RI(8)_SW(32)"), microseconds(4'375));
  // RI(4): dimension 1 1536 MiB: 1500 us; dimension 2 448 MiB: 0.4375/200 s = 2187.5 us.
  EXPECT_EQ(table_3_4("RI(4)_FC(8)_RI(8)_SW(4)"), nanoseconds(2'187'500));
  // RI(8): dimension 1 1792 MiB: 1750 us, over dimension 2's 224 MiB: 1093.75 us.
  EXPECT_EQ(table_3_4("RI(8)_FC(8)_RI(8)_SW(4)"), microseconds(1'750));
  // RI(16): dimension 1 1920 MiB: 1875 us.
  EXPECT_EQ(table_3_4("RI(16)_FC(8)_RI(8)_SW(4)"), microseconds(1'875));
}

TEST(LibraTime, VolumesFollowTheCollective) {
  // Groups of 4 x 8: All-Reduce 2*3/4 and 2*7/32 of S; Reduce-Scatter and All-Gather half of that; All-to-All 3/4 and
  // 7/8.
  const auto shape = shape_of("RI(4)_FC(8)");
  const auto all = mapping("RI(4)_FC(8)", "1,32");
  const auto volumes = [&](TrafficKind kind) { return libra_volumes(kind, all.span(Scope::world), shape, {}); };
  EXPECT_THAT(volumes(TrafficKind::all_reduce), ElementsAre(DimensionVolume{0, {3, 2}}, DimensionVolume{1, {7, 16}}));
  EXPECT_THAT(volumes(TrafficKind::reduce_scatter),
              ElementsAre(DimensionVolume{0, {3, 4}}, DimensionVolume{1, {7, 32}}));
  EXPECT_EQ(volumes(TrafficKind::all_gather), volumes(TrafficKind::reduce_scatter));
  EXPECT_THAT(volumes(TrafficKind::all_to_all), ElementsAre(DimensionVolume{0, {3, 4}}, DimensionVolume{1, {7, 8}}));
}

TEST(LibraTime, OfAHierarchyIsThatOfItsSlowestLevel) {
  const auto volume = [](const char* text, const char* degrees, Scope scope, TrafficKind kind) {
    return libra_volumes(kind, mapping(text, degrees).span(scope), shape_of(text), {}).at(0).per_byte;
  };
  using enum TrafficKind;
  // Among all 32 an NPU moves 2 * 31/32 of S in an All-Reduce. Above leaves of 4 with half of the bandwidth it is 2 *
  // 28 / (32 * 4) * 2 = 7/8, above switches over 16 with an eighth 2 * 16 / (32 * 16) * 8 = 1/2: the NPUs' links bind.
  EXPECT_EQ(volume("SW(32,4:2,16:4)", "1,32", Scope::world, all_reduce), (Fraction{31, 16}));
  // Leaves of 4 with one link up: 2 * 28 / 128 * 4 = 7/4; above switches over 8 with an eighth 2 * 24 / 256 * 8 = 3/2.
  EXPECT_EQ(volume("SW(32,4:4,8:2)", "1,32", Scope::world, all_reduce), (Fraction{31, 16}));
  EXPECT_EQ(volume("SW(8,2:2,4:2)", "1,8", Scope::world, all_gather), (Fraction{7, 8}));
  // Of an All-to-All 16/32 leave a switch over 16, at an eighth of the bandwidth: 4 S.
  EXPECT_EQ(volume("SW(32,4:2,16:4)", "1,32", Scope::world, all_to_all), (Fraction{4, 1}));
  // The four replicas of a shard are on four leaves: 2 * 3/4 at half of the bandwidth. A leaf has all of it.
  EXPECT_EQ(volume("SW(32,8:2)", "8,4", Scope::data, all_reduce), (Fraction{3, 1}));
  EXPECT_EQ(volume("SW(32,8:2)", "8,4", Scope::tensor, all_reduce), (Fraction{7, 4}));
  // Without oversubscription a hierarchy is as good as one switch.
  for (const auto kind : {all_reduce, all_gather, all_to_all})
    EXPECT_EQ(volume("SW(32,8)", "1,32", Scope::world, kind), volume("SW(32)", "1,32", Scope::world, kind));
}

TEST(LibraTime, SumsInTheNetworkLeaveEachSwitchAsOneStream) {
  // A leaf of 8 has 4 links up: less than the buffer that each NPU sends. Of two members on different leaves each has
  // half a link's share of the bandwidth.
  const LibraModel in_network{.derated = false, .in_network = {true}};
  const auto volume = [&](const char* degrees, Scope scope) {
    return libra_volumes(TrafficKind::all_reduce, mapping("SW(32,8:2)", degrees).span(scope), shape_of("SW(32,8:2)"),
                         in_network)
        .at(0)
        .per_byte;
  };
  EXPECT_EQ(volume("1,32", Scope::world), (Fraction{1, 1}));
  EXPECT_EQ(volume("16,2", Scope::data), (Fraction{2, 1}));
}

TEST(LibraTime, TimeIsRoundedUpToPicoseconds) {
  // 1000 B in groups of 3: 2000*2/3 = 1333.3.. B at 1e9 B/s: 1333333.3.. ps.
  EXPECT_EQ(libra("SW(3)", {gigabytes_per_second(1)})
                .time({TrafficKind::all_reduce, bytes(1000), Scope::data}, mapping("SW(3)", "1,3"))
                .value(),
            picoseconds(1'333'334));
}

TEST(LibraTime, ReductionInTheSwitchesMovesTheBufferOnce) {
  // LIBRA, IV-C: m/(n_1) / B_2 for dimension 2 of RI(4)_SW(8); dimension 1 is unchanged. m = 32 MB: 8 MB at 1 GB/s = 8
  // ms, instead of 2*8*7/8 = 14 MB; dimension 1: 2*32*3/4 = 48 MB at 16 GB/s = 3 ms.
  const auto all = mapping("RI(4)_SW(8)", "1,32");
  const Communication sum{TrafficKind::all_reduce, bytes(32'000'000), Scope::data};
  const std::vector<Bandwidth> bandwidth{gigabytes_per_second(16), gigabytes_per_second(1)};
  EXPECT_EQ(libra("RI(4)_SW(8)", bandwidth).time(sum, all).value(), microseconds(14'000));
  EXPECT_EQ(libra("RI(4)_SW(8)", bandwidth, {false, {false, true}}).time(sum, all).value(), microseconds(8'000));
}

TEST(LibraTime, AMessageTakesItsSizeOverTheSlowestDimensionOfTheStages) {
  // 4 stages on SW(4): m / B = 1 MB / 1 GB/s = 1 ms.
  EXPECT_EQ(libra("RI(2)_SW(4)", {gigabytes_per_second(100), gigabytes_per_second(1)})
                .time({TrafficKind::point_to_point, bytes(1'000'000), Scope::pipeline}, mapping("RI(2)_SW(4)", "2,1,4"))
                .value(),
            microseconds(1'000));
}

TEST(LibraTime, AGroupOnPartOfADimensionGetsAllOfIt) {
  // GPT-3 on 4D-4K, TP-16: S = 805306368 B. Dimension 1: 2*3/4 S = 1207959552 B; dimension 2: 2*3/16 S = 301989888 B.
  // At 250 GB/s each: 4831.838208 us, from dimension 1. At 1000 and 50 GB/s dimension 2 binds: 6039.79776 us.
  const auto gpt3 = mapping("RI(4)_FC(8)_RI(4)_SW(32)", "16,256");
  const Communication sum{TrafficKind::all_reduce, bytes(805'306'368), Scope::tensor};
  EXPECT_EQ(libra("RI(4)_FC(8)_RI(4)_SW(32)", {gigabytes_per_second(250)}).time(sum, gpt3).value(),
            picoseconds(4'831'838'208));
  const std::vector<Bandwidth> uneven{gigabytes_per_second(1000), gigabytes_per_second(50), gigabytes_per_second(1),
                                      gigabytes_per_second(1)};
  EXPECT_EQ(libra("RI(4)_FC(8)_RI(4)_SW(32)", uneven).time(sum, gpt3).value(), picoseconds(6'039'797'760));
  // Derated: 4 of 8 in FC(8) reach each other over 3 of an NPU's 7 links, so the time is 7/3 of that.
  EXPECT_EQ(libra("RI(4)_FC(8)_RI(4)_SW(32)", uneven, {true, {}}).time(sum, gpt3).value(), picoseconds(14'092'861'440));
}

TEST(Derating, IsWhatTheLinksBetweenTheMembersCarry) {
  const auto derated = [](std::string_view block, DimensionShare share, TrafficKind traffic = TrafficKind::all_reduce) {
    return derating(support::block(block, share.extent), share, traffic);
  };
  const Fraction all{1, 1};
  const Fraction half{1, 2};
  const Fraction quarter{1, 4};
  // Every NPU of FC(8) has 7 links; 4 members use 3 of them, wherever they are.
  EXPECT_EQ(derated("FC", {0, 8, 4, 1}), (Fraction{3, 7}));
  EXPECT_EQ(derated("FC", {0, 8, 2, 4}), (Fraction{1, 7}));
  EXPECT_EQ(derated("FC", {0, 8, 8, 1}), all);
  // Each NPU has one link to the switch, whatever the members.
  EXPECT_EQ(derated("SW", {0, 32, 4, 8}), all);
  // A whole ring; 4 neighbours on RI(16), a line whose ends have one of two links; 4 members 4 apart, a ring whose
  // every hop 3 other rings share; 2 members 2 apart on RI(8), shared by 2 and not closed.
  EXPECT_EQ(derated("RI", {0, 16, 16, 1}), all);
  EXPECT_EQ(derated("RI", {0, 16, 4, 1}), half);
  EXPECT_EQ(derated("RI", {0, 16, 4, 4}), quarter);
  EXPECT_EQ(derated("RI", {0, 8, 2, 2}), quarter);
  EXPECT_EQ(derated("RI", {0, 2, 2, 1}), all);
  EXPECT_EQ(derated("LI", {0, 4, 4, 1}), half);
  // A message uses one link: one of 7, one of a ring's 2.
  EXPECT_EQ(derated("FC", {0, 8, 8, 1}, TrafficKind::point_to_point), (Fraction{1, 7}));
  EXPECT_EQ(derated("RI", {0, 16, 16, 1}, TrafficKind::point_to_point), half);
  EXPECT_EQ(derated("SW", {0, 16, 16, 1}, TrafficKind::point_to_point), all);
}

TEST(LibraTime, WholeDimensionsAreNotDerated) {
  const auto model = mapping("RI(4)_FC(8)_RI(4)_SW(32)", "128,32");
  const auto shape = shape_of("RI(4)_FC(8)_RI(4)_SW(32)");
  for (const auto scope : {Scope::tensor, Scope::data, Scope::world})
    EXPECT_EQ(libra_volumes(TrafficKind::all_reduce, model.span(scope), shape, {true, {}}),
              libra_volumes(TrafficKind::all_reduce, model.span(scope), shape, {}));
}

TEST(LibraTime, WhatDoesNotFitTheShapeIsRefused) {
  const auto problem = [](std::string_view shape, std::vector<Bandwidth> bandwidth, LibraModel model = {}) {
    return problem_of(LibraTime::make(shape_of(shape), std::move(bandwidth), std::move(model)));
  };
  const auto one = gigabytes_per_second(1);
  EXPECT_THAT(problem("RI(4)_SW(4)", {one, one, one}), HasSubstr("3 bandwidths for RI(4)_SW(4)"));
  EXPECT_THAT(problem("RI(4)_SW(4)", {one, bytes_per_second(0)}), HasSubstr("not positive"));
  EXPECT_THAT(problem("RI(4)_SW(4)", {one}, {false, {true, false}}), HasSubstr("in dimension 1 of RI(4)_SW(4)"));
  EXPECT_THAT(problem("RI(4)_SW(4)", {one}, {false, {true}}), HasSubstr("1 in-network flags"));
  EXPECT_THAT(problem("dragonfly(4,5)", {one}), HasSubstr("has no LIBRA time"));
  EXPECT_THAT(problem("dragonfly(4,5)", {one}, {false, {true, true}}), HasSubstr("has no LIBRA time"));
  EXPECT_THAT(
      problem_of(libra("RI(4)", {one}).time({TrafficKind::all_reduce, bytes(8), Scope::data}, mapping("SW(4)", "1,4"))),
      HasSubstr("both must be the same shape"));
}

}  // namespace
}  // namespace tenex
