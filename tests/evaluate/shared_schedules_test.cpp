// Schedules shared by points that differ in pace alone: found if that is proven, otherwise made, and always equal to
// schedules made for the point.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "evaluate/points.hpp"
#include "evaluate/synthesized_networks.hpp"
#include "support/topologies.hpp"
#include "tenex/base/random.hpp"
#include "tenex/execution/shared_schedules.hpp"
#include "training/collective_models.hpp"

namespace tenex {
namespace {

using support::expect_same_result;
using support::point;
using support::row_of;
using support::Words;

DesignPoint sized(const Words& words, std::int64_t size) {
  auto all = words;
  all.emplace_back("size", std::to_string(size) + "B");
  return point(all);
}

EvaluateOptions everything() {
  EvaluateOptions options;
  options.keep_schedule = options.link_loads = options.group_times = options.arrivals = true;
  options.utilization_bins = 7;
  return options;
}

void expect_same_output(const EvaluationOutput& a, const EvaluationOutput& b) {
  expect_same_result(a.row, b.row);
  EXPECT_EQ(list_sends(a.schedule), list_sends(b.schedule));
  EXPECT_EQ(a.row.group_times_ps, b.row.group_times_ps);
  EXPECT_EQ(a.row.utilization_bin_ps, b.row.utilization_bin_ps);
  EXPECT_EQ(a.row.utilization_ps, b.row.utilization_ps);
  ASSERT_EQ(a.row.link_loads.size(), b.row.link_loads.size());
  for (std::size_t link = 0; link < a.row.link_loads.size(); ++link) {
    EXPECT_EQ(a.row.link_loads[link].bytes, b.row.link_loads[link].bytes);
    EXPECT_EQ(a.row.link_loads[link].busy, b.row.link_loads[link].busy);
  }
  ASSERT_EQ(a.row.arrivals.size(), b.row.arrivals.size());
  for (std::size_t i = 0; i < a.row.arrivals.size(); ++i) EXPECT_EQ(a.row.arrivals[i].time, b.row.arrivals[i].time);
}

/// Evaluates the sizes one after another with one cache, and each alone; returns the counts of the cache.
CacheCounts sweep(const Words& words, const std::vector<std::int64_t>& sizes,
                  const EvaluateOptions& options = everything(), std::size_t cache_bytes = std::size_t{64} << 20) {
  Cache shared(cache_bytes);
  for (const auto size : sizes) {
    const auto given = sized(words, size);
    SCOPED_TRACE(given.canonical);
    Cache fresh;
    const auto alone = evaluate(given, fresh, options);
    EXPECT_EQ(alone.row.status, PointStatus::ok) << alone.row.reason;
    EXPECT_EQ(alone.row.verified, Verified::yes);
    expect_same_output(evaluate(given, shared, options), alone);
  }
  return shared.counts();
}

TEST(SharedSchedules, SynthesizeASweepOfSizesOnce) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t i = 0; i < 24; ++i) sizes.push_back(9'000 + 12'345 * i * i);
  const auto counts = sweep({{"topology", "mesh(3,3)"}, {"algorithm", "tacos"}}, sizes);
  EXPECT_EQ(counts.synthesized, 1U);
  EXPECT_EQ(counts.shared, 23U);
}

