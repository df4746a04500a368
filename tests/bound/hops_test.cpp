// The bound `hops` by hand, and against the best of all schedules of small networks: a search in which every send takes
// all that its source knows of a chunk, and what is known is a set of contributors that may come twice. No schedule of
// sums, whole inputs or both is faster than that.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bound/graphs.hpp"
#include "support/draws.hpp"
#include "support/topologies.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/topology/transform.hpp"

namespace tenex {
namespace {

using enum CollectiveKind;

constexpr Bytes kHopsMegabyte = bytes(1'000'000);

SimTime hops(const BoundProblem& problem) {
  for (const Bound& bound : cheap_bounds(problem))
    if (bound.name == "hops") return bound.time;
  ADD_FAILURE() << "no bound hops";
  return SimTime::zero();
}

/// `chunks` chunks of 1 MB per NPU (Broadcast, Reduce: in all).
Collective owned_megabytes(CollectiveKind kind, std::size_t npus, std::int64_t chunks = 1) {
  const std::int64_t pieces = owned_by_root(kind) ? chunks : chunks * static_cast<std::int64_t>(npus);
  return support::collective(kind, npus, kHopsMegabyte * pieces, chunks);
}

/// Four NPUs on one switch, whose links take 500 ns and 20 us for 1 MB.
Topology four_on_a_switch(SwitchProperties properties) {
  TopologyBuilder builder(4);
  builder.add_switch(properties);
  for (std::uint32_t npu = 0; npu < 4; ++npu)
    builder.add_link_pair({VertexId(npu), VertexId(4), nanoseconds(500), gigabytes_per_second(50)});
  return std::move(builder).build().value();
}

// FC(4), 1 us, 1 GB/s, 2,000 B. One chunk per NPU: 4 chunks of 500 B. Within 3 us, which two hops take, each of three
// in-links delivers 3 chunks, 9 in all, each of one input; 12 are needed. At 3 us they deliver 12.
TEST(Hops, AskForWholeInputsBelowTwoHops) {
  const auto full = support::fully_connected(4, microseconds(1), gigabytes_per_second(1));
  const auto small = support::collective(all_reduce, 4, bytes(2000));
  EXPECT_EQ(hops({full, small}), microseconds(3));
  // 24 chunks per NPU: 96 of 21 B. An in-link has delivered 1 + floor(1,336 / 21) = 64 by 2,357 ns, of which 1 +
  // floor(315 / 21) = 16 may have come in two hops, and bring two inputs more: 64 + 2 * 16 = 96. A nanosecond earlier
  // there are 15 of these.
  EXPECT_EQ(hops({full, support::collective(all_reduce, 4, bytes(2000), 24)}), nanoseconds(2357));
}

// Where translations map every NPU to every other, one search stands for all; a network that has forgotten its shape is
// searched from every NPU, and has no other bound.
TEST(Hops, AreTheSameFromOneSearchAsFromAll) {
  for (const char* text : {"RI(12)", "RI(4)_FC(3)", "torus(3,4)"}) {
    const auto network = support::shape(text);
    for (const auto kind : {all_reduce, all_gather, reduce_scatter, broadcast, reduce})
      for (const char* groups : {"all", "1,4,7,10,11"}) {
        const auto asked = support::collective(kind, 12, 60 * kHopsMegabyte, 2, groups);
        EXPECT_EQ(hops({network, asked}), hops({network.without_shape(), asked}))
            << text << " " << to_string(kind) << " " << groups;
      }
  }
}

// An All-Reduce is bounded in one direction where links have opposites. Links of 100 GB/s that are twice as slow are as
// fast as those of 50 GB/s, but no opposites of them, so that both directions are bounded there.
TEST(Hops, OfAnAllReduceAreTheSameInBothDirections) {
  const auto network = [](Bandwidth back, std::int64_t slowdown) {
    std::vector<Link> links;
    for (const auto& [a, b] : {std::pair{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}, {0, 2}}) {
      const VertexId from(static_cast<std::uint32_t>(a));
      const VertexId to(static_cast<std::uint32_t>(b));
      links.push_back({from, to, nanoseconds(500), gigabytes_per_second(50)});
      links.push_back({to, from, nanoseconds(500), back, slowdown});
    }
    return support::graph(5, links);
  };
  const auto opposite = network(gigabytes_per_second(50), kNoSlowdown);
  const auto unlike = network(gigabytes_per_second(100), 2 * kNoSlowdown);
  ASSERT_TRUE(opposite_links(opposite));
  ASSERT_FALSE(opposite_links(unlike));
  for (const char* groups : {"all", "0,2,3"}) {
    const auto asked = support::collective(all_reduce, 5, 30 * kHopsMegabyte, 2, groups);
    EXPECT_EQ(hops({opposite, asked}), hops({unlike, asked})) << groups;
  }
}

// SW(4) with virtual cut-through, 0.5 us and 1 GB/s per link, 2,000 B in 500 chunks of 4 ns. A chunk takes 1,004 ns
// from NPU to NPU, and a sum of two hops 2,008. An in-link has delivered 1 + (3,672 - 1,004) / 4 = 668 by 3,672 ns, of
// which 1 + (3,672 - 2,008) / 4 = 417 may have come in two hops, and bring two inputs more: 668 + 2 * 417 = 1,502 of
// 1,500 that are needed. 4 ns earlier they are 1,499. Where sends carry several chunks, their parts may be 3 ps early.
TEST(Hops, HoldForSendsOfSeveralChunksOverEarlySwitches) {
  TopologyBuilder builder(4);
  builder.add_switch({.forwarding = Forwarding::virtual_cut_through});
  for (std::uint32_t npu = 0; npu < 4; ++npu)
    builder.add_link_pair({VertexId(npu), VertexId(4), nanoseconds(500), gigabytes_per_second(1)});
  const auto early = std::move(builder).build().value();
  const auto small = support::collective(all_reduce, 4, bytes(2000), 125);
  BoundProblem problem{early, small};
  EXPECT_EQ(hops(problem), nanoseconds(3672));
  problem.single_chunks = false;
  EXPECT_EQ(hops(problem), nanoseconds(3672) - picoseconds(3));
}

// A chunk takes 41 us from NPU to NPU, and 20 us on a link.
TEST(Hops, CountWhatSwitchesAddAndCopy) {
  const auto plain = four_on_a_switch({.copy = false, .reduce = false});
  const auto adding = four_on_a_switch({.copy = false, .reduce = true});
  const auto copying = four_on_a_switch({.copy = true, .reduce = false});
  // Broadcast of one chunk: three sends from the root, the last of which starts at 40 us. Sends at 81 - 82 us or before
  // could reach others by way of an NPU. A copying switch needs one.
  EXPECT_EQ(hops({plain, owned_megabytes(broadcast, 4)}), microseconds(81));
  EXPECT_EQ(hops({copying, owned_megabytes(broadcast, 4)}), microseconds(41));
  EXPECT_EQ(hops({plain, owned_megabytes(reduce, 4)}), microseconds(81));
  EXPECT_EQ(hops({copying, owned_megabytes(reduce, 4)}), microseconds(81));
  EXPECT_EQ(hops({adding, owned_megabytes(reduce, 4)}), microseconds(41));
  // All-Reduce of four chunks: 12 inputs. By 141 us 6 chunks have arrived, 3 of them at 82 us or later.
  EXPECT_EQ(hops({plain, owned_megabytes(all_reduce, 4)}), microseconds(141));
  // Where the switch adds, an arrival may have all inputs, 41 + 3 * 20 us; outward a send still reaches one NPU.
  EXPECT_EQ(hops({adding, owned_megabytes(all_reduce, 4)}), microseconds(141));
  EXPECT_EQ(hops({four_on_a_switch({.copy = true, .reduce = true}), owned_megabytes(all_reduce, 4)}),
            microseconds(101));
}

// A one-way ring of 4 without latency, 20 us for a chunk. An arrival over the only in-link brings 1, 2 and 3 inputs
// from 20, 40 and 60 us on; four chunks need 12: 1 + 2 + 3 * 3 + .. by 100 us: arrivals at 20 .. 100 bring 1 + 2 + 3 +
// 3 + 3.
TEST(Hops, GrowByOneOnARingOneWay) {
  const auto ring =
      support::graph(4, {support::link(0, 1), support::link(1, 2), support::link(2, 3), support::link(3, 0)});
  EXPECT_EQ(hops({ring, owned_megabytes(all_reduce, 4)}), microseconds(100));
}

/// The fewest ticks in which all is known. A send takes a link for a tick and arrives `latency` ticks after that.
class FewestTicks {
 public:
  FewestTicks(const Topology& topology, CollectiveKind kind, std::uint32_t chunks, std::uint32_t latency)
      : topology_(topology), kind_(kind), slots_(1 + latency) {
    const auto npus = topology.npus();
    std::string chunk(npus + topology.links() * slots_, '\0');
    for (std::size_t npu = 0; npu < npus; ++npu)
      if (kind != broadcast || npu == 0) chunk[npu] = static_cast<char>(1U << npu);
    std::set<State> states{State(chunks, chunk)};
    while (std::ranges::none_of(states, [&](const State& state) { return ended(state); })) {
      std::set<State> next;
      for (const auto& state : states) send(state, 0, next);
      states = std::move(next);
      ++ticks_;
    }
  }
  [[nodiscard]] std::int64_t ticks() const { return ticks_; }

