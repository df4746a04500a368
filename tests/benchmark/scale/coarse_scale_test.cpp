// Tens of thousands of NPUs through the coarse engine: every one of the 1.6e9 sends expanded and verified.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <string>

#include "support/topologies.hpp"
#include "support/verdicts.hpp"
#include "tenex/base/random.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/schedule/verifier/verifier.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {
namespace {

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double user_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec) + 1e-6 * static_cast<double>(usage.ru_utime.tv_usec);
}

/// Synthesizes, verifies send by send, prints times and memory; returns the efficiency.
double gather(const std::string& name, const Topology& topology, Occupancy occupancy = Occupancy::transfer,
              std::int64_t chunks = 1) {
  const auto npus = static_cast<std::int64_t>(topology.npus());
  const Collective collective =
      support::collective(CollectiveKind::all_gather, topology.npus(), bytes(1'000'000) * (npus * chunks), chunks);
  const double wall = wall_seconds();
  const double user = user_seconds();
  const auto made =
      find_synthesizer("tacos")->synthesize({topology, collective, occupancy, {1, 1, "coarse"}, 2}).value();
  const double wall_after = wall_seconds();
  const double user_after = user_seconds();
  VerifyOptions options;
  options.threads = 2;
  const Verdict verdict = verify({topology, collective, occupancy}, made.schedule, options);
  EXPECT_TRUE(verdict.valid()) << support::first_finding(verdict);
  // Every NPU receives each chunk of the others once.
  EXPECT_EQ(verdict.sends, static_cast<std::uint64_t>(npus * (npus - 1) * chunks));
  EXPECT_EQ(verdict.waste, 0U);
  EXPECT_EQ(verdict.collective_time, made.time);
  const Bound bound = best_cheap_bound({topology, collective, occupancy, true});
  EXPECT_GE(made.time, bound.time);
  const double efficiency = static_cast<double>(bound.time.count()) / static_cast<double>(made.time.count());
  std::printf(
      "%s, %d chunks: synthesis %.2f s (%.2f s user), %.0f MB, %.4f of the bound; %llu sends verified in %.1f s\n",
      name.c_str(), static_cast<int>(chunks), wall_after - wall, user_after - user,
      static_cast<double>(made.schedule.memory_bytes()) / 1e6, efficiency,
      static_cast<unsigned long long>(verdict.sends), wall_seconds() - wall_after);
  return efficiency;
}

TEST(CoarseScale, Gathers40000NpusOfAMesh) { EXPECT_GE(gather("mesh(200,200)", support::mesh(200, 200)), 0.999); }

TEST(CoarseScale, Gathers43000NpusOfAGrid) {
  EXPECT_GE(gather("grid(35,35,35)", support::shape("grid(35,35,35)")), 0.998);
}

TEST(CoarseScale, TakesSidesThatBlocksDoNotDivide) {
  EXPECT_GE(gather("mesh(199,211)", support::mesh(199, 211)), 0.999);
}

TEST(CoarseScale, HonoursSerialization) {
  EXPECT_GE(gather("mesh(200,200), serialization", support::mesh(200, 200), Occupancy::serialization), 0.999);
}

TEST(CoarseScale, TakesSidesNextToThoseThatBlocksDivide) {
  EXPECT_GE(gather("mesh(199,199)", support::mesh(199, 199)), 0.999);
  EXPECT_GE(gather("mesh(201,200)", support::mesh(201, 200)), 0.999);
  EXPECT_GE(gather("grid(33,35,37)", support::shape("grid(33,35,37)")), 0.998);
  EXPECT_GE(gather("grid(34,35,36)", support::shape("grid(34,35,36)")), 0.998);
}

TEST(CoarseScale, TakesSeveralChunksPerNpu) {
  for (const std::int64_t chunks : {2, 3}) {
    EXPECT_GE(gather("mesh(200,200)", support::mesh(200, 200), Occupancy::transfer, chunks), 0.99);
    EXPECT_GE(gather("grid(35,35,35)", support::shape("grid(35,35,35)"), Occupancy::transfer, chunks), 0.99);
  }
}

