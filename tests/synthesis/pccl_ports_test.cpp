// The engine `orbit` of pccl over switches that cut through: valid to the orbit check, to the full replay and to a
// naive reading of the definition; at the bounds that counting gives; the orbit check against single picoseconds.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "support/draws.hpp"
#include "support/wired.hpp"
#include "synthesis/orbit_checks.hpp"
#include "synthesis/pccl/orbit/orbit.hpp"
#include "synthesis/synthesis_support.hpp"
#include "tenex/schedule/storage/symmetric_schedule.hpp"
#include "tenex/schedule/verifier/symmetric_verifier.hpp"

namespace tenex {
namespace {

using support::of_megabytes;
using support::orbit_checked;
using support::orbit_time;
using support::random_switched_product;
using support::RandomProduct;
using support::wired;

constexpr auto kSerialization = Occupancy::serialization;
constexpr auto kTransfer = Occupancy::transfer;

TEST(PcclPorts, TakeTurnsOverOneSwitch) {
  // SW(4): 1 MB over 50 GB/s takes D = 20 us, a link's alpha is 0.5 us. Three chunks leave one after the other; the
  // last one arrives two alphas later: 3 D + 2 alpha. Under `transfer` an up-link is busy for D + alpha: 2 (D + alpha)
  // + D + 2 alpha = 3 D + 4 alpha.
  const Topology four = wired("SW(4)");
  for (const auto kind : {CollectiveKind::all_to_all, CollectiveKind::all_gather, CollectiveKind::reduce_scatter}) {
    EXPECT_EQ(orbit_time(kind, four, 1, kSerialization), microseconds(61));
    EXPECT_EQ(orbit_time(kind, four, 1, kTransfer), microseconds(62));
    // Two chunks: 6 D + 2 alpha, and 5 (D + alpha) + D + 2 alpha.
    EXPECT_EQ(orbit_time(kind, four, 2, kSerialization), microseconds(121));
    EXPECT_EQ(orbit_time(kind, four, 2, kTransfer), nanoseconds(123'500));
  }
  // Reduction and gather, one after the other: every port is busy all the time, so overlap gains at most the alphas.
  EXPECT_LE(orbit_time(CollectiveKind::all_reduce, four, 1, kSerialization), microseconds(122));
  EXPECT_GE(orbit_time(CollectiveKind::all_reduce, four, 1, kSerialization), microseconds(120));
}

TEST(PcclPorts, OfDifferentDimensionsWorkSideBySide) {
  // SW(2)_SW(4), D = 20 us, alpha 0.5 us. All-to-All: 4 of 8 offsets cross dimension 1, 6 cross dimension 2: 6 D + 2
  // alpha.
  const Topology both = wired("SW(2)_SW(4)");
  EXPECT_EQ(orbit_time(CollectiveKind::all_to_all, both, 1, kSerialization), microseconds(121));
  // RI(4)_SW(4): a way round the ring carries 4 rows of 4 hops over two out-links: 8 D; the switch 12 D + 2 alpha.
  EXPECT_EQ(orbit_time(CollectiveKind::all_to_all, wired("RI(4)_SW(4)"), 1, kSerialization), microseconds(241));
  // FC(4)_SW(2): 7 chunks over 3 links and a port, so two of each at least; the second ones over FC links are
  // forwarded.
  EXPECT_LE(orbit_time(CollectiveKind::all_gather, wired("FC(4)_SW(2)"), 1, kSerialization), microseconds(42));
}

TEST(PcclPorts, ReachTheBandwidthOfAllPortsTogether) {
  // SW(8)_SW(64) with 180 and 50 GB/s, S = 1 GB: chunks of 1,953,125 B take 10.850694 us and 39.0625 us. All-Gather:
  // 511 chunks over both in-links at once take at least 511 / (1/10.850694 + 1/39.0625) = 4339.3 us. All-to-All: 504 of
  // the 512 chunks cross dimension 2: 504 * 39.0625 = 19687.5 us, and the two alphas of the last.
  const Topology pods =
      wired("SW(8)_SW(64)", {nanoseconds(500)}, {gigabytes_per_second(180), gigabytes_per_second(50)});
  for (const std::int64_t chunks : {1, 4}) {
    const auto time = [&](CollectiveKind kind) {
      const Collective collective = support::collective(kind, 512, bytes(1'000'000'000), chunks);
      const SynthesisProblem problem{{pods, collective, kSerialization}};
      const Synthesis made = synthesize_pccl_orbit(problem).value();
      const Verdict verdict = verify_symmetric(problem, made.schedule);
      EXPECT_TRUE(verdict.valid());
      EXPECT_EQ(verdict.collective_time, made.time);
      return static_cast<double>(made.time.count()) * 1e-6;
    };
    EXPECT_LE(time(CollectiveKind::all_gather), 4339.3 * 1.001);
    EXPECT_LE(time(CollectiveKind::reduce_scatter), 4339.3 * 1.001);
    EXPECT_LE(time(CollectiveKind::all_reduce), 2 * 4339.3 * 1.001);
    EXPECT_LE(time(CollectiveKind::all_to_all), 19687.5 + 1.1);
    EXPECT_GE(time(CollectiveKind::all_to_all), 19687.5);
  }
}

TEST(PcclPorts, EnterEveryPositionWhereThatTakesTheLongest) {
  // SW(8)_SW(p) with 400 and 50 GB/s: a chunk enters p - 1 other positions along dimension 2, one after the other, and
  // each takes 244,141 B / 50 GB/s = 4.88282 us. After that the last one's box is filled.
  for (const std::int64_t positions : {128, 512}) {
    if (positions > 128 && !support::long_run()) continue;
    const auto shape = "SW(8)_SW(" + std::to_string(positions) + ")";
    const Topology pods = wired(shape, {nanoseconds(500)}, {gigabytes_per_second(400), gigabytes_per_second(50)});
    const Collective gather =
        support::collective(CollectiveKind::all_gather, pods.npus(), bytes(244'141) * (8 * positions));
    const SynthesisProblem problem{{pods, gather, kSerialization}};
    const Synthesis made = synthesize_pccl_orbit(problem).value();
    EXPECT_TRUE(verify_symmetric(problem, made.schedule).valid());
    EXPECT_GE(made.time, picoseconds((positions - 1) * 4'882'820));
    EXPECT_LE(made.time, picoseconds((positions - 1) * 4'882'820) + microseconds(7));
  }
}

TEST(PcclPorts, ServeGroupsThatTranslationsMapToEachOther) {
  // Rows of SW(4)_SW(3): a switch each. Three chunks leave one after the other, as over SW(4).
  const Topology topology = wired("SW(4)_SW(3)");
  const Collective rows =
      support::collective(CollectiveKind::all_to_all, 12, support::kMegabyte * 4, 1, "0-3; 4-7; 8-11");
  EXPECT_EQ(orbit_checked({{topology, rows, kSerialization}}).time, microseconds(61));
}

TEST(PcclPorts, AreChosenByPcclWhereTheySuit) {
  const Topology pods = wired("SW(8)_SW(64)");  // too large to route chunk by chunk as well
  const Collective exchange = of_megabytes(CollectiveKind::all_to_all, 512);
  const Synthesis made = find_synthesizer("pccl")->synthesize({{pods, exchange, kSerialization}}).value();
  EXPECT_EQ(made.engine, "orbit");
  // Other engines keep to links that nobody shares.
  const Collective gather = of_megabytes(CollectiveKind::all_gather, 512);
  SynthesisProblem named{{pods, gather, kSerialization}};
  named.engine = "symmetric";
  EXPECT_FALSE(find_synthesizer("tacos")->synthesize(named).ok());
}

/// A random problem; the topology and the collective must outlive it.
struct RandomCase {
  RandomProduct product;
  Topology topology;
  Collective collective;
  Occupancy occupancy;

  RandomCase(Random& random, std::uint32_t most_npus, CollectiveKind kind)
      : product(random_switched_product(random, most_npus)),
        topology(wired(product.text, product.alpha, product.bandwidth)),
        collective(of_megabytes(kind, topology.npus(), 1 + random.below(3))),
        occupancy(random.below(2) == 0 ? kTransfer : kSerialization) {}
  [[nodiscard]] SynthesisProblem problem() const { return {{topology, collective, occupancy}}; }
};

constexpr CollectiveKind kKinds[] = {CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
                                     CollectiveKind::all_reduce, CollectiveKind::all_to_all};

TEST(PcclPortsProperty, AreNeverUsedTwiceAtOnce) {
  rc::check("valid by orbit, in full and by definition", [] {
    Random random(*rc::gen::arbitrary<std::uint64_t>(), 0x706F7274);
    const std::uint32_t most = random.below(2) == 0 ? 9 : 60;  // small enough for the definition, or larger
    const RandomCase each(random, most, kKinds[random.below(4)]);
    RC_LOG() << each.product.text << ", chunks: " << each.collective.chunks_per_npu() << '\n';
    const Synthesis made = orbit_checked(each.problem());
    RC_ASSERT(!::testing::Test::HasFailure());
    RC_ASSERT(made.time <= made.time_without_overlap);
  });
}

/// The least time of an All-to-All by counting: hops along each dimension over the ports of an NPU there.
SimTime counted(const SynthesisProblem& problem) {
  const auto& shape = *problem.topology.shape();
  const auto group = TranslationGroup::of(problem.topology, LinkPorts::shared).value();
  SimTime longest;
  for (const auto& dimension : group.dimensions()) {
    const bool ring = dimension.directions == 2 && dimension.size > 3 && !dimension.one_port;
    std::int64_t hops = 0;
    for (std::uint32_t digit = 1; digit < dimension.size; ++digit)
      hops += ring ? std::min(digit, dimension.size - digit) : 1;
    hops *= static_cast<std::int64_t>(shape.npus() / dimension.size) * problem.collective.chunks_per_npu();
    const std::int64_t ports = dimension.one_port ? 1 : dimension.directions;
    const LinkId wire = group.link({NpuId(0), dimension.first_direction});
    const SimTime latency = hop_time(problem.topology.classes()[problem.topology.class_of(wire)],
                                     problem.collective.chunk_sizes()[0], kSerialization)
                                .latency;
    const SimTime alpha = problem.topology.wires()->network().alpha(problem.topology.wires()->spans(wire)[0].link);
    const SimTime busy = latency - problem.topology.alpha(wire) + alpha * (problem.occupancy == kTransfer ? 1 : 0);
    longest = std::max(longest, busy * ((hops + ports - 1) / ports - 1) + latency);
  }
  return longest;
}

TEST(PcclPortsProperty, CarryAllToAllsInTheTimeThatCountingGives) {
  rc::check("at most 3 % above", [] {
    Random random(*rc::gen::arbitrary<std::uint64_t>(), 0x636F756E);
    const RandomCase each(random, 100, CollectiveKind::all_to_all);
    RC_LOG() << each.product.text << ", chunks: " << each.collective.chunks_per_npu() << '\n';
    const SimTime time = synthesize_pccl_orbit(each.problem()).value().time;
    const SimTime bound = counted(each.problem());
    RC_LOG() << time.count() << " ps, bound " << bound.count() << " ps\n";
    RC_ASSERT(time >= bound);
    RC_ASSERT(time * 97 <= bound * 100);
  });
}

/// The orbits of a schedule as they are, and with one of them moved.
std::vector<OrbitSend> orbits_of(const Schedule& schedule) {
  const auto span = symmetric_storage(schedule)->orbits();
  return {span.begin(), span.end()};
}

Schedule with_orbits(const Schedule& like, std::vector<OrbitSend> orbits) {
  const SymmetricStorage& storage = *symmetric_storage(like);
  return make_symmetric_schedule(storage.group(), storage.chunks(), std::move(orbits));
}

TEST(OrbitCheckOfPorts, SeesEveryPicosecondOfAConflict) {
  std::size_t conflicts = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed, 0x636F6E66);
    const RandomCase each(random, 30, kKinds[seed % 4]);
    SCOPED_TRACE(each.product.text);
    const Schedule schedule = synthesize_pccl_orbit(each.problem()).value().schedule;
    if (symmetric_storage(schedule) == nullptr) continue;  // two plans
    const auto& group = symmetric_storage(schedule)->group();
    const auto orbits = orbits_of(schedule);
    std::map<std::uint32_t, std::size_t> last;  // by switched dimension
    for (std::size_t i = 0; i < orbits.size(); ++i) {
      const std::uint32_t dimension = group.directions()[orbits[i].direction].dimension;
      if (!group.dimensions()[dimension].one_port) continue;
      const auto before = last.find(dimension);
      if (before != last.end()) {
        const Topology& topology = each.topology;
        const LinkId wire = group.link({NpuId(0), orbits[i].direction});
        const HopTime hop =
            hop_time(topology.classes()[topology.class_of(wire)], each.collective.chunk_sizes()[0], kSerialization);
        // Either link of a wire has half of its alpha.
        const SimTime busy =
            each.occupancy == kTransfer ? hop.latency - topology.alpha(wire) / 2 : hop.latency - topology.alpha(wire);
        const SimTime gap = orbits[i].start - orbits[before->second].start;
        EXPECT_GE(gap, busy);
        auto wrong = orbits;
        wrong[i].start = orbits[before->second].start + busy - picoseconds(1);
        const Verdict verdict = verify_symmetric(each.problem(), with_orbits(schedule, wrong));
        EXPECT_FALSE(verdict.valid());
        EXPECT_TRUE(std::any_of(verdict.findings.begin(), verdict.findings.end(), [](const Finding& finding) {
          return finding.violation == Violation::link_overlap &&
                 finding.message.find("the link to the switch is busy with another send until") == 0;
        }));
        ++conflicts;
      }
      last[dimension] = i;
    }
  }
  EXPECT_GT(conflicts, 1000U);
}

TEST(OrbitCheckOfPorts, AgreesWithTheFullReplayOnMutatedSchedules) {
  std::size_t invalid = 0;
  std::size_t decided = 0;
  const auto seeds = static_cast<std::size_t>(support::draws(120, 400));
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    Random random(seed, 0x6D757461);
    const RandomCase each(random, 16, kKinds[seed % 4]);
    SCOPED_TRACE(each.product.text);
    const Schedule schedule = synthesize_pccl_orbit(each.problem()).value().schedule;
    if (symmetric_storage(schedule) == nullptr) continue;
    auto orbits = orbits_of(schedule);
    auto& orbit = orbits[random.below(static_cast<std::uint32_t>(orbits.size()))];
    const auto directions = static_cast<std::uint32_t>(symmetric_storage(schedule)->group().directions().size());
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
        orbit.direction = random.below(directions);
        break;
    }
    const Schedule changed = with_orbits(schedule, orbits);
    const Verdict by_orbit = verify_symmetric(each.problem(), changed);
    if (by_orbit.outcome == Verification::skipped) continue;
    ++decided;
    EXPECT_EQ(by_orbit.valid(), verify(each.problem(), changed).valid());
    if (changed.sends() <= support::kMostForOracle) {
      EXPECT_EQ(by_orbit.valid(), test::NaiveOracle(each.problem(), changed).answer().valid);
    }
    if (!by_orbit.valid()) ++invalid;
  }
  EXPECT_GE(decided, seeds * 5 / 8);
  EXPECT_GE(invalid, seeds * 3 / 10);
}

}  // namespace
}  // namespace tenex
