// No bound is above the time of a valid schedule: random groups of all kinds that share NPUs, on random networks, first
// against a greedy, then against the best of all schedules of very small problems.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <unordered_set>
#include <vector>

#include "bound/any_schedule.hpp"
#include "bound/compared.hpp"
#include "bound/graphs.hpp"
#include "tenex/schedule/verifier/verifier.hpp"

namespace tenex {
namespace {

using enum CollectiveKind;
using support::compare;
using support::kAllKinds;

void expect_below_a_greedy(const Topology& topology, const Collective& collective) {
  const auto occupancy = *rc::gen::element(Occupancy::serialization, Occupancy::transfer);
  const Instance instance{topology, collective, occupancy};
  SimTime best = SimTime::max();
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const auto verdict = verify(instance, support::EarliestSends(instance, seed).schedule());
    RC_ASSERT(verdict.valid());
    best = std::min(best, verdict.collective_time);
  }
  for (const bool single_chunks : {true, false}) {
    BoundProblem problem{instance};
    problem.single_chunks = single_chunks;
    RC_ASSERT(compare(problem, best).wrong == "");
  }
}

Topology random_digraph(std::uint32_t npus) {
  return support::random_connected_topology(*rc::gen::arbitrary<std::uint64_t>(), npus, *rc::gen::arbitrary<bool>());
}

RC_GTEST_PROP(ValidSchedules, OfAnyGroupsAreNotBelowAnyBound, ()) {
  const auto topology = random_digraph(7);
  const auto npus = static_cast<std::uint32_t>(topology.npus());
  expect_below_a_greedy(topology, support::random_collective(npus, kAllKinds, {999'999, 1'000'000, 3'000'000, 70'000}));
}

RC_GTEST_PROP(ValidSchedules, OfProductsAreNotBelowAnyBound, ()) {
  const auto topology = support::random_product();
  const auto npus = static_cast<std::uint32_t>(topology.npus());
  RC_PRE(npus <= 27);
  expect_below_a_greedy(topology, support::random_collective(npus, kAllKinds, {1'000'000, 3'000'000}, 2));
}

// Switches that copy and add do what NPUs do. Through others a chunk with one destination can pass all the same.
RC_GTEST_PROP(ValidSchedules, ThroughSwitchesAreNotBelowAnyBound, ()) {
  const auto npus = *rc::gen::inRange<std::uint32_t>(2, 6);
  const bool able = *rc::gen::arbitrary<bool>();
  const auto switches = *rc::gen::inRange<std::uint32_t>(1, 4);
  const auto topology = support::random_graph(npus, switches, {.copy = able, .reduce = able});
  const std::vector<CollectiveKind> unicast{all_to_all, gather, scatter, all_to_allv, halo_exchange};
  expect_below_a_greedy(topology,
                        support::random_collective(npus, able ? kAllKinds : unicast, {1'000'000, 3'000'000, 70'000}));
}

/// The fewest steps of a copying collective with equal hops: a search over all states (who holds what), in each of
/// which every link carries any one chunk that its target lacks. Holding more never hurts, so links never idle.
class FewestSteps {
 public:
  FewestSteps(const Topology& topology, const Collective& collective)
      : topology_(topology), chunks_(static_cast<std::uint32_t>(collective.chunks())) {
    std::uint64_t wanted = 0;
    std::uint64_t start = 0;
    for (std::uint32_t c = 0; c < chunks_; ++c) {
      start |= bit(collective.source(ChunkId(c)).index(), c);
      collective.for_each_destination(ChunkId(c), [&](NpuId npu) { wanted |= bit(npu.index(), c); });
    }
    std::unordered_set<std::uint64_t> states{start};
    while (std::ranges::none_of(states, [&](std::uint64_t state) { return (state & wanted) == wanted; })) {
      std::unordered_set<std::uint64_t> next;
      for (const auto state : states) extend(state, state, 0, next);
      states = std::move(next);
      ++steps_;
    }
  }
  [[nodiscard]] int steps() const { return steps_; }

 private:
  [[nodiscard]] std::uint64_t bit(std::size_t vertex, std::uint32_t chunk) const {
    return std::uint64_t{1} << (vertex * chunks_ + chunk);
  }
  void extend(std::uint64_t before, std::uint64_t after, std::size_t link, std::unordered_set<std::uint64_t>& next) {
    if (link == topology_.links()) {
      next.insert(after);
      return;
    }
    const auto from = topology_.source(LinkId::at(link)).index();
    const auto to = topology_.target(LinkId::at(link)).index();
    bool any = false;
    for (std::uint32_t c = 0; c < chunks_; ++c) {
      if ((before & bit(from, c)) == 0 || (after & bit(to, c)) != 0) continue;
      any = true;
      extend(before, after | bit(to, c), link + 1, next);
    }
    if (!any) extend(before, after, link + 1, next);
  }

  const Topology& topology_;
  std::uint32_t chunks_;
  int steps_ = 0;
};

TEST(FewestStepsOfAll, AreThoseByHand) {
  // Line of 3, the end sends one chunk to each other NPU: the farther one first, 2 steps. The middle sends both at
  // once.
  const auto line = support::line(3);
  CollectiveRequest request{scatter, 3, {}, 1, bytes(3'000'000)};
  EXPECT_EQ(FewestSteps(line, Collective::make(request).value()).steps(), 2);
  request.root = 1;
  EXPECT_EQ(FewestSteps(line, Collective::make(request).value()).steps(), 1);
}

// Equal hops, chunks of one size: all bounds are whole steps at most the fewest.
RC_GTEST_PROP(ValidSchedules, OfFewestStepsAreNotBelowAnyBound, ()) {
  const auto topology = support::random_connected_topology(*rc::gen::arbitrary<std::uint64_t>(), 4, false);
  const auto npus = static_cast<std::uint32_t>(topology.npus());
  const std::vector<CollectiveKind> kinds{all_gather, broadcast, gather, scatter, conditions, all_to_allv};
  const auto collective = support::random_collective(npus, kinds, {1'000'000}, 2);
  // c chunks of 1 MB per NPU; a Broadcast's c chunks are n times as large, which is another problem.
  RC_PRE(collective.chunk_sizes().size() == 1 && collective.chunks() <= 6 && topology.links() <= 6);
  const auto step = hop_time(topology.classes()[0], collective.chunk_sizes()[0], Occupancy::transfer).latency;
  const int fewest = FewestSteps(topology, collective).steps();
  const auto compared = compare({{topology, collective, Occupancy::transfer}}, step * fewest);
  RC_ASSERT(compared.wrong == "");
  RC_ASSERT(2 * compared.largest >= step * fewest);  // and they say something
  RC_TAG(compared.largest == step * fewest ? "met" : "below");
}

}  // namespace
}  // namespace tenex
