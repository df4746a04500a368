// The engine `orbit` of pccl over switches that store and forward: valid to the full replay, to the orbit check and to
// a naive reading of the definition; at the bounds; nothing waits in a switch.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/wired.hpp"
#include "synthesis/orbit_checks.hpp"
#include "synthesis/pccl/orbit/orbit.hpp"
#include "synthesis/pccl/paths/paths.hpp"
#include "synthesis/synthesis_support.hpp"
#include "tenex/schedule/storage/symmetric_schedule.hpp"
#include "tenex/schedule/verifier/symmetric_verifier.hpp"
#include "tenex/schedule/views/relayed.hpp"

namespace tenex {
namespace {

using support::of_megabytes;
using support::orbit_checked;
using support::orbit_time;
using support::random_switched_product;
using support::shape;

constexpr auto kRelaySerialization = Occupancy::serialization;
constexpr auto kRelayTransfer = Occupancy::transfer;
constexpr CollectiveKind kKinds[] = {CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
                                     CollectiveKind::all_reduce, CollectiveKind::all_to_all};

TEST(PcclRelays, TakeTurnsOverOneSwitch) {
  // SW(4): 1 MB over 50 GB/s takes D = 20 us, a link's alpha is 0.5 us. Three chunks leave one after the other; the
  // last one takes both hops from 2 D on: 4 D + 2 alpha. Under `transfer` a link is busy for D + alpha: 4 (D + alpha).
  const Topology four = shape("SW(4)");
  for (const auto kind : {CollectiveKind::all_to_all, CollectiveKind::all_gather, CollectiveKind::reduce_scatter}) {
    EXPECT_EQ(orbit_time(kind, four, 1, kRelaySerialization), microseconds(81));
    EXPECT_EQ(orbit_time(kind, four, 1, kRelayTransfer), microseconds(82));
    // Two chunks: 5 D before the last one leaves, and 5 (D + alpha).
    EXPECT_EQ(orbit_time(kind, four, 2, kRelaySerialization), microseconds(141));
    EXPECT_EQ(orbit_time(kind, four, 2, kRelayTransfer), nanoseconds(143'500));
  }
}

TEST(PcclRelays, OfDifferentDimensionsWorkSideBySide) {
  // SW(2)_SW(4), D = 20 us, alpha 0.5 us. All-to-All: 4 of 8 offsets cross dimension 1, 6 cross dimension 2: 5 D
  // before the last one leaves, and its two hops.
  EXPECT_EQ(orbit_time(CollectiveKind::all_to_all, shape("SW(2)_SW(4)"), 1, kRelaySerialization), microseconds(141));
  // RI(4)_SW(4): the switch 12 chunks, the last two hops: 13 D + 2 alpha.
  EXPECT_EQ(orbit_time(CollectiveKind::all_to_all, shape("RI(4)_SW(4)"), 1, kRelaySerialization), microseconds(261));
}

/// The efficiency in thousandths, rounded down. An All-Reduce without overlap is two collectives, each with its bound.
std::int64_t thousandths(const SynthesisProblem& problem, const Synthesis& made) {
  if (problem.collective.kind() != CollectiveKind::all_reduce)
    return best_cheap_bound({problem, true}).time.count() * 1000 / made.time.count();
  SimTime halves;
  for (const auto half : {CollectiveKind::reduce_scatter, CollectiveKind::all_gather}) {
    const Collective collective = problem.collective.as(half);
    halves += best_cheap_bound({{problem.topology, collective, problem.occupancy}, true}).time;
  }
  return halves.count() * 1000 / made.time_without_overlap.count();
}

TEST(PcclRelays, ReachTheBoundOfPods) {
  const Topology pods = shape("SW(8)_SW(16)");
  // All-to-All: 120 of the 128 offsets cross dimension 2, 119 D before the last one leaves, and its two hops. No bound
  // counts that the last one has two. D = 20 us, alpha = 0.5 us.
  EXPECT_EQ(orbit_time(CollectiveKind::all_to_all, pods, 1, kRelaySerialization), microseconds(119 * 20 + 41));
  EXPECT_EQ(orbit_time(CollectiveKind::all_to_all, pods, 1, kRelayTransfer), nanoseconds(121 * 20'500));
  for (const auto occupancy : {kRelaySerialization, kRelayTransfer})
    for (const auto kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce}) {
      const Collective collective = of_megabytes(kind, 128);
      for (const bool copy : {false, true}) {
        const Topology topology = pods.with_switches(SwitchProperties{.copy = copy});
        const SynthesisProblem problem{{topology, collective, occupancy}};
        EXPECT_GE(thousandths(problem, orbit_checked(problem)), 990)
            << static_cast<int>(kind) << ' ' << to_string(occupancy) << ' ' << copy;
      }
    }
}

TEST(PcclRelays, ReachTheBandwidthOfAllPortsTogether) {
  // SW(8)_SW(64) with 180 and 50 GB/s, S = 1 GB: chunks of 1,953,125 B take 10.850694 us and 39.0625 us. All-Gather:
  // 511 chunks over both in-links at once take at least 511 / (1/10.850694 + 1/39.0625) = 4339.3 us. All-to-All: 504 of
  // the 512 chunks cross dimension 2: 504 * 39.0625 = 19687.5 us, once more 39.0625 us for the last one's second hop,
  // and its two alphas.
  const Topology pods =
      shape("SW(8)_SW(64)", {nanoseconds(500)}, {gigabytes_per_second(180), gigabytes_per_second(50)});
  const auto time = [&](CollectiveKind kind) {
    const Collective collective = support::collective(kind, 512, bytes(1'000'000'000));
    const SynthesisProblem problem{{pods, collective, kRelaySerialization}};
    const Synthesis made = synthesize_pccl_orbit(problem).value();
    const Verdict verdict = verify_symmetric(problem, made.schedule);
    EXPECT_TRUE(verdict.valid());
    EXPECT_EQ(verdict.collective_time, made.time);
    return static_cast<double>(made.time.count()) * 1e-6;
  };
  EXPECT_LE(time(CollectiveKind::all_gather), 4339.3 * 1.01);
  EXPECT_LE(time(CollectiveKind::reduce_scatter), 4339.3 * 1.01);
  EXPECT_LE(time(CollectiveKind::all_reduce), 2 * 4339.3 * 1.01);
  EXPECT_LE(time(CollectiveKind::all_to_all), 19687.5 + 39.0625 + 1.1);
  EXPECT_GE(time(CollectiveKind::all_to_all), 19687.5 + 39.0625);
}

TEST(PcclRelays, LeaveNothingInASwitch) {
  const Topology four = shape("SW(4)_SW(3)");
  for (const std::uint32_t buffer : {1U, 2U}) {
    const Topology limited = four.with_switches(SwitchProperties{.buffer = buffer});
    for (const auto kind : kKinds) {
      const Collective collective = of_megabytes(kind, 12, 2);
      const SynthesisProblem problem{{limited, collective, kRelayTransfer}};
      const SynthesisProblem unlimited{{four, collective, kRelayTransfer}};
      EXPECT_EQ(orbit_checked(problem).time, orbit_checked(unlimited).time);
    }
  }
}

TEST(PcclRelays, SendUpOnceWhereSwitchesCopy) {
  // What comes again to a switch that has it would be waste.
  const Topology copying = shape("SW(4)_SW(3)").with_switches(SwitchProperties{.copy = true});
  for (const auto kind : {CollectiveKind::all_gather, CollectiveKind::all_reduce}) {
    const Collective collective = of_megabytes(kind, 12);
    const Synthesis made = orbit_checked({{copying, collective, kRelaySerialization}});
    std::map<std::pair<VertexId, ChunkId>, int> arrivals;
    for (const Send& send : list_sends(made.schedule))
      if (send.stage == Stage::copy && !copying.is_npu(copying.target(send.link))) {
        EXPECT_EQ(++arrivals[std::pair(copying.target(send.link), send.chunk)], 1);
      }
    EXPECT_FALSE(arrivals.empty());
  }
}

TEST(PcclRelays, RefuseSwitchesThatKeepWhatPasses) {
  const Topology pods = shape("SW(4)_SW(3)");
  const auto suits = [&](CollectiveKind kind, SwitchProperties properties) {
    const Collective collective = of_megabytes(kind, 12);
    const Topology topology = pods.with_switches(properties);
    return !pccl_orbit_unsuitable({{topology, collective, kRelaySerialization}});
  };
  EXPECT_TRUE(suits(CollectiveKind::all_gather, {.copy = true, .reduce = true}));
  EXPECT_FALSE(suits(CollectiveKind::reduce_scatter, {.copy = true, .reduce = true}));
  EXPECT_FALSE(suits(CollectiveKind::all_reduce, {.copy = true, .reduce = true}));
  EXPECT_TRUE(suits(CollectiveKind::all_reduce, {.reduce = true}));
  EXPECT_FALSE(suits(CollectiveKind::all_gather, {.copy = true, .buffer = 4}));
  EXPECT_FALSE(suits(CollectiveKind::broadcast, {}));
  // One switch that differs.
  std::vector<SwitchProperties> properties(pods.switches());
  properties.back().copy = true;
  const Topology uneven = pods.with_switches(properties);
  const Collective gather = of_megabytes(CollectiveKind::all_gather, 12);
  EXPECT_TRUE(pccl_orbit_unsuitable({{uneven, gather, kRelaySerialization}}));
}

TEST(PcclRelays, AreChosenByPccl) {
  const Topology pods = shape("SW(8)_SW(16)");
  const Collective gather = of_megabytes(CollectiveKind::all_gather, 128);
  const Synthesis made = find_synthesizer("pccl")->synthesize({{pods, gather, kRelaySerialization}}).value();
  EXPECT_EQ(made.engine, "orbit");
  EXPECT_EQ(made.schedule.storage_kind(), "relayed");
  // Ways are for this engine alone.
  SynthesisProblem named{{pods, gather, kRelaySerialization}};
  named.engine = "symmetric";
  EXPECT_FALSE(find_synthesizer("tacos")->synthesize(named).ok());
}

/// A random problem; the topology and the collective must outlive it.
struct RelayCase {
  support::RandomProduct product;
  Topology topology;
  Collective collective;
  Occupancy occupancy;

  RelayCase(Random& random, std::uint32_t most_npus, CollectiveKind kind)
      : product(random_switched_product(random, most_npus)),
        topology(shape(product.text, product.alpha, product.bandwidth)),
        collective(of_megabytes(kind, topology.npus(), 1 + random.below(3))),
        occupancy(random.below(2) == 0 ? kRelayTransfer : kRelaySerialization) {
    SwitchProperties properties{.copy = random.below(3) == 0};
    properties.reduce = !(properties.copy && reduces(kind)) && random.below(3) == 0;
    if (!properties.copy && !properties.reduce && random.below(2) == 0) properties.buffer = 1 + random.below(3);
    topology = topology.with_switches(properties);
  }
  [[nodiscard]] SynthesisProblem problem() const { return {{topology, collective, occupancy}}; }
};

TEST(PcclRelaysProperty, AreValidOnAnyProduct) {
  rc::check("valid by orbit, in full and by definition, not below the bound", [] {
    Random random(*rc::gen::arbitrary<std::uint64_t>(), 0x72656C61);
    const std::uint32_t most = random.below(2) == 0 ? 9 : 60;  // small enough for the definition, or larger
    const RelayCase each(random, most, kKinds[random.below(4)]);
    RC_LOG() << each.product.text << ", chunks: " << each.collective.chunks_per_npu() << '\n';
    orbit_checked(each.problem());
    RC_ASSERT(!::testing::Test::HasFailure());
  });
}

/// A relayed schedule with other orbits.
Schedule relayed_with(const RelayedParts& parts, std::vector<OrbitSend> orbits) {
  const SymmetricStorage& storage = *symmetric_storage(parts.base);
  return relayed(make_symmetric_schedule(storage.group(), storage.chunks(), std::move(orbits)), parts.ways);
}

TEST(Relayed, SendsAreThoseOfTheWaysLinkByLink) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed, 0x77617973);
    RelayCase each(random, 40, kKinds[seed % 4]);
    SCOPED_TRACE(each.product.text);
    each.topology = each.topology.with_switches(SwitchProperties{});
    const Schedule schedule = synthesize_pccl_orbit(each.problem()).value().schedule;
    const RelayedParts parts = relayed_parts(schedule);
    if (!parts.ways) continue;  // two plans, listed
    std::vector<Send> sends;
    for (const Send& send : list_sends(parts.base))
      for (const WireSpan& span : parts.ways->wires()->spans(send.link))
        sends.push_back({send.start + span.offset, span.link, send.chunk, send.stage});
    EXPECT_EQ(list_sends(schedule), list_sends(make_list_schedule(sends)));
    EXPECT_EQ(schedule.sends(), sends.size());
  }
}

TEST(OrbitCheckOfRelays, AgreesWithTheFullReplayOnMutatedSchedules) {
  std::size_t invalid = 0;
  std::size_t decided = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Random random(seed, 0x6D757472);
    const RelayCase each(random, 16, kKinds[seed % 4]);
    SCOPED_TRACE(each.product.text);
    const Schedule schedule = synthesize_pccl_orbit(each.problem()).value().schedule;
    const RelayedParts parts = relayed_parts(schedule);
    if (!parts.ways) continue;
    const SymmetricStorage& storage = *symmetric_storage(parts.base);
    std::vector<OrbitSend> orbits(storage.orbits().begin(), storage.orbits().end());
    auto& orbit = orbits[random.below(static_cast<std::uint32_t>(orbits.size()))];
    switch (random.below(4)) {
      case 0:
        orbit.start = std::max(SimTime::zero(), orbit.start - picoseconds(1 + random.below(3'000'000)));
        break;
      case 1:
        orbit.start += picoseconds(1 + random.below(3'000'000));
        break;
      case 2:
        orbit.start += microseconds(100 + random.below(10'000));
        break;
      default:
        orbit.direction = random.below(static_cast<std::uint32_t>(storage.group().directions().size()));
        break;
    }
    const Schedule changed = relayed_with(parts, orbits);
    const Verdict by_orbit = verify_symmetric(each.problem(), changed);
    if (by_orbit.outcome == Verification::skipped) continue;
    ++decided;
    // What goes up only once where switches copy need not be held at its source later, which the orbit check asks for.
    const bool copies = each.topology.switch_properties(VertexId::at(each.topology.npus())).copy;
    const bool in_full = verify(each.problem(), changed).valid();
    EXPECT_TRUE(by_orbit.valid() == in_full || (copies && in_full));
    if (!by_orbit.valid()) ++invalid;
  }
  EXPECT_GE(decided, 250U);
  EXPECT_GE(invalid, 100U);
}

TEST(OrbitCheckOfRelays, NeedTheNetworkThatTheyAreFor) {
  const Topology pods = shape("SW(4)_SW(3)");
  const Collective gather = of_megabytes(CollectiveKind::all_gather, 12);
  const Schedule schedule = synthesize_pccl_orbit({{pods, gather, kRelaySerialization}}).value().schedule;
  EXPECT_TRUE(verify_symmetric({pods, gather, kRelaySerialization}, schedule).valid());
  const auto refuses = [&](const Topology& other, const Collective& collective) {
    const Verdict verdict = verify_symmetric({other, collective, kRelaySerialization}, schedule);
    return verdict.violations == 1 && verdict.findings[0].violation == Violation::unknown_link;
  };
  EXPECT_TRUE(refuses(shape("SW(4)_SW(3)", {nanoseconds(501)}), gather));
  EXPECT_TRUE(refuses(shape("SW(4)_SW(3)", {nanoseconds(500)}, {gigabytes_per_second(51)}), gather));
  EXPECT_TRUE(refuses(pods.with_switches(SwitchProperties{.forwarding = Forwarding::cut_through}), gather));
  EXPECT_TRUE(refuses(pods.with_switches(SwitchProperties{.copy = true, .buffer = 1}), gather));
  // Ways for chunks of one size are none for those of another.
  EXPECT_TRUE(refuses(pods, support::collective(CollectiveKind::all_gather, 12, bytes(13'000'000))));
}

}  // namespace
}  // namespace tenex