 private:
  /// Per chunk what each NPU knows, and what is under way on each link, by age. Chunks are alike and so in any order.
  using State = std::vector<std::string>;

  [[nodiscard]] bool ended(const State& state) const {
    const auto all = static_cast<char>(kind_ == broadcast ? 1 : (1U << topology_.npus()) - 1);
    return std::ranges::all_of(state, [&](const std::string& chunk) {
      for (std::size_t npu = 0; npu < topology_.npus(); ++npu)
        if ((kind_ != reduce || npu == 0) && chunk[npu] != all) return false;
      return true;
    });
  }
  [[nodiscard]] std::size_t slot(std::size_t link, std::size_t age) const {
    return topology_.npus() + link * slots_ + age;
  }

  void send(const State& state, std::size_t link, std::set<State>& next) const {
    if (link == topology_.links()) {
      next.insert(aged(state));
      return;
    }
    const auto from = topology_.source(LinkId::at(link)).index();
    const auto to = topology_.target(LinkId::at(link)).index();
    bool any = false;
    for (std::size_t c = 0; c < state.size(); ++c) {
      if ((state[c][from] & ~known_soon(state[c], to)) == 0 || (c > 0 && state[c] == state[c - 1])) continue;
      any = true;
      auto with = state;
      with[c][slot(link, 0)] = state[c][from];
      send(with, link + 1, next);
    }
    if (!any) send(state, link + 1, next);
  }

