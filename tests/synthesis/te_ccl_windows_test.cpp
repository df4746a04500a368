// te_ccl where bandwidth varies with time: optima by hand, by time-dependent shortest paths and by exhaustive search.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "support/topologies.hpp"
#include "support/verdicts.hpp"
#include "synthesis/hop_steps.hpp"
#include "synthesis/synthesis_support.hpp"
#include "synthesis/te_ccl/epochs.hpp"
#include "tenex/topology/slow_windows.hpp"

namespace tenex {
namespace {

using support::kBusy;
using support::kMegabyte;
using support::random_graph;
using te_ccl::Rounding;
using ::testing::HasSubstr;

constexpr std::int64_t kNodes = 2000;

SlowWindow window(SimTime from, SimTime until, std::int64_t thousandths) { return {from, until, thousandths}; }

/// Synthesizes, and expects a valid schedule of the stated time that is not below what is proven.
Synthesis te_ccl_in_windows(const Instance& instance, Formulation formulation = Formulation::automatic) {
  SynthesisProblem problem{instance};
  problem.solver.formulation = formulation;
  problem.solver.nodes = kNodes;
  const Synthesis made = find_synthesizer("te_ccl")->synthesize(problem).value();
  support::expect_valid(instance, made.schedule, made.time);
  EXPECT_TRUE(made.solver.has_value());
  EXPECT_LE(made.solver->bound, made.time);
  return made;
}

std::string window_refusal(const SynthesisProblem& problem) {
  const auto made = find_synthesizer("te_ccl")->synthesize(problem);
  return made ? "" : to_string(made.errors());
}

// Each link of a line takes 20 us for a chunk. A Scatter of four chunks from NPU 0 to NPU 1, at half the speed from 20
// us to 60 us: one chunk by 20 us, one more by 60, and two by 100. Outside windows it takes 80 us, so only the model
// proves it.
TEST(TeCclWindows, AScatterWaitsForTheEndOfAWindow) {
  const Topology line = support::line(2, SimTime::zero());
  const Topology varied = with_slow_windows(line, {{VertexId(0), VertexId(1), window(kBusy, kBusy * 3, 2000)}}).value();
  const Collective scatter = support::collective(CollectiveKind::scatter, 2, kMegabyte * 8, 4);
  EXPECT_EQ(te_ccl_in_windows({line, scatter}).time, kBusy * 4);
  const auto made = te_ccl_in_windows({varied, scatter});
  EXPECT_EQ(made.time, kBusy * 5);
  EXPECT_TRUE(made.solver->optimal);
}

// A Broadcast of two chunks on a ring of three goes 0->1, 0->2 and on from there, 40 us. The link 0->1 at a quarter of
// its speed from 20 us on: the first hop is over by then, and NPU 1 gets the second chunk the other way round. From 0
// on, its first hop takes 80 us; NPU 2 gets both chunks at 40 us and has sent both on at 60 us.
TEST(TeCclWindows, ABroadcastGoesAroundThem) {
  const Topology ring = support::ring(3, SimTime::zero());
  const Collective broadcast = support::collective(CollectiveKind::broadcast, 3, kMegabyte * 2, 2);
  const auto time_from = [&](SimTime from) {
    const Topology varied =
        with_slow_windows(ring, {{VertexId(0), VertexId(1), window(from, kBusy * 50, 4000)}}).value();
    const auto made = te_ccl_in_windows({varied, broadcast});
    EXPECT_TRUE(made.solver->optimal);
    return made.time;
  };
  EXPECT_EQ(time_from(kBusy), kBusy * 2);
  EXPECT_EQ(time_from(SimTime::zero()), kBusy * 3);
}

// Epochs of 20 us on a link that is twice as slow from 30 us to 50 us. A send at 0 takes 20 us. One at 20 us takes 10
// us, and then 20 for the rest: rounded up it is busy for two epochs, rounded down for one (30 us). One at 40 us takes
// 10 us for a quarter of the chunk in the window's end and 15 more: two epochs up, one down. From 60 us on it is a hop.
TEST(TeCclWindows, AreRoundedToEpochs) {
  const Topology line = support::line(2, SimTime::zero());
  const Topology varied =
      with_slow_windows(line, {{VertexId(0), VertexId(1), window(microseconds(30), microseconds(50), 2000)}}).value();
  const Collective gather = support::of_megabytes(CollectiveKind::all_gather, 2);
  const Instance instance{varied, gather};
  const auto link = varied.out_links(VertexId(0))[0].index();
  const auto up = te_ccl::epoch_grid(instance, kBusy, Rounding::up);
  const auto down = te_ccl::epoch_grid(instance, kBusy, Rounding::down);
  EXPECT_FALSE(up.exact);
  const std::vector<int> spans_up{1, 2, 2, 1, 1};
  for (int epoch = 0; epoch < 5; ++epoch) {
    EXPECT_EQ(up.at(link, epoch).span, spans_up[static_cast<std::size_t>(epoch)]) << epoch;
    EXPECT_EQ(up.at(link, epoch).latency, spans_up[static_cast<std::size_t>(epoch)]) << epoch;
    EXPECT_EQ(down.at(link, epoch).span, 1) << epoch;
    EXPECT_EQ(down.at(link, epoch).latency, 1) << epoch;
    EXPECT_EQ(up.at(1 - link, epoch).span, 1) << epoch;
  }
  // Epochs of 60 us: three sends outside. In epoch 0 they end at 20, 50 - 10 + 10 = 50 us - a third one at 70 us, which
  // is too late for plans, while for a bound it starts in the epoch.
  EXPECT_EQ(te_ccl::epoch_grid(instance, kBusy * 3, Rounding::up).at(link, 0).most, 2);
  EXPECT_EQ(te_ccl::epoch_grid(instance, kBusy * 3, Rounding::down).at(link, 0).most, 3);
  EXPECT_EQ(te_ccl::epoch_grid(instance, kBusy * 3, Rounding::up).at(link, 1).most, 3);
}

/// A network whose links have random windows within the first `until`.
Topology with_random_windows(const Topology& topology, std::uint64_t seed, SimTime until, SimTime unit) {
  Random random(seed, 0x77696e32);
  std::vector<NamedWindow> windows;
  const auto steps = static_cast<std::uint32_t>(until / unit);
  for (std::size_t l = 0; l < topology.links(); ++l) {
    if (random.below(2) == 0) continue;
    const std::int64_t from = random.below(steps);
    const std::int64_t length = 1 + random.below(steps);
    windows.push_back({topology.source(LinkId::at(l)), topology.target(LinkId::at(l)),
                       window(unit * from, unit * (from + length), 1000 * (2 + random.below(3)))});
  }
  return with_slow_windows(topology, windows).value();
}

/// The last of the earliest arrivals of one chunk from NPU 0, by time-dependent shortest paths: the optimum of a
/// Broadcast of one chunk, which shares no link with another.
SimTime earliest_arrivals(const Instance& instance) {
  const StartedHops hops(instance.topology, instance.collective.chunk_sizes(), instance.occupancy);
  std::vector<SimTime> at(instance.topology.npus(), SimTime::max());
  at[0] = SimTime::zero();
  for (std::size_t round = 0; round < instance.topology.npus(); ++round)
    for (std::size_t l = 0; l < instance.topology.links(); ++l) {
      const auto link = LinkId::at(l);
      const SimTime from = at[instance.topology.source(link).index()];
      if (from == SimTime::max()) continue;
      SimTime& there = at[instance.topology.target(link).index()];
      there = std::min(there, from + hops.at(instance.topology.class_of(link), 0, from).latency);
    }
  return std::ranges::max(at);
}

TEST(TeCclWindowsProperty, ABroadcastOfOneChunkTakesShortestPaths) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Topology graph = random_graph(5, static_cast<std::uint32_t>(seed % 6), seed);
    const Topology varied = with_random_windows(graph, seed, kBusy * 4, microseconds(7));
    const Collective broadcast = support::of_megabytes(CollectiveKind::broadcast, 5);
    for (const auto occupancy : {Occupancy::serialization, Occupancy::transfer}) {
      const Instance instance{varied, broadcast, occupancy};
      const auto made = te_ccl_in_windows(instance);
      const SimTime best = earliest_arrivals(instance);
      EXPECT_GE(made.time, best) << seed;
      EXPECT_LE(made.solver->bound, best) << seed;
      EXPECT_TRUE(!made.solver->optimal || made.time == best) << seed;
    }
  }
}

