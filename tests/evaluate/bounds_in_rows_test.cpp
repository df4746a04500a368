// Bounds with certificates in rows: numbers derived by hand, and the search that a point may ask for.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "evaluate/training_points.hpp"
#include "support/draws.hpp"
#include "tenex/bound/bound.hpp"

namespace tenex {
namespace {

using support::row_of;
using support::with;
using support::Words;

Words direct_on(const std::string& topology, const std::string& collective) {
  return {{"topology", topology}, {"collective", collective}, {"algorithm", "direct"}, {"size", "1GB"}};
}

const std::string kTwoChassis = TENEX_SOURCE_DIR "/experiments/machines/ndv2_2ch.toml";

DesignPoint point_of_words(const Words& words) { return make_point(words, vocabulary()).value(); }

TEST(BoundsInRows, AreThoseOfTheLinksBetweenChassis) {
  // Chunks of 62.5 MB. Between the chassis there is one link each way, 12.5 GB/s with an alpha of 1.3 us: 5 ms per
  // chunk. An All-Gather sends 8 chunks over it, an All-Reduce all 16, an All-to-All 8 * 8. From NPU 9, where the link
  // ends, NPU 15 is two NVLinks away, of 50 and 25 GB/s: 1.25 and 2.5 ms, and 0.7 us each. An All-Gather ends with that
  // way, and an All-Reduce begins with one that is as long; an All-to-All may end with a chunk for NPU 9.
  constexpr std::int64_t kInside = 1'250'000'000 + 2'500'000'000 + 2 * 700'000;
  const auto gather = row_of(point_of_words(direct_on(kTwoChassis, "all_gather")));
  EXPECT_EQ(gather.bound_name, "entry");
  EXPECT_EQ(gather.bound_ps, 8 * 5'000'000'000 + 1'300'000 + kInside);
  const auto reduce = row_of(point_of_words(direct_on(kTwoChassis, "all_reduce")));
  EXPECT_EQ(reduce.bound_ps, 16 * 5'000'000'000 + 1'300'000 + 2 * kInside);
  const auto exchange = row_of(point_of_words(direct_on(kTwoChassis, "all_to_all")));
  EXPECT_EQ(exchange.bound_name, "entry");  // as large as the cut, and looked at first
  EXPECT_EQ(exchange.bound_ps, 64 * 5'000'000'000 + 1'300'000);
  EXPECT_GT(exchange.efficiency, 0.98);
}

// What `tenex bound` searches within each method's whole work, a row of a built-in machine of up to 128 NPUs (under the
// label `long` 1,024) has found within its own, whatever the algorithm. Of schedules whose sends carry one chunk the
// bound may be higher.
TEST(BoundsInRows, OfBuiltInMachinesAreThoseOfAWholeSearch) {
  std::vector<std::string> machines;
  for (const auto& file : std::filesystem::directory_iterator(TENEX_SOURCE_DIR "/experiments/machines"))
    if (file.path().extension() == ".toml") machines.push_back(file.path().string());
  std::ranges::sort(machines);
  ASSERT_GE(machines.size(), 24U);
  for (const auto& machine : machines)
    for (const auto* collective : {"all_gather", "all_reduce", "all_to_all"}) {
      const auto given = point_of_words(direct_on(machine, collective));
      const auto topology = build_point_topology(given).value();
      if (topology.npus() > (support::long_run() ? 1024U : 128U)) continue;  // larger rows have no whole search
      const auto made =
          Collective::make({given.collective().kind, topology.npus(), {}, given.chunks, given.collective().size, 0});
      const BoundProblem problem({topology, made.value(), given.occupancy}, true, false);
      SimTime best;
      for (const auto& method : bound_methods())
        if (method.certify == nullptr)
          best = std::max(best, method.compute(problem).value_or(SimTime()));
        else if (const auto found = method.certify(problem, method.full_work))
          best = std::max(best, found->time);
      EXPECT_GE(row_of(given).bound_ps, best.count()) << machine << ' ' << collective;
      EXPECT_GT(best.count(), 0);
    }
}

TEST(BoundsInRows, AreTheBandwidthOfASlowDimension) {
  // 180 GB/s to the first switch, 50 GB/s to the second, per NPU. 56 of 64 chunks leave an NPU's own switch over its
  // link of 50 GB/s, and each takes 1 GB / 64 / 50 GB/s = 312.5 us. The last one takes as long again to its NPU.
  auto words = direct_on("SW(8)_SW(8)", "all_to_all");
  words.emplace_back("bandwidth", "180GB/s, 50GB/s");
  words.emplace_back("alpha", "0us");
  const auto row = row_of(point_of_words(words));
  EXPECT_EQ(row.bound_ps, 57 * std::int64_t{312'500'000});
}

TEST(BoundsInRows, AreLargerAfterAFullSearch) {
  // No natural cut is the best around three lost links of a torus: weights are found round by round.
  auto words = direct_on("torus(4,4,4)", "all_to_all");
  words.emplace_back("bandwidth", "50GB/s");
  words.emplace_back("alpha", "0us");
  words.emplace_back("without", "[[0, 1], [1, 2], [5, 6]]");
  const auto quick = row_of(point_of_words(words));
  const auto full = row_of(point_of_words(with(words, "bounds", "full")));
  EXPECT_EQ(full.bound_name, "flow");
  EXPECT_GT(full.bound_ps, quick.bound_ps);
  EXPECT_LE(full.bound_ps, full.collective_time_ps);
  EXPECT_EQ(full.collective_time_ps, quick.collective_time_ps);
  EXPECT_EQ(quick.bounds_left_out, "flow");
  EXPECT_EQ(full.bounds_left_out, "");
  EXPECT_EQ(point_of_words(with(words, "bounds", "quick")).canonical, point_of_words(words).canonical);
}

TEST(BoundsInRows, AreTheSameForEverySimulationEngine) {
  // 192 NPUs in fast groups of 32 and slow rings of 6: 2 * 5 crossings of each of 192 chunks over the 384 links of the
  // rings, so 5 chunks of 5,208,334 B at 0.5 GB/s on each. The fast groups are boxes, which need no search: to visit
  // all ways takes more than the 2^16 visits that a quick search may use here. All 192 chunks enter a box over 64
  // links, three on each, after two hops from the farthest box: as long, and two alphas more. In 16 times as many
  // chunks, of 325,521 B, hops are short, and 80 chunks on each link take longer.
  struct Case {
    const char* topology;
    const char* chunks;
    const char* bound_name;
    std::int64_t bound_ps;
  };
  std::vector<Case> cases{{"FC(32)_RI(6)", "1", "entry", 5 * 10'416'668'000 + 3 * 500'000},
                          {"FC(32)_RI(6)", "16", "boxes", 80 * std::int64_t{651'042'000} + 500'000}};
  // A torus of 1,296 NPUs, where the engines would search within different limits if these counted one NPU's sends for
  // all in the engine `orbit` alone: 2 * 35 crossings over 2,592 links, so 35 chunks of 771,605 B. A fast ring is 18
  // slow hops from the farthest one: 18 chunks on each link that enters it, after 17 hops.
  if (support::long_run())
    cases.push_back({"torus(36,36)", "1", "entry", 35 * std::int64_t{1'543'210'000} + 9'000'000});
  for (const auto& [topology, chunks, bound_name, bound_ps] : cases)
    for (const auto* engine : {"auto", "window", "orbit"}) {
      auto words = direct_on(topology, "all_reduce");
      words.emplace_back("chunks", chunks);
      words.emplace_back("bandwidth", "50GB/s, 0.5GB/s");
      words.emplace_back("alpha", "500ns");
      words.emplace_back("simulation_engine", engine);
      const auto row = row_of(point_of_words(words));
      EXPECT_EQ(row.bound_name, bound_name) << topology << ' ' << engine;
      EXPECT_EQ(row.bound_ps, bound_ps) << topology << ' ' << engine;
    }
}

TEST(BoundsInRows, AreTheSameWhateverWasEvaluatedBefore) {
  std::vector<Words> all;
  for (const auto* size : {"1MB", "1GB"})
    for (const auto* chunks : {"1", "3"})
      for (const auto* collective : {"all_gather", "all_reduce", "all_to_all"}) {
        auto words = with(direct_on(kTwoChassis, collective), "size", size);
        words.emplace_back("chunks", chunks);
        all.push_back(std::move(words));
      }
  // The same kind and size, but other matrices and conditions.
  for (const auto* matrix : {"0,1,0; 0,0,1; 1,0,0", "0,1,0; 0,0,0; 0,9,0"})
    all.push_back({{"topology", "LI(3)"},
                   {"alpha", "0.5us"},
                   {"bandwidth", "50GB/s"},
                   {"collective", "all_to_allv"},
                   {"algorithm", "direct"},
                   {"size", "1MB"},
                   {"matrix", matrix}});
  for (const auto* conditions : {"0 -> 1,2 4MB", "0 -> 1", "2 -> 0 1KB; 1 -> 2 1KB"})
    all.push_back({{"topology", "LI(3)"},
                   {"alpha", "0.5us"},
                   {"bandwidth", "50GB/s"},
                   {"collective", "conditions"},
                   {"algorithm", "pccl"},
                   {"size", "1MB"},
                   {"conditions", conditions}});
  Cache forward;
  Cache backward;
  std::vector<std::int64_t> first;
  for (const auto& words : all) first.push_back(evaluate(point_of_words(words), forward, {}).row.bound_ps);
  for (std::size_t i = all.size(); i-- > 0;) {
    EXPECT_EQ(evaluate(point_of_words(all[i]), backward, {}).row.bound_ps, first[i]) << i;
    Cache fresh;
    EXPECT_EQ(evaluate(point_of_words(all[i]), fresh, {}).row.bound_ps, first[i]) << i;
  }
}

}  // namespace
}  // namespace tenex
