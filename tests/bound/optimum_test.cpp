// The bounds cut, strength and flow against the optimum with very many chunks, by brute force: all spanning trees (or
// all paths) of a small network, and an exact linear program that chooses how fast each of them carries chunks. Nothing
// here is shared with the bounds.
//
// Units. A chunk of 3 MB takes 120 us on a link of 25 GB/s, 60 us on 50 GB/s and 10 us on 300 GB/s: whole numbers, so
// there is nothing to round but chunks. A capacity of 1 is one chunk per 120 us: 25 GB/s. Links have no alpha.
//
// Precision. A bound is the least T at which sum of w * floor(T / busy) over links reaches some demand D. The fluid
// time F of the same weights has sum of w * F / busy = D. A floor takes nothing away or less than one, so F <= T, and T
// <= F
// + sum(w) / sum(w / busy), which is a weighted mean of `busy`: at most one chunk of the slowest link (and 1 ps, since
// T is whole). Hence a bound whose weights are best is in [F, F + slowest chunk], and a bound above that is wrong.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bound/any_schedule.hpp"
#include "bound/graphs.hpp"
#include "support/linear_programs.hpp"
#include "tenex/bound/cut.hpp"
#include "tenex/bound/flow.hpp"
#include "tenex/bound/strength.hpp"

namespace tenex {
namespace {

using enum CollectiveKind;
using support::LinearProgram;
using support::link;
using support::maximum;

constexpr std::int64_t kChunks = 1000;
constexpr SimTime kUnit = microseconds(120);
constexpr std::uint64_t kOptimumWork = 1'000'000'000;

using Hop = std::pair<std::size_t, std::size_t>;  ///< from, to

/// Capacities between NPUs; those of parallel links are added.
class SearchedNetwork {
 public:
  explicit SearchedNetwork(const Topology& topology) : npus_(topology.npus()), capacity_(npus_ * npus_, 0) {
    for (std::size_t l = 0; l < topology.links(); ++l) {
      const auto link = topology.link(LinkId::at(l));
      capacity_[link.source.index() * npus_ + link.target.index()] +=
          link.bandwidth.count() / gigabytes_per_second(25).count();
    }
  }
  [[nodiscard]] std::size_t npus() const { return npus_; }
  [[nodiscard]] std::int64_t capacity(Hop hop) const { return capacity_[hop.first * npus_ + hop.second]; }

 private:
  std::size_t npus_;
  std::vector<std::int64_t> capacity_;
};

/// The trees that lead away from `root` (or all to it) and have all of the first `members` NPUs: one link into (or out
/// of) every other NPU, by trying all neighbours of all NPUs, such that each leads to the root. NPUs that are no
/// members may stay out.
std::vector<std::vector<Hop>> trees_of(const SearchedNetwork& network, std::size_t root, bool away,
                                       std::size_t members) {
  const auto npus = network.npus();
  std::vector<std::vector<Hop>> trees;
  std::vector<std::size_t> next(npus, root);  // of each NPU on its way to the root; itself: it stays out
  const auto hop = [&](std::size_t npu) { return away ? Hop{next[npu], npu} : Hop{npu, next[npu]}; };
  const auto reaches_root = [&](std::size_t npu) {
    for (std::size_t steps = 0; steps < npus && npu != root; ++steps) npu = next[npu];
    return npu == root;
  };
  const auto choose = [&](auto&& self, std::size_t npu) -> void {
    if (npu == root) return self(self, npu + 1);
    if (npu >= npus) {
      std::vector<Hop> tree;
      for (std::size_t each = 0; each < npus; ++each) {
        if (next[each] == each || each == root) continue;
        if (!reaches_root(each)) return;
        tree.push_back(hop(each));
      }
      trees.push_back(std::move(tree));
      return;
    }
    for (next[npu] = 0; next[npu] < npus; ++next[npu])
      if (next[npu] == npu ? npu >= members : network.capacity(hop(npu)) > 0) self(self, npu + 1);
  };
  choose(choose, 0);
  return trees;
}

/// The paths from one NPU to another without a repeated NPU.
std::vector<std::vector<Hop>> simple_paths(const SearchedNetwork& network, std::size_t from, std::size_t to) {
  std::vector<std::vector<Hop>> paths;
  std::vector<Hop> path;
  std::vector<bool> seen(network.npus());
  const auto extend = [&](auto&& self, std::size_t at) -> void {
    if (at == to) return paths.push_back(path);
    seen[at] = true;
    for (std::size_t next = 0; next < network.npus(); ++next) {
      if (seen[next] || network.capacity({at, next}) == 0) continue;
      path.emplace_back(at, next);
      self(self, next);
      path.pop_back();
    }
    seen[at] = false;
  };
  extend(extend, from);
  return paths;
}

/// A linear program of rates, in chunks per unit of time: what the routes over each link carry is at most its capacity.
class Rates {
 public:
  explicit Rates(const SearchedNetwork& network) : npus_(network.npus()), row_of_(npus_ * npus_, 0) {
    for (std::size_t from = 0; from < npus_; ++from)
      for (std::size_t to = 0; to < npus_; ++to)
        if (network.capacity({from, to}) > 0)
          row_of_[from * npus_ + to] = program_.add_row(network.capacity({from, to}));
  }
  /// A rate that is to be large.
  std::size_t add_wanted() { return program_.add_variable(1); }
  /// The routes together carry at least the wanted rate.
  void carry(std::size_t wanted, const std::vector<std::vector<Hop>>& routes) {
    const auto row = program_.add_row(0);
    program_.rows[row][wanted] = 1;
    for (const auto& route : routes) {
      const auto rate = program_.add_variable(0);
      program_.rows[row][rate] = -1;
      for (const auto& [from, to] : route) program_.rows[row_of_[from * npus_ + to]][rate] = 1;
    }
  }
  [[nodiscard]] Rational most() const { return maximum(program_).value(); }