/// The optimum of a copying collective by exhaustive search over the orders of sends: each as soon as its chunk is
/// there and its link is free. Later starts never end sooner, so some best schedule is of this kind.
class Exhaustive {
 public:
  explicit Exhaustive(const Instance& instance)
      : instance_(instance), hops_(instance.topology, instance.collective.chunk_sizes(), instance.occupancy) {}

  /// The optimum, or `limit` where it is not less.
  SimTime best(SimTime limit) {
    best_ = limit;
    const auto npus = instance_.topology.npus();
    held_.assign(instance_.collective.chunks() * npus, SimTime::max());
    for (std::size_t chunk = 0; chunk < instance_.collective.chunks(); ++chunk)
      for (std::size_t npu = 0; npu < npus; ++npu)
        if (instance_.collective.holds_at_start(NpuId::at(npu), ChunkId::at(chunk)))
          held_[chunk * npus + npu] = SimTime::zero();
    free_.assign(instance_.topology.links(), SimTime::zero());
    search(SimTime::zero(), SimTime::zero(), 0);
    return best_;
  }

 private:
  [[nodiscard]] bool done() const {
    const auto npus = instance_.topology.npus();
    for (std::size_t chunk = 0; chunk < instance_.collective.chunks(); ++chunk)
      for (std::size_t npu = 0; npu < npus; ++npu)
        if (instance_.collective.must_hold(NpuId::at(npu), ChunkId::at(chunk)) &&
            held_[chunk * npus + npu] == SimTime::max())
          return false;
    return true;
  }

