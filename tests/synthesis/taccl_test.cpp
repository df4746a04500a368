// taccl: relaxed times of routes against brute force over all trees, orders and times by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "support/topologies.hpp"
#include "synthesis/hop_steps.hpp"
#include "synthesis/synthesis_support.hpp"
#include "synthesis/taccl/routing.hpp"

namespace tenex {
namespace {

using support::synthesize_checked;
using taccl::Routes;
using ::testing::HasSubstr;

Synthesis taccl_of(const Instance& instance, std::int64_t nodes = 2000) {
  SynthesisProblem problem{instance};
  problem.solver.nodes = nodes;
  return synthesize_checked("taccl", problem);
}

/// random_graph() with alphas and bandwidths of its own for every link, so that few routes are equally good.
Topology random_unequal_graph(std::uint32_t npus, std::uint32_t further, std::uint64_t seed) {
  const Topology even = support::random_graph(npus, further, seed);
  Random random(seed, digest64("taccl_test", 1));
  TopologyBuilder builder(npus);
  for (std::size_t i = 0; i < even.links(); ++i)
    builder.add_link({even.source(LinkId::at(i)), even.target(LinkId::at(i)), nanoseconds(random.below(1'000)),
                      bytes_per_second(1'000'000'000 * (40 + std::int64_t{random.below(20)}))});
  return std::move(builder).build().value();
}

/// All trees of a chunk: a link into each of some NPUs. They are tried without regard to sense: a tree counts if each
/// NPU on it is reached from the source, and every NPU that must have the chunk is on it.
std::vector<std::vector<LinkId>> all_trees(const Instance& instance, ChunkId chunk) {
  const Topology& topology = instance.topology;
  const std::size_t source = instance.collective.source(chunk).index();
  std::vector<std::vector<LinkId>> trees;
  std::vector<std::size_t> choice(topology.npus());  // zero: no link
  const auto options = [&](std::size_t npu) {
    return npu == source ? 1 : topology.in_links(VertexId::at(npu)).size() + 1;
  };
  for (bool more = true; more;) {
    std::vector<LinkId> tree;
    std::vector<bool> reached(topology.npus());
    reached[source] = true;
    for (std::size_t round = 0; round < topology.npus(); ++round)
      for (std::size_t npu = 0; npu < topology.npus(); ++npu) {
        if (reached[npu] || choice[npu] == 0) continue;
        const LinkId link = topology.in_links(VertexId::at(npu))[choice[npu] - 1];
        if (!reached[topology.source(link).index()]) continue;
        reached[npu] = true;
        tree.push_back(link);
      }
    bool whole = true;
    for (std::size_t npu = 0; npu < topology.npus(); ++npu) {
      if (choice[npu] != 0 && !reached[npu]) whole = false;
      if (!reached[npu] && instance.collective.must_hold(NpuId::at(npu), chunk)) whole = false;
    }
    for (const LinkId link : tree) {  // useless leaves only make times longer
      const VertexId end = topology.target(link);
      const bool passes = std::ranges::any_of(tree, [&](LinkId next) { return topology.source(next) == end; });
      if (!passes && !instance.collective.must_hold(NpuId::at(end.index()), chunk)) whole = false;
    }
    if (whole) trees.push_back(std::move(tree));
    more = false;
    for (std::size_t npu = 0; npu < topology.npus() && !more; ++npu) {
      more = ++choice[npu] < options(npu);
      if (!more) choice[npu] = 0;
    }
  }
  return trees;
}

/// The least relaxed time of all routes: a tree for chunk after chunk, as long as it may still be better.
class BruteForce {
 public:
  explicit BruteForce(const Instance& instance)
      : instance_(instance), best_(taccl::relaxed_time(instance, taccl::shortest_routes(instance))) {
    for (std::size_t c = 0; c < instance.collective.chunks(); ++c)
      trees_.push_back(all_trees(instance, ChunkId::at(c)));
    extend();
  }
  [[nodiscard]] SimTime best() const { return best_; }

 private:
  void extend() {
    if (routes_.size() == trees_.size()) {
      best_ = taccl::relaxed_time(instance_, routes_);
      return;
    }
    for (const auto& tree : trees_[routes_.size()]) {
      routes_.push_back(tree);
      if (taccl::relaxed_time(instance_, routes_) < best_) extend();
      routes_.pop_back();
    }
  }
  const Instance& instance_;
  SimTime best_;
  std::vector<std::vector<std::vector<LinkId>>> trees_;
  Routes routes_;
};

// Random graphs of up to 6 NPUs.
TEST(TacclProperty, RoutesEqualBruteForce) {
  Random random(7, 0x7461636c);
  int by_solver = 0;
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    const auto kind =
        std::vector{CollectiveKind::all_gather, CollectiveKind::broadcast, CollectiveKind::scatter}[seed % 3];
    const std::uint32_t npus = kind == CollectiveKind::all_gather ? 4 : 6;
    const Topology topology = random_unequal_graph(npus, 2 * npus, seed);
    const std::int64_t chunks = kind == CollectiveKind::broadcast ? 3 : 1;
    const Collective collective = support::collective(kind, npus, bytes(1'200'000), chunks);
    const Instance instance{topology, collective,
                            random.below(2) == 0 ? Occupancy::serialization : Occupancy::transfer};
    SolverBudget budget = SolverBudget::of(0, 0);
    const auto routing = taccl::best_routing(instance, budget);
    ASSERT_TRUE(routing.optimal) << seed;
    EXPECT_EQ(routing.time, taccl::relaxed_time(instance, routing.routes));
    const SimTime best = BruteForce(instance).best();
    EXPECT_GE(routing.time, best) << seed;
    EXPECT_LE(static_cast<double>(routing.time.count()), static_cast<double>(best.count()) * (1 + 1e-6)) << seed;
    by_solver += routing.by_solver ? 1 : 0;
  }
  EXPECT_GE(by_solver, 8);
}

// NPU 0 sends four chunks to NPUs 1, 2 and 3, and 3 is behind both 1 and 2. All links take 1 us for a chunk. Each of 1
// and 2 needs all four chunks, so the relaxed time is 4 us. Each passes two chunks on. They come first, because they
// have farther to go: then they are at 3 after 3 us, and the schedule takes 4 us, too. One that came last would take 5
// us.
TEST(Taccl, SendsFirstWhatHasFartherToGo) {
  TopologyBuilder builder(4);
  for (const auto& [from, to] : {std::pair(0U, 1U), {0U, 2U}, {1U, 3U}, {2U, 3U}})
    builder.add_link({VertexId(from), VertexId(to), SimTime::zero(), bytes_per_second(1'000'000'000'000)});
  const Topology topology = std::move(builder).build().value();
  const Collective broadcast = support::collective(CollectiveKind::broadcast, 4, bytes(4'000'000), 4);
  const Instance instance{topology, broadcast};
  SolverBudget budget = SolverBudget::of(0, 0);
  EXPECT_EQ(taccl::best_routing(instance, budget).time, nanoseconds(4'000));
  EXPECT_EQ(taccl_of(instance).time, nanoseconds(4'000));
}

TEST(TacclProperty, MakesEveryCollectiveOnRandomGraphs) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const Topology topology = random_unequal_graph(5, 4, seed);
    for (const auto kind : find_synthesizer("taccl")->collectives)
      for (const std::int64_t chunks : {1, 2})
        taccl_of({topology, support::collective(kind, 5, bytes(1'000'000 * chunks), chunks)}, 20);
  }
}

TEST(Taccl, RefusesSwitchesAndSaysWhoCannotBeReached) {
  const Topology switched = support::shape("SW(4)");
  const Collective gather = support::collective(CollectiveKind::all_gather, 4, bytes(1'000'000), 1);
  const auto refused = find_synthesizer("taccl")->synthesize({Instance{switched, gather}});
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(to_string(refused.errors()), HasSubstr("taccl sends only over direct links"));
}

}  // namespace
}  // namespace tenex