 private:
  std::size_t npus_;
  std::vector<std::size_t> row_of_;
  LinearProgram program_;
};

/// The most chunks of each member (Broadcast, Reduce, All-Reduce: in all; All-to-All: of each pair) that a network can
/// carry per unit of time. The group is the first `members` NPUs.
Rational best_rate(CollectiveKind kind, const SearchedNetwork& network, std::size_t members) {
  Rates rates(network);
  if (kind == all_reduce) {  // a chunk is reduced to any NPU over a tree and gathered from it over another one
    for (std::size_t root = 0; root < network.npus(); ++root) {
      const auto through_root = rates.add_wanted();
      rates.carry(through_root, trees_of(network, root, false, members));
      rates.carry(through_root, trees_of(network, root, true, members));
    }
    return rates.most();
  }
  const auto each = rates.add_wanted();
  if (kind == gather || kind == scatter) {
    for (std::size_t npu = 1; npu < members; ++npu)
      rates.carry(each, kind == gather ? simple_paths(network, npu, 0) : simple_paths(network, 0, npu));
    return rates.most();
  }
  const bool away = kind == all_gather || kind == broadcast;
  for (std::size_t npu = 0; npu < (has_root(kind) ? 1 : members); ++npu) {
    if (kind != all_to_all) {
      rates.carry(each, trees_of(network, npu, away, members));
      continue;
    }
    for (std::size_t to = 0; to < members; ++to)
      if (to != npu) rates.carry(each, simple_paths(network, npu, to));
  }
  return rates.most();
}

/// 1000 chunks per member (Broadcast, Reduce: in all; All-to-All: per pair).
Collective many_chunks(CollectiveKind kind, std::size_t npus, std::size_t members) {
  const std::int64_t pieces = owned_by_root(kind) ? kChunks : kChunks * static_cast<std::int64_t>(members);
  return support::collective(kind, npus, bytes(3'000'000) * pieces, kChunks, "0-" + std::to_string(members - 1));
}

/// A bound beside the optimum.
struct Compared {
  SimTime bound;
  Rational rate;            ///< chunks per unit of time
  std::int64_t chunks = 0;  ///< that are carried at that rate
  SimTime slowest;          ///< chunk on a link

  /// bound - rounding <= chunks / rate, in whole numbers.
  [[nodiscard]] bool is_not_above() const { return scaled(bound - slowest - picoseconds(1)) <= optimum(); }
  /// bound >= (1 - thousandths/1000) * chunks / rate.
  [[nodiscard]] bool is_within(std::int64_t thousandths) const {
    return scaled(bound) * 1000 >= optimum() * (1000 - thousandths);
  }
  [[nodiscard]] double ratio() const { return static_cast<double>(scaled(bound)) / static_cast<double>(optimum()); }