  /// What an NPU knows of a chunk, with what is under way to it, which comes before what is sent now.
  [[nodiscard]] int known_soon(const std::string& chunk, std::size_t npu) const {
    int known = chunk[npu];
    for (const LinkId link : topology_.in_links(VertexId::at(npu)))
      for (std::size_t age = 0; age < slots_; ++age) known |= chunk[slot(link.index(), age)];
    return known;
  }

  [[nodiscard]] State aged(State state) const {
    for (auto& chunk : state)
      for (std::size_t link = 0; link < topology_.links(); ++link) {
        const auto to = topology_.target(LinkId::at(link)).index();
        chunk[to] = static_cast<char>(chunk[to] | chunk[slot(link, slots_ - 1)]);
        for (std::size_t age = slots_ - 1; age > 0; --age) chunk[slot(link, age)] = chunk[slot(link, age - 1)];
        chunk[slot(link, 0)] = '\0';
      }
    std::ranges::sort(state);
    return state;
  }

  const Topology& topology_;
  CollectiveKind kind_;
  std::size_t slots_;
  std::int64_t ticks_ = 0;
};

TEST(FewestTicksOfAll, AreThoseByHand) {
  // FC(3), 3 chunks. Without latency two shots take 2 ticks. With one of a tick, a hop takes 2: two shots 2 * 2, and
  // one shot, whose links carry 3 chunks each, 1 + 3.
  const auto full = support::fully_connected(3);
  EXPECT_EQ(FewestTicks(full, all_reduce, 3, 0).ticks(), 2);
  EXPECT_EQ(FewestTicks(full, all_reduce, 3, 1).ticks(), 4);
  EXPECT_EQ(FewestTicks(full, broadcast, 2, 1).ticks(), 3);
}

/// Compares all cheap bounds with the best of all schedules, 20 us per tick. Returns whether `hops` meets it.
bool is_met(const std::vector<Link>& links, std::uint32_t npus, CollectiveKind kind, std::uint32_t chunks,
            std::uint32_t latency) {
  auto delayed = links;
  for (auto& link : delayed) link.alpha = microseconds(20) * std::int64_t{latency};
  const auto topology = support::graph(npus, delayed);
  const auto per_npu = kind == all_reduce ? chunks / npus : chunks;
  const auto collective = owned_megabytes(kind, npus, per_npu);
  const auto best = microseconds(20) * FewestTicks(topology, kind, chunks, latency).ticks();
  for (const bool single : {true, false}) {
    BoundProblem problem{topology, collective};
    problem.single_chunks = single;
    for (const Bound& bound : cheap_bounds(problem))
      EXPECT_LE(bound.time, best) << bound.name << ' ' << to_string(kind) << ", " << chunks << " chunks";
  }
  return hops({topology, collective}) == best;
}

/// All strongly connected graphs of `npus` vertices with at most `most` links.
std::vector<std::vector<Link>> connected_graphs(std::uint32_t npus, int most) {
  std::vector<Link> pairs;
  for (std::uint32_t from = 0; from < npus; ++from)
    for (std::uint32_t to = 0; to < npus; ++to)
      if (from != to) pairs.push_back(support::link(from, to));
  std::vector<std::vector<Link>> graphs;
  for (std::uint32_t graph = 1; graph < 1U << pairs.size(); ++graph) {
    std::vector<Link> links;
    for (std::size_t pair = 0; pair < pairs.size(); ++pair)
      if ((graph >> pair & 1U) != 0) links.push_back(pairs[pair]);
    if (static_cast<int>(links.size()) > most || find_disconnected_pair(support::graph(npus, links))) continue;
    graphs.push_back(std::move(links));
  }
  return graphs;
}

/// Whether the search takes milliseconds: states grow with chunks, links and what is under way.
bool is_small(std::size_t links, std::uint32_t chunks, std::uint32_t latency) {
  return links * chunks * (1 + latency) <= (support::long_run() ? 14U : 12U);
}

TEST(Hops, AreNotAboveTheBestOfAllSchedulesOfSmallGraphs) {
  int cases = 0;
  int met = 0;
  for (const auto& [npus, most] : {std::pair(2U, 2), std::pair(3U, 6), std::pair(4U, 6)})
    for (const auto& links : connected_graphs(npus, most)) {
      const auto compare = [&](CollectiveKind kind, std::uint32_t chunks, std::uint32_t latency) {
        if (!is_small(links.size(), chunks, latency)) return;
        ++cases;
        met += is_met(links, npus, kind, chunks, latency) ? 1 : 0;
      };
      for (const std::uint32_t latency : {0U, 1U, 2U}) {
        compare(all_reduce, npus, latency);
        for (std::uint32_t chunks = 1; chunks <= 4; ++chunks)
          for (const auto kind : {reduce, broadcast}) compare(kind, chunks, latency);
      }
      ASSERT_FALSE(HasFailure());
    }
  EXPECT_GE(3 * met, cases) << met << " of " << cases;  // and it says something
}

}  // namespace
}  // namespace tenex
