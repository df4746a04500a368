// NPUs that start late: schedules of `trees` around them, for any network and any delays, and rows by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "evaluate/points.hpp"
#include "support/topologies.hpp"
#include "tenex/base/random.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/schedule/verifier/verifier.hpp"
#include "tenex/simulation/simulator.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {
namespace {

using support::point;
using support::row_of;
using support::Words;
using ::testing::HasSubstr;

/// Every send, one by one, against the definition: none leaves a late NPU before its start.
bool all_wait(const Topology& topology, const Schedule& schedule, const std::vector<StartDelay>& delays) {
  SendBuffer buffer;
  for (std::size_t segment = 0; segment < schedule.segments(); ++segment) {
    schedule.read(segment, buffer);
    for (std::size_t i = 0; i < buffer.batch.size(); ++i)
      for (const auto& [npu, time] : delays)
        if (topology.source(buffer.batch.link[i]) == vertex_of(npu) && buffer.batch.start_of(i) < time) return false;
  }
  return true;
}

std::vector<StartDelay> draw_delays(Random& random, std::size_t npus) {
  std::vector<StartDelay> delays;
  for (std::size_t npu = 0; npu < npus; ++npu)
    if (random.below(3) == 0) delays.push_back({NpuId::at(npu), nanoseconds(random.below(300'000))});
  return delays;
}

RC_GTEST_PROP(LateNpus, AreWaitedForOnAnyNetwork, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  Random random(seed, 0x6c617465);
  const Topology topology = support::random_connected_topology(seed, 12, random.below(2) == 0);
  CollectiveRequest request;
  const auto& kinds = find_synthesizer("trees")->delays;
  request.kind = kinds[random.below(static_cast<std::uint32_t>(kinds.size()))];
  request.npus = topology.npus();
  request.chunks = 1 + random.below(3);
  request.size = bytes(100'000 + random.below(5'000'000));
  request.root = random.below(2);
  const Collective collective = Collective::make(request).value();
  const Instance instance{topology, collective, random.below(2) == 0 ? Occupancy::serialization : Occupancy::transfer};
  SynthesisProblem problem{instance};
  problem.start_delays = draw_delays(random, topology.npus());
  const auto made = find_synthesizer("trees")->synthesize(problem);
  RC_ASSERT(made.ok());

  RC_ASSERT(all_wait(topology, made->schedule, problem.start_delays));
  VerifyOptions checks;
  checks.start_delays = problem.start_delays;
  const Verdict verdict = verify(instance, made->schedule, checks);
  for (const Finding& finding : verdict.findings) RC_LOG() << finding.message << '\n';
  RC_ASSERT(verdict.valid());
  RC_ASSERT(verdict.collective_time == made->time);
  SimulationOptions options;
  options.occupancy = instance.occupancy;
  const auto replayed = replay(topology, collective, made->schedule, Replay::timed, options);
  RC_ASSERT(replayed.ok());
  RC_ASSERT(replayed->finish == made->time);
  const Bound bound = best_cheap_bound({instance, true, true, problem.start_delays});
  RC_LOG() << bound.name << " says " << bound.time.count() << " ps, the schedule takes " << made->time.count() << '\n';
  RC_ASSERT(made->time >= bound.time);
}

// A line of 3, chunks of 1 KB that take 1 us. NPU 1 starts at 10 us. By then it has all 3 partial sums of both others,
// as the root of all chunks; then 3 results go each way: 13 us, which is the bound, as NPU 0 needs 3 results over one
// link after NPU 1 has started.
TEST(LateNpus, AreTheRootsOfAllChunks) {
  const Words words{{"topology", "LI(3)"}, {"collective", "all_reduce"},       {"algorithm", "trees"},
                    {"size", "3KB"},       {"stragglers", "npu 1 delay 10us"}, {"alpha", "0us"},
                    {"bandwidth", "1GB/s"}};
  const auto row = row_of(point(words));
  EXPECT_EQ(row.status, PointStatus::ok) << row.reason;
  EXPECT_EQ(row.verified, Verified::yes);
  EXPECT_EQ(row.collective_time_ps, 13'000'000);
  EXPECT_EQ(row.bound_ps, 13'000'000);
  EXPECT_EQ(row.bound_name, "late_start");
}

// A star of 4 NPUs and a switch that only stores and forwards, chunks of 1 MB that take 20 us on a link, and NPU 2
// starts at 10 ms. All 64 results must leave it over its one link: 1.28 ms. If it is a leaf, it sends each chunk once,
// and the others do the rest at the same time: a quarter more is enough.
TEST(LateNpus, SendEachChunkOnceOverASwitch) {
  const Words words{{"topology", "SW(4)"},
                    {"collective", "all_reduce"},
                    {"algorithm", "trees"},
                    {"size", "64MB"},
                    {"stragglers", "npu 2 delay 10ms"},
                    {"alpha", "0us"},
                    {"bandwidth", "50GB/s"},
                    {"chunks", "16"}};
  const auto row = row_of(point(words));
  EXPECT_EQ(row.status, PointStatus::ok) << row.reason;
  EXPECT_GE(row.bound_ps, 11'280'000'000);  // 64 results of 20 us leave NPU 2
  EXPECT_LE(row.collective_time_ps, 11'600'000'000);
}

TEST(LateNpus, AreNoChoiceOfEnginesWithFixedTimes) {
  const Words words{{"topology", "mesh(3,3)"}, {"collective", "all_reduce"},      {"algorithm", "trees"},
                    {"size", "9KB"},           {"stragglers", "npu 1 delay 1us"}, {"engine", "combs"}};
  EXPECT_THAT(row_of(point(words)).reason, HasSubstr("late NPUs"));
}

// Synthesizers whose schedules have fixed times are not tried.
TEST(LateNpus, LeaveTheBestAlgorithmAChoice) {
  const auto row = row_of(point({{"topology", "RI(4)"},
                                 {"collective", "all_reduce"},
                                 {"algorithm", "best"},
                                 {"size", "64KB"},
                                 {"stragglers", "npu 1 delay 50us"}}));
  EXPECT_EQ(row.status, PointStatus::ok) << row.reason;
  EXPECT_EQ(row.verified, Verified::yes);
  EXPECT_GE(row.collective_time_ps, row.bound_ps);
}

}  // namespace
}  // namespace tenex