 private:
  [[nodiscard]] WideInt scaled(SimTime time) const { return time.count() * rate.numerator(); }
  [[nodiscard]] WideInt optimum() const { return WideInt{kUnit.count()} * chunks * rate.denominator(); }
};

SimTime slowest_chunk(const Topology& topology) {
  SimTime slowest;
  for (const auto& link_class : topology.classes())
    slowest = std::max(slowest, serialization_time(bytes(3'000'000), link_class));
  return slowest;
}

using Search = std::optional<CertifiedBound> (*)(const BoundProblem&, std::uint64_t);

Compared compare_search(Search search, CollectiveKind kind, const Topology& topology, Rational rate,
                        std::size_t members) {
  const auto collective = many_chunks(kind, topology.npus(), members);
  const BoundProblem problem{topology, collective, Occupancy::serialization};
  // An All-Reduce's rate is that of all chunks together.
  const auto chunks = kind == all_reduce ? static_cast<std::int64_t>(collective.chunks()) : kChunks;
  return {search(problem, kOptimumWork).value().time, rate, chunks, slowest_chunk(topology)};
}

/// Compares a bound of all NPUs with the optimum: not above it, and within `thousandths` below it.
void expect_optimum(Search search, CollectiveKind kind, const Topology& topology, std::int64_t thousandths) {
  const auto rate = best_rate(kind, SearchedNetwork(topology), topology.npus());
  ASSERT_GT(rate.sign(), 0);
  const auto compared = compare_search(search, kind, topology, rate, topology.npus());
  EXPECT_TRUE(compared.is_not_above()) << to_string(kind) << ' ' << compared.ratio();
  EXPECT_TRUE(compared.is_within(thousandths)) << to_string(kind) << ' ' << compared.ratio();
}

/// "May be any distance below the optimum."
constexpr std::int64_t kAnyDistance = 1000;

TEST(Optimum, IsThatOfNetworksByHand) {
  const auto best = [](CollectiveKind kind, const Topology& topology) {
    return best_rate(kind, SearchedNetwork(topology), topology.npus());
  };
  // A one-way ring of 3 with a capacity of 2: 6 in all. A chunk of an All-Gather needs 2 links, so one of each NPU
  // needs 6; to all others an NPU's chunks go 1 + 2 links, so one of each pair needs 9. An All-Reduce takes 2 + 2 links
  // per chunk.
  const auto ring = support::graph(3, {link(0, 1, 50), link(1, 2, 50), link(2, 0, 50)});
  EXPECT_EQ(best(all_gather, ring), (Rational{1, 1}));
  EXPECT_EQ(best(broadcast, ring), (Rational{2, 1}));
  EXPECT_EQ(best(all_to_all, ring), (Rational{2, 3}));
  EXPECT_EQ(best(all_reduce, ring), (Rational{3, 2}));
  // A line with capacities of 12 and 1: two chunks go over the slow link in an All-Gather and in an All-to-All (from
  // and to NPU 2), one of an All-Reduce each way.
  const auto line = support::graph(3, {link(0, 1, 300), link(1, 0, 300), link(1, 2, 25), link(2, 1, 25)});
  EXPECT_EQ(best(all_gather, line), (Rational{1, 2}));
  EXPECT_EQ(best(all_to_all, line), (Rational{1, 2}));
  EXPECT_EQ(best(all_reduce, line), (Rational{1, 1}));
  // Four NPUs, each linked to every other: 4^2 trees from each root (Cayley), 1 + 2 + 2 paths per pair. Three chunks
  // come in over three links; an All-Reduce sends each chunk 3 + 3 times over 12 links.
  const auto full = support::fully_connected(4, SimTime::zero(), gigabytes_per_second(25));
  EXPECT_EQ(trees_of(SearchedNetwork(full), 3, true, 4).size(), 16U);
  EXPECT_EQ(simple_paths(SearchedNetwork(full), 1, 2).size(), 5U);
  EXPECT_EQ(best(all_gather, full), (Rational{1, 1}));
  EXPECT_EQ(best(all_to_all, full), (Rational{1, 1}));
  EXPECT_EQ(best(all_reduce, full), (Rational{2, 1}));
  // NPUs 0 and 1 alone reduce over their own links, and by way of NPU 2 or 3 (not of both): one chunk over each way.
  EXPECT_EQ(best_rate(all_reduce, SearchedNetwork(full), 2), (Rational{3, 1}));
}

/// Visits all directed graphs of a few NPUs: bit k of the number is the k-th ordered pair.
template <class Visit>
void for_all_graphs(std::uint32_t npus, Visit&& visit) {
  std::vector<Link> pairs;
  for (std::uint32_t from = 0; from < npus; ++from)
    for (std::uint32_t to = 0; to < npus; ++to)
      if (from != to) pairs.push_back(link(from, to, 25));
  for (std::uint32_t graph = 1; graph < 1U << pairs.size(); ++graph) {
    std::vector<Link> links;
    for (std::size_t pair = 0; pair < pairs.size(); ++pair)
      if ((graph >> pair & 1U) != 0) links.push_back(pairs[pair]);
    visit(support::graph(npus, links));
    if (testing::Test::HasFailure()) FAIL() << npus << " NPUs, graph " << graph;
  }
}

bool is_connected(const Topology& topology) { return !find_disconnected_pair(topology); }

/// Strongly connected labelled digraphs of 2, 3 and 4 vertices (OEIS A003030).
constexpr std::pair<std::uint32_t, int> kConnectedGraphs[] = {{2, 1}, {3, 18}, {4, 1606}};

constexpr CollectiveKind kCutKinds[] = {all_gather, reduce_scatter, broadcast, reduce, gather, scatter};

// By Edmonds' theorem the densest set leaves just enough links for trees of all roots; for paths of all members to one,
// or from one, it is the theorem of Ford and Fulkerson.
TEST(Optimum, IsTheCutOfEveryGraphOfFourVertices) {
  for (const auto& [npus, expected] : kConnectedGraphs) {
    int carried = 0;
    for_all_graphs(npus, [&, n = npus](const Topology& topology) {
      for (const auto kind : kCutKinds) {
        const auto rate = best_rate(kind, SearchedNetwork(topology), n);
        if (rate.sign() == 0) {  // no time is enough, and a set that no link leaves says so
          const auto collective = many_chunks(kind, n, n);
          EXPECT_EQ(cut_bound({topology, collective, Occupancy::serialization}, kOptimumWork).value().time,
                    SimTime::max());
          continue;
        }
        const auto compared = compare_search(cut_bound, kind, topology, rate, n);
        EXPECT_TRUE(compared.is_not_above() && compared.is_within(0)) << to_string(kind) << ' ' << compared.ratio();
        carried += kind == all_gather ? 1 : 0;
      }
    });
    EXPECT_EQ(carried, expected);
  }
}

// Multiplicative weights: 0.04 % below the optimum at most.
TEST(Optimum, IsNearlyTheFlowOfEveryConnectedGraphOfFourVertices) {
  for (const auto& [npus, expected] : kConnectedGraphs) {
    int connected = 0;
    for_all_graphs(npus, [&](const Topology& topology) {
      if (!is_connected(topology)) return;
      ++connected;
      expect_optimum(flow_bound, all_to_all, topology, 1);
    });
    EXPECT_EQ(connected, expected);
  }
}

/// Whether every link has an opposite of equal bandwidth.
bool is_symmetric(const SearchedNetwork& network) {
  for (std::size_t a = 0; a < network.npus(); ++a)
    for (std::size_t b = 0; b < a; ++b)
      if (network.capacity({a, b}) != network.capacity({b, a})) return false;
  return true;
}

// With opposites the strength is the optimum (Tutte, Nash-Williams: a tree of pairs of links does both parts). Without,
// the larger of strength and cut may be 2/3 of it.
TEST(Optimum, IsTheStrengthOfEverySymmetricGraphOfFourVertices) {
  int connected = 0;
  int symmetric = 0;
  for_all_graphs(4, [&](const Topology& topology) {
    if (!is_connected(topology)) return;
    ++connected;
    const SearchedNetwork network(topology);
    const auto rate = best_rate(all_reduce, network, 4);
    const auto strength = compare_search(strength_bound, all_reduce, topology, rate, 4);
    const auto cut = compare_search(cut_bound, all_reduce, topology, rate, 4);
    EXPECT_TRUE(strength.is_not_above()) << strength.ratio();
    EXPECT_TRUE(cut.is_not_above()) << cut.ratio();
    EXPECT_TRUE(strength.is_within(334) || cut.is_within(334)) << strength.ratio() << ' ' << cut.ratio();
    if (!is_symmetric(network)) return;
    ++symmetric;
    EXPECT_TRUE(strength.is_within(0)) << strength.ratio();
  });
  EXPECT_EQ(connected, 1606);
  EXPECT_EQ(symmetric, 38);  // the connected labelled graphs of four vertices
}

/// A one-way ring of five NPUs and up to `more` other links of three bandwidths, some of them parallel; all with an
/// opposite where asked.
Topology drawn_network(std::uint32_t more, bool symmetric) {
  TopologyBuilder builder(5);
  const auto add = [&](std::uint32_t from, std::uint32_t to) {
    const auto added = link(from, to, *rc::gen::element<std::int64_t>(25, 50, 300));
    symmetric ? builder.add_link_pair(added) : builder.add_link(added);
  };
  for (std::uint32_t npu = 0; npu < 5; ++npu) add(npu, (npu + 1) % 5);
  for (auto left = *rc::gen::inRange<std::uint32_t>(0, more + 1); left > 0; --left) {
    const auto from = *rc::gen::inRange<std::uint32_t>(0, 5);
    add(from, (from + *rc::gen::inRange<std::uint32_t>(1, 5)) % 5);
  }
  return std::move(builder).build().value();
}

// The search rounds capacities to 2^-20 of the fastest. That hides no denser set: two densities, ratios of at most 4 to
// at most 15 links of 12 each, differ by more than 1 / (4 * 180) of themselves.
RC_GTEST_PROP(OptimumProperties, IsTheCutOfRandomNetworks, ()) {
  const auto topology = drawn_network(10, false);
  for (const auto kind : kCutKinds) expect_optimum(cut_bound, kind, topology, 0);
  RC_ASSERT(!testing::Test::HasFailure());
}

// Of 20,000 networks the worst bound was 4.5 % below the optimum.
RC_GTEST_PROP(OptimumProperties, IsNearlyTheFlowOfRandomNetworks, ()) {
  expect_optimum(flow_bound, all_to_all, drawn_network(10, false), 70);
  RC_ASSERT(!testing::Test::HasFailure());
}

RC_GTEST_PROP(OptimumProperties, IsTheStrengthOfRandomNetworksWithOpposites, ()) {
  expect_optimum(strength_bound, all_reduce, drawn_network(5, true), 0);
  RC_ASSERT(!testing::Test::HasFailure());
}

RC_GTEST_PROP(OptimumProperties, IsNotBelowTheStrengthOfRandomNetworks, ()) {
  const auto topology = drawn_network(10, false);
  expect_optimum(strength_bound, all_reduce, topology, kAnyDistance);
  expect_optimum(cut_bound, all_reduce, topology, kAnyDistance);
  RC_ASSERT(!testing::Test::HasFailure());
}

/// 1000 chunks per pair of `pairs`, over any paths.
Compared compare_flow(const Topology& topology, const std::vector<Condition>& pairs, CollectiveKind kind) {
  const SearchedNetwork network(topology);
  Rates rates(network);
  const auto each = rates.add_wanted();
  for (const auto& pair : pairs) rates.carry(each, simple_paths(network, pair.source, pair.destinations.front()));
  const auto collective = support::of_conditions(topology.npus(), pairs, kChunks, kind);
  const BoundProblem problem{topology, collective, Occupancy::serialization};
  return {flow_bound(problem, kOptimumWork).value().time, rates.most(), kChunks, slowest_chunk(topology)};
}

// A pair may be drawn several times.
RC_GTEST_PROP(OptimumProperties, IsNearlyTheFlowOfRandomPairs, ()) {
  const auto topology = drawn_network(10, false);
  const auto pairs = support::random_conditions(5, 8, false, {3'000'000 * kChunks});
  const auto compared = compare_flow(topology, pairs, *rc::gen::element(conditions, all_to_allv));
  RC_ASSERT(compared.is_not_above());
  RC_ASSERT(compared.is_within(70));
}

// The other NPUs pass chunks on, and may add and copy.
RC_GTEST_PROP(OptimumProperties, OfSomeNpusIsNotBelowAnyBound, ()) {
  const auto topology = drawn_network(6, *rc::gen::arbitrary<bool>());
  const SearchedNetwork network(topology);
  const auto members = *rc::gen::inRange<std::size_t>(2, 5);
  const auto not_above = [&](Search search, CollectiveKind kind) {
    return compare_search(search, kind, topology, best_rate(kind, network, members), members).is_not_above();
  };
  for (const auto kind : {all_gather, reduce_scatter, broadcast, reduce, all_reduce, all_to_all, gather, scatter})
    RC_ASSERT(not_above(cut_bound, kind));
  RC_ASSERT(not_above(strength_bound, all_reduce));
  RC_ASSERT(not_above(flow_bound, all_to_all));
}

}  // namespace
}  // namespace tenex
