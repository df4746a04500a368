// The engine `combs`: All-Reduces by pipelined trees on products of lines, against numbers by hand, the verifier in all
// its ways, and the bounds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "support/topologies.hpp"
#include "support/verdicts.hpp"
#include "synthesis/trees/engines.hpp"
#include "synthesis/trees/trees.hpp"
#include "tenex/base/random.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/schedule/storage/comb_schedule.hpp"
#include "tenex/schedule/verifier/verifier.hpp"

namespace tenex {
namespace {

constexpr Bytes kCombChunk = bytes(1'000'000);
constexpr SimTime kCombStep = nanoseconds(20'500);  ///< 1 MB at 50 GB/s, and 500 ns

Collective comb_all_reduce(std::size_t npus, std::int64_t chunks) {
  return support::collective(CollectiveKind::all_reduce, npus, kCombChunk * (static_cast<std::int64_t>(npus) * chunks),
                             chunks);
}

/// Synthesizes; expects a valid schedule without waste that takes the time it states, not below the bound.
Synthesis make_valid(const Topology& topology, std::int64_t chunks, Occupancy occupancy = Occupancy::transfer) {
  const Collective collective = comb_all_reduce(topology.npus(), chunks);
  const SynthesisProblem problem{{topology, collective, occupancy}};
  auto made = synthesize_combs(problem).value();
  const Verdict verdict = support::expect_valid(problem, made.schedule, made.time);
  EXPECT_EQ(verdict.reduction_check, "in_tree");
  EXPECT_EQ(verdict.sends, made.schedule.sends());
  EXPECT_LE(made.schedule.memory_bytes(), combs_bytes(problem));
  EXPECT_GE(made.time, best_cheap_bound({{topology, collective, occupancy}}).time);
  return made;
}

std::int64_t steps_of(std::string_view shape, std::int64_t chunks) {
  return make_valid(support::shape(shape), chunks).time / kCombStep;
}

// A mesh of even side R: n * c chunks take n * c / (2R) periods of R + 1 slots, and the last chunk's waves take 2R - 1
// slots more than its period. mesh(4,4): 2 * 5 + 7. Counted the other way: the last chunk of the teeth leaves its end
// at slot 3 of period 1 (8 slots have gone), its sums have all met 4 slots later less one, cross half of the spine and
// come back, and go out along the teeth.
TEST(Combs, TakeThePeriodsAndTwoSides) {
  EXPECT_EQ(steps_of("mesh(4,4)", 1), 2 * 5 + 7);
  EXPECT_EQ(steps_of("mesh(4,4)", 3), 6 * 5 + 7);
  EXPECT_EQ(steps_of("mesh(8,8)", 1), 4 * 9 + 15);
  EXPECT_EQ(steps_of("mesh(8,8)", 16), 64 * 9 + 15);
}

// A line of n: each link carries n * c chunks each way, and a chunk's sums go at most n/2 hops to the middle, its
// copies at most n/2 hops back: LI(8) with 2 chunks per NPU: the last of 16 chunks starts at 15 and takes 4 + 4 hops.
TEST(Combs, OfALineMeetInItsMiddle) { EXPECT_EQ(steps_of("LI(8)", 2), 15 + 4 + 4); }

// The bound (strength) of mesh(32,32) is 1023 * 1024 / 1984 = 528 steps for a chunk per NPU. Timetables of the largest
// meshes are only timed here, as their sends take long to verify: mesh(200,200) needs 100 periods of 201 slots and 399
// slots more; its bound is 20,100.
TEST(Combs, ComeCloseToTheStrength) {
  EXPECT_EQ(steps_of("mesh(32,32)", 1), 16 * 33 + 63);
  const auto time_of = [](std::vector<std::uint32_t> sizes, std::vector<std::uint32_t> rounds, std::uint64_t chunks) {
    return comb_time({std::move(sizes), SimTime::of(1), SimTime::of(1), std::move(rounds), chunks}).count();
  };
  EXPECT_EQ(time_of({32, 32}, {1, 1}, 4 * 1024), 64 * 33 + 63);
  EXPECT_EQ(time_of({32, 32}, {1, 1}, 16 * 1024), 256 * 33 + 63);
  EXPECT_EQ(time_of({200, 200}, {1, 1}, 40'000), 100 * 201 + 399);
  // grid(35,35,35): 42,874 * 42,875 / 124,950 = 14,711.7.
  EXPECT_LE(time_of({35, 35, 35}, {2, 2, 2}, 42'875), 14'711.7 / 0.97);
}

std::vector<Send> by_links(const Schedule& schedule, std::size_t links) {
  std::vector<Send> sends;
  SendBuffer buffer;
  for (std::size_t tile = 0; tile < schedule.tiles(); ++tile)
    for (std::size_t link = 0; link < links; ++link) {
      schedule.read_link(tile, LinkId::at(link), buffer);
      for (std::size_t i = 0; i < buffer.batch.size(); ++i) {
        EXPECT_TRUE(i == 0 || buffer.batch.start_of(i - 1) < buffer.batch.start_of(i));
        sends.push_back(buffer.batch[i]);
      }
    }
  std::ranges::sort(sends, {}, [](const Send& send) { return std::pair(send.start, send.link); });
  return sends;
}

Topology random_grid(Random& random) {
  std::vector<std::uint32_t> sizes(1 + random.below(4));
  const std::uint32_t most = sizes.size() < 3 ? 9 : sizes.size() == 3 ? 5 : 3;
  for (auto& size : sizes) size = 2 + random.below(most - 1);
  return support::product("LI", sizes, nanoseconds(random.below(4) * 5'000), support::kBandwidth);
}

// Any sides (also of two NPUs), dimensions, chunks and latencies, whole periods and parts; read by time and by link,
// and checked by trees and by sets of contributions.
TEST(Combs, AreValidOnAnyGrid) {
  Random random(7);
  for (int round = 0; round < 60; ++round) {
    const Topology grid = random_grid(random);
    const auto chunks = static_cast<std::int64_t>(1 + random.below(grid.npus() < 50 ? 12 : 2));
    const auto occupancy = random.below(2) == 0 ? Occupancy::transfer : Occupancy::serialization;
    const Synthesis made = make_valid(grid, chunks, occupancy);
    const auto sends = list_sends(made.schedule);
    ASSERT_EQ(sends.size(), made.schedule.sends());
    EXPECT_EQ(by_links(made.schedule, grid.links()), sends);
    VerifyOptions options;
    options.reduction_check = ReductionCheck::exact_sets;
    EXPECT_TRUE(
        verify({grid, comb_all_reduce(grid.npus(), chunks), occupancy}, make_list_schedule(sends), options).valid());
  }
}

TEST(Combs, AreRefusedElsewhereWithTheReason) {
  const auto refusal = [](const Topology& topology, const Collective& collective) {
    const SynthesisProblem problem{{topology, collective, Occupancy::transfer}};
    const auto reason = combs_unsuitable(problem);
    EXPECT_EQ(reason.has_value(), !synthesize_combs(problem).ok());
    return reason.value_or("");
  };
  EXPECT_EQ(refusal(support::mesh(3, 3), comb_all_reduce(9, 1)), "");
  EXPECT_NE(refusal(support::torus(3, 3), comb_all_reduce(9, 1)), "");
  EXPECT_NE(refusal(support::mesh(3, 3), support::collective(CollectiveKind::all_gather, 9, bytes(9000))), "");
  EXPECT_NE(refusal(support::mesh(3, 3), support::collective(CollectiveKind::all_reduce, 9, bytes(9000), 1, "0,1,2")),
            "");
  const auto uneven = support::shape("mesh(3,3)", {support::kAlpha}, {support::kBandwidth, gigabytes_per_second(25)});
  EXPECT_NE(refusal(uneven, comb_all_reduce(9, 1)), "");
}

}  // namespace
}  // namespace tenex