  /// Sends in the order of their starts, none before `from`; of those that start there, none before send `first` of all
  /// pairs of chunk and link.
  void search(SimTime from, SimTime last, std::size_t first) {
    if (last >= best_) return;
    if (done()) {
      best_ = last;
      return;
    }
    const auto npus = instance_.topology.npus();
    for (std::size_t chunk = 0; chunk < instance_.collective.chunks(); ++chunk)
      for (std::size_t l = 0; l < instance_.topology.links(); ++l) {
        const auto link = LinkId::at(l);
        const SimTime held = held_[chunk * npus + instance_.topology.source(link).index()];
        SimTime& there = held_[chunk * npus + instance_.topology.target(link).index()];
        if (held == SimTime::max() || there != SimTime::max()) continue;
        const SimTime start = std::max({held, free_[l], from});
        const std::size_t pair = chunk * instance_.topology.links() + l;
        const HopTime hop = hops_.at(instance_.topology.class_of(link), 0, start);
        if ((start == from && pair < first) || start + hop.latency >= best_) continue;
        const SimTime before = std::exchange(free_[l], start + hop.busy);
        there = start + hop.latency;
        search(start, std::max(last, there), pair + 1);
        there = SimTime::max();
        free_[l] = before;
      }
  }

  const Instance& instance_;
  StartedHops hops_;
  std::vector<SimTime> held_;  ///< by chunk and NPU
  std::vector<SimTime> free_;  ///< by link
  SimTime best_;
};

// Three NPUs, windows at any microsecond: what is proven is never above the optimum, and no schedule is below it.
TEST(TeCclWindowsProperty, ProofsHoldAgainstExhaustiveSearch) {
  int optimal = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const Topology graph = random_graph(3, static_cast<std::uint32_t>(seed % 5), seed);
    const Topology varied = with_random_windows(graph, seed, kBusy * 4, microseconds(seed % 2 == 0 ? 20 : 3));
    for (const auto kind : {CollectiveKind::all_gather, CollectiveKind::scatter, CollectiveKind::gather}) {
      const Collective collective = support::of_megabytes(kind, 3);
      const Instance instance{varied, collective};
      const auto first = te_ccl_in_windows(instance);
      const SimTime best = Exhaustive(instance).best(first.time + picoseconds(1));
      for (const auto formulation : {Formulation::automatic, Formulation::milp}) {
        const auto made = formulation == Formulation::automatic ? first : te_ccl_in_windows(instance, formulation);
        EXPECT_GE(made.time, best) << seed << ' ' << to_string(kind);
        EXPECT_LE(made.solver->bound, best) << seed << ' ' << to_string(kind);
        EXPECT_TRUE(!made.solver->optimal || made.time == best) << seed << ' ' << to_string(kind);
        if (made.solver->optimal) ++optimal;
      }
    }
  }
  EXPECT_GE(optimal, 90);  // half of all
}

TEST(TeCclWindows, RefuseSumsRoundsAndLimitedBuffers) {
  const std::vector<NamedWindow> windows{{VertexId(0), VertexId(1), window(kBusy, kBusy * 3, 2000)}};
  const Topology varied = with_slow_windows(support::ring(3), windows).value();
  const Collective sums = support::of_megabytes(CollectiveKind::all_reduce, 3);
  EXPECT_THAT(window_refusal({{varied, sums}}), HasSubstr("te_ccl makes no sums where bandwidth varies"));
  const Collective gather = support::of_megabytes(CollectiveKind::all_gather, 3);
  SynthesisProblem rounds{{varied, gather}};
  rounds.solver.formulation = Formulation::a_star;
  EXPECT_THAT(window_refusal(rounds), HasSubstr("the formulation a_star takes no bandwidth that varies"));
  SwitchProperties one;
  one.buffer = 1;
  const Topology star = support::switched(3).with_switches(one);
  const Topology limited = with_slow_windows(star, {{VertexId(0), std::nullopt, windows[0].window}}).value();
  EXPECT_THAT(window_refusal({{limited, gather}}), HasSubstr("limited buffers of switches where bandwidth varies"));
}

}  // namespace
}  // namespace tenex