/// A topology without one link pair in a hundred, drawn at random.
Topology without_links(const Topology& whole, std::uint64_t seed) {
  Random random(seed, 0x6c696e6b);
  std::vector<bool> drop(whole.links(), false);
  for (std::size_t link = 0; link < whole.links(); ++link) {
    if (whole.source(LinkId::at(link)) > whole.target(LinkId::at(link))) continue;
    if (random.below(100) != 0) continue;
    for (const LinkId back : whole.out_links(whole.target(LinkId::at(link))))
      if (whole.target(back) == whole.source(LinkId::at(link))) drop[back.index()] = true;
    drop[link] = true;
  }
  return whole.without(drop);
}

/// A topology without one NPU in a hundred, drawn at random, and without the NPUs that this cuts off.
Topology without_npus(const Topology& whole, std::uint64_t seed) {
  constexpr std::uint32_t kGone = ~0U;
  Random random(seed, 0x6e7075);
  std::vector<bool> out(whole.npus());
  for (std::size_t npu = 0; npu < whole.npus(); ++npu) out[npu] = random.below(100) == 0;
  // The NPUs that are reached from the one with the middle id stay.
  std::vector<std::uint32_t> name(whole.npus(), kGone);
  std::vector<VertexId> reached;
  std::size_t start = whole.npus() / 2;
  while (out[start]) ++start;
  name[start] = 0;
  reached.push_back(VertexId::at(start));
  for (std::size_t i = 0; i < reached.size(); ++i)
    for (const LinkId link : whole.out_links(reached[i])) {
      const VertexId next = whole.target(link);
      if (out[next.index()] || name[next.index()] != kGone) continue;
      name[next.index()] = 0;
      reached.push_back(next);
    }
  std::uint32_t names = 0;
  for (auto& one : name)
    if (one != kGone) one = names++;
  std::vector<Link> links;
  for (std::size_t link = 0; link < whole.links(); ++link) {
    const auto from = name[whole.source(LinkId::at(link)).index()];
    const auto to = name[whole.target(LinkId::at(link)).index()];
    if (from != kGone && to != kGone)
      links.push_back({VertexId(from), VertexId(to), support::kAlpha, support::kBandwidth});
  }
  return support::graph(names, links);
}

// Measured on seeds 1-10: at least 0.9956 (1.0000 for seeds 4, 5 and 10, which leave an NPU with one link).
TEST(CoarseScale, BearsOnePercentOfLinkPairsRemoved) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const Topology thin = without_links(support::mesh(200, 200), seed);
    ASSERT_FALSE(find_disconnected_pair(thin).has_value());
    EXPECT_GE(gather("mesh(200,200) less 1 % of its link pairs, seed " + std::to_string(seed), thin), 0.99);
  }
}

// Seed 2 leaves three NPUs in a row with two in-links each.
TEST(CoarseScale, BearsOnePercentOfNpusRemoved) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed)
    EXPECT_GE(gather("mesh(200,200) less 1 % of its NPUs, seed " + std::to_string(seed),
                     without_npus(support::mesh(200, 200), seed)),
              0.99);
  EXPECT_GE(gather("grid(35,35,35) less 1 % of its NPUs", without_npus(support::shape("grid(35,35,35)"), 1)), 0.99);
}

TEST(CoarseScale, BearsRemovedLinksUnderBothOccupanciesAndWithSeveralChunks) {
  const Topology thin = without_links(support::mesh(200, 200), 1);
  EXPECT_GE(gather("thinned mesh(200,200), serialization", thin, Occupancy::serialization), 0.99);
  EXPECT_GE(gather("thinned mesh(200,200)", thin, Occupancy::transfer, 2), 0.99);
}

}  // namespace
}  // namespace tenex