TEST(SharedSchedules, AreThoseOfSynthesizersWhoseEntrySaysSo) {
  const auto ring = support::ring(4, SimTime::zero());
  const auto small = support::collective(CollectiveKind::all_gather, 4, bytes(4'000));
  const auto large = support::collective(CollectiveKind::all_gather, 4, bytes(8'000));
  for (const bool scales : {true, false}) {
    auto synthesizer = *find_synthesizer("tacos");
    synthesizer.scales_with_pace = scales;
    SharedSchedules shared(std::size_t{1} << 20);
    for (const auto* collective : {&small, &large})
      ASSERT_TRUE(shared.synthesize(synthesizer, {ring, *collective}, "ring of 4").ok());
    EXPECT_EQ(shared.counts().synthesized, scales ? 1U : 2U);
    EXPECT_EQ(shared.counts().shared, scales ? 1U : 0U);
  }
}

TEST(SharedSchedules, AreThoseThatThePointWouldHaveMade) {
  // All kinds of topologies with equal links, under the two settings in which a send keeps its link until it arrives.
  const std::vector<Words> topologies = {{{"topology", "RI(5)"}},
                                         {{"topology", "FC(4)"}},
                                         {{"topology", "LI(4)"}},
                                         {{"topology", "mesh(3,4)"}},
                                         {{"topology", "torus(3,4)"}},
                                         {{"topology", "hypercube(3)"}},
                                         {{"topology", "grid(2,3,2)"}},
                                         {{"topology", "RI(4)_FC(3)"}},
                                         {{"topology", "SW(6)"}, {"unwind", "2"}},
                                         {{"topology", "RI(4)"}, {"groups", "0-1; 2-3"}},
                                         {{"topology", "LI(5)"}, {"groups", "0,4"}},
                                         {{"topology", "mesh(3,3)"}, {"without", "[[0,1]]"}}};
  const std::vector<Words> paces = {{{"occupancy", "transfer"}, {"alpha", "500ns"}, {"bandwidth", "50GiB/s"}},
                                    {{"occupancy", "transfer"}, {"alpha", "7ns"}, {"bandwidth", "3GB/s"}},
                                    {{"occupancy", "serialization"}, {"alpha", "0ns"}, {"bandwidth", "7GB/s"}}};
  const std::vector<Words> collectives = {
      {{"collective", "all_gather"}}, {{"collective", "reduce_scatter"}},
      {{"collective", "all_reduce"}}, {{"collective", "all_reduce"}, {"overlap", "false"}},
      {{"collective", "broadcast"}},  {{"collective", "reduce"}}};
  Random random(2026, 11);
  for (const auto& topology : topologies)
    for (const auto& collective : collectives) {
      Words words = topology;
      words.insert(words.end(), collective.begin(), collective.end());
      const auto& pace = paces[random.below(static_cast<std::uint32_t>(paces.size()))];
      words.insert(words.end(), pace.begin(), pace.end());
      words.emplace_back("algorithm", random.below(3) == 0 ? "tacos_reference" : "tacos");
      words.emplace_back("chunks", std::to_string(1 + random.below(3)));
      words.emplace_back("attempts", std::to_string(1 + random.below(4)));
      std::vector<std::int64_t> sizes;
      for (int i = 0; i < 3; ++i) sizes.push_back(36 + random.below(1U << (8 * (i + 1))));
      const auto counts = sweep(words, sizes);
      EXPECT_EQ(counts.synthesized, 1U);
      EXPECT_EQ(counts.shared, 2U);
    }
}

TEST(SharedSchedules, AreNotWhereTheStorageIsToBeThePointsOwn) {
  auto options = everything();
  const Words words = {{"topology", "mesh(3,3)"}, {"algorithm", "tacos"}};
  Cache shared;
  const auto first = evaluate(sized(words, 9'000), shared, options);
  EXPECT_EQ(evaluate(sized(words, 18'000), shared, options).schedule.storage_kind(), "scaled");
  options.own_storage = true;
  const auto own = evaluate(sized(words, 18'000), shared, options);
  EXPECT_EQ(own.schedule.storage_kind(), first.schedule.storage_kind());
  Cache fresh;
  expect_same_output(own, evaluate(sized(words, 18'000), fresh, options));
}

TEST(SharedSchedules, AreThoseOfEveryEngine) {
  const Words transfer{{"occupancy", "transfer"}, {"alpha", "500ns"}};
  for (const std::string engine : {"event_driven", "exact", "coarse", "symmetric"})
    for (const std::string collective : {"all_gather", "all_reduce"}) {
      auto words = transfer;
      words.emplace_back("topology", engine == "symmetric" ? "torus(5,6)" : "mesh(5,7)");
      words.insert(words.end(), {{"algorithm", "tacos"}, {"engine", engine}, {"collective", collective}});
      const auto counts = sweep(words, {100'003, 12'345, 7'000'001});
      EXPECT_EQ(counts.synthesized, 1U) << engine;
    }
}

TEST(SharedSchedules, AreThoseOfLargeMeshes) {
  // 480 NPUs, 229,920 deliveries: coarse, then exact.
  EvaluateOptions options;
  options.keep_schedule = true;
  options.threads = 2;
  const auto counts = sweep({{"topology", "mesh(20,24)"},
                             {"algorithm", "tacos"},
                             {"collective", "all_reduce"},
                             {"occupancy", "transfer"},
                             {"alpha", "500ns"}},
                            {1'000'000, 123'456'789}, options);
  EXPECT_EQ(counts.synthesized, 1U);
  EXPECT_EQ(counts.shared, 1U);
}

TEST(SharedSchedules, ServeOtherLatenciesAndBandwidthsToo) {
  Cache cache;
  const Words words{{"topology", "torus(3,3)"}, {"algorithm", "tacos"}, {"occupancy", "transfer"}, {"size", "9000B"}};
  for (const auto& [alpha, bandwidth] : Words{{"1us", "1GB/s"}, {"3ns", "1GB/s"}, {"1us", "7GB/s"}}) {
    auto all = words;
    all.insert(all.end(), {{"alpha", alpha}, {"bandwidth", bandwidth}});
    expect_same_result(evaluate(point(all), cache, {}).row, row_of(point(all)));
  }
  EXPECT_EQ(cache.counts().synthesized, 1U);
  EXPECT_EQ(cache.counts().shared, 2U);
}

TEST(SharedSchedules, AreNotThoseOfUnequalLinks) {
  const auto counts = sweep({{"topology", "RI(3)_FC(3)"}, {"bandwidth", "1GB/s, 3GB/s"}, {"algorithm", "tacos"}},
                            {9'000, 18'000, 10'007});
  EXPECT_EQ(counts.synthesized, 3U);
  EXPECT_EQ(counts.shared, 0U);
}

TEST(SharedSchedules, AreNotThoseOfHopsThatOverlap) {
  // Under `serialization` a link is free before its send has arrived, and that difference in hops varies with the size.
  const auto counts =
      sweep({{"topology", "mesh(3,3)"}, {"alpha", "20ns"}, {"algorithm", "tacos"}}, {9'000, 900, 90'001});
  EXPECT_EQ(counts.synthesized, 3U);
  EXPECT_EQ(counts.shared, 0U);
}

TEST(SharedSchedules, AreNotThoseOfChunksOfUnequalSize) {
  // Groups of 2 and 3 split the same size into chunks of 3000 and 2000 B.
  const auto counts = sweep({{"topology", "LI(5)"}, {"groups", "0-1; 2-4"}, {"algorithm", "tacos"}}, {6'000, 12'000});
  EXPECT_EQ(counts.synthesized, 2U);
  EXPECT_EQ(counts.shared, 0U);
}

TEST(SharedSchedules, DependOnAllThatASynthesisReads) {
  const Words words{{"topology", "mesh(3,4)"}, {"occupancy", "transfer"}, {"alpha", "1us"}};
  const std::vector<Words> others = {
      {{"algorithm", "tacos"}},
      {{"algorithm", "tacos_reference"}},
      {{"algorithm", "tacos"}, {"attempts", "2"}},
      {{"algorithm", "tacos"}, {"chunks", "2"}},
      {{"algorithm", "tacos"}, {"engine", "exact"}},
      {{"algorithm", "tacos"}, {"without", "[[0,1]]"}},
      {{"algorithm", "tacos"}, {"groups", "0-3; 4-7; 8-11"}},
      {{"algorithm", "tacos"}, {"collective", "reduce_scatter"}},
      {{"algorithm", "tacos"}, {"collective", "broadcast"}},
      {{"algorithm", "tacos"}, {"collective", "broadcast"}, {"root", "5"}},
  };
  Cache cache;
  for (const auto& other : others) {
    auto all = words;
    all.insert(all.end(), other.begin(), other.end());
    const auto given = sized(all, 24'000);
    expect_same_result(evaluate(given, cache, {}).row, row_of(given));
  }
  auto reseeded =
      sized({{"topology", "mesh(3,4)"}, {"occupancy", "transfer"}, {"alpha", "1us"}, {"algorithm", "tacos"}}, 24'000);
  reseeded.seed = 2;
  expect_same_result(evaluate(reseeded, cache, {}).row, row_of(reseeded));
  EXPECT_EQ(cache.counts().synthesized, others.size() + 1);
  EXPECT_EQ(cache.counts().shared, 0U);
}

TEST(SharedSchedules, ServeBothTimesOfAnAllReduce) {
  // With and without overlap, an All-Reduce is synthesized once.
  Cache cache;
  for (const std::string overlap : {"true", "false"}) {
    const auto given = sized({{"topology", "mesh(4,4)"},
                              {"algorithm", "tacos"},
                              {"chunks", "3"},
                              {"collective", "all_reduce"},
                              {"overlap", overlap}},
                             overlap == "true" ? 96'000 : 480'000);
    expect_same_result(evaluate(given, cache, {}).row, row_of(given));
  }
  EXPECT_EQ(cache.counts().synthesized, 1U);
  EXPECT_EQ(cache.counts().shared, 1U);
}

TEST(SharedSchedules, ReachTheEndOfTheRangeOfTimeAndNotBeyond) {
  // As for a point alone: 4 hops of up to 576,460 s each fit, longer ones are refused (TimeRange tests).
  const Words words{{"topology", "LI(2)"}, {"bandwidth", "1B/s"}, {"algorithm", "tacos"}};
  Cache cache;
  ASSERT_EQ(evaluate(sized(words, 2), cache, {}).row.collective_time_ps, 1'000'000'000'000);
  EXPECT_EQ(evaluate(sized(words, 1'152'920), cache, {}).row.collective_time_ps, 576'460'000'000'000'000);
  EXPECT_EQ(cache.counts().shared, 1U);
  const auto beyond = sized(words, 1'152'922);
  const auto refused = evaluate(beyond, cache, {}).row;
  EXPECT_EQ(refused.status, PointStatus::infeasible);
  expect_same_result(refused, row_of(beyond));
}

TEST(SharedSchedules, AreNoneWithoutRoomForThem) {
  const auto counts = sweep({{"topology", "mesh(3,3)"}, {"algorithm", "tacos"}}, {9'000, 18'000}, everything(), 1000);
  EXPECT_EQ(counts.synthesized, 2U);
  EXPECT_EQ(counts.shared, 0U);
}

TEST(SharedSchedules, AreNotThoseOfWhichMemoryLeftOutAPart) {
  // One byte less than both engines of a large mesh need: `exact` is not tried, and the row says so.
  const Words words{{"topology", "mesh(24,25)"}, {"algorithm", "tacos"}, {"occupancy", "transfer"}};
  EvaluateOptions options;
  options.memory_limit_bytes = estimate(sized(words, 600'000'000)).bytes - 1;
  const auto row = row_of(sized(words, 600'000'000), options);
  EXPECT_EQ(row.engine, "coarse");
  EXPECT_FALSE(row.reason.empty());
  const auto counts = sweep(words, {600'000'000, 500'000'000}, options);
  EXPECT_EQ(counts.synthesized, 2U);
  EXPECT_EQ(counts.shared, 0U);
}

TEST(SharedSchedules, AreTheSameForThreadsThatRaceForThem) {
  std::vector<DesignPoint> points;
  std::vector<Evaluation> alone;
  for (std::int64_t i = 1; i <= 24; ++i) {
    points.push_back(sized(
        {{"topology", i % 2 == 0 ? "mesh(4,4)" : "torus(3,4)"}, {"algorithm", "tacos"}, {"collective", "all_reduce"}},
        48'000 + 1'111 * i));
    alone.push_back(row_of(points.back()));
  }
  Cache cache;
  std::vector<Evaluation> rows(points.size());
  std::vector<std::thread> threads;
  for (std::size_t first = 0; first < 4; ++first)
    threads.emplace_back([&, first] {
      for (std::size_t i = first; i < points.size(); i += 4) rows[i] = evaluate(points[i], cache, {}).row;
    });
  for (auto& thread : threads) thread.join();
  for (std::size_t i = 0; i < points.size(); ++i) expect_same_result(rows[i], alone[i]);
  const auto counts = cache.counts();
  EXPECT_EQ(counts.synthesized + counts.shared, 24U);
  EXPECT_LE(counts.synthesized, 4U);  // each thread uses one topology, so at most its first point is synthesized
}

TEST(SharedSchedules, ServeTheCollectivesOfTraining) {
  support::SynthesizedNetwork given("RI(4)_RI(2)");
  const auto model = make_synthesized_time(given.network(), true).value();
  // RI(4) has 1 GB/s per link: 3 chunks of a quarter over two in-links take 2 hops of 500 or 1000 ns.
  EXPECT_EQ(model->time(support::gather(Scope::tensor, 2000), given.mapping("4,2")).value(), nanoseconds(1000));
  EXPECT_EQ(model->time(support::gather(Scope::tensor, 4000), given.mapping("4,2")).value(), nanoseconds(2000));
  EXPECT_EQ(given.cache.counts().synthesized, 1U);
  EXPECT_EQ(given.cache.counts().shared, 1U);
  EXPECT_EQ(model->effort().verified, 2);
}

}  // namespace
}  // namespace tenex
